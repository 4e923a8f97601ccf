/* NAME+OFFSET/SIZE, as a kernel prints it: of this program's own functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "libsymcache/symbolize/symbolizer.h"

int __attribute__((noinline)) some_function(int x);
int __attribute__((noinline, noclone)) some_function(int x)
{
	__asm__ volatile("\tnop\n\t.type some_function.cold, STT_FUNC\nsome_function.cold:\n\tnop\n");
	return x * 3 + 1;
}

/* GCC names the unlikely part of a function in the symbol table alone: its own address, not the
 * function's. */
static void test_cold(void **state)
{
	static const struct { const char *name; bool is; } cases[] = {
		{ "some_function.cold", true }, { "some_function.col", false }, { "some_function.cold2", false },
		{ ".cold", false },
	};
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c = symcache_caches_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	struct symcache_module *m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	uint64_t start, vaddr;
	uint32_t at = 0;

	(void)state;
	assert_true(symcache_symbolize_name(s, m, sc_str_of("some_function"), &at, &start));
	assert_false(symcache_symbolize_name(s, m, sc_str_of("some_function"), &at, &vaddr));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		at = 0;
		assert_int_equal(symcache_symbolize_name(s, m, sc_str_of(cases[i].name), &at, &vaddr), cases[i].is);
		if (cases[i].is)
			assert_in_range(vaddr, start + 1, start + 64);
	}
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

static void test_offsets(void **state)
{
	const struct sc_str name = { "some_function", 13 };
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c = symcache_caches_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	struct symcache_module *m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	uint64_t start, vaddr, has, size;
	uint32_t at = 0;

	(void)state;
	assert_int_equal(some_function(1), 4);
	assert_true(symcache_symbolize_name(s, m, name, &at, &start));
	/* One that cannot have the offset says how large it is. */
	assert_false(symcache_symbolize_offset(s, m, &(struct symcache_named){ name, 1 << 20, 0 },
					       &vaddr, &size));
	assert_true(size > 1 && size < 1 << 20);
	const struct { uint64_t offset, size; bool fits; } cases[] = {
		{ 0, 0, true }, { 1, 0, true },
		{ size, 0, true },     /* behind a call that does not return */
		{ size + 1, 0, false },
		{ 1, size, true },
		{ 1, size - 1, false },  /* it was smaller there */
		{ 1, 1 << 20, false }, /* and the next one further away */
		{ size + 1, size, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_named named = { name, cases[i].offset, cases[i].size };

		assert_int_equal(symcache_symbolize_offset(s, m, &named, &vaddr, &has), cases[i].fits);
		assert_true(cases[i].fits ? vaddr == start + named.offset && !has : has == size);
		assert_int_equal(symcache_symbolize_fits(s, m, start, &named, &has), cases[i].fits);
	}
	assert_false(symcache_symbolize_offset(s, m, &(struct symcache_named){ { "none", 4 }, 0, 0 },
					       &vaddr, &has));
	assert_int_equal(has, 0);
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

/* So many symbols as a kernel has, and more; each ends where the next one begins. */
__asm__(".pushsection .text\n\t.altmacro\n\t.macro many n\n\t.type many_\\n, STT_FUNC\nmany_\\n:\n\tnop\n"
	"\t.size many_\\n, . - many_\\n\n\t.endm\n\t.set number, 0\n\t.rept 2200\n\tmany %number\n"
	"\t.set number, number + 1\n\t.endr\n\t.noaltmacro\n\t.popsection");

static void test_many(void **state)
{
	static const char *const texts[] = { "many_0", "many_1000", "many_2100" };
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c = symcache_caches_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	struct symcache_module *m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, "/proc/self/exe");

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const struct sc_str name = sc_str_of(texts[i]);
		uint64_t vaddr, size, has;

		assert_false(symcache_symbolize_offset(s, m, &(struct symcache_named){ name, 100, 0 }, &vaddr, &size));
		assert_true(size);
		assert_true(symcache_symbolize_offset(s, m, &(struct symcache_named){ name, 0, size }, &vaddr, &has));
		assert_false(symcache_symbolize_offset(s, m, &(struct symcache_named){ name, 0, size + 1 }, &vaddr, &has));
		assert_int_equal(has, size);
	}
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

/* A name as it is shown, in a page: kernels print addresses that are hashed, but for the last three digits
 * of them. */
static void test_shown(void **state)
{
	static const struct { const char *name; uint64_t off; bool is; } cases[] = {
		{ "some_function", 0, true }, { " some_ function ", 0, true }, { "some_functio", 0, false },
		{ "some_functionx", 0, false }, { "", 0, false }, { "other_function", 0, false },
		{ "some_function", 1, false }, { "some_function", 0x800, false }, { "some_function", 0x1000, true },
		{ "some_function", 0x7000, true },
	};
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c = symcache_caches_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	struct symcache_module *m = symcache_caches_module(c, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	uint64_t start, vaddr;
	uint32_t at = 0;

	(void)state;
	assert_true(symcache_symbolize_name(s, m, sc_str_of("some_function"), &at, &start));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (uint64_t offset = 0; offset < 6; offset += 3) {
			const uint64_t shown = 0xffff000000000000 + start + cases[i].off + offset;

			if (sc_symbolize_shown(s, m, sc_str_of(cases[i].name), shown, offset, &vaddr) != cases[i].is)
				fail_msg("case %zu, %s", i, cases[i].name);
			if (cases[i].is)
				assert_int_equal(vaddr, start + offset);
		}
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

/* What is no name: a compiler's "?" for a function that has none. */
static void test_no_name(void **state)
{
	static const struct { const char *name, *shown; } cases[] = {
		{ "?", NULL }, { "", NULL }, { "??", "??" }, { "a", "a" }, { "_Z1fv", "f()" }, { "_Z", "_Z" }, { "_Zf", "_Zf" },
	};
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_caches *c = symcache_caches_create(NULL);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sc_str got = symcache_show_name(s, sc_str_of(cases[i].name), SYMCACHE_LANG_CPP);

		if (cases[i].shown ? !sc_str_is(got, cases[i].shown) : got.ptr != NULL)
			fail_msg("%s: %.*s", cases[i].name, (int)got.len, got.ptr);
	}
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_offsets), cmocka_unit_test(test_cold), cmocka_unit_test(test_many),
		cmocka_unit_test(test_shown), cmocka_unit_test(test_no_name) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
