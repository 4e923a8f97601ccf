/*
 * Writing bundles: see bundle.h. The manifest goes first into an archive, so that
 * it can be checked as a stream. Cost: the caches are read twice, once for their
 * hashes.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/progress.h"
#include "cmd/store/bundle.h"
#include "cmd/store/sign.h"
#include "symcache/archive.h"

enum {
	LEVEL = 3,                /* of zstd: 6 takes twice as long for 8 % less */
	BATCH_BYTES = 256 << 20,  /* of a store, in one commit */
};

enum bundle_shape bundle_shape_of(const char *path)
{
	static const struct { const char *end; enum bundle_shape shape; } ends[] = {
		{ ".store", BUNDLE_STORE }, { ".tar.zst", BUNDLE_ARCHIVE }, { ".tzst", BUNDLE_ARCHIVE },
	};
	size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (len > strlen(ends[i].end) && !strcmp(path + len - strlen(ends[i].end), ends[i].end))
			return ends[i].shape;
	return BUNDLE_TREE;
}

static int get_cache(const struct bundle_source *s, size_t i, const void **data, size_t *size,
		     struct sc_error *err)
{
	const struct symstore_entry *e = &s->manifest->entries[i].entry;

	progress_update(s->progress, i, s->manifest->num, e->source_path);
	return symstore_get(s->reader, e->build_id, e->build_id_len, data, size, err);
}

/* ---- an archive --------------------------------------------------------------- */

static int write_members(struct symarchive_writer *w, const struct bundle_source *s,
			 struct sc_error *err)
{
	char name[BUNDLE_NAME];
	const void *data;
	size_t size;
	int rc = symarchive_add(w, MANIFEST_NAME, s->text, strlen(s->text), 0, err);

	if (!rc && s->signature)
		rc = symarchive_add(w, SIGNATURE_NAME, s->signature, SIGNATURE_SIZE, 0, err);
	for (size_t i = 0; i < s->manifest->num && !rc; i++) {
		const struct symstore_entry *e = &s->manifest->entries[i].entry;

		if (!(rc = get_cache(s, i, &data, &size, err)))
			rc = symarchive_add(w, bundle_name(e, name), data, size, e->time, err);
	}
	return rc;
}

static int write_archive(const char *part, const struct bundle_source *s, struct sc_error *err)
{
	int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	struct symarchive_writer *w;
	int rc = fd < 0 ? sc_error_sys(err, "cannot write %s", part) :
			  symarchive_create(fd, LEVEL, &w, err);

	if (!rc) {
		rc = write_members(w, s, err);
		if (rc)
			symarchive_abort(w);
		else
			rc = symarchive_finish(w, err);
	}
	if (!rc && fsync(fd))
		rc = sc_error_sys(err, "cannot write %s", part);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* ---- a tree ------------------------------------------------------------------- */

static int write_file(const char *folder, const char *name, const void *data, size_t size,
		      struct sc_error *err)
{
	char *path = must_asprintf("%s/%s", folder, name), *slash = strrchr(path, '/');
	FILE *f;
	int rc = 0;

	*slash = 0;
	if (mkdir(path, 0777) && errno != EEXIST)
		rc = sc_error_sys(err, "cannot make the directory %s", path);
	*slash = '/';
	if (!rc) {
		bool ok;

		f = fopen(path, "wex");
		ok = f && fwrite(data, 1, size, f) == size && !fflush(f) && !fsync(fileno(f));
		if (!ok)
			rc = sc_error_sys(err, "cannot write %s", path);
		if (f)
			fclose(f);
	}
	free(path);
	return rc;
}

static int write_tree(const char *part, const struct bundle_source *s, struct sc_error *err)
{
	char name[BUNDLE_NAME];
	const void *data;
	size_t size;
	int rc = 0;

	if (mkdir(part, 0777))
		return sc_error_sys(err, "cannot make the directory %s", part);
	for (size_t i = 0; i < s->manifest->num && !rc; i++)
		if (!(rc = get_cache(s, i, &data, &size, err)))
			rc = write_file(part, bundle_name(&s->manifest->entries[i].entry, name), data,
					size, err);
	if (!rc && s->signature)
		rc = write_file(part, SIGNATURE_NAME, s->signature, SIGNATURE_SIZE, err);
	return rc ? rc : write_file(part, MANIFEST_NAME, s->text, strlen(s->text), err);
}

/* ---- a store ------------------------------------------------------------------ */

struct blob {
	const void *data;
	size_t size;
};

static void fill(void *ctx, void *dst)
{
	const struct blob *b = ctx;

	memcpy(dst, b->data, b->size);
}

/* Puts entries from *next on, until a commit is large enough; the last commit has
 * the manifest, too. */
static int write_batch(struct symstore *store, const struct bundle_source *s, struct blob *blobs,
		       size_t *next, struct sc_error *err)
{
	struct symstore_writer *w;
	uint64_t bytes = 0;
	int rc = symstore_write_begin(store, &w, err);

	if (rc)
		return rc;
	for (; *next < s->manifest->num && bytes < BATCH_BYTES && !rc; (*next)++) {
		struct blob *b = &blobs[*next];

		if (!(rc = get_cache(s, *next, &b->data, &b->size, err)))
			rc = symstore_put(w, &s->manifest->entries[*next].entry, fill, b, NULL, err);
		bytes += b->size;
	}
	if (!rc && *next == s->manifest->num) {
		rc = symstore_note(w, MANIFEST_NAME, s->text, strlen(s->text), err);
		if (!rc && s->signature)
			rc = symstore_note(w, SIGNATURE_NAME, s->signature, SIGNATURE_SIZE, err);
	}
	if (!rc)
		return symstore_commit(w, err);
	symstore_abort(w);
	return rc;
}

static int write_store(const char *part, const struct bundle_source *s, struct sc_error *err)
{
	struct blob *blobs = must_calloc(s->manifest->num + 1, sizeof(*blobs));
	char *lock = must_asprintf("%s-lock", part);
	uint64_t before, after;
	struct symstore *store;
	size_t next = 0;
	int rc = symstore_open(part, SYMSTORE_WRITE, &store, err);

	do
		rc = rc ? rc : write_batch(store, s, blobs, &next, err);
	while (!rc && next < s->manifest->num);
	symstore_close(store);
	if (!rc)
		rc = symstore_compact(part, &before, &after, err);
	unlink(lock);
	free(lock);
	free(blobs);
	return rc;
}

/* ---- any ------------------------------------------------------------------------ */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static void remove_part(const char *part)
{
	nftw(part, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int bundle_write(const char *path, enum bundle_shape shape, const struct bundle_source *source,
		 struct sc_error *err)
{
	static int (*const writers[])(const char *, const struct bundle_source *, struct sc_error *) = {
		[BUNDLE_STORE] = write_store, [BUNDLE_TREE] = write_tree,
		[BUNDLE_ARCHIVE] = write_archive,
	};
	size_t len = strlen(path);
	struct stat st;
	char *part;
	int rc;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (shape != BUNDLE_ARCHIVE && !lstat(path, &st))
		return sc_error_set(err, SC_EINVAL, "%s is there already", path);
	part = must_asprintf("%.*s.part", (int)len, path);
	remove_part(part);
	rc = writers[shape](part, source, err);
	if (!rc && rename(part, path))
		rc = sc_error_sys(err, "cannot rename %s to %s", part, path);
	if (rc)
		remove_part(part);
	free(part);
	return rc;
}
