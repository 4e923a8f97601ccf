/* reading.h: what reading a bundle of any shape shares; see bundle.h. */
#ifndef BUNDLE_READING_H
#define BUNDLE_READING_H

#include "libsymcache/bundle/manifest.h"

enum {
	MAX_SIGNATURE = 4096,
	MAX_CACHE = 0x7fb00000,   /* the store takes no more */
};

struct bundle_bytes {
	const void *data;
	size_t size;
};

struct bundle_file {
	char *data; /* 8-aligned */
	size_t len, cap;
};

struct bundle_batch; /* groups_read.c */

struct bundle_reading {
	const struct symbundle_reader *r;
	struct manifest manifest;
	bool has_manifest, *seen; /* by entries of the manifest */
	bool *found;              /* by r->ids */
	uint64_t done, total;
	bool named;               /* an error says already which file it is about */
	struct bundle_batch *batch; /* packed files that are not given yet; or NULL */
};

/* Takes the manifest (text NULL: there is none), if it is signed as is asked. */
int bundle_begin(struct bundle_reading *b, const void *text, size_t size, const void *signature,
		 size_t signature_size, struct sc_error *err);

/* Is the manifest (text NULL: there is none) signed by that key? NULL: it need not be. */
int bundle_verify(const char *key, const void *text, size_t size, const void *signature,
		  size_t signature_size, struct sc_error *err);

/* Takes a manifest, in place of the one before. */
int bundle_list(struct bundle_reading *b, const void *text, size_t size, struct sc_error *err);

/* Is the entry one of those that are asked for? */
bool bundle_wanted(struct bundle_reading *b, const struct symstore_entry *entry);

/* Has the one who asks it already, by what the manifest says of it? */
bool bundle_is_had(struct bundle_reading *b, const struct symstore_entry *entry);

/* Reports what is wrong with a part of the bundle, by its name. */
void bundle_fault(struct bundle_reading *b, const char *name, const char *why);

/* The same of an error; one for lack of memory is no fault of the bundle's: SC_ENOMEM. */
int bundle_unread(struct bundle_reading *b, const char *name, const struct sc_error *why,
		  struct sc_error *err);

/* What was found out of a cache. */
struct bundle_checked {
	struct bundle_bytes cache;
	struct symstore_entry entry; /* its record */
	struct sc_error why;         /* why it is not taken */
};

/* Is a cache valid, and as it is listed; or (NULL), what does it, or the name of its file, say it
 * is? May run on any thread. */
void bundle_check(const struct manifest_entry *listed, const char *name, struct bundle_bytes cache,
		  struct bundle_checked *ret);

/* Hands it on, or says what is wrong. */
int bundle_hand_on(struct bundle_reading *b, const struct bundle_checked *checked, const char *name,
		   struct sc_error *err);

/* Hands a cache on if it is valid, and as it is listed (or NULL). */
int bundle_give(struct bundle_reading *b, const struct manifest_entry *listed,
		const struct symstore_entry *entry, const char *name, struct bundle_bytes cache,
		struct sc_error *err);

/* The same for a cache without a manifest, by what it or its name says. */
int bundle_give_unlisted(struct bundle_reading *b, const char *name, const void *data, size_t size,
			 struct sc_error *err);

/* At the end: names what the manifest has and the bundle has not. */
void bundle_name_missing(struct bundle_reading *b);

/* A regular file as a whole, copied: who changes it meanwhile does not change what is
 * checked. vec_deinit() it. SC_ESYS; SC_EINVAL: a device, pipe or folder; SC_EFORMAT:
 * above `max` bytes; SC_ENOMEM. */
int bundle_read_file(const char *path, size_t max, struct bundle_file *f, struct sc_error *err);

/* The manifest of a bundle of any shape, or a manifest as a file, sorted. SC_EFORMAT: the
 * bundle has none. */
int bundle_read_manifest(const char *path, struct manifest *m, struct sc_error *err);

/* ---- the shapes ---- */

int bundle_read_web(struct bundle_reading *b, const char *url, struct sc_error *err);
int bundle_read_tree(struct bundle_reading *b, const char *path, struct sc_error *err);
int bundle_read_archive(struct bundle_reading *b, int fd, struct sc_error *err);
/* The first file in it. */
int bundle_manifest_of_archive(int fd, struct bundle_file *f, struct sc_error *err);
int bundle_read_store(struct bundle_reading *b, const char *path, struct sc_error *err);

#endif
