/* batch.h: gathers jobs and puts them into the store, many in one commit. */
#ifndef SC_INDEX_BATCH_H
#define SC_INDEX_BATCH_H

#include "libsymcache/base/vec.h"
#include "libsymcache/index/job.h"

struct sc_batch {
	struct symstore *store;
	bool keep_files;              /* symstore_keep_files() */
	int pack_level;               /* symstore_write_packed() */
	VEC(struct sc_job *) jobs;
	uint64_t bytes;
	double begun;                 /* monotonic seconds */
	double seconds;               /* that commits took so far */
	void (*done)(void *ctx, const struct sc_job *job); /* for each, once committed */
	void *ctx;
};

/* Takes the job; commits when the batch is large or old enough. On failure the jobs of
 * the batch are lost (and freed): nothing of them is in the store. */
int sc_batch_add(struct sc_batch *batch, struct sc_job *job, struct sc_error *err);
int sc_batch_commit(struct sc_batch *batch, struct sc_error *err);
void sc_batch_deinit(struct sc_batch *batch);

/* The key under which the store remembers what came of ELF file `index` of an archive. */
struct sc_hash sc_member_key(const struct sc_hash *archive, uint64_t index);

#endif
