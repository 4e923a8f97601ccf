/* Unit tests of the store's place. */
#include "libsymcache/store/store.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_path(const char *wanted)
{
	struct sc_error err;
	char *path;

	assert_int_equal(symstore_default_path(&path, &err), 0);
	assert_string_equal(path, wanted);
	free(path);
}

static void test_default_path(void **state)
{
	struct sc_error err;
	char *path;

	(void)state;
	setenv("HOME", "/home/me", 1);
	setenv("XDG_CACHE_HOME", "/cache", 1);
	setenv("SYMCACHE_STORE", "some.store", 1);
	assert_path("some.store");
	setenv("SYMCACHE_STORE", "", 1);
	assert_path("/cache/symcache/symcache.store");
	setenv("XDG_CACHE_HOME", "relative", 1);
	assert_path("/home/me/.cache/symcache/symcache.store");
	unsetenv("XDG_CACHE_HOME");
	assert_path("/home/me/.cache/symcache/symcache.store");
	setenv("HOME", "", 1);
	assert_int_equal(symstore_default_path(&path, &err), SC_EINVAL);
	unsetenv("HOME");
	path = (void *)1;
	assert_int_equal(symstore_default_path(&path, &err), SC_EINVAL);
	assert_null(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
