/* Notes of an ELF file: the build ID. */
#ifndef SC_ELF_NOTES_H
#define SC_ELF_NOTES_H

#include "libsymcache/elf/elf.h"

/* Takes NT_GNU_BUILD_ID out of a note section or segment, if e has none yet. */
void sc_elf_read_notes(struct sc_elf *e, const uint8_t *data, size_t size, uint64_t align);

#endif
