/*
 * index.h: the symbols of ELF files, folders and archives → the store.
 *
 *   struct symcache_index_options options = { .time = time(NULL), .events.file = report };
 *   struct symcache_index_account account;
 *   symcache_index(store, paths, n, &options, &account, &err);
 *
 * A file that cannot be indexed is reported, and the others are indexed; a store that cannot
 * be written ends the run. Finished caches are committed every second or so. They depend on
 * the files and the options only, not on the number of threads.
 */
#ifndef SYMCACHE_INDEX_INDEX_H
#define SYMCACHE_INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"
#include "libsymcache/index/debuginfod.h"
#include "libsymcache/store/store.h"
#include "libsymcache/write/build.h"

/* What came of a file. */
enum symcache_index_result {
	SYMCACHE_INDEX_BUILT,       /* there is a cache to put into the store */
	SYMCACHE_INDEX_UNCHANGED,   /* the store has seen this content */
	SYMCACHE_INDEX_NO_SYMBOLS,
	SYMCACHE_INDEX_UNSUPPORTED, /* an ELF file of a kind that has no cache of its own */
	SYMCACHE_INDEX_FAILED,
};

struct symcache_index_file {
	const char *path;     /* as it was reached from the given paths; of a member of an archive
	                       * "ARCHIVE!MEMBER", or the archive's if that is unchanged; with
	                       * debuginfod the build ID, if nothing was fetched */
	enum symcache_index_result result;
	const char *reason;   /* FAILED: why, maybe with the path in front; else NULL */
	const struct symcache_build_info *info; /* of the build, also if that gave the bytes that the
	                                         * store has (UNCHANGED); valid during the call; or
	                                         * NULL */
	uint64_t size, cache_size;              /* BUILT: bytes */
	uint64_t code_bytes, line_bytes;        /* BUILT, without a store: as
	                                         * symcache_build_coverage() has them */
};

enum symcache_index_phase {
	SYMCACHE_INDEX_FETCHING,  /* from servers */
	SYMCACHE_INDEX_SEARCHING, /* for ELF files */
	SYMCACHE_INDEX_INDEXING,
};

/* Called by the thread that called symcache_index(); each may be NULL. */
struct symcache_index_events {
	/* A file is finished; one that is BUILT is not in the store yet. */
	void (*file)(void *ctx, const struct symcache_index_file *file);
	/* The file was not put into the store: the entry `old`, of other code or pinned, stayed. */
	void (*kept)(void *ctx, const char *path, const struct symstore_entry *old);
	/* Work on `path` begins; `done` of `total` (0: not known) are finished: bytes of files
	 * while indexing, files or build IDs before that. */
	void (*progress)(void *ctx, enum symcache_index_phase phase, uint64_t done,
			 uint64_t total, const char *path);
	void *ctx;
};

struct symcache_index_options {
	struct symcache_build_options build;
	const char *tags;             /* for the entries, a newline between them; or NULL */
	const char *transforms;       /* build.transforms as text, for the entries; or NULL */
	int64_t time;                 /* of the entries, seconds since 1970 */
	uint64_t memory;              /* bytes for all files that are worked on at the same time; a
	                               * single file that needs more fails (SC_ELIMIT); 0: a quarter
	                               * of the machine's memory */
	bool follow;                  /* go into folders that links lead to */
	bool again;                   /* index files that are unchanged, too, and replace equally good
	                               * entries of other files */
	int pack_level;               /* pack caches at this level, if that saves room; 0: do not */
	struct symcache_debuginfod *debuginfod; /* the paths are build IDs to fetch; or NULL */
	struct symcache_index_events events;
};

/* Numbers of files, if nothing else is said. */
struct symcache_index_account {
	uint64_t indexed;
	uint64_t better_in_store;     /* the store has better symbols for the build ID */
	uint64_t other_in_store;      /* the store has a pinned entry for the build ID, or an equally
	                               * good one of another file with other content */
	uint64_t unchanged, without_symbols, unsupported, failed;
	uint64_t broken;              /* indexed or unchanged, with broken units */
	uint64_t archives, archives_unchanged;
	uint64_t not_on_servers;      /* build IDs */
	uint64_t other;               /* neither ELF files nor archives; also core dumps */
	uint64_t special;             /* pipes, sockets, devices */
	uint64_t links;               /* links to folders, not followed */
	uint64_t loops;               /* folders that lead back into themselves */
	double store_seconds;         /* that commits took */
};

/*
 * Indexes the files, folders and archives at paths[0, n). With `store` NULL, caches are built,
 * reported and dropped; files with NO_SYMBOLS then also have the build ID in `info`. This thread
 * must not have a reader of the store open. An error is one of the store's or SC_ENOMEM: what was
 * committed before stays, and *ret counts it. For archives the limit of open files is raised to
 * 4096, if the process is ours (libsymcache/base/bigmem.h).
 */
int symcache_index(struct symstore *store, const char *const *paths, size_t n,
		   const struct symcache_index_options *options,
		   struct symcache_index_account *ret, struct sc_error *err);

/* The path of the file that this thread is reading, or NULL. Files are mapped, so truncating one
 * meanwhile causes a SIGBUS, whose handler may call this. */
const char *symcache_index_at_work(void);

#endif
