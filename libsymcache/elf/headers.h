/* Sections by name and kind, as libelf has them: for the files of this room. */
#ifndef SC_ELF_HEADERS_H
#define SC_ELF_HEADERS_H

#include <gelf.h>
#include <libelf.h>

#include "libsymcache/elf/elf.h"

/* The next section of this name behind `scn` (NULL: the first one), with its header, be it
 * without bytes; NULL: there is none. */
Elf_Scn *sc_elf_next_section(struct sc_elf *e, const char *name, Elf_Scn *scn, GElf_Shdr *sh);

/* .symtab, or .dynsym if there is none, with its header; or NULL. */
Elf_Scn *sc_elf_symbol_table(struct sc_elf *e, GElf_Shdr *sh);

/* Of symbol table number `ndx`: the sections of symbols, where there are more than 65,279; or
 * NULL. */
Elf_Data *sc_elf_symbol_sections(struct sc_elf *e, size_t ndx);

#endif
