/*
 * Jobs → the store, in batches: see batch.h.
 *
 * A commit costs two syncs of the disk, whatever its size; a kernel's thousand
 * modules are thus not committed one by one. A batch ends after 64 MB, a second,
 * or 1,000 files, so that a run that is killed loses little, and goes on from
 * there when it is started again.
 */
#include <endian.h>
#include <string.h>
#include <time.h>

#include "libsymcache/index/batch.h"

enum { BATCH_BYTES = 64 << 20, BATCH_SECONDS = 1, BATCH_JOBS = 1000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct sc_hash sc_member_key(const struct sc_hash *archive, uint64_t index)
{
	const uint64_t words[3] = {
		htole64(archive->low64), htole64(archive->high64), htole64(index),
	};

	return sc_hash_of(words, sizeof(words));
}

static uint64_t fill(void *ctx, void *dst)
{
	return symcache_build_write(ctx, dst);
}

/* One row for each, then one that ends them. */
static int remember_archive(struct symstore_writer *writer, const struct sc_job *job,
			    struct sc_error *err)
{
	struct symstore_outcome end = { .code = SC_ENOTFOUND, .time = time(NULL) };
	int rc = 0;

	for (size_t i = 0; i <= job->num_outcomes && !rc; i++) {
		struct sc_hash key = sc_member_key(&job->content, i);

		rc = symstore_remember(writer, &key, symcache_version,
				       i < job->num_outcomes ? &job->outcomes[i] : &end, err);
	}
	return rc;
}

static int gather(struct symstore_writer *writer, struct sc_job *job, struct sc_error *err)
{
	struct symstore_outcome outcome = { .time = time(NULL) };
	int rc;

	if (job->archive)
		return remember_archive(writer, job, err);
	if (job->result == SYMCACHE_INDEX_UNCHANGED)
		return symstore_add_words(writer, job->entry.build_id, job->entry.build_id_len,
					  job->entry.tags, job->entry.names, err);
	if (job->result == SYMCACHE_INDEX_BUILT) {
		rc = job->build ? symstore_put(writer, &job->entry, fill, job->build, &job->put, err) :
				  symstore_put(writer, &job->entry, NULL, job->bytes, &job->put, err);
		if (rc)
			return rc;
		outcome.build_id_len = job->entry.build_id_len;
		memcpy(outcome.build_id, job->entry.build_id, sizeof(outcome.build_id));
	} else {
		outcome.code = SC_ENOSYMBOLS;
	}
	return symstore_remember(writer, &job->content, symcache_version, &outcome, err);
}

static void clear(struct sc_batch *batch)
{
	for (size_t i = 0; i < batch->jobs.len; i++)
		sc_job_destroy(batch->jobs.data[i]);
	vec_clear(&batch->jobs);
	batch->bytes = 0;
}

int sc_batch_commit(struct sc_batch *batch, struct sc_error *err)
{
	struct symstore_writer *writer;
	double begun = now();
	int rc;

	if (!batch->jobs.len)
		return 0;
	rc = symstore_write_begin(batch->store, &writer, err);
	if (!rc && batch->keep_files)
		symstore_keep_files(writer);
	if (!rc)
		symstore_write_packed(writer, batch->pack_level);
	if (!rc) {
		for (size_t i = 0; i < batch->jobs.len && !rc; i++)
			rc = gather(writer, batch->jobs.data[i], err);
		rc = symstore_end(writer, rc, err);
	}
	for (size_t i = 0; i < batch->jobs.len && !rc; i++)
		batch->done(batch->ctx, batch->jobs.data[i]);
	clear(batch);
	batch->seconds += now() - begun;
	return rc;
}

int sc_batch_add(struct sc_batch *batch, struct sc_job *job, struct sc_error *err)
{
	struct sc_job **slot = vec_push(&batch->jobs);

	if (!slot) {
		sc_job_destroy(job);
		return sc_no_memory(err);
	}
	*slot = job;
	if (batch->jobs.len == 1)
		batch->begun = now();
	batch->bytes += job->entry.cache_size;
	/* A build that is kept holds much more than its cache: do not sit on it. */
	if (batch->bytes < BATCH_BYTES && batch->jobs.len < BATCH_JOBS && !job->build &&
	    now() - batch->begun < BATCH_SECONDS)
		return 0;
	return sc_batch_commit(batch, err);
}

void sc_batch_deinit(struct sc_batch *batch)
{
	clear(batch);
	vec_deinit(&batch->jobs);
}
