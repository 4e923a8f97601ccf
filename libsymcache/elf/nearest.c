/*
 * The nearest symbol: see nearest.h. The rules are those of BFD's _bfd_elf_find_function(), which
 * depend on the order of the table where symbols begin together.
 *
 * Costs a pass over the table and a sort; an address a binary search in its section.
 */
#include "libsymcache/elf/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/elf/headers.h"

struct symbol {
	const char *name, *file;
	uint64_t vaddr, size;
	uint32_t section; /* of the image */
	bool function, typed;
};

struct section {
	const char *name;
	uint64_t start, size;
};

struct sc_elf_nearest {
	VEC(struct section) sections;
	VEC(struct symbol) symbols; /* by section and address, then in the order of the table */
};

static inline bool before(const struct symbol *a, const struct symbol *b)
{
	return a->section != b->section ? a->section < b->section : a->vaddr < b->vaddr;
}

SC_SORT(sort_symbols, struct symbol, before)

static bool read_sections(struct sc_elf *e, struct sc_elf_nearest *n)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *name = gelf_getshdr(scn, &sh) ?
			sc_elf_string(&e->section_names, sh.sh_name) : NULL;
		struct section *s;

		if (!name || !(sh.sh_flags & SHF_ALLOC) || !sh.sh_size)
			continue;
		s = vec_push(&n->sections);
		if (!s)
			return false;
		*s = (struct section){ name, sc_elf_section_vaddr(e, elf_ndxscn(scn), sh.sh_addr),
				       sh.sh_size };
	}
	return true;
}

/* The image's number of section `ndx` of a file; UINT32_MAX: it has none. */
static uint32_t section_of(struct sc_elf *e, const struct sc_elf_nearest *n, size_t ndx,
			   uint64_t *start)
{
	Elf_Scn *scn = elf_getscn(e->elf, ndx);
	GElf_Shdr sh;
	const char *name = scn && gelf_getshdr(scn, &sh) ?
		sc_elf_string(&e->section_names, sh.sh_name) : NULL;

	for (uint32_t i = 0; name && i < n->sections.len; i++) {
		*start = sc_elf_section_vaddr(e, ndx, sh.sh_addr);
		if (n->sections.data[i].start == *start && !strcmp(n->sections.data[i].name, name))
			return i;
	}
	return UINT32_MAX;
}

/* May it be what BFD takes for a function? */
static bool is_candidate(const struct sc_elf *e, const GElf_Sym *sym, const char *name)
{
	const unsigned type = GELF_ST_TYPE(sym->st_info), bind = GELF_ST_BIND(sym->st_info);
	const bool marks = e->machine == EM_ARM || e->machine == EM_AARCH64;

	return (type == STT_NOTYPE || type == STT_FUNC || type == STT_GNU_IFUNC) &&
	       !(type == STT_NOTYPE && bind == STB_LOCAL && !sym->st_size &&
		 GELF_ST_VISIBILITY(sym->st_other) == STV_HIDDEN) &&
	       !(marks && name[0] == '$');
}

static bool read_symbols(struct sc_elf *e, struct sc_elf_nearest *n)
{
	enum { NOTHING, SYMBOL, FILE_BEHIND_IT } seen = NOTHING;
	uint32_t section = UINT32_MAX;
	uint64_t start = 0;
	size_t last = SHN_UNDEF;
	const char *file = NULL;
	GElf_Shdr sh = {0};
	GElf_Sym sym;
	Elf_Scn *scn = sc_elf_symbol_table(e, &sh);
	Elf_Data *bytes = scn ? elf_getdata(scn, NULL) : NULL;
	const struct sc_elf_strings names = sc_elf_strings(e, sh.sh_link);

	for (int i = 1; bytes && gelf_getsym(bytes, i, &sym); i++) {
		const char *name = sc_elf_string(&names, sym.st_name);
		const bool local = GELF_ST_BIND(sym.st_info) == STB_LOCAL;
		struct symbol *s;
		uint64_t vaddr;

		if (GELF_ST_TYPE(sym.st_info) == STT_FILE) {
			file = name;
			seen = seen == SYMBOL ? FILE_BEHIND_IT : seen;
			continue;
		}
		seen = seen == NOTHING ? SYMBOL : seen;
		if (!name || !is_candidate(e, &sym, name))
			continue;
		if (sym.st_shndx != last) {
			last = sym.st_shndx;
			section = section_of(e, n, last, &start);
		}
		if (section == UINT32_MAX)
			continue;
		vaddr = sym.st_value + (e->type == ET_REL ? start : 0);
		if (vaddr < start) /* __bss_start before .bss */
			continue;
		s = vec_push(&n->symbols);
		if (!s)
			return false;
		*s = (struct symbol){
			.name = name, .file = local || seen != FILE_BEHIND_IT ? file : NULL,
			.vaddr = vaddr,
			.size = sym.st_size ? sym.st_size : 1, .section = section,
			.function = GELF_ST_TYPE(sym.st_info) == STT_FUNC,
			.typed = GELF_ST_TYPE(sym.st_info) != STT_NOTYPE,
		};
	}
	return sort_symbols(n->symbols.data, n->symbols.len);
}

struct sc_elf_nearest *sc_elf_nearest_create(struct sc_elf *image, struct sc_elf *symbols)
{
	struct sc_elf_nearest *n = calloc(1, sizeof(*n));

	if (n && read_sections(image, n) && read_symbols(symbols, n))
		return n;
	sc_elf_nearest_destroy(n);
	return NULL;
}

void sc_elf_nearest_destroy(struct sc_elf_nearest *n)
{
	if (!n)
		return;
	vec_deinit(&n->sections);
	vec_deinit(&n->symbols);
	free(n);
}

static bool is_in(const struct section *s, uint64_t vaddr)
{
	return vaddr >= s->start && vaddr - s->start < s->size;
}

bool sc_elf_nearest_loaded(const struct sc_elf_nearest *n, uint64_t vaddr)
{
	for (size_t i = 0; i < n->sections.len; i++)
		if (is_in(&n->sections.data[i], vaddr))
			return true;
	return false;
}

/* Is `s` rather to be named than `best`, which begins at the same address and comes before? */
static bool is_better(const struct symbol *s, const struct symbol *best, uint64_t vaddr)
{
	const uint64_t offset = vaddr - s->vaddr;

	if (best->size <= offset)
		return s->size > best->size;
	if (s->size <= offset)
		return false;
	if (s->function != best->function)
		return s->function;
	if (s->typed != best->typed)
		return s->typed;
	return s->size < best->size;
}

static const struct symbol *find_in(const struct sc_elf_nearest *n, uint32_t section,
				    uint64_t vaddr)
{
	const struct symbol *list = n->symbols.data, *best;
	size_t end = SC_SEARCH(i, n->symbols.len, list[i].section < section ||
			       (list[i].section == section && list[i].vaddr <= vaddr)), first;

	if (!end || list[end - 1].section != section)
		return NULL;
	for (first = end - 1; first && list[first - 1].section == section &&
	     list[first - 1].vaddr == list[end - 1].vaddr; first--)
		;
	best = &list[first];
	for (size_t i = first + 1; i < end; i++)
		if (is_better(&list[i], best, vaddr))
			best = &list[i];
	return best;
}

bool sc_elf_nearest_find(const struct sc_elf_nearest *n, uint64_t vaddr, const char **name,
			 const char **file)
{
	for (uint32_t i = 0; i < n->sections.len; i++) {
		const struct symbol *s = is_in(&n->sections.data[i], vaddr) ?
			find_in(n, i, vaddr) : NULL;

		if (!s)
			continue;
		*name = s->name;
		*file = s->file;
		return true;
	}
	return false;
}
