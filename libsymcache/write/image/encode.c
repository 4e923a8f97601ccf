/*
 * Strings that are not UTF-8 → strings that are: see encode.h. They are rare; the tables know
 * whether they ever had one, and only a cache that has some is transformed.
 */
#include "libsymcache/write/image/encode.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/utf8.h"
#include "libsymcache/write/image/transform.h"

/* What was asked for last: a name, or the three parts of a path. */
struct encoder {
	char *texts[3];
	bool failed;
};

/* `s`, or it escaped, until the next one of `slot`. */
static const char *encode(struct encoder *e, int slot, const char *s)
{
	const size_t len = s ? strlen(s) : 0;
	char *text;

	if (sc_utf8_valid(s, len) == len)
		return s;
	text = realloc(e->texts[slot], 3 * len + 1);
	if (!text) {
		e->failed = true;
		return s;
	}
	text[sc_utf8_escape(s, len, text)] = 0;
	return e->texts[slot] = text;
}

static const char *encode_name(void *ctx, const char *name)
{
	return encode(ctx, 0, name);
}

static bool encode_place(void *ctx, struct symcache_place *place)
{
	const struct symcache_place old = *place;

	place->comp_dir = encode(ctx, 0, old.comp_dir);
	place->dir = encode(ctx, 1, old.dir);
	place->name = encode(ctx, 2, old.name);
	return place->comp_dir != old.comp_dir || place->dir != old.dir || place->name != old.name;
}

bool sc_encode_string(struct sc_tables *t, const char *s, uint32_t *ret)
{
	struct encoder e = { .failed = false };
	const bool ok = sc_table_passing_string(t, encode(&e, 0, s), ret) && !e.failed;

	free(e.texts[0]);
	return ok;
}

bool sc_encode(struct sc_tables *t, struct sc_final *ranges, struct sc_data *data,
	       struct sc_locals *locals)
{
	struct encoder e = { .failed = false };
	const struct symcache_transform list = { encode_name, encode_place, &e };
	bool ok = true;

	for (size_t i = 0; t->not_utf8 && i < t->strings.len; i++) {
		const struct sc_string *s = &t->strings.data[i];

		if (sc_utf8_valid(s->ptr, s->len) < s->len) {
			ok = sc_transform(&list, 1, t, ranges, data, locals);
			break;
		}
	}
	for (int i = 0; i < 3; i++)
		free(e.texts[i]);
	return ok && !e.failed;
}
