/* What the cache of each seed of the fuzz targets says, and of damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/read/cache_text_test.h"
#include "libsymcache/write/info_test.h"

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	const struct symcache_build_options options = { .no_debug_search = true,
							.threads = 1,
							.locals = true };
	struct symcache_build *b;
	struct symcache cache;
	struct sc_error err;
	uint8_t *made;
	char path[32];
	int fd = testing_memfd(bytes, size, path);
	int rc = symcache_build_create(path, &options, &b, &err);

	if (rc) {
		/* The name of the file is another each time. */
		const char *message =
			strncmp(err.msg, path, strlen(path)) ? err.msg : err.msg + strlen(path);

		fprintf(to, "%d %s\n", rc, message);
	} else {
		put_info(to, b);
		made = malloc(symcache_build_size(b));
		symcache_build_write(b, made);
		assert_int_equal(symcache_open(&cache, made, symcache_build_size(b), &err), 0);
		put_cache(to, &cache);
		symcache_build_destroy(b);
		free(made);
	}
	close(fd);
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "build", "first", NULL };

	(void)state;
	expect_answers("write", seeds, 24, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
