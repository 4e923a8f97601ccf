/* What reading a bundle of any shape shares: see reading.h. */
#include "libsymcache/bundle/reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/fault.h"
#include "libsymcache/bundle/sign.h"
#include "libsymcache/write/build.h"

/* DWARF without a source file does not count. */
static uint32_t sources_of(const struct symcache *cache)
{
	const bool files = cache->header->num_files;

	if (!cache->image)
		return files ? SYMCACHE_FROM_DWARF : SYMCACHE_FROM_SYMTAB;
	return files ? cache->image->sources :
		       cache->image->sources & ~(uint32_t)SYMCACHE_FROM_DWARF;
}

void bundle_fault(struct bundle_reading *b, const char *name, const char *why)
{
	if (b->r->fault)
		b->r->fault(b->r->ctx, name, why);
}

int bundle_unread(struct bundle_reading *b, const char *name, const struct sc_error *why,
		  struct sc_error *err)
{
	if (why->code == SC_ENOMEM)
		return sc_no_memory(err);
	bundle_fault(b, name, why->msg);
	return 0;
}

/* What a manifest, or the record of a store, claims of a cache is replaced by what the
 * cache says. */
static int check_claims(struct symstore_entry *entry, const struct symcache *cache,
			struct sc_error *err)
{
	const struct symcache_ext_image *image = cache->image;
	char id[SYMCACHE_BUILD_ID_TEXT];

	entry->sources = sources_of(cache);
	if (image && image->broken_units > entry->bad_units)
		entry->bad_units = image->broken_units;
	if (!image || !image->build_id_len || image->build_id_len > SYMCACHE_BUILD_ID_MAX)
		return 0;
	entry->build_id_derived = image->build_id_derived;
	if (image->build_id_len == entry->build_id_len &&
	    !memcmp(image->build_id, entry->build_id, entry->build_id_len))
		return 0;
	symcache_build_id_text(id, image->build_id, image->build_id_len);
	return sc_error_set(err, SC_EFORMAT, "the cache is of build ID %s", id);
}

static void check(const struct manifest_entry *listed, struct bundle_checked *c)
{
	struct symcache opened;

	if (listed)
		manifest_check(listed, c->cache.data, c->cache.size, &c->why);
	if (!c->why.code && !symcache_open(&opened, c->cache.data, c->cache.size, &c->why) &&
	    symcache_verify(&opened, sc_first_fault, &c->why) == SC_ENOMEM)
		sc_no_memory(&c->why);
	if (!c->why.code)
		check_claims(&c->entry, &opened, &c->why);
}

int bundle_hand_on(struct bundle_reading *b, const struct bundle_checked *c, const char *name,
		   struct sc_error *err)
{
	int rc;

	if (b->r->progress)
		b->r->progress(b->r->ctx, b->done, b->total, name);
	b->done++;
	if (c->why.code)
		return bundle_unread(b, name, &c->why, err);
	rc = b->r->entry ? b->r->entry(b->r->ctx, &c->entry, c->cache.data, c->cache.size, err) : 0;
	b->named = rc && rc != SC_ENOMEM; /* it is of where the entry goes */
	return rc;
}

int bundle_give(struct bundle_reading *b, const struct manifest_entry *listed,
		const struct symstore_entry *entry, const char *name, struct bundle_bytes cache,
		struct sc_error *err)
{
	struct bundle_checked c = { .cache = cache, .entry = *entry };

	check(listed, &c);
	return bundle_hand_on(b, &c, name, err);
}

#define NOT_DESCRIBED "no SymCache file, or without a build ID"

/* A record for a cache that has none, from what it says itself, else from its name. */
static bool describe(const char *name, const void *data, size_t size, struct symstore_entry *ret)
{
	struct symstore_id id;
	struct symcache cache;

	*ret = (struct symstore_entry){
		.cache_size = size, .source_path = name, .tool_version = symcache_version,
	};
	if (symcache_open(&cache, data, size, NULL))
		return false;
	if (cache.image && cache.image->build_id_len &&
	    cache.image->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
		ret->build_id_len = cache.image->build_id_len;
		memcpy(ret->build_id, cache.image->build_id, ret->build_id_len);
		return true;
	}
	if (!bundle_id_of_name(name, &id))
		return false;
	ret->build_id_len = id.len;
	memcpy(ret->build_id, id.bytes, id.len);
	return true;
}

void bundle_check(const struct manifest_entry *listed, const char *name, struct bundle_bytes cache,
		  struct bundle_checked *ret)
{
	*ret = (struct bundle_checked){ .cache = cache };
	if (listed)
		ret->entry = listed->entry;
	else if (!describe(name, cache.data, cache.size, &ret->entry))
		sc_error_set(&ret->why, SC_EFORMAT, NOT_DESCRIBED);
	if (!ret->why.code)
		check(listed, ret);
}

int bundle_give_unlisted(struct bundle_reading *b, const char *name, const void *data, size_t size,
			 struct sc_error *err)
{
	struct symstore_entry entry;

	if (describe(name, data, size, &entry))
		return bundle_give(b, NULL, &entry, name, (struct bundle_bytes){ data, size }, err);
	bundle_fault(b, name, NOT_DESCRIBED);
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
	for (size_t i = 0; i < b->manifest.len && b->r->verify_key; i++)
		if (!b->manifest.data[i].has_sha256)
			return sc_error_set(err, SC_EFORMAT,
					    "the signed manifest lacks SHA-256 hashes");
	manifest_sort(&b->manifest);
	b->has_manifest = true;
	b->total = b->manifest.len;
	b->seen = calloc(b->manifest.len + 1, sizeof(*b->seen));
	return b->seen ? 0 : sc_no_memory(err);
}

void bundle_name_missing(struct bundle_reading *b)
{
	char name[BUNDLE_NAME];

	for (size_t i = 0; i < b->manifest.len; i++)
		if (!b->seen[i])
			bundle_fault(b, bundle_name(&b->manifest.data[i].entry, name),
				     "missing: the bundle is damaged");
}
