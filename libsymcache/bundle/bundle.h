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
	/* Only the entries of these build IDs, sorted by symstore_ids_sort(); NULL: all. */
	const struct symstore_id *ids;
	size_t num_ids;
	const struct symstore_selection *choose; /* and only those that match this; NULL: all */
	const char *since;          /* path of an earlier bundle or its manifest: entries that it
	                             * has with the same bytes and tags are left out; or NULL */
	const char *sign_key;       /* path of an Ed25519 private key (PEM), or NULL */
	int format;                 /* of a tree or an archive: 1: plain SymCache files, which all
	                             * versions can read; 2, or 0: packed */
	const char *delta_from;     /* path of a store or bundle that the receiver has, too:
	                             * entries are packed against its entries of the same files; or
	                             * NULL */
	bool names_only;            /* of each cache only the outermost functions and their ranges */
	int level;                  /* of packing: 1 to 19; 0: the default */
	bool estimate;              /* only compute the size; `path` is not used */
	bool name_hash;             /* put the hash of the manifest into the name */
	void (*missing)(void *ctx, const struct symstore_id *id); /* the store does not have it */
	void (*damaged)(void *ctx, const char *why);
	symbundle_progress_fn *hashing, *writing;
	void *ctx;
};

struct symbundle_exported {
	uint64_t exported, bytes;   /* entries, and bytes of their caches */
	uint64_t bundle_bytes;      /* with `estimate`: size of the bundle; of an archive nearly */
	uint64_t deltas;            /* exported entries that are packed against another one */
	uint64_t as_before, missing, damaged;
	char hash[SC_HASH_TEXT]; /* XXH3-128 of the manifest */
};

/*
 * Writes a bundle as PATH.part, then renames it (with `name_hash`, NAME.store becomes
 * NAME-HASH.store). A store must not exist yet; a packed tree that exists gets what is new. If the
 * process is killed, PATH.part may stay, and the next run replaces it. Entries that are missing or
 * damaged are counted; the others are in the bundle. The same entries give the same bytes.
 * SC_ENOTFOUND: no entry is selected, and none was left out because of `since`: nothing is written;
 * SC_ELIMIT: the manifest would exceed 64 MB; SC_EINVAL: `path` exists, or the key is not one;
 * SC_EFORMAT, SC_EUNSUPPORTED: `since` cannot be read; SC_EFULL, SC_ESYS, SC_ENOMEM.
 */
int symbundle_export(struct symstore_reader *reader, const char *path, enum symbundle_shape shape,
		     const struct symbundle_export_options *options,
		     struct symbundle_exported *ret, struct sc_error *err);

/* ---- reading ---------------------------------------------------------------------- */

/* How long to wait for a web server. */
struct symbundle_web {
	int patience;               /* seconds in which it sends less than 4 KiB; 0: 10 */
	int most_seconds;           /* for one file; 0: 3600 */
};

/* Does it begin with http:// or https://, so that it is a tree on a web server? */
bool symbundle_is_url(const char *path);
/* The path or URL for messages, on the heap, without user and password. NULL: out of memory. */
char *symbundle_shown(const char *path);

struct symbundle_reader {
	struct symbundle_web web;
	const char *verify_key;     /* path of the Ed25519 public key (PEM) that must have signed
	                             * the manifest, or NULL */
	/* Only the entries of these build IDs, sorted by symstore_ids_sort(); NULL: all. Of a tree
	 * in parts, nothing else is read. */
	const struct symstore_id *ids;
	size_t num_ids;
	const struct symstore_selection *choose; /* and only those that match this; NULL: all */
	/* The bundle does not have this build ID. */
	void (*missing)(void *ctx, const struct symstore_id *id);
	/* Need the cache of this entry not be read? Only called for trees in parts. */
	bool (*has)(void *ctx, const struct symstore_entry *entry);
	/* The store with the entries that others are packed against; NULL: there is none. */
	struct symstore *(*old_store)(void *ctx);
	/* Hands over block[0, size), the unpacked bytes of one file, before entry() is called for
	 * the caches in it. The callee must free() the block, after the last of these calls. On an
	 * error, which ends the reading, it must not. NULL: entry() copies what it keeps. */
	int (*take)(void *ctx, void *block, size_t size, struct sc_error *err);
	/* Called for each valid cache, with the record of the manifest. The bytes live until it
	 * returns, or as long as the block of take(). Nonzero ends the reading, and is returned. */
	int (*entry)(void *ctx, const struct symstore_entry *entry, const void *cache, size_t size,
		     struct sc_error *err);
	/* Something is missing, damaged or not in the manifest. */
	void (*fault)(void *ctx, const char *name, const char *why);
	symbundle_progress_fn *progress;
	void *ctx;
};

/*
 * Reads a bundle, a tree of SymCache files without a manifest, any store, or a tree in parts on a
 * web server, whose URL is `path`. Each cache is compared with the manifest and checked by the
 * rules of its format, packed ones on all cores. The build ID and the kinds of symbols are those of
 * the cache itself. Memory: 64 MB of caches, or one file of the bundle. Returns an error if nothing
 * can be read; SC_EFORMAT also: not signed by verify_key.
 */
int symbundle_read(const char *path, const struct symbundle_reader *reader, struct sc_error *err);

/* Does `path` look like a bundle with a manifest, or like a store, by its first bytes? Sets *ret to
 * its shape. */
bool symbundle_is_one(const char *path, enum symbundle_shape *ret);

struct symbundle_import_options {
	/* Opens the store, for the first valid cache: a bundle that is refused must not
	 * create one. */
	int (*open_store)(void *ctx, struct symstore **ret, struct sc_error *err);
	/* Does the store exist, so that it may have entries that others are packed against? NULL:
	 * yes. */
	bool (*has_store)(void *ctx);
	const char *verify_key;     /* as above */
	/* As in struct symbundle_reader. */
	const struct symstore_id *ids;
	size_t num_ids;
	const struct symstore_selection *choose;
	void (*missing)(void *ctx, const struct symstore_id *id);
	struct symbundle_web web;
	const char *tags;           /* added to those of the imported entries; or NULL */
	bool no_replace;            /* replace no entry of the store */
	bool packed;                /* store the caches packed: symstore_write_packed() */
	void (*fault)(void *ctx, const char *name, const char *why);
	/* The store's cache of this build ID differs, and is equally good: the one that was indexed
	 * later is kept; `taken`: that is the imported one. */
	void (*conflict)(void *ctx, const struct symstore_entry *entry, bool taken);
	/* `entry` has better symbols, and replaces the store's `old`, which is of another file. */
	void (*replaced)(void *ctx, const struct symstore_entry *entry,
			 const struct symstore_entry *old);
	symbundle_progress_fn *progress;
	void *ctx;
};

struct symbundle_imported {
	uint64_t imported, unchanged; /* unchanged: the store has the same bytes */
	uint64_t better_in_store, conflicts, bad;
	uint64_t kept;                /* entries of the store: pinned, or because of no_replace */
};

/*
 * Merges a bundle into *store; if that is NULL, options->open_store() sets it, and the
 * caller closes it. Better symbols win, by the order in format/store.md; tags are united, except
 * for SYMSTORE_PINNED of the bundle; a time in the future becomes now. Commits every 64 MB,
 * so that an interrupted run can be repeated. Adds to *ret what was committed, also
 * on an error. Errors as symbundle_read() and symstore_commit().
 */
int symbundle_import(struct symstore **store, const char *path,
		     const struct symbundle_import_options *options,
		     struct symbundle_imported *ret, struct sc_error *err);

#endif
