/* run.h: one call of symcache_index(): what came of each file, counted and reported. */
#ifndef SC_INDEX_RUN_H
#define SC_INDEX_RUN_H

#include "libsymcache/index/batch.h"

struct sc_run {
	struct sc_work work;
	struct symcache_index_account *account;
	struct sc_batch batch;
	uint64_t done, total;         /* bytes of files, of all */
};

/* Takes the job, which may be NULL: SC_ENOMEM. Other errors are the store's. */
int sc_run_take(struct sc_run *run, struct sc_job *job, struct sc_error *err);

/* A file, or a folder, that cannot be indexed. */
void sc_run_failed(struct sc_run *run, const char *path, const char *reason);

/* Work on `path` begins. */
void sc_run_progress(const struct sc_run *run, enum symcache_index_phase phase, uint64_t done,
		     uint64_t total, const char *path);

/* Once a job is committed; `ctx` is the run. */
void sc_run_committed(void *ctx, const struct sc_job *job);

/* ---- archives.c, fetch.c ---- */

/* Indexes all that is in the archive `file`. An error is what sc_run_take() returned, or
 * SC_ENOMEM. */
int sc_index_archive(struct sc_run *run, const struct sc_found *file, struct sc_error *err);

/* Gets the debug file of a build ID and adds it to `walk`, unless the store has DWARF of
 * it, made with these transformations. What cannot be fetched is reported; an error is
 * one of the store's or SC_ENOMEM. */
int sc_fetch(struct sc_run *run, const char *build_id, struct sc_walk *walk, struct sc_error *err);

/* ---- known.c ---- */

/* Is all of an archive with this content in the store, as it would be made now? */
bool sc_archive_known(const struct sc_work *work, const struct sc_hash *archive);

/* Then this takes jobs that say so. */
int sc_archive_recall(struct sc_run *run, const struct sc_found *file,
		      const struct sc_hash *archive, struct sc_error *err);

#endif
