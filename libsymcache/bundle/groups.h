/*
 * groups.h: entries that are packed into one file of a bundle, for each other's sake.
 *
 * A group is entries that follow one another in the manifest, sorted by build ID; the first one's
 * build ID is in the file's name. Packing, unpacking and checking run on all cores; in memory are
 * GROUP_BATCH bytes of caches, or one group that has more.
 */
#ifndef BUNDLE_GROUPS_H
#define BUNDLE_GROUPS_H

#include "libsymcache/bundle/reading.h"
#include "libsymcache/bundle/write.h"

enum {
	GROUP_BYTES = 16 << 20,  /* of caches: what one entry costs at most, but for itself */
	GROUP_BATCH = 64 << 20,
	GROUPS = 64,             /* in a batch */
};

/* Sorts the manifest and puts its entries into groups of at most `most` bytes; larger ones, those
 * that are packed against another one, and with `most` 0 each, stand alone. */
void groups_make(struct manifest *m, uint64_t most);

/* How many entries are in the file of entry `i`, from that on; 0: it is not the first there. */
size_t groups_at(const struct manifest *m, size_t i);

/* Packs all groups of the source and calls put() with each file, in order. */
typedef int groups_put_fn(void *ctx, const char *name, const void *data, size_t size, int64_t time,
			  struct sc_error *err);
int groups_write(const struct bundle_source *s, groups_put_fn *put, void *ctx,
		 struct sc_error *err);

/* ---- reading ---- */

/* A file of the bundle, which was packed: takes *file over. What is in it is given by this call or
 * a later one. `first`: its first entry in the manifest; NULL: there is no manifest. */
int groups_give(struct bundle_reading *b, const char *name, struct bundle_file *file,
		const struct manifest_entry *first, struct sc_error *err);

/* Gives what is left. */
int groups_flush(struct bundle_reading *b, struct sc_error *err);
void groups_deinit(struct bundle_reading *b);

#endif
