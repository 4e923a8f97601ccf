/*
 * A folder as a bundle: SymCache files by their build IDs, with a manifest or without.
 * With one, what it does not list is not looked at.
 */
#include "cmd/store/bundle_reading.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"

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
	struct bundle_reading *b;
	struct sc_error *err;
	int rc;
} walk; /* nftw() passes nothing along */

static int walk_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	const char *end = strrchr(path, '.');
	struct symcache_map file;
	struct sc_error why;

	(void)st, (void)at;
	if (type != FTW_F || !end || strcmp(end, ".symcache"))
		return 0;
	if (symcache_map_open(path, &file, &why))
		walk.b->r->fault(walk.b->r->ctx, path, without_path(why.msg, path));
	else
		walk.rc = bundle_give_unlisted(walk.b, path, file.bytes, file.size, walk.err);
	symcache_map_close(&file);
	return walk.rc;
}

static int read_listed_files(struct bundle_reading *b, const char *path, struct sc_error *err)
{
	char name[BUNDLE_NAME];
	int rc = 0;

	for (size_t i = 0; i < b->manifest.num && !rc; i++) {
		const struct manifest_entry *e = &b->manifest.entries[i];
		char *file_path = must_asprintf("%s/%s", path, bundle_name(&e->entry, name));
		struct symcache_map file;
		struct sc_error why;

		if (symcache_map_open(file_path, &file, &why))
			b->r->fault(b->r->ctx, name, without_path(why.msg, file_path));
		else
			rc = bundle_give(b, e, &e->entry, name, file.bytes, file.size, err);
		symcache_map_close(&file);
		free(file_path);
	}
	return rc;
}

int bundle_read_tree(struct bundle_reading *b, const char *path, struct sc_error *err)
{
	char *text, *signature = NULL;
	size_t size, signature_size;
	int rc = read_small(path, MANIFEST_NAME, &text, &size, err);

	if (!rc)
		rc = read_small(path, SIGNATURE_NAME, &signature, &signature_size, err);
	if (!rc)
		rc = bundle_begin(b, text, size, signature, signature_size, err);
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
