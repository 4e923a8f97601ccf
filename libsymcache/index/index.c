/*
 * Paths → the store: see index.h.
 *
 *   walk (walk.c), or fetch (fetch.c) → work (job.c), file by file → commit (batch.c)
 *
 * This file holds the loop; archives.c reads archives, run.c counts and reports.
 */
#include "libsymcache/index/index.h"

#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/text.h"
#include "libsymcache/index/run.h"

static void failed(void *ctx, const char *path, const char *reason)
{
	sc_run_failed(ctx, path, reason);
}

static void found(void *ctx, uint64_t files, const char *path)
{
	sc_run_progress(ctx, SYMCACHE_INDEX_SEARCHING, files, 0, path);
}

/* Finds or fetches what the paths name. */
static int gather(struct sc_run *run, struct sc_walk *walk, const char *const *paths, size_t n,
		  struct sc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		if (run->work.options->debuginfod) {
			sc_run_progress(run, SYMCACHE_INDEX_FETCHING, i, n, paths[i]);
			rc = sc_fetch(run, paths[i], walk, err);
		} else {
			rc = sc_walk_path(walk, paths[i], err);
		}
	}
	return rc;
}

/* Works on some of files[0, n), and returns in *done on how many. */
static int index_some(struct sc_run *run, const struct sc_found *files, size_t n, size_t *done,
		      struct sc_error *err)
{
	struct sc_job *jobs[SC_GROUP_MAX];
	int rc = 0;

	*done = 1;
	if (files->archive)
		return sc_index_archive(run, files, err);
	*done = sc_job_group(files, n, run->work.memory);
	sc_jobs_create(files, *done, &run->work, jobs);
	for (size_t k = 0; k < *done; k++) {
		if (rc)
			sc_job_destroy(jobs[k]);
		else
			rc = sc_run_take(run, jobs[k], err);
	}
	return rc;
}

static int index_files(struct sc_run *run, const struct sc_walk *walk, struct sc_error *err)
{
	const struct sc_found *files = walk->files.data;
	const size_t n = walk->files.len;
	int rc = 0;

	for (size_t i = 0; i < n; i++)
		run->total += files[i].size;
	run->work.one_file = n == 1 && !files->archive;
	for (size_t at = 0, some; at < n && !rc; at += some) {
		sc_run_progress(run, SYMCACHE_INDEX_INDEXING, run->done, run->total, files[at].path);
		rc = index_some(run, &files[at], n - at, &some, err);
		for (size_t i = at; i < at + some; i++)
			run->done += files[i].size;
	}
	return rc ? rc : sc_batch_commit(&run->batch, err);
}

/* The store may lie in a folder that is searched. */
static int leave_out(struct sc_walk *walk, const struct symstore *store, struct sc_error *err)
{
	char *lock __attribute__((cleanup(sc_free_text))) = sc_text("%s-lock", symstore_path(store));

	if (!lock)
		return sc_no_memory(err);
	return sc_walk_leave_out(walk, symstore_path(store), err) ?:
		       sc_walk_leave_out(walk, lock, err);
}

int symcache_index(struct symstore *store, const char *const *paths, size_t n,
		   const struct symcache_index_options *options,
		   struct symcache_index_account *ret, struct sc_error *err)
{
	struct sc_run run = {
		.work = {
			.store = store, .options = options, .build = options->build,
			.transforms = options->transforms ? options->transforms : "",
			.memory = options->memory ? options->memory :
				(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4,
		},
		.account = ret,
		.batch = { .store = store, .keep_files = !options->again,
			   .pack_level = options->pack_level, .done = sc_run_committed, .ctx = &run },
	};
	struct sc_walk walk = {
		.follow = options->follow, .failed = failed, .found = found, .ctx = &run,
	};
	struct symcache_files fetched;
	int rc;

	*ret = (struct symcache_index_account){ 0 };
	if (!run.work.build.threads)
		run.work.build.threads = sc_cores();
	if (options->debuginfod) {
		fetched = symcache_debuginfod_files(options->debuginfod);
		run.work.build.files = &fetched;
	}
	rc = store ? leave_out(&walk, store, err) : 0;
	if (!rc)
		rc = gather(&run, &walk, paths, n, err);
	if (!rc)
		rc = index_files(&run, &walk, err);
	ret->other = walk.other;
	ret->special = walk.special;
	ret->links = walk.links;
	ret->loops = walk.loops;
	ret->store_seconds = run.batch.seconds;
	sc_batch_deinit(&run.batch);
	sc_walk_deinit(&walk);
	return rc;
}
