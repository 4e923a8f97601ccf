/* Unit tests of what subcommands share: build IDs, the store's place. */
#include "cmd/cmd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_parse_build_id(void **state)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	char text[2 * SYMCACHE_BUILD_ID_MAX + 2], back[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct sc_error err;
	size_t nibbles;

	(void)state;
	assert_int_equal(parse_build_id("aB9", id, &nibbles, &err), 0);
	assert_int_equal(nibbles, 3);
	assert_int_equal(id[0], 0xab);
	assert_int_equal(id[1], 0x90);
	memset(text, 'f', sizeof(text));
	text[2 * SYMCACHE_BUILD_ID_MAX] = 0;
	assert_int_equal(parse_build_id(text, id, &nibbles, &err), 0);
	format_build_id(back, id, nibbles / 2);
	assert_string_equal(back, text);
	text[2 * SYMCACHE_BUILD_ID_MAX] = 'f';
	text[2 * SYMCACHE_BUILD_ID_MAX + 1] = 0;
	assert_int_equal(parse_build_id(text, id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(parse_build_id("", id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(parse_build_id("12x", id, &nibbles, &err), SC_EINVAL);
	assert_string_equal(err.msg, "build ID '12x': 'x' is no hex digit");
	assert_int_equal(parse_build_id("1`", id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(parse_build_id("1g", id, &nibbles, &err), SC_EINVAL);
	assert_int_equal(parse_build_id("1\x10", id, &nibbles, &err), SC_EINVAL);
}

static void assert_store_path(const char *option, const char *wanted)
{
	struct sc_error err;
	char *path;

	assert_int_equal(store_path(option, &path, &err), 0);
	assert_string_equal(path, wanted);
	free(path);
}

static void test_store_path(void **state)
{
	struct sc_error err;
	char *path;

	(void)state;
	setenv("HOME", "/home/me", 1);
	setenv("XDG_CACHE_HOME", "/cache", 1);
	setenv("SYMCACHE_STORE", "some.store", 1);
	assert_store_path("my.store", "my.store");
	assert_store_path(NULL, "some.store");
	setenv("SYMCACHE_STORE", "", 1);
	assert_store_path(NULL, "/cache/symcache/symcache.store");
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_store_path(NULL, "/home/me/.cache/symcache/symcache.store");
	unsetenv("XDG_CACHE_HOME");
	assert_store_path(NULL, "/home/me/.cache/symcache/symcache.store");
	unsetenv("HOME");
	assert_int_equal(store_path(NULL, &path, &err), SC_EINVAL);
	assert_null(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse_build_id),
		cmocka_unit_test(test_store_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
