/* Unit tests of bare function names. */
#include "libsymcache/symbolize/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void test_short_names(void **state)
{
	static const char *const table[][2] = {
		{ "main", "main" },
		{ "foo()", "foo" },
		{ "shapes::weigh(shapes::point, int)", "weigh" },
		{ "shapes::box<long>::get(long) const", "get" },
		{ "foo::bar::bar(int)", "bar" },
		{ "foo::~foo()", "~foo" },
		{ "foo::f() &&", "f" },
		{ "foo::f() const &", "f" },
		{ "foo::f(int (*)(char)) volatile", "f" },
		{ "int const& std::max<int>(int const&, int const&)", "max<int>" },
		{ "void f<std::pair<int, a::b> >(x::y)", "f<std::pair<int, a::b> >" },
		{ "(anonymous namespace)::f(int)", "f" },
		{ "void (anonymous namespace)::f<int>(int)", "f<int>" },
		{ "f(int)::local::g()", "g" },
		{ "main::'lambda'()::operator()() const", "operator()" },
		{ "foo::operator()(int)::'lambda'(long)::operator()(long) const", "operator()" },
		{ "foo::operator<(foo const&) const", "operator<" },
		{ "std::ostream& operator<< <char>(std::ostream&, char)", "operator<< <char>" },
		{ "foo::operator->() const", "operator->" },
		{ "foo::operator[](int)", "operator[]" },
		{ "foo::operator new[](unsigned long)", "operator new[]" },
		{ "foo::operator unsigned int() const", "operator unsigned int" },
		{ "std::t<V*>::difference_type x::operator-<V*, std::vector<V>>(y<V>)",
		  "operator-<V*, std::vector<V>>" },
		{ "V::operator std::__cxx11::basic_string<char, a::b>() const",
		  "operator std::__cxx11::basic_string<char, a::b>" },
		{ "V::operator int()::'lambda'()::operator()() const", "operator()" },
		{ "bool std::operator!=<char>(std::a<char> const&)", "operator!=<char>" },
		{ "foo::operators()", "operators" },
		{ "a::operator<(b)::c::d()", "d" },
		{ "a::operator<<(b)::c::d()", "d" },
		{ "a::operator>>=(b)::c::d()", "d" },
		{ "a::operator()(b)::c::d()", "d" },
		{ "a::operator[](b)::c::d()", "d" },
		{ "f() (.part.0)", "f" },
		{ "foo::f(int) const (.isra.0.cold)", "f" },
		{ "foo::name[abi:cxx11]() const", "name" },
		{ "decltype(a->b) f<int>(int)", "f<int>" },
		{ "g::f<(a->b), c::d>(int)", "f<(a->b), c::d>" },
		{ "<alloc::string::String as core::fmt::Write>::write_str", "write_str" },
		{ "mycrate::foo::{closure#0}", "{closure#0}" },
		{ "mycrate::foo::<std::Vec<u32>>", "foo::<std::Vec<u32>>" },
		{ "demangle.test(int)", "demangle.test" },
		{ "x>::y", "y" }, { "a)::b::c", "c" }, { "a]>::b::c<d::e>", "c<d::e>" },
		{ " const", "const" }, { "&", "&" },
		{ "", "" }, { "(", "(" }, { ")", ")" }, { "()", "()" }, { "::", "::" }, { "<", "<" },
		{ "a::", "a::" }, { "operator", "operator" }, { " (.x)", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		struct sc_str s = { table[i][0], strlen(table[i][0]) };
		char text[256] = "";

		s = symcache_short_name(s);
		assert_true(s.len < sizeof(text));
		memcpy(text, s.ptr, s.len);
		if (strcmp(text, table[i][1]))
			fail_msg("'%s' became '%s', not '%s'", table[i][0], text, table[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_short_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
