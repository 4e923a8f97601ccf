/* Symbols that are in no table of the file itself, or that are of no use without its bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/build.h"

/* f() and g(); no other file can name g(). */
static void make(const char *command)
{
	if (testing_run("cd %s && rm -rf in && mkdir -p in/d && cd in && "
			"echo 'int f(int x) { return 2 * x; }' >d/a.c && "
			"echo 'int __attribute__((visibility(\"hidden\"))) g(int x) { return 3 * x; }' >d/b.c && %s",
			testing_dir, command))
		fail_msg("%s", command);
}

/* The functions of a file. */
static void expect_functions(const char *name, uint64_t want)
{
	struct symcache_build *b;
	struct sc_error err;
	char path[100];

	snprintf(path, sizeof(path), "%s/in/%s", testing_dir, name);
	assert_int_equal(symcache_build_create(path, NULL, &b, &err), 0);
	assert_int_equal(symcache_build_info(b)->functions, want);
	symcache_build_destroy(b);
}

/* Symbols that are those of descriptors, of which a debug file has no bytes. */
static void test_descriptors(void **state)
{
	(void)state;
	if (testing_run("command -v powerpc64-linux-gnu-gcc >/dev/null"))
		skip();
	make("powerpc64-linux-gnu-gcc -g -O1 -fPIC -mabi=elfv1 -c d/a.c && "
	     "powerpc64-linux-gnu-gcc -O1 -fPIC -mabi=elfv1 -c d/b.c && "
	     "powerpc64-linux-gnu-gcc -shared -nostdlib -Wl,--build-id=0xaabbccdd -o whole a.o b.o && "
	     "powerpc64-linux-gnu-objcopy --only-keep-debug whole x.debug && "
	     "powerpc64-linux-gnu-objcopy --strip-all --add-gnu-debuglink=x.debug whole x");
	expect_functions("whole", 2);
	expect_functions("x", 2);
}

/* Symbols that .dynsym has, and those that MiniDebugInfo has. */
static void test_mini(void **state)
{
	(void)state;
	if (testing_run("command -v xz >/dev/null"))
		skip();
	make("gcc -O1 -fPIC -shared -nostdlib -Wl,--build-id=0xaabbccdd -o whole d/a.c d/b.c && "
	     "objcopy --strip-all --keep-symbol=g whole m && xz m && strip -o bare whole && "
	     "objcopy --add-section .gnu_debugdata=m.xz bare x");
	expect_functions("whole", 2);
	expect_functions("bare", 1);
	expect_functions("x", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_mini),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
