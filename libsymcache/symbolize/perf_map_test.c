/* Names of JITs: lines, overlaps, whose file it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "libsymcache/symbolize/perf_map.h"

static void reads_lines(void **state)
{
	static const char text[] = "1000 20 first\n1010 8 second\n2000 10 red \033[31m\n"
		"no line\n3000 0 empty\nffffffffffffff00 200 around\n1000 4 again\n0x4000 0x10 last";
	static const struct { uint64_t at; const char *name; } cases[] = {
		{ 0xfff, NULL }, { 0x1000, "again" }, { 0x1003, "again" }, { 0x1004, "first" },
		{ 0x1010, "second" }, { 0x1018, "first" }, { 0x1020, NULL },
		{ 0x2005, "red \\x1b[31m" }, { 0x3000, NULL }, { 0xffffffffffffff80, NULL },
		{ 0x400f, "last" }, { 0x4010, NULL },
	};
	struct symcache_perf_map m;

	(void)state;
	assert_true(symcache_perf_map_read(text, sizeof(text) - 1, &m));
	assert_int_equal(m.list.len, 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *name = symcache_perf_map_name(&m, cases[i].at);

		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
		else
			assert_null(name);
	}
	symcache_perf_map_deinit(&m);
	assert_true(symcache_perf_map_read("", 0, &m));
	assert_null(symcache_perf_map_name(&m, 0));
}

/* All that is read of a text, sorted by address: "START-END NAME; ". */
static void expect_read(const char *text, const char *want)
{
	struct symcache_perf_map m;
	char got[600] = "";
	size_t len = 0;

	assert_true(symcache_perf_map_read(text, strlen(text), &m));
	for (size_t i = 0; i < m.list.len; i++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%llx-%llx %s; ",
					(unsigned long long)m.list.data[i].start, (unsigned long long)m.list.data[i].end,
					m.texts.data + m.list.data[i].name);
	if (strcmp(got, want))
		fail_msg("%s: %s, not %s", text, got, want);
	symcache_perf_map_deinit(&m);
}

static void reads_numbers(void **state)
{
	static const char *const cases[][2] = {
		{ "1000 20 a\n", "1000-1020 a; " }, { "0x1000 0x20 a\n", "1000-1020 a; " }, { "ABCDEF 0xAb a\n", "abcdef-abce9a a; " },
		{ "2 1 b\n1 1 a", "1-2 a; 2-3 b; " }, { "1000 20  a b \n", "1000-1020  a b ; " }, { "1000 20 a\r\n", "1000-1020 a\\x0d; " },
		{ "1000 20 \n", "" }, { "1000 20\n", "" }, { "1000\n", "" }, { "1000 \n", "" }, { "\n\n", "" }, { " 1000 20 a\n", "" },
		{ "0x 20 a\n", "" }, { "x10 20 a\n", "" }, { "0X10 20 a\n", "" }, { "10g 20 a\n", "" }, { "10  20 a\n", "" },
		{ "1000 0 a\n", "" }, { "0 1 a\n", "0-1 a; " }, { "10:20 1 a\n", "" }, { "10/ 1 a\n", "" }, { "10` 1 a\n", "" }, { "10@ 1 a\n", "" },
		{ "ffffffffffffffff 1 a\n", "" }, { "fffffffffffffffe 1 a\n", "fffffffffffffffe-ffffffffffffffff a; " },
		{ "0xffffffffffff0000 f a\n", "ffffffffffff0000-ffffffffffff000f a; " },
		{ "000000000000001000 1 a\n", "1000-1001 a; " }, { "0000000000000001000 1 a\n", "" }, { "0x0000000000001000 1 a\n", "1000-1001 a; " },
		{ "0x00000000000001000 1 a\n", "" }, { "1000 1 caf\xc3\xa9\xff\n", "1000-1001 caf\xc3\xa9\\xff; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_read(cases[i][0], cases[i][1]);
}

/* What was compiled last is there, also where up to 64 begin in front of an address; the first of more is not
 * looked for. */
static void finds_the_last(void **state)
{
	char text[64 * 80] = "1000 1000 whole\n";
	struct symcache_perf_map m;

	(void)state;
	for (int i = 1; i <= 64; i++)
		sprintf(text + strlen(text), "%x 1 f%d\n", 0x1000 + 2 * i, i);
	assert_true(symcache_perf_map_read(text, strlen(text), &m));
	assert_string_equal(symcache_perf_map_name(&m, 0x1001), "whole");
	assert_string_equal(symcache_perf_map_name(&m, 0x1002), "f1");
	assert_string_equal(symcache_perf_map_name(&m, 0x1000 + 2 * 63 + 1), "whole");
	assert_null(symcache_perf_map_name(&m, 0x1000 + 2 * 64 + 1));
	assert_string_equal(symcache_perf_map_name(&m, 0x1000 + 2 * 64), "f64");
	symcache_perf_map_deinit(&m);
}

/* In a folder: by the number of the process, and no link. */
static void reads_a_folder(void **state)
{
	struct symcache_perf_map m;
	char dir[] = "/tmp/perf-map-XXXXXX", path[64], other[64];
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/perf-77.map", dir);
	snprintf(other, sizeof(other), "%s/perf-78.map", dir);
	f = fopen(path, "w");
	assert_true(f && fputs("1000 20 mine\n", f) >= 0 && !fclose(f) && !chmod(path, 0644) && !symlink(path, other));
	assert_true(symcache_perf_map_in(dir, 77, &m));
	assert_string_equal(symcache_perf_map_name(&m, 0x1001), "mine");
	symcache_perf_map_deinit(&m);
	for (uint32_t pid = 76; pid < 79; pid += 2) {
		assert_true(symcache_perf_map_in(dir, pid, &m));
		assert_int_equal(m.list.len, 0);
	}
	assert_int_equal(chmod(path, 0664), 0);
	assert_true(symcache_perf_map_in(dir, 77, &m));
	assert_int_equal(m.list.len, 0);
	assert_int_equal(chmod(path, 0644) | truncate(path, 0), 0);
	assert_true(symcache_perf_map_in(dir, 77, &m));
	assert_int_equal(m.list.len, 0);
	assert_int_equal(truncate(path, (64 << 20) + 1), 0);
	assert_true(symcache_perf_map_in(dir, 77, &m));
	assert_int_equal(m.list.len, 0);
	assert_int_equal(unlink(path) | unlink(other) | rmdir(dir), 0);
	assert_true(symcache_perf_map_in(dir, 77, &m));
	assert_int_equal(m.list.len, 0);
}

/* Not what others may write, nor a link. */
static void checks_the_owner(void **state)
{
	char path[64], other[80];
	struct symcache_perf_map m;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	snprintf(other, sizeof(other), "%s.other", path);
	f = fopen(path, "wx");
	assert_non_null(f);
	fputs("1000 20 mine\n", f);
	assert_int_equal(fchmod(fileno(f), 0644), 0);
	assert_int_equal(fclose(f), 0);
	assert_true(symcache_perf_map_of((uint32_t)getpid(), &m));
	assert_string_equal(symcache_perf_map_name(&m, 0x1001), "mine");
	symcache_perf_map_deinit(&m);
	assert_int_equal(chmod(path, 0666), 0);
	assert_true(symcache_perf_map_of((uint32_t)getpid(), &m));
	assert_int_equal(m.list.len, 0);
	assert_int_equal(chmod(path, 0644) | rename(path, other) | symlink(other, path), 0);
	assert_true(symcache_perf_map_of((uint32_t)getpid(), &m));
	assert_int_equal(m.list.len, 0);
	if (!getuid()) { /* another's */
		assert_int_equal(unlink(path) | rename(other, path) | chown(path, 12345, 12345), 0);
		assert_true(symcache_perf_map_of((uint32_t)getpid(), &m));
		assert_int_equal(m.list.len, 0);
	}
	unlink(path);
	unlink(other);
	assert_true(symcache_perf_map_of((uint32_t)getpid(), &m));
	assert_int_equal(m.list.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_lines), cmocka_unit_test(reads_numbers), cmocka_unit_test(finds_the_last),
		cmocka_unit_test(reads_a_folder), cmocka_unit_test(checks_the_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
