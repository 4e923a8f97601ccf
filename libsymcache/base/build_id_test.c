/* Unit tests of build IDs as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"

static void test_parse_build_id(void **state)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char text[2 * SYMCACHE_BUILD_ID_MAX + 2], back[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct sc_error err;
	size_t nibbles;

	(void)state;
	assert_int_equal(symcache_build_id_parse("aB9", id, &nibbles, &err), 0);
	assert_int_equal(nibbles, 3);
	assert_int_equal(id[0], 0xab);
	assert_int_equal(id[1], 0x90);
	memset(text, 'f', sizeof(text));
	text[2 * SYMCACHE_BUILD_ID_MAX] = 0;
	assert_int_equal(symcache_build_id_parse(text, id, &nibbles, &err), 0);
	symcache_build_id_text(back, id, nibbles / 2);
	assert_string_equal(back, text);
	text[2 * SYMCACHE_BUILD_ID_MAX] = 'f';
	text[2 * SYMCACHE_BUILD_ID_MAX + 1] = 0;
	assert_int_equal(symcache_build_id_parse(text, id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(symcache_build_id_parse("", id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(symcache_build_id_parse("12x", id, &nibbles, &err), SC_EINVAL);
	assert_string_equal(err.msg, "build ID '12x': 'x' is not a hex digit");
	assert_int_equal(symcache_build_id_parse("1`", id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(symcache_build_id_parse("1g", id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(symcache_build_id_parse("1\x10", id, &nibbles, &err), SC_EINVAL);
	assert_true(symcache_build_id_read("ab9c", id, &nibbles));
	assert_int_equal(nibbles, 2);
	assert_int_equal(id[1], 0x9c);
	assert_false(symcache_build_id_read("ab9", id, &nibbles)); /* the beginning of one */
	assert_false(symcache_build_id_read("", id, &nibbles));
}

/* Where a debug file is; not of IDs that have no such place, nor where there is no room for it. */
static void test_path(void **state)
{
	static const struct { size_t len, room; const char *path; } cases[] = {
		{ 2, 100, "/d/.build-id/ab/cd.debug" }, { 3, 100, "/d/.build-id/ab/cdef.debug" }, { 1, 100, NULL },
		{ 0, 100, NULL }, { SYMCACHE_BUILD_ID_MAX + 1, 1000, NULL }, { 2, 25, "/d/.build-id/ab/cd.debug" },
		{ 2, 24, NULL },
	};
	const uint8_t id[SYMCACHE_BUILD_ID_MAX + 1] = { 0xab, 0xcd, 0xef };
	char path[1000];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(symcache_build_id_path(path, cases[i].room, "/d", id, cases[i].len),
				 cases[i].path != NULL);
		if (cases[i].path)
			assert_string_equal(path, cases[i].path);
	}
	assert_true(symcache_build_id_path(path, sizeof(path), "/d", id, SYMCACHE_BUILD_ID_MAX));
	assert_int_equal(strlen(path), strlen("/d/.build-id//.debug") + 2 * SYMCACHE_BUILD_ID_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_build_id),
		cmocka_unit_test(test_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
