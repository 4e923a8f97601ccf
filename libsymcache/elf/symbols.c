/*
 * ELF symbol tables → one name per address: see symbols.h.
 *
 * Cost: one pass over the table and one sort of what is kept.
 */
#include "libsymcache/elf/symbols.h"

#include <stdlib.h>

#include "libsymcache/base/sort.h"
#include "libsymcache/elf/headers.h"

struct candidate {
	const char *name, *file;
	uint64_t vaddr, size;
	uint64_t section_end; /* where the symbol's section ends */
	uint32_t index;       /* in the table */
	uint32_t rank;        /* among aliases; lower is better */
	bool is_code, tagged;
	bool needed;          /* in narrow() */
	bool local;           /* a label of the compiler (.L10), which names no function */
};

/* Function descriptors of 64-bit PowerPC's first ABI: there, symbols of functions lead
 * into .opd, where the addresses of the code stand. */
struct descriptors {
	const uint8_t *data; /* NULL: there are none */
	size_t size;
	uint64_t vaddr;
	size_t ndx;          /* of .opd in the file with the symbols */
};

struct candidates {
	VEC(struct candidate) list;
	struct descriptors opd;
	uint32_t num_symbols; /* seen so far: indices of one table are above another's */
	const struct sc_elf_asked *only; /* NULL: all are kept */
	size_t narrow_at;     /* so many */
	bool labels;          /* some are the compiler's */
};

/* Bits of struct candidate's rank. */
enum { RANK_BINDING = 4, RANK_LOCAL = 2, RANK_NOTYPE = 8 };

/* How far a name is from what a user would expect to read. */
static uint32_t rank_of(const char *name, unsigned type, unsigned binding)
{
	unsigned underscores = 0;
	unsigned order = binding == STB_GLOBAL || binding == STB_GNU_UNIQUE ? 0 :
			 binding == STB_WEAK ? 1 : RANK_LOCAL;

	while (name[underscores] == '_' && underscores < 15)
		underscores++;
	return (type == STT_NOTYPE) << RANK_NOTYPE | (!strncmp(name, "__GI_", 5)) << 7 |
	       order << RANK_BINDING | underscores;
}

static inline bool by_vaddr(const struct candidate *a, const struct candidate *b)
{
	if (a->vaddr != b->vaddr)
		return a->vaddr < b->vaddr;
	return a->rank != b->rank ? a->rank < b->rank : a->index < b->index;
}

SC_SORT(sort_by_vaddr, struct candidate, by_vaddr)

static void find_descriptors(struct sc_elf *e, struct descriptors *ret)
{
	struct sc_elf *with = e->image ? e->image : e; /* a debug file has no bytes of it */
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	memset(ret, 0, sizeof(*ret));
	if (e->machine == EM_PPC64)
		scn = sc_elf_next_section(e, ".opd", NULL, &sh);
	if (!scn)
		return;
	ret->ndx = elf_ndxscn(scn);
	ret->vaddr = sc_elf_section_vaddr(e, ret->ndx, sh.sh_addr);
	sc_elf_section(with, ".opd", &ret->data, &ret->size, NULL);
}

/* From a descriptor to the code it is of. False: it leads to no code. */
static bool follow(const struct sc_elf *e, const struct descriptors *opd, struct candidate *c)
{
	uint64_t at = c->vaddr - opd->vaddr, vaddr = 0;
	const struct sc_elf_range *code;

	if (opd->size < 8 || at > opd->size - 8)
		return false;
	for (unsigned i = 0; i < 8; i++)
		vaddr |= (uint64_t)opd->data[at + i] << 8 * (e->big_endian ? 7 - i : i);
	code = sc_elf_range_at(&e->exec, vaddr);
	if (!code)
		return false;
	c->vaddr = vaddr;
	c->section_end = code->end;
	return true;
}

/* HWASan has a tag in the top byte of a variable's value, which is not a part of its address. */
static void untag(struct candidate *c, uint64_t start)
{
	const uint64_t without = (uint64_t)((int64_t)(c->vaddr << 8) >> 8);

	c->tagged = without != c->vaddr && (c->vaddr < start || c->vaddr >= c->section_end) &&
		    without >= start && without < c->section_end;
	if (c->tagged)
		c->vaddr = without;
}

#define NARROW_AT 4096 /* candidates: as they do not leave the core's cache */

/* Marks what is needed to know which symbols hold `vaddr`: those that begin at the last address
 * below it, or at the next one, where they end at the latest; and those around that address, as
 * symbols end with the ones that they stand in. Of some of the candidates it marks these of all.
 * `labels`: the compiler's count as symbols; they do in `all`, not in `code`. */
static void mark_needed(struct candidates *c, uint64_t vaddr, bool labels)
{
	struct candidate *list = c->list.data;
	const struct candidate *low = NULL, *high = NULL;

	for (size_t i = 0; i < c->list.len; i++) {
		if (list[i].local && !labels)
			continue;
		if (list[i].vaddr <= vaddr)
			low = low && low->vaddr >= list[i].vaddr ? low : &list[i];
		else
			high = high && high->vaddr <= list[i].vaddr ? high : &list[i];
	}
	for (size_t i = 0; i < c->list.len; i++) {
		struct candidate *s = &list[i];

		if ((low && s->vaddr == low->vaddr) || (high && s->vaddr == high->vaddr) ||
		    (low && s->vaddr < low->vaddr && s->size > low->vaddr - s->vaddr))
			s->needed = true;
	}
}

static void narrow(struct candidates *c)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->list.len; i++)
		c->list.data[i].needed = false;
	for (size_t i = 0; i < c->only->n; i++) {
		mark_needed(c, c->only->vaddrs[i], true);
		if (c->labels)
			mark_needed(c, c->only->vaddrs[i], false);
	}
	for (size_t i = 0; i < c->list.len; i++)
		if (c->list.data[i].needed)
			c->list.data[kept++] = c->list.data[i];
	c->list.len = kept;
	c->narrow_at = 2 * kept < NARROW_AT ? NARROW_AT : 2 * kept;
}

struct named {
	const char *name, *file; /* the file of the local symbols around it */
	uint32_t index;          /* in the table */
};

/* Adds one symbol, if it is one of code or data. */
static bool take(const struct sc_elf *e, const GElf_Sym *sym, size_t ndx, const GElf_Shdr *sh,
		 const struct named *named, struct candidates *ret)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	bool executable = sh->sh_flags & SHF_EXECINSTR;
	bool is_code = type == STT_FUNC || type == STT_GNU_IFUNC ||
		       (type == STT_NOTYPE && executable);
	bool is_data = type == STT_OBJECT || type == STT_COMMON ||
		       (type == STT_NOTYPE && !executable);
	struct candidate *c;
	uint64_t base;

	if (!(sh->sh_flags & SHF_ALLOC) || (!is_code && !is_data) ||
	    (is_data && (sh->sh_flags & SHF_TLS)))
		return true;
	c = vec_push(&ret->list);
	if (!c)
		return false;
	c->is_code = is_code;
	c->name = named->name;
	c->file = GELF_ST_BIND(sym->st_info) == STB_LOCAL ? named->file : NULL;
	base = sc_elf_section_vaddr(e, ndx, sh->sh_addr);
	c->vaddr = sym->st_value + (e->type == ET_REL ? base : 0);
	if ((e->machine == EM_ARM || e->machine == EM_MIPS) && is_code && type != STT_NOTYPE)
		c->vaddr &= ~(uint64_t)1; /* Thumb, microMIPS */
	c->size = sym->st_size;
	c->section_end = base + sh->sh_size;
	c->tagged = false;
	c->local = type == STT_NOTYPE && !strncmp(named->name, ".L", 2);
	ret->labels |= c->local;
	if (c->vaddr >> 56)
		untag(c, base);
	if (is_code && ret->opd.data && ndx == ret->opd.ndx && !follow(e, &ret->opd, c))
		ret->list.len--;
	c->index = named->index;
	c->rank = rank_of(named->name, type, GELF_ST_BIND(sym->st_info));
	return true;
}

/* Of the tools, not of the program: mapping symbols ($x, $d.12, …; on RISC-V also $x with
 * the instruction set behind it), and a compiler's labels inside of functions. Those are in
 * the table on RISC-V, where the linker moves code. */
static bool is_marker(const struct sc_elf *e, const char *name)
{
	return (name[0] == '$' && name[1] && (!name[2] || name[2] == '.')) ||
	       (e->machine == EM_RISCV && (!strncmp(name, "$xrv", 4) || !strncmp(name, ".L", 2)));
}

static int read_table(struct sc_elf *e, Elf_Scn *scn, const GElf_Shdr *table,
		      struct candidates *ret)
{
	Elf_Data *bytes = elf_getdata(scn, NULL);
	Elf_Data *xindex = sc_elf_symbol_sections(e, elf_ndxscn(scn));
	size_t n = bytes && table->sh_entsize ? bytes->d_size / table->sh_entsize : 0;
	const struct sc_elf_strings names = sc_elf_strings(e, table->sh_link);
	GElf_Shdr sh = {0};
	size_t sh_index = 0;
	const char *file = NULL; /* the STT_FILE symbol that came last */

	find_descriptors(e, &ret->opd);
	for (size_t i = 1; i < n && i < INT32_MAX; i++) {
		GElf_Sym sym;
		Elf32_Word xndx = 0;
		const char *name;
		size_t ndx;

		if (!gelf_getsymshndx(bytes, xindex, (int)i, &sym, &xndx))
			continue;
		name = sc_elf_string(&names, sym.st_name);
		if (name && GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file = *name ? name : NULL; /* "" ends the last file's */
		if (!name || !*name)
			continue;
		ndx = sym.st_shndx == SHN_XINDEX ? xndx : sym.st_shndx;
		if (ndx == SHN_UNDEF || (sym.st_shndx >= SHN_LORESERVE &&
					 sym.st_shndx != SHN_XINDEX))
			continue;
		if (is_marker(e, name))
			continue;
		if (ndx != sh_index) {
			if (!gelf_getshdr(elf_getscn(e->elf, ndx), &sh))
				continue;
			sh_index = ndx;
		}
		if (!take(e, &sym, ndx, &sh, &(struct named){
				name, file, ret->num_symbols + (uint32_t)i }, ret))
			return SC_ENOMEM;
		if (ret->only && ret->list.len >= ret->narrow_at)
			narrow(ret);
	}
	ret->num_symbols += (uint32_t)n;
	return 0;
}

/* Where the candidates with the address of number i end. */
static size_t aliases_end(const struct candidates *c, size_t i)
{
	size_t k = i + 1;

	while (k < c->list.len && c->list.data[k].vaddr == c->list.data[i].vaddr)
		k++;
	return k;
}

/* How far an unsized symbol of code reaches: up to the next symbol of any kind, from number `k`
 * on, the end of its section, or of the sized one that it stands in. `c` is the best at its
 * address. */
static uint64_t reach(const struct candidates *all, const struct candidate *c, size_t k,
		      uint64_t inside)
{
	uint64_t end = c->section_end;

	while (k < all->list.len && all->list.data[k].local)
		k++;
	if (k < all->list.len && all->list.data[k].vaddr < end)
		end = all->list.data[k].vaddr;
	return inside < end ? inside : end;
}

/*
 * The symbols of code. At one address the best alias names as much as it has itself, and
 * behind that the best one of those that are larger:
 *
 *   glob         [----)
 *   outer        [---------------)
 *   label             .              unsized: only where no alias has a size
 *   becomes      [glob)[- outer -)
 */
static bool choose_code(const struct candidates *c, struct sc_elf_symbol *out, size_t *n)
{
	VEC(uint64_t) ends = {0}; /* of the sized symbols around, innermost last */
	const struct candidate *list = c->list.data;
	bool ok = true;

	*n = 0;
	for (size_t i = 0, k; i < c->list.len && ok; i = k) {
		const struct candidate *best = NULL;
		uint64_t vaddr = list[i].vaddr, largest = 0, end;

		k = aliases_end(c, i);
		while (ends.len && ends.data[ends.len - 1] <= vaddr)
			ends.len--;
		for (size_t a = i; a < k; a++) {
			if (!list[a].is_code || list[a].local)
				continue;
			best = best ? best : &list[a];
			if (list[a].size <= largest)
				continue;
			largest = list[a].size;
			out[(*n)++] = (struct sc_elf_symbol){ list[a].name, NULL, vaddr, largest };
		}
		if (best && !largest) {
			end = reach(c, best, k, ends.len ? ends.data[ends.len - 1] : UINT64_MAX);
			out[(*n)++] = (struct sc_elf_symbol){ best->name, NULL, vaddr,
							     end > vaddr ? end - vaddr : 0 };
		}
		ok = !largest || vec_reserve(&ends, 1);
		if (largest && ok)
			ends.data[ends.len++] = vaddr + largest < vaddr ? UINT64_MAX :
						vaddr + largest;
	}
	vec_deinit(&ends);
	return ok;
}

/* The symbols of data: one for each address, as large as the largest alias, and if that has
 * no size, up to the next one. */
static size_t choose_data(const struct candidates *c, struct sc_elf_symbol *out)
{
	const struct candidate *list = c->list.data, *open = NULL; /* its size is 0 so far */
	size_t n = 0;

	for (size_t i = 0; i < c->list.len; i++) {
		const struct candidate *s = &list[i];

		if (s->is_code)
			continue;
		if (n && out[n - 1].vaddr == s->vaddr) { /* a worse alias */
			if (out[n - 1].size < s->size)
				out[n - 1].size = s->size;
			continue;
		}
		if (open && !out[n - 1].size)
			out[n - 1].size = (s->vaddr < open->section_end ? s->vaddr :
					   open->section_end) - open->vaddr;
		out[n++] = (struct sc_elf_symbol){ s->name, NULL, s->vaddr, s->size };
		open = s->section_end > s->vaddr ? s : NULL;
	}
	if (open && !out[n - 1].size)
		out[n - 1].size = open->section_end - open->vaddr;
	return n;
}

static struct sc_elf_symbol symbol_of(const struct candidate *c)
{
	return (struct sc_elf_symbol){ c->name, c->file, c->vaddr, c->size, c->tagged };
}

/* Is it a name that programs know, or a function's? Not a label of an assembler, nor a local
 * variable: linkers put many of those at one address. */
static bool is_alias(const struct candidate *c)
{
	const bool is_local = (c->rank >> RANK_BINDING & 7) == RANK_LOCAL;

	return !is_local || (c->is_code && !(c->rank >> RANK_NOTYPE));
}

/* The plain rule: the largest, of equals the last. The others are aliases. */
static bool choose_all(const struct candidates *c, struct sc_elf_symbols *ret)
{
	const struct candidate *list = c->list.data;

	for (size_t i = 0, k; i < c->list.len; i = k) {
		const struct candidate *best = &list[i];

		k = aliases_end(c, i);
		for (size_t a = i + 1; a < k; a++)
			if (list[a].size > best->size ||
			    (list[a].size == best->size && list[a].index > best->index))
				best = &list[a];
		ret->all.data[ret->all.len++] = symbol_of(best);
		for (size_t a = i; a < k; a++) {
			/* An equal name elsewhere is left out once names have numbers: to read
			 * it here for each symbol would cost more than the file has. */
			if (!is_alias(&list[a]) || list[a].name == best->name)
				continue;
			if (!vec_reserve(&ret->aliases, 1))
				return false;
			ret->aliases.data[ret->aliases.len++] = symbol_of(&list[a]);
		}
	}
	return true;
}

static int read_best(struct sc_elf *e, struct candidates *ret, bool *from_dynsym)
{
	GElf_Shdr sh = {0};
	Elf_Scn *table = sc_elf_symbol_table(e, &sh);

	*from_dynsym = sh.sh_type != SHT_SYMTAB;
	return table ? read_table(e, table, &sh, ret) : 0;
}

int sc_elf_symbols_of_both(struct sc_elf *e, struct sc_elf *more, const struct sc_elf_asked *only,
			   struct sc_elf_symbols *ret, struct sc_error *err)
{
	struct candidates c = { .only = only, .narrow_at = NARROW_AT };
	bool ok, ignored;

	memset(ret, 0, sizeof(*ret));
	ok = !read_best(e, &c, &ret->from_dynsym) && (!more || !read_best(more, &c, &ignored));
	if (only)
		narrow(&c);
	ok = ok && sort_by_vaddr(c.list.data, c.list.len) &&
	     vec_reserve(&ret->code, c.list.len) && vec_reserve(&ret->data, c.list.len) &&
	     vec_reserve(&ret->all, c.list.len) && choose_all(&c, ret) &&
	     choose_code(&c, ret->code.data, &ret->code.len);
	if (ok)
		ret->data.len = choose_data(&c, ret->data.data);
	else
		sc_elf_symbols_deinit(ret);
	vec_deinit(&c.list);
	return ok ? 0 : sc_no_memory(err);
}

int sc_elf_symbols(struct sc_elf *e, struct sc_elf_symbols *ret, struct sc_error *err)
{
	return sc_elf_symbols_of_both(e, NULL, NULL, ret, err);
}

void sc_elf_symbols_deinit(struct sc_elf_symbols *s)
{
	vec_deinit(&s->code);
	vec_deinit(&s->data);
	vec_deinit(&s->all);
	vec_deinit(&s->aliases);
}
