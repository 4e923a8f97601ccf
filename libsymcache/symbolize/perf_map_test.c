/* Names of JITs: lines, overlaps, whose file it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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
		cmocka_unit_test(reads_lines), cmocka_unit_test(checks_the_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
