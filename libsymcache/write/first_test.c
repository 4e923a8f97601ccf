/*
 * A cache for some addresses alone says about them what the whole one says: address by address,
 * over all programs and layouts that tests have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/first_check.h"

#define PROGRAMS "build/testprogs"
#define MOST 400 /* addresses of a file that are asked one by one */

static unsigned num_files;
static uint64_t num_asked;

/* The edges of ranges, and what is just in front of them: every n-th, if there are many. */
static void compare(const char *path)
{
	struct symcache_build_options o = { 0 };
	struct built whole;
	struct sc_error err;
	uint64_t base, some[3];
	uint32_t n, step;
	char *fault;

	if (first_build(path, &o, &whole, &err))
		return;
	base = symcache_load_base(&whole.cache);
	n = whole.cache.header->num_ranges;
	step = n / (MOST / 2) + 1;
	num_files++;
	for (uint32_t i = num_files % step; i < n; i += step) {
		const uint64_t edge = base + whole.cache.ranges[i];

		for (uint64_t vaddr = edge ? edge - 1 : 0; vaddr <= edge; vaddr++, num_asked++)
			if ((fault = first_differs(path, &o, &whole.cache, &vaddr, 1)))
				fail_msg("%s: %s", path, fault);
	}
	/* Below, above, and several at once. */
	some[0] = n ? base + whole.cache.ranges[n / 2] : 0;
	some[1] = base ? base - 1 : UINT64_MAX;
	some[2] = n ? base + whole.cache.ranges[n - 1] : 1;
	o.threads = 3;
	if ((fault = first_differs(path, &o, &whole.cache, some, 3)))
		fail_msg("%s: %s", path, fault);
	free(whole.bytes);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && st->st_size > 64 && st->st_size < 16 << 20)
		compare(path);
	return 0;
}

static void test_programs(void **state)
{
	(void)state;
	if (nftw(PROGRAMS, visit, 16, FTW_PHYS) || !num_files)
		fail_msg("no files below " PROGRAMS);
	print_message("%u files, %llu addresses\n", num_files, (unsigned long long)num_asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
