/* The DWARF sections of an ELF file, by name. */
#ifndef SC_LOAD_H
#define SC_LOAD_H

#include "libsymcache/dwarf/sections.h"
#include "libsymcache/elf/elf.h"

/* Sections that are damaged. */
struct sc_section_faults {
	uint64_t count;
	struct sc_error first;
};

/*
 * Loads the sections of `elf`, or with `split` those whose names end in ".dwo". One
 * that is damaged is a fault, and treated as missing. `ret` is all zero, or has
 * .debug_info, which is left alone. SC_ENOMEM.
 */
int sc_load_dwarf(struct sc_elf *elf, bool split, unsigned threads, struct dw_sections *ret,
		  struct sc_section_faults *faults, struct sc_error *err);

#endif
