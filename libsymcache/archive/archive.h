/*
 * archive.h: archives as a stream of members, through libarchive.
 *
 * Reads tar, cpio, ar (so .deb), zip and rpm, whatever they are compressed with;
 * writes tar + zstd. Nothing is unpacked to disk. What comes from an archive is
 * hostile input: names may be anything, sizes may lie.
 */
#ifndef SYMCACHE_ARCHIVE_H
#define SYMCACHE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"

struct symarchive;
struct symarchive_writer;

/* How many bytes an archive of `size` bytes may expand to: 256 times its size, and 256 MB
 * that are free. */
uint64_t symarchive_budget(uint64_t size);

/*
 * Reads an archive from the start of `fd`, which stays the caller's and must stay open.
 * Stops with SC_ELIMIT when more than *budget bytes have been inflated and read; it goes
 * down with them, and may be shared by several archives; NULL: any number. SC_EFORMAT: no
 * archive; SC_ESYS, SC_ENOMEM.
 */
int symarchive_open(int fd, uint64_t *budget, struct symarchive **ret, struct sc_error *err);
void symarchive_close(struct symarchive *a); /* NULL is fine */

/* ---- archives in archives ---------------------------------------------------
 * For what anybody made: also takes compressed files that are no archives, as one
 * file without a name (""). */

/* Does data[0, len) begin like an archive, or a compressed file? SYMARCHIVE_HEAD bytes
 * are enough to know. */
enum { SYMARCHIVE_HEAD = 512 };
bool symarchive_begins(const uint8_t *data, size_t len);

/* As symarchive_open(). */
int symarchive_open_any(int fd, uint64_t *budget, struct symarchive **ret, struct sc_error *err);

/* Goes to the next regular file in it. *name lives until the next call.
 * SC_ENOTFOUND: there is none; SC_EFORMAT: damaged. */
int symarchive_next(struct symarchive *a, const char **name, struct sc_error *err);

/* Reads up to `size` bytes of the file; *len 0: its end. SC_EFORMAT. */
int symarchive_read(struct symarchive *a, void *buf, size_t size, size_t *len,
		    struct sc_error *err);

/* Writes an archive to `fd`, which stays the caller's. `level` is zstd's. */
int symarchive_create(int fd, int level, struct symarchive_writer **ret, struct sc_error *err);

/* Adds a file; `time` in seconds since 1970. SC_EFULL, SC_ESYS, SC_ENOMEM. */
int symarchive_add(struct symarchive_writer *w, const char *name, const void *data, size_t size,
		   int64_t time, struct sc_error *err);

/* Both end the writer. What was aborted is to be removed: it may look like a whole archive. */
int symarchive_finish(struct symarchive_writer *w, struct sc_error *err);
void symarchive_abort(struct symarchive_writer *w); /* NULL is fine */

#endif
