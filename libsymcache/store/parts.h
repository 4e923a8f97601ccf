/*
 * parts.h: what the files of the store share. lmdb.h is included here and in
 * no other folder.
 *
 *   snapshot.c, pages.c  an LMDB file's pages without LMDB, which may crash on them
 *   tree.c     look-ups in them, so: all reading
 *   place.c    files, locks and folders before LMDB comes
 *   record.c   records ↔ bytes
 *   once.c     a file once in a process
 *   map.c      the memory map: how large, and when it may be moved
 *   open.c     path → struct symstore
 *   compact.c  the store anew, without free pages     copy.c  a private copy of it
 *   tags.c     sets of words   used.c  when entries were last used
 *   reader.c   snapshots   trust.c   caches that may be damaged
 *   writer.c   commits     apply.c   what they do     check.c  verification
 *   find_id.c  digits or a file name → build ID       identity.c  what a store holds
 *   choose.c   which entries are meant   upkeep.c  work on many   describe.c  in words
 *   packing.c  entries that are packed   unpacked.c  their caches in memory   repack.c  which are
 */
#ifndef STORE_PARTS_H
#define STORE_PARTS_H

#include <lmdb.h>
#include <pthread.h>

#include "libsymcache/packed/packed.h"
#include "libsymcache/store/pages.h"
#include "libsymcache/store/record.h"
#include "libsymcache/store/store.h"

/* Versions of the file's layout that we read and write; see format/store.md. With packed entries
 * it is the second. */
#define SYMSTORE_FORMAT 2u
#define SYMSTORE_FORMAT_PACKED 3u

enum { SYMSTORE_PAGE_HEADER = 16 }; /* bytes in front of a value on pages of its own */

/* Threads and processes that may read at the same time (64 bytes each). */
#define SYMSTORE_READERS 510u

/* A value of 2 GiB − 4 KiB or more is written by LMDB with one pwrite(), which Linux
 * cuts off there; LMDB takes that for an error. The hashes of blocks take 1/512. */
#define SYMSTORE_MAX_CACHE 0x7fb00000u

struct symstore {
	MDB_env *env;
	MDB_dbi meta, entries, caches, seen; /* for writing */
	const uint8_t *map;         /* of the file, for reading: as large as LMDB's */
	size_t map_size;
	bool checked;               /* its pages were, before we write */
	char *path;                 /* what messages call the file */
	size_t page_size;
	uint64_t roomy;             /* the map is at least this large, if it can be */
	uint32_t format;            /* of the file */
	bool locked;                /* the lock file is in use */
	bool frozen;                /* SYMSTORE_FROZEN */
	int place;                  /* holds the claim of symstore_claim(); -1: none */
	pid_t pid;                  /* that opened it */
	dev_t dev;                  /* of the file, in the list of once.c */
	ino_t ino;
	unsigned users;             /* who opened it, and did not close it */
	bool writable;
	struct symstore *next;

	/* The map may move only while it is not used in this process. */
	pthread_mutex_t commit_lock;/* held by the thread that commits or remaps */
	pthread_mutex_t lock;       /* guards what follows */
	pthread_cond_t changed;
	struct symstore_reader *readers;
	bool remapping;             /* new readers wait */
	bool lost;                  /* a remap failed half-way: there is no map */

	pthread_mutex_t unpacked_lock; /* guards what follows, and what readers hold */
	struct symstore_unpacked *unpacked;
	uint64_t unpacked_most;     /* bytes of them that may stay in memory */
};

struct symstore_reader {
	struct symstore *store;
	MDB_txn *txn;               /* keeps the pages of the snapshot */
	struct symstore_view view;
	struct symstore_tree free, meta, entries, caches, seen;
	pthread_t owner;
	struct symstore_held *held; /* of what is unpacked */
	struct symstore_reader *next;
};

struct symstore_opening {
	const char *path;
	enum symstore_mode mode;
	bool unclaimed;             /* the caller has claimed it, or no one else knows the file */
	uint64_t roomy;             /* bytes that the map begins with, so that tests can see it
	                             * grow; 0: the usual */
	const char *shown;          /* what messages call it; NULL: path */
};

/* As symstore_open(); whether the process has it open is not looked at. */
int symstore_open_at(const struct symstore_opening *o, struct symstore **ret,
		     struct sc_error *err);

/* What symstore_close() does, but for the list of what is open. */
void symstore_destroy(struct symstore *store);

/* In `meta`: the version record, and notes under "note:NAME". */
#define SYMSTORE_FORMAT_KEY "format"
#define SYMSTORE_NOTE "note:"

/* Reads the snapshot of `txn` without LMDB: the view of it and its trees. SC_ENOTFOUND:
 * an LMDB file without any data. The transaction may move on to a newer one. */
int symstore_look_in(struct symstore *store, MDB_txn *txn, struct symstore_reader *ret,
		     struct sc_error *err);

/* The entry of a build ID, and its value of `caches`: at least symstore_stored_size() bytes. */
int symstore_value(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		   struct symstore_entry *entry, struct symstore_bytes *ret, struct sc_error *err);

/* Where the hashes of the blocks lie behind a cache of `size` bytes. */
static inline size_t symstore_table_offset(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* Writes the record of the file's version. LMDB's code. */
int symstore_put_format(struct symstore *store, MDB_txn *txn, const struct symstore_format *format);

/* Reads one cache whole: its hash, then symcache_verify(). Number of faults, or SC_ENOMEM. */
ssize_t symstore_check_entry(struct symstore_reader *reader, const struct symstore_entry *entry,
			     symcache_fault_fn *fn, void *ctx);

/* ---- packing.c ---- */

/* What is stored in place of a cache. */
struct symstore_form {
	bool made;              /* it is known what is stored */
	uint8_t *bytes;         /* on the heap; NULL: the cache itself */
	size_t size;
	uint64_t packed_hash;   /* of them; and of the cache: */
	uint64_t cache_size, cache_hash, table_hash;
};

/* Packs a cache, if it takes fewer pages so. SC_ENOMEM. */
int symstore_form_make(const struct symstore *store, const void *cache, size_t size, int level,
		       struct symstore_form *ret);
void symstore_form_deinit(struct symstore_form *form);

/* The packed file in the value of an entry that is packed. False: it is not what was written. */
bool symstore_packed_file(const struct symstore_entry *entry, const uint8_t *value,
			  struct packed_bytes *ret);

/* The one cache in it. SC_EFORMAT, SC_ENOMEM. */
int symstore_unpack(const struct symstore_entry *entry, const uint8_t *value,
		    struct packed_caches *ret, struct sc_error *err);

/* ---- unpacked.c ---- */

enum { SYMSTORE_UNPACKED_MOST = 256 << 20 }; /* bytes that stay in memory, if that can be */

/* The cache of an entry that is packed; `reader` has it until it ends or lets go of it. Errors as
 * of symstore_unpack(). Thread-safe. */
int symstore_get_unpacked(struct symstore_reader *reader, const struct symstore_entry *entry,
			  const uint8_t *value, const void **data, struct sc_error *err);

/* Frees what no reader has. */
void symstore_drop_unpacked(struct symstore *store);

/* ---- place.c ---- */

/* The path that the lock file's name is made of, on the heap: `path`, but where
 * that is a link, what it leads to, so that all who use a file share a lock. */
int symstore_resolve(const char *path, char **ret, struct sc_error *err);

/* Looks at the file. *used: bytes that LMDB will want to see; 0: it is missing
 * or empty. `shown`: what messages call it. SC_EFORMAT, SC_EUNSUPPORTED, SC_ESYS. */
int symstore_look(const char *path, const char *shown, uint64_t *used, struct sc_error *err);

/*
 * Opens the file PATH + SUFFIX next to a store if it is a regular file with one name, not
 * a link, and `ours` by what is in it: it may have been planted there. -1: see errno;
 * EEXIST: it is something else.
 */
int symstore_open_next(const char *path, const char *suffix, int flags, bool (*ours)(int fd));

/* Makes the lock file (not SYMSTORE_VISIT), and room for it on the disk. *usable is false
 * where there is none that we may use, and we only read. */
int symstore_lock_file(const char *path, const char *shown, enum symstore_mode mode, bool *usable,
		       struct sc_error *err);

/*
 * Claims the file, until the descriptor *ret is closed: shared, as all who have it
 * open do, or `alone`, to put another in its place; waits for the latter to end.
 * *ret is the file that `path` names then. SC_ENOTFOUND: there is none; SC_EINVAL:
 * alone, but others have it open; SC_ESYS.
 */
int symstore_claim(const char *path, bool alone, int *ret, struct sc_error *err);

/* Syncs the folder of a new file. */
int symstore_sync_folder(const char *path, struct sc_error *err);

/* Turns LMDB's `rc` into an SC_E… code and a message: "store PATH: …: why". */
int symstore_fail(const struct symstore *store, int rc, struct sc_error *err,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* ---- map.c ---- */

/* Maps the file for reading, as large as LMDB's map. SC_ENOMEM. */
int symstore_map(struct symstore *store, struct sc_error *err);
void symstore_unmap(struct symstore *store);

/* The map size for a file of `used` bytes: `roomy` (0: the usual) or four times
 * `used`, but only what this process can have. 0: not even `used`. */
size_t symstore_map_size(uint64_t used, uint64_t roomy);

/*
 * Waits until no thread of this process reads, then maps at least `size` bytes
 * (and all that is in the file). The caller holds commit_lock and no
 * transaction. SC_EINVAL: this thread has a reader open; SC_ENOMEM.
 */
int symstore_remap(struct symstore *store, uint64_t size, struct sc_error *err);

/* mdb_txn_begin() that follows a map which another process has outgrown.
 * The caller holds commit_lock if it writes. */
int symstore_txn_begin(struct symstore *store, unsigned flags, MDB_txn **ret,
		       struct sc_error *err);

/* The pages of a reading transaction. Its meta page is overwritten two commits
 * later; the transaction then moves on to the newest. Call it before reading. */
int symstore_snapshot_of(MDB_txn *txn, int fd, struct symstore_snapshot *ret,
			 struct sc_error *err);

/*
 * Checks the pages of a reading transaction, as symstore_snapshot_of(): SC_EFORMAT with
 * the first fault. if_short: only where the file is shorter than its last page: then it
 * was cut off, or these pages were never used, which only all pages together show.
 */
int symstore_check_pages(struct symstore *store, MDB_txn *txn, bool if_short,
			 struct sc_error *err);

/* LMDB would follow damaged pages wherever they lead, and write there: all index pages are looked
 * at before we write for the first time. Errors as of symstore_check_pages(); SC_ENOMEM. */
int symstore_check_once(struct symstore *store, struct sc_error *err);

static inline void symstore_txn_cleanup(MDB_txn **txn)
{
	if (*txn)
		mdb_txn_abort(*txn);
}

static inline void symstore_cursor_cleanup(MDB_cursor **cursor)
{
	if (*cursor)
		mdb_cursor_close(*cursor);
}

#endif
