/*
 * index.h: the parts of symcache index: one file → what came of it (work), and
 * what came of them → the store, in batches (commit).
 */
#ifndef CMD_INDEX_H
#define CMD_INDEX_H

#include "cmd/cmd.h"
#include "cmd/json_gen.h"
#include "cmd/scan.h"
#include "libsymcache/symcache_build.h"

/* ---- work: reads one file; touches the store only to ask ------------------- */

enum index_result {
	INDEX_BUILT,       /* there is a cache to put */
	INDEX_UNCHANGED,   /* the store has seen this content */
	INDEX_NO_SYMBOLS,
	INDEX_UNSUPPORTED, /* an ELF file of a kind that has no cache of its own */
	INDEX_FAILED,
};

/* A file at work. Freed by index_job_destroy(). */
struct index_job {
	const struct scan_file *file; /* borrowed */
	enum index_result result;
	struct sc_error err;          /* of all results but the first two */
	struct symstore_hash content;
	bool known;                   /* no need to remember what came of the content */

	/* INDEX_BUILT: the cache, as bytes or still a build. INDEX_UNCHANGED: of the
	 * entry the build ID and the tags that it shall get. */
	struct symstore_entry entry;
	char *source_path, *debug_path;
	struct symcache_build *build;
	uint8_t *bytes;
	bool stored;                  /* after the commit: false: a better one stayed */
	struct symcache_build_info info; /* its pointers are gone with the build */
};

struct index_options {
	struct symcache_build_options build;
	bool again;                   /* also what is unchanged */
	int64_t time;                 /* of the entries, seconds since 1970 */
	const char *tags;             /* for the entries, a newline between them; or NULL */
	const char *transforms;       /* what build.transforms are, for the entries */
};

/* The path of the file that this thread reads, or NULL: for a signal handler. */
extern _Thread_local const char *volatile index_at_work;

struct index_job *index_job_create(const struct scan_file *file, struct symstore *store,
				   const struct index_options *options);
void index_job_destroy(struct index_job *job);

/* How many of files[0, n) to work on together: 1 for a large one, which uses all
 * cores itself; else a group that takes about `memory` bytes at most. */
size_t index_group(const struct scan_file *files, size_t n, uint64_t memory);

/* Creates the jobs of a group on options->build.threads threads, ret[i] for
 * files[i]. */
void index_jobs_create(const struct scan_file *files, size_t n, struct symstore *store,
		       const struct index_options *options, struct index_job **ret);

/* ---- stats: what it took ----------------------------------------------------- */

struct index_stats {
	struct symcache_build_info sum;
	uint64_t source_bytes, cache_bytes;
	double store_seconds;         /* of the commits */
};

void index_stats_add(struct index_stats *s, const struct index_job *job);
void index_stats_print(const struct index_stats *s);
void index_stats_json(const struct index_stats *s, struct json_gen *j);

/* ---- commit: gathers jobs and puts them into the store ---------------------- */

struct index_batch {
	struct symstore *store;
	struct index_job **jobs;
	size_t num_jobs, cap_jobs;
	uint64_t bytes;
	double begun;                 /* monotonic seconds */
	double seconds;               /* that commits took so far */
	void (*done)(void *ctx, const struct index_job *job); /* for each, once committed */
	void *ctx;
};

/* Takes the job; commits when the batch is large or old enough. On failure the
 * jobs of the batch are lost (and freed): nothing of them is in the store. */
int index_batch_add(struct index_batch *batch, struct index_job *job, struct sc_error *err);
int index_batch_commit(struct index_batch *batch, struct sc_error *err);
void index_batch_deinit(struct index_batch *batch);

#endif
