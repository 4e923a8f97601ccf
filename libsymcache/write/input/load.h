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
 * that is damaged is a fault, and treated as missing. Those that `ret` has already, as they are
 * being inflated, are left alone; all else of it is zero. SC_ENOMEM.
 */
int sc_load_dwarf(struct sc_elf *elf, bool split, unsigned threads, struct dw_sections *ret,
		  struct sc_section_faults *faults, struct sc_error *err);

#endif
