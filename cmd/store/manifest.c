/*
 * The manifest of a bundle: see manifest.h. Reading is by events, so that memory
 * grows with the entries only, and takes any bytes: what has no build ID or is of
 * the wrong type is an error, what is unknown is skipped.
 */
#include "cmd/store/manifest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>
#include <xxhash.h>
#include <yajl/yajl_parse.h>

#include "cmd/cli/memory.h"
#include "cmd/store/entry.h"
#include "symcache/build_id.h"

enum { VERSION = 1 };

static struct manifest_entry *push(struct manifest *m)
{
	m->entries = must_grow(m->entries, m->num, &m->cap, sizeof(*m->entries));
	m->entries[m->num] = (struct manifest_entry){ 0 };
	return &m->entries[m->num++];
}

static char *copy(const char *text)
{
	return must_asprintf("%s", text ? text : "");
}

void manifest_add(struct manifest *m, const struct symstore_entry *entry, const void *cache,
		  bool sha256)
{
	XXH128_hash_t hash = XXH3_128bits(cache, entry->cache_size);
	struct manifest_entry *e = push(m);

	e->entry = *entry;
	e->entry.source_path = copy(entry->source_path);
	e->entry.debug_path = copy(entry->debug_path);
	e->entry.tool_version = copy(entry->tool_version);
	e->entry.tags = copy(entry->tags);
	e->entry.transforms = copy(entry->transforms);
	e->hash = (struct symstore_hash){ hash.low64, hash.high64 };
	e->has_hash = true;
	e->has_sha256 = sha256;
	if (sha256)
		crypto_hash_sha256(e->sha256, cache, entry->cache_size);
}

void manifest_drop_last(struct manifest *m)
{
	struct symstore_entry *e = &m->entries[--m->num].entry;

	free((char *)e->source_path);
	free((char *)e->debug_path);
	free((char *)e->tool_version);
	free((char *)e->tags);
	free((char *)e->transforms);
}

void manifest_deinit(struct manifest *m)
{
	while (m->num)
		manifest_drop_last(m);
	free(m->entries);
	*m = (struct manifest){ 0 };
}

const char *bundle_name(const struct symstore_entry *entry, char name[BUNDLE_NAME])
{
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];

	symcache_build_id_text(id, entry->build_id, entry->build_id_len);
	snprintf(name, BUNDLE_NAME, "%.2s/%s.symcache", id, entry->build_id_len > 1 ? id + 2 : "");
	return name;
}

char *manifest_write(const struct manifest *m)
{
	struct json_gen *j = json_gen_create_memory();
	char name[BUNDLE_NAME], hex[2 * SYMCACHE_BUILD_ID_MAX + 1];

	json_gen_open_map(j, NULL);
	json_gen_text(j, "format", "symcache bundle");
	json_gen_number(j, "version", VERSION);
	json_gen_open_array(j, "entries");
	for (size_t i = 0; i < m->num; i++) {
		const struct manifest_entry *e = &m->entries[i];

		json_gen_open_map(j, NULL);
		json_gen_text(j, "file", bundle_name(&e->entry, name));
		snprintf(hex, sizeof(hex), "%016llx%016llx", (unsigned long long)e->hash.high64,
			 (unsigned long long)e->hash.low64);
		json_gen_text(j, "cache_xxh128", hex);
		if (e->has_sha256) {
			symcache_build_id_text(hex, e->sha256, sizeof(e->sha256));
			json_gen_text(j, "cache_sha256", hex);
		}
		entry_json(j, &e->entry);
		json_gen_signed(j, "time", e->entry.time);
		json_gen_close_map(j);
	}
	json_gen_close_array(j);
	json_gen_close_map(j);
	return json_gen_take(j);
}

/* ---- reading ------------------------------------------------------------------ */

enum { IN_BUNDLE = 1, IN_ENTRIES = 2, IN_ENTRY = 3, IN_LIST = 4, MAX_DEPTH = 8 };

struct reading {
	struct manifest *m;
	struct sc_error *err;
	int depth;
	bool is_entries, is_bundle;
	char key[32];            /* of the innermost map that has one we know */
};

static int bad(struct reading *r, const char *what)
{
	sc_error_set(r->err, SC_EFORMAT, "the manifest's entry %zu: %s is no such thing",
		     r->m->num, what);
	return 0;
}

static bool key_is(const struct reading *r, const char *key)
{
	return !strcmp(r->key, key);
}

static bool hex_bytes(const char *text, uint8_t *bytes, size_t len)
{
	uint8_t all[SYMCACHE_BUILD_ID_MAX];
	size_t nibbles;

	if (symcache_build_id_parse(text, all, &nibbles, NULL) || nibbles != 2 * len)
		return false;
	memcpy(bytes, all, len);
	return true;
}

static bool hex_hash(const char *text, struct symstore_hash *ret)
{
	uint8_t bytes[16];

	if (!hex_bytes(text, bytes, sizeof(bytes)))
		return false;
	*ret = (struct symstore_hash){ 0 };
	for (int i = 0; i < 8; i++) {
		ret->high64 = ret->high64 << 8 | bytes[i];
		ret->low64 = ret->low64 << 8 | bytes[8 + i];
	}
	return true;
}

static bool set_text(const char **at, const char *text)
{
	free((char *)*at);
	*at = copy(text);
	return true;
}

static bool list_item(struct reading *r, struct manifest_entry *e, const char *text)
{
	char *all;

	if (key_is(r, "symbols"))
		for (int i = 0; source_names[i]; i++)
			if (!strcmp(text, source_names[i]))
				e->entry.sources |= source_bit(i);
	if (key_is(r, "transforms")) {
		const char *old = e->entry.transforms;

		all = must_asprintf("%s%s%s", old ? old : "", old && *old ? "\n" : "", text);
		set_text(&e->entry.transforms, all);
		free(all);
		return true;
	}
	if (!key_is(r, "tags"))
		return true;
	if (!symstore_tag_valid(text))
		return false;
	all = symstore_tags_unite(e->entry.tags, text);
	set_text(&e->entry.tags, all);
	free(all);
	return true;
}

static bool entry_text(struct reading *r, struct manifest_entry *e, const char *text)
{
	size_t nibbles;

	if (key_is(r, "build_id")) {
		if (symcache_build_id_parse(text, e->entry.build_id, &nibbles, NULL) || nibbles % 2)
			return false;
		e->entry.build_id_len = nibbles / 2;
	} else if (key_is(r, "cache_xxh128")) {
		e->has_hash = hex_hash(text, &e->hash);
		return e->has_hash;
	} else if (key_is(r, "cache_sha256")) {
		e->has_sha256 = hex_bytes(text, e->sha256, sizeof(e->sha256));
		return e->has_sha256;
	} else if (key_is(r, "source_xxh128")) {
		return hex_hash(text, &e->entry.source_hash);
	} else if (key_is(r, "source")) {
		return set_text(&e->entry.source_path, text);
	} else if (key_is(r, "debug_file")) {
		return set_text(&e->entry.debug_path, text);
	} else if (key_is(r, "tool")) {
		return set_text(&e->entry.tool_version, text);
	}
	return true;
}

static int on_string(void *ctx, const unsigned char *s, size_t len)
{
	struct reading *r = ctx;
	struct manifest_entry *e = r->m->num ? &r->m->entries[r->m->num - 1] : NULL;
	char *text;
	bool ok = true;

	if (memchr(s, 0, len))
		return bad(r, "a text with a NUL");
	text = must_asprintf("%.*s", (int)len, (const char *)s);
	if (r->depth == IN_BUNDLE && key_is(r, "format"))
		r->is_bundle = !strcmp(text, "symcache bundle");
	else if (r->is_entries && r->depth == IN_ENTRY && e)
		ok = entry_text(r, e, text);
	else if (r->is_entries && r->depth == IN_LIST && e)
		ok = list_item(r, e, text);
	free(text);
	return ok || bad(r, r->key);
}

static int on_integer(void *ctx, long long n)
{
	struct reading *r = ctx;
	struct manifest_entry *e = r->m->num ? &r->m->entries[r->m->num - 1] : NULL;

	if (r->depth == IN_BUNDLE && key_is(r, "version") && n != VERSION) {
		sc_error_set(r->err, SC_EUNSUPPORTED, "the bundle is of version %lld; this program "
			     "knows %d", n, VERSION);
		return 0;
	}
	if (!r->is_entries || r->depth != IN_ENTRY || !e)
		return 1;
	if (key_is(r, "time"))
		e->entry.time = n;
	else if (n < 0)
		return bad(r, r->key);
	else if (key_is(r, "cache_size"))
		e->entry.cache_size = (uint64_t)n;
	else if (key_is(r, "source_size"))
		e->entry.source_size = (uint64_t)n;
	else if (key_is(r, "broken_units"))
		e->entry.bad_units = (uint32_t)n;
	return 1;
}

static int on_boolean(void *ctx, int value)
{
	struct reading *r = ctx;

	if (r->is_entries && r->depth == IN_ENTRY && key_is(r, "build_id_derived") && r->m->num)
		r->m->entries[r->m->num - 1].entry.build_id_derived = value;
	return 1;
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	struct reading *r = ctx;

	snprintf(r->key, sizeof(r->key), "%.*s", (int)(len < 32 ? len : 32), (const char *)s);
	return 1;
}

static int deeper(struct reading *r)
{
	return ++r->depth <= MAX_DEPTH || bad(r, "so many levels");
}

static int on_map(void *ctx)
{
	struct reading *r = ctx;

	if (r->depth == IN_BUNDLE)
		r->is_entries = false;
	if (r->is_entries && r->depth == IN_ENTRIES)
		push(r->m);
	r->key[0] = 0;
	return deeper(r);
}

static int on_array(void *ctx)
{
	struct reading *r = ctx;

	if (r->depth == IN_BUNDLE)
		r->is_entries = key_is(r, "entries");
	return deeper(r);
}

static int on_end(void *ctx)
{
	struct reading *r = ctx;

	r->depth--;
	return 1;
}

/* Texts that were not there are empty. */
static void complete(struct symstore_entry *e)
{
	const char **texts[] = { &e->source_path, &e->debug_path, &e->tool_version, &e->tags,
				 &e->transforms };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (!*texts[i])
			*texts[i] = copy("");
}

/* An entry without what it cannot do without is refused at once: a long text of them
 * would take much more memory. */
static int on_end_map(void *ctx)
{
	struct reading *r = ctx;
	struct manifest_entry *e = r->m->num ? &r->m->entries[r->m->num - 1] : NULL;

	on_end(ctx);
	if (!r->is_entries || r->depth != IN_ENTRIES)
		return 1;
	if (e->entry.build_id_len && e->has_hash) {
		complete(&e->entry);
		return 1;
	}
	sc_error_set(r->err, SC_EFORMAT, "the manifest's entry %zu has no %s", r->m->num,
		     e->entry.build_id_len ? "hash" : "build ID");
	return 0;
}

static int check_all(const struct reading *r, struct sc_error *err)
{
	return r->is_bundle ? 0 :
		sc_error_set(err, SC_EFORMAT, "the manifest is not that of a bundle");
}

int manifest_read(struct manifest *m, const char *text, size_t len, struct sc_error *err)
{
	static const yajl_callbacks callbacks = {
		.yajl_boolean = on_boolean, .yajl_integer = on_integer, .yajl_string = on_string,
		.yajl_start_map = on_map, .yajl_map_key = on_key, .yajl_end_map = on_end_map,
		.yajl_start_array = on_array, .yajl_end_array = on_end,
	};
	struct sc_error first = { 0 };
	struct reading r = { .m = m, .err = &first };
	yajl_handle parser = yajl_alloc(&callbacks, NULL, &r);
	int rc;

	*m = (struct manifest){ 0 };
	if (!parser)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	if (yajl_parse(parser, (const unsigned char *)text, len) != yajl_status_ok ||
	    yajl_complete_parse(parser) != yajl_status_ok)
		rc = sc_error_set(err, first.code ? first.code : SC_EFORMAT, "%s",
				  first.code ? first.msg : "the manifest is no JSON text");
	else
		rc = check_all(&r, err);
	yajl_free(parser);
	if (rc)
		manifest_deinit(m);
	return rc;
}

/* ---- looking for entries -------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const struct symstore_entry *x = &((const struct manifest_entry *)a)->entry;
	const struct symstore_entry *y = &((const struct manifest_entry *)b)->entry;
	int order = memcmp(x->build_id, y->build_id, sizeof(x->build_id));

	return order ? order : (x->build_id_len > y->build_id_len) - (x->build_id_len < y->build_id_len);
}

void manifest_sort(struct manifest *m)
{
	if (m->num)
		qsort(m->entries, m->num, sizeof(*m->entries), compare);
}

const struct manifest_entry *manifest_find(const struct manifest *m, const uint8_t *id, size_t len)
{
	struct manifest_entry key = { .entry.build_id_len = len };

	memcpy(key.entry.build_id, id, len);
	return m->num ? bsearch(&key, m->entries, m->num, sizeof(*m->entries), compare) : NULL;
}

int manifest_check(const struct manifest_entry *e, const void *cache, size_t size,
		   struct sc_error *err)
{
	XXH128_hash_t hash = XXH3_128bits(cache, size);
	uint8_t sha256[32];

	if (size != e->entry.cache_size)
		return sc_error_set(err, SC_EFORMAT, "%zu bytes, the manifest says %llu", size,
				    (unsigned long long)e->entry.cache_size);
	if (hash.low64 != e->hash.low64 || hash.high64 != e->hash.high64)
		return sc_error_set(err, SC_EFORMAT, "its hash is not that of the manifest");
	if (e->has_sha256) {
		crypto_hash_sha256(sha256, cache, size);
		if (memcmp(sha256, e->sha256, sizeof(sha256)))
			return sc_error_set(err, SC_EFORMAT, "its SHA-256 is not that of the manifest");
	}
	return 0;
}
