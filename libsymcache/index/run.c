/* What came of each file: see run.h. */
#include "libsymcache/index/run.h"

static void report(const struct sc_run *run, const struct symcache_index_file *file)
{
	const struct symcache_index_events *events = &run->work.options->events;

	if (events->file)
		events->file(events->ctx, file);
}

void sc_run_failed(struct sc_run *run, const char *path, const char *reason)
{
	const struct symcache_index_file file = {
		.path = path, .result = SYMCACHE_INDEX_FAILED, .reason = reason,
	};

	run->account->failed++;
	report(run, &file);
}

void sc_run_progress(const struct sc_run *run, enum symcache_index_phase phase, uint64_t done,
		     uint64_t total, const char *path)
{
	const struct symcache_index_events *events = &run->work.options->events;

	if (events->progress)
		events->progress(events->ctx, phase, done, total, path);
}

/* A debug file and its program have the same functions. */
static bool same_code(struct symstore_reader *reader, const struct sc_job *job)
{
	struct symcache cache;
	const void *data;
	size_t size;

	return !symstore_get(reader, job->entry.build_id, job->entry.build_id_len, &data, &size,
			     NULL) &&
	       !symcache_open(&cache, data, size, NULL) &&
	       cache.header->num_functions == job->info.functions &&
	       cache.header->num_ranges == job->info.ranges;
}

/* Another file's entry stayed; it is worth a word if its code is other code, too. */
static void report_kept(const struct sc_run *run, const struct sc_job *job)
{
	const struct symcache_index_events *events = &run->work.options->events;
	struct symstore_reader *reader;
	struct symstore_entry old;

	run->account->other_in_store++;
	if (!events->kept || symstore_read_begin(run->batch.store, &reader, NULL))
		return;
	if (!symstore_entry(reader, job->entry.build_id, job->entry.build_id_len, &old, NULL) &&
	    (job->put == SYMSTORE_PINNED_STAYS || !same_code(reader, job)))
		events->kept(events->ctx, job->entry.source_path, &old);
	symstore_read_end(reader);
}

void sc_run_committed(void *ctx, const struct sc_job *job)
{
	struct symcache_index_account *a = ((struct sc_run *)ctx)->account;

	if (job->archive)
		return;
	if (job->result == SYMCACHE_INDEX_UNCHANGED)
		a->unchanged++;
	else if (job->result != SYMCACHE_INDEX_BUILT)
		a->without_symbols++;
	else if (job->put == SYMSTORE_WRITTEN)
		a->indexed++;
	else if (job->put == SYMSTORE_BETTER_STAYS)
		a->better_in_store++;
	else
		report_kept(ctx, job);
	a->broken += job->entry.bad_units > 0;
}

/* Is there something to write? */
static bool goes_into_store(const struct sc_job *job)
{
	switch (job->result) {
	case SYMCACHE_INDEX_BUILT:
		return true;
	case SYMCACHE_INDEX_UNCHANGED:
		return job->entry.tags || job->entry.names;
	case SYMCACHE_INDEX_NO_SYMBOLS:
		return !job->known;
	default:
		return false;
	}
}

int sc_run_take(struct sc_run *run, struct sc_job *job, struct sc_error *err)
{
	struct symcache_index_file file;

	if (!job)
		return sc_no_memory(err);
	if (job->archive && run->work.store)
		return sc_batch_add(&run->batch, job, err);
	if (job->archive) {
		sc_job_destroy(job);
		return 0;
	}
	file = (struct symcache_index_file){ .path = job->file->path, .result = job->result };
	if (job->result == SYMCACHE_INDEX_BUILT || job->before.bad_units || !run->work.store)
		file.info = &job->info;
	if (job->result == SYMCACHE_INDEX_BUILT) {
		file.size = job->file->size;
		file.cache_size = job->entry.cache_size;
		file.code_bytes = job->code_bytes;
		file.line_bytes = job->line_bytes;
	}
	if (job->result == SYMCACHE_INDEX_FAILED)
		sc_run_failed(run, file.path, job->err.msg);
	else
		report(run, &file);
	if (run->work.store && goes_into_store(job))
		return sc_batch_add(&run->batch, job, err);
	run->account->indexed += job->result == SYMCACHE_INDEX_BUILT;
	run->account->broken += job->entry.bad_units > 0;
	run->account->unchanged += job->result == SYMCACHE_INDEX_UNCHANGED;
	run->account->without_symbols += job->result == SYMCACHE_INDEX_NO_SYMBOLS;
	run->account->unsupported += job->result == SYMCACHE_INDEX_UNSUPPORTED;
	sc_job_destroy(job);
	return 0;
}
