/* A JSON object on a line → its fields: see rows.h. */
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_parse.h>

#include "cmd/plan/rows.h"

/* ---- parsing ------------------------------------------------------------------- */

/* Texts are never longer than the JSON they come from, for which there is room. */
static const char *keep(struct row *row, const void *text, size_t len)
{
	char *at = row->arena.bytes + row->arena.len;

	memcpy(at, text, len);
	at[len] = 0;
	row->arena.len += len + 1;
	return at;
}

/* The field whose value comes, or NULL: then it is wrong. */
static struct field *value(struct row *row)
{
	return row->open && row->num && !row->ended ? &row->fields[row->num - 1] : NULL;
}

static int on_null(void *ctx)
{
	return value(ctx) != NULL;
}

static int on_bool(void *ctx, int truth)
{
	struct field *f = value(ctx);

	if (f)
		*f = (struct field){ .key = f->key, .number = truth, .kind = FIELD_BOOL };
	return f != NULL;
}

static int on_integer(void *ctx, long long number)
{
	struct field *f = value(ctx);

	if (f)
		*f = (struct field){ .key = f->key, .number = number, .kind = FIELD_NUMBER };
	return f != NULL;
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	struct field *f = value(ctx);

	if (f)
		*f = (struct field){ .key = f->key, .text = keep(ctx, text, len), .len = len,
				     .kind = FIELD_TEXT };
	return f != NULL;
}

static int on_key(void *ctx, const unsigned char *key, size_t len)
{
	struct row *row = ctx;

	if (row->num == ROW_FIELDS || memchr(key, 0, len))
		return 0;
	row->fields[row->num++] = (struct field){ .key = keep(row, key, len) };
	return 1;
}

static int on_open(void *ctx)
{
	struct row *row = ctx;
	const bool first = !row->open;

	row->open = true;
	return first;
}

static int on_close(void *ctx)
{
	return ((struct row *)ctx)->ended = true;
}

static int on_array(void *ctx)
{
	(void)ctx;
	return 0;
}

bool row_parse(struct row *row, const char *json, size_t len)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null, .yajl_boolean = on_bool, .yajl_integer = on_integer,
		.yajl_string = on_string, .yajl_start_map = on_open, .yajl_map_key = on_key,
		.yajl_end_map = on_close, .yajl_start_array = on_array,
	};

	row->num = 0;
	row->bad = row->open = row->ended = false;
	row->arena.len = 0;
	text_room(&row->arena, 2 * len + 2);
	if (!row->parser) {
		row->parser = must(yajl_alloc(&callbacks, NULL, row));
		yajl_config(row->parser, yajl_allow_multiple_values, 1);
	}
	if (yajl_parse(row->parser, (const unsigned char *)json, len) == yajl_status_ok && row->ended)
		return true;
	/* It does not recover. */
	yajl_free(row->parser);
	row->parser = NULL;
	return false;
}

void row_deinit(struct row *row)
{
	if (row->parser)
		yajl_free(row->parser);
	free(row->arena.bytes);
	*row = (struct row){ 0 };
}

/* ---- values ---------------------------------------------------------------------- */

static const struct field *find(const struct row *row, const char *key)
{
	for (unsigned i = 0; i < row->num; i++)
		if (!strcmp(row->fields[i].key, key))
			return &row->fields[i];
	return NULL;
}

static const struct field *want(struct row *row, const char *key, int kind)
{
	const struct field *f = find(row, key);

	if (f && (int)f->kind == kind)
		return f;
	row->bad = true;
	return NULL;
}

bool row_has(const struct row *row, const char *key)
{
	const struct field *f = find(row, key);

	return f && f->kind != FIELD_NULL;
}

const char *row_text(struct row *row, const char *key)
{
	const struct field *f = want(row, key, FIELD_TEXT);

	row->bad |= f && strlen(f->text) != f->len;
	return f ? f->text : "";
}

int64_t row_signed(struct row *row, const char *key)
{
	const struct field *f = want(row, key, FIELD_NUMBER);

	return f ? f->number : 0;
}

uint64_t row_number(struct row *row, const char *key)
{
	const int64_t number = row_signed(row, key);

	row->bad |= number < 0;
	return number < 0 ? 0 : (uint64_t)number;
}

bool row_bool(struct row *row, const char *key)
{
	const struct field *f = want(row, key, FIELD_BOOL);

	return f && f->number;
}

void row_hash(struct row *row, const char *key, char ret[HASH_TEXT])
{
	const char *text = row_text(row, key);

	row->bad |= strlen(text) != HASH_TEXT - 1 || text[strspn(text, "0123456789abcdef")];
	snprintf(ret, HASH_TEXT, "%s", text);
}

char *row_hex(struct row *row, const char *key, size_t *len)
{
	const struct field *f = want(row, key, FIELD_TEXT);
	char *bytes;

	*len = f ? f->len / 2 : 0;
	bytes = must_calloc(1, *len + 1);
	for (size_t i = 0; f && i < *len; i++) {
		const char pair[3] = { f->text[2 * i], f->text[2 * i + 1] };
		char *end;

		bytes[i] = (char)strtoul(pair, &end, 16);
		row->bad |= *end != 0;
	}
	return bytes;
}

char *row_bytes(struct row *row, const char *key, size_t *len)
{
	const struct field *f = find(row, key);
	char hex_key[64];

	if (f && f->kind == FIELD_TEXT) {
		*len = f->len;
		return memcpy(must_calloc(1, f->len + 1), f->text, f->len);
	}
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	return row_hex(row, hex_key, len);
}

int row_choice(struct row *row, const char *key, const char *const *of)
{
	const char *text = row_text(row, key);

	for (int i = 0; of[i]; i++)
		if (!strcmp(of[i], text))
			return i;
	row->bad = true;
	return 0;
}
