/* Relocatable objects (ET_REL: kernel modules, .o files): where their sections
 * come to lie, and their debug sections with that put in. */
#ifndef SC_ELF_RELOCATE_H
#define SC_ELF_RELOCATE_H

#include "libsymcache/elf/elf.h"

/*
 * Gives each allocated section an address of its own: .text at 0, where such a
 * file's addresses count from (a kernel's `function+0x12 [module]` does), behind
 * it the other executable ones, then the rest. SC_ENOMEM.
 */
int sc_elf_lay_out(struct sc_elf *e, struct sc_error *err);

/* True if there are relocations for section `index`. */
bool sc_elf_is_relocated(struct sc_elf *e, size_t index);

/* Applies the relocations of section `index` to its bytes, data[0, size), which
 * are inflated and writable. A kind that is not known is left alone and counted
 * in *unknown. */
void sc_elf_relocate(struct sc_elf *e, size_t index, uint8_t *data, size_t size,
		     uint64_t *unknown);

#endif
