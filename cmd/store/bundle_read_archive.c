/*
 * An archive as a bundle, read as a stream: one member is in memory at a time, nothing
 * goes to disk, and a member's name is used for its build ID alone.
 */
#include "cmd/store/bundle_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "symcache/archive.h"
#include "symcache/build_id.h"

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

static int give_member(struct bundle_reading *b, const char *name, const char *bytes, size_t size,
		       struct sc_error *err)
{
	const char *slash = strrchr(name, '/');
	const struct manifest_entry *e = NULL;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	size_t nibbles;

	if (!b->has_manifest)
		return bundle_give_unlisted(b, name, bytes, size, err);
	if (slash && slash - name >= 2) {
		snprintf(hex, sizeof(hex), "%.2s%.*s", slash - 2, (int)strcspn(slash + 1, "."), slash + 1);
		if (!symcache_build_id_parse(hex, id, &nibbles, NULL))
			e = manifest_find(&b->manifest, id, nibbles / 2);
	}
	if (!e) {
		b->r->fault(b->r->ctx, name, "the manifest does not have it");
		return 0;
	}
	b->seen[e - b->manifest.entries] = true;
	return bundle_give(b, e, &e->entry, name, bytes, size, err);
}

/* The manifest and its signature come first, before the caches, or not at all. */
static int read_members(struct bundle_reading *b, struct symarchive *a, struct sc_error *err)
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
			rc = bundle_begin(b, text, text_size, is_signature ? bytes : NULL, size, err);
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
		rc = begun ? 0 : bundle_begin(b, text, text_size, NULL, 0, err);
	if (!rc)
		bundle_name_missing(b);
	free(text);
	free(bytes);
	return rc;
}

int bundle_read_archive(struct bundle_reading *b, int fd, struct sc_error *err)
{
	struct symarchive *a;
	int rc = symarchive_open(fd, &a, err);

	if (!rc)
		rc = read_members(b, a, err);
	symarchive_close(a);
	return rc;
}
