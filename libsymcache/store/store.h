/*
 * store.h: build ID → cache bytes, in one LMDB file.
 *
 * Ownership: pointers obtained through a `symstore_reader` lie in the store's
 * memory map and are valid until symstore_read_end() of that reader. A reader
 * is a snapshot: what is committed after it began is not seen, and the pages
 * it may see are not reused, so end it when the work is done. A cache that is stored
 * packed is unpacked into memory, which also lives until symstore_read_end().
 *
 * Thread-safety: threads may share a store. A reader is begun and ended by one thread;
 * meanwhile other threads may read through it. A writer belongs to one thread.
 * symstore_open() of the same file in one process gives the same store. Do not use it
 * across fork().
 * The layout, and what is promised about crashes and full disks, is in
 * format/store.md.
 */
#ifndef SYMCACHE_STORE_H
#define SYMCACHE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "format/symcache_format.h"
#include "libsymcache/base/error.h"
#include "libsymcache/base/hash.h"
#include "libsymcache/read/read.h"

struct symstore;
struct symstore_reader;
struct symstore_writer;

enum symstore_mode {
	SYMSTORE_READ,  /* also on a read-only file, directory or medium, where there is no lock
	                 * file */
	SYMSTORE_VISIT, /* as SYMSTORE_READ, but makes no file next to the store */
	SYMSTORE_FROZEN,/* as SYMSTORE_VISIT, for a file that no process changes, on any file
	                 * system: without locks, and without recording its use */
	SYMSTORE_WRITE, /* creates the file (not its directory) if it is missing */
};

/* What is known of an entry besides its bytes. Strings are owned by the caller
 * on put, and lie in the map (NUL-terminated) on get; none is ever NULL on get. */
struct symstore_entry {
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len;
	bool build_id_derived;
	uint32_t sources;          /* or of enum symcache_source */
	uint32_t bad_units;        /* compilation units left out because they are broken */
	uint64_t cache_size;       /* bytes */
	uint64_t source_size;      /* bytes of the file that was indexed */
	struct sc_hash source_hash; /* shows whether that file was indexed already */
	uint64_t cache_hash;       /* XXH3-64 of the cache bytes; put computes it */
	uint64_t table_hash;       /* XXH3-64 of the hashes of its blocks, which follow it; 0:
	                            * there are none (format 1); put computes it */
	uint64_t packed_size;      /* bytes of the packed cache that is stored instead; 0: the cache
	                            * is stored unpacked. This and the next are set on get */
	uint64_t packed_hash;      /* XXH3-64 of these bytes */
	int64_t time;              /* when it was indexed, seconds since 1970 */
	const char *source_path;   /* absolute */
	const char *debug_path;    /* separate debug file that was used; "" or NULL: none */
	const char *tool_version;
	const char *tags;          /* sorted, a newline between them; "" or NULL: none */
	const char *names;         /* of files with this build ID, as from symstore_names_of(); ""
				    * or NULL: none are known */
	const char *transforms;    /* what was changed when it was written, a newline between
	                            * them; "" or NULL: nothing */
};

/* The bytes that the entry's cache takes in the store. */
static inline uint64_t symstore_stored_size(const struct symstore_entry *entry)
{
	return entry->packed_size ? entry->packed_size : entry->cache_size;
}

/* A build ID; the bytes after the first `len` are 0. */
struct symstore_id {
	uint8_t bytes[SYMCACHE_BUILD_ID_MAX];
	size_t len;
};

/* Sorts by the bytes, and drops duplicates. Returns how many are left. */
size_t symstore_ids_sort(struct symstore_id *ids, size_t num);
/* The index of the first of sorted IDs that is not less than `id`; num: all are less. */
size_t symstore_ids_from(const struct symstore_id *ids, size_t num, const struct symstore_id *id);
/* The index of a build ID in sorted ones; num: it is not there. */
size_t symstore_ids_find(const struct symstore_id *ids, size_t num, const uint8_t *bytes,
			 size_t len);

/*
 * Opens the store at `path`. SC_ENOTFOUND: SYMSTORE_READ and there is no file,
 * or a first writer died before it was a store; SC_EFORMAT: not a store, or damaged;
 * SC_EUNSUPPORTED: written by a newer version or on another kind of machine; SC_EINVAL:
 * SYMSTORE_WRITE, and this process has it open for reading only; SC_ESYS, SC_EFULL, SC_ENOMEM.
 * After fork() the child must open it again, and must not touch the store that it inherited.
 * Thread-safe, as is closing.
 */
int symstore_open(const char *path, enum symstore_mode mode, struct symstore **ret,
		  struct sc_error *err);
void symstore_close(struct symstore *store); /* NULL is fine */

/* Unmaps the pages of the store, after many look-ups, so that they no longer count as memory of
 * this process. Pages that are needed again are mapped from the page cache. Thread-safe. */
void symstore_release_pages(struct symstore *store);

/* The path of the file, with links resolved; its lock file is PATH-lock. Lives as long as the
 * store. */
const char *symstore_path(const struct symstore *store);

/* Opens the store for reading, and also for writing if that is possible, because other code in the
 * process may want to write later: then it could no longer be opened for that. */
int symstore_open_for_all(const char *path, struct symstore **ret, struct sc_error *err);

/* Another reference, to be closed as well; returns `store`. */
struct symstore *symstore_share(struct symstore *store);
/* Did this process open it, and not its parent? */
bool symstore_is_ours(const struct symstore *store);

/*
 * Opens a private copy of the store, for stores from others: nobody can change or truncate
 * it meanwhile, and no file is made next to the original. Takes space in $TMPDIR, else in
 * /var/tmp, until it is closed. Errors as symstore_open(SYMSTORE_VISIT); SC_EFULL.
 */
int symstore_open_copy(const char *path, struct symstore **ret, struct sc_error *err);

/* How full it is. */
struct symstore_info {
	uint64_t entries;
	uint64_t file_size;     /* bytes */
	uint64_t free_bytes;    /* of them: pages that the next writer may use */
	uint64_t used_bytes;    /* up to the last page */
	uint64_t map_size;      /* bytes that the file may reach before the map moves */
	uint64_t seen;          /* files whose outcome is remembered */
	uint32_t page_size;
	uint32_t readers;       /* snapshots that are open now, over all processes */
	uint32_t format;        /* format version of the file */
	bool locked;            /* false: opened without the lock file (format/store.md) */
};
int symstore_info(struct symstore_reader *reader, struct symstore_info *ret,
		  struct sc_error *err);

/* ---- reading ------------------------------------------------------------- */

int symstore_read_begin(struct symstore *store, struct symstore_reader **ret,
			struct sc_error *err);
void symstore_read_end(struct symstore_reader *reader); /* NULL is fine */
struct symstore *symstore_of(const struct symstore_reader *reader); /* whose snapshot it is */

/* The cache bytes of a full build ID, 8-aligned and unchecked: they may be damaged.
 * SC_ENOTFOUND: no such entry; of a packed entry also SC_EFORMAT: damaged; SC_ENOMEM. */
int symstore_get(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		 const void **data, size_t *size, struct sc_error *err);

/* Releases all caches that the reader returned, so that a walk over many entries does not keep all
 * of them unpacked. */
void symstore_let_go(struct symstore_reader *reader);

/* The packed file (libsymcache/packed/packed.h) of an entry that is stored packed, in the map.
 * SC_ENOTFOUND: no such entry, or it is not packed; SC_EFORMAT: damaged. */
int symstore_get_packed(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
			const void **data, size_t *size, struct sc_error *err);

/*
 * The cache of a full build ID, opened so that only bytes are read that are as they were
 * written: a small cache is checked now, a large one block by block when a look-up needs the
 * block. `guard` belongs to the caller, and is all zero or from an earlier call, whose checks
 * are not repeated; symcache_guard_deinit() it. SC_ENOTFOUND: no such entry;
 * SC_EFORMAT: damaged, the message says what to do; SC_ENOMEM.
 */
int symstore_get_guarded(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
			 struct symcache_guard *guard, struct symcache *ret,
			 struct sc_error *err);

/* Sets the error for an entry that symcache_damaged() says is damaged; returns SC_EFORMAT. */
int symstore_damaged(const uint8_t *build_id, size_t len, struct sc_error *err);

/* The entry record of a full build ID. */
int symstore_entry(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		   struct symstore_entry *ret, struct sc_error *err);

/* Calls `fn` for each entry whose build ID begins with the `nibbles` hex digits
 * held in `prefix` (0: all), in the order of the build IDs, until it returns
 * false. */
typedef bool symstore_each_fn(void *ctx, const struct symstore_entry *entry);
int symstore_each(struct symstore_reader *reader, const uint8_t *prefix, size_t nibbles,
		  symstore_each_fn *fn, void *ctx, struct sc_error *err);

/*
 * The only build ID in the store that begins with the hex digits of `text`.
 * SC_EINVAL: not hex digits, or several build IDs begin with them (the message has the
 * first two); SC_ENOTFOUND: none does.
 */
int symstore_find_id(struct symstore_reader *reader, const char *text,
		     uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/*
 * The only build ID in the store of a file with this name: "kvm" and "kvm.ko" both name
 * "/lib/modules/6.1/kernel/kvm.ko.xz"; '-' and '_' are equal, as for the kernel.
 * SC_EINVAL: several have the name; SC_ENOTFOUND: none.
 */
int symstore_find_name(struct symstore_reader *reader, const char *name,
		       uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/* The bytes of a note, in the map. SC_ENOTFOUND. */
int symstore_get_note(struct symstore_reader *reader, const char *name, const void **data,
		      size_t *size, struct sc_error *err);

/* May `fresh` replace `old`, because its symbols are no worse, in the order of
 * format/store.md? */
bool symstore_entry_replaces(const struct symstore_entry *fresh, const struct symstore_entry *old);

/* Were they made from two files with different paths and contents, neither of which is the
 * debug file of the other? */
bool symstore_entry_other_file(const struct symstore_entry *a, const struct symstore_entry *b);

/* ---- records in words --------------------------------------------------------- */

/* The kinds of symbols, best first: "dwarf", ..., and "cfi", unwind information; ends with
 * NULL. */
extern const char *const symstore_kinds[];

/* The bit of enum symcache_source for an index into them. */
uint32_t symstore_kind_bit(int kind);

/* The bits that are shown: for an entry of names alone, not the symbols that these were taken
 * from. */
uint32_t symstore_kinds_shown(uint32_t sources);

/* The XXH3-128, as 32 hex digits, of all that look-ups depend on: build IDs, hashes of caches,
 * names and tags of all entries. Reads their records, no caches. Errors as of symstore_each(). */
int symstore_identity(struct symstore_reader *reader, char ret[SC_HASH_TEXT],
		      struct sc_error *err);

/* The path of the store by default, on the heap: $SYMCACHE_STORE, else symcache/symcache.store
 * in $XDG_CACHE_HOME or ~/.cache. SC_EINVAL: there is no home; SC_ENOMEM. */
int symstore_default_path(char **ret, struct sc_error *err);

/* "dwarf,symtab"; "none". Returns `text`. */
enum { SYMSTORE_KINDS_TEXT = 64 };
const char *symstore_kinds_text(uint32_t sources, char text[SYMSTORE_KINDS_TEXT]);

/* The record of an entry as members of the open map, as `list --json` and manifests have it. */
struct mk_gen;
void symstore_entry_json(struct mk_gen *g, const struct symstore_entry *entry);
/* The kinds that are shown, as an array. */
void symstore_kinds_json(struct mk_gen *g, const char *key, uint32_t sources);

/* "2026-11-21T11:02:33Z" for seconds since 1970. Returns `text`. */
const char *symstore_time_text(int64_t time, char text[32]);

/* What indexing a file of some content resulted in. */
struct symstore_outcome {
	int code;               /* 0: indexed; or an SC_E… code such as SC_ENOSYMBOLS */
	int64_t time;           /* when, seconds since 1970 */
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX]; /* of the entry, if code is 0; else of the file,
	                                          * if that is known */
	size_t build_id_len;
};

/* The outcome that this version of the tool (`tool` as in tool_version) remembered for this
 * content. SC_ENOTFOUND: there is none; or it was indexed, but the entry is gone. */
int symstore_seen(struct symstore_reader *reader, const struct sc_hash *content,
		  const char *tool, struct symstore_outcome *ret, struct sc_error *err);

/* ---- use -----------------------------------------------------------------
 * The day on which each entry was last used, best effort: in a file next to the
 * store, NAME-used, which may be missing or not writable. */

/* Records that the entry is used today. *marked, 0 at first, is how further calls know that
 * nothing needs to be written. */
void symstore_mark_used(struct symstore *store, const uint8_t *build_id, size_t len,
			uint32_t *marked);

/* When the day on which it was last used began, seconds since 1970; 0: not known. */
int64_t symstore_last_used(const struct symstore *store, const uint8_t *build_id, size_t len);

/* ---- tags ----------------------------------------------------------------
 * Words on an entry, "release=1.4.2" or "nightly". Tags of an entry only grow:
 * whatever replaces it takes them over. */

enum { SYMSTORE_TAG_MAX = 255 }; /* bytes of one */

/* An entry with this tag is never replaced, only removed. */
#define SYMSTORE_PINNED "pinned"

/* Not empty, not too long, no control characters, a key before '='. */
bool symstore_tag_valid(const char *tag);

/* Words as tags, on the heap, and SYMSTORE_PINNED in front if `pinned`; NULL: none. SC_EINVAL: a
 * word is no tag; SC_ENOMEM. */
int symstore_tags_make(const char *const *words, size_t num, bool pinned, char **ret,
		       struct sc_error *err);

/* Sets *tag to the tag at *at (may be NULL), and moves *at past it. Returns its length; 0: no
 * more. */
size_t symstore_tags_next(const char **at, const char **tag);

/* Is `want` among the tags (may be NULL)? Without a '=' it also matches tags with this key. */
bool symstore_tags_have(const char *tags, const char *want);

/* The tags without one, on the heap. NULL: out of memory. */
char *symstore_tags_without(const char *tags, const char *word);

/* Both sets (either may be NULL) as one, on the heap. NULL: out of memory. */
char *symstore_tags_unite(const char *a, const char *b);

/* ---- names ----------------------------------------------------------------
 * The names of all files with a build ID: a program has another than its debug file. Like
 * tags, they are words in one string, and only grow, up to a bound. */

enum { SYMSTORE_NAMES_MAX = 4096 }; /* bytes of the names of an entry */

/*
 * The names of a file: those of its path, its SONAME and its debug link (either NULL or "": none),
 * without folders and ".debug". The digits of a build ID, and what has control characters, are left
 * out. On the heap, "" if there are none; NULL: out of memory.
 */
char *symstore_names_of(const char *path, const char *soname, const char *debug_link);

/* Both sets (either may be NULL) as one, on the heap; of more than SYMSTORE_NAMES_MAX the first
 * is kept. NULL: out of memory. */
char *symstore_names_unite(const char *a, const char *b);

/* Are all of `want` among the names? Either may be NULL. */
bool symstore_names_have(const char *names, const char *want);

/* ---- checking ------------------------------------------------------------ */

/* Walks the index pages of the file and the records: pages out of bounds or
 * used twice, keys out of order, entries without a cache. It does not read the
 * caches. Returns the number of faults, or SC_ENOMEM or SC_ESYS, whose message `fn` got: then
 * do not use the reader any more. Call it before other functions: it may move the reader to the
 * newest snapshot. */
ssize_t symstore_check(struct symstore_reader *reader, symcache_fault_fn *fn, void *ctx);

/* ---- writing -------------------------------------------------------------
 * A writer collects changes; symstore_commit() waits for its turn (one writer at a
 * time, over all processes) and makes all of them or none. Until then nothing is
 * locked. The map grows by itself. */

int symstore_write_begin(struct symstore *store, struct symstore_writer **ret,
			 struct sc_error *err);

/* Writes the cache to dst[0, entry->cache_size), 8-aligned, directly into the pages of the
 * store, and returns its XXH3-64. Called by symstore_commit(), and again if that has to start
 * over. */
typedef uint64_t symstore_fill_fn(void *ctx, void *dst);

/* What a commit did with an entry: written, or which one stayed and why. */
enum symstore_put_result {
	SYMSTORE_WRITTEN,
	SYMSTORE_BETTER_STAYS,
	SYMSTORE_OTHER_STAYS,   /* of another file, equally good: symstore_keep_files() */
	SYMSTORE_PINNED_STAYS,  /* it has the tag SYMSTORE_PINNED */
};

/* Packs what this writer puts from now on, at a level up to PACKED_LEVEL_MAX, if it takes fewer
 * pages packed. */
void symstore_write_packed(struct symstore_writer *writer, int level);

/* From now on what this writer puts replaces no entry of a file with another path and
 * other content, unless its symbols are better. */
void symstore_keep_files(struct symstore_writer *writer);

/*
 * Creates or replaces the entry. An existing entry stays if its symbols are better (the order is
 * in format/store.md) or it is pinned. The entry that is kept gets the unwind information that only
 * the other one has (libsymcache/unwind/merge.h), unless it is pinned. `entry` is copied with its
 * strings; `ctx` must live until the writer ends; without `fill` it is the bytes of the cache.
 * *result (if not NULL) is set by the commit. SC_EINVAL: no build ID; SC_ELIMIT: the cache is
 * larger than about 2 GiB; SC_ENOMEM.
 */
int symstore_put(struct symstore_writer *writer, const struct symstore_entry *entry,
		 symstore_fill_fn *fill, void *ctx, enum symstore_put_result *result,
		 struct sc_error *err);

/* As symstore_put(), but an entry that is equally good stays, too. */
int symstore_put_older(struct symstore_writer *writer, const struct symstore_entry *entry,
		       symstore_fill_fn *fill, void *ctx, enum symstore_put_result *result,
		       struct sc_error *err);

/* Adds tags and names (either may be NULL) to an entry; nothing happens if there is no entry.
 * SC_EINVAL: no build ID; SC_ENOMEM. */
int symstore_add_words(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
		       const char *tags, const char *names, struct sc_error *err);

/* Removes the entry and its cache. *removed (if not NULL) says after the
 * commit whether there was one. */
int symstore_remove(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
		    bool *removed, struct sc_error *err);

/*
 * Stores bytes under a name next to the entries. Notes describe the entries as they are now,
 * so any other commit that changes entries drops all notes. SC_ENOMEM;
 * SC_EINVAL: the name is empty or above 64 bytes.
 */
int symstore_note(struct symstore_writer *writer, const char *name, const void *data, size_t size,
		  struct sc_error *err);

/* Remembers what this version of the tool made of a content: see symstore_seen(). */
int symstore_remember(struct symstore_writer *writer, const struct sc_hash *content,
		      const char *tool, const struct symstore_outcome *outcome,
		      struct sc_error *err);

/*
 * Both end the writer, also on failure. A commit is on the disk when it
 * returns. SC_EFULL: no space; the store is as it was before. SC_EINVAL: the
 * map must grow, but this thread has a reader open.
 */
int symstore_commit(struct symstore_writer *writer, struct sc_error *err);
void symstore_abort(struct symstore_writer *writer); /* NULL is fine */
/* Commits if `rc`, the result of collecting changes, is 0; else aborts, and returns `rc`. */
int symstore_end(struct symstore_writer *writer, int rc, struct sc_error *err);

/*
 * Writes a copy of the store without free pages next to it, and replaces it by that. No
 * process may have the store open, this one included; a process that opens it meanwhile
 * waits. SC_EINVAL: a process has it open; SC_ENOTFOUND: no store; else as symstore_open()
 * and symstore_commit(). After a failure the store is as it was. `before` and `after` get
 * the sizes of the file in bytes.
 */
int symstore_compact(const char *path, uint64_t *before, uint64_t *after, struct sc_error *err);

#endif
