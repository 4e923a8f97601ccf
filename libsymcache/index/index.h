/*
 * index.h: the symbols of ELF files, folders and archives → the store.
 *
 *   struct symcache_index_options options = { .time = time(NULL), .events.file = report };
 *   struct symcache_index_account account;
 *   symcache_index(store, paths, n, &options, &account, &err);
 *
 * A file that cannot be indexed is reported and does not stop the rest; a store that
 * cannot be written does. What is done is committed every second or so. The caches depend
 * on the files and the options alone, not on the number of threads.
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
	const char *path;     /* as it was reached from what was given; "ARCHIVE!MEMBER"; the
	                       * archive's for what is in one that is unchanged; with debuginfod
	                       * the build ID, where that is all there is */
	enum symcache_index_result result;
	const char *reason;   /* FAILED: why, maybe with the path in front; else NULL */
	const struct symcache_build_info *info; /* of a build, also of one that gave what the
	                                         * store has: UNCHANGED; its pointers are gone
	                                         * with the build; or NULL */
	uint64_t size, cache_size;              /* BUILT: bytes */
	uint64_t code_bytes, line_bytes;        /* BUILT, without a store: as
	                                         * symcache_build_coverage() has them */
};

enum symcache_index_phase {
	SYMCACHE_INDEX_FETCHING,  /* from servers */
	SYMCACHE_INDEX_SEARCHING, /* for ELF files */
	SYMCACHE_INDEX_INDEXING,
};

/* What happens, as it happens, from the thread that called; each may be NULL. */
struct symcache_index_events {
	/* A file was worked on; BUILT ones are not in the store yet. */
	void (*file)(void *ctx, const struct symcache_index_file *file);
	/* The file is not in the store: `old`, of other code or pinned, stayed. */
	void (*kept)(void *ctx, const char *path, const struct symstore_entry *old);
	/* Work on `path` begins: `done` of `total` (0: not known) are behind it: bytes of files
	 * while indexing, files or build IDs before. */
	void (*progress)(void *ctx, enum symcache_index_phase phase, uint64_t done,
			 uint64_t total, const char *path);
	void *ctx;
};

struct symcache_index_options {
	struct symcache_build_options build;
	const char *tags;             /* for the entries, a newline between them; or NULL */
	const char *transforms;       /* what build.transforms are, for the entries; or NULL */
	int64_t time;                 /* of the entries, seconds since 1970 */
	uint64_t memory;              /* bytes that files may take which are worked on at once:
	                               * one that needs more by itself fails (SC_ELIMIT);
	                               * 0: a quarter of the machine's */
	bool follow;                  /* go into folders that links lead to */
	bool again;                   /* also what is unchanged, and in the place of another
	                               * file's equally good entry */
	int pack_level;               /* caches are stored packed at this level, where that saves
	                               * room; 0: they are not */
	struct symcache_debuginfod *debuginfod; /* the paths are build IDs to fetch; or NULL */
	struct symcache_index_events events;
};

/* How many files, unless it says otherwise. */
struct symcache_index_account {
	uint64_t indexed;
	uint64_t better_in_store;     /* which has better symbols of the same build ID */
	uint64_t other_in_store;      /* which has a pinned entry, or another file's of the same
	                               * build ID with other content, equally good */
	uint64_t unchanged, without_symbols, unsupported, failed;
	uint64_t broken; /* of those that are indexed or unchanged: with broken units */
	uint64_t archives, archives_unchanged;
	uint64_t not_on_servers;      /* build IDs */
	uint64_t other;               /* neither ELF files nor archives, or core dumps */
	uint64_t special;             /* pipes, sockets, devices */
	uint64_t links;               /* links to folders, not followed */
	uint64_t loops;               /* folders that lead back into themselves */
	double store_seconds;         /* that commits took */
};

/*
 * Indexes what lies at paths[0, n). With `store` NULL, files are built, reported and given
 * up; then NO_SYMBOLS, too, has the build ID in `info`. Not while this thread has a reader
 * of the store open. An error is one of the store's or SC_ENOMEM: what was committed before
 * stays, and *ret counts it. The limit of open files is raised to 4096 for
 * archives if the process is ours (libsymcache/base/bigmem.h).
 */
int symcache_index(struct symstore *store, const char *const *paths, size_t n,
		   const struct symcache_index_options *options,
		   struct symcache_index_account *ret, struct sc_error *err);

/* The path of the file that this thread reads now, or NULL. Files are read through maps:
 * one that is cut short meanwhile is a SIGBUS, whose handler may call this. */
const char *symcache_index_at_work(void);

#endif
