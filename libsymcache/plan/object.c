/* A JSON object on a line, to and from members of a struct: see rows.h. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/json_text.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/plan/rows.h"

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

/* The value of the last key. */
static int set(struct mk_object *row, struct mk_field f)
{
	struct mk_field *last = row->open && row->num && !row->ended ? &row->fields[row->num - 1]
								     : NULL;

	if (!last)
		return 0;
	f.key = last->key;
	*last = f;
	return 1;
}

static int on_null(void *ctx)
{
	return set(ctx, (struct mk_field){ .kind = FIELD_NULL });
}

static int on_bool(void *ctx, int truth)
{
	return set(ctx, (struct mk_field){ .number = truth, .kind = FIELD_BOOL });
}

static int on_integer(void *ctx, long long number)
{
	return set(ctx, (struct mk_field){ .number = number, .kind = FIELD_NUMBER });
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	return set(ctx, (struct mk_field){ .text = keep(ctx, text, len), .len = len,
					   .kind = FIELD_TEXT });
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
	int rc;

	if (!arena)
		return SC_ENOMEM;
	row->arena = arena;
	row->cap = most > row->cap ? most : row->cap;
	row->num = 0;
	row->open = row->ended = false;
	row->used = 0;
	rc = sc_json_parse(&callbacks, row, json, len, NULL);
	return rc || row->ended ? rc : SC_EFORMAT;
}

void mk_object_deinit(struct mk_object *row)
{
	free(row->arena);
	*row = (struct mk_object){ 0 };
}

/* ---- values ---------------------------------------------------------------------- */

static const char hex_digits[] = "0123456789abcdef";

/* The field KEY, or KEY and a suffix; NULL: there is none. */
static struct mk_field *find(struct mk_object *row, const char *key, const char *suffix)
{
	const size_t len = strlen(key);

	for (unsigned i = 0; i < row->num; i++)
		if (!strncmp(row->fields[i].key, key, len) &&
		    !strcmp(row->fields[i].key + len, suffix))
			return &row->fields[i];
	return NULL;
}

bool mk_object_has(struct mk_object *row, const char *key)
{
	const struct mk_field *f = find(row, key, "");

	return f && f->kind != FIELD_NULL;
}

/* Hex digits → bytes, in their own place. */
static bool unpack(struct mk_field *f)
{
	for (size_t i = 0; i < f->len; i++) {
		const char *digit = memchr(hex_digits, f->text[i], 16);

		if (!digit || f->len % 2)
			return false;
		f->text[i / 2] = (char)(f->text[i / 2] * (i % 2 ? 16 : 0) + (digit - hex_digits));
	}
	f->text[f->len /= 2] = 0;
	return true;
}

/* The index of a text, or -1. */
static int find_choice(const char *const *of, const char *text)
{
	for (int i = 0; of[i]; i++)
		if (!strcmp(of[i], text))
			return i;
	return -1;
}

/* The text `f` → the member at `to`. */
static bool read_text(const struct mk_column *c, const struct mk_field *f, void *to)
{
	const struct sc_str bytes = { f->text, f->len };
	int choice;

	switch (c->kind) {
	case MK_HASH:
	case MK_HASH_OR_NONE:
		return f->len == SC_HASH_TEXT - 1 && strspn(f->text, hex_digits) == f->len &&
		       memcpy(to, f->text, SC_HASH_TEXT);
	case MK_CHOICE:
		choice = find_choice(c->of, f->text);
		return choice >= 0 && memcpy(to, &choice, sizeof(choice));
	case MK_TEXT:
	case MK_PATH:
		return strlen(f->text) == f->len && memcpy(to, &f->text, sizeof(f->text));
	default:
		return memcpy(to, &bytes, sizeof(bytes));
	}
}

static bool read_value(struct mk_object *row, const struct mk_column *c, void *to)
{
	struct mk_field *f = find(row, c->key, "");

	if (!f && (c->kind == MK_PATH || c->kind == MK_BYTES) && (f = find(row, c->key, "_hex")) &&
	    (f->kind != FIELD_TEXT || !unpack(f)))
		return false;
	if (!f || f->kind == FIELD_NULL)
		return c->kind == MK_HASH_OR_NONE;
	switch (f->kind) {
	case FIELD_NUMBER:
		if (c->kind != MK_SIGNED && (c->kind != MK_NUMBER || f->number < 0))
			return false;
		*(int64_t *)to = f->number;
		return true;
	case FIELD_BOOL:
		if (c->kind != MK_BOOL)
			return false;
		*(bool *)to = f->number;
		return true;
	default:
		return c->kind >= MK_HASH && (c->kind != MK_HEX || unpack(f)) &&
		       read_text(c, f, to);
	}
}

bool mk_object_read(struct mk_object *row, const struct mk_column *columns, void *to)
{
	bool good = true;

	for (const struct mk_column *c = columns; c->key; c++)
		good &= read_value(row, c, (char *)to + c->at);
	return good;
}

/* ---- writing ---------------------------------------------------------------------- */

static struct sc_str text_of(const struct mk_column *c, const void *from)
{
	struct sc_str text = { from, 0 };

	if (c->kind == MK_BYTES || c->kind == MK_HEX) {
		memcpy(&text, from, sizeof(text));
		return text;
	}
	if (c->kind == MK_CHOICE)
		text.ptr = c->of[*(const unsigned *)from];
	else if (c->kind == MK_TEXT || c->kind == MK_PATH)
		text.ptr = *(const char *const *)from;
	text.len = text.ptr ? strlen(text.ptr) : 0;
	return text;
}

static void put_number(struct mk_out *o, const struct mk_column *c, const void *from)
{
	if (c->kind == MK_BOOL)
		mk_put(o, *(const bool *)from ? "true" : "false");
	else if (c->kind == MK_SIGNED)
		mk_out_signed(o, *(const int64_t *)from);
	else
		mk_out_dec(o, *(const uint64_t *)from);
}

void mk_put_columns(struct mk_out *o, const struct mk_column *columns, const void *from)
{
	for (const struct mk_column *c = columns; c->key; c++) {
		const void *at = (const char *)from + c->at;
		const bool is_text = c->kind >= MK_HASH;
		const struct sc_str text = is_text ? text_of(c, at) : (struct sc_str){ 0 };
		const bool odd = (c->kind == MK_PATH || c->kind == MK_BYTES) &&
				 sc_utf8_valid(text.ptr, text.len) != text.len;

		if (c->kind == MK_HASH_OR_NONE && !text.len)
			continue;
		mk_put(o, c == columns ? "{\"" : ",\"", c->key, odd ? "_hex\":" : "\":");
		if (!is_text) {
			put_number(o, c, at);
		} else if (odd || c->kind == MK_HEX) {
			mk_out_char(o, '"');
			mk_out_bytes(o, (const uint8_t *)text.ptr, text.len);
			mk_out_char(o, '"');
		} else {
			mk_json_string(o, text);
		}
	}
}
