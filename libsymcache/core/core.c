/*
 * Core files: see core.h. Opening: headers, notes, first pages of modules; in this
 * order they stand in the file, so that a compressed one is read once.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

#define MINIDUMP "MDMP"

enum { MAX_CODE = 64 << 10 }; /* of memory with code that no file has */

/* ---- headers --------------------------------------------------------------------------- */

static int add_segment(struct symcache_core *core, const uint8_t *ph, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	const unsigned w = core->word;
	const uint8_t *rest = ph + (w == 8 ? 8 : 4); /* offset, vaddr, paddr, filesz, memsz */
	struct segment s = {
		.start = get_number(rest + w, w),
		.offset = get_number(rest, w), .size = get_number(rest + 3 * w, w),
		.flags = (uint32_t)get_number(ph + (w == 8 ? 4 : 24), 4),
	};
	uint64_t size = get_number(rest + 4 * w, w), type = get_number(ph, 4);

	if (s.offset > INT64_MAX || s.size > INT64_MAX)
		return 0;
	if (type == PT_NOTE && !p->notes.size)
		p->notes = s;
	s.end = s.start + size < s.start ? UINT64_MAX : s.start + size;
	if (type != PT_LOAD || s.end == s.start)
		return 0;
	if (s.size > s.end - s.start)
		s.size = s.end - s.start;
	return sc_core_add_memory(core, s) ? 0 : sc_no_memory(err);
}

/* The number of program headers; 65,534 and more stand elsewhere. */
static uint64_t num_headers(struct symcache_core *core, const uint8_t *header)
{
	const bool is_64 = core->private->is_64;
	uint64_t n = get_number(header + (is_64 ? 56 : 44), 2);
	uint64_t shoff = get_number(header + (is_64 ? 40 : 32), core->word);
	struct range range = { shoff, shoff + 64 };
	uint8_t section[64];

	if (n != PN_XNUM)
		return n;
	return !sc_core_keep(core, &range, 1, NULL) && sc_core_file(core, shoff, section, is_64 ? 64 : 40) ?
		get_number(section + (is_64 ? 44 : 28), 4) : 0;
}

static int read_headers(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct range range = { 0, 64 << 10 };
	uint8_t header[64] = { 0 }, ph[56];
	uint64_t phoff, n;
	int rc = sc_core_keep(core, &range, 1, err);

	core->missing = 0; /* a short file need not be one that was cut off */
	if (rc)
		return rc;
	if (!sc_core_file(core, 0, header, 1))
		return sc_error_set(err, SC_EFORMAT, "empty file");
	if (!sc_core_file(core, 0, header, 52) || memcmp(header, ELFMAG, SELFMAG))
		return sc_error_set(err, SC_EFORMAT, "neither an ELF file nor a minidump");
	p->is_64 = header[EI_CLASS] == ELFCLASS64;
	if (p->is_64 && !sc_core_file(core, 0, header, 64))
		return sc_error_set(err, SC_EFORMAT, "cut off in its header");
	core->word = p->is_64 ? 8 : 4;
	core->machine = (uint16_t)get_number(header + 18, 2);
	if (header[EI_DATA] != ELFDATA2LSB)
		return sc_error_set(err, SC_EUNSUPPORTED, "big-endian core files are not read");
	if (get_number(header + 16, 2) != ET_CORE)
		return sc_error_set(err, SC_EFORMAT, "an ELF file, but not a core file");
	phoff = get_number(header + (p->is_64 ? 32 : 28), core->word);
	n = num_headers(core, header);
	if (n > MAX_HEADERS)
		return sc_error_set(err, SC_ELIMIT, "%" PRIu64 " program headers: more than %d are "
				    "not read", n, MAX_HEADERS);
	range = (struct range){ phoff, phoff + n * (p->is_64 ? 56 : 32) };
	rc = sc_core_keep(core, &range, 1, err);
	for (uint64_t i = 0; i < n && !rc; i++) {
		if (!sc_core_file(core, phoff + i * (p->is_64 ? 56 : 32), ph, p->is_64 ? 56 : 32))
			return sc_error_set(err, SC_EFORMAT, "cut off in its program headers");
		rc = add_segment(core, ph, err);
	}
	if (!rc && !sc_core_order(&p->memory)) /* hostile ones may overlap */
		rc = sc_no_memory(err);
	return rc;
}

/* ---- what of a compressed file is kept ----------------------------------------------------- */

struct ranges {
	VEC(struct range) list;
};

static bool want(struct ranges *ranges, const struct segment *s, uint64_t from, uint64_t most)
{
	struct range *r;

	if (!s || from - s->start >= s->size)
		return true;
	r = vec_push(&ranges->list);
	if (!r)
		return false;
	r->offset = s->offset + (from - s->start);
	r->end = s->offset + s->size;
	if (r->end - r->offset > most)
		r->end = r->offset + most;
	return true;
}

/* Where files are mapped from their first byte on, ascending. */
struct starts {
	VEC(uint64_t) list;
};

static bool is_less(const uint64_t *a, const uint64_t *b)
{
	return *a < *b;
}

SC_SORT(sort_starts, uint64_t, is_less)

/* False: out of memory. */
static bool find_starts(const struct symcache_core_private *p, struct starts *ret)
{
	if (!vec_reserve(&ret->list, p->mappings.len))
		return false;
	for (size_t i = 0; i < p->mappings.len; i++)
		if (!p->mappings.data[i].offset)
			ret->list.data[ret->list.len++] = p->mappings.data[i].start;
	return sort_starts(ret->list.data, ret->list.len);
}

static bool is_one_of(const struct starts *s, uint64_t address)
{
	const size_t n = SC_SEARCH(i, s->list.len, s->list.data[i] < address);

	return n < s->list.len && s->list.data[n] == address;
}

static int keep_memory(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	const unsigned sp = sc_core_stack_register(core);
	struct ranges ranges = { { 0 } };
	struct starts starts = { { 0 } };
	bool ok = p->compressed && find_starts(p, &starts);
	int rc;

	for (size_t i = 0; ok && i < p->threads.len; i++) {
		uint64_t at = p->threads.data[i].registers.value[sp] & ~(uint64_t)(BLOCK - 1);
		const struct segment *s = sc_core_find(&core->private->memory, at);

		ok = want(&ranges, s, at, MAX_STACK);
	}
	for (size_t i = 0; ok && i < p->memory.list.len; i++) {
		const struct segment *s = &p->memory.list.data[i];
		bool code = s->flags & PF_X && s->end - s->start <= MAX_CODE;

		if (code || !p->mappings.len || is_one_of(&starts, s->start))
			ok = want(&ranges, s, s->start, code ? MAX_CODE : BLOCK);
	}
	rc = ok || !p->compressed ? sc_core_keep(core, ranges.list.data, ranges.list.len, err) :
				    sc_no_memory(err);
	vec_deinit(&starts.list);
	vec_deinit(&ranges.list);
	return rc;
}

/* ---- all -------------------------------------------------------------------------------- */

static int read_core(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct range notes;
	int rc = read_headers(core, err);

	notes = (struct range){ p->notes.offset, p->notes.offset + p->notes.size };
	if (!rc)
		rc = sc_core_keep(core, &notes, 1, err);
	if (!rc)
		rc = sc_core_notes(core, err);
	if (!rc)
		rc = keep_memory(core, err);
	if (!rc)
		rc = sc_core_modules(core, err);
	core->died = true;
	return rc;
}

static int open_file(struct symcache_core *core, const char *path, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct range start = { 0, SELFMAG };
	uint8_t head[SYMARCHIVE_HEAD];
	struct stat st;
	ssize_t n;
	int rc;

	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (p->fd < 0 || fstat(p->fd, &st))
		return sc_error_sys(err, "cannot open");
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EFORMAT, "not a regular file");
	p->file_size = (uint64_t)st.st_size;
	n = pread(p->fd, head, sizeof(head), 0);
	if (n < 0)
		return sc_error_sys(err, "cannot read");
	p->compressed = (size_t)n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) &&
			memcmp(head, MINIDUMP, SELFMAG) && symarchive_begins(head, (size_t)n);
	rc = sc_core_keep(core, &start, 1, err);
	if (!rc)
		rc = sc_core_file(core, 0, head, SELFMAG) && !memcmp(head, MINIDUMP, SELFMAG) ?
			sc_core_minidump(core, err) : read_core(core, err);
	sc_core_publish(core);
	return rc;
}

void sc_core_publish(struct symcache_core *core)
{
	const struct symcache_core_private *p = core->private;

	core->threads = p->threads.data;
	core->num_threads = p->threads.len;
	core->modules = p->modules.data;
	core->num_modules = p->modules.len;
}

struct symcache_core *sc_core_create(struct sc_error *err)
{
	struct symcache_core *core = calloc(1, sizeof(*core));

	if (core)
		core->private = calloc(1, sizeof(*core->private));
	if (core && core->private) {
		core->private->fd = core->private->vdso_file = -1;
		core->process = symcache_process_create(NULL);
		core->private->blocks = malloc((size_t)BLOCKS * BLOCK);
		core->private->frames_left = MAX_FRAMES_OF_ALL;
		core->private->steps_left = MAX_MODULE_STEPS;
		core->private->keep_left = MAX_KEPT_OF_ALL;
	}
	if (core && core->private && core->private->blocks && core->process)
		return core;
	symcache_core_close(core);
	sc_no_memory(err);
	return NULL;
}

int symcache_core_open(const char *path, struct symcache_core **ret, struct sc_error *err)
{
	struct symcache_core *core = sc_core_create(err);
	int rc = core ? open_file(core, path, err) : SC_ENOMEM;

	*ret = core;
	if (core && core->private->error) {
		errno = core->private->error; /* what follows from it is of no interest */
		rc = sc_error_sys(err, "cannot read");
	}
	if (rc) {
		sc_error_prefix(err, "%s: ", path);
		symcache_core_close(core);
		*ret = NULL;
	}
	return rc;
}

void symcache_core_close(struct symcache_core *core)
{
	struct symcache_core_private *p = core ? core->private : NULL;

	if (p) {
		symarchive_close(p->stream);
		for (size_t i = 0; !p->rooms.len && i < p->pieces.len; i++)
			free(p->pieces.data[i].bytes);
		for (size_t i = 0; i < p->rooms.len; i++)
			free(p->rooms.data[i]);
		vec_deinit(&p->rooms);
		vec_deinit(&p->modules);
		vec_deinit(&p->pieces);
		vec_deinit(&p->memory.list);
		vec_deinit(&p->code.list);
		vec_deinit(&p->threads);
		vec_deinit(&p->mappings);
		symcache_perf_map_deinit(&p->jitted);
		free(p->file_note);
		free(p->blocks);
		if (p->fd >= 0)
			close(p->fd);
		if (p->vdso_file >= 0)
			close(p->vdso_file);
		free(p);
		symcache_process_destroy(core->process);
	}
	free(core);
}
