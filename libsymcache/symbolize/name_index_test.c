/* Indexes of names and files: caches in which many records share one long string cost no more than as
 * many short ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>

#include "libsymcache/symbolize/line_index.h"
#include "libsymcache/symbolize/name_index.h"

enum { RECORDS = 1000, SHORT = 8 };

struct made {
	uint8_t *bytes;
	struct symcache cache;
	struct sc_str name; /* of all functions and files but number 0 */
};

/* A cache with functions and files, all of which but the first have a name of `len` bytes. */
static struct made make(uint32_t len)
{
	const size_t functions = RECORDS * sizeof(struct symcache_function);
	const size_t files = RECORDS * sizeof(struct symcache_file_v9);
	const uint32_t strings = SHORT + 1 + 5 + len;
	const size_t size = sizeof(struct symcache_header) + files + functions + strings;
	struct made m = { .bytes = calloc(1, size) };
	struct symcache_header *h = (void *)m.bytes;
	struct symcache_file_v9 *file = (void *)(h + 1);
	struct symcache_function *f = (void *)(file + RECORDS);
	uint8_t *s = (void *)(f + RECORDS);

	*h = (struct symcache_header){ .magic = SYMCACHE_MAGIC, .version = 9, .num_files = RECORDS,
				       .num_functions = RECORDS, .string_bytes = strings };
	for (uint32_t i = 0; i < RECORDS; i++) {
		const uint32_t name = i ? SHORT + 1 : 0, none = SYMCACHE_NONE;

		file[i] = (struct symcache_file_v9){ none, none, name, none, none, none };
		f[i] = (struct symcache_function){ name, none, i, SYMCACHE_LANG_C };
	}
	*s++ = SHORT;
	memset(s, 'a', SHORT);
	s += SHORT;
	for (int i = 0; i < 5; i++)
		*s++ = (uint8_t)(len >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0);
	memset(s, 'b', len);
	m.name = (struct sc_str){ (const char *)s, len };
	assert_int_equal(symcache_open(&m.cache, m.bytes, size, NULL), 0);
	assert_int_equal(symcache_string(&m.cache, SHORT + 1).len, len);
	return m;
}

static uint32_t count_names(struct sc_name_index *x, struct sc_str name)
{
	const uint32_t hash = sc_name_hash(x, name);
	const struct sc_name_key *end, *k = sc_name_keys(&x->linkage, hash, &end);
	uint32_t n = 0;

	for (; k < end; k++)
		n += k->hash == hash && sc_str_same(sc_name_index_name(x, k->item), name);
	return n;
}

static uint32_t count_files(const struct sc_line_index *x, struct sc_str name)
{
	uint32_t n = 0;

	for (uint32_t i = sc_line_index_file(x, name); i; i = x->next_file[i - 1])
		n += sc_str_same(symcache_file(x->cache, i - 1).name, name);
	return n;
}

static void expect(uint32_t len, uint32_t names, uint32_t files)
{
	struct made m = make(len);
	const struct sc_str other = { "aaaaaaaa", SHORT };
	struct sc_name_index *x = sc_name_index_create(&m.cache, 0);
	struct sc_line_index *lines = sc_line_index_create(&m.cache, 0);

	assert_non_null(x);
	assert_non_null(lines);
	assert_int_equal(count_names(x, m.name), names);
	assert_int_equal(count_names(x, other), 1);
	assert_int_equal(count_files(lines, m.name), files);
	assert_int_equal(count_files(lines, other), 1);
	sc_name_index_destroy(x);
	sc_line_index_destroy(lines);
	free(m.bytes);
}

/* That of a real file, also where many static functions are called alike. */
static void finds_shared_names(void **state)
{
	(void)state;
	expect(20, RECORDS - 1, RECORDS - 1);
	expect(200, RECORDS - 1, RECORDS - 1);
}

static void leaves_long_ones_out(void **state)
{
	(void)state;
	expect(1000, 0, RECORDS - 1);
	expect(1100, 0, 0);
	expect(100000, 0, 0);
}

/* 8 * 10^11 bytes to hash, if each name were. */
static void takes_no_time(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++)
		expect(4 << 20, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_shared_names),
		cmocka_unit_test(leaves_long_ones_out),
		cmocka_unit_test(takes_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
