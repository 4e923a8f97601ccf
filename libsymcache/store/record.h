/*
 * record.h: the store's records ↔ bytes (format/store.md has the tables).
 *
 * Little-endian, packed, never a native struct. A record says how long its
 * fixed part is, so that a later version can append fields there and strings
 * at the end; what is unknown is skipped, what is missing reads as 0 or "".
 * Decoding is bounds-checked: the bytes may be anything.
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include "libsymcache/store/store.h"

/* How the file as a whole is to be taken. */
struct symstore_format {
	uint32_t format;      /* version of the layout that wrote it */
	uint32_t read_since;  /* the oldest version that can still read it */
	uint32_t write_since; /* the oldest version that may write into it */
	int64_t created;      /* of earlier writers: seconds since 1970; else 0 */
};

/* Each encoder gives the bytes on the heap, NULL: out of memory. */
uint8_t *symstore_format_encode(const struct symstore_format *format, size_t *size);
uint8_t *symstore_entry_encode(const struct symstore_entry *entry, size_t *size);
uint8_t *symstore_outcome_encode(const struct symstore_outcome *outcome, const char *tool,
				 size_t *size);

/* The key of a file's content: its hash in canonical (big-endian) form. */
enum { SYMSTORE_CONTENT_KEY = 16 };
void symstore_content_key(const struct sc_hash *content, uint8_t key[SYMSTORE_CONTENT_KEY]);

/* Each decoder returns whether the bytes are well-formed. Strings point into
 * them. The key gives the build ID of an entry. */
bool symstore_format_decode(const void *data, size_t size, struct symstore_format *ret);
bool symstore_entry_decode(const void *key, size_t key_size, const void *data, size_t size,
			   struct symstore_entry *ret);
bool symstore_outcome_decode(const void *data, size_t size, struct symstore_outcome *ret,
			     const char **tool);

#endif
