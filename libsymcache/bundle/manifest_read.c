/*
 * JSON → manifest: see manifest.h. Reading is by events, so that memory grows with the
 * entries only, and takes any bytes: what has no build ID or is of the wrong type is an
 * error, what is unknown is skipped.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/json_text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/manifest.h"

enum { IN_BUNDLE = 1, IN_ENTRIES = 2, IN_ENTRY = 3, IN_LIST = 4, MAX_DEPTH = 8 };

struct reading {
	struct manifest *m;
	struct sc_error *err;
	int depth;
	bool is_entries, is_bundle;
	char key[32];            /* of the innermost map that has one we know */
	enum { NO_LIST, KINDS, TAGS, NAMES, TRANSFORMS } list;
	VEC(char) lines;         /* of the current list, a newline behind each */
};

static int bad(struct reading *r, const char *what)
{
	sc_error_set(r->err, SC_EFORMAT, "the manifest's entry %zu: %s is not valid",
		     r->m->len, what);
	return 0;
}

static int no_memory(struct reading *r)
{
	sc_no_memory(r->err);
	return 0;
}

static bool key_is(const struct reading *r, const char *key)
{
	return !strcmp(r->key, key);
}

/* The entry that a value at this depth belongs to, or NULL. */
static struct manifest_entry *entry_at(const struct reading *r, int depth)
{
	return r->is_entries && r->depth == depth && r->m->len ? &r->m->data[r->m->len - 1] : NULL;
}

static bool hex_bytes(const char *text, uint8_t *bytes, size_t len)
{
	uint8_t all[SYMCACHE_BUILD_ID_MAX];
	size_t have;

	if (!symcache_build_id_read(text, all, &have) || have != len)
		return false;
	memcpy(bytes, all, len);
	return true;
}

/* Of 16 bytes; or of 8, which are the low ones. */
static bool hex_hash(const char *text, size_t len, struct sc_hash *ret)
{
	uint8_t bytes[16];

	*ret = (struct sc_hash){ 0 };
	if (!hex_bytes(text, bytes, len))
		return false;
	for (size_t i = 0; i < len; i++) {
		ret->high64 = ret->high64 << 8 | ret->low64 >> 56;
		ret->low64 = ret->low64 << 8 | bytes[i];
	}
	return true;
}

static int set_text(struct reading *r, const char **at, char *text)
{
	free((char *)*at);
	*at = text;
	return text || no_memory(r);
}

static int list_item(struct reading *r, struct manifest_entry *e, const char *text)
{
	const size_t len = strlen(text);

	if (r->list == KINDS)
		for (int i = 0; symstore_kinds[i]; i++)
			if (!strcmp(text, symstore_kinds[i]))
				e->entry.sources |= symstore_kind_bit(i);
	if ((r->list == TAGS || r->list == NAMES) && !symstore_tag_valid(text))
		return bad(r, r->key);
	if (r->list < TAGS)
		return 1;
	if (!vec_reserve(&r->lines, len + 1))
		return no_memory(r);
	memcpy(r->lines.data + r->lines.len, text, len);
	r->lines.len += len + 1;
	r->lines.data[r->lines.len - 1] = '\n';
	return 1;
}

static int entry_text(struct reading *r, struct manifest_entry *e, const char *text)
{
	struct sc_hash hash;
	bool ok = true;

	if (key_is(r, "build_id")) {
		ok = symcache_build_id_read(text, e->entry.build_id, &e->entry.build_id_len);
	} else if (key_is(r, "cache_xxh128")) {
		ok = e->has_hash = hex_hash(text, sizeof(e->hash), &e->hash);
	} else if (key_is(r, "cache_xxh3")) {
		ok = hex_hash(text, sizeof(uint64_t), &hash);
		e->entry.cache_hash = hash.low64;
	} else if (key_is(r, "file")) {
		/* What is not packed is found by its own build ID. */
		return !strstr(text, ".packed") || bundle_id_of_name(text, &e->file) || bad(r, r->key);
	} else if (key_is(r, "old_build_id")) {
		ok = symcache_build_id_read(text, e->old.bytes, &e->old.len);
	} else if (key_is(r, "old_cache_xxh128")) {
		ok = hex_hash(text, sizeof(e->old_hash), &e->old_hash);
	} else if (key_is(r, "cache_sha256")) {
		ok = e->has_sha256 = hex_bytes(text, e->sha256, sizeof(e->sha256));
	} else if (key_is(r, "source_xxh128")) {
		ok = hex_hash(text, sizeof(hash), &e->entry.source_hash);
	} else if (key_is(r, "source")) {
		return set_text(r, &e->entry.source_path, strdup(text));
	} else if (key_is(r, "debug_file")) {
		return set_text(r, &e->entry.debug_path, strdup(text));
	} else if (key_is(r, "tool")) {
		return set_text(r, &e->entry.tool_version, strdup(text));
	}
	return ok || bad(r, r->key);
}

static int on_string(void *ctx, const unsigned char *s, size_t len)
{
	struct reading *r = ctx;
	struct manifest_entry *e;
	char *text;
	int go_on = 1;

	if (memchr(s, 0, len))
		return bad(r, "a text with a NUL");
	if (!(text = strndup((const char *)s, len)))
		return no_memory(r);
	if (r->depth == IN_BUNDLE && key_is(r, "format"))
		r->is_bundle = !strcmp(text, "symcache bundle");
	else if ((e = entry_at(r, IN_ENTRY)))
		go_on = entry_text(r, e, text);
	else if ((e = entry_at(r, IN_LIST)))
		go_on = list_item(r, e, text);
	free(text);
	return go_on;
}

static int on_integer(void *ctx, long long n)
{
	struct reading *r = ctx;
	struct manifest_entry *e = entry_at(r, IN_ENTRY);

	if (r->depth == IN_BUNDLE && key_is(r, "version")) {
		r->m->packed = n == MANIFEST_PACKED || n == MANIFEST_DELTAS;
		if (n == MANIFEST_PLAIN || r->m->packed)
			return 1;
		sc_error_set(r->err, SC_EUNSUPPORTED, "the bundle is of version %lld; this program "
			     "knows %d to %d", n, MANIFEST_PLAIN, MANIFEST_DELTAS);
		return 0;
	}
	if (!e)
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
	struct manifest_entry *e = entry_at(r, IN_ENTRY);

	if (e && key_is(r, "build_id_derived"))
		e->entry.build_id_derived = value;
	return 1;
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	struct reading *r = ctx;
	const size_t n = len < sizeof(r->key) ? len : sizeof(r->key) - 1;

	memcpy(r->key, s, n);
	r->key[n] = 0;
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
	if (r->is_entries && r->depth == IN_ENTRIES && !vec_push(r->m))
		return no_memory(r);
	return deeper(r);
}

static int on_array(void *ctx)
{
	struct reading *r = ctx;

	if (r->depth == IN_BUNDLE)
		r->is_entries = key_is(r, "entries");
	if (entry_at(r, IN_ENTRY))
		r->list = key_is(r, "symbols") ? KINDS : key_is(r, "tags") ? TAGS :
			  key_is(r, "names") ? NAMES : key_is(r, "transforms") ? TRANSFORMS : NO_LIST;
	return deeper(r);
}

static int on_end_array(void *ctx)
{
	struct reading *r = ctx;
	struct manifest_entry *e;
	int go_on = 1;

	r->depth--;
	if (!(e = entry_at(r, IN_ENTRY)))
		return 1;
	if (r->lines.len) {
		r->lines.data[r->lines.len - 1] = 0;
		go_on = r->list == TAGS ?
			set_text(r, &e->entry.tags, symstore_tags_unite(r->lines.data, NULL)) :
			r->list == NAMES ?
			set_text(r, &e->entry.names, symstore_names_unite(NULL, r->lines.data)) :
			set_text(r, &e->entry.transforms, strdup(r->lines.data));
	}
	vec_clear(&r->lines);
	r->list = NO_LIST;
	return go_on;
}

/* An entry without what it cannot do without is refused at once: a long text of them
 * would take much more memory. */
static int on_end_map(void *ctx)
{
	struct reading *r = ctx;
	struct manifest_entry *e;

	r->depth--;
	if (!(e = entry_at(r, IN_ENTRIES)))
		return 1;
	e->entry.sources = symstore_kinds_shown(e->entry.sources);
	if (e->entry.build_id_len && e->has_hash)
		return manifest_fill_strings(&e->entry) || no_memory(r);
	sc_error_set(r->err, SC_EFORMAT, "the manifest's entry %zu has no %s", r->m->len,
		     e->entry.build_id_len ? "hash" : "build ID");
	return 0;
}

int manifest_parse(const yajl_callbacks *callbacks, void *ctx, const struct sc_error *first,
		   struct sc_str text, struct sc_error *err)
{
	int rc;

	if (text.len > MANIFEST_MAX)
		return sc_error_set(err, SC_EFORMAT, "the manifest has %zu MB, more than %d",
				    text.len >> 20, MANIFEST_MAX >> 20);
	rc = sc_json_parse(callbacks, ctx, text.ptr, text.len, NULL);
	if (!rc)
		return 0;
	return rc == SC_ENOMEM ? sc_no_memory(err) :
		sc_error_set(err, first->code ? first->code : SC_EFORMAT, "%s",
			     first->code ? first->msg : "the manifest is not JSON");
}

int manifest_read(struct manifest *m, const char *text, size_t len, struct sc_error *err)
{
	static const yajl_callbacks callbacks = {
		.yajl_boolean = on_boolean, .yajl_integer = on_integer, .yajl_string = on_string,
		.yajl_start_map = on_map, .yajl_map_key = on_key, .yajl_end_map = on_end_map,
		.yajl_start_array = on_array, .yajl_end_array = on_end_array,
	};
	struct sc_error first = { 0 };
	struct reading r = { .m = m, .err = &first };
	int rc;

	*m = (struct manifest){ 0 };
	rc = manifest_parse(&callbacks, &r, &first, (struct sc_str){ text, len }, err);
	if (!rc && !r.is_bundle)
		rc = sc_error_set(err, SC_EFORMAT, "the manifest is not that of a bundle");
	vec_deinit(&r.lines);
	if (rc)
		manifest_deinit(m);
	return rc;
}
