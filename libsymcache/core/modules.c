/*
 * Modules of a core file: see parts.h.
 *
 * A module begins with the mapping of its file's first page, which kernels dump for its
 * build ID, and has an executable mapping behind it: a file that is mapped as data is not a module.
 * Without the note NT_FILE each segment that begins as ELF does is one, and the program where its
 * program headers are; the dynamic linker's list and the auxiliary vector have the names.
 */
#include <elf.h>

#include "libsymcache/base/elf_id.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

/* The offsets of an ELF header and of program headers that differ by class. */
struct shape {
	unsigned phoff, phentsize, phnum, offset, vaddr, filesz, size, word;
};

static const struct shape shape_64 = { 32, 54, 56, 8, 16, 32, 56, 8 };
static const struct shape shape_32 = { 28, 42, 44, 4, 8, 16, 32, 4 };

enum { MAX_PATH = 4096 }; /* with its NUL */

/* A build ID in the memory of the process. */
struct id {
	uint8_t bytes[SYMCACHE_BUILD_ID_MAX];
	size_t len; /* 0: not found */
};

/* Memory for sc_notes_build_id(), as long as there are steps. */
static bool read_note(void *core, uint64_t address, void *to, size_t bytes)
{
	return sc_core_step(core) && symcache_core_read(core, address, to, bytes);
}

/* Reads the ELF header at the module's start: its build ID, and *end, where its segments
 * end. False: there is none. */
static bool read_header(struct symcache_core *core, uint64_t start, struct id *id, uint64_t *end)
{
	const struct shape *s = core->private->is_64 ? &shape_64 : &shape_32;
	uint8_t header[64], ph[56];
	uint64_t phoff, first = 0;
	bool any = false;
	unsigned n;

	id->len = 0;
	if (!symcache_core_read(core, start, header, sizeof(header)) ||
	    memcmp(header, ELFMAG, 4) ||
	    header[EI_CLASS] != (core->private->is_64 ? ELFCLASS64 : ELFCLASS32) ||
	    get_number(header + s->phentsize, 2) != s->size)
		return false;
	phoff = get_number(header + s->phoff, s->word);
	n = (unsigned)get_number(header + s->phnum, 2);
	*end = start;
	for (unsigned i = 0;
	     i < n && sc_core_step(core) && symcache_core_read(core, start + phoff + i * s->size, ph, s->size); i++) {
		uint64_t vaddr = get_number(ph + s->vaddr, s->word), type = get_number(ph, 4);
		uint64_t memsz = get_number(ph + s->filesz + s->word, s->word);

		if (type == PT_LOAD && !any) {
			first = vaddr & ~4095ull;
			any = true;
		}
		if (type == PT_LOAD && start + (vaddr - first) + memsz > *end)
			*end = start + (vaddr - first) + memsz;
		if (type == PT_NOTE && !id->len)
			id->len = sc_notes_build_id(read_note, core,
						    start + get_number(ph + s->offset, s->word),
						    get_number(ph + s->filesz, s->word), id->bytes);
	}
	return true;
}

struct symcache_image *sc_core_add_module(struct symcache_core *core,
					  const struct symcache_file_id *of, uint64_t start,
					  uint64_t end)
{
	struct symcache_core_private *p = core->private;
	struct symcache_image *image = vec_reserve(&p->modules, 1) ?
		symcache_process_new_image(core->process, of) : NULL;

	if (!image)
		return NULL;
	image->start = start;
	image->end = end;
	return p->modules.data[p->modules.len++] = image;
}

/* The program is where its program headers are, in its first page. */
static uint64_t program_start(const struct symcache_core *core)
{
	return core->private->auxv[AT_PHDR] & ~4095ull;
}

/* A module that begins with an ELF header, or could; the program without a name has the one that it
 * was run by, or the command. */
static struct symcache_image *add_module(struct symcache_core *core, const char *path,
					 uint64_t start, uint64_t end, const struct id *id)
{
	const uint64_t program = program_start(core);
	char run_as[MAX_PATH] = "";

	if (!*path && program && program >= start && program < end) {
		sc_core_text(core, core->private->auxv[AT_EXECFN], run_as, sizeof(run_as));
		path = *run_as ? run_as : core->command;
	}
	return sc_core_add_module(core, &(struct symcache_file_id){
		.path = sc_str_of(path), .build_id = id->bytes, .build_id_len = id->len }, start, end);
}

/* Adds the module that begins with mapping `i`, if it is one; *behind: the first mapping that is of
 * another. Linkers put the headers and the first code into one page of the file, which then is
 * mapped several times. */
static bool add_mapped(struct symcache_core *core, size_t i, size_t *behind)
{
	const struct symcache_core_private *p = core->private;
	const struct mapping *first = &p->mappings.data[i];
	uint64_t end = first->end, ignored;
	bool code = symcache_core_executable(core, first->start);
	struct id id;
	size_t k;

	for (k = i + 1; k < p->mappings.len; k++) {
		const struct mapping *next = &p->mappings.data[k];

		if (strcmp(next->path, first->path) || (!next->offset && next[-1].offset))
			break;
		code |= symcache_core_executable(core, next->start);
		end = next->end > end ? next->end : end;
	}
	*behind = k;
	if (!code)
		return true;
	read_header(core, first->start, &id, &ignored);
	return add_module(core, first->path, first->start, end, &id);
}

/* Without NT_FILE: segments that begin as ELF does. */
static bool add_headers(struct symcache_core *core)
{
	const struct symcache_core_private *p = core->private;
	struct link_map_list linked = { { 0 } };
	bool ok = sc_core_read_link_map(core, &linked);
	char name[MAX_PATH];
	struct id id;
	uint64_t end;

	for (size_t i = 0; ok && i < p->memory.list.len; i++) {
		const uint64_t start = p->memory.list.data[i].start;

		if (start == p->auxv[AT_SYSINFO_EHDR] || !read_header(core, start, &id, &end) ||
		    end <= start)
			continue;
		sc_core_linked_name(core, &linked, start, end, name, sizeof(name));
		ok = add_module(core, name, start, end, &id);
	}
	vec_deinit(&linked.list);
	return ok;
}

static bool add_program(struct symcache_core *core)
{
	const struct symcache_core_private *p = core->private;
	const uint64_t start = program_start(core);

	for (size_t i = 0; i < p->modules.len; i++)
		if (start >= p->modules.data[i]->start && start < p->modules.data[i]->end)
			return true;
	return !start || add_module(core, "", start, start + UINT32_MAX, &(struct id){ .len = 0 });
}

static bool add_vdso(struct symcache_core *core)
{
	struct symcache_core_private *p = core->private;
	const uint64_t start = p->auxv[AT_SYSINFO_EHDR];
	const struct segment *s = start ? sc_core_find(&p->memory, start) : NULL;
	struct symcache_image *image;
	uint64_t ignored;
	struct id id = { .len = 0 };
	bool whole;

	if (!s || s->start != start)
		return true;
	whole = s->size == s->end - start && read_header(core, start, &id, &ignored);
	image = add_module(core, "[vdso]", start, s->end, &id);
	if (whole)
		core->vdso = image;
	return image;
}

/* ---- places ------------------------------------------------------------------------------- */

static bool starts_before(struct symcache_image *const *a, struct symcache_image *const *b)
{
	return (*a)->start < (*b)->start;
}

SC_SORT(sort_modules, __typeof__(struct symcache_image *), starts_before)

/* Maps what may be code of a mapping of NT_FILE, and the first page, into the module that has it. */
static bool map_row(struct symcache_core *core, const struct mapping *row)
{
	const struct symcache_core_private *p = core->private;
	const size_t at = SC_SEARCH(i, p->modules.len, p->modules.data[i]->start <= row->start);
	struct symcache_image *image = at ? p->modules.data[at - 1] : NULL;

	return !image || row->start >= image->end || strcmp(image->path, row->path) ||
	       (row->offset && !symcache_core_executable(core, row->start)) ||
	       symcache_process_map(core->process, &(struct symcache_mapping){
		       row->start, row->end < image->end ? row->end : image->end, row->offset,
		       SYMCACHE_FROM_FILE, image }) != SC_ENOMEM;
}

bool sc_core_place_modules(struct symcache_core *core)
{
	const struct symcache_core_private *p = core->private;
	bool ok = sort_modules(p->modules.data, p->modules.len);

	for (size_t i = 0; ok && i < p->modules.len; i++) {
		struct symcache_image *m = p->modules.data[i];

		if (i + 1 < p->modules.len && m->end > p->modules.data[i + 1]->start)
			m->end = p->modules.data[i + 1]->start;
	}
	for (size_t i = 0; ok && i < p->mappings.len; i++)
		ok = map_row(core, &p->mappings.data[i]);
	for (size_t i = 0; ok && i < p->modules.len; i++) {
		struct symcache_image *m = p->modules.data[i];

		if (!symcache_process_at(core->process, m->start))
			ok = symcache_process_map(core->process, &(struct symcache_mapping){
				m->start, m->end, 0, SYMCACHE_FROM_PAGE, m }) != SC_ENOMEM;
	}
	return ok;
}

int sc_core_modules(struct symcache_core *core, struct sc_error *err)
{
	const struct symcache_core_private *p = core->private;
	bool ok = true;

	for (size_t i = 0, behind; ok && i < p->mappings.len; i = behind) {
		behind = i + 1;
		if (!p->mappings.data[i].offset)
			ok = add_mapped(core, i, &behind);
	}
	if (ok && !p->mappings.len)
		ok = add_headers(core);
	if (!ok || !add_program(core) || !add_vdso(core) || !sc_core_place_modules(core))
		return sc_no_memory(err);
	return 0;
}
