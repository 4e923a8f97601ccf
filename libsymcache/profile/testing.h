/* For tests: a program with two functions, profiles of it, and what may be added to them. */
#ifndef SC_PROFILE_TESTING_H
#define SC_PROFILE_TESTING_H

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/profile/kinds.h"
#include "libsymcache/profile/out.h"
#include "libsymcache/profile/profile.h"

/* The program: "prog", loaded at p_vaddr 0x10000 from offset 0; grind() at 0x10100, of 64 bytes,
 * mill::turn(int) and, as kernels have it, _stext behind it; then one whose name no terminal may get.
 * Of _stext alone it is known how to unwind it; there is a call in front of PROG_CALL. */
#define PROG_GRIND 0x10100u
#define PROG_TURN 0x10140u
#define PROG_STEXT 0x10180u
#define PROG_CALL 0x10190u
#define PROG_ODD 0x101c0u

struct prof_fixture {
	struct symcache_caches *caches;
	struct symcache_names *names;
	char module[64]; /* "prog=FILE" */
	const char *modules[2];
	size_t num_modules;
	int fd;
};

static struct prof_fixture prof_fixture;

static inline void put_symbol(struct bytes *o, uint32_t name, uint64_t vaddr, uint64_t size)
{
	put(o, 4, name);
	put(o, 1, name ? ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) : 0);
	put(o, 1, 0);
	put(o, 2, name ? 1 : 0);
	put(o, 8, vaddr);
	put(o, 8, size);
}

static inline void make_program(struct prof_fixture *f)
{
	struct bytes text = { 0 }, symbols = { 0 }, names = { 0 }, frames = { 0 }, elf = { 0 };
	const struct elf_shape shape = { true, false, EM_X86_64, ET_DYN, 0x10000, 0x1000 };
	const struct elf_section sections[] = {
		{ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
		  .addr = PROG_GRIND, .content = &text },
		{ .name = ".symtab", .type = SHT_SYMTAB, .content = &symbols, .link = 3,
		  .entsize = 24 },
		{ .name = ".strtab", .type = SHT_STRTAB, .content = &names },
		{ .name = ".eh_frame", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .content = &frames },
	};
	char path[32];

	for (unsigned i = 0; i < 256; i++)
		put(&text, 1, PROG_GRIND + i == PROG_CALL - 5 ? 0xe8 : 0x90);
	put_eh_frame(&frames, PROG_STEXT, PROG_STEXT + 64);
	put_str(&names, "");
	put_symbol(&symbols, 0, 0, 0);
	put_symbol(&symbols, (uint32_t)put_str(&names, "grind"), PROG_GRIND, 64);
	put_symbol(&symbols, (uint32_t)put_str(&names, "_ZN4mill4turnEi"), PROG_TURN, 64);
	put_symbol(&symbols, (uint32_t)put_str(&names, "_stext"), PROG_STEXT, 64);
	put_symbol(&symbols, (uint32_t)put_str(&names, "odd\033[1m"), PROG_ODD, 64);
	put_elf(&elf, &shape, sections, 4);
	f->fd = testing_memfd(elf.b.data, elf.b.len, path);
	snprintf(f->module, sizeof(f->module), "prog=%s", path);
	bytes_deinit(&text);
	bytes_deinit(&symbols);
	bytes_deinit(&names);
	bytes_deinit(&frames);
	bytes_deinit(&elf);
}

static inline int prof_set_up(void **state)
{
	const struct symcache_names_options how = symprofile_names_options();
	struct prof_fixture *f = &prof_fixture;

	(void)state;
	make_program(f);
	f->modules[0] = f->module;
	f->num_modules = 1;
	f->caches = symcache_caches_create(NULL);
	f->names = symcache_names_create(&how);
	return f->caches && f->names ? 0 : -1;
}

static inline int prof_tear_down(void **state)
{
	(void)state;
	symcache_names_destroy(prof_fixture.names);
	symcache_caches_destroy(prof_fixture.caches);
	return close(prof_fixture.fd);
}

/* A profiler; `more` has what else is wanted. */
static inline struct symprofiler *prof_profiler(struct symprofile_options more)
{
	const struct prof_fixture *f = &prof_fixture;
	struct symprofiler *p;
	struct sc_error err;

	more.caches = f->caches;
	more.names = f->names;
	more.modules = f->modules;
	more.num_modules = f->num_modules;
	if (symprofiler_create(&more, &p, &err))
		abort();
	return p;
}

/* An output in one piece, on the heap. */
static inline char *prof_joined(const struct symprofile_output *out)
{
	char *bytes = malloc(out->size + 1), *at = bytes;

	if (!bytes)
		abort();
	for (size_t i = 0; i < out->num; i++)
		if (out->pieces[i].iov_len)
			at = mempcpy(at, out->pieces[i].iov_base, out->pieces[i].iov_len);
	*at = 0;
	return bytes;
}

/* Symbolizes once; the output on the heap, and its size. NULL: *err. */
static inline char *prof_symbolized(struct symprofile_options options, const void *bytes,
				    size_t size, size_t *len, struct sc_error *err)
{
	struct symprofiler *p = prof_profiler(options);
	struct symprofile_output out;
	char *ret = NULL;

	*err = (struct sc_error){ 0 };
	*len = 0;
	if (!symprofiler_run(p, bytes, size, &out, err)) {
		ret = prof_joined(&out);
		*len = out.size;
	}
	symprofiler_destroy(p);
	return ret;
}

/* ---- the output less what was added is the input --------------------------------------------- */

/* The numbers of what may change, or be added. */
struct prof_changes {
	unsigned location, lines, folded; /* of a location: its lines; is_folded, or 0 */
	unsigned mapping;                 /* gets fields behind its own; or 0 */
	unsigned functions, strings;      /* new ones */
};

static const struct prof_changes prof_pprof_changes = {
	.location = 4, .lines = 4, .folded = 5, .mapping = 3, .functions = 5, .strings = 6,
};

/* Is a location of the output that of the input, with lines behind it? */
static inline bool same_location(const struct prof_changes *c, const struct prof_field *in,
				 const struct prof_field *out)
{
	struct prof_wire a = prof_wire_in(in), b = prof_wire_in(out);
	struct prof_field x, y;

	while (prof_wire_next(&a, &x)) {
		if (x.number == c->folded && x.type == PROF_VARINT)
			continue;
		if (!prof_wire_next(&b, &y) || a.at - x.from != b.at - y.from ||
		    memcmp(x.from, y.from, (size_t)(a.at - x.from)))
			return false;
	}
	while (prof_wire_next(&b, &y))
		if (y.number != c->lines || y.type != PROF_BYTES)
			return false;
	return !a.bad && !b.bad;
}

static inline bool same_field(const struct prof_changes *c, const struct prof_field *in,
			      const struct prof_field *out, size_t in_len, size_t out_len)
{
	if (in_len == out_len && !memcmp(in->from, out->from, in_len))
		return true;
	if (in->number != out->number || in->type != PROF_BYTES || out->type != PROF_BYTES)
		return false;
	if (in->number == c->location)
		return same_location(c, in, out);
	return c->mapping && in->number == c->mapping && out->len > in->len &&
	       !memcmp(in->bytes, out->bytes, in->len);
}

/* Both are messages whose fields those are. */
static inline bool prof_only_added(const struct prof_changes *c, struct prof_wire in,
				   struct prof_wire out)
{
	struct prof_field x, y;

	while (prof_wire_next(&in, &x))
		if (!prof_wire_next(&out, &y) ||
		    !same_field(c, &x, &y, (size_t)(in.at - x.from), (size_t)(out.at - y.from)))
			return false;
	while (prof_wire_next(&out, &y))
		if (y.type != PROF_BYTES || (y.number != c->functions && y.number != c->strings))
			return false;
	return !in.bad && !out.bad;
}

#endif
