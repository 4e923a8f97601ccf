/* Unit tests of the demangler: spellings of llvm-cxxfilt-19, and hostile names. */
#include "libsymcache/symbolize/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct symcache_demangler *d;

static int setup(void **state)
{
	(void)state;
	d = symcache_demangler_create();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	symcache_demangler_destroy(d);
	return 0;
}

/* The demangled name in storage that the next call reuses. */
static const char *lang_name(const char *name, uint32_t lang)
{
	static char text[1 << 17];
	struct sc_str s = symcache_demangle(d, sc_str_of(name),
					    lang);

	assert_true(s.len < sizeof(text));
	memcpy(text, s.ptr, s.len);
	text[s.len] = 0;
	return text;
}

static const char *cxx(const char *name)
{
	return lang_name(name, SYMCACHE_LANG_CPP);
}

static void test_cxx(void **state)
{
	(void)state;
	assert_string_equal(cxx("_ZN3foo3barEv"), "foo::bar()");
	assert_string_equal(cxx("._ZN3foo3barEv"), ".foo::bar()");
#ifdef HAVE_CXXABI
	assert_string_equal(cxx("___Z3foov_block_invoke"),
			    "invocation function for block in foo()");
	assert_string_equal(cxx("_ZN3foo3barEv.part.0"), "foo::bar() (.part.0)");
	assert_string_equal(cxx("_ZN3foo3barEv.isra.0.cold"), "foo::bar() (.isra.0.cold)");
	assert_string_equal(cxx("_ZZ4mainENKUlvE_clEv"), "main::'lambda'()::operator()() const");
	assert_string_equal(cxx("_ZNSt6vectorIS_IiSaIiEESaIS1_EE4sizeEv"),
			    "std::vector<std::vector<int, std::allocator<int>>, "
			    "std::allocator<std::vector<int, std::allocator<int>>>>::size()");
#endif
	assert_string_equal(cxx("_ZNK1VcvNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEEv"),
			    "V::operator std::__cxx11::basic_string<char, std::char_traits<char>, "
			    "std::allocator<char> >() const");
}

static void test_left_alone(void **state)
{
	static const char *const names[] = {
		"main", "", "_", "_Z", "_R", "_D", ".", "._Z", "__ZN3foo3barEv", "____Z3foov",
		".._ZN3foo3barEv", ".__Z3foov", "_start", "_DYNAMIC", "_Debug_print", "_Read",
		"_ZTV", "_ZN3fooE_", "i", "foo.part.0", "?foo@@YAXXZ",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(cxx(names[i]), names[i]);
}

static void test_rust(void **state)
{
	static const char legacy[] = "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt.."
				     "Write$GT$9write_str17h0a1b2c3d4e5f6789E";

	(void)state;
	assert_string_equal(lang_name("_RNCNvC7mycrate3foo0", SYMCACHE_LANG_RUST),
			    "mycrate::foo::{closure#0}");
	assert_string_equal(lang_name("_RNvC7mycrate3foo.llvm.123", SYMCACHE_LANG_SYMTAB),
			    "mycrate::foo (.llvm.123)");
	/* Constants of 128 bits, as LLVM writes them. */
	assert_string_equal(lang_name("_RINvC1a1fKnn80000000000000000000000000000000_EC1a",
				      SYMCACHE_LANG_RUST),
			    "a::f::<-0x80000000000000000000000000000000>");
	assert_string_equal(lang_name("_RINvC1a1fKo123456789abcdef0123_Knnff_Ko9876543210fedcba9876_EC1a",
				      SYMCACHE_LANG_RUST),
			    "a::f::<0x123456789abcdef0123, -255, 0x9876543210fedcba9876>");
	/* The second of two that differ in their first digit is not taken for the first. */
	assert_string_equal(lang_name("_RINvC1a1fKo923456789abcdef0123_Ko123456789abcdef0123_EC1a",
				      SYMCACHE_LANG_RUST),
			    "a::f::<0x923456789abcdef0123, 0x123456789abcdef0123>");
	assert_string_equal(lang_name("_RINvC1a1fKoaaaaaaaaaaaaaaaa1_Ko123456789abcdef0123_EC1a",
				      SYMCACHE_LANG_RUST),
			    "a::f::<0xaaaaaaaaaaaaaaaa1, 0x123456789abcdef0123>");
	/* The third is the first once more, by a reference. */
	assert_string_equal(lang_name("_RINvC1a1fKo923456789abcdef0123_Ko1fedcba98765432100_KB8_EC1a",
				      SYMCACHE_LANG_RUST),
			    "a::f::<0x923456789abcdef0123, 0x1fedcba98765432100, 0x923456789abcdef0123>");
	assert_string_equal(lang_name("_RNvINtC7mycrate3FooKn80000000000000000000000000000000_E3bar",
				      SYMCACHE_LANG_RUST),
			    "mycrate::Foo::<0x80000000000000000000000000000000>::bar");
	assert_string_equal(lang_name(legacy, SYMCACHE_LANG_RUST),
			    "<alloc::string::String as core::fmt::Write>::write_str");
	assert_string_equal(lang_name(legacy, SYMCACHE_LANG_SYMTAB),
			    "<alloc::string::String as core::fmt::Write>::write_str");
	assert_non_null(strstr(lang_name(legacy, SYMCACHE_LANG_CPP), "h0a1b2c3d4e5f6789"));
}

static void test_d(void **state)
{
	(void)state;
	assert_string_equal(lang_name("_Dmain", SYMCACHE_LANG_D), "D main");
	assert_string_equal(lang_name("_D8demangle4testFiZv", SYMCACHE_LANG_D),
			    "demangle.test(int)");
}

#ifdef HAVE_LIBIBERTY
/* As addr2line spells them, whatever the language; a version stays. */
static void test_binutils(void **state)
{
	static const char *const table[][2] = {
		{ "_ZN3foo3barEv", "foo::bar()" }, { "._ZN3foo3barEv", ".foo::bar()" }, { "main", "main" },
		{ "_ZN3foo3barEv.part.0", "foo::bar() [clone .part.0]" },
		{ "_ZNSt6vectorIS_IiSaIiEESaIS1_EE4sizeEv", "std::vector<std::vector<int, std::allocator<int> >, "
		  "std::allocator<std::vector<int, std::allocator<int> > > >::size()" },
		{ "_ZN3foo3barEv@VERS_1", "foo::bar()@VERS_1" }, { "_ZN3foo3barEv@@VERS_1.2", "foo::bar()@@VERS_1.2" },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()() const" },
		{ "_ZN1a1b17h0a1b2c3d4e5f6789E", "a::b" }, { "_RNvC7mycrate3foo", "mycrate::foo" },
		{ "_Z@VERS", "_Z@VERS" }, { "main@VERS", "main@VERS" }, { "_Dmain", "_Dmain" }, { "_ZGTt1fv", "transaction clone for f()" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_string_equal(lang_name(table[i][0], SYMCACHE_DEMANGLE_BINUTILS), table[i][1]);
}

/* What is no hash of Rust is a part of the name; what stands behind one is the compiler's. */
static void test_rust_legacy(void **state)
{
	static const char *const table[][2] = {
		{ "_ZN1a1b17h0a1b2c3d4e5f6789E", "a::b" },
		{ "._ZN1a1b17h0a1b2c3d4e5f6789E", ".a::b" },
		{ "_ZN1a1b17h0a1b2c3d4e5f6789E.llvm.77", "a::b (.llvm.77)" },
		{ "_ZN1a1b17h0a1b2c3d4e5f678xE", "a::b::h0a1b2c3d4e5f678x" },
		{ "_ZN1a1b17h0a1b2c3d4e5f6789Ev", "a::b::h0a1b2c3d4e5f6789()" },
		{ "_ZN1a1b16h0a1b2c3d4e5f678E", "a::b::h0a1b2c3d4e5f678" },
		{ "_ZGTt1fv", "_ZGTt1fv" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		assert_string_equal(lang_name(table[i][0], SYMCACHE_LANG_RUST), table[i][1]);
}
#endif

/* A type that is used twice in the next one, and so on: 2^n names. */
static char *doubling_name(int n)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char *name = malloc(32 + 12 * (size_t)n), *p = name;

	p += sprintf(p, "_Z1f1aIiiE");
	for (int i = 0; i < n; i++)
		p += sprintf(p, "S_IS%c_S%c_E", digits[i], digits[i]);
	return name;
}

static void test_hostile(void **state)
{
	static const char *const repeated[] = { "P", "F", "N", "I", "1aI", "ng", "A1_", "M1a", "DT",
						"_Z", "X", "J", "Dp", "St", "S_", "T_", "il" };
	char name[20000];

	(void)state;
	for (int n = 1; n <= 36; n++) {
		char *doubling = doubling_name(n);
		struct sc_str s = { doubling, strlen(doubling) };
		size_t len = symcache_demangle(d, s, SYMCACHE_LANG_CPP).len;

		assert_true(len >= 1 && len <= 8 << 20);
		if (n > 24)
			assert_int_equal(len, s.len);
		free(doubling);
	}
	for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
		for (size_t limit = 15000; limit < 18000; limit += 1500) {
			size_t len = (size_t)sprintf(name, "_Z1f");

			while (len < limit)
				len += (size_t)sprintf(name + len, "%s", repeated[i]);
			symcache_demangle(d, (struct sc_str){ name, len }, SYMCACHE_LANG_CPP);
			memcpy(name, "_D1f", 4);
			symcache_demangle(d, (struct sc_str){ name, len }, SYMCACHE_LANG_D);
			memcpy(name, "_RINv", 5);
			symcache_demangle(d, (struct sc_str){ name, len },
					  SYMCACHE_LANG_RUST);
		}
	}
	assert_string_equal(cxx("_Z3foov"), "foo()");
}

static void test_memory(void **state)
{
	char name[32];
	const struct sc_str foo = { "_Z3foov", 7 }, bar = { "_Z3barv", 7 };
	const struct sc_str first = symcache_demangle(d, foo, SYMCACHE_LANG_CPP);

	(void)state;
	assert_memory_equal(first.ptr, "foo()", 5);
	assert_memory_equal(symcache_demangle(d, bar, SYMCACHE_LANG_CPP).ptr, "bar()", 5);
	assert_string_equal(cxx("main"), "main");
	/* It is not made again. */
	assert_ptr_equal(symcache_demangle(d, foo, SYMCACHE_LANG_CPP).ptr, first.ptr);
	/* More than it keeps: it forgets and goes on. */
	for (int i = 0; i < 400000; i++) {
		sprintf(name, "_Z7f%06dv", i);
		if (i % 1000 == 0) {
			char wanted[32];

			sprintf(wanted, "f%06d()", i);
			assert_string_equal(cxx(name), wanted);
		}
		symcache_demangle(d, sc_str_of(name),
				  SYMCACHE_LANG_CPP);
	}
	assert_string_equal(cxx("_Z3foov"), "foo()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_left_alone),
		cmocka_unit_test(test_rust),
#ifdef HAVE_LIBIBERTY
		cmocka_unit_test(test_binutils), cmocka_unit_test(test_rust_legacy),
#endif
		cmocka_unit_test(test_d),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
