/* What reading a bundle of any shape shares: see reading.h. */
#include "libsymcache/bundle/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/fault.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/sign.h"
#include "libsymcache/write/build.h"

/* What has lines does not count without a source file. */
static uint32_t sources_of(const struct symcache *cache)
{
	const bool files = cache->header->num_files;

	if (!cache->image)
		return files ? SYMCACHE_FROM_DWARF : SYMCACHE_FROM_SYMTAB;
	return files ? cache->image->sources :
		       cache->image->sources & ~(uint32_t)(SYMCACHE_FROM_DWARF | SYMCACHE_FROM_GO);
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
	return sc_error_set(err, SC_EFORMAT, "the cache is of build ID %s",
			    symcache_build_id_text(id, image->build_id, image->build_id_len));
}

bool bundle_wanted(struct bundle_reading *b, const struct symstore_entry *entry)
{
	const struct symbundle_reader *r = b->r;
	const size_t at = !r->ids ? 0 : symstore_ids_find(r->ids, r->num_ids, entry->build_id,
							  entry->build_id_len);

	if (r->ids && at == r->num_ids)
		return false;
	b->found[at] = true;
	return (!r->choose || symstore_selected(r->choose, entry));
}

bool bundle_is_had(struct bundle_reading *b, const struct symstore_entry *entry)
{
	const bool had = b->r->has && b->r->has(b->r->ctx, entry);

	b->done += had;
	return had;
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

	if (!bundle_wanted(b, &c->entry))
		return 0;
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

int bundle_verify(const char *key, const void *text, size_t size, const void *signature,
		  size_t signature_size, struct sc_error *err)
{
	if (key && !text)
		return sc_error_set(err, SC_EFORMAT, "there is no manifest, so it is not signed");
	if (key && !signature)
		return sc_error_set(err, SC_EFORMAT, "it is not signed");
	return key ? sign_verify(key, text, size, signature, signature_size, err) : 0;
}

int bundle_list(struct bundle_reading *b, const void *text, size_t size, struct sc_error *err)
{
	int rc;

	manifest_deinit(&b->manifest);
	free(b->seen);
	b->seen = NULL;
	if ((rc = manifest_read(&b->manifest, text, size, err)))
		return rc;
	for (size_t i = 0; i < b->manifest.len && b->r->verify_key; i++)
		if (!b->manifest.data[i].has_sha256)
			return sc_error_set(err, SC_EFORMAT,
					    "the signed manifest lacks SHA-256 hashes");
	manifest_sort(&b->manifest);
	b->has_manifest = true;
	b->seen = calloc(b->manifest.len + 1, sizeof(*b->seen));
	return b->seen ? 0 : sc_no_memory(err);
}

int bundle_begin(struct bundle_reading *b, const void *text, size_t size, const void *signature,
		 size_t signature_size, struct sc_error *err)
{
	int rc = bundle_verify(b->r->verify_key, text, size, signature, signature_size, err);

	if (!rc && text)
		rc = bundle_list(b, text, size, err);
	b->total = b->manifest.len;
	return rc;
}

void bundle_name_missing(struct bundle_reading *b)
{
	char name[BUNDLE_NAME];

	for (size_t i = 0; i < b->manifest.len; i++)
		if (!b->seen[i] && bundle_wanted(b, &b->manifest.data[i].entry))
			bundle_fault(b, bundle_name(&b->manifest.data[i].entry, name),
				     "missing: the bundle is damaged");
}

int bundle_read_file(const char *path, size_t max, struct bundle_file *f, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	vec_clear(f);
	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "cannot open");
	if (!S_ISREG(st.st_mode))
		return sc_error_set(err, SC_EINVAL, "not a regular file");
	if ((uint64_t)st.st_size > max)
		return sc_error_set(err, SC_EFORMAT, "it is larger than %zu bytes", max);
	if (!vec_reserve(f, (size_t)st.st_size + 1))
		return sc_no_memory(err);
	while (f->len < f->cap && (n = read(fd, f->data + f->len, f->cap - f->len))) {
		if (n < 0 && errno != EINTR)
			return sc_error_sys(err, "cannot read");
		f->len += n > 0 ? (size_t)n : 0;
	}
	return 0;
}
