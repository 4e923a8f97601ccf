/* Core files of x86-64 under construction, for this room's tests. */
#ifndef SC_CORE_TESTING_H
#define SC_CORE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/core/core.h"

struct made_segment {
	uint64_t start;
	uint32_t flags;
	const void *bytes;
	size_t size;   /* that are dumped */
	uint64_t more; /* bytes that are not */
};

struct made_core {
	struct bytes notes;
	struct made_segment segments[8];
	size_t num_segments;
	size_t null_headers; /* in front of the others */
	bool number_elsewhere; /* PN_XNUM: in the first section header */
};

static inline void put_note(struct made_core *m, uint32_t type, const void *bytes, size_t size)
{
	put(&m->notes, 4, 5);
	put(&m->notes, 4, size);
	put(&m->notes, 4, type);
	put_block(&m->notes, "CORE\0\0\0", 8);
	put_block(&m->notes, bytes, size);
	put(&m->notes, -size & 3, 0);
}

/* NT_PRSTATUS of a thread. */
static inline void put_thread(struct made_core *m, uint32_t tid, int signal, uint64_t pc, uint64_t sp)
{
	struct bytes b = { 0 };

	for (int i = 0; i < 21; i++)
		put(&b, 16, 0);
	patch(&b, 12, 2, (uint64_t)signal);
	patch(&b, 32, 4, tid);
	patch(&b, 112 + 16 * 8, 8, pc);
	patch(&b, 112 + 19 * 8, 8, sp);
	put_note(m, NT_PRSTATUS, b.b.data, b.b.len);
	bytes_deinit(&b);
}

static inline void put_words(struct made_core *m, uint32_t type, const uint64_t *words, size_t n)
{
	put_note(m, type, words, n * sizeof(*words));
}

static inline void add_segment_bytes(struct made_core *m, uint64_t start, uint32_t flags,
				     const void *bytes, size_t size)
{
	m->segments[m->num_segments++] = (struct made_segment){ start, flags, bytes, size, 0 };
}

/* An ELF header; what stands behind it begins with `n` program headers. */
static inline void put_elf_header(struct bytes *o, uint16_t type, uint64_t shoff, uint64_t n)
{
	put_block(o, ELFMAG "\2\1\1", 7);
	put(o, 9, 0);
	put(o, 2, type);
	put(o, 2, EM_X86_64);
	put(o, 4, 1);
	put(o, 8, 0);
	put(o, 8, 64); /* phoff */
	put(o, 8, shoff);
	put(o, 4, 0);
	put(o, 2, 64);
	put(o, 2, 56);
	put(o, 2, n);
	put(o, 2, 64);
	put(o, 2, shoff ? 1 : 0);
	put(o, 2, 0);
}

static inline void put_core(struct bytes *o, const struct made_core *m)
{
	const uint64_t n = m->null_headers + 1 + m->num_segments, headers = 64 + 56 * n;
	uint64_t at = headers + (m->number_elsewhere ? 64 : 0) + m->notes.b.len;

	put_elf_header(o, ET_CORE, m->number_elsewhere ? headers : 0,
		       m->number_elsewhere ? PN_XNUM : n);
	for (size_t i = 0; i < m->null_headers; i++)
		put_block(o, &(Elf64_Phdr){ .p_type = PT_NULL }, 56);
	put_block(o, &(Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = at - m->notes.b.len,
				    .p_filesz = m->notes.b.len }, 56);
	for (size_t i = 0; i < m->num_segments; i++) {
		const struct made_segment *s = &m->segments[i];

		put_block(o, &(Elf64_Phdr){ PT_LOAD, s->flags, at, s->start, 0, s->size, s->size + s->more, 1 },
			  56);
		at += s->size;
	}
	if (m->number_elsewhere) {
		put(o, 4, 0);
		for (int i = 0; i < 10; i++) /* sh_info is at 44 */
			put(o, 4, 0);
		put(o, 4, n);
		put(o, 16, 0);
	}
	put_block(o, m->notes.b.data, m->notes.b.len);
	for (size_t i = 0; i < m->num_segments; i++)
		put_block(o, m->segments[i].bytes, m->segments[i].size);
}

static inline int open_bytes(const void *data, size_t size, struct symcache_core **ret,
			     struct sc_error *err)
{
	char path[32];
	const int fd = testing_memfd(data, size, path), rc = symcache_core_open(path, ret, err);

	close(fd);
	return rc;
}

/* Opens what was made, which is gone then. */
static inline struct symcache_core *open_made(struct made_core *m)
{
	struct bytes o = { 0 };
	struct symcache_core *core;
	struct sc_error err;

	put_core(&o, m);
	if (open_bytes(o.b.data, o.b.len, &core, &err))
		fail_msg("%s", err.msg);
	bytes_deinit(&o);
	bytes_deinit(&m->notes);
	return core;
}

#endif
