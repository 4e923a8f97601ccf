/*
 * store.h: build ID → cache bytes, in one LMDB file.
 *
 * Ownership: pointers obtained through a `symstore_reader` lie in the store's
 * memory map and are valid until symstore_read_end() of that reader. A reader
 * is a snapshot: what is committed after it began is not seen, and the pages
 * it may see are not reused, so end it when the work is done. A cache that is stored
 * packed is unpacked into memory, which is the reader's for as long.
 *
 * Thread-safety: a store may be shared; a reader begins and ends in one thread, which
 * may let others read through it meanwhile; a writer is of one thread.
 * All who open a file in a process have the same store; it is not used across fork().
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
	SYMSTORE_READ,  /* works on a read-only file, directory or medium; no lock
	                 * file is made where none can be */
	SYMSTORE_VISIT, /* as SYMSTORE_READ, but makes no file next to it */
	SYMSTORE_FROZEN,/* the same, for a file that no process changes, on any file system: it is
	                 * not locked, and its use not noted */
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
	uint64_t table_hash;       /* XXH3-64 of the hashes of its blocks, which lie behind it; 0:
	                            * there are none (format 1); put computes it */
	uint64_t packed_size;      /* bytes of what is stored in its place, packed; 0: it is stored as
	                            * it is. Set on get, as is */
	uint64_t packed_hash;      /* their XXH3-64 */
	int64_t time;              /* when it was indexed, seconds since 1970 */
	const char *source_path;   /* absolute */
	const char *debug_path;    /* separate debug file that was used; "" or NULL: none */
	const char *tool_version;
	const char *tags;          /* sorted, a newline between them; "" or NULL: none */
	const char *names;         /* of files with this build ID, as symstore_names_of() has them; ""
				    * or NULL: none are known */
	const char *transforms;    /* what was changed when it was written, a newline between
	                            * them; "" or NULL: nothing */
};

/* The bytes that the entry's cache takes in the store. */
static inline uint64_t symstore_stored_size(const struct symstore_entry *entry)
{
	return entry->packed_size ? entry->packed_size : entry->cache_size;
}

/* A build ID by itself; zeros behind its `len` bytes. */
struct symstore_id {
	uint8_t bytes[SYMCACHE_BUILD_ID_MAX];
	size_t len;
};

/* Sorts by the bytes, and drops what is there twice. Returns how many are left. */
size_t symstore_ids_sort(struct symstore_id *ids, size_t num);
/* The first of sorted ones that does not stand before `id`; num: all do. What is behind the bytes of
 * an ID is 0. */
size_t symstore_ids_from(const struct symstore_id *ids, size_t num, const struct symstore_id *id);
/* Which one of them it is; num: none. */
size_t symstore_ids_find(const struct symstore_id *ids, size_t num, const uint8_t *bytes, size_t len);

/*
 * Opens the store at `path`. SC_ENOTFOUND: SYMSTORE_READ and there is no file,
 * or one that a first writer left before it was a store; SC_EFORMAT: not a
 * store, or damaged; SC_EUNSUPPORTED: written by a newer version or on another
 * kind of machine; SC_EINVAL: to write, and this process has it open to read; SC_ESYS,
 * SC_EFULL, SC_ENOMEM. After fork() the child opens it anew, and leaves what it inherited
 * alone. Thread-safe, as is closing.
 */
int symstore_open(const char *path, enum symstore_mode mode, struct symstore **ret,
		  struct sc_error *err);
void symstore_close(struct symstore *store); /* NULL is fine */

/* After many look-ups: the pages of the store no longer count as memory of this process. What is read
 * again is mapped again, out of the system's cache. Thread-safe. */
void symstore_release_pages(struct symstore *store);

/* Of the file, links followed; its lock file is PATH-lock. Lives as long as the store. */
const char *symstore_path(const struct symstore *store);

/* The same to read, but for writing where that is possible, so that others in the process can
 * write: it cannot be opened anew when they come. */
int symstore_open_for_all(const char *path, struct symstore **ret, struct sc_error *err);

struct symstore *symstore_share(struct symstore *store); /* for one more close; returns it */
/* Did this process open it, not its parent? */
bool symstore_is_ours(const struct symstore *store);

/*
 * Opens a private copy of the store, for reading what others made: no one can change or
 * cut it off meanwhile, and no file is made next to it. Takes room in $TMPDIR, else in
 * /var/tmp, until it is closed. As symstore_open(SYMSTORE_VISIT); SC_EFULL.
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

/* The cache bytes of a full build ID, 8-aligned, as they are: maybe damaged.
 * SC_ENOTFOUND: no such entry; of one that is packed also SC_EFORMAT: damaged; SC_ENOMEM. */
int symstore_get(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
		 const void **data, size_t *size, struct sc_error *err);

/* No cache that the reader gave is needed any more: who goes through many entries need not have
 * all of them unpacked at once. */
void symstore_let_go(struct symstore_reader *reader);

/* The packed file (libsymcache/packed/packed.h) of an entry that is stored so, in the map.
 * SC_ENOTFOUND: no such entry, or it is not packed; SC_EFORMAT: damaged. */
int symstore_get_packed(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
			const void **data, size_t *size, struct sc_error *err);

/*
 * The cache of a full build ID, opened so that no byte is read that is not as it was
 * written: a small cache is tested now, a large one block by block by `guard`, which
 * is the caller's, all zero or from an earlier call: what it has tested already is
 * not tested again. symcache_guard_deinit() it. SC_ENOTFOUND: no such entry;
 * SC_EFORMAT: damaged, the message says what to do; SC_ENOMEM.
 */
int symstore_get_guarded(struct symstore_reader *reader, const uint8_t *build_id, size_t len,
			 struct symcache_guard *guard, struct symcache *ret,
			 struct sc_error *err);

/* The message for an entry that is damaged, as symcache_damaged() words it; SC_EFORMAT. */
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
 * The one build ID in the store that begins with the hex digits of `text`.
 * SC_EINVAL: no hex digits, or several build IDs begin so (the message has the
 * first two); SC_ENOTFOUND: none does.
 */
int symstore_find_id(struct symstore_reader *reader, const char *text,
		     uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/*
 * The one build ID in the store whose source has this file name: "kvm" and "kvm.ko" are
 * those of "/lib/modules/6.1/kernel/kvm.ko.xz"; '-' and '_' are one, as the kernel has it.
 * SC_EINVAL: several have it; SC_ENOTFOUND: none.
 */
int symstore_find_name(struct symstore_reader *reader, const char *name,
		       uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/* The bytes of a note, in the map. SC_ENOTFOUND. */
int symstore_get_note(struct symstore_reader *reader, const char *name, const void **data,
		      size_t *size, struct sc_error *err);

/* May `fresh` take the place of `old`? Its symbols are no worse: the order is in
 * format/store.md. */
bool symstore_entry_replaces(const struct symstore_entry *fresh, const struct symstore_entry *old);

/* Were they made from files of other paths and with other content, of which none is the
 * debug file of the other? */
bool symstore_entry_other_file(const struct symstore_entry *a, const struct symstore_entry *b);

/* ---- records in words --------------------------------------------------------- */

/* The kinds of symbols, best first: "dwarf", ..., and "cfi", unwind information; ends with
 * NULL. */
extern const char *const symstore_kinds[];

/* The bit of enum symcache_source for an index into them. */
uint32_t symstore_kind_bit(int kind);

/* The bits that are shown: of names alone not what they were taken from. */
uint32_t symstore_kinds_shown(uint32_t sources);

/* The XXH3-128, as 32 hex digits, of what look-ups depend on: build IDs, hashes of caches, names
 * and tags of all entries. Their records are read, no caches. Errors as of symstore_each(). */
int symstore_identity(struct symstore_reader *reader, char ret[SC_HASH_TEXT],
		      struct sc_error *err);

/* The path of the store by default, on the heap: $SYMCACHE_STORE, else symcache/symcache.store
 * in $XDG_CACHE_HOME or ~/.cache. SC_EINVAL: there is no home; SC_ENOMEM. */
int symstore_default_path(char **ret, struct sc_error *err);

/* "dwarf,symtab"; "none". Returns `text`. */
enum { SYMSTORE_KINDS_TEXT = 64 };
const char *symstore_kinds_text(uint32_t sources, char text[SYMSTORE_KINDS_TEXT]);

/* A field of a record as `list --json` and manifests have it. */
struct symstore_field {
	const char *key;
	enum { SYMSTORE_TEXT, SYMSTORE_NUMBER, SYMSTORE_BOOL, SYMSTORE_LIST } type;
	const char *text;       /* of a list: a newline between its items */
	uint64_t number;        /* or truth */
};

struct symstore_fields {
	struct symstore_field data[16];
	size_t len;
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1], kinds[64], cache_hash[17], source_hash[SC_HASH_TEXT];
	char time[32];
};

/* All fields; texts lie in `entry` and `ret`. */
void symstore_entry_fields(const struct symstore_entry *entry, struct symstore_fields *ret);

/* "2026-11-21T11:02:33Z" for seconds since 1970. Returns `text`. */
const char *symstore_time_text(int64_t time, char text[32]);

/* What came of a file's content when it was looked at. */
struct symstore_outcome {
	int code;               /* 0: indexed; or an SC_E… code such as SC_ENOSYMBOLS */
	int64_t time;           /* when, seconds since 1970 */
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX]; /* of the entry, if code is 0; else of the file,
	                                          * if that is known */
	size_t build_id_len;
};

/* Was a file of this content looked at by this version of the tool (`tool` as
 * in tool_version)? SC_ENOTFOUND: no; or it was indexed, but the entry is gone. */
int symstore_seen(struct symstore_reader *reader, const struct sc_hash *content,
		  const char *tool, struct symstore_outcome *ret, struct sc_error *err);

/* ---- use -----------------------------------------------------------------
 * Which entries are still looked at, to the day, best effort: in a file next to the
 * store, NAME-used, which may be missing or not writable. */

/* The entry is used today. *marked, 0 at first, spares the file further calls. */
void symstore_mark_used(struct symstore *store, const uint8_t *build_id, size_t len,
			uint32_t *marked);

/* When the day of its last use began, seconds since 1970; 0: not known. */
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

/* The tag at *at (may be NULL), and moves *at behind it. Returns its length; 0: no more. */
size_t symstore_tags_next(const char **at, const char **tag);

/* Is `want` among the tags (may be NULL)? Without a '=' it is also the key of any value. */
bool symstore_tags_have(const char *tags, const char *want);

/* The tags without one, on the heap. NULL: out of memory. */
char *symstore_tags_without(const char *tags, const char *word);

/* Both sets (either may be NULL) as one, on the heap. NULL: out of memory. */
char *symstore_tags_unite(const char *a, const char *b);

/* ---- names ----------------------------------------------------------------
 * The names that files with a build ID have: a program's is not that of its debug file. Like
 * tags, they are words in one string, and only grow, up to a bound. */

enum { SYMSTORE_NAMES_MAX = 4096 }; /* bytes of the names of an entry */

/*
 * The names that a file has: its `path`, and what it says of itself, its SONAME and the name of
 * its debug file (either NULL or "": none); all without folders and ".debug". What is only a
 * build ID's digits, or has control characters, is no name. On the heap, "" if there are none;
 * NULL: out of memory.
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
 * caches. Returns the number of faults, or SC_ENOMEM, or SC_ESYS, which `fn` was given; with
 * either, do not read on. Call it
 * first: it may move the reader to the newest snapshot. */
ssize_t symstore_check(struct symstore_reader *reader, symcache_fault_fn *fn, void *ctx);

/* ---- writing -------------------------------------------------------------
 * A writer gathers what shall be done; symstore_commit() waits for its turn
 * (one writer at a time, over all processes) and does all of it or nothing.
 * Until then nothing is locked. The map grows by itself. */

int symstore_write_begin(struct symstore *store, struct symstore_writer **ret,
			 struct sc_error *err);

/* Writes the cache to dst[0, entry->cache_size), 8-aligned: a page of the store
 * itself. Called by symstore_commit(), and again if that has to start over. */
typedef void symstore_fill_fn(void *ctx, void *dst);

/* What a commit did with an entry: written, or which one stayed and why. */
enum symstore_put_result {
	SYMSTORE_WRITTEN,
	SYMSTORE_BETTER_STAYS,
	SYMSTORE_OTHER_STAYS,   /* of another file, equally good: symstore_keep_files() */
	SYMSTORE_PINNED_STAYS,  /* it has the tag SYMSTORE_PINNED */
};

/* What this writer puts from now on is packed, at a level of PACKED_LEVEL_MAX at most, where it
 * takes fewer pages so. */
void symstore_write_packed(struct symstore_writer *writer, int level);

/* What this writer puts from now on replaces no entry of a file with another path and
 * other content, unless its symbols are better. */
void symstore_keep_files(struct symstore_writer *writer);

/*
 * Creates or replaces the entry; one with better symbols stays (the order is in
 * format/store.md), and a pinned one. Unwind information that only the other one of the two
 * has is taken over (libsymcache/unwind/merge.h), but by a pinned one. `entry` is copied with its
 * strings; `ctx` must live until the writer ends; without `fill` it is the cache itself.
 * *result (if not NULL) is set by the commit. SC_EINVAL: no build ID; SC_ELIMIT: about 2 GiB;
 * SC_ENOMEM.
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
 * Keeps bytes under a name next to the entries. Notes speak of the entries as they
 * are: any other commit that changes entries drops all of them. SC_ENOMEM;
 * SC_EINVAL: the name is empty or above 64 bytes.
 */
int symstore_note(struct symstore_writer *writer, const char *name, const void *data, size_t size,
		  struct sc_error *err);

/* Remembers that content was looked at by this version of the tool. */
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
/* Commits if `rc`, of what was to be gathered, is 0; else aborts, and returns it. */
int symstore_end(struct symstore_writer *writer, int rc, struct sc_error *err);

/*
 * Writes the store anew without free pages, next to it, and puts that in its
 * place. No process may have the store open meanwhile, this one included; those
 * that open it wait. SC_EINVAL: somebody has it open; SC_ENOTFOUND: no store;
 * else as symstore_open() and symstore_commit(). After a failure the store is as
 * it was. `before` and `after` get the sizes of the file in bytes.
 */
int symstore_compact(const char *path, uint64_t *before, uint64_t *after, struct sc_error *err);

#endif
