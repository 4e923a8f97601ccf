/*
 * A large section that is inflated while it is read: from the front, step by step, so
 * that readers can follow. What they have read makes room for what comes: however large
 * the section is, it takes little memory.
 */
#ifndef SC_ELF_STREAM_H
#define SC_ELF_STREAM_H

#include "libsymcache/elf/elf.h"

struct sc_elf_stream;

/*
 * Prepares to inflate section `name`, if that has `worth` bytes at least, into *data, which will
 * have *size bytes and belongs to the file. SC_ENOTFOUND: it is not worth it, or not possible (not
 * compressed with zlib, relocated, in parts, built without the library): load it as any other.
 * SC_ENOMEM.
 */
int sc_elf_stream_open(struct sc_elf *e, const char *name, size_t worth,
		       struct sc_elf_stream **ret, const uint8_t **data, size_t *size);

/*
 * Inflates some more; of data[0, done) nothing is needed any longer. Returns how much is
 * there, more than before unless it is all; or 0 if the compressed data turned out to be
 * damaged, and what was there is not to be used. Any thread may call it, but one at a time.
 */
size_t sc_elf_stream_more(struct sc_elf_stream *s, size_t done);

/* Inflates what is left. SC_EFORMAT: the compressed data is damaged. NULL is fine. */
int sc_elf_stream_finish(struct sc_elf_stream *s, struct sc_error *err);

/*
 * Inflates all in place of sc_elf_stream_more(), but writes only those pages to data[] that wanted[]
 * has, a byte for each page_size bytes (a power of two, SC_BIG_PAGE at most), and those behind up to
 * a byte 0: strings that begin in the first ones. SC_EFORMAT, SC_ENOMEM.
 */
int sc_elf_stream_pages(struct sc_elf_stream *s, size_t page_size, const uint8_t *wanted);

void sc_elf_stream_close(struct sc_elf_stream *s); /* the bytes stay; NULL is fine */

#endif
