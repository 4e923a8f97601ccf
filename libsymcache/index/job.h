/* job.h: one file → what came of it. Touches the store only to ask. */
#ifndef SC_INDEX_JOB_H
#define SC_INDEX_JOB_H

#include "libsymcache/index/index.h"
#include "libsymcache/index/walk.h"

/* What jobs are made with. */
struct sc_work {
	struct symstore *store;              /* NULL: nothing is asked and nothing kept */
	const struct symcache_index_options *options;
	struct symcache_build_options build; /* in place of theirs */
	const char *transforms;              /* never NULL */
	uint64_t memory;                     /* bytes, not 0 */
	bool one_file;                       /* there is no other */
};

/* What the store has of a file that is built again. */
struct sc_known {
	uint32_t sources, bad_units;
	uint64_t cache_size;
};

/* A file at work. */
struct sc_job {
	const struct sc_found *file;  /* borrowed; may be gone once the job was taken */
	enum symcache_index_result result;
	bool archive;                 /* no file of its own: what came of all in an archive */
	struct sc_error err;          /* FAILED, NO_SYMBOLS, UNSUPPORTED */
	struct sc_hash content;
	bool known;                   /* no need to remember what came of the content */
	struct sc_known before;       /* bad_units 0: the store has none, or a whole one */

	/* BUILT: the cache, as bytes or still a build. UNCHANGED: of the entry the build ID
	 * and the tags that it shall get. */
	struct symstore_entry entry;
	char *source_path, *debug_path, *names;
	struct symcache_build *build;
	uint8_t *bytes;
	enum symstore_put_result put; /* of the commit */
	struct symcache_build_info info; /* its pointers are gone with the build */
	uint64_t code_bytes, line_bytes; /* without a store */
	struct symstore_outcome *outcomes; /* archive: of the ELF files in it */
	size_t num_outcomes;
};

void sc_job_destroy(struct sc_job *job); /* NULL is fine */

/* The job of a file of which the store has seen the content, or has `entry`. NULL: out of
 * memory. */
struct sc_job *sc_job_known(const struct sc_found *file, const char *tags,
			    const struct symstore_entry *entry);

/* Is there a debug file of this build ID in one of the directories? */
bool sc_debug_file_there(const uint8_t *build_id, size_t len, const char *const *dirs);

/* How many of files[0, n) to work on together: 1 for a large one, which uses all cores
 * itself, and for an archive; else a group that takes about `memory` bytes at most. */
enum { SC_GROUP_MAX = 128 };
size_t sc_job_group(const struct sc_found *files, size_t n, uint64_t memory);

/* Creates the jobs of a group on work->build.threads threads, ret[i] for files[i]; NULL: out of
 * memory. */
void sc_jobs_create(const struct sc_found *files, size_t n, const struct sc_work *work,
		    struct sc_job **ret);

#endif
