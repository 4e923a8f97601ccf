/* ELF symbol tables → one name per address, the one a user would expect. */
#ifndef SC_ELF_SYMBOLS_H
#define SC_ELF_SYMBOLS_H

#include "libsymcache/elf/elf.h"

struct sc_elf_symbol {
	const char *name; /* borrowed from the file; no @VERSION in it is removed */
	const char *file; /* STT_FILE above a local symbol, or NULL */
	uint64_t vaddr;   /* Thumb bit cleared */
	uint64_t size;    /* how far it is the name of what is there */
	bool tagged;      /* in `all`: the value had a tag in its top byte, which was taken off */
};

struct sc_elf_symbols {
	VEC(struct sc_elf_symbol) code; /* ascending by vaddr, of one address by size */
	VEC(struct sc_elf_symbol) data; /* ascending by vaddr, one per address */
	VEC(struct sc_elf_symbol) all;  /* code and data by the plain rule of symbol
	                                 * tables: of one address the largest, of
	                                 * equals the last; sizes as they stand */
	VEC(struct sc_elf_symbol) aliases; /* of one address in `all`, the others: global and weak
	                                 * names, and functions; ascending by vaddr */
	bool from_dynsym;               /* there is no .symtab (in the first file) */
};

/*
 * Reads .symtab, or .dynsym where there is none. Code: FUNC and IFUNC symbols, and NOTYPE ones in
 * executable sections (assembler labels) but for mapping symbols ($x) and the compiler's own
 * (.L10). Data: OBJECT, COMMON and NOTYPE in other allocated sections, no TLS. Aliases: typed
 * before NOTYPE, global before weak before local, no __GI_, fewer leading underscores, then the
 * order of the table.
 *
 * No symbol is the name of what is beyond its st_size. Of code at one address, the best
 * alias comes first with its own size, then those that are larger, for what is behind it.
 * Without any size, symbols reach up to the next symbol of any kind, or the end of the
 * section or of the sized symbol that they stand in. Data: one for each address, as large
 * as the largest alias, or up to the next one.
 * A file without symbols gives empty lists. SC_ENOMEM.
 */
int sc_elf_symbols(struct sc_elf *elf, struct sc_elf_symbols *ret, struct sc_error *err);

/* Addresses (vaddr) that symbols are asked for alone. */
struct sc_elf_asked {
	const uint64_t *vaddrs;
	size_t n;
};

/* The same of two files that have a part each: .dynsym and MiniDebugInfo; `more` NULL: of one.
 * With `only`, the lists hold what they say about these addresses, and mean nothing elsewhere: of
 * code the symbols that hold one, of `all` the last below each. */
int sc_elf_symbols_of_both(struct sc_elf *elf, struct sc_elf *more, const struct sc_elf_asked *only,
			   struct sc_elf_symbols *ret, struct sc_error *err);

/* Has each symbol its name within the table of strings? If not, *bad is the first st_name that is
 * not, *size that of the table. */
bool sc_elf_symbol_names(struct sc_elf *elf, uint64_t *bad, uint64_t *size);

void sc_elf_symbols_deinit(struct sc_elf_symbols *symbols);

#endif
