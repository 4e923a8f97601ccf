/* write.h: writes what was chosen as a bundle; see bundle.h. */
#ifndef BUNDLE_WRITE_H
#define BUNDLE_WRITE_H

#include "libsymcache/bundle/manifest.h"

struct bundle_source {
	struct symstore_reader *reader;
	bool names_only;               /* of each cache its names alone */
	const struct manifest *manifest;
	const char *text;              /* the manifest as JSON */
	size_t text_len;
	const uint8_t *signature;      /* SIGNATURE_SIZE bytes, or NULL */
	struct symstore_reader *old;   /* has the entries that others are packed against; or NULL */
	const char *sign_key;          /* of a tree in parts, in place of it; or NULL */
	int level;                     /* of packing */
	symbundle_progress_fn *progress;
	void *ctx;
};

/* A cache as it goes into a bundle: in the snapshot, or made of what is there. */
struct bundle_cache {
	const void *data;
	size_t size;
	void *made; /* to be freed; NULL: it is in the snapshot */
};

/* That of an entry. SC_EFORMAT: it is not one; else as symstore_get(). */
int bundle_get_cache(struct symstore_reader *reader, const struct symstore_entry *entry,
		     bool names_only, struct bundle_cache *ret, struct sc_error *err);

/* The cache of entry `i` of the manifest; tells of progress. */
int bundle_source_cache(const struct bundle_source *s, size_t i, struct bundle_cache *ret,
			struct sc_error *err);

/* The cache that entry `e` is packed against, in the snapshot (NULL: there is no store).
 * SC_ENOTFOUND: it is not there, or has other bytes; the message says which. */
int bundle_find_old(struct symstore_reader *reader, const struct manifest_entry *e,
		    struct bundle_cache *ret, struct sc_error *err);

/* The name of a bundle with a hash in it, on the heap. NULL: out of memory. */
char *bundle_name_with(const char *path, const char *hash);

/* Removes the file or folder, with all that is in it. */
void bundle_remove_part(const char *part);

/* As symbundle_export(), but for trees of packed caches, which tree.h writes. */
int bundle_write(const char *path, enum symbundle_shape shape, const struct bundle_source *source,
		 struct sc_error *err);

#endif
