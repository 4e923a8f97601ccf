/*
 * Names that are more than is kept of them: each is right whenever it is asked for, memory is bounded, and what a
 * symbolizer said stays as it is until it is asked again, whatever others ask meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/reverse.h"
#include "libsymcache/symbolize/symbolizer.h"

enum { MODULES = 24, LENGTH = 4 << 20, MOST = 64 << 20 };

/* A cache with a function at 0 that has a name of LENGTH letters, and one at 16, "other"; as a file. */
static int make_file(char letter, char path[32])
{
	const uint32_t none = SYMCACHE_NONE, strings = 6 + 5 + LENGTH;
	const size_t size = sizeof(struct symcache_header) + 2 * (16 + 16 + 4) + strings;
	uint8_t *bytes = calloc(1, size), *s;
	struct symcache_header *h = (void *)bytes;
	struct symcache_function *f = (void *)(h + 1);
	struct symcache_source_location *l = (void *)(f + 2);
	uint32_t *ranges = (void *)(l + 2);
	int fd;

	*h = (struct symcache_header){ .magic = SYMCACHE_MAGIC, .version = 9, .num_functions = 2,
				       .num_source_locations = 2, .num_ranges = 2, .string_bytes = strings };
	f[0] = (struct symcache_function){ 6, none, 0, SYMCACHE_LANG_C };
	f[1] = (struct symcache_function){ 0, none, 16, SYMCACHE_LANG_C };
	l[0] = (struct symcache_source_location){ none, 1, 0, none };
	l[1] = (struct symcache_source_location){ none, 2, 1, none };
	ranges[1] = 16;
	s = (uint8_t *)(ranges + 2);
	memcpy(s, "\5other", 6);
	for (int i = 0; i < 5; i++)
		s[6 + i] = (uint8_t)(LENGTH >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0);
	memset(s + 11, letter, LENGTH);
	fd = testing_memfd(bytes, size, path);
	free(bytes);
	return fd;
}

static bool is_all(struct sc_str s, char letter)
{
	return s.len == LENGTH && *s.ptr == letter && !memcmp(s.ptr, s.ptr + 1, LENGTH - 1);
}

static int take_line(void *ctx, const struct symcache_found_line *found)
{
	(void)ctx, (void)found;
	return 0;
}

static void test_more_than_is_kept(void **state)
{
	struct symcache_caches *c = symcache_caches_create(NULL);
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names), *other = symcache_symbolizer_create(c, names);
	struct symcache_module *m[MODULES];
	struct symcache_answer first, a;
	int fds[MODULES];
	unsigned epochs = 0;
	uint64_t epoch = 0;

	(void)state;
	for (int i = 0; i < MODULES; i++) {
		char path[32];

		fds[i] = make_file((char)('A' + i), path);
		m[i] = symcache_caches_module(c, SYMCACHE_MODULE_CACHE, path);
	}
	assert_int_equal(symcache_find_line(other, m[0], sc_str_of("a.c"), 1, take_line, NULL), 0); /* it has no files */
	assert_int_equal(symcache_symbolize(other, m[0], 3, &first), SYMCACHE_FOUND);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < MODULES; i++) {
			assert_int_equal(symcache_symbolize(s, m[i], (uint64_t)i % 16, &a), SYMCACHE_FOUND);
			assert_true(is_all(a.frames[0].function, (char)('A' + i)));
			assert_int_equal(symcache_symbolize(s, m[i], 17, &a), SYMCACHE_FOUND);
			assert_true(sc_str_is(a.frames[0].function, "other"));
			assert_true(is_all(first.frames[0].function, 'A'));
			epochs += s->epoch != epoch;
			epoch = s->epoch;
		}
	/* Each is begun when 64 MiB are full, no earlier. */
	assert_in_range(epochs, 3 * MODULES * (LENGTH >> 20) / (MOST >> 20) - 1, 3 * MODULES * (LENGTH >> 20) / (MOST >> 20) + 1);
	assert_int_equal(symcache_symbolize(other, m[1], 3, &first), SYMCACHE_FOUND);
	assert_true(is_all(first.frames[0].function, 'B'));
	assert_int_equal(other->epoch, s->epoch);
	symcache_symbolizer_destroy(s);
	symcache_symbolizer_destroy(other);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
	for (int i = 0; i < MODULES; i++)
		close(fds[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_more_than_is_kept) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
