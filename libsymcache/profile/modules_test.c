/* Which module a mapping is of: by its build ID, its name, and what kernels call theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/profile/testing.h"
#include "libsymcache/profile/testing_proto.h"

/* The stack of one sample in a mapping from 0x7000 on, and what is missing then. */
static void expect(const char *name, const char *id, unsigned offset, unsigned address, const char *want)
{
	struct symprofiler *p = prof_profiler((struct symprofile_options){ .form = SYMPROFILE_FOLDED });
	const struct symprofile_missing *missing;
	struct symprofile_output out;
	struct prof_bytes in = { 0 };
	struct sc_error err;
	char text[400], *got, all[400];
	size_t n;

	snprintf(text, sizeof(text),
		 "1{1:1 2:1} 3{1:1 2:0x7000 3:0x20000 4:%u 5:2 6:3} 4{1:1 2:1 3:%u} 2{1:1 2:5} "
		 "6\"\" 6\"cpu\" 6\"%s\" 6\"%s\" ",
		 offset, address, name, id);
	proto_put(&in, text);
	assert_int_equal(symprofiler_run(p, in.v.data, in.v.len, &out, &err), 0);
	got = prof_joined(&out);
	missing = symprofiler_missing(p, &n);
	snprintf(all, sizeof(all), "%s%s %s", got, n ? missing->name : "", n ? missing->id : "");
	assert_string_equal(all, want);
	free(got);
	symprofiler_destroy(p);
	prof_bytes_deinit(&in);
}

#define TURN "mill::turn(int) 5\n "
#define GONE "[prog] 0x7150 5\n/opt/prog "

static void test_names(void **state)
{
	(void)state;
	expect("/opt/prog", "", 0, 0x7150, TURN);
	expect("/opt/prog", "", 0x100, 0x7050, TURN);
	expect("/opt/prog (deleted)", "", 0, 0x7150, TURN);
	expect("/opt/prog(deleted)", "", 0, 0x7150, "[prog(deleted)] 0x7150 5\n/opt/prog(deleted) ");
	expect("/opt/prog.so", "", 0, 0x7150, "[prog.so] 0x7150 5\n/opt/prog.so ");
}

static void test_build_ids(void **state)
{
	char id[200], want[sizeof(id) + 40];

	(void)state;
	expect("/opt/prog", "x/y", 0, 0x7150, TURN); /* Go's */
	expect("/opt/prog", "xy", 0, 0x7150, GONE "xy");
	expect("/opt/prog", "aab", 0, 0x7150, GONE "aab");
	expect("/opt/prog", "aabb", 0, 0x7150, GONE "aabb");
	memset(id, 'a', sizeof(id));
	id[sizeof(id) - 1] = '\0';
	snprintf(want, sizeof(want), GONE "%s", id);
	expect("/opt/prog", id, 0, 0x7150, want);
}

/* In the caches of those of kernels .text is at 0, and where the file of one has it is of no interest. */
static void test_kernel_modules(void **state)
{
	static const struct {
		const char *name, *at_text;
	} cases[] = {
		{ "[prog]", "[prog]+0x150 5\n " },		{ "/lib/prog.ko", "prog.ko+0x150 5\n " },
		{ "prog.ko.xz", "prog.ko.xz+0x150 5\n " },	{ "prog.ko.gz", "prog.ko.gz+0x150 5\n " },
		{ "prog.ko.zst", "prog.ko.zst+0x150 5\n " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		expect(cases[i].name, "", 0x1000, 0x17150, TURN);
		expect(cases[i].name, "", 0x1000, 0x7150, cases[i].at_text);
	}
	expect("[prog", "", 0x1000, 0x17150, "[[prog] 0x17150 5\n[prog ");
	expect("prog]", "", 0x1000, 0x17150, "[prog]] 0x17150 5\nprog] ");
	expect("prog.ko.bz2", "", 0x1000, 0x17150, "[prog.ko.bz2] 0x17150 5\nprog.ko.bz2 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_build_ids), cmocka_unit_test(test_kernel_modules),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}
