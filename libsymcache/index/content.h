/*
 * content.h: whether a file is the one that was seen before: the hash of its content,
 * and whether it was written to meanwhile.
 */
#ifndef SC_INDEX_CONTENT_H
#define SC_INDEX_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "symcache/store.h"

/* XXH3-128 of an open file's first `size` bytes. −1 with errno. */
int sc_content_hash(int fd, size_t size, struct symstore_hash *ret);

/* The same of a file by its path, and its size in bytes; both zero if it cannot be read. */
void sc_content_hash_file(const char *path, struct symstore_hash *ret, uint64_t *size);

/* Has the open file changed since fstat() said `before`, by size and time? */
bool sc_content_changed(int fd, const struct stat *before);

#endif
