/* JSON texts: what callbacks get, where a text is wrong, and where a callback ends it. Hashes of bytes,
 * as other programs write them. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/base/error.h"
#include "libsymcache/base/hash.h"
#include "libsymcache/base/json_text.h"

struct got {
	char text[200];
	bool end_at_number;
};

static int on_number(void *ctx, const char *number, size_t len)
{
	struct got *g = ctx;

	sprintf(g->text + strlen(g->text), "%.*s ", (int)len, number);
	return !g->end_at_number;
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	struct got *g = ctx;

	sprintf(g->text + strlen(g->text), "'%.*s' ", (int)len, (const char *)text);
	return 1;
}

static int on_open(void *ctx)
{
	strcat(((struct got *)ctx)->text, "[ ");
	return 1;
}

static void test_texts(void **state)
{
	static const yajl_callbacks callbacks = {
		.yajl_number = on_number,
		.yajl_string = on_string,
		.yajl_map_key = on_string,
		.yajl_start_array = on_open,
		.yajl_start_map = on_open,
	};
	static const struct {
		const char *text;
		bool end_at_number;
		int rc;
		size_t end;
		const char *got;
	} cases[] = {
		{ "{\"a\": [1, \"b\\n\", -2.5e3]}", false, 0, 25, "[ 'a' [ 1 'b\n' -2.5e3 " },
		{ "[]", false, 0, 2, "[ " },
		{ " 7 ", false, 0, 3, "7 " },
		{ "", false, SC_EFORMAT, 0, "" },
		{ "[1, 2", false, SC_EFORMAT, 5, "[ 1 2 " },
		{ "[1 2]", false, SC_EFORMAT, 4, "[ 1 " },
		{ "[1] x", false, SC_EFORMAT, 5, "[ 1 " },
		{ "[1, 2]", true, SC_EFORMAT, 2, "[ 1 " },
		{ "[\"\\ud800\"]", false, 0, 10, "[ '?' " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct got g = { .end_at_number = cases[i].end_at_number };
		size_t end = 99;
		const int rc =
			sc_json_parse(&callbacks, &g, cases[i].text, strlen(cases[i].text), &end);

		if (rc != cases[i].rc || end != cases[i].end || strcmp(g.text, cases[i].got))
			fail_msg("%s: %d at %zu, '%s'", cases[i].text, rc, end, g.text);
		g.text[0] = 0;
		assert_int_equal(
			sc_json_parse(&callbacks, &g, cases[i].text, strlen(cases[i].text), NULL),
			rc);
	}
}

/* Deep texts, whose parser takes memory again and again. */
static void test_deep(void **state)
{
	static const yajl_callbacks none;
	enum { DEPTH = 20000 };
	char *text = malloc(2 * DEPTH);

	(void)state;
	memset(text, '[', DEPTH);
	memset(text + DEPTH, ']', DEPTH);
	assert_int_equal(sc_json_parse(&none, NULL, text, 2 * DEPTH, NULL), 0);
	assert_int_equal(sc_json_parse(&none, NULL, text, 2 * DEPTH - 1, NULL), SC_EFORMAT);
	free(text);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static size_t in_use(void)
{
	const struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

/* Parses a text for which there is no memory, again and again. 0: that is said, and what was taken is given
 * back. */
static int parse_without_memory(const char *text, size_t size)
{
	static const yajl_callbacks callbacks = { .yajl_string = on_string };
	struct rlimit limit;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	size_t before = 0;

	if (!f || fscanf(f, "%lu", &pages) != 1 || getrlimit(RLIMIT_AS, &limit))
		return 2;
	limit.rlim_cur = pages * (size_t)sysconf(_SC_PAGESIZE) + size / 4;
	if (setrlimit(RLIMIT_AS, &limit))
		return 3;
	for (int i = 0; i < 3; i++) {
		before = in_use(); /* behind the first time: malloc() keeps some blocks of its own */
		if (sc_json_parse(&callbacks, &(struct got){ .text = "" }, text, size, NULL) != SC_ENOMEM)
			return 4;
	}
	return in_use() == before ? 0 : 5;
}

static void test_no_memory(void **state)
{
	enum { SIZE = 32 << 20 };
	char *text = malloc(SIZE);
	int status;
	pid_t child;

	(void)state;
	memset(text, 'a', SIZE);
	memcpy(text, "\"\\n", 3); /* with an escape, the text is copied */
	text[SIZE - 1] = '"';
	child = fork();
	if (!child)
		_exit(parse_without_memory(text, SIZE));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	free(text);
}
#endif

static void test_hashes(void **state)
{
	uint8_t bytes[600 + 8] = { 0 };
	char text[SC_HASH_TEXT];

	(void)state;
	for (size_t size = 0; size <= 600; size += 1 + size / 3) {
		XXH128_hash_t want;
		uint64_t behind, hash;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)(i * 7);
		want = XXH3_128bits(bytes, size);
		assert_int_equal(sc_hash_of(bytes, size).low64, want.low64);
		assert_int_equal(sc_hash_of(bytes, size).high64, want.high64);
		hash = sc_write_hash(bytes, size);
		assert_int_equal(hash, XXH3_64bits(bytes, size + 8));
		memcpy(&behind, bytes + size, 8);
		assert_int_equal(behind, XXH3_64bits(bytes, size));
	}
	assert_string_equal(sc_hash_text((struct sc_hash){ 0x1234, 0xab }, text),
			    "00000000000000ab0000000000001234");
	assert_true(sc_hash_same((struct sc_hash){ 1, 2 }, (struct sc_hash){ 1, 2 }));
	assert_false(sc_hash_same((struct sc_hash){ 1, 2 }, (struct sc_hash){ 1, 3 }));
	assert_false(sc_hash_same((struct sc_hash){ 1, 2 }, (struct sc_hash){ 0, 2 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_deep),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
		cmocka_unit_test(test_no_memory),
#endif
		cmocka_unit_test(test_hashes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
