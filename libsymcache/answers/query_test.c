/* Unit tests of input lines; the expectations are what llvm-symbolizer-19 did, but for
 * what it refuses or takes for a name (see query.h). */
#include "libsymcache/answers/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct expected {
	const char *line;
	const char *wrong;    /* NULL: fine */
	enum symcache_module_kind module_kind;
	const char *module;
	enum mk_query_kind kind;
	const char *symbol;   /* NULL: an address */
	uint64_t offset;
};

static void assert_str(struct sc_str s, const char *wanted)
{
	assert_int_equal(s.len, strlen(wanted));
	assert_memory_equal(s.ptr ? s.ptr : "", wanted, s.len);
}

static void check(const struct expected *e, size_t num, bool has_module)
{
	for (size_t i = 0; i < num; i++, e++) {
		struct mk_query q;
		const char *wrong = mk_query_parse(e->line, has_module, NUMBERS_KERNEL, &q);

		if (e->wrong) {
			assert_non_null(wrong);
			assert_non_null(strstr(wrong, e->wrong));
			assert_str(q.module, e->module ? e->module : "");
			continue;
		}
		if (wrong)
			fail_msg("'%s': %s", e->line, wrong);
		assert_int_equal(q.kind, e->kind);
		assert_int_equal(q.module_kind, e->module_kind);
		assert_str(q.module, e->module ? e->module : "");
		assert_true(q.offset == e->offset);
		if (e->symbol)
			assert_str(q.symbol, e->symbol);
		else
			assert_null(q.symbol.ptr);
	}
}

#define CHECK(table, has_module) check(table, sizeof(table) / sizeof(*(table)), has_module)

static void test_module_in_line(void **state)
{
	static const struct expected table[] = {
		{ "a.out 0x11c0", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, NULL, 0x11c0 },
		{ "CODE a.out 0x11c0", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, NULL, 0x11c0 },
		{ "DATA a.out 0x11c0", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_DATA, NULL, 0x11c0 },
		{ "FRAME a.out 0x11c0", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_FRAME, NULL, 0x11c0 },
		{ "  a.out   4544  ", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, NULL, 4544 },
		{ "\ta.out 1", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, NULL, 1 },
		{ "\"a b\" 0x11C0", NULL, SYMCACHE_MODULE_FILE, "a b", QUERY_CODE, NULL, 0x11c0 },
		{ "\"a b\"2 c", NULL, SYMCACHE_MODULE_FILE, "a b", QUERY_CODE, NULL, 2 },
		{ "'a\"b' 1 and more", NULL, SYMCACHE_MODULE_FILE, "a\"b", QUERY_CODE, NULL, 1 },
		{ "FILE:a.out 1", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, NULL, 1 },
		{ "FILE: \"a b\" 1", NULL, SYMCACHE_MODULE_FILE, "a b", QUERY_CODE, NULL, 1 },
		{ "BUILDID:aBc9 1", NULL, SYMCACHE_MODULE_BUILD_ID, "aBc9", QUERY_CODE, NULL, 1 },
		{ "DATA BUILDID: \"abcd\" 1", NULL, SYMCACHE_MODULE_BUILD_ID, "abcd", QUERY_DATA, NULL, 1 },
		{ "a.out xx12", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "xx12", 0 },
		{ "code 1", NULL, SYMCACHE_MODULE_FILE, "code", QUERY_CODE, NULL, 1 },
		{ "a.out _Z1fv", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "_Z1fv", 0 },
		{ "a.out _Z1fv+0x20 x", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "_Z1fv", 0x20 },
		{ "a.out operator+", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "operator+", 0 },
		{ "a.out f+zz", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "f+zz", 0 },
		{ "a.out +0x1", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "+0x1", 0 },
		{ "a.out -5", NULL, SYMCACHE_MODULE_FILE, "a.out", QUERY_CODE, "-5", 0 },
		{ "CODE 0x11c0", "no module offset", .module = "0x11c0" },
		{ "0x11c0", "no module offset", .module = "0x11c0" },
		{ "CODE", "no module offset", .module = "CODE" },
		{ "CODE ", "no input filename" },
		{ " ", "no input filename" },
		{ "\"a.out 0x11c0", "no input filename" },
		{ "FILE:", "followed by an input file" },
		{ "BUILDID: ", "followed by a hash" },
		{ "FILE:'a.out 1", "unbalanced quotes" },
		{ "FILE:FILE:a 1", "duplicate" },
		{ "FILE:BUILDID:a 1", "duplicate" },
		{ "BUILDID:xyz 1", "wrong format of build-id" },
		{ "a.out 12abz", "expected a number", .module = "a.out" },
		{ "a.out 12abc0123456789ab", "expected a number", .module = "a.out" },
		{ "a.out 0x", "expected a number", .module = "a.out" },
		{ "a.out 0x1ffffffffffffffff", "expected a number", .module = "a.out" },
		{ "a.out 09", "expected a number", .module = "a.out" },
	};

	(void)state;
	CHECK(table, false);
}

static void test_module_given(void **state)
{
	static const struct expected table[] = {
		{ "0x11c0", NULL, 0, NULL, QUERY_CODE, NULL, 0x11c0 },
		{ "DATA 16", NULL, 0, NULL, QUERY_DATA, NULL, 16 },
		{ "main", NULL, 0, NULL, QUERY_CODE, "main", 0 },
		{ "main 0x1", NULL, 0, NULL, QUERY_CODE, "main", 0 },
		{ "vfs_read+0x9d/0x2d0", NULL, 0, NULL, QUERY_CODE, "vfs_read", 0x9d },
		{ "vfs_read+0x9d/0x2d0 [kvm]", NULL, 0, NULL, QUERY_CODE, "vfs_read", 0x9d },
		{ "f+0x9d/", NULL, 0, NULL, QUERY_CODE, "f+0x9d/", 0 },
		{ "f+/0x2d0", NULL, 0, NULL, QUERY_CODE, "f+/0x2d0", 0 },
		{ "operator+/0x2d0", NULL, 0, NULL, QUERY_CODE, "operator+/0x2d0", 0 },
		{ "ffffffff81234567", NULL, 0, NULL, QUERY_CODE, NULL, 0xffffffff81234567 },
		{ "7f00deadbeef", NULL, 0, NULL, QUERY_CODE, NULL, 0x7f00deadbeef },
		{ "deadbeef", NULL, 0, NULL, QUERY_CODE, "deadbeef", 0 },
		{ "fffffffff81234567", NULL, 0, NULL, QUERY_CODE, "fffffffff81234567", 0 },
		{ "1e", NULL, 0, NULL, QUERY_CODE, NULL, 0x1e },
		{ "FILE:a 1", "already been specified" },
		{ "BUILDID:a 1", "already been specified" },
		{ "CODE ", "no module offset" },
	};

	(void)state;
	CHECK(table, true);
}

/* What addresses look like to each tool. */
static void test_numbers(void **state)
{
	static const struct {
		enum mk_query_numbers numbers;
		const char *line, *symbol; /* NULL: an address */
		uint64_t offset;
	} cases[] = {
		{ NUMBERS_HEX, "11c0", NULL, 0x11c0 }, { NUMBERS_HEX, "0x11c0", NULL, 0x11c0 },
		{ NUMBERS_HEX, "0X11C0 x", NULL, 0x11c0 }, { NUMBERS_HEX, "0x11c0\t", NULL, 0x11c0 },
		{ NUMBERS_HEX, "10", NULL, 0x10 }, { NUMBERS_HEX, "deadbeef", NULL, 0xdeadbeef },
		{ NUMBERS_HEX, "f+10", "f", 10 }, { NUMBERS_HEX, "f+0x10", "f", 0x10 },
		{ NUMBERS_LLVM, "10", NULL, 10 }, { NUMBERS_LLVM, "0X10", NULL, 16 },
		{ NUMBERS_LLVM, "ffffffff81234567", "ffffffff81234567", 0 },
		{ NUMBERS_LLVM, "f+16", "f", 16 }, { NUMBERS_LLVM, "f+0x10/0x20", "f+0x10/0x20", 0 },
		{ NUMBERS_KERNEL, "f+0x10/0x20", "f", 0x10 },
	};
	static const struct { const char *line, *symbol; uint64_t offset, number; } hex[] = {
		{ "11c0", NULL, 0x11c0, 0x11c0 }, { " 0x11C0 x", NULL, 0x11c0, 0x11c0 },
		{ "", NULL, 0, 0 }, { "zz", "zz", 0, 0 }, { "main x", "main", 0, 0 },
		{ "main+0x10", "main", 0x10, 0 }, { "abc+4", "abc", 4, 0xabc },
		{ "ffffffffffffffff", NULL, UINT64_MAX, UINT64_MAX },
		{ "10000000000000000", NULL, UINT64_MAX, UINT64_MAX }, { "0ffffffffffffffffg", NULL, UINT64_MAX, UINT64_MAX },
	};
	static const struct { const char *line, *module; } kernel[] = {
		{ "f+0x1/0x2 [kvm]", "kvm" }, { "f+0x1/0x2 [kvm] \r\n", "kvm" }, { "f+0x1 [k]", "k" },
		{ "f+0x1/0x2 []", NULL }, { "f+0x1/0x2 [kvm", NULL }, { "f+0x1/0x2 [kvm] x", NULL },
		{ "f [kvm]", NULL }, { "0x10 [kvm]", NULL }, { "f+0x1/0x2", NULL },
	};
	struct mk_query q;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (mk_query_parse(cases[i].line, true, cases[i].numbers, &q) || q.offset != cases[i].offset)
			fail_msg("%s: 0x%llx", cases[i].line, (unsigned long long)q.offset);
		assert_str(q.symbol, cases[i].symbol ? cases[i].symbol : "");
	}
	assert_non_null(mk_query_parse("0x", true, NUMBERS_HEX, &q));
	assert_non_null(mk_query_parse("1g", true, NUMBERS_HEX, &q));
	assert_non_null(mk_query_parse("1e", true, NUMBERS_LLVM, &q));
	for (size_t i = 0; i < sizeof(hex) / sizeof(*hex); i++) {
		uint64_t number;

		mk_query_parse_hex(hex[i].line, &q, &number);
		if (q.offset != hex[i].offset || number != hex[i].number)
			fail_msg("%s: 0x%llx", hex[i].line, (unsigned long long)q.offset);
		assert_str(q.symbol, hex[i].symbol ? hex[i].symbol : "");
	}
	for (size_t i = 0; i < sizeof(kernel) / sizeof(*kernel); i++) {
		if (mk_query_parse_kernel(kernel[i].line, &q) != !!kernel[i].module)
			fail_msg("%s", kernel[i].line);
		if (kernel[i].module)
			assert_str(q.module, kernel[i].module);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_module_in_line),
		cmocka_unit_test(test_module_given),
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
