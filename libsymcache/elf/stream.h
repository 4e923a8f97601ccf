/*
 * A large section that is inflated while it is read: by a thread of its own, from
 * the front, so that readers can follow.
 */
#ifndef SC_ELF_STREAM_H
#define SC_ELF_STREAM_H

#include "libsymcache/elf/elf.h"

struct sc_elf_stream;

/*
 * Starts to inflate section `name` into *data, which will have *size bytes and
 * belongs to the file. SC_ENOTFOUND: it is not worth it, or not possible (small, not
 * compressed with zlib, relocated, in parts, built without the library): load it as
 * any other. SC_ENOMEM.
 */
int sc_elf_stream_open(struct sc_elf *e, const char *name, struct sc_elf_stream **ret,
		       const uint8_t **data, size_t *size, struct sc_error *err);

/* Waits until data[0, want) is there. Returns how much is: at least `want`; or 0 if the
 * compressed data turned out to be damaged, and what was there is not to be used. */
size_t sc_elf_stream_wait(struct sc_elf_stream *s, size_t want);

/* Waits for the end. SC_EFORMAT: the compressed data is damaged. NULL is fine. */
int sc_elf_stream_close(struct sc_elf_stream *s, struct sc_error *err);

#endif
