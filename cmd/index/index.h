/*
 * index.h: the parts of symcache index: one file → what came of it (work), and
 * what came of them → the store, in batches (commit).
 */
#ifndef CMD_INDEX_H
#define CMD_INDEX_H

#include "cmd/cli/json_gen.h"
#include "cmd/cli/progress.h"
#include "cmd/index/scan.h"
#include "symcache/build.h"
#include "symcache/store.h"

/* ---- work: reads one file; touches the store only to ask ------------------- */

enum index_result {
	INDEX_BUILT,       /* there is a cache to put */
	INDEX_UNCHANGED,   /* the store has seen this content */
	INDEX_NO_SYMBOLS,
	INDEX_UNSUPPORTED, /* an ELF file of a kind that has no cache of its own */
	INDEX_FAILED,
	INDEX_ARCHIVE,     /* no file of its own: what came of all in an archive */
};

/* A file at work. Freed by index_job_destroy(). */
struct index_job {
	const struct scan_file *file; /* borrowed; may be gone once the job was taken */
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
	struct symstore_outcome *outcomes; /* INDEX_ARCHIVE: of the ELF files in it */
	size_t num_outcomes;
};

struct index_options {
	struct symcache_build_options build;
	bool again;                   /* also what is unchanged */
	bool one_file;                /* there is no other */
	int64_t time;                 /* of the entries, seconds since 1970 */
	const char *tags;             /* for the entries, a newline between them; or NULL */
	const char *transforms;       /* what build.transforms are, for the entries */
};

/* The path of the file that this thread reads, or NULL: for a signal handler. */
extern _Thread_local const char *volatile index_at_work;

struct index_job *index_job_create(const struct scan_file *file, struct symstore *store,
				   const struct index_options *options);
void index_job_destroy(struct index_job *job);

/* Has a debug file of this build ID come since `time`? */
bool index_new_debug_file(const uint8_t *build_id, size_t len, const char *const *dirs,
			  int64_t time);

/* How many of files[0, n) to work on together: 1 for a large one, which uses all
 * cores itself, and for an archive; else a group that takes about `memory` bytes at most. */
enum { INDEX_GROUP_MAX = 128 };
size_t index_group(const struct scan_file *files, size_t n, uint64_t memory);

/* Creates the jobs of a group on options->build.threads threads, ret[i] for
 * files[i]. */
void index_jobs_create(const struct scan_file *files, size_t n, struct symstore *store,
		       const struct index_options *options, struct index_job **ret);

/* ---- archives: their members → jobs ------------------------------------------- */

struct index_sink {
	int (*take)(void *ctx, struct index_job *job, struct sc_error *err);
	void (*failed)(void *ctx, const char *path, const char *reason);
	void (*found)(void *ctx, const char *path); /* progress */
	void *ctx;
};

/* Indexes all that is in the archive `file`. `memory` as for index_group(). An error is
 * what take() returned, or SC_ENOMEM. *unchanged: it was not read, since all that is in it
 * is known. */
int index_archive(const struct scan_file *file, struct symstore *store,
		  const struct index_options *options, uint64_t memory,
		  const struct index_sink *sink, bool *unchanged, struct sc_error *err);

/* The key under which the store remembers what came of ELF file `index` of an archive. */
struct symstore_hash index_member_key(const struct symstore_hash *archive, uint64_t index);

/* Is all of an archive with this content in the store, as it would be made now? Then
 * recall() gives jobs that say so to sink->take(), whose error it returns. */
bool index_archive_known(struct symstore *store, const struct index_options *options,
			 const struct symstore_hash *archive);
int index_archive_recall(const struct scan_file *file, struct symstore *store,
			 const struct index_options *options, const struct symstore_hash *archive,
			 const struct index_sink *sink, struct sc_error *err);

/* ---- --debuginfod ---------------------------------------------------------------- */

struct symcache_debuginfod;

/* Gets the debug file of a build ID, and adds it to `scan`, unless the store has DWARF of
 * it with these transformations: then *known is a job that says so. SC_ENOTFOUND: no server has it, now or a
 * while ago; SC_EINVAL: no whole build ID; else what symcache_debuginfod_get() gives. */
int index_fetch(struct symcache_debuginfod *fetcher, const char *build_id, struct symstore *store,
		const struct index_options *options, struct scan *scan,
		struct index_job **known, struct sc_error *err);

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

/* ---- the account: what came of each file ------------------------------------- */

struct index_account {
	struct progress progress;
	uint64_t at, total;  /* files done, of all */
	struct index_batch batch;
	struct scan scan;
	struct index_stats stats;
	uint64_t indexed, better_known, unchanged, no_symbols, unsupported, broken;
	uint64_t archives, archives_unchanged, not_fetched;
	bool fetched;        /* --debuginfod */
	struct { char *path, *reason; } *failures;
	size_t num_failures, cap_failures;
};

void index_account_deinit(struct index_account *a);

/* `ctx` is the account: for struct index_sink, struct scan and struct index_batch. */
int index_take(void *ctx, struct index_job *job, struct sc_error *err); /* takes the job */
void index_failed(void *ctx, const char *path, const char *reason);
void index_committed(void *ctx, const struct index_job *job);

void index_summary_print(const struct index_account *a);
void index_summary_json(const struct index_account *a, bool stats);

#endif
