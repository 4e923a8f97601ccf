/*
 * The symbol that binutils names an address by where the DWARF has no function: the last one to
 * begin at or below it in its section, however large it is.
 */
#ifndef SC_ELF_NEAREST_H
#define SC_ELF_NEAREST_H

#include "libsymcache/elf/elf.h"

struct sc_elf_nearest;

/* Of the sections of `image`, by the symbols of `symbols`, the same file or its debug file. Both
 * must outlive it. NULL: out of memory. */
struct sc_elf_nearest *sc_elf_nearest_create(struct sc_elf *image, struct sc_elf *symbols);
void sc_elf_nearest_destroy(struct sc_elf_nearest *n); /* NULL is fine */

/* Is the address in a section that is loaded? */
bool sc_elf_nearest_loaded(const struct sc_elf_nearest *n, uint64_t vaddr);

/* *name, and the source *file that the table has for it, "" or NULL: the table says that there is
 * none, or nothing. False: no symbol. */
bool sc_elf_nearest_find(const struct sc_elf_nearest *n, uint64_t vaddr, const char **name,
			 const char **file);

#endif
