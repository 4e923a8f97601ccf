/*
 * JSON, as it is said: see json_gen.h. The text gathers in a buffer, which goes out in
 * pieces of FLUSH_BYTES, between values. Pretty, it is laid out as yajl does.
 */
#include "cmd/cli/json_gen.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/text.h"
#include "libsymcache/base/utf8.h"

enum { FLUSH_BYTES = 1 << 16, DEPTH_MAX = 64 };

struct json_gen {
	struct text own, *to;
	bool flushes, pretty;
	unsigned depth;
	/* What the current map or array holds so far, by depth. */
	struct { bool any, after_key; } at[DEPTH_MAX];
	char *clean;      /* room for text that had to be mended */
	size_t clean_cap;
};

struct json_gen *json_gen_create_text(bool pretty, struct text *to)
{
	struct json_gen *j = must_calloc(1, sizeof(*j));

	j->pretty = pretty;
	j->to = to ? to : &j->own;
	return j;
}

struct json_gen *json_gen_create_memory(void)
{
	return json_gen_create_text(false, NULL);
}

struct json_gen *json_gen_create(bool pretty)
{
	struct json_gen *j = json_gen_create_text(pretty, NULL);

	j->flushes = true;
	return j;
}

static void flush(struct json_gen *j, size_t at_least)
{
	if (j->flushes && j->to->len >= at_least)
		text_flush(j->to, stdout);
}

struct text *json_gen_compact(struct json_gen *j)
{
	return j->pretty ? NULL : j->to;
}

void json_gen_destroy(struct json_gen *j)
{
	if (!j)
		return;
	free(j->own.bytes);
	free(j->clean);
	free(j);
}

/* ---- layout ---------------------------------------------------------------------- */

static void indent(struct json_gen *j)
{
	for (unsigned i = 0; j->pretty && i < j->depth; i++)
		text_put(j->to, "  ", 2);
}

/* What stands before a key or a value. */
static inline void before(struct json_gen *j)
{
	if (j->at[j->depth].after_key) {
		j->at[j->depth].after_key = false;
		return;
	}
	if (j->at[j->depth].any)
		text_char(j->to, ',');
	if (j->at[j->depth].any && j->pretty && j->depth)
		text_char(j->to, '\n');
	j->at[j->depth].any = j->depth;
	if (j->pretty)
		indent(j);
}

/* A key of ours: plain text. */
static inline void key_of(struct json_gen *j, const char *key)
{
	const size_t len = key ? strlen(key) : 0;
	char *p;

	if (!key)
		return;
	before(j);
	p = text_room(j->to, len + 4);
	*p++ = '"';
	p = mempcpy(p, key, len);
	memcpy(p, "\": ", 3);
	j->to->len += len + 3 + j->pretty;
	j->at[j->depth].after_key = true;
}

static void open(struct json_gen *j, const char *key, char bracket)
{
	key_of(j, key);
	before(j);
	text_char(j->to, bracket);
	if (j->pretty)
		text_char(j->to, '\n');
	if (++j->depth == DEPTH_MAX)
		abort(); /* of our own making */
	memset(&j->at[j->depth], 0, sizeof(j->at[j->depth]));
}

static void close(struct json_gen *j, char bracket)
{
	j->depth--;
	if (j->pretty)
		text_char(j->to, '\n');
	indent(j);
	text_char(j->to, bracket);
	if (j->pretty && !j->depth)
		text_char(j->to, '\n');
}

void json_gen_open_map(struct json_gen *j, const char *key)
{
	open(j, key, '{');
}

void json_gen_close_map(struct json_gen *j)
{
	close(j, '}');
	flush(j, FLUSH_BYTES);
}

void json_gen_open_array(struct json_gen *j, const char *key)
{
	open(j, key, '[');
}

void json_gen_close_array(struct json_gen *j)
{
	close(j, ']');
}

/* ---- words ------------------------------------------------------------------------ */

static void escape(struct text *t, unsigned char c)
{
	static const char shorts[] = "\bb\ff\nn\rr\tt\"\"\\\\";

	for (const char *s = shorts; *s; s += 2) {
		if ((unsigned char)*s == c) {
			text_char(t, '\\');
			text_char(t, s[1]);
			return;
		}
	}
	text_put(t, "\\u00", 4);
	text_char(t, "0123456789ABCDEF"[c >> 4]);
	text_char(t, "0123456789ABCDEF"[c & 15]);
}

/* A bit of bytes that are not ASCII, or control characters, '"' or '\\'; 0: there are none. */
static inline uint64_t special(const char *eight)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t v, quote, backslash;

	memcpy(&v, eight, sizeof(v));
	quote = v ^ ones * '"';
	backslash = v ^ ones * '\\';
	return (v | (v - ones * ' ') | (quote - ones) | (backslash - ones)) & ones << 7;
}

/* Does it go out as it is? */
static inline bool plain(const char *text, size_t len)
{
	char few[8] = "        ";
	uint64_t any = 0;

	if (len < 8)
		return !special(memcpy(few, text ? text : few, len));
	for (size_t i = 0; i + 8 < len; i += 8)
		any |= special(text + i);
	return !(any | special(text + len - 8));
}

/* Valid UTF-8. */
static void put_escaped(struct text *t, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)text[i] < ' ' || text[i] == '"' || text[i] == '\\')
			escape(t, (unsigned char)text[i]);
		else
			text_char(t, text[i]);
	}
}

void json_gen_put_string(struct json_gen *j, const char *text, size_t len)
{
	struct text *t = j->to;
	char *to;

	if (plain(text, len)) {
		to = text_room(t, len + 2);
		*to++ = '"';
		if (len)
			to = mempcpy(to, text, len);
		*to = '"';
		t->len += len + 2;
		return;
	}
	if (sc_utf8_valid(text, len) < len) {
		if (j->clean_cap < 3 * len) {
			j->clean_cap = 3 * len;
			j->clean = must_realloc(j->clean, j->clean_cap);
		}
		len = sc_utf8_mend(text, len, j->clean);
		text = j->clean;
	}
	text_char(t, '"');
	put_escaped(t, text, len);
	text_char(t, '"');
}

void json_gen_string(struct json_gen *j, const char *key, const char *text, size_t len)
{
	key_of(j, key);
	before(j);
	json_gen_put_string(j, text, len);
}

void json_gen_text(struct json_gen *j, const char *key, const char *text)
{
	json_gen_string(j, key, text, text ? strlen(text) : 0);
}

void json_gen_number(struct json_gen *j, const char *key, uint64_t number)
{
	key_of(j, key);
	before(j);
	text_number(j->to, number);
}

void json_gen_signed(struct json_gen *j, const char *key, int64_t number)
{
	key_of(j, key);
	before(j);
	if (number < 0)
		text_char(j->to, '-');
	text_number(j->to, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void json_gen_hex(struct json_gen *j, const char *key, uint64_t number)
{
	key_of(j, key);
	before(j);
	text_char(j->to, '"');
	text_hex(j->to, number);
	text_char(j->to, '"');
}

void json_gen_bool(struct json_gen *j, const char *key, bool value)
{
	json_gen_raw(j, key, value ? "true" : "false");
}

void json_gen_raw(struct json_gen *j, const char *key, const char *json)
{
	key_of(j, key);
	before(j);
	text_str(j->to, json);
}

void json_gen_empty_array(struct json_gen *j, const char *key)
{
	json_gen_raw(j, key, "[]"); /* no line break between the brackets */
}

char *json_gen_take(struct json_gen *j)
{
	char *ret;

	text_char(j->to, 0);
	ret = j->to->bytes;
	j->own.bytes = NULL;
	json_gen_destroy(j);
	return ret;
}

void json_gen_end(struct json_gen *j)
{
	/* Pretty, the line has ended. */
	if (!j->pretty)
		text_char(j->to, '\n');
	j->at[0].any = false;
	flush(j, 0);
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
