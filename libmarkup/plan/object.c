/* A JSON object on a line → its fields: see rows.h. */
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "libmarkup/plan/rows.h"

/* ---- parsing ------------------------------------------------------------------- */

/* Texts are never longer than the JSON they come from, for which there is room. */
static char *keep(struct mk_object *row, const void *text, size_t len)
{
	char *at = row->arena + row->used;

	memcpy(at, text, len);
	at[len] = 0;
	row->used += len + 1;
	return at;
}

/* The field whose value comes, or NULL: then it is wrong. */
static struct mk_field *value(struct mk_object *row)
{
	return row->open && row->num && !row->ended ? &row->fields[row->num - 1] : NULL;
}

static int on_null(void *ctx)
{
	return value(ctx) != NULL;
}

static int on_bool(void *ctx, int truth)
{
	struct mk_field *f = value(ctx);

	if (f)
		*f = (struct mk_field){ .key = f->key, .number = truth, .kind = FIELD_BOOL };
	return f != NULL;
}

static int on_integer(void *ctx, long long number)
{
	struct mk_field *f = value(ctx);

	if (f)
		*f = (struct mk_field){ .key = f->key, .number = number, .kind = FIELD_NUMBER };
	return f != NULL;
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	struct mk_field *f = value(ctx);

	if (f)
		*f = (struct mk_field){ .key = f->key, .text = keep(ctx, text, len), .len = len,
				     .kind = FIELD_TEXT };
	return f != NULL;
}

static int on_key(void *ctx, const unsigned char *key, size_t len)
{
	struct mk_object *row = ctx;

	if (row->num == ROW_FIELDS || memchr(key, 0, len))
		return 0;
	row->fields[row->num++] = (struct mk_field){ .key = keep(row, key, len) };
	return 1;
}

static int on_open(void *ctx)
{
	struct mk_object *row = ctx;
	const bool first = !row->open;

	row->open = true;
	return first;
}

static int on_close(void *ctx)
{
	return ((struct mk_object *)ctx)->ended = true;
}

static int on_array(void *ctx)
{
	(void)ctx;
	return 0;
}

int mk_object_parse(struct mk_object *row, const char *json, size_t len)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null, .yajl_boolean = on_bool, .yajl_integer = on_integer,
		.yajl_string = on_string, .yajl_start_map = on_open, .yajl_map_key = on_key,
		.yajl_end_map = on_close, .yajl_start_array = on_array,
	};
	const size_t most = 2 * len + 2;
	char *arena = most > row->cap ? realloc(row->arena, most) : row->arena;

	if (!arena)
		return SC_ENOMEM;
	row->arena = arena;
	row->cap = most > row->cap ? most : row->cap;
	row->num = 0;
	row->bad = row->open = row->ended = false;
	row->used = 0;
	if (!row->parser) {
		row->parser = yajl_alloc(&callbacks, NULL, row);
		if (!row->parser)
			return SC_ENOMEM;
		yajl_config(row->parser, yajl_allow_multiple_values, 1);
	}
	if (yajl_parse(row->parser, (const unsigned char *)json, len) == yajl_status_ok &&
	    row->ended)
		return 0;
	/* It does not recover. */
	yajl_free(row->parser);
	row->parser = NULL;
	return SC_EFORMAT;
}

void mk_object_deinit(struct mk_object *row)
{
	if (row->parser)
		yajl_free(row->parser);
	free(row->arena);
	*row = (struct mk_object){ 0 };
}

/* ---- values ---------------------------------------------------------------------- */

static const struct mk_field *find(const struct mk_object *row, const char *key)
{
	for (unsigned i = 0; i < row->num; i++)
		if (!strcmp(row->fields[i].key, key))
			return &row->fields[i];
	return NULL;
}

static const struct mk_field *want(struct mk_object *row, const char *key, int kind)
{
	const struct mk_field *f = find(row, key);

	if (f && (int)f->kind == kind)
		return f;
	row->bad = true;
	return NULL;
}

bool mk_object_has(const struct mk_object *row, const char *key)
{
	const struct mk_field *f = find(row, key);

	return f && f->kind != FIELD_NULL;
}

char *mk_object_text(struct mk_object *row, const char *key)
{
	const struct mk_field *f = want(row, key, FIELD_TEXT);

	row->bad |= f && strlen(f->text) != f->len;
	return f ? f->text : row->none;
}

int64_t mk_object_signed(struct mk_object *row, const char *key)
{
	const struct mk_field *f = want(row, key, FIELD_NUMBER);

	return f ? f->number : 0;
}

uint64_t mk_object_number(struct mk_object *row, const char *key)
{
	const int64_t number = mk_object_signed(row, key);

	row->bad |= number < 0;
	return number < 0 ? 0 : (uint64_t)number;
}

bool mk_object_bool(struct mk_object *row, const char *key)
{
	const struct mk_field *f = want(row, key, FIELD_BOOL);

	return f && f->number;
}

void mk_object_hash(struct mk_object *row, const char *key, char ret[MARKUP_HASH_TEXT])
{
	const char *text = mk_object_text(row, key);

	row->bad |= strlen(text) != MARKUP_HASH_TEXT - 1 || text[strspn(text, "0123456789abcdef")];
	snprintf(ret, MARKUP_HASH_TEXT, "%s", text);
}

/* In their own place. */
struct markup_str mk_object_hex(struct mk_object *row, const char *key)
{
	static const char digits[] = "0123456789abcdef";
	const struct mk_field *f = want(row, key, FIELD_TEXT);
	const size_t len = f ? f->len / 2 : 0;
	char *to = f ? f->text : row->none;

	row->bad |= f && f->len % 2;
	for (size_t i = 0; i < len; i++) {
		const char *high = memchr(digits, f->text[2 * i], 16);
		const char *low = memchr(digits, f->text[2 * i + 1], 16);

		row->bad |= !high || !low;
		to[i] = high && low ? (char)((high - digits) << 4 | (low - digits)) : 0;
	}
	to[len] = 0;
	return (struct markup_str){ to, len };
}

struct markup_str mk_object_bytes(struct mk_object *row, const char *key)
{
	const struct mk_field *f = find(row, key);
	char hex_key[64];

	if (f && f->kind == FIELD_TEXT)
		return (struct markup_str){ f->text, f->len };
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	return mk_object_hex(row, hex_key);
}

int mk_object_choice(struct mk_object *row, const char *key, const char *const *of)
{
	const char *text = mk_object_text(row, key);

	for (int i = 0; of[i]; i++)
		if (!strcmp(of[i], text))
			return i;
	row->bad = true;
	return 0;
}
