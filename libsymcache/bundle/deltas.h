/* deltas.h: which entries that the receiver has, those of an export are written against. */
#ifndef BUNDLE_DELTAS_H
#define BUNDLE_DELTAS_H

#include "libsymcache/bundle/write.h"

/* The entries that the receiver has. All zero: none. */
struct deltas {
	struct symstore *store;
	struct symstore_reader *reader; /* of it; or that of the export */
	char *folder;                   /* of a store that was made for the time being; or NULL */
	bool same;                      /* it is the store of the export */
};

/* Opens the store at `path`; of a bundle one is made, in $TMPDIR or /var/tmp. `exported` is the
 * snapshot of the export. What is bad in a bundle is named by fault() and not used. deltas_close()
 * it, also after an error. Errors of symstore_open() and symbundle_import(). */
int deltas_open(struct deltas *d, const char *path, struct symstore_reader *exported,
		void (*fault)(void *ctx, const char *why), void *ctx, struct sc_error *err);
void deltas_close(struct deltas *d);

/*
 * Chooses for each entry of the manifest what it is written against, e->old: an entry for the same
 * machine, of names alone if it is so, too, of a file with the same name, numbers in it left aside.
 * Of several the one with the same build ID; with the most names that are the same; the newest one;
 * the last build ID. Of a store that is exported from, none that is exported; none that the import
 * of these and of the entries that are `there` already replaces, but by its own build ID's. Sorts
 * the manifest; the other one is sorted.
 */
int deltas_choose(const struct deltas *d, struct symstore_reader *exported, struct manifest *m,
		  const struct manifest *there, struct sc_error *err);

#endif
