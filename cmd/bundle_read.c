/*
 * Reading bundles: see bundle.h. Everything in one is hostile input: a name in a
 * manifest is never used as a path, only the build ID, from which the path
 * follows. One cache is in memory at a time.
 */
#include <errno.h>
#include <ftw.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/bundle.h"
#include "cmd/sign.h"
#include "libsymcache/symcache_archive.h"
#include "libsymcache/symcache_build.h"

enum {
	MAX_MANIFEST = 1 << 30,
	MAX_CACHE = 0x7ff00000,   /* the store takes no more */
};

struct reading {
	const struct bundle_reader *r;
	struct manifest manifest;
	bool has_manifest, *seen; /* by entries of the manifest */
	uint64_t done, total;
};

static bool first_fault(void *ctx, const char *text)
{
	sc_error_set(ctx, SC_EFORMAT, "%s", text);
	return false;
}

/* Hands a cache on if it is sound. */
static int give(struct reading *b, const struct manifest_entry *listed,
		const struct symstore_entry *entry, const char *name, const void *data, size_t size,
		struct sc_error *err)
{
	struct symcache cache;
	struct sc_error why = { 0 };

	progress_update(b->r->progress, b->done++, b->total, name);
	if (listed)
		manifest_check(listed, data, size, &why);
	if (!why.code && !symcache_open(&cache, data, size, &why))
		symcache_verify(&cache, first_fault, &why);
	if (!why.code)
		return b->r->entry(b->r->ctx, entry, data, size, err);
	b->r->fault(b->r->ctx, name, why.msg);
	return 0;
}

/* A record for a cache that has none, from what it says itself, else from its
 * name: ab/cdef….symcache. */
static bool describe(const char *name, const void *data, size_t size, struct symstore_entry *ret)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1] = "";
	const char *end = strrchr(name, '.'), *slash = strrchr(name, '/');
	struct symcache cache;
	size_t nibbles;

	*ret = (struct symstore_entry){
		.cache_size = size, .source_path = name, .tool_version = symcache_version,
	};
	if (symcache_open(&cache, data, size, NULL))
		return false;
	if (cache.image && cache.image->build_id_len &&
	    cache.image->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
		ret->build_id_len = cache.image->build_id_len;
		ret->build_id_derived = cache.image->build_id_derived;
		ret->sources = cache.image->sources;
		memcpy(ret->build_id, cache.image->build_id, ret->build_id_len);
		return true;
	}
	ret->sources = cache.header->num_files ? SYMCACHE_FROM_DWARF : SYMCACHE_FROM_SYMTAB;
	if (!end || !slash || slash < name + 2 || end < slash ||
	    end - slash > 2 * SYMCACHE_BUILD_ID_MAX - 2)
		return false;
	snprintf(hex, sizeof(hex), "%.2s%.*s", slash - 2, (int)(end - slash - 1), slash + 1);
	if (parse_build_id(hex, ret->build_id, &nibbles, NULL) || nibbles % 2)
		return false;
	ret->build_id_len = nibbles / 2;
	return true;
}

static int give_unlisted(struct reading *b, const char *name, const void *data, size_t size,
			 struct sc_error *err)
{
	struct symstore_entry entry;

	if (describe(name, data, size, &entry))
		return give(b, NULL, &entry, name, data, size, err);
	b->r->fault(b->r->ctx, name, "no SymCache file, or none that tells its build ID");
	return 0;
}

/* Takes the manifest (text NULL: there is none), if it is signed as is asked. */
static int begin(struct reading *b, const void *text, size_t size, const void *signature,
		 size_t signature_size, struct sc_error *err)
{
	int rc = 0;

	if (b->r->verify_key && !text)
		rc = sc_error_set(err, SC_EFORMAT, "there is no manifest, so it is not signed");
	else if (b->r->verify_key && !signature)
		rc = sc_error_set(err, SC_EFORMAT, "it is not signed");
	else if (b->r->verify_key)
		rc = sign_verify(b->r->verify_key, text, size, signature, signature_size, err);
	if (rc || !text || (rc = manifest_read(&b->manifest, text, size, err)))
		return rc;
	for (size_t i = 0; i < b->manifest.num && b->r->verify_key; i++)
		if (!b->manifest.entries[i].has_sha256)
			return sc_error_set(err, SC_EFORMAT, "the signed manifest lacks SHA-256 hashes");
	manifest_sort(&b->manifest);
	b->has_manifest = true;
	b->total = b->manifest.num;
	b->seen = must_calloc(b->manifest.num + 1, sizeof(*b->seen));
	return 0;
}

static void name_missing(struct reading *b)
{
	char name[BUNDLE_NAME];

	for (size_t i = 0; i < b->manifest.num; i++)
		if (!b->seen[i])
			b->r->fault(b->r->ctx, bundle_name(&b->manifest.entries[i].entry, name),
				    "it is missing, though the manifest has it");
}

/* ---- a tree ------------------------------------------------------------------- */

/* A small file as a whole; *size 0 and NULL: there is none. */
static int read_small(const char *folder, const char *name, char **ret, size_t *size,
		      struct sc_error *err)
{
	char *path = must_asprintf("%s/%s", folder, name);
	FILE *f = fopen(path, "re");
	size_t cap = 0, n;
	int rc = 0;

	*ret = NULL;
	*size = 0;
	if (!f && errno != ENOENT)
		rc = sc_error_sys(err, "cannot open %s", path);
	do {
		if (!f)
			break;
		*ret = must_grow(*ret, *size, &cap, 1);
		n = fread(*ret + *size, 1, cap - *size, f);
		*size += n;
	} while (n && *size < MAX_MANIFEST);
	if (f && ferror(f))
		rc = sc_error_sys(err, "cannot read %s", path);
	if (f)
		fclose(f);
	free(path);
	return rc;
}

static struct {
	struct reading *b;
	struct sc_error *err;
	int rc;
} walk; /* nftw() passes nothing along */

static int walk_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *end = strrchr(path, '.');
	struct cache_file file;
	struct sc_error why;

	(void)st, (void)at;
	if (type != FTW_F || !end || strcmp(end, ".symcache"))
		return 0;
	if (cache_file_open(path, &file, &why))
		walk.b->r->fault(walk.b->r->ctx, path, without_path(why.msg, path));
	else
		walk.rc = give_unlisted(walk.b, path, file.bytes, file.size, walk.err);
	cache_file_close(&file);
	return walk.rc;
}

static int read_listed_files(struct reading *b, const char *path, struct sc_error *err)
{
	char name[BUNDLE_NAME];
	int rc = 0;

	for (size_t i = 0; i < b->manifest.num && !rc; i++) {
		const struct manifest_entry *e = &b->manifest.entries[i];
		char *file_path = must_asprintf("%s/%s", path, bundle_name(&e->entry, name));
		struct cache_file file;
		struct sc_error why;

		if (cache_file_open(file_path, &file, &why))
			b->r->fault(b->r->ctx, name, without_path(why.msg, file_path));
		else
			rc = give(b, e, &e->entry, name, file.bytes, file.size, err);
		cache_file_close(&file);
		free(file_path);
	}
	return rc;
}

static int read_tree(struct reading *b, const char *path, struct sc_error *err)
{
	char *text, *signature = NULL;
	size_t size, signature_size;
	int rc = read_small(path, MANIFEST_NAME, &text, &size, err);

	if (!rc)
		rc = read_small(path, SIGNATURE_NAME, &signature, &signature_size, err);
	if (!rc)
		rc = begin(b, text, size, signature, signature_size, err);
	free(text);
	free(signature);
	if (rc)
		return rc;
	if (b->has_manifest)
		return read_listed_files(b, path, err);
	walk.b = b;
	walk.err = err;
	walk.rc = 0;
	if (nftw(path, walk_file, 16, FTW_PHYS) < 0)
		return sc_error_sys(err, "cannot read");
	return walk.rc;
}

/* ---- an archive --------------------------------------------------------------- */

/* The file at hand as a whole, 8-aligned. */
static int read_member(struct symarchive *a, char **bytes, size_t *cap, size_t *size,
		       struct sc_error *err)
{
	size_t n;
	int rc;

	*size = 0;
	do {
		*bytes = must_grow(*bytes, *size, cap, 1);
		if ((rc = symarchive_read(a, *bytes + *size, *cap - *size, &n, err)))
			return rc;
		*size += n;
		if (*size > MAX_CACHE)
			return sc_error_set(err, SC_EFORMAT, "a file in it is above %d bytes", MAX_CACHE);
	} while (n);
	return 0;
}

static int give_member(struct reading *b, const char *name, const char *bytes, size_t size,
		       struct sc_error *err)
{
	const char *slash = strrchr(name, '/');
	const struct manifest_entry *e = NULL;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	size_t nibbles;

	if (!b->has_manifest)
		return give_unlisted(b, name, bytes, size, err);
	if (slash && slash - name >= 2) {
		snprintf(hex, sizeof(hex), "%.2s%.*s", slash - 2, (int)strcspn(slash + 1, "."), slash + 1);
		if (!parse_build_id(hex, id, &nibbles, NULL))
			e = manifest_find(&b->manifest, id, nibbles / 2);
	}
	if (!e) {
		b->r->fault(b->r->ctx, name, "the manifest does not have it");
		return 0;
	}
	b->seen[e - b->manifest.entries] = true;
	return give(b, e, &e->entry, name, bytes, size, err);
}

/* The manifest and its signature come first, before the caches, or not at all. */
static int read_members(struct reading *b, struct symarchive *a, struct sc_error *err)
{
	char *text = NULL, *bytes = NULL;
	size_t text_size = 0, text_cap = 0, size, cap = 0;
	bool begun = false;
	const char *name;
	int rc;

	while (!(rc = symarchive_next(a, &name, err))) {
		if (!begun && !text && !strcmp(name, MANIFEST_NAME)) {
			if ((rc = read_member(a, &text, &text_cap, &text_size, err)))
				break;
			continue;
		}
		if ((rc = read_member(a, &bytes, &cap, &size, err)))
			break;
		if (!begun) {
			bool is_signature = !strcmp(name, SIGNATURE_NAME);

			begun = true;
			rc = begin(b, text, text_size, is_signature ? bytes : NULL, size, err);
			if (rc || is_signature) {
				if (rc)
					break;
				continue;
			}
		}
		if ((rc = give_member(b, name, bytes, size, err)))
			break;
	}
	if (rc == SC_ENOTFOUND)
		rc = begun ? 0 : begin(b, text, text_size, NULL, 0, err);
	if (!rc)
		name_missing(b);
	free(text);
	free(bytes);
	return rc;
}

static int read_archive(struct reading *b, int fd, struct sc_error *err)
{
	struct symarchive *a;
	int rc = symarchive_open(fd, &a, err);

	if (!rc)
		rc = read_members(b, a, err);
	symarchive_close(a);
	return rc;
}

/* ---- a store ------------------------------------------------------------------ */

struct store_reading {
	struct reading *b;
	struct symstore_reader *reader;
	struct sc_error *err;
	int rc;
};

static bool give_entry(void *ctx, const struct symstore_entry *entry)
{
	struct store_reading *s = ctx;
	struct reading *b = s->b;
	const struct manifest_entry *e = manifest_find(&b->manifest, entry->build_id,
						       entry->build_id_len);
	char name[BUNDLE_NAME];
	struct sc_error why = { 0 };
	const void *data;
	size_t size;

	bundle_name(entry, name);
	if (b->has_manifest && !e)
		sc_error_set(&why, SC_EFORMAT, "the manifest does not have it");
	else if (!symstore_get(s->reader, entry->build_id, entry->build_id_len, &data, &size, &why) &&
		 !symstore_check_entry(s->reader, entry, first_fault, &why))
		s->rc = give(b, e, e ? &e->entry : entry, name, data, size, s->err);
	if (why.code)
		b->r->fault(b->r->ctx, name, why.msg);
	if (e)
		b->seen[e - b->manifest.entries] = true;
	return !s->rc;
}

static int read_store(struct reading *b, const char *path, struct sc_error *err)
{
	struct store_reading s = { .b = b, .err = err };
	const void *text = NULL, *signature = NULL;
	size_t size = 0, signature_size = 0;
	struct symstore *store;
	struct sc_error why = { 0 };
	int rc = symstore_open(path, SYMSTORE_READ, &store, err);

	if (!rc)
		rc = symstore_read_begin(store, &s.reader, err);
	if (!rc && symstore_check(s.reader, first_fault, &why))
		rc = sc_error_set(err, SC_EFORMAT, "damaged: %s", why.msg);
	if (!rc) {
		symstore_get_note(s.reader, MANIFEST_NAME, &text, &size, NULL);
		symstore_get_note(s.reader, SIGNATURE_NAME, &signature, &signature_size, NULL);
		rc = begin(b, text, size, signature, signature_size, err);
	}
	if (!rc)
		rc = symstore_each(s.reader, NULL, 0, give_entry, &s, err);
	if (!rc && !(rc = s.rc))
		name_missing(b);
	symstore_read_end(s.reader);
	symstore_close(store);
	return rc;
}

/* ---- any ------------------------------------------------------------------------ */

/* LMDB's magic number, in either byte order and word size. */
static bool is_store(int fd)
{
	char head[32];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > 0 && (memmem(head, (size_t)n, "\xde\xc0\xef\xbe", 4) ||
			 memmem(head, (size_t)n, "\xbe\xef\xc0\xde", 4));
}

int bundle_read(const char *path, const struct bundle_reader *r, struct sc_error *err)
{
	struct reading b = { .r = r };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		rc = sc_error_sys(err, "cannot open");
	} else if (S_ISDIR(st.st_mode)) {
		rc = read_tree(&b, path, err);
	} else if (is_store(fd)) {
		rc = read_store(&b, path, err);
	} else {
		rc = read_archive(&b, fd, err);
	}
	if (fd >= 0)
		close(fd);
	free(b.seen);
	manifest_deinit(&b.manifest);
	if (rc && strncmp(err->msg, "store ", 6))
		sc_error_prefix(err, "%.100s: ", path);
	return rc;
}
