/* archives.h: the ELF files in an archive → jobs, and what the store remembers of them. */
#ifndef SC_INDEX_ARCHIVES_H
#define SC_INDEX_ARCHIVES_H

#include "libsymcache/index/run.h"

/* Indexes all that is in the archive `file`. An error is what sc_run_take() returned, or
 * SC_ENOMEM. */
int sc_index_archive(struct sc_run *run, const struct sc_found *file, struct sc_error *err);

/* ---- known.c ---- */

/* Is all of an archive with this content in the store, as it would be made now? */
bool sc_archive_known(const struct sc_work *work, const struct symstore_hash *archive);

/* Then this takes jobs that say so. */
int sc_archive_recall(struct sc_run *run, const struct sc_found *file,
		      const struct symstore_hash *archive, struct sc_error *err);

#endif
