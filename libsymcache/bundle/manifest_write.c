/* A manifest as JSON: see manifest.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/json_text.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/bundle/manifest.h"

static void put_bytes(yajl_gen gen, const char *text, size_t len)
{
	yajl_gen_string(gen, (const unsigned char *)text, len);
}

/* Names may hold any bytes: what is not UTF-8 is mended. */
static int put_text(yajl_gen gen, const char *text, size_t len, struct sc_error *err)
{
	char *mended;

	if (sc_utf8_valid(text, len) == len) {
		put_bytes(gen, text, len);
		return 0;
	}
	if (!(mended = malloc(3 * len)))
		return sc_no_memory(err);
	put_bytes(gen, mended, sc_utf8_mend(text, len, mended));
	free(mended);
	return 0;
}

static int put_field(yajl_gen gen, const struct symstore_field *f, struct sc_error *err)
{
	const char *at = f->text, *item;
	char number[24];
	size_t len;
	int rc = 0;

	put_bytes(gen, f->key, strlen(f->key));
	switch (f->type) {
	case SYMSTORE_TEXT:
		return put_text(gen, f->text, strlen(f->text), err);
	case SYMSTORE_NUMBER: /* yajl's integers are signed */
		yajl_gen_number(gen, number, (size_t)sprintf(number, "%" PRIu64, f->number));
		return 0;
	case SYMSTORE_BOOL:
		yajl_gen_bool(gen, (int)f->number);
		return 0;
	case SYMSTORE_LIST:
		yajl_gen_array_open(gen);
		while (!rc && (len = symstore_tags_next(&at, &item)))
			rc = put_text(gen, item, len, err);
		yajl_gen_array_close(gen);
	}
	return rc;
}

static int put_pair(yajl_gen gen, const char *key, const char *text)
{
	return put_field(gen, &(struct symstore_field){ key, SYMSTORE_TEXT, text, 0 }, NULL);
}

static int put_entry(yajl_gen gen, const struct manifest_entry *e, struct sc_error *err)
{
	char name[BUNDLE_NAME], hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_fields fields;
	int rc = 0;

	yajl_gen_map_open(gen);
	put_pair(gen, "file", bundle_name(&e->entry, name));
	snprintf(hex, sizeof(hex), "%016" PRIx64 "%016" PRIx64, e->hash.high64, e->hash.low64);
	put_pair(gen, "cache_xxh128", hex);
	if (e->has_sha256) {
		symcache_build_id_text(hex, e->sha256, sizeof(e->sha256));
		put_pair(gen, "cache_sha256", hex);
	}
	symstore_entry_fields(&e->entry, &fields);
	for (size_t i = 0; i < fields.len && !rc; i++)
		rc = put_field(gen, &fields.data[i], err);
	put_bytes(gen, "time", 4);
	yajl_gen_integer(gen, e->entry.time);
	yajl_gen_map_close(gen);
	return rc;
}

struct writing {
	const struct manifest *m;
	char **ret;
	size_t *len;
	struct sc_error *err;
};

static int write_text(void *ctx, yajl_alloc_funcs *funcs)
{
	const struct writing *w = ctx;
	yajl_gen gen = yajl_gen_alloc(funcs);
	const unsigned char *text;
	int rc = 0;

	yajl_gen_map_open(gen);
	put_pair(gen, "format", "symcache bundle");
	put_bytes(gen, "version", 7);
	yajl_gen_integer(gen, MANIFEST_VERSION);
	put_bytes(gen, "entries", 7);
	yajl_gen_array_open(gen);
	for (size_t i = 0; i < w->m->len && !rc; i++)
		rc = put_entry(gen, &w->m->data[i], w->err);
	yajl_gen_array_close(gen);
	yajl_gen_map_close(gen);
	yajl_gen_get_buf(gen, &text, w->len);
	if (!rc && *w->len > MANIFEST_MAX)
		rc = sc_error_set(w->err, SC_ELIMIT,
				  "%zu entries make a manifest of %zu MB, and no one "
				  "reads more than %d: export parts of them, by tags or with "
				  "--since",
				  w->m->len, *w->len >> 20, MANIFEST_MAX >> 20);
	if (!rc && !(*w->ret = strndup((const char *)text, *w->len)))
		rc = SC_ENOMEM;
	yajl_gen_free(gen);
	return rc;
}

int manifest_write(const struct manifest *m, char **ret, size_t *len, struct sc_error *err)
{
	struct writing w = { m, ret, len, err };
	int rc;

	*ret = NULL;
	rc = sc_json_within(write_text, &w);
	return rc == SC_ENOMEM ? sc_no_memory(err) : rc;
}
