/*
 * JSON, as it is said: see json_gen.h. The text gathers in yajl's buffer and goes
 * out in pieces of FLUSH_BYTES, between values: three times as fast as yajl's
 * callback, which has a word at a time.
 */
#include "cmd/cli/json_gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/number.h"
#include "libsymcache/base/utf8.h"

enum { FLUSH_BYTES = 1 << 16 };

struct json_gen {
	yajl_gen gen;
	bool flushes, pretty;
	char *clean;      /* room for text that had to be mended */
	size_t clean_cap;
};

struct json_gen *json_gen_create_memory(void)
{
	struct json_gen *j = must_calloc(1, sizeof(*j));

	j->gen = must(yajl_gen_alloc(NULL));
	return j;
}

struct json_gen *json_gen_create(bool pretty)
{
	struct json_gen *j = json_gen_create_memory();

	j->flushes = true;
	j->pretty = pretty;
	yajl_gen_config(j->gen, yajl_gen_beautify, pretty);
	yajl_gen_config(j->gen, yajl_gen_indent_string, "  ");
	return j;
}

static void flush(struct json_gen *j, size_t at_least)
{
	const unsigned char *text;
	size_t len;

	yajl_gen_get_buf(j->gen, &text, &len);
	if (!j->flushes || len < at_least)
		return;
	fwrite(text, 1, len, stdout);
	yajl_gen_clear(j->gen);
}

void json_gen_destroy(struct json_gen *j)
{
	if (!j)
		return;
	yajl_gen_free(j->gen);
	free(j->clean);
	free(j);
}

static void key_of(struct json_gen *j, const char *key)
{
	if (key)
		yajl_gen_string(j->gen, (const unsigned char *)key, strlen(key));
}

void json_gen_string(struct json_gen *j, const char *key, const char *text, size_t len)
{
	text = text ? text : "";
	key_of(j, key);
	if (sc_utf8_valid(text, len) < len) {
		if (j->clean_cap < 3 * len) {
			j->clean_cap = 3 * len;
			j->clean = must_realloc(j->clean, j->clean_cap);
		}
		len = sc_utf8_mend(text, len, j->clean);
		text = j->clean;
	}
	yajl_gen_string(j->gen, (const unsigned char *)text, len);
}

void json_gen_text(struct json_gen *j, const char *key, const char *text)
{
	json_gen_string(j, key, text, text ? strlen(text) : 0);
}

void json_gen_number(struct json_gen *j, const char *key, uint64_t number)
{
	char text[20], *p = format_number(text + sizeof(text), number, 10);

	/* yajl's integers are signed. */
	key_of(j, key);
	yajl_gen_number(j->gen, p, (size_t)(text + sizeof(text) - p));
}

void json_gen_signed(struct json_gen *j, const char *key, int64_t number)
{
	key_of(j, key);
	yajl_gen_integer(j->gen, number);
}

void json_gen_hex(struct json_gen *j, const char *key, uint64_t number)
{
	char text[20], *p = format_number(text + sizeof(text), number, 16);

	*--p = 'x';
	*--p = '0';
	key_of(j, key);
	yajl_gen_string(j->gen, (unsigned char *)p, (size_t)(text + sizeof(text) - p));
}

void json_gen_bool(struct json_gen *j, const char *key, bool value)
{
	key_of(j, key);
	yajl_gen_bool(j->gen, value);
}

void json_gen_open_map(struct json_gen *j, const char *key)
{
	key_of(j, key);
	yajl_gen_map_open(j->gen);
}

void json_gen_close_map(struct json_gen *j)
{
	yajl_gen_map_close(j->gen);
	flush(j, FLUSH_BYTES);
}

void json_gen_open_array(struct json_gen *j, const char *key)
{
	key_of(j, key);
	yajl_gen_array_open(j->gen);
}

void json_gen_close_array(struct json_gen *j)
{
	yajl_gen_array_close(j->gen);
}

void json_gen_raw(struct json_gen *j, const char *key, const char *json)
{
	key_of(j, key);
	/* yajl takes a number as it is. */
	yajl_gen_number(j->gen, json, strlen(json));
}

void json_gen_empty_array(struct json_gen *j, const char *key)
{
	/* yajl would break the line between the brackets. */
	json_gen_raw(j, key, "[]");
}

char *json_gen_take(struct json_gen *j)
{
	const unsigned char *text;
	size_t len;
	char *copy;

	yajl_gen_get_buf(j->gen, &text, &len);
	copy = must_asprintf("%.*s", (int)len, (const char *)text);
	json_gen_destroy(j);
	return copy;
}

void json_gen_end(struct json_gen *j)
{
	flush(j, 0);
	yajl_gen_reset(j->gen, NULL);
	/* With beautify, yajl has ended the line. */
	if (!j->pretty)
		putchar('\n');
}

struct json_gen *json_gen_begin_report(bool pretty)
{
	struct json_gen *j = json_gen_create(pretty);

	json_gen_open_map(j, NULL);
	return j;
}

void json_gen_end_report(struct json_gen *j)
{
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
}
