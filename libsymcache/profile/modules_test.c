/* Which module a mapping is of: by its build ID, its name, and what kernels call theirs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/profile/testing.h"
#include "libsymcache/profile/proto_test.h"

/* The stack of one sample in a mapping, and what is missing then. */
static void expect_in(uint64_t start, uint64_t limit, const char *name, const char *id, unsigned offset,
		      unsigned address, const char *want)
{
	struct symprofiler *p = prof_profiler((struct symprofile_options){ .form = SYMPROFILE_FOLDED });
	const struct symprofile_missing *missing;
	struct symprofile_output out;
	struct prof_bytes in = { 0 };
	struct sc_error err;
	char text[400], *got, all[400];
	size_t n;

	snprintf(text, sizeof(text),
		 "1{1:1 2:1} 3{1:1 2:0x%llx 3:0x%llx 4:%u 5:2 6:3} 4{1:1 2:1 3:%u} 4{1:9 2:1 3:0x7100} 2{1:1 2:5} "
		 "6\"\" 6\"cpu\" 6\"%s\" 6\"%s\" ",
		 (unsigned long long)start, (unsigned long long)limit, offset, address, name, id);
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

static void expect(const char *name, const char *id, unsigned offset, unsigned address, const char *want)
{
	expect_in(0x7000, 0x20000, name, id, offset, address, want);
}

#define TURN "mill::turn(int) 5\n "
#define GONE "[prog] 0x7150 5\n/opt/prog "

static void test_names(void **state)
{
	(void)state;
	expect("/opt/prog", "", 0, 0x7150, TURN);
	expect("/opt/prog", "", 0x100, 0x7050, TURN);
	expect("/opt/prog", "", 0x150, 0x7000, TURN);
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

/* The first and the last address of a mapping; and what has no mappings worth the name has addresses of the
 * file. */
static void test_limits(void **state)
{
	static const struct { uint64_t start, limit; unsigned address; const char *want; } cases[] = {
		{ 0x7000, 0x7151, 0x7150, TURN }, { 0x7000, 0x7150, 0x7150, "[prog] 0x7150 5\n " },
		{ 0x7000, 0, 0x7150, TURN }, { 0x7150, 0x8000, 0x714f, "[prog] 0x714f 5\n " },
		{ 0, 0, 0x10150, TURN }, { 0, UINT64_MAX, 0x10150, TURN }, { 0, 0x20000, 0x150, TURN },
		{ 0, UINT64_MAX - 1, 0x150, TURN },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_in(cases[i].start, cases[i].limit, "/opt/prog", "", 0, cases[i].address, cases[i].want);
}

/* ---- this program ------------------------------------------------------------------------------ */

/* A profile of one sample at an address of this program; its mapping has an ID, or "". */
static void put_own(struct prof_bytes *to, const void *address, const char *id)
{
	const uintptr_t pc = (uintptr_t)address;
	unsigned long start, end, offset;
	char line[500];
	FILE *maps = fopen("/proc/self/maps", "re");

	assert_non_null(maps);
	do
		assert_non_null(fgets(line, sizeof(line), maps));
	while (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) != 3 || pc < start || pc >= end);
	fclose(maps);
	snprintf(line, sizeof(line), "1{1:1 2:1} 3{1:1 2:0x%lx 3:0x%lx 4:0x%lx 5:2 6:3} 4{1:1 2:1 3:0x%lx} 2{1:1 2:5} "
		 "6\"\" 6\"cpu\" 6\"/opt/self\" 6\"%s\" ", start, end, offset, (unsigned long)pc, id);
	proto_put(to, line);
}

static char *run_own(struct symcache_caches *caches, enum symprofile_form form, const void *bytes, size_t size,
		     size_t *len)
{
	static const char *const modules[] = { "self=/proc/self/exe" };
	const struct symprofile_options how = {
		.form = form, .caches = caches, .names = prof_fixture.names, .modules = modules, .num_modules = 1,
	};
	struct symprofile_output out;
	struct symprofiler *p;
	struct sc_error err;
	char *got;

	assert_int_equal(symprofiler_create(&how, &p, &err), 0);
	assert_int_equal(symprofiler_run(p, bytes, size, &out, &err), 0);
	*len = out.size;
	got = prof_joined(&out);
	symprofiler_destroy(p);
	return got;
}

/* A mapping in which something was found gets the build ID of the module, if it has none. */
static void test_named(void **state)
{
	static const struct { const char *id; bool named; } cases[] = { { "", true }, { "x/y", false } };
	struct symcache_caches *caches = symcache_caches_create(NULL);
	const struct symcache *cache;
	char hex[SYMCACHE_BUILD_ID_TEXT];

	(void)state;
	assert_int_equal(symcache_module_cache(symcache_caches_module(caches, SYMCACHE_MODULE_FILE, "/proc/self/exe"),
					       &cache, NULL, NULL), 0);
	symcache_build_id_text(hex, cache->image->build_id, cache->image->build_id_len);
	for (size_t i = 0; i < 2; i++) {
		struct prof_bytes in = { 0 };
		size_t len;
		char *got;

		put_own(&in, (const void *)(uintptr_t)test_limits, cases[i].id);
		got = run_own(caches, SYMPROFILE_PPROF, in.v.data, in.v.len, &len);
		assert_non_null(memmem(got, len, "test_limits", 11));
		assert_int_equal(memmem(got, len, hex, strlen(hex)) != NULL, cases[i].named);
		free(got);
		prof_bytes_deinit(&in);
	}
	symcache_caches_destroy(caches);
}

static __attribute__((noinline)) const char *return_address(void)
{
	return __builtin_return_address(0);
}

static inline __attribute__((always_inline)) const char *inner(void)
{
	const char *ret = return_address();

	__asm__ volatile("" : : : "memory"); /* that it is called, not jumped to */
	return ret;
}

static __attribute__((noinline)) const char *outer(void)
{
	return inner();
}

/* A page says which functions are inlined, whether the profile has them already or not. */
static void test_inlined(void **state)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct prof_bytes in = { 0 };
	char *named, *pages[2];
	size_t len, page_len;

	(void)state;
	put_own(&in, outer() - 1, "");
	named = run_own(caches, SYMPROFILE_PPROF, in.v.data, in.v.len, &len);
	pages[0] = run_own(caches, SYMPROFILE_HTML, in.v.data, in.v.len, &page_len);
	pages[1] = run_own(caches, SYMPROFILE_HTML, named, len, &page_len);
	for (size_t i = 0; i < 2; i++) {
		assert_non_null(strstr(pages[i], "[\"inner\""));
		assert_non_null(strstr(pages[i], "\"tree\":[\n0,0,0,\n1,4,0,\n2,3,5]"));
		free(pages[i]);
	}
	free(named);
	prof_bytes_deinit(&in);
	symcache_caches_destroy(caches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_build_ids), cmocka_unit_test(test_kernel_modules),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_named), cmocka_unit_test(test_inlined),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}
