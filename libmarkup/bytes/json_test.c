/* JSON: strings against the plainest loop; what the generator writes, compact and pretty. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/json.h"
#include "libsymcache/base/utf8.h"

/* Byte by byte. */
static size_t slow_escaped(char *to, const char *p, size_t len)
{
	static const char escapes[] = "b\bt\tn\nf\fr\r\"\"\\\\";
	char *begin = to;

	for (size_t i = 0; i < len;) {
		const unsigned char c = (unsigned char)p[i];
		const int n = c < 0x80 ? 1 : sc_utf8_len(p + i, len - i);
		const char *escape = NULL;

		for (const char *e = escapes; *e; e += 2)
			escape = (unsigned char)e[1] == c ? e : escape;
		if (escape)
			to += sprintf(to, "\\%c", *escape);
		else if (c < ' ' || c == 0x7f)
			to += sprintf(to, "\\u%04X", c);
		else
			to = n > 0 ? mempcpy(to, p + i, (size_t)n) : stpcpy(to, "\xef\xbf\xbd");
		i += (size_t)(n > 0 ? n : -n);
	}
	return (size_t)(to - begin);
}

static void check(const char *text, size_t len)
{
	char *copy = malloc(len + 1), want[700]; /* for sanitizers: nothing is read behind it */
	const size_t want_len = slow_escaped(want, text, len);
	struct mk_out o = { 0 };

	memcpy(copy, text, len);
	mk_json_escaped(&o, (struct sc_str){ copy, len });
	assert_int_equal(o.len, want_len);
	assert_true(!want_len || !memcmp(o.buf, want, want_len));
	o.len = 0;
	mk_json_string(&o, (struct sc_str){ copy, len });
	assert_int_equal(o.len, want_len + 2);
	assert_true(o.buf[0] == '"' && o.buf[want_len + 1] == '"' && !memcmp(o.buf + 1, want, want_len));
	mk_out_deinit(&o);
	free(copy);
}

/* Each byte at each place of texts of all lengths around those that are looked at at once. */
static void test_strings(void **state)
{
	static const char *const more[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xe2\x82", "\xf0\x9f",
					    "\xff\xfe", "\xed\xa0\x80", "\xc0\x80", "a\xc3" };
	char text[100];

	(void)state;
	for (size_t len = 1; len < 26; len++) {
		for (size_t at = 0; at < len; at++) {
			memset(text, 'x', len);
			for (int c = 0; c < 256; c++) {
				text[at] = (char)c;
				check(text, len);
			}
			for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
				memset(text, 'x', len);
				memcpy(text + at, more[i], strlen(more[i]));
				check(text, at + strlen(more[i]) > len ? at + strlen(more[i]) : len);
			}
		}
	}
	srand(1);
	for (int i = 0; i < 20000; i++) {
		const size_t len = (size_t)rand() % sizeof(text);

		for (size_t k = 0; k < len; k++)
			text[k] = (char)(rand() % 8 ? 'a' : rand());
		check(text, len);
	}
	check("", 0);
}

static void put_all(struct mk_gen *g)
{
	static const uint8_t bytes[] = { 0, 0x1f, 0xff };

	mk_gen_open_map(g, NULL);
	mk_gen_string(g, "string", "a\"b\nand more", 3);
	mk_gen_text(g, "text", "t");
	mk_gen_text(g, "no text", NULL);
	mk_gen_number(g, "number", UINT64_MAX);
	mk_gen_signed(g, "signed", INT64_MIN);
	mk_gen_signed(g, "positive", 7);
	mk_gen_hex(g, "hex", 0x1f);
	mk_gen_bytes(g, "bytes", bytes, sizeof(bytes));
	mk_gen_bool(g, "yes", true);
	mk_gen_bool(g, "no", false);
	mk_gen_raw(g, "raw", "[1]");
	mk_gen_empty_array(g, "none");
	mk_gen_open_array(g, "array");
	mk_gen_number(g, NULL, 1);
	mk_gen_open_map(g, NULL);
	mk_gen_close_map(g);
	mk_gen_open_array(g, NULL);
	mk_gen_text(g, NULL, "x");
	mk_gen_text(g, NULL, "y");
	mk_gen_close_array(g);
	mk_gen_close_array(g);
	mk_gen_open_map(g, "map");
	mk_gen_bool(g, "last", true);
	mk_gen_close_map(g);
	mk_gen_close_map(g);
	mk_gen_end(g);
}

static void expect(struct mk_out *o, const char *want)
{
	char *got = mk_out_take(o);

	assert_string_equal(got, want);
	free(got);
}

static void test_generator(void **state)
{
	static const char compact[] =
		"{\"string\":\"a\\\"b\",\"text\":\"t\",\"no text\":\"\",\"number\":18446744073709551615,"
		"\"signed\":-9223372036854775808,\"positive\":7,\"hex\":\"0x1f\",\"bytes\":\"001fff\","
		"\"yes\":true,\"no\":false,\"raw\":[1],\"none\":[],\"array\":[1,{},[\"x\",\"y\"]],"
		"\"map\":{\"last\":true}}\n";
	static const char pretty[] =
		"{\n  \"string\": \"a\\\"b\",\n  \"text\": \"t\",\n  \"no text\": \"\",\n"
		"  \"number\": 18446744073709551615,\n  \"signed\": -9223372036854775808,\n"
		"  \"positive\": 7,\n  \"hex\": \"0x1f\",\n  \"bytes\": \"001fff\",\n  \"yes\": true,\n"
		"  \"no\": false,\n  \"raw\": [1],\n  \"none\": [],\n  \"array\": [\n    1,\n    {\n\n    },\n"
		"    [\n      \"x\",\n      \"y\"\n    ]\n  ],\n  \"map\": {\n    \"last\": true\n  }\n}\n";
	struct mk_out o = { 0 };
	struct mk_gen g = { .to = &o };

	(void)state;
	put_all(&g);
	mk_gen_number(&g, NULL, 3);
	mk_gen_end(&g);
	assert_ptr_equal(mk_gen_compact(&g), &o);
	assert_int_equal(strncmp(o.buf, compact, sizeof(compact) - 1), 0);
	assert_string_equal((mk_out_char(&o, 0), o.buf + sizeof(compact) - 1), "3\n");
	mk_out_deinit(&o);
	g = (struct mk_gen){ .to = &o, .pretty = true };
	put_all(&g);
	assert_null(mk_gen_compact(&g));
	expect(&o, pretty);
	/* It goes on in an object. */
	mk_out_lit(&o, "{\"first\":1");
	g = (struct mk_gen){ .to = &o, .depth = 1, .any = 2 };
	mk_gen_number(&g, "second", 2);
	mk_gen_close_map(&g);
	expect(&o, "{\"first\":1,\"second\":2}");
}

/* Each depth remembers for itself whether it holds something. */
static void test_depth(void **state)
{
	char want[1000], *p = want;
	struct mk_out o = { 0 };
	struct mk_gen g = { .to = &o };

	(void)state;
	for (unsigned i = 0; i < MK_GEN_DEPTH; i++) {
		if (i % 2) {
			mk_gen_number(&g, NULL, i);
			p += sprintf(p, "%u,", i);
		}
		mk_gen_open_array(&g, NULL);
		*p++ = '[';
	}
	for (unsigned i = MK_GEN_DEPTH; i--;) {
		mk_gen_close_array(&g);
		*p++ = ']';
		if (i % 3 == 1) {
			mk_gen_number(&g, NULL, i);
			p += sprintf(p, ",%u", i);
		}
	}
	*p = 0;
	expect(&o, want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_strings), cmocka_unit_test(test_generator), cmocka_unit_test(test_depth),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
