/* The entries of a manifest: see manifest.h. */
#include "libsymcache/bundle/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/vec.h"

enum { STRINGS = 6 };

/* The i-th string of a record. */
static const char **string(struct symstore_entry *e, int i)
{
	return (const char **[STRINGS]){ &e->source_path, &e->debug_path, &e->tool_version,
					 &e->tags, &e->transforms, &e->names }[i];
}

bool manifest_fill_strings(struct symstore_entry *e)
{
	bool ok = true;

	for (int i = 0; i < STRINGS; i++)
		if (!*string(e, i))
			ok = (*string(e, i) = strdup("")) && ok;
	return ok;
}

int manifest_add(struct manifest *m, const struct symstore_entry *entry, const void *cache,
		 bool sha256, struct sc_error *err)
{
	struct manifest_entry e = {
		.entry = *entry, .hash = sc_hash_of(cache, entry->cache_size), .has_hash = true,
		.has_sha256 = sha256,
	};

	if (sha256)
		crypto_hash_sha256(e.sha256, cache, entry->cache_size);
	return manifest_add_copy(m, &e, err);
}

int manifest_add_copy(struct manifest *m, const struct manifest_entry *from, struct sc_error *err)
{
	struct manifest_entry *e = vec_push(m);
	bool ok = true;

	if (!e)
		return sc_no_memory(err);
	*e = *from;
	for (int i = 0; i < STRINGS; i++)
		if (*string(&e->entry, i))
			ok = (*string(&e->entry, i) = strdup(*string(&e->entry, i))) && ok;
	return ok && manifest_fill_strings(&e->entry) ? 0 : sc_no_memory(err);
}

void manifest_drop_last(struct manifest *m)
{
	m->len--;
	for (int i = 0; i < STRINGS; i++)
		free((char *)*string(&m->data[m->len].entry, i));
}

void manifest_deinit(struct manifest *m)
{
	while (m->len)
		manifest_drop_last(m);
	vec_deinit(m);
}

const char *bundle_name(const struct symstore_entry *entry, char name[BUNDLE_NAME])
{
	char id[SYMCACHE_BUILD_ID_TEXT];

	symcache_build_id_text(id, entry->build_id, entry->build_id_len);
	snprintf(name, BUNDLE_NAME, "%.2s/%s.symcache", id, entry->build_id_len > 1 ? id + 2 : "");
	return name;
}

const char *bundle_packed_name(const struct symstore_id *id, char name[BUNDLE_NAME])
{
	struct symstore_entry e = { .build_id_len = id->len };

	memcpy(e.build_id, id->bytes, id->len);
	bundle_name(&e, name);
	strcpy(strrchr(name, '.'), ".packed");
	return name;
}

const char *bundle_hashed_name(const struct manifest_entry *e, char name[BUNDLE_NAME])
{
	char *end = strrchr(bundle_name(&e->entry, name), '.'), hash[SC_HASH_TEXT];

	end += sprintf(end, ".%s", sc_hash_text(e->hash, hash));
	if (e->old.len)
		end += sprintf(end, "-%s", sc_hash_text(e->old_hash, hash));
	strcpy(end, ".packed");
	return name;
}

bool bundle_id_of_name(const char *name, struct symstore_id *ret)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	const char *slash = strrchr(name, '/');

	if (!slash || slash - name < 2)
		return false;
	return snprintf(hex, sizeof(hex), "%.2s%.*s", slash - 2, (int)strcspn(slash + 1, "."),
			slash + 1) < (int)sizeof(hex) &&
	       symcache_build_id_read(hex, ret->bytes, &ret->len);
}

/* ---- looking for entries -------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct symstore_entry *x = &((const struct manifest_entry *)a)->entry;
	const struct symstore_entry *y = &((const struct manifest_entry *)b)->entry;
	int order = memcmp(x->build_id, y->build_id, sizeof(x->build_id));

	return order ? order :
		       (x->build_id_len > y->build_id_len) - (x->build_id_len < y->build_id_len);
}

void manifest_sort(struct manifest *m)
{
	if (m->len)
		qsort(m->data, m->len, sizeof(*m->data), compare);
}

const struct manifest_entry *manifest_find(const struct manifest *m, const uint8_t *id, size_t len)
{
	struct manifest_entry key = { .entry.build_id_len = len };

	memcpy(key.entry.build_id, id, len);
	return m->len ? bsearch(&key, m->data, m->len, sizeof(*m->data), compare) : NULL;
}

bool manifest_has(const struct manifest *m, const struct manifest_entry *e)
{
	const struct manifest_entry *same = manifest_find(m, e->entry.build_id,
							  e->entry.build_id_len);

	return same && !strcmp(same->entry.tags, e->entry.tags) &&
	       sc_hash_same(same->hash, e->hash);
}

int manifest_check(const struct manifest_entry *e, const void *cache, size_t size,
		   struct sc_error *err)
{
	const struct sc_hash hash = sc_hash_of(cache, size);
	uint8_t sha256[32];

	if (size != e->entry.cache_size)
		return sc_error_set(err, SC_EFORMAT, "%zu bytes, the manifest says %llu", size,
				    (unsigned long long)e->entry.cache_size);
	if (!sc_hash_same(hash, e->hash))
		return sc_error_set(err, SC_EFORMAT, "its hash is not that of the manifest");
	if (e->has_sha256) {
		crypto_hash_sha256(sha256, cache, size);
		if (memcmp(sha256, e->sha256, sizeof(sha256)))
			return sc_error_set(err, SC_EFORMAT,
					    "its SHA-256 is not that of the manifest");
	}
	return 0;
}
