/*
 * Relocatable objects: see relocate.h.
 *
 * Debug sections need few kinds of relocation: a symbol's address or an offset
 * into another section, stored whole; RISC-V also needs differences of labels,
 * because its linker shrinks code. Never used on linked files: vmlinux keeps its
 * relocations, but they are applied already.
 *
 * Cost: linear in the relocations.
 */
#include "libsymcache/elf/relocate.h"

#include <stdlib.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/elf/headers.h"

#define BEHIND_TEXT 0x1000 /* alignment between the groups of sections */

/* ---- where sections lie ------------------------------------------------------- */

static bool is_text(struct sc_elf *e, const GElf_Shdr *sh)
{
	const char *name = sc_elf_string(&e->section_names, sh->sh_name);

	return name && !strcmp(name, ".text");
}

/* 0: .text, 1: other code, 2: the rest of what is loaded, −1: not loaded. */
static int group_of(struct sc_elf *e, const GElf_Shdr *sh)
{
	if (!(sh->sh_flags & SHF_ALLOC))
		return -1;
	return is_text(e, sh) ? 0 : (sh->sh_flags & SHF_EXECINSTR) ? 1 : 2;
}

static inline bool by_section(const struct sc_elf_relocations *a,
			      const struct sc_elf_relocations *b)
{
	return a->of < b->of;
}

SC_SORT(sort_by_section, struct sc_elf_relocations, by_section)

static bool list_relocations(struct sc_elf *e)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(e->elf, scn))) {
		struct sc_elf_relocations *r;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || (sh.sh_type != SHT_RELA && sh.sh_type != SHT_REL))
			continue;
		r = vec_push(&e->relocations);
		if (!r)
			return false;
		*r = (struct sc_elf_relocations){ sh.sh_info, elf_ndxscn(scn) };
	}
	return sort_by_section(e->relocations.data, e->relocations.len);
}

int sc_elf_lay_out(struct sc_elf *e, struct sc_error *err)
{
	size_t n;
	uint64_t at = 0;

	if (elf_getshdrnum(e->elf, &n))
		return sc_error_set(err, SC_EFORMAT, "section headers: %s", elf_errmsg(-1));
	if (!n)
		return 0;
	if (!vec_reserve(&e->placed, n) || !list_relocations(e))
		return sc_no_memory(err);
	memset(e->placed.data, 0, n * sizeof(*e->placed.data));
	e->placed.len = n;
	for (int group = 0; group < 3; group++) {
		Elf_Scn *scn = NULL;
		at = (at + BEHIND_TEXT - 1) / BEHIND_TEXT * BEHIND_TEXT;
		while ((scn = elf_nextscn(e->elf, scn))) {
			GElf_Shdr sh;
			uint64_t align;
			if (!gelf_getshdr(scn, &sh) || group_of(e, &sh) != group)
				continue;
			align = sh.sh_addralign && sh.sh_addralign <= 1 << 20 ? sh.sh_addralign : 1;
			at = (at + align - 1) / align * align;
			e->placed.data[elf_ndxscn(scn)] = at;
			if (at + sh.sh_size < at)
				return sc_error_set(err, SC_EFORMAT, "section %zu is too large",
						    elf_ndxscn(scn));
			at += sh.sh_size;
		}
	}
	e->load_end = at;
	return 0;
}

/* ---- relocations ------------------------------------------------------------------ */

enum action {
	NOTHING, /* e.g. TLS offsets: not an address */
	SET,     /* symbol + addend */
	RELATIVE,/* symbol + addend − place */
	ADD,     /* what is there + symbol + addend */
	SUB,     /* what is there − (symbol + addend) */
	SET6,    /* the low six bits of a byte */
	SUB6,
	SET_ULEB,/* in as many bytes as there are */
	SUB_ULEB,
	UNKNOWN,
};

struct kind {
	enum action action;
	unsigned size; /* bytes */
};

static struct kind kind_of_riscv(unsigned type)
{
	switch (type) {
	case 1: return (struct kind){ SET, 4 };          /* R_RISCV_32 */
	case 2: return (struct kind){ SET, 8 };          /* R_RISCV_64 */
	case 33: return (struct kind){ ADD, 1 };         /* R_RISCV_ADD8 … */
	case 34: return (struct kind){ ADD, 2 };
	case 35: return (struct kind){ ADD, 4 };
	case 36: return (struct kind){ ADD, 8 };
	case 37: return (struct kind){ SUB, 1 };         /* R_RISCV_SUB8 … */
	case 38: return (struct kind){ SUB, 2 };
	case 39: return (struct kind){ SUB, 4 };
	case 40: return (struct kind){ SUB, 8 };
	case 52: return (struct kind){ SUB6, 1 };        /* R_RISCV_SUB6 */
	case 53: return (struct kind){ SET6, 1 };        /* R_RISCV_SET6 */
	case 54: return (struct kind){ SET, 1 };         /* R_RISCV_SET8 … */
	case 55: return (struct kind){ SET, 2 };
	case 56: return (struct kind){ SET, 4 };
	case 57: return (struct kind){ RELATIVE, 4 };    /* R_RISCV_32_PCREL */
	case 60: return (struct kind){ SET_ULEB, 0 };    /* R_RISCV_SET_ULEB128 */
	case 61: return (struct kind){ SUB_ULEB, 0 };    /* R_RISCV_SUB_ULEB128 */
	default: return (struct kind){ type ? UNKNOWN : NOTHING, 0 };
	}
}

static struct kind kind_of(const struct sc_elf *e, unsigned type)
{
	static const struct { uint16_t machine, type; enum action action; uint8_t size; } kinds[] = {
		{ EM_X86_64, R_X86_64_64, SET, 8 },
		{ EM_X86_64, R_X86_64_32, SET, 4 },
		{ EM_X86_64, R_X86_64_32S, SET, 4 },
		{ EM_X86_64, R_X86_64_16, SET, 2 },
		{ EM_X86_64, R_X86_64_8, SET, 1 },
		{ EM_X86_64, R_X86_64_PC32, RELATIVE, 4 },
		{ EM_X86_64, R_X86_64_PC64, RELATIVE, 8 },
		{ EM_X86_64, R_X86_64_DTPOFF32, NOTHING, 0 },
		{ EM_X86_64, R_X86_64_DTPOFF64, NOTHING, 0 },
		{ EM_386, R_386_32, SET, 4 },
		{ EM_386, R_386_16, SET, 2 },
		{ EM_386, R_386_PC32, RELATIVE, 4 },
		{ EM_386, R_386_TLS_LDO_32, NOTHING, 0 },
		{ EM_AARCH64, R_AARCH64_ABS64, SET, 8 },
		{ EM_AARCH64, R_AARCH64_ABS32, SET, 4 },
		{ EM_AARCH64, R_AARCH64_ABS16, SET, 2 },
		{ EM_AARCH64, R_AARCH64_PREL32, RELATIVE, 4 },
		{ EM_AARCH64, R_AARCH64_PREL64, RELATIVE, 8 },
		{ EM_ARM, R_ARM_ABS32, SET, 4 },
		{ EM_ARM, R_ARM_REL32, RELATIVE, 4 },
		{ EM_ARM, R_ARM_TLS_LDO32, NOTHING, 0 },
		{ EM_PPC, R_PPC_ADDR32, SET, 4 },
		{ EM_PPC, R_PPC_REL32, RELATIVE, 4 },
		{ EM_PPC, R_PPC_UADDR32, SET, 4 },
		{ EM_PPC64, R_PPC64_ADDR64, SET, 8 },
		{ EM_PPC64, R_PPC64_UADDR64, SET, 8 },
		{ EM_PPC64, R_PPC64_ADDR32, SET, 4 },
		{ EM_PPC64, R_PPC64_UADDR32, SET, 4 },
		{ EM_PPC64, R_PPC64_REL32, RELATIVE, 4 },
		{ EM_PPC64, R_PPC64_REL64, RELATIVE, 8 },
		{ EM_PPC64, R_PPC64_DTPREL64, NOTHING, 0 },
		{ EM_S390, R_390_64, SET, 8 },
		{ EM_S390, R_390_32, SET, 4 },
		{ EM_S390, R_390_16, SET, 2 },
		{ EM_S390, R_390_PC32, RELATIVE, 4 },
		{ EM_S390, R_390_PC64, RELATIVE, 8 },
		{ EM_S390, R_390_TLS_LDO64, NOTHING, 0 },
		{ EM_MIPS, R_MIPS_32, SET, 4 },
		{ EM_MIPS, R_MIPS_64, SET, 8 },
		{ EM_MIPS, R_MIPS_TLS_DTPREL32, NOTHING, 0 },
		{ EM_MIPS, R_MIPS_TLS_DTPREL64, NOTHING, 0 },
	};

	if (e->machine == EM_RISCV)
		return kind_of_riscv(type);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].machine == e->machine && kinds[i].type == type)
			return (struct kind){ kinds[i].action, kinds[i].size };
	return (struct kind){ type ? UNKNOWN : NOTHING, 0 };
}

static uint64_t get(const struct sc_elf *e, const uint8_t *p, unsigned size)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < size; i++)
		v |= (uint64_t)p[e->big_endian ? size - 1 - i : i] << 8 * i;
	return v;
}

static void set(const struct sc_elf *e, uint8_t *p, unsigned size, uint64_t v)
{
	for (unsigned i = 0; i < size; i++)
		p[e->big_endian ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

/* Replaces a ULEB128 in the bytes it has: v, or what is there minus v. */
static void set_uleb(uint8_t *p, size_t left, uint64_t v, bool subtract)
{
	uint64_t old = 0;
	size_t n = 0;

	do {
		if (n == left)
			return;
		if (n < 9)
			old |= (uint64_t)(p[n] & 0x7f) << 7 * n;
	} while (p[n++] & 0x80);
	if (subtract)
		v = old - v;
	for (size_t i = 0; i < n; i++, v >>= 7)
		p[i] = (uint8_t)((v & 0x7f) | (i + 1 < n ? 0x80 : 0));
}

/* A section, and where it lies. */
struct target {
	uint8_t *data;
	size_t size;
	uint64_t place;
};

static void apply(const struct sc_elf *e, const struct kind *k, const struct target *to,
		  uint64_t offset, uint64_t value, bool has_addend)
{
	const uint64_t place = to->place + offset;
	uint8_t *p;

	if (k->action == NOTHING || offset >= to->size || k->size > to->size - offset)
		return;
	p = to->data + offset;
	/* Without an addend of its own (REL) it is what stands there. */
	if (!has_addend && (k->action == SET || k->action == RELATIVE))
		value += get(e, p, k->size);
	switch (k->action) {
	case SET: set(e, p, k->size, value); break;
	case RELATIVE: set(e, p, k->size, value - place); break;
	case ADD: set(e, p, k->size, get(e, p, k->size) + value); break;
	case SUB: set(e, p, k->size, get(e, p, k->size) - value); break;
	case SET6: *p = (uint8_t)((*p & 0xc0) | (value & 0x3f)); break;
	case SUB6: *p = (uint8_t)((*p & 0xc0) | ((*p - value) & 0x3f)); break;
	case SET_ULEB: set_uleb(p, to->size - offset, value, false); break;
	case SUB_ULEB: set_uleb(p, to->size - offset, value, true); break;
	case NOTHING:
	case UNKNOWN: break;
	}
}

static uint64_t symbol_value(const struct sc_elf *e, Elf_Data *symbols, Elf_Data *xindex,
			     size_t index)
{
	GElf_Sym sym;
	Elf32_Word xndx = 0;
	size_t section;

	if (index > INT32_MAX || !symbols ||
	    !gelf_getsymshndx(symbols, xindex, (int)index, &sym, &xndx))
		return 0;
	section = sym.st_shndx == SHN_XINDEX ? xndx : sym.st_shndx;
	return sym.st_value + (section < e->placed.len ? e->placed.data[section] : 0);
}

/* The type of a relocation; mips64el stores r_info in an order of its own. */
static void split_info(const struct sc_elf *e, uint64_t info, size_t *symbol, unsigned *type)
{
	*symbol = GELF_R_SYM(info);
	*type = (unsigned)GELF_R_TYPE(info);
	if (e->machine == EM_MIPS && e->is_64) {
		*symbol = e->big_endian ? info >> 32 : info & 0xffffffff;
		*type = e->big_endian ? info & 0xff : (unsigned)(info >> 56);
	}
}

static void apply_table(struct sc_elf *e, Elf_Scn *table, const GElf_Shdr *sh,
			const struct target *to, uint64_t *unknown)
{
	Elf_Data *relocations = elf_getdata(table, NULL);
	Elf_Scn *symtab = elf_getscn(e->elf, sh->sh_link);
	Elf_Data *symbols = symtab ? elf_getdata(symtab, NULL) : NULL;
	Elf_Data *xindex = symtab ? sc_elf_symbol_sections(e, sh->sh_link) : NULL;
	size_t n = relocations && sh->sh_entsize ? relocations->d_size / sh->sh_entsize : 0;

	for (size_t i = 0; i < n && i < INT32_MAX; i++) {
		GElf_Rela r = {0};
		GElf_Rel rel;
		size_t symbol;
		unsigned type;
		struct kind k;

		if (sh->sh_type == SHT_RELA) {
			if (!gelf_getrela(relocations, (int)i, &r))
				continue;
		} else {
			if (!gelf_getrel(relocations, (int)i, &rel))
				continue;
			r.r_offset = rel.r_offset;
			r.r_info = rel.r_info;
		}
		split_info(e, r.r_info, &symbol, &type);
		k = kind_of(e, type);
		*unknown += k.action == UNKNOWN;
		apply(e, &k, to, r.r_offset,
		      symbol_value(e, symbols, xindex, symbol) + (uint64_t)r.r_addend,
		      sh->sh_type == SHT_RELA);
	}
}

/* The first table of relocations for section `index`, or where it would be. */
static size_t first_table(const struct sc_elf *e, size_t index)
{
	return SC_SEARCH(i, e->relocations.len, e->relocations.data[i].of < index);
}

bool sc_elf_is_relocated(struct sc_elf *e, size_t index)
{
	size_t first = first_table(e, index);

	return first < e->relocations.len && e->relocations.data[first].of == index;
}

void sc_elf_relocate(struct sc_elf *e, size_t index, uint8_t *data, size_t size,
		     uint64_t *unknown)
{
	const struct target to = { data, size,
				   index < e->placed.len ? e->placed.data[index] : 0 };

	for (size_t i = first_table(e, index);
	     i < e->relocations.len && e->relocations.data[i].of == index; i++) {
		Elf_Scn *scn = elf_getscn(e->elf, e->relocations.data[i].table);
		GElf_Shdr sh;

		if (!scn || !gelf_getshdr(scn, &sh))
			continue;
		/* Tables do not overlap, but nothing stops them. */
		e->relocation_bytes += sh.sh_size;
		if (e->relocation_bytes > 2 * (uint64_t)e->size)
			return;
		apply_table(e, scn, &sh, &to, unknown);
	}
}
