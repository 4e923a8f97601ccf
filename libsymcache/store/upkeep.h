/*
 * upkeep.h: work on many entries of a store: choose among them, verify all, remove some, prune
 * by rules, pack.
 */
#ifndef SYMCACHE_UPKEEP_H
#define SYMCACHE_UPKEEP_H

#include "libsymcache/store/store.h"

/* ---- choosing ---------------------------------------------------------------------- */

struct symstore_selection {
	const char *const *tags;  /* one of these tags or keys of tags; ends with NULL; NULL: any */
	const char *name;         /* symstore_name_matches(); NULL: any */
	int kind;                 /* index into symstore_kinds; -1: any */
	int64_t before, after;    /* when it was indexed, [after, before): seconds since 1970 */
	uint64_t larger, smaller; /* than that is its cache: bytes; 0, UINT64_MAX: any */
};

/* What initialises one that chooses all; further members behind it. */
#define SYMSTORE_ANY .kind = -1, .before = INT64_MAX, .after = INT64_MIN, .smaller = UINT64_MAX

/* Does all of it hold for the entry? */
bool symstore_selected(const struct symstore_selection *s, const struct symstore_entry *entry);

/* Does the shell pattern fit the file name of `path`, or all of it if it has a '/'? */
bool symstore_name_matches(const char *pattern, const char *path);

/* All zero: none. */
struct symstore_ids {
	struct symstore_id *data;
	size_t len, cap;
};

/* Appends a copy. SC_ENOMEM. */
int symstore_ids_add(struct symstore_ids *ids, const struct symstore_id *id, struct sc_error *err);
void symstore_ids_deinit(struct symstore_ids *ids);

/* Reads what is to be kept in pruning: build IDs from the file at `path` ("-": standard input),
 * whole ones, each the first word of a line; '#' begins a comment. *ret, which the caller deinits
 * also on an error, is sorted as by symstore_ids_sort(). SC_EINVAL: not a build ID, the line is
 * named, or there is none at all, which would keep nothing; SC_ESYS, SC_ENOMEM. */
int symstore_keep_read(const char *path, struct symstore_ids *ret, struct sc_error *err);

/* ---- counting ---------------------------------------------------------------------- */

enum { SYMSTORE_KINDS = 7 }; /* by the best kind of symbols, as symstore_kinds; the last: none */

struct symstore_totals {
	struct { uint64_t entries, bytes; } kinds[SYMSTORE_KINDS];
	uint64_t bytes;           /* of all caches */
	struct { uint64_t entries, bytes, stored; } packed; /* those that are stored so, their caches,
				   * and what is stored of them */
	uint64_t tagged, broken;  /* entries with tags, and with broken debug information */
	int64_t oldest, newest;   /* seconds since 1970; of no entry INT64_MAX, INT64_MIN */
};

/* Counts all entries. As symstore_each(). */
int symstore_count(struct symstore_reader *reader, struct symstore_totals *ret,
		   struct sc_error *err);

/* ---- removing ----------------------------------------------------------------------
 * Entries are gathered in a snapshot, and removed in one commit when it is closed, since
 * a store that changes its map must have no reader in this thread. */

struct symstore_removal {
	struct symstore_id id;
	int64_t time;            /* of indexing or, if later, of the last use */
	uint64_t cache_size;     /* bytes */
	uint64_t stored_size;    /* bytes of it in the store */
	char *source_path;
	bool removed;            /* after the commit: it was still there */
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

struct symstore_prune_rules {
	int64_t indexed_before;  /* seconds since 1970: what is older goes; INT64_MIN: nothing */
	int64_t used_before;     /* what was neither indexed nor used since; INT64_MIN: nothing */
	uint64_t to_size;        /* bytes of caches, as they are stored: what was indexed or used longest ago goes;
	                          * UINT64_MAX: nothing */
	/* All but these go, and no other rule touches them. Sorted by symstore_ids_sort(); NULL:
	 * no such rule. */
	const struct symstore_id *keep;
	size_t num_keep;
};

/*
 * Gathers what the rules condemn, each rule its part: one pass over the entries, memory
 * by their number. Remove it by symstore_remove_all(). The caller deinits *ret, also on
 * an error.
 */
int symstore_condemn(struct symstore *store, const struct symstore_prune_rules *rules,
		     struct symstore_removals *ret, struct sc_error *err);

/* ---- packing ------------------------------------------------------------------------ */

struct symstore_repack_options {
	int level;               /* at which entries are packed; 0: packed ones are unpacked */
	int64_t used_before;     /* those neither indexed nor used since then, seconds since 1970;
				  * INT64_MAX: all */
	const struct symstore_selection *choose; /* those alone; NULL: all */
	void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
	void *ctx;
};

struct symstore_repacked {
	uint64_t entries;        /* that are stored in the other form now; what would not be
				  * smaller is not packed */
	uint64_t bytes;          /* of their caches, unpacked */
	uint64_t damaged;        /* left as they are */
};

/*
 * Packs entries, or unpacks them, some 64 MB in a commit, on all cores. Look-ups give what they gave
 * before. No reader may be open in this thread. On an error *ret has what was done, which stays:
 * as symstore_commit(), or SC_ENOMEM.
 */
int symstore_repack(struct symstore *store, const struct symstore_repack_options *options,
		    struct symstore_repacked *ret, struct sc_error *err);

/* ---- verifying --------------------------------------------------------------------- */

/* What is wrong with something: all is counted, the first texts are kept. */
enum { SYMSTORE_FAULT_TEXTS = 10 };
struct symstore_faults {
	uint64_t num;
	size_t num_texts;
	char *texts[SYMSTORE_FAULT_TEXTS];
};

/* A symcache_fault_fn: adds to `ctx`, a struct symstore_faults. */
bool symstore_faults_add(void *ctx, const char *text);
void symstore_faults_deinit(struct symstore_faults *faults);

/* Of an entry of symstore_verify(): `done` of `total` with it. */
typedef void symstore_verified_fn(void *ctx, const struct symstore_entry *entry,
				  const struct symstore_faults *faults, uint64_t done,
				  uint64_t total);

/*
 * Reads every cache whole, its hash and symcache_verify(), on up to `threads` threads (0: as many as
 * cores). `fn` is called for all entries in the order of the build IDs, one call at a
 * time, from any of the threads; of the entry's strings it has the source path alone. Call
 * symstore_check() first. SC_EFORMAT, SC_ENOMEM.
 */
int symstore_verify(struct symstore_reader *reader, unsigned threads, symstore_verified_fn *fn,
		    void *ctx, struct sc_error *err);

#endif
