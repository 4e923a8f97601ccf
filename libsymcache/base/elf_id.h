/*
 * elf_id.h: the build ID of an ELF file of this machine's byte order, without libelf: of bytes that
 * are read one piece at a time, out of a file or the memory of a process. They may be hostile: so
 * many program headers and notes are read, and no more.
 */
#ifndef SC_ELF_ID_H
#define SC_ELF_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/symcache_format.h"

/* Copies bytes; false: they are not there. */
typedef bool sc_read_fn(void *ctx, uint64_t at, void *to, size_t bytes);

/* The build ID in the notes [at, at + size): its length, 0: there is none. */
size_t sc_notes_build_id(sc_read_fn *read, void *ctx, uint64_t at, uint64_t size,
			 uint8_t id[SYMCACHE_BUILD_ID_MAX]);

/* The same of an ELF file that begins at `start`, its notes at their offsets behind it. */
size_t sc_elf_build_id(sc_read_fn *read, void *ctx, uint64_t start,
		       uint8_t id[SYMCACHE_BUILD_ID_MAX]);

#endif
