/* JSON: see json.h. Strings of plain ASCII are copied at once, and runs of it. */
#include "libmarkup/bytes/json.h"

#include <assert.h>
#include <stdlib.h>

#include "libsymcache/base/utf8.h"

/* With digits as yajl and llvm-symbolizer write them. */
static void escape(struct mk_out *o, unsigned char c)
{
	static const char digits[] = "0123456789ABCDEF";
	static const char letters[] = "b\bt\tn\nf\fr\r\"\"\\\\";
	char text[] = "\\u0000";

	for (const char *l = letters; *l; l += 2) {
		if ((unsigned char)l[1] == c) {
			text[1] = l[0];
			mk_out_put(o, text, 2);
			return;
		}
	}
	text[4] = digits[c >> 4];
	text[5] = digits[c & 15];
	mk_out_put(o, text, 6);
}

/* A bit of bytes that are not printable ASCII, or are " or \\; 0: there are none. */
static inline uint64_t special(const char *eight)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x, quote, slash;

	memcpy(&x, eight, 8);
	quote = x ^ ones * '"';
	slash = x ^ ones * '\\';
	return ((x - ones * ' ') | (quote - ones) | (slash - ones) | x | (x + ones)) & ones << 7;
}

void mk_json_escaped(struct mk_out *o, struct sc_str s)
{
	const char *p = s.ptr, *end = p + s.len, *run = p;

	while (p < end) {
		const unsigned char c = (unsigned char)*p;
		int len = 1;

		if (end - p >= 8 && !special(p)) {
			p += 8;
			continue;
		}
		if (c >= 0x80)
			len = sc_utf8_len(p, (size_t)(end - p));
		if (c >= 0x80 ? len > 0 : c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
			p += len;
			continue;
		}
		mk_out_put(o, run, (size_t)(p - run));
		if (c < 0x80)
			escape(o, c);
		else
			mk_out_lit(o, "\xef\xbf\xbd");
		run = p += abs(len);
	}
	mk_out_put(o, run, (size_t)(p - run));
}

/* Does it go out as it is? */
static inline bool plain(struct sc_str s)
{
	char few[8] = "        ";
	uint64_t any = 0;

	if (s.len < 8)
		return !special(memcpy(few, s.ptr ? s.ptr : few, s.len));
	for (size_t i = 0; i + 8 < s.len; i += 8)
		any |= special(s.ptr + i);
	return !(any | special(s.ptr + s.len - 8));
}

void mk_json_string(struct mk_out *o, struct sc_str s)
{
	char *to = plain(s) ? mk_out_room(o, s.len + 2) : NULL;

	if (!to) {
		mk_out_char(o, '"');
		mk_json_escaped(o, s);
		mk_out_char(o, '"');
		return;
	}
	*to++ = '"';
	if (s.len)
		to = mempcpy(to, s.ptr, s.len);
	*to++ = '"';
	mk_out_used(o, to);
}

/* ---- the generator: layout ----------------------------------------------------------- */

static void indent(struct mk_gen *g)
{
	if (g->pretty)
		mk_out_spaces(g->to, 2 * g->depth);
}

/* What stands before a key or a value. */
static inline void before(struct mk_gen *g)
{
	const uint64_t here = 1ull << g->depth;

	if (g->after_key) {
		g->after_key = false;
		return;
	}
	if (g->any & here)
		mk_out_put(g->to, ",\n", 1 + g->pretty);
	if (g->depth)
		g->any |= here;
	indent(g);
}

static inline void key_of(struct mk_gen *g, const char *key)
{
	const size_t len = key ? strlen(key) : 0;
	char *p;

	if (!key)
		return;
	before(g);
	p = mk_out_room(g->to, len + 4);
	if (p) {
		*p++ = '"';
		p = mempcpy(p, key, len);
		memcpy(p, "\": ", 3);
		mk_out_used(g->to, p + 2 + g->pretty);
	}
	g->after_key = true;
}

static void open(struct mk_gen *g, const char *key, char bracket)
{
	key_of(g, key);
	before(g);
	mk_out_char(g->to, bracket);
	if (g->pretty)
		mk_out_char(g->to, '\n');
	assert(g->depth < MK_GEN_DEPTH);
	g->any &= ~(1ull << ++g->depth);
}

static void close(struct mk_gen *g, char bracket)
{
	g->depth--;
	if (g->pretty)
		mk_out_char(g->to, '\n');
	indent(g);
	mk_out_char(g->to, bracket);
	if (g->pretty && !g->depth)
		mk_out_char(g->to, '\n');
}

void mk_gen_open_map(struct mk_gen *g, const char *key)
{
	open(g, key, '{');
}

void mk_gen_close_map(struct mk_gen *g)
{
	close(g, '}');
}

void mk_gen_open_array(struct mk_gen *g, const char *key)
{
	open(g, key, '[');
}

void mk_gen_close_array(struct mk_gen *g)
{
	close(g, ']');
}

void mk_gen_end(struct mk_gen *g)
{
	if (!g->pretty) /* else it has ended */
		mk_out_char(g->to, '\n');
}

/* ---- the generator: values ----------------------------------------------------------- */

void mk_gen_string(struct mk_gen *g, const char *key, const char *text, size_t len)
{
	key_of(g, key);
	before(g);
	mk_json_string(g->to, (struct sc_str){ text, len });
}

void mk_gen_text(struct mk_gen *g, const char *key, const char *text)
{
	mk_gen_string(g, key, text, text ? strlen(text) : 0);
}

void mk_gen_number(struct mk_gen *g, const char *key, uint64_t number)
{
	key_of(g, key);
	before(g);
	mk_out_dec(g->to, number);
}

void mk_gen_signed(struct mk_gen *g, const char *key, int64_t number)
{
	key_of(g, key);
	before(g);
	mk_out_signed(g->to, number);
}

void mk_gen_hex(struct mk_gen *g, const char *key, uint64_t number)
{
	key_of(g, key);
	before(g);
	mk_put(g->to, "\"", mk_hex(number), "\"");
}

void mk_gen_bytes(struct mk_gen *g, const char *key, const uint8_t *bytes, size_t len)
{
	key_of(g, key);
	before(g);
	mk_out_char(g->to, '"');
	mk_out_bytes(g->to, bytes, len);
	mk_out_char(g->to, '"');
}

void mk_gen_bool(struct mk_gen *g, const char *key, bool value)
{
	mk_gen_raw(g, key, value ? "true" : "false");
}

void mk_gen_raw(struct mk_gen *g, const char *key, const char *json)
{
	key_of(g, key);
	before(g);
	mk_put(g->to, json);
}

void mk_gen_empty_array(struct mk_gen *g, const char *key)
{
	mk_gen_raw(g, key, "[]"); /* no line break between the brackets */
}
