/* Whose code is it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/bytes/own.h"

static const struct {
	const char *module, *function, *file;
	bool own;
} cases[] = {
	{ "/opt/shop/bin/bill", "main", "/usr/src/shop/bill.cc", true },
	{ "bill", "shop::Money::operator*(int) const", "money.hh", true },
	{ "/home/me/a.out", "f", "", true },
	{ "/usr/local/lib/libshop.so", "f", "", true },
	{ "vmlinux", "tcp_sendmsg", "net/ipv4/tcp.c", true },
	{ "/opt/shop/bin/bill", "std::vector<int>::at(unsigned long)", "/usr/include/c++/12/bits/stl_vector.h", false },
	{ "/opt/shop/bin/bill", "_start", "", false },
	{ "/opt/shop/bin/bill", "malloc", "", false },
	{ "/opt/shop/bin/bill", "operator new(unsigned long)", "", false },
	{ "/opt/shop/bin/bill", "__interceptor_malloc", "", false },
	{ "/opt/shop/bin/bill", "core::panicking::panic", "/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/core/src/panicking.rs", false },
	{ "/opt/shop/bin/bill", "std::hash<Money>::operator()(Money) const", "/usr/src/shop/money.hh", true },
	{ "/lib/x86_64-linux-gnu/libc.so.6", "abort", "./stdlib/abort.c", false },
	{ "/usr/lib/x86_64-linux-gnu/libfoo.so", "foo", "/build/foo/foo.c", false },
	{ "libc.so.6", "__poll", "../sysdeps/unix/sysv/linux/poll.c", false },
	{ "[vdso]", "", "", false }, { "linux-vdso.so.1", "", "", false },
	{ "/opt/bill", "f", "../../sysdeps/x.c", false }, { "/opt/bill", "f", "./.././nptl/x.c", false },
	{ "/opt/bill", "f", "../shop/x.c", true }, { "/opt/bill", "f", ".../sysdeps/x.c", true },
	{ "/opt/bill", "f", "./", true }, { "/opt/bill", "f", "shop/sysdeps/x.c", true },
	{ "/opt/bill", "free", "", false }, { "/opt/bill", "free_all", "", true }, { "/opt/bill", "fre", "", true },
	{ "/opt/bill", "malloc", "/opt/src/malloc.c", false }, { "/opt/bill", "", "", true },
	{ "/opt/bill", "std::sort", "", false }, { "/opt/bill", "std::sort", "/opt/src/sort.h", true },
	{ "", "main", "", true },
	{ "/apex/com.android.runtime/lib64/bionic/libc.so", "abort", "", false },
};

static bool is_own(const char *const *patterns, const char *module, const char *function,
		   const char *file)
{
	return mk_is_own(patterns, mk_own_module(patterns, sc_str_of(module)),
			 mk_own_place(patterns, sc_str_of(function), sc_str_of(file)));
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (is_own(NULL, cases[i].module, cases[i].function, cases[i].file) != cases[i].own)
			fail_msg("%s %s %s", cases[i].module, cases[i].function, cases[i].file);
	}
}

static void test_patterns(void **state)
{
	static const char *const patterns[] = { "/usr/lib/shop/", "*/shop/*.cc", NULL };
	static const char *const none[] = { NULL };

	(void)state;
	assert_true(is_own(patterns, "/usr/lib/shop/bill", "f", ""));
	assert_true(is_own(patterns, "/lib/libc.so.6", "f", "/build/shop/a/b.cc"));
	assert_false(is_own(patterns, "/opt/bill", "main", "/build/shop/a/b.hh"));
	assert_false(is_own(patterns, "", "main", ""));
	assert_true(is_own(none, "/opt/bill", "main", ""));
	/* What is longer than a path can be fits no pattern. */
	for (size_t len = 4090; len < 4100; len++) {
		char path[4100] = "/usr/lib/shop/";

		memset(path + strlen(path), 'a', len - strlen(path));
		path[len] = 0;
		assert_int_equal(is_own(patterns, path, "f", ""), len < 4096);
	}
	assert_true(is_own((const char *const[]){ "/a/b?", "[xy]z", "nothing", NULL }, "/a/bc", "f", ""));
	assert_true(is_own((const char *const[]){ "/a/b?", "[xy]z", "nothing", NULL }, "yz", "f", ""));
	assert_false(is_own((const char *const[]){ "/a/b?", "[xy]z", "nothing", NULL }, "/a/bcd", "f", ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table), cmocka_unit_test(test_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
