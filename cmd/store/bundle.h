/*
 * bundle.h: bundles of caches in three shapes (format/store.md): a store, a tree
 * of SymCache files, one archive; each with a manifest.
 */
#ifndef CMD_BUNDLE_H
#define CMD_BUNDLE_H

#include "cmd/store/manifest.h"

enum bundle_shape { BUNDLE_STORE, BUNDLE_TREE, BUNDLE_ARCHIVE };

/* By the end of the name: .store, .tar.zst or .tzst, else a tree. */
enum bundle_shape bundle_shape_of(const char *path);

/* ---- writing ------------------------------------------------------------------ */

struct bundle_source {
	struct symstore_reader *reader;
	const struct manifest *manifest;
	const char *text;              /* the manifest as JSON */
	const uint8_t *signature;      /* SIGNATURE_SIZE bytes, or NULL */
	struct progress *progress;
};

/*
 * Writes the bundle beside `path`, then renames it; a store and a tree must not be
 * there yet. Killed, it may leave PATH.part behind, which the next try replaces.
 */
int bundle_write(const char *path, enum bundle_shape shape, const struct bundle_source *source,
		 struct sc_error *err);

/* ---- reading ------------------------------------------------------------------ */

/* Called for each sound cache; the bytes live until the next call. The record is
 * the manifest's. Nonzero ends the reading. */
typedef int bundle_entry_fn(void *ctx, const struct symstore_entry *entry, const void *cache,
			    size_t size, struct sc_error *err);

struct bundle_reader {
	const char *verify_key;        /* public key that must have signed it, or NULL */
	bundle_entry_fn *entry;
	/* What is missing, damaged or not in the manifest. */
	void (*fault)(void *ctx, const char *name, const char *why);
	void *ctx;
	struct progress *progress;
};

/*
 * Reads a bundle, a tree of SymCache files without a manifest, or any store. Each
 * cache is compared with the manifest and checked by the rules of its format. An
 * error is what prevents all reading; SC_EFORMAT also: not signed, although
 * verify_key asks for it.
 */
int bundle_read(const char *path, const struct bundle_reader *r, struct sc_error *err);

#endif
