/*
 * bundle.h: bundles of caches in three shapes (format/store.md): a store, a tree of
 * SymCache files, one archive; each with a manifest, which may be signed.
 *
 * Callbacks get the `ctx` of their options; any of them may be NULL. Everything in a
 * bundle is hostile input: a name in it is never used as a path.
 */
#ifndef SYMCACHE_BUNDLE_H
#define SYMCACHE_BUNDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"
#include "libsymcache/store/upkeep.h"

enum symbundle_shape { SYMBUNDLE_STORE, SYMBUNDLE_TREE, SYMBUNDLE_ARCHIVE };

/* By the end of the name: .store, .tar.zst or .tzst, else a tree. */
enum symbundle_shape symbundle_shape_of(const char *path);

/* The manifest's name in a tree or an archive. */
#define SYMBUNDLE_MANIFEST "manifest.json"

/* `done` of `total` (0: not known) caches; `item` is the name of the current one. */
typedef void symbundle_progress_fn(void *ctx, uint64_t done, uint64_t total, const char *item);

/* ---- writing ---------------------------------------------------------------------- */

struct symbundle_export_options {
	/* The entries of these build IDs, sorted by symstore_ids_sort(); NULL: all. */
	const struct symstore_id *ids;
	size_t num_ids;
	const struct symstore_selection *choose; /* of them those that it fits; NULL: all */
	const char *since;          /* path of an earlier bundle or its manifest: what that has with
	                             * the same bytes and tags is left out; or NULL */
	const char *sign_key;       /* path of an Ed25519 private key (PEM), or NULL */
	int format;                 /* of a tree or an archive: 1: plain SymCache files, which all
	                             * versions read; 2, or 0: packed */
	const char *delta_from;     /* path of a store or a bundle that whoever gets this one has: entries
	                             * are packed against those that it has of the same files; or NULL */
	bool names_only;            /* of each cache the outermost functions and their ranges alone */
	int level;                  /* of packing: 1 to 19; 0: the default */
	bool estimate;              /* how large would it be? Nothing is written, `path` is not used */
	bool name_hash;             /* the hash of the manifest becomes a part of the name */
	void (*missing)(void *ctx, const struct symstore_id *id); /* the store does not have it */
	void (*damaged)(void *ctx, const char *why);
	symbundle_progress_fn *hashing, *writing;
	void *ctx;
};

struct symbundle_exported {
	uint64_t exported, bytes;   /* of caches */
	uint64_t bundle_bytes;      /* an estimate: of the bundle; of an archive nearly so */
	uint64_t deltas;            /* of them those that are packed against another one */
	uint64_t as_before, missing, damaged;
	char hash[SC_HASH_TEXT]; /* XXH3-128 of the manifest */
};

/*
 * Writes a bundle next to `path` (NAME-HASH.store for NAME.store, if that is wanted), then
 * renames it; a store and a tree must not be there
 * yet. Killed, it may leave PATH.part behind, which the next try replaces. Entries that
 * are missing or damaged are counted; the others are in the bundle. SC_ENOTFOUND: none is
 * chosen, also not by the bundle before: nothing is written; SC_ELIMIT: the manifest would
 * be above 64 MB; SC_EINVAL: `path`
 * exists, or a key is not one; SC_EFORMAT, SC_EUNSUPPORTED: `since`; SC_EFULL, SC_ESYS,
 * SC_ENOMEM. The same entries give the same bytes.
 */
int symbundle_export(struct symstore_reader *reader, const char *path, enum symbundle_shape shape,
		     const struct symbundle_export_options *options,
		     struct symbundle_exported *ret, struct sc_error *err);

/* ---- reading ---------------------------------------------------------------------- */

/* How long a web server may take. 0: what is said here. */
struct symbundle_web {
	int patience;               /* seconds in which it sends nothing, or less than 4 KiB: 10 */
	int most_seconds;           /* for a file: 3600 */
};

/* Is it http://… or https://…, a tree on a web server? */
bool symbundle_is_url(const char *path);
/* The path or URL for messages, on the heap: without the user and password. NULL: out of memory. */
char *symbundle_shown(const char *path);

struct symbundle_reader {
	struct symbundle_web web;
	const char *verify_key;     /* path of the Ed25519 public key (PEM) that must have signed
	                             * the manifest, or NULL */
	/* The entries of these build IDs, sorted by symstore_ids_sort(); NULL: all. Of a tree in parts,
	 * nothing else is read. */
	const struct symstore_id *ids;
	size_t num_ids;
	const struct symstore_selection *choose; /* of them those that it fits; NULL: all */
	/* The bundle does not have it. */
	void (*missing)(void *ctx, const struct symstore_id *id);
	/* True: its cache need not be read. Of a tree in parts only. */
	bool (*has)(void *ctx, const struct symstore_entry *entry);
	/* The store with the entries that others are packed against; NULL: there is none. */
	struct symstore *(*old_store)(void *ctx);
	/* Called before entry() is with what was packed in one file: those bytes are in block[0, size),
	 * which the callee has to free(), not before it was called for the last of them. Or NULL. An
	 * error ends the reading, and the block is not the callee's. */
	int (*take)(void *ctx, void *block, size_t size, struct sc_error *err);
	/* Called for each valid cache; the bytes live until it returns, or as take() says. The record is
	 * the manifest's. Nonzero ends the reading, which returns it. */
	int (*entry)(void *ctx, const struct symstore_entry *entry, const void *cache, size_t size,
		     struct sc_error *err);
	/* What is missing, damaged or not in the manifest. */
	void (*fault)(void *ctx, const char *name, const char *why);
	symbundle_progress_fn *progress;
	void *ctx;
};

/*
 * Reads a bundle, a tree of SymCache files without a manifest, any store, or the tree in parts on a
 * web server: `path` is its URL. Each cache is
 * compared with the manifest and checked by the rules of its format, packed ones on all cores;
 * in memory are 64 MB of caches, or one file of the bundle. Build ID and kinds of symbols are what the cache itself says. An error is what
 * prevents all reading; SC_EFORMAT also: not signed, although verify_key asks for it.
 */
int symbundle_read(const char *path, const struct symbundle_reader *reader, struct sc_error *err);

/* Is there a bundle with a manifest at `path`, or any store? Of which shape? As far as its
 * beginning says. */
bool symbundle_is_one(const char *path, enum symbundle_shape *ret);

struct symbundle_import_options {
	/* Opens the store when the first valid cache comes: a bundle that is refused makes none. */
	int (*open_store)(void *ctx, struct symstore **ret, struct sc_error *err);
	/* Is it there, so that it may have entries that others are packed against? NULL: yes. */
	bool (*has_store)(void *ctx);
	const char *verify_key;     /* as above */
	/* As in struct symbundle_reader. */
	const struct symstore_id *ids;
	size_t num_ids;
	const struct symstore_selection *choose;
	void (*missing)(void *ctx, const struct symstore_id *id);
	struct symbundle_web web;
	const char *tags;           /* put on what is imported, in addition to its own; or NULL */
	bool no_replace;            /* nothing takes the place of what the store has */
	bool packed;                /* what is imported is stored packed: symstore_write_packed() */
	void (*fault)(void *ctx, const char *name, const char *why);
	/* Other bytes than the store has, equally good: what was indexed later stays; `taken`:
	 * the one imported. */
	void (*conflict)(void *ctx, const struct symstore_entry *entry, bool taken);
	/* `entry`, of better symbols, takes the place of the store's `old` of another file. */
	void (*replaced)(void *ctx, const struct symstore_entry *entry,
			 const struct symstore_entry *old);
	symbundle_progress_fn *progress;
	void *ctx;
};

struct symbundle_imported {
	uint64_t imported, unchanged; /* unchanged: the store has the same bytes */
	uint64_t better_in_store, conflicts, bad;
	uint64_t kept;                /* pinned in the store, or for options.no_replace */
};

/*
 * Merges a bundle into *store; where that is NULL, options->open_store() sets it, and the
 * caller closes it. Better symbols win, by the order in format/store.md; tags are united, but
 * for SYMSTORE_PINNED of the bundle; a time in the future becomes now. It commits every 64 MB,
 * so that a run which was interrupted can be repeated. Adds to *ret what was committed, also
 * on an error. As symbundle_read() and symstore_commit().
 */
int symbundle_import(struct symstore **store, const char *path,
		     const struct symbundle_import_options *options,
		     struct symbundle_imported *ret, struct sc_error *err);

#endif
