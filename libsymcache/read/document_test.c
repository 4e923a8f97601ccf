/* document_test.c: the worked example of format/symcache.md, byte by byte from
 * the page: it is what the page says it is, and the reader agrees with both. */
#include "libsymcache/read/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* The bytes between "```hex" and "```". Each line has the offset and the bytes,
 * and perhaps a comment behind ';'. */
static size_t read_example(uint8_t *bytes, size_t room)
{
	FILE *f = fopen("format/symcache.md", "r");
	char line[300];
	bool inside = false;
	size_t n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = line, *end;

		if (!strncmp(line, "```", 3)) {
			if (inside)
				break;
			inside = !strcmp(line, "```hex\n");
			continue;
		}
		line[strcspn(line, ";")] = '\0';
		if (!inside || !line[strspn(line, " ")])
			continue;
		assert_int_equal(strtoul(at, &end, 10), n);
		for (at = end;; at = end) {
			unsigned long byte = strtoul(at, &end, 16);

			if (end == at)
				break;
			assert_true(byte <= 0xff && n < room);
			bytes[n++] = (uint8_t)byte;
		}
	}
	fclose(f);
	return n;
}

static bool print_fault(void *ctx, const char *fault)
{
	(void)ctx;
	print_message("%s\n", fault);
	return true;
}

static void expect_frame(struct symcache_frames *frames, const char *want)
{
	struct symcache_raw_frame f;
	char path[100], got[200];

	assert_true(symcache_next_frame(frames, &f));
	symcache_path(&f.file, SYMCACHE_PATH_CLEAN, path, sizeof(path));
	snprintf(got, sizeof(got), "%.*s %s:%u:%u", (int)f.function.len, f.function.ptr, path,
		 f.line, f.column);
	assert_string_equal(got, want);
}

static void test_example(void **state)
{
	uint64_t storage[128];
	uint8_t *bytes = (uint8_t *)storage;
	size_t size = read_example(bytes, sizeof(storage));
	uint64_t base;
	struct symcache cache;
	struct symcache_frames frames;
	struct symcache_raw_frame none;
	struct sc_error err = { 0 };
	const uint16_t endian = 1;

	(void)state;
	if (!*(const uint8_t *)&endian) {
		print_message("skipped: the example is little-endian\n");
		skip();
	}
	assert_int_equal(symcache_open(&cache, bytes, size, &err), 0);
	assert_int_equal(symcache_verify(&cache, print_fault, NULL), 0);
	assert_non_null(cache.image);
	assert_non_null(cache.columns);
	assert_non_null(cache.index);
	assert_int_equal(cache.image->build_id_len, 20);
	assert_memory_equal(cache.image->build_id + 16, "\x01\x23\x45\x67", 4);
	base = symcache_load_base(&cache);
	assert_int_equal(base, 0x400000);

	assert_true(symcache_lookup(&cache, 0x40001a - base, &frames));
	expect_frame(&frames, "twice /src/a.c:3:12");
	expect_frame(&frames, "main /src/a.c:8:12");
	assert_false(symcache_next_frame(&frames, &none));
	assert_true(symcache_lookup(&cache, 0x40001c - base, &frames));
	expect_frame(&frames, "main /src/a.c:9:5");
	assert_false(symcache_next_frame(&frames, &none));
	assert_false(symcache_lookup(&cache, 0x400020 - base, &frames));
	assert_false(symcache_lookup(&cache, 0x40000f - base, &frames));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_example) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
