/* What sections.c lends to stream.c. */
#ifndef SC_ELF_SECTIONS_H
#define SC_ELF_SECTIONS_H

#include "libsymcache/elf/elf.h"

/*
 * If section `name` is in one part, compressed with zlib, not relocated, and inflates
 * to at least `worth` bytes: room for them, owned by the file, *in[0, *in_size) its
 * compressed bytes. Else, or out of memory, NULL.
 */
uint8_t *sc_elf_room_for_zlib(struct sc_elf *e, const char *name, size_t worth,
			      const uint8_t **in, size_t *in_size, size_t *size);

#endif
