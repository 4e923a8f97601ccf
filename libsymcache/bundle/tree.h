/*
 * tree.h: trees in parts, for web servers and object stores (format/store.md): a folder of files
 * whose names say what is in them, so that none is ever changed, but for the manifest, which lists
 * the parts.
 *
 *   manifest.json                     the names of the parts
 *   parts/HASH.sig                    the signature of the manifest with this SHA-256
 *   parts/PREFIX-HASH.json            entries whose build IDs begin with these digits; its SHA-256
 *   ab/cdef….HASH.packed              a cache by its build ID; the XXH3-128 of its bytes
 *
 * A look-up takes the manifest, a part and a cache.
 */
#ifndef BUNDLE_TREE_H
#define BUNDLE_TREE_H

#include "libsymcache/bundle/reading.h"
#include "libsymcache/bundle/write.h"

enum {
	TREE_VERSION = 3,      /* of the manifest */
	TREE_PART_ENTRIES = 512,  /* of a part, unless more begin with TREE_NIBBLES digits alike */
	TREE_NIBBLES = 16,
	TREE_SHA256 = 32,
};

struct tree_part {
	char prefix[TREE_NIBBLES + 1]; /* hex digits, at least one */
	uint8_t sha256[TREE_SHA256];   /* of its text */
};

/* The manifest of a tree in parts. */
struct tree_top {
	struct tree_part *data;  /* by their prefixes, of which none begins another */
	size_t len, cap;
	uint64_t entries;
};

/* Is it the text of such a manifest? Decided by its first bytes. */
bool tree_begins(const char *text, size_t len);

/* Reads it: any bytes will do. tree_top_deinit() it. SC_EFORMAT; SC_EUNSUPPORTED: of a later
 * version; SC_ENOMEM. */
int tree_top_read(struct tree_top *top, const char *text, size_t len, struct sc_error *err);
void tree_top_deinit(struct tree_top *top);

/* The text, on the heap, with a NUL behind its *len bytes. SC_ELIMIT: above MANIFEST_MAX;
 * SC_ENOMEM. */
int tree_top_write(const struct tree_top *top, char **ret, size_t *len, struct sc_error *err);

/* The part that has the build ID, if the tree does; or NULL. */
const struct tree_part *tree_part_of(const struct tree_top *top, const uint8_t *id, size_t len);

/* Do the first digits of the build ID, with zeros behind it, say that it is in this part? */
bool tree_part_fits(const struct tree_part *part, const uint8_t *id, size_t len);

/* Is this the text of the part? SC_EFORMAT: it is another one. */
int tree_part_check(const struct tree_part *part, const char *text, size_t len,
		    struct sc_error *err);

/* Reads "PREFIX-HASH". False: it is something else. */
bool tree_part_parse(const char *text, size_t len, struct tree_part *ret);

/* Names of files in it; return `name`. */
enum { TREE_NAME = 2 * TREE_SHA256 + TREE_NIBBLES + 32 };
const char *tree_part_name(const struct tree_part *part, char name[TREE_NAME]);
const char *tree_signature_name(const char *top, size_t len, char name[TREE_NAME]);

/* ---- reading (tree_read.c) ---- */

/* Where files of a tree come from: a folder or a server. */
struct tree_source {
	/* A file of at most `max` bytes, by its name in the tree. SC_ENOTFOUND: it is not there;
	 * SC_EFORMAT: something is wrong with it alone; else there is no use in going on. */
	int (*read)(void *ctx, const char *name, size_t max, struct bundle_file *f,
		    struct sc_error *err);
	void *ctx;
};

/* The files of a folder; `folder` is its path. */
int tree_read_file(void *folder, const char *name, size_t max, struct bundle_file *f,
		   struct sc_error *err);

/* The files of a web server (tree_web.c). Errors but SC_ENOMEM name it. */
struct tree_web {
	struct web *web;
	char *url, *shown;
};
/* SC_ENOMEM. `web` is the caller's. tree_web_close() it, also on an error. */
int tree_web_open(const char *url, struct tree_web *ret, struct sc_error *err);
void tree_web_close(struct tree_web *w);
int tree_read_web(void *tree_web, const char *name, size_t max, struct bundle_file *f,
		  struct sc_error *err);

/* No packed cache of this entry is larger. */
static inline size_t tree_cache_max(const struct manifest_entry *e)
{
	const uint64_t size = e->entry.cache_size < MAX_CACHE ? e->entry.cache_size : MAX_CACHE;

	return size + size / 8 + 65536;
}

/* Reads what the manifest lists, if `verify_key` (or NULL) has signed it. */
int tree_top_take(const struct tree_source *from, const char *verify_key, const char *text,
		  size_t len, struct tree_top *ret, struct sc_error *err);

/* The text of a part, checked. Errors as of from->read(). */
int tree_read_part(const struct tree_source *from, const struct tree_part *part,
		   struct bundle_file *f, struct sc_error *err);

/* Gives what the tree of this manifest lists, as far as b->r asks for it; what is not there, or
 * bad, is a fault. */
int tree_give(struct bundle_reading *b, const struct tree_source *from,
	      const struct bundle_file *manifest, struct sc_error *err);

/* The entries of all parts of the tree in a folder, sorted, which `m`, all zero, has also after an
 * error; on all cores. */
int tree_read_manifest(const struct tree_top *top, const char *folder, struct manifest *m,
		       struct sc_error *err);

/* ---- writing (tree_state.c, tree_write.c) ---- */

/* What a tree has, so that it can be added to. All zero but for `dir` -1: there is none yet. */
struct tree_state {
	int dir;                      /* the folder, locked; or -1 */
	struct bundle_file text;      /* of the manifest */
	struct tree_top top;
	struct manifest entries;      /* of all parts, sorted */
	bool deltas;                  /* what is packed against another entry will do */
};

/* Reads the tree at `path`, when no one else writes to it; of a folder that is not there, or empty,
 * nothing. tree_state_deinit() it, also on an error. SC_EINVAL: something else is there;
 * SC_EFORMAT: damaged. */
int tree_state_read(const char *path, struct tree_state *ret, struct sc_error *err);
void tree_state_deinit(struct tree_state *state);

/* Waits until no other process writes the tree. File systems without locks are no reason to write
 * nothing. */
void tree_lock(int dir);

/* Has the tree what the store has, with its tags and names, or something better? */
bool tree_state_has(const struct tree_state *state, const struct symstore_entry *entry);

/* The bytes of the files that tree_write() wrote, or would; and the hash of the manifest. */
struct tree_written {
	uint64_t bytes;
	char hash[33]; /* XXH3-128 in hex digits */
};

/*
 * Adds the entries of `fresh`, which are sorted and have SHA-256 hashes, to the tree at `path`,
 * of which `state` is; with path NULL it only counts. The manifest is replaced when all that it
 * names is on the disk. Parts that neither it nor the one before it names are removed. `state` and
 * `fresh` are only to be deinitialised after it. Of `how`, the manifest is not used. SC_EFULL,
 * SC_ESYS, SC_ELIMIT, SC_ENOMEM.
 */
int tree_write(const char *path, struct tree_state *state, struct manifest *fresh,
	       const struct bundle_source *how, struct tree_written *ret, struct sc_error *err);

#endif
