/*
 * symcache_store.h: build ID → cache bytes, in one LMDB file.
 *
 * Ownership: pointers obtained through a `symstore_reader` lie in the store's
 * memory map and are valid until symstore_read_end() of that reader. A reader
 * is a snapshot: what is committed after it began is not seen, and the pages
 * it may see are not reused, so end it when the work is done.
 *
 * Thread-safety: a store may be shared; readers and writers are per thread.
 * Never open one file twice in a process. The layout is in format/store.md.
 */
#ifndef SYMCACHE_STORE_H
#define SYMCACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/symcache_format.h"
#include "libsymcache/base/error.h"

struct symstore;
struct symstore_reader;
struct symstore_writer;

enum symstore_mode {
	SYMSTORE_READ,  /* works on a read-only file, directory or medium; no lock
	                 * file is made where none can be */
	SYMSTORE_WRITE, /* creates the file (not its directory) if it is missing */
};

/* 128-bit XXH3 of a file's content: tells whether it was indexed already. */
struct symstore_hash {
	uint64_t low64, high64;
};

/* What is known of an entry beside its bytes. Strings are owned by the caller
 * on put, and lie in the map (NUL-terminated) on get. */
struct symstore_entry {
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len;
	bool build_id_derived;
	uint32_t sources;          /* or of enum symcache_source */
	uint64_t cache_size;       /* bytes */
	uint64_t source_size;      /* bytes of the file that was indexed */
	struct symstore_hash source_hash;
	uint64_t cache_hash;       /* XXH3-64 of the cache bytes */
	int64_t time;              /* when it was indexed, seconds since 1970 */
	const char *source_path;   /* absolute */
	const char *tool_version;
};

/*
 * Opens the store at `path`. SC_ENOTFOUND: SYMSTORE_READ and there is no file;
 * SC_EFORMAT: not a store, or damaged; SC_EUNSUPPORTED: written by a newer
 * version; SC_ESYS, SC_EFULL, SC_ENOMEM.
 */
int symstore_open(const char *path, enum symstore_mode mode, struct symstore **ret,
		  struct sc_error *err);
void symstore_close(struct symstore *store); /* NULL is fine */

/* ---- reading ------------------------------------------------------------- */

int symstore_read_begin(struct symstore *store, struct symstore_reader **ret,
			struct sc_error *err);
void symstore_read_end(struct symstore_reader *reader); /* NULL is fine */

/* The cache bytes of a full build ID, 8-aligned, in the map. SC_ENOTFOUND:
 * no such entry. */
int symstore_get(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		 const void **data, size_t *size, struct sc_error *err);

/* The entry record of a full build ID. */
int symstore_entry(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		   struct symstore_entry *ret, struct sc_error *err);

/* Calls `fn` for each entry whose build ID begins with the `nibbles` hex digits
 * held in `prefix` (0: all), in the order of the build IDs, until it returns
 * false. */
typedef bool symstore_each_fn(void *ctx, const struct symstore_entry *entry);
int symstore_each(struct symstore_reader *reader, const uint8_t *prefix, size_t nibbles,
		  symstore_each_fn *fn, void *ctx, struct sc_error *err);

/* Has a file of this content been indexed by this version of the tool? Then
 * *outcome is what symstore_remember() was given. SC_ENOTFOUND: no. */
int symstore_seen(struct symstore_reader *reader, const struct symstore_hash *content,
		  int *outcome, struct sc_error *err);

/* ---- writing -------------------------------------------------------------
 * One writer at a time, over all processes: begin waits for its turn. Nothing
 * is visible before the commit, everything after it; the map grows by itself. */

int symstore_write_begin(struct symstore *store, struct symstore_writer **ret,
			 struct sc_error *err);

/* Replaces or creates the entry; *dst gets room for entry->cache_size bytes,
 * 8-aligned, to be filled before the next call on this writer. */
int symstore_put(struct symstore_writer *writer, const struct symstore_entry *entry,
		 void **dst, struct sc_error *err);

/* Remembers that content was looked at, with an outcome (0: indexed, or an
 * SC_E… code such as SC_ENOSYMBOLS). */
int symstore_remember(struct symstore_writer *writer, const struct symstore_hash *content,
		      int outcome, struct sc_error *err);

/* Both end the writer, also on failure. */
int symstore_commit(struct symstore_writer *writer, struct sc_error *err);
void symstore_abort(struct symstore_writer *writer); /* NULL is fine */

#endif
