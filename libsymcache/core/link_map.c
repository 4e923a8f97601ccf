/*
 * The dynamic linker's list of what it has loaded, as it lies in the memory of the process: names
 * of modules where a core file has no note NT_FILE. The auxiliary vector says where the program
 * headers are; DT_DEBUG of the program's dynamic section leads to a struct r_debug, and that to
 * struct link_map, one for each module (<link.h>). All bytes may be hostile: the list is cut at
 * MAX_LINKED, and its steps are those of the modules.
 */
#include <elf.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

enum { MAX_LINKED = 1 << 16, MAX_DYNAMIC = 4096 };

static bool read_words(struct symcache_core *core, uint64_t address, uint64_t *to, unsigned n)
{
	uint8_t bytes[5 * 8];

	if (!address || !sc_core_step(core) ||
	    !symcache_core_read(core, address, bytes, (size_t)n * core->word))
		return false;
	for (unsigned i = 0; i < n; i++)
		to[i] = get_number(bytes + i * core->word, core->word);
	return true;
}

/* Where the program's dynamic section is; 0: it has none, or its headers are not in the core. */
static uint64_t find_dynamic(struct symcache_core *core)
{
	const struct symcache_core_private *p = core->private;
	const unsigned w = core->word, size = p->is_64 ? 56 : 32;
	const uint64_t at = p->auxv[AT_PHDR];
	uint64_t dynamic = 0, headers = 0;
	bool any = false;
	uint8_t ph[56];

	for (uint64_t i = 0; at && i < p->auxv[AT_PHNUM] && sc_core_step(core) &&
	     symcache_core_read(core, at + i * size, ph, size); i++) {
		const uint64_t type = get_number(ph, 4), vaddr = get_number(ph + (w == 8 ? 16 : 8), w);

		if (type == PT_DYNAMIC)
			dynamic = vaddr;
		if (type == PT_PHDR)
			headers = vaddr, any = true;
	}
	return dynamic && any ? dynamic + (at - headers) : 0;
}

static bool is_before(const struct linked *a, const struct linked *b)
{
	return a->dynamic < b->dynamic;
}

SC_SORT(sort_linked, struct linked, is_before)

bool sc_core_read_link_map(struct symcache_core *core, struct link_map_list *ret)
{
	uint64_t pair[2] = { 0 }, at = find_dynamic(core), map[4];

	for (unsigned i = 0; at && i < MAX_DYNAMIC; i++, at += 2u * core->word)
		if (!read_words(core, at, pair, 2) || pair[0] == DT_DEBUG || pair[0] == DT_NULL)
			break;
	if (!at || pair[0] != DT_DEBUG || !read_words(core, pair[1] + core->word, &at, 1))
		return true;
	for (; ret->list.len < MAX_LINKED && read_words(core, at, map, 4); at = map[3]) {
		struct linked *l = vec_push(&ret->list);

		if (!l)
			return false;
		*l = (struct linked){ .name = map[1], .dynamic = map[2] };
	}
	return sort_linked(ret->list.data, ret->list.len);
}

void sc_core_text(struct symcache_core *core, uint64_t address, char *to, size_t size)
{
	size_t n = 0;

	while (address && n + 1 < size && sc_core_step(core) &&
	       symcache_core_read(core, address + n, to + n, 1) && to[n])
		n++;
	to[n] = '\0';
}

void sc_core_linked_name(struct symcache_core *core, const struct link_map_list *l, uint64_t start,
			 uint64_t end, char *to, size_t size)
{
	const size_t n = SC_SEARCH(i, l->list.len, l->list.data[i].dynamic < start);
	const bool is = n < l->list.len && l->list.data[n].dynamic < end;

	sc_core_text(core, is ? l->list.data[n].name : 0, to, size);
}
