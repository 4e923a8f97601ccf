/*
 * Reading bundles: see bundle.h. Everything in one is hostile input: a name in a
 * manifest is never used as a path, only the build ID, from which the path
 * follows. One cache is in memory at a time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/progress.h"
#include "cmd/store/bundle_reading.h"
#include "cmd/store/sign.h"
#include "symcache/build.h"
#include "symcache/build_id.h"

static bool first_fault(void *ctx, const char *text)
{
	sc_error_set(ctx, SC_EFORMAT, "%s", text);
	return false;
}

int bundle_give(struct bundle_reading *b, const struct manifest_entry *listed,
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
	if (symcache_build_id_parse(hex, ret->build_id, &nibbles, NULL) || nibbles % 2)
		return false;
	ret->build_id_len = nibbles / 2;
	return true;
}

int bundle_give_unlisted(struct bundle_reading *b, const char *name, const void *data, size_t size,
			 struct sc_error *err)
{
	struct symstore_entry entry;

	if (describe(name, data, size, &entry))
		return bundle_give(b, NULL, &entry, name, data, size, err);
	b->r->fault(b->r->ctx, name, "no SymCache file, or none that tells its build ID");
	return 0;
}

int bundle_begin(struct bundle_reading *b, const void *text, size_t size, const void *signature,
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

void bundle_name_missing(struct bundle_reading *b)
{
	char name[BUNDLE_NAME];

	for (size_t i = 0; i < b->manifest.num; i++)
		if (!b->seen[i])
			b->r->fault(b->r->ctx, bundle_name(&b->manifest.entries[i].entry, name),
				    "it is missing, though the manifest has it");
}

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
	struct bundle_reading b = { .r = r };
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		rc = sc_error_sys(err, "cannot open");
	} else if (S_ISDIR(st.st_mode)) {
		rc = bundle_read_tree(&b, path, err);
	} else if (is_store(fd)) {
		rc = bundle_read_store(&b, path, err);
	} else {
		rc = bundle_read_archive(&b, fd, err);
	}
	if (fd >= 0)
		close(fd);
	free(b.seen);
	manifest_deinit(&b.manifest);
	if (rc && strncmp(err->msg, "store ", 6))
		sc_error_prefix(err, "%.100s: ", path);
	return rc;
}
