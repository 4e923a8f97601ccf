/*
 * Writing bundles: see write.h. The manifest goes first into an archive, so that
 * it can be checked as a stream. Cost: the caches are read twice, once for their
 * hashes.
 */
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/archive/archive.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/text.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/bundle/sign.h"
#include "libsymcache/bundle/write.h"
#include "libsymcache/base/vec.h"

enum {
	LEVEL = 3,                /* of zstd: 6 takes twice as long for 8 % less */
	BATCH_BYTES = 256 << 20,  /* of a store, in one commit */
};

/* The end of the name that says what it is, "" if none does; and what it says. */
static const char *find_end(const char *path, enum symbundle_shape *shape)
{
	static const struct { const char *end; enum symbundle_shape shape; } ends[] = {
		{ ".store", SYMBUNDLE_STORE }, { ".tar.zst", SYMBUNDLE_ARCHIVE }, { ".tzst", SYMBUNDLE_ARCHIVE },
	};
	const size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *end = path + len - strlen(ends[i].end);

		*shape = ends[i].shape;
		if (len > strlen(ends[i].end) && !strcmp(end, ends[i].end))
			return end;
	}
	*shape = SYMBUNDLE_TREE;
	return path + len;
}

enum symbundle_shape symbundle_shape_of(const char *path)
{
	enum symbundle_shape shape;

	find_end(path, &shape);
	return shape;
}

char *bundle_name_with(const char *path, const char *hash)
{
	enum symbundle_shape shape;
	const char *end = find_end(path, &shape);

	while (shape == SYMBUNDLE_TREE && end > path + 1 && end[-1] == '/')
		end--;
	return sc_text("%.*s-%s%s", (int)(end - path), path, hash, end);
}

/* Puts each file that has caches. */
static int put_caches(const struct bundle_source *s, groups_put_fn *put, void *ctx,
		      struct sc_error *err)
{
	char name[BUNDLE_NAME];
	struct bundle_cache cache;
	int rc = 0;

	if (s->manifest->packed)
		return groups_write(s, put, ctx, err);
	for (size_t i = 0; i < s->manifest->len && !rc; i++) {
		const struct symstore_entry *e = &s->manifest->data[i].entry;

		if (!(rc = bundle_source_cache(s, i, &cache, err)))
			rc = put(ctx, bundle_name(e, name), cache.data, cache.size, e->time, err);
		free(cache.made);
		symstore_let_go(s->reader);
	}
	return rc;
}

/* ---- an archive --------------------------------------------------------------- */

static int put_member(void *w, const char *name, const void *data, size_t size, int64_t time,
		      struct sc_error *err)
{
	return symarchive_add(w, name, data, size, time, err);
}

static int write_members(struct symarchive_writer *w, const struct bundle_source *s,
			 struct sc_error *err)
{
	int rc = symarchive_add(w, SYMBUNDLE_MANIFEST, s->text, s->text_len, 0, err);

	if (!rc && s->signature)
		rc = symarchive_add(w, SIGNATURE_NAME, s->signature, SIGNATURE_SIZE, 0, err);
	return rc ? rc : put_caches(s, put_member, w, err);
}

static int write_archive(const char *part, const struct bundle_source *s, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0664);
	struct symarchive_writer *w;
	int rc = fd < 0 ? sc_error_sys(err, "cannot write %s", part) :
			  symarchive_create(fd, LEVEL, &w, err);

	if (rc)
		return rc;
	if ((rc = write_members(w, s, err)))
		symarchive_abort(w);
	else
		rc = symarchive_finish(w, err);
	if (rc)
		return sc_error_prefix(err, "%s: ", part);
	return fsync(fd) ? sc_error_sys(err, "cannot write %s", part) : rc;
}

/* ---- a tree ------------------------------------------------------------------- */

static int write_file(const char *folder, const char *name, const void *data, size_t size,
		      struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = sc_text("%s/%s", folder, name);
	int rc = path ? sc_make_parents(path, err) : sc_no_memory(err);

	return rc ? rc : sc_replace_file(path, data, size, err);
}

static int put_file(void *folder, const char *name, const void *data, size_t size, int64_t time,
		    struct sc_error *err)
{
	(void)time;
	return write_file(folder, name, data, size, err);
}

static int write_tree(const char *part, const struct bundle_source *s, struct sc_error *err)
{
	int rc;

	if (mkdir(part, 0775))
		return sc_error_sys(err, "cannot make the directory %s", part);
	rc = put_caches(s, put_file, (void *)part, err);
	if (!rc && s->signature)
		rc = write_file(part, SIGNATURE_NAME, s->signature, SIGNATURE_SIZE, err);
	return rc ? rc : write_file(part, SYMBUNDLE_MANIFEST, s->text, s->text_len, err);
}

/* ---- a store ------------------------------------------------------------------ */

/* Puts entries from *next on, until a commit is large enough; the last commit has
 * the manifest, too. */
static int write_batch(struct symstore *store, const struct bundle_source *s, size_t *next,
		       struct sc_error *err)
{
	VEC(void *) made = { 0 }; /* until they are written */
	struct symstore_writer *w;
	struct bundle_cache cache;
	uint64_t bytes = 0;
	int rc = symstore_write_begin(store, &w, err);

	if (rc)
		return rc;
	for (; *next < s->manifest->len && bytes < BATCH_BYTES && !rc; (*next)++) {
		const struct symstore_entry *e = &s->manifest->data[*next].entry;
		void **kept = vec_push(&made);

		rc = kept ? bundle_source_cache(s, *next, &cache, err) : sc_no_memory(err);
		if (kept)
			*kept = cache.made;
		symstore_write_packed(w, e->packed_size ? s->level : 0);
		if (!rc)
			rc = symstore_put(w, e, NULL, (void *)cache.data, NULL, err);
		bytes += e->cache_size;
	}
	if (!rc && *next == s->manifest->len) {
		rc = symstore_note(w, SYMBUNDLE_MANIFEST, s->text, s->text_len, err);
		if (!rc && s->signature)
			rc = symstore_note(w, SIGNATURE_NAME, s->signature, SIGNATURE_SIZE, err);
	}
	rc = symstore_end(w, rc, err);
	for (size_t i = 0; i < made.len; i++)
		free(made.data[i]);
	vec_deinit(&made);
	symstore_let_go(s->reader);
	return rc;
}

static int write_store(const char *part, const struct bundle_source *s, struct sc_error *err)
{
	char *lock __attribute__((cleanup(sc_free_text))) = sc_text("%s-lock", part);
	struct symstore *store = NULL;
	uint64_t before, after;
	size_t next = 0;
	int rc = lock ? symstore_open(part, SYMSTORE_WRITE, &store, err) : sc_no_memory(err);

	do
		rc = rc ? rc : write_batch(store, s, &next, err);
	while (!rc && next < s->manifest->len);
	symstore_close(store);
	if (!rc)
		rc = symstore_compact(part, &before, &after, err);
	if (lock)
		unlink(lock);
	return rc;
}

/* ---- any ------------------------------------------------------------------------ */

void bundle_remove_part(const char *part)
{
	FTS *fts = fts_open((char *[]){ (char *)part, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *at;

	while (fts && (at = fts_read(fts)))
		if (at->fts_info != FTS_D)
			remove(at->fts_path);
	if (fts)
		fts_close(fts);
}

int bundle_write(const char *path, enum symbundle_shape shape, const struct bundle_source *source,
		 struct sc_error *err)
{
	static int (*const writers[])(const char *, const struct bundle_source *,
				      struct sc_error *) = {
		[SYMBUNDLE_STORE] = write_store,
		[SYMBUNDLE_TREE] = write_tree,
		[SYMBUNDLE_ARCHIVE] = write_archive,
	};
	char *part __attribute__((cleanup(sc_free_text))) = NULL;
	size_t len = strlen(path);
	struct stat st;
	int rc;

	while (len > 1 && path[len - 1] == '/')
		len--;
	if (shape != SYMBUNDLE_ARCHIVE && !lstat(path, &st))
		return sc_error_set(err, SC_EINVAL, "%s already exists", path);
	part = sc_text("%.*s.part", (int)len, path);
	if (!part)
		return sc_no_memory(err);
	bundle_remove_part(part);
	rc = writers[shape](part, source, err);
	if (!rc && rename(part, path))
		rc = sc_error_sys(err, "cannot rename %s to %s", part, path);
	if (rc)
		bundle_remove_part(part);
	return rc;
}
