/*
 * manifest.h: what is in a bundle of caches, as JSON in the bundle itself: for
 * each entry its record, and the size and hashes of its cache. A signature is
 * made over the bytes of this text. format/store.md describes it.
 */
#ifndef BUNDLE_MANIFEST_H
#define BUNDLE_MANIFEST_H

#include "libmarkup/bytes/json.h"
#include "libsymcache/base/json_text.h"
#include "libsymcache/bundle/bundle.h"

enum {
	MANIFEST_PLAIN = 1, MANIFEST_PACKED = 2, /* versions: caches as they are, packed, or some */
	MANIFEST_DELTAS = 3,                     /* packed against those that the receiver has */
	MANIFEST_MAX = 64 << 20,                 /* bytes of JSON */
};

struct manifest_entry {
	struct symstore_entry entry;   /* strings on the heap */
	struct sc_hash hash;           /* XXH3-128 of the cache */
	bool has_hash;                 /* always, but while it is read */
	bool has_sha256;               /* signed bundles: XXH3 withstands no malice */
	uint8_t sha256[32];
	struct symstore_id file;       /* the build ID in the name of the packed file that has it */
	struct symstore_id old;        /* the entry that it is packed against; len 0: by itself */
	struct sc_hash old_hash;       /* XXH3-128 of that one's cache */
};

struct manifest {
	struct manifest_entry *data;   /* in the order of the bundle */
	size_t len, cap;
	bool packed;                   /* its version is MANIFEST_PACKED or MANIFEST_DELTAS */
	bool hashed;                   /* files have bundle_hashed_name() */
};

/* Appends a copy of the record and hashes the cache, also with SHA-256 if asked. SC_ENOMEM. */
int manifest_add(struct manifest *m, const struct symstore_entry *entry, const void *cache,
		 bool sha256, struct sc_error *err);
/* Appends a copy. SC_ENOMEM. */
int manifest_add_copy(struct manifest *m, const struct manifest_entry *e, struct sc_error *err);
/* Strings that are not there become empty ones. False: out of memory. */
bool manifest_fill_strings(struct symstore_entry *e);
void manifest_drop_last(struct manifest *m);
void manifest_deinit(struct manifest *m);

/* The JSON text, on the heap, with a NUL behind its *len bytes. SC_ELIMIT: above
 * MANIFEST_MAX; SC_ENOMEM. */
int manifest_write(const struct manifest *m, char **ret, size_t *len, struct sc_error *err);
/* The same of any manifest that was written to `out`. */
int manifest_take(struct mk_out *out, char **ret, size_t *len, struct sc_error *err);

/* Reads it: any bytes will do. SC_EFORMAT, also above MANIFEST_MAX; SC_EUNSUPPORTED: a later
 * version; SC_ENOMEM. */
int manifest_read(struct manifest *m, const char *text, size_t len, struct sc_error *err);

/* Parses the JSON of any manifest, MANIFEST_MAX bytes at most. *first: why a callback ended it;
 * code 0: it did not. SC_EFORMAT and that error; SC_ENOMEM. */
int manifest_parse(const yajl_callbacks *callbacks, void *ctx, const struct sc_error *first,
		   struct sc_str text, struct sc_error *err);

/* Sorts by build ID, for manifest_find(). */
void manifest_sort(struct manifest *m);
const struct manifest_entry *manifest_find(const struct manifest *m, const uint8_t *id, size_t len);

/* Does the manifest have this entry with the same bytes and tags as `e`? */
bool manifest_has(const struct manifest *m, const struct manifest_entry *e);

/* Are these the bytes that the manifest speaks of? SC_EFORMAT: how they differ. */
int manifest_check(const struct manifest_entry *e, const void *cache, size_t size,
		   struct sc_error *err);

/* "ab/cdef….symcache"; returns `name`. */
enum { BUNDLE_NAME = 2 * SYMCACHE_BUILD_ID_MAX + 80 };
const char *bundle_name(const struct symstore_entry *entry, char name[BUNDLE_NAME]);

/* The same of a packed file, by the build ID of the first entry in it: "ab/cdef….packed". */
const char *bundle_packed_name(const struct symstore_id *id, char name[BUNDLE_NAME]);
/* The same of a file that is named by its content, too: "ab/cdef….HASH.packed", or of what changed
 * "ab/cdef….HASH-OLDHASH.packed". */
const char *bundle_hashed_name(const struct manifest_entry *e, char name[BUNDLE_NAME]);
/* The build ID in such names. */
bool bundle_id_of_name(const char *name, struct symstore_id *ret);

#define SIGNATURE_NAME "manifest.sig"

#endif
