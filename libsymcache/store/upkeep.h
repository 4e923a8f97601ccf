/*
 * upkeep.h: work on many entries of a store: select, count, remove, prune, pack and verify them.
 */
#ifndef SYMCACHE_UPKEEP_H
#define SYMCACHE_UPKEEP_H

#include "libsymcache/store/store.h"

/* ---- choosing ---------------------------------------------------------------------- */

struct symstore_selection {
	const char *const *tags;  /* it has one of these tags, or a tag with one of these keys; ends
				   * with NULL; NULL: any */
	const char *name;         /* a pattern for symstore_name_matches(); NULL: any */
	int kind;                 /* index into symstore_kinds; -1: any */
	int64_t before, after;    /* it was indexed in [after, before), seconds since 1970 */
	uint64_t larger, smaller; /* its cache has more, and fewer, bytes than this; 0 and
				   * UINT64_MAX: any */
};

/* The first members of an initialiser that selects all entries; others may follow. */
#define SYMSTORE_ANY .kind = -1, .before = INT64_MAX, .after = INT64_MIN, .smaller = UINT64_MAX

/* Does the entry meet all conditions? */
bool symstore_selected(const struct symstore_selection *s, const struct symstore_entry *entry);

/* Does the shell pattern match the file name of `path`, or the whole path if it has a '/'? */
bool symstore_name_matches(const char *pattern, const char *path);

/* A list of build IDs; all zero: empty. */
struct symstore_ids {
	struct symstore_id *data;
	size_t len, cap;
};

/* Appends a copy. SC_ENOMEM. */
int symstore_ids_add(struct symstore_ids *ids, const struct symstore_id *id, struct sc_error *err);
void symstore_ids_deinit(struct symstore_ids *ids);

/* Reads the build IDs that pruning is to keep from the file at `path` ("-": standard input): whole
 * ones, each the first word of a line; '#' begins a comment. *ret is sorted by symstore_ids_sort();
 * the caller deinits it, also on an error. SC_EINVAL: not a build ID (the message has the line), or
 * there are none, so that nothing would be kept; SC_ESYS, SC_ENOMEM. */
int symstore_keep_read(const char *path, struct symstore_ids *ret, struct sc_error *err);

/* ---- counting ---------------------------------------------------------------------- */

enum { SYMSTORE_KINDS = 7 }; /* as symstore_kinds; the last: no symbols */

struct symstore_totals {
	struct { uint64_t entries, bytes; } kinds[SYMSTORE_KINDS]; /* by the best kind of symbols */
	uint64_t bytes;           /* of all caches */
	/* Packed entries: bytes of their caches, and what these take in the store. */
	struct { uint64_t entries, bytes, stored; } packed;
	uint64_t tagged, broken;  /* entries with tags, and with broken debug information */
	int64_t oldest, newest;   /* seconds since 1970; without entries INT64_MAX, INT64_MIN */
};

/* Counts all entries. As symstore_each(). */
int symstore_count(struct symstore_reader *reader, struct symstore_totals *ret,
		   struct sc_error *err);

/* ---- removing ----------------------------------------------------------------------
 * Entries are collected from a snapshot, and removed in one commit after it was closed, since
 * the map of a store can only grow while this thread has no reader. */

struct symstore_removal {
	struct symstore_id id;
	int64_t time;            /* of indexing or, if later, of the last use */
	uint64_t cache_size;     /* bytes */
	uint64_t stored_size;    /* bytes that it takes in the store */
	char *source_path;
	bool removed;            /* set by the commit: it was still there */
};

struct symstore_removals {
	struct symstore_removal *data;
	size_t len, cap;
};

/* Appends a copy. SC_ENOMEM. */
int symstore_removals_add(struct symstore_removals *list, const struct symstore_entry *entry,
			  struct sc_error *err);
void symstore_removals_deinit(struct symstore_removals *list);

/* Removes them from the store, all or, on an error, none; as symstore_commit(). On a full
 * disk in several commits: with SC_EFULL `removed` says how far it came. */
int symstore_remove_all(struct symstore *store, struct symstore_removals *list,
			struct sc_error *err);

/* Which entries are to be removed: those that any of the rules names. */
struct symstore_prune_rules {
	int64_t indexed_before;  /* indexed before this, seconds since 1970; INT64_MIN: none */
	int64_t used_before;     /* neither indexed nor used since then; INT64_MIN: none */
	uint64_t to_size;        /* those indexed or used longest ago, until the caches take no more
	                          * bytes in the store than this; UINT64_MAX: none */
	/* All except these, which no other rule removes either. Sorted by symstore_ids_sort();
	 * NULL: no such rule. */
	const struct symstore_id *keep;
	size_t num_keep;
};

/*
 * Collects the entries that the rules name, for symstore_remove_all(): one pass over all
 * entries, and memory for each. The caller deinits *ret, also on an error.
 */
int symstore_condemn(struct symstore *store, const struct symstore_prune_rules *rules,
		     struct symstore_removals *ret, struct sc_error *err);

/* ---- packing ------------------------------------------------------------------------ */

struct symstore_repack_options {
	int level;               /* of packing; 0: unpack entries that are packed */
	int64_t used_before;     /* only those neither indexed nor used since then, seconds since
				  * 1970; INT64_MAX: all */
	const struct symstore_selection *choose; /* only these; NULL: all */
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
	void *ctx;
};

struct symstore_repacked {
	uint64_t entries;        /* that were packed or unpacked; those that would not become
				  * smaller are left unpacked */
	uint64_t bytes;          /* of their caches, unpacked */
	uint64_t damaged;        /* entries, left as they were */
};

/*
 * Packs or unpacks entries, some 64 MB in a commit, on all cores. Look-ups find what they found
 * before. No reader may be open in this thread. On an error, *ret has what was done until then, and
 * that stays done. Errors as symstore_commit(), or SC_ENOMEM.
 */
int symstore_repack(struct symstore *store, const struct symstore_repack_options *options,
		    struct symstore_repacked *ret, struct sc_error *err);

/* ---- verifying --------------------------------------------------------------------- */

/* What is wrong with an entry: all faults are counted, the first texts are kept. */
enum { SYMSTORE_FAULT_TEXTS = 10 };
struct symstore_faults {
	uint64_t num;
	size_t num_texts;
	char *texts[SYMSTORE_FAULT_TEXTS];
};

/* A symcache_fault_fn: adds to `ctx`, a struct symstore_faults. */
bool symstore_faults_add(void *ctx, const char *text);
void symstore_faults_deinit(struct symstore_faults *faults);

/* Gets what symstore_verify() found of an entry; `done` of `total` entries are checked. */
typedef void symstore_verified_fn(void *ctx, const struct symstore_entry *entry,
				  const struct symstore_faults *faults, uint64_t done,
				  uint64_t total);

/*
 * Checks every cache as a whole, by its hash and by symcache_verify(), on up to `threads` threads
 * (0: one for each core). Calls `fn` for each entry in the order of the build IDs, one call at a
 * time, from any of the threads; of the entry's strings only the source path is set. Call
 * symstore_check() first. SC_EFORMAT, SC_ENOMEM.
 */
int symstore_verify(struct symstore_reader *reader, unsigned threads, symstore_verified_fn *fn,
		    void *ctx, struct sc_error *err);

#endif
