/* What names count as in groups of stacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libmarkup/output/group.h"

static void test_fold(void **state)
{
	static const struct { const char *name, *want; } cases[] = {
		{ "f", "f\n" },
		{ "f.cold", "f\n" },
		{ "f.part.0.isra.0", "f\n" },
		{ "f.constprop.12.cold.3", "f\n" },
		{ "f.llvm.8127341", "f\n" },
		{ "f.part.9.isra.19", "f\n" },
		{ "f.7", "f.7\n" }, { "7", "7\n" }, { " (.cold)", " (.cold)\n" },
		{ ".cold", ".cold\n" },
		{ "main.(*T).part", "main.(*T)\n" },
		{ "a::f(int) (.cold)", "a::f(int)\n" }, { "f [clone .cold]", "f\n" }, { "f (.cold)", "f\n" },
		{ ")", ")\n" }, { " [clone .cold]", " [clone .cold]\n" }, { "x]", "x]\n" },
		{ "a::f(int) [clone .isra.0] [clone .cold]", "a::f(int)\n" },
		{ "a::f(int) (.constprop.0) [clone .cold]", "a::f(int)\n" },
		{ "a::f(int) const", "a::f(int) const\n" },
		{ "-[NSString length.cold]", "-[NSString length.cold]\n" },
		{ "f(void (*)(.cold))", "f(void (*)(.cold))\n" },
		{ "memcpy@@GLIBC_2.14", "memcpy\n" },
		{ "@plt", "@plt\n" },
		{ "core::panicking::panic::h0123456789abcdef", "core::panicking::panic\n" },
		{ "core::h0123456789abcde", "core::h0123456789abcde\n" },
		{ "core::h0123456789abcdef0", "core::h0123456789abcdef0\n" },
		{ "::h0123456789abcdef", "::h0123456789abcdef\n" },
		{ "a\nb\033", "a?b?\n" },
		{ "a\302\233b\233\303\251", "a?b?\303\251\n" },
	};
	struct mk_out o;

	(void)state;
	assert_int_equal(mk_out_init(&o, 64, NULL, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		o.len = 0;
		mk_group_fold(&o, sc_str_of(cases[i].name));
		mk_out_char(&o, 0);
		assert_string_equal(o.buf, cases[i].want);
	}
	mk_out_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_fold) };

	return cmocka_run_group_tests_name("group_fold", tests, NULL, NULL);
}
