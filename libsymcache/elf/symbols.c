/*
 * ELF symbol tables → one name per address: see symbols.h.
 *
 * Cost: one pass over the table and one sort of what is kept.
 */
#include "libsymcache/elf/symbols.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>

struct candidate {
	const char *name;
	uint64_t vaddr, size;
	uint64_t section_end; /* where the symbol's section ends */
	uint32_t index;       /* in the table */
	uint32_t rank;        /* among aliases; lower is better */
};

struct candidates {
	VEC(struct candidate) list;
};

/* How far a name is from what a user would expect to read. */
static uint32_t rank_of(const char *name, unsigned type, unsigned binding)
{
	unsigned underscores = 0;
	unsigned order = binding == STB_GLOBAL || binding == STB_GNU_UNIQUE ? 0 :
			 binding == STB_WEAK ? 1 : 2;

	while (name[underscores] == '_' && underscores < 15)
		underscores++;
	return (type == STT_NOTYPE) << 8 | (!strncmp(name, "__GI_", 5)) << 7 | order << 4 |
	       underscores;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->vaddr != y->vaddr)
		return x->vaddr < y->vaddr ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Puts one symbol into the list it belongs to, or into none. */
static bool take(const struct sc_elf *e, const GElf_Sym *sym, const GElf_Shdr *sh,
		 const char *name, uint32_t index, struct candidates *code,
		 struct candidates *data)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	bool executable = sh->sh_flags & SHF_EXECINSTR;
	bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC ||
		       (type == STT_NOTYPE && executable);
	bool is_data = type == STT_OBJECT || type == STT_COMMON ||
		       (type == STT_NOTYPE && !executable);
	struct candidate *c;

	if (!(sh->sh_flags & SHF_ALLOC) || (!is_code && !is_data) ||
	    (is_data && (sh->sh_flags & SHF_TLS)))
		return true;
	c = vec_push(is_code ? &code->list : &data->list);
	if (!c)
		return false;
	c->name = name;
	c->vaddr = sym->st_value;
	if (e->machine == EM_ARM && is_code && type != STT_NOTYPE)
		c->vaddr &= ~(uint64_t)1; /* Thumb */
	c->size = sym->st_size;
	c->section_end = sh->sh_addr + sh->sh_size;
	c->index = index;
	c->rank = rank_of(name, type, GELF_ST_BIND(sym->st_info));
	return true;
}

/* $x, $d.12, …; on RISC-V also $x with the instruction set behind it. */
static bool is_mapping_symbol(const struct sc_elf *e, const char *name)
{
	return name[0] == '$' && name[1] && (!name[2] || name[2] == '.' ||
		(e->machine == EM_RISCV && !strncmp(name, "$xrv", 4)));
}

static int read_table(struct sc_elf *e, Elf_Scn *scn, const GElf_Shdr *table,
		      struct candidates *code, struct candidates *data)
{
	Elf_Data *bytes = elf_getdata(scn, NULL), *xindex = NULL;
	Elf_Scn *s = NULL;
	size_t n = bytes && table->sh_entsize ? bytes->d_size / table->sh_entsize : 0;
	GElf_Shdr sh = {0};
	size_t sh_index = 0;

	while ((s = elf_nextscn(e->elf, s))) { /* more than 65,279 sections */
		GElf_Shdr x;
		if (gelf_getshdr(s, &x) && x.sh_type == SHT_SYMTAB_SHNDX &&
		    x.sh_link == elf_ndxscn(scn))
			xindex = elf_getdata(s, NULL);
	}
	for (size_t i = 1; i < n && i < INT32_MAX; i++) {
		GElf_Sym sym;
		Elf32_Word xndx = 0;
		const char *name;
		size_t ndx;

		if (!gelf_getsymshndx(bytes, xindex, (int)i, &sym, &xndx))
			continue;
		ndx = sym.st_shndx == SHN_XINDEX ? xndx : sym.st_shndx;
		if (ndx == SHN_UNDEF || (sym.st_shndx >= SHN_LORESERVE &&
					 sym.st_shndx != SHN_XINDEX))
			continue;
		name = elf_strptr(e->elf, table->sh_link, sym.st_name);
		if (!name || !*name || is_mapping_symbol(e, name))
			continue;
		if (ndx != sh_index) {
			s = elf_getscn(e->elf, ndx);
			if (!s || !gelf_getshdr(s, &sh))
				continue;
			sh_index = ndx;
		}
		if (!take(e, &sym, &sh, name, (uint32_t)i, code, data))
			return SC_ENOMEM;
	}
	return 0;
}

/* Sorts, chooses among aliases, and bounds sizes of 0. */
static bool settle(struct candidates *c, struct sc_elf_symbol **data, size_t *len)
{
	size_t n = 0, total = c->list.len;
	struct candidate *list = c->list.data;
	struct sc_elf_symbol *out = calloc(total ? total : 1, sizeof(*out));

	if (!out)
		return false;
	if (total)
		qsort(list, total, sizeof(*list), by_vaddr);
	for (size_t i = 0, k; i < total; i = k) {
		uint64_t size = 0, end = list[i].section_end;

		for (k = i; k < total && list[k].vaddr == list[i].vaddr; k++)
			if (list[k].size > size)
				size = list[k].size;
		if (!size && end > list[i].vaddr) {
			if (k < total && list[k].vaddr < end)
				end = list[k].vaddr;
			size = end - list[i].vaddr;
		}
		out[n++] = (struct sc_elf_symbol){ list[i].name, list[i].vaddr, size };
	}
	*data = out;
	*len = n;
	return true;
}

int sc_elf_symbols(struct sc_elf *e, struct sc_elf_symbols *ret, struct sc_error *err)
{
	struct candidates code = {0}, data = {0};
	Elf_Scn *scn = NULL, *symtab = NULL, *dynsym = NULL, *use;
	bool ok = true;

	memset(ret, 0, sizeof(*ret));
	while ((scn = elf_nextscn(e->elf, scn))) {
		GElf_Shdr sh;
		if (!gelf_getshdr(scn, &sh))
			continue;
		if (sh.sh_type == SHT_SYMTAB && !symtab)
			symtab = scn;
		else if (sh.sh_type == SHT_DYNSYM && !dynsym)
			dynsym = scn;
	}
	use = symtab ? symtab : dynsym;
	ret->from_dynsym = !symtab;
	if (use) {
		GElf_Shdr sh;
		gelf_getshdr(use, &sh);
		ok = !read_table(e, use, &sh, &code, &data);
	}
	ok = ok && settle(&code, &ret->code.data, &ret->code.len) &&
	     settle(&data, &ret->data.data, &ret->data.len);
	ret->code.cap = ret->code.len;
	ret->data.cap = ret->data.len;
	vec_deinit(&code.list);
	vec_deinit(&data.list);
	if (!ok) {
		sc_elf_symbols_deinit(ret);
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	}
	return 0;
}

void sc_elf_symbols_deinit(struct sc_elf_symbols *s)
{
	vec_deinit(&s->code);
	vec_deinit(&s->data);
}
