/*
 * Modules of a core file: see parts.h.
 *
 * A module begins with the mapping of its file's first page, which kernels dump for its
 * build ID, and has an executable mapping behind it: a file that is mapped as data is not a module.
 * Without the note NT_FILE each segment that begins as ELF does is one, and the program
 * where its program headers are.
 */
#include <elf.h>

#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

/* The offsets of an ELF header and of program headers that differ by class. */
struct shape {
	unsigned phoff, phentsize, phnum, offset, vaddr, filesz, size, word;
};

static const struct shape shape_64 = { 32, 54, 56, 8, 16, 32, 56, 8 };
static const struct shape shape_32 = { 28, 42, 44, 4, 8, 16, 32, 4 };

/* Takes the build ID out of the notes at `address`. */
static void read_build_id(struct symcache_core *core, uint64_t address, uint64_t size,
			  struct symcache_core_module *m)
{
	uint8_t head[16];

	while (size >= 16 && symcache_core_read(core, address, head, 16)) {
		uint64_t name = get_number(head, 4), content = get_number(head + 4, 4);
		uint64_t skip = 12 + ((name + 3) & ~3ull), next = skip + ((content + 3) & ~3ull);

		if (name == 4 && !memcmp(head + 12, "GNU", 4) &&
		    get_number(head + 8, 4) == NT_GNU_BUILD_ID && content &&
		    content <= sizeof(m->build_id) &&
		    symcache_core_read(core, address + skip, m->build_id, content)) {
			m->build_id_len = content;
			return;
		}
		if (next >= size)
			return;
		address += next;
		size -= next;
	}
}

/* Reads the ELF header at the module's start: its build ID, and *end, where its segments
 * end. False: there is none. */
static bool read_header(struct symcache_core *core, struct symcache_core_module *m, uint64_t *end)
{
	const struct shape *s = core->private->is_64 ? &shape_64 : &shape_32;
	uint8_t header[64], ph[56];
	uint64_t phoff, first = 0;
	bool any = false;
	unsigned n;

	if (!symcache_core_read(core, m->start, header, sizeof(header)) ||
	    memcmp(header, ELFMAG, 4) ||
	    header[EI_CLASS] != (core->private->is_64 ? ELFCLASS64 : ELFCLASS32) ||
	    get_number(header + s->phentsize, 2) != s->size)
		return false;
	phoff = get_number(header + s->phoff, s->word);
	n = (unsigned)get_number(header + s->phnum, 2);
	*end = m->start;
	for (unsigned i = 0;
	     i < n && symcache_core_read(core, m->start + phoff + i * s->size, ph, s->size); i++) {
		uint64_t vaddr = get_number(ph + s->vaddr, s->word), type = get_number(ph, 4);
		uint64_t memsz = get_number(ph + s->filesz + s->word, s->word);

		if (type == PT_LOAD && !any) {
			first = vaddr & ~4095ull;
			any = true;
		}
		if (type == PT_LOAD && m->start + (vaddr - first) + memsz > *end)
			*end = m->start + (vaddr - first) + memsz;
		if (type == PT_NOTE && !m->build_id_len)
			read_build_id(core, m->start + get_number(ph + s->offset, s->word),
				      get_number(ph + s->filesz, s->word), m);
	}
	return true;
}

static struct symcache_core_module *add_module(struct symcache_core *core, const char *path,
					       uint64_t start, uint64_t end)
{
	struct symcache_core_module *m = vec_push(&core->private->modules);

	if (!m)
		return NULL;
	*m = (struct symcache_core_module){ .start = start, .end = end, .path = strdup(path) };
	return m->path ? m : NULL;
}

/* Adds the module that begins with mapping `i`, if it is one. */
static bool add_mapped(struct symcache_core *core, size_t i)
{
	const struct symcache_core_private *p = core->private;
	const struct mapping *first = &p->mappings.data[i];
	uint64_t end = first->end, ignored;
	bool code = symcache_core_executable(core, first->start);
	struct symcache_core_module *m;

	for (size_t k = i + 1; k < p->mappings.len; k++) {
		const struct mapping *next = &p->mappings.data[k];

		if (strcmp(next->path, first->path) || !next->offset)
			break;
		code |= symcache_core_executable(core, next->start);
		end = next->end > end ? next->end : end;
	}
	if (!code)
		return true;
	m = add_module(core, first->path, first->start, end);
	if (m)
		read_header(core, m, &ignored);
	return m;
}

/* Without NT_FILE: segments that begin as ELF does. */
static bool add_headers(struct symcache_core *core)
{
	const struct symcache_core_private *p = core->private;

	for (size_t i = 0; i < p->memory.list.len; i++) {
		const struct segment *s = &p->memory.list.data[i];
		struct symcache_core_module m = { .start = s->start }, *added;
		uint64_t end;

		if (s->start == p->auxv[AT_SYSINFO_EHDR] || !read_header(core, &m, &end) ||
		    end <= s->start)
			continue;
		added = add_module(core, "", s->start, end);
		if (!added)
			return false;
		memcpy(added->build_id, m.build_id, sizeof(m.build_id));
		added->build_id_len = m.build_id_len;
	}
	return true;
}

/* The program is where its program headers are, in its first page. */
static bool add_program(struct symcache_core *core)
{
	struct symcache_core_private *p = core->private;
	const uint64_t start = p->auxv[AT_PHDR] & ~4095ull;
	struct symcache_core_module *m = NULL;

	if (!start)
		return true;
	for (size_t i = 0; i < p->modules.len && !m; i++)
		if (start >= p->modules.data[i].start && start < p->modules.data[i].end)
			m = &p->modules.data[i];
	if (!m)
		m = add_module(core, "", start, start + UINT32_MAX);
	if (m && !*m->path) {
		free(m->path);
		m->path = strdup(core->command);
	}
	return m && m->path;
}

static bool starts_before(const struct symcache_core_module *a,
			  const struct symcache_core_module *b)
{
	return a->start < b->start;
}

SC_SORT(sort_modules, struct symcache_core_module, starts_before)

static bool add_vdso(struct symcache_core *core)
{
	const uint64_t start = core->private->auxv[AT_SYSINFO_EHDR];
	const struct segment *s = start ? sc_core_find(&core->private->memory, start) : NULL;
	struct symcache_core_module *m;
	uint64_t ignored;

	if (!s || s->start != start)
		return true;
	m = add_module(core, "[vdso]", start, s->end);
	if (!m)
		return false;
	m->vdso = s->size == s->end - start &&
		  read_header(core, m, &ignored);
	return true;
}

bool sc_core_order_modules(struct symcache_core *core)
{
	struct symcache_core_private *p = core->private;

	if (!sort_modules(p->modules.data, p->modules.len))
		return false;
	for (size_t i = 1; i < p->modules.len; i++)
		if (p->modules.data[i - 1].end > p->modules.data[i].start)
			p->modules.data[i - 1].end = p->modules.data[i].start;
	return true;
}

int sc_core_modules(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	bool ok = true;

	for (size_t i = 0; ok && i < p->mappings.len; i++)
		if (!p->mappings.data[i].offset)
			ok = add_mapped(core, i);
	if (ok && !p->mappings.len)
		ok = add_headers(core);
	if (!ok || !add_program(core) || !add_vdso(core) || !sc_core_order_modules(core))
		return sc_no_memory(err);
	return 0;
}
