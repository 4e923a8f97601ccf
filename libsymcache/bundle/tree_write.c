/*
 * Entries → a tree in parts: see tree.h. New files are written to the folder .new in the tree; when
 * some have gathered, they are synced, all at once, and put in their places. What a dead process
 * left there is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "libsymcache/base/file.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/bundle/sign.h"
#include "libsymcache/bundle/tree.h"

#define NEW ".new"

enum { STAGE_FILES = 4096, STAGE_BYTES = 1 << 30 };

struct writing {
	int dir;                /* of the tree; -1: files are only counted */
	struct tree_state *state;
	struct tree_written *ret;
	struct tree_top top;    /* the new one */
	VEC(char *) staged;     /* the name of file NEW/0, NEW/1, … */
	uint64_t staged_bytes;
	const struct manifest *packing; /* what groups_write() packs */
	size_t packed;
	char signatures[2][TREE_NAME];  /* of the new manifest and the one before it, as files */
};

/* ---- files ---------------------------------------------------------------------- */

/* Removes the files of a folder of the tree for which `stale` is true, or (NULL) all. */
static void clear_folder(struct writing *w, const char *folder,
			 bool (*stale)(struct writing *w, const char *name))
{
	DIR *dir = sc_folder_entries(openat(w->dir, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
							    O_CLOEXEC));
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (!stale || stale(w, e->d_name))
			unlinkat(dirfd(dir), e->d_name, 0); /* of "." and ".." it is refused */
	if (dir)
		closedir(dir);
}

/* A first export that failed leaves nothing: in a folder that was empty, all that is not hidden is
 * its own. */
static void undo(struct writing *w)
{
	DIR *dir = sc_folder_entries(openat(w->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *e;

	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.') {
			clear_folder(w, e->d_name, NULL);
			if (unlinkat(w->dir, e->d_name, AT_REMOVEDIR))
				unlinkat(w->dir, e->d_name, 0);
		}
	if (dir)
		closedir(dir);
}

static void forget_staged(struct writing *w)
{
	while (w->staged.len)
		free(w->staged.data[--w->staged.len]);
	w->staged_bytes = 0;
}

/* A folder of the tree, which is made; where a link is in its place, no one knows what it
 * leads to. */
static int open_below(const struct writing *w, const char *folder)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	const int fd = openat(w->dir, folder, flags);

	if (fd >= 0 || errno != ENOENT || (mkdirat(w->dir, folder, 0777) && errno != EEXIST))
		return fd;
	return openat(w->dir, folder, flags);
}

static int put_in_place(struct writing *w, size_t i, struct sc_error *err)
{
	const char *name = w->staged.data[i], *slash = strchr(name, '/');
	int below __attribute__((cleanup(sc_close_fd))) = -1;
	char temp[40], folder[8];

	snprintf(temp, sizeof(temp), NEW "/%zu", i);
	if (slash) {
		snprintf(folder, sizeof(folder), "%.*s", (int)(slash - name), name);
		below = open_below(w, folder);
	}
	if ((slash && below < 0) ||
	    renameat(w->dir, temp, slash ? below : w->dir, slash ? slash + 1 : name))
		return sc_error_sys(err, "cannot write %s", name);
	return 0;
}

/* What is staged appears under its name. */
static int publish(struct writing *w, struct sc_error *err)
{
	int rc = 0;

	if (w->staged.len && syncfs(w->dir))
		rc = sc_error_sys(err, "cannot sync");
	for (size_t i = 0; i < w->staged.len && !rc; i++)
		rc = put_in_place(w, i, err);
	forget_staged(w);
	return rc;
}

static int stage(struct writing *w, const char *name, const void *data, size_t size,
		 struct sc_error *err)
{
	char temp[40], **kept;
	int fd, rc = 0;

	w->ret->bytes += size;
	if (w->dir < 0)
		return 0;
	snprintf(temp, sizeof(temp), NEW "/%zu", w->staged.len);
	if (!(kept = vec_push(&w->staged)) || !(*kept = strdup(name)))
		return sc_no_memory(err);
	if (w->staged.len == 1 && mkdirat(w->dir, NEW, 0777) && errno != EEXIST)
		return sc_error_sys(err, "cannot make the directory " NEW);
	fd = openat(w->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (fd < 0 || sc_write_all(fd, data, size))
		rc = sc_error_sys(err, "cannot write %s", name);
	if (fd >= 0)
		close(fd);
	w->staged_bytes += size;
	if (!rc && (w->staged.len == STAGE_FILES || w->staged_bytes >= STAGE_BYTES))
		rc = publish(w, err);
	return rc;
}

/* ---- caches --------------------------------------------------------------------- */

static int put_packed(void *ctx, const char *name, const void *data, size_t size, int64_t time,
		      struct sc_error *err)
{
	struct writing *w = ctx;
	char own[BUNDLE_NAME];

	(void)name, (void)time;
	return stage(w, bundle_hashed_name(&w->packing->data[w->packed++], own), data, size, err);
}

/* Of those whose file is not there: of an earlier try, or with other tags, it may be. */
static int write_caches(struct writing *w, const struct manifest *fresh,
			const struct bundle_source *how, struct sc_error *err)
{
	struct manifest absent = { .packed = true };
	struct bundle_source source = *how;
	char name[BUNDLE_NAME];
	int rc = 0;

	if (!vec_reserve(&absent, fresh->len + 1))
		return sc_no_memory(err);
	for (size_t i = 0; i < fresh->len; i++)
		if (w->dir < 0 ||
		    faccessat(w->dir, bundle_hashed_name(&fresh->data[i], name), F_OK, 0))
			absent.data[absent.len++] = fresh->data[i];
	source.manifest = w->packing = &absent;
	rc = groups_write(&source, put_packed, w, err);
	vec_deinit(&absent); /* strings are those of `fresh` */
	return rc ? rc : publish(w, err);
}

/* The words of both, in place of those of `to`. False: out of memory. */
static bool unite(const char **to, const char *from, char *(*both)(const char *, const char *))
{
	char *all = both(from, *to);

	if (!all)
		return false;
	free((char *)*to);
	*to = all;
	return true;
}

/* Moves the entries of `fresh` to those of the tree, where they replace others of their build
 * IDs. */
static int merge(struct manifest *all, struct manifest *fresh, struct sc_error *err)
{
	const size_t before = all->len;

	if (!vec_reserve(all, fresh->len))
		return sc_no_memory(err);
	for (size_t i = 0; i < fresh->len; i++) {
		const struct manifest known = { all->data, before };
		struct manifest_entry *e = &fresh->data[i], was;
		struct manifest_entry *old = (struct manifest_entry *)
			manifest_find(&known, e->entry.build_id, e->entry.build_id_len);

		if (!old) {
			all->data[all->len++] = *e;
			*e = (struct manifest_entry){ 0 };
			continue;
		}
		if (!unite(&e->entry.tags, old->entry.tags, symstore_tags_unite) ||
		    !unite(&e->entry.names, old->entry.names, symstore_names_unite))
			return sc_no_memory(err);
		was = *old;
		*old = *e;
		*e = was;
	}
	manifest_sort(all);
	return 0;
}

/* ---- parts ---------------------------------------------------------------------- */

static bool has_part(const struct tree_top *top, const struct tree_part *part)
{
	const size_t at = SC_SEARCH(i, top->len, strcmp(top->data[i].prefix, part->prefix) < 0);

	return at < top->len && !strcmp(top->data[at].prefix, part->prefix) &&
	       !memcmp(top->data[at].sha256, part->sha256, TREE_SHA256);
}

static unsigned nibble(const struct manifest_entry *e, unsigned i)
{
	return e->entry.build_id[i / 2] >> (i % 2 ? 0 : 4) & 15;
}

static int put_part(struct writing *w, const struct manifest *m, unsigned nibbles,
		    struct sc_error *err)
{
	char *text __attribute__((cleanup(sc_free_text))) = NULL;
	struct tree_part *part = vec_push(&w->top);
	char name[TREE_NAME];
	size_t len;
	int rc = part ? manifest_write(m, &text, &len, err) : sc_no_memory(err);

	if (rc)
		return rc;
	for (unsigned i = 0; i < nibbles; i++)
		part->prefix[i] = "0123456789abcdef"[nibble(m->data, i)];
	crypto_hash_sha256(part->sha256, (const uint8_t *)text, len);
	return has_part(&w->state->top, part) ? 0 :
	       stage(w, tree_part_name(part, name), text, len, err);
}

/* The parts of sorted entries whose first `nibbles` digits are alike. */
static int put_parts(struct writing *w, const struct manifest *m, unsigned nibbles,
		     struct sc_error *err)
{
	int rc = 0;

	if (nibbles && (m->len <= TREE_PART_ENTRIES || nibbles == TREE_NIBBLES))
		return put_part(w, m, nibbles, err);
	for (size_t at = 0, end; at < m->len && !rc; at = end) {
		const unsigned digit = nibble(&m->data[at], nibbles);

		for (end = at + 1; end < m->len && nibble(&m->data[end], nibbles) == digit; )
			end++;
		rc = put_parts(w, &(struct manifest){ m->data + at, end - at, .packed = true,
						      .hashed = true }, nibbles + 1, err);
	}
	return rc;
}

/* Is a file of parts/ one of an earlier manifest than this one and the one before it? */
static bool is_stale(struct writing *w, const char *file)
{
	const size_t len = strlen(file);
	struct tree_part part;

	if (len > 5 && !strcmp(file + len - 5, ".json") && tree_part_parse(file, len - 5, &part))
		return !has_part(&w->top, &part) && !has_part(&w->state->top, &part);
	return len == strlen(w->signatures[0]) && !strcmp(file + len - 4, ".sig") &&
	       strcmp(file, w->signatures[0]) && strcmp(file, w->signatures[1]);
}

/* ---- all ------------------------------------------------------------------------ */

/* The file name of the signature of a manifest, without its folder. */
static void name_signature(const char *text, size_t len, char name[TREE_NAME])
{
	char whole[TREE_NAME];

	strcpy(name, strchr(tree_signature_name(text, len, whole), '/') + 1);
}

/* One of another key is replaced. */
static int put_signature(struct writing *w, const char *key, const char *text, size_t len,
			 struct sc_error *err)
{
	uint8_t signature[SIGNATURE_SIZE], old[SIGNATURE_SIZE] = { 0 };
	char name[TREE_NAME];
	int fd, rc = key ? sign_bytes(key, text, len, signature, err) : 0;

	if (!key || rc)
		return rc;
	tree_signature_name(text, len, name);
	fd = w->dir < 0 ? -1 : openat(w->dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0) {
		(void)!read(fd, old, sizeof(old)); /* what is not there is no signature */
		close(fd);
	}
	return !memcmp(old, signature, sizeof(old)) ? 0 :
	       stage(w, name, signature, sizeof(signature), err);
}

/* Manifest and parts. */
static int write_top(struct writing *w, const char *key, struct sc_error *err)
{
	const struct manifest all = { w->state->entries.data, w->state->entries.len,
				      .packed = true };
	const struct bundle_file *before = &w->state->text;
	char *text __attribute__((cleanup(sc_free_text))) = NULL;
	size_t len;
	int rc = put_parts(w, &all, 0, err);

	w->top.entries = all.len;
	if (!rc)
		rc = tree_top_write(&w->top, &text, &len, err);
	if (!rc)
		rc = put_signature(w, key, text, len, err);
	/* The manifest comes last, when all that it names is there. */
	if (!rc)
		rc = publish(w, err);
	if (rc)
		return rc;
	sc_hash_text(sc_hash_of(text, len), w->ret->hash);
	name_signature(text, len, w->signatures[0]);
	name_signature(before->data ? before->data : "", before->len, w->signatures[1]);
	if (before->len == len && !memcmp(before->data, text, len))
		return 0;
	if (!(rc = stage(w, SYMBUNDLE_MANIFEST, text, len, err)) && !(rc = publish(w, err)) &&
	    w->dir >= 0) {
		syncfs(w->dir);
		clear_folder(w, "parts", is_stale);
	}
	return rc;
}

static int write_empty(struct writing *w, struct sc_error *err)
{
	char *text __attribute__((cleanup(sc_free_text))) = NULL;
	size_t len;
	int rc = w->dir < 0 ? 0 : tree_top_write(&(struct tree_top){ 0 }, &text, &len, err);

	if (rc || !text)
		return rc;
	rc = stage(w, SYMBUNDLE_MANIFEST, text, len, err);
	w->ret->bytes = 0; /* it is replaced */
	return rc ? rc : publish(w, err);
}

static int write_all(struct writing *w, struct manifest *fresh, const struct bundle_source *how,
		     struct sc_error *err)
{
	const struct bundle_file *before = &w->state->text;
	int rc;

	/* Nothing is new: not even what there is need be laid out again. */
	if (!fresh->len && before->len) {
		sc_hash_text(sc_hash_of(before->data, before->len), w->ret->hash);
		rc = put_signature(w, how->sign_key, before->data, before->len, err);
		return rc ? rc : publish(w, err);
	}
	/* A folder without a manifest is not one to which entries can be added, should we die. */
	rc = before->len ? 0 : write_empty(w, err);
	if (!rc)
		rc = write_caches(w, fresh, how, err);
	if (!rc)
		rc = merge(&w->state->entries, fresh, err);
	return rc ? rc : write_top(w, how->sign_key, err);
}

/* The folder, locked, with the one for new files. */
static int open_folder(struct writing *w, const char *path, struct sc_error *err)
{
	struct tree_state *s = w->state;

	if (s->dir < 0 &&
	    (mkdir(path, 0777) ||
	     (s->dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0))
		return sc_error_sys(err, "cannot make the directory %s", path);
	tree_lock(s->dir);
	if (!s->text.len && !faccessat(s->dir, SYMBUNDLE_MANIFEST, F_OK, 0))
		return sc_error_set(err, SC_EINVAL, "another process has made a tree at %s meanwhile", path);
	w->dir = s->dir;
	clear_folder(w, NEW, NULL);
	unlinkat(w->dir, NEW, 0); /* a link: nothing is written behind it */
	return 0;
}

int tree_write(const char *path, struct tree_state *state, struct manifest *fresh,
	       const struct bundle_source *how, struct tree_written *ret, struct sc_error *err)
{
	struct writing w = { .dir = -1, .state = state, .ret = ret };
	const bool made = path && state->dir < 0;
	int rc;

	*ret = (struct tree_written){ 0 };
	rc = path ? open_folder(&w, path, err) : 0;
	if (!rc && (rc = write_all(&w, fresh, how, err)) && path)
		sc_error_prefix(err, "%s: ", path);
	if (w.dir >= 0) {
		clear_folder(&w, NEW, NULL);
		unlinkat(w.dir, NEW, AT_REMOVEDIR);
	}
	if (w.dir >= 0 && rc && !state->text.len)
		undo(&w);
	if (rc && made && state->dir >= 0)
		rmdir(path);
	forget_staged(&w);
	vec_deinit(&w.staged);
	tree_top_deinit(&w.top);
	return rc;
}
