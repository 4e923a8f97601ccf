/*
 * Jobs → the store, in batches: see index.h.
 *
 * A commit costs two syncs of the disk, whatever its size; a kernel's thousand
 * modules are thus not committed one by one. A batch ends after 64 MB, a second,
 * or 1,000 files, so that a run that is killed loses little, and goes on from
 * there when it is started again.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cli/memory.h"
#include "cmd/index/index.h"

enum { BATCH_BYTES = 64 << 20, BATCH_SECONDS = 1, BATCH_JOBS = 1000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fill(void *ctx, void *dst)
{
	struct index_job *job = ctx;

	if (job->build)
		symcache_build_write(job->build, dst);
	else
		memcpy(dst, job->bytes, job->entry.cache_size);
}

/* One row for each, then one that ends them. */
static int remember_archive(struct symstore_writer *writer, const struct index_job *job,
			    struct sc_error *err)
{
	struct symstore_outcome end = { .code = SC_ENOTFOUND, .time = time(NULL) };
	int rc = 0;

	for (size_t i = 0; i <= job->num_outcomes && !rc; i++) {
		struct symstore_hash key = index_member_key(&job->content, i);

		rc = symstore_remember(writer, &key, symcache_version,
				       i < job->num_outcomes ? &job->outcomes[i] : &end, err);
	}
	return rc;
}

static int gather(struct symstore_writer *writer, struct index_job *job, struct sc_error *err)
{
	struct symstore_outcome outcome = { .time = time(NULL) };
	int rc;

	if (job->result == INDEX_UNCHANGED)
		return symstore_add_tags(writer, job->entry.build_id, job->entry.build_id_len,
					 job->entry.tags, err);
	if (job->result == INDEX_ARCHIVE)
		return remember_archive(writer, job, err);
	if (job->result == INDEX_BUILT) {
		rc = symstore_put(writer, &job->entry, fill, job, &job->stored, err);
		if (rc)
			return rc;
		outcome.build_id_len = job->entry.build_id_len;
		memcpy(outcome.build_id, job->entry.build_id, sizeof(outcome.build_id));
	} else {
		outcome.code = SC_ENOSYMBOLS;
	}
	return symstore_remember(writer, &job->content, symcache_version, &outcome, err);
}

static void clear(struct index_batch *batch)
{
	for (size_t i = 0; i < batch->num_jobs; i++)
		index_job_destroy(batch->jobs[i]);
	batch->num_jobs = 0;
	batch->bytes = 0;
}

int index_batch_commit(struct index_batch *batch, struct sc_error *err)
{
	struct symstore_writer *writer;
	double begun = now();
	int rc;

	if (!batch->num_jobs)
		return 0;
	rc = symstore_write_begin(batch->store, &writer, err);
	for (size_t i = 0; i < batch->num_jobs && !rc; i++) {
		rc = gather(writer, batch->jobs[i], err);
		if (rc)
			symstore_abort(writer);
	}
	if (!rc)
		rc = symstore_commit(writer, err);
	for (size_t i = 0; i < batch->num_jobs && !rc; i++)
		batch->done(batch->ctx, batch->jobs[i]);
	clear(batch);
	batch->seconds += now() - begun;
	return rc;
}

int index_batch_add(struct index_batch *batch, struct index_job *job, struct sc_error *err)
{
	batch->jobs = must_grow(batch->jobs, batch->num_jobs, &batch->cap_jobs,
				sizeof(*batch->jobs));
	batch->jobs[batch->num_jobs++] = job;
	if (batch->num_jobs == 1)
		batch->begun = now();
	batch->bytes += job->entry.cache_size;
	/* A build that is kept holds much more than its cache: do not sit on it. */
	if (batch->bytes < BATCH_BYTES && batch->num_jobs < BATCH_JOBS && !job->build &&
	    now() - batch->begun < BATCH_SECONDS)
		return 0;
	return index_batch_commit(batch, err);
}

void index_batch_deinit(struct index_batch *batch)
{
	clear(batch);
	free(batch->jobs);
}
