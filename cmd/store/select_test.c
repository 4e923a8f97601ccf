/* Choosing entries: ages, sizes, tags, names. */
#include "cmd/store/select.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void numbers(void **state)
{
	static const struct { const char *text; int64_t age; } ages[] = {
		{ "0", 0 }, { "90d", 90 * 86400 }, { "3", 3 * 86400 }, { "12h", 12 * 3600 }, { "5m", 300 },
		{ "2w", 14 * 86400 }, { "1y", 365 * 86400 }, { "7s", 7 },
	};
	static const struct { const char *text; uint64_t size; } sizes[] = {
		{ "0", 0 }, { "500", 500 }, { "64K", 65536 }, { "3M", 3 << 20 }, { "2G", 2ull << 30 },
		{ "1T", 1ull << 40 },
	};
	static const char *const bad[] = { "", "x", "-1", "1x", "1dd", "d", " 1", "99999999999999999999",
					   "99999999999999999y", "0x10", "1.5" };
	struct sc_error err;
	uint64_t size;
	int64_t age;

	(void)state;
	for (size_t i = 0; i < sizeof(ages) / sizeof(*ages); i++) {
		assert_int_equal(parse_age(ages[i].text, &age, &err), 0);
		assert_true(age == ages[i].age);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		assert_int_equal(parse_size(sizes[i].text, &size, &err), 0);
		assert_true(size == sizes[i].size);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(parse_age(bad[i], &age, &err), SC_EINVAL);
		assert_int_equal(parse_size(bad[i], &size, &err), SC_EINVAL);
	}
	assert_int_equal(parse_size("99999999999T", &size, &err), SC_EINVAL);
}

static bool chosen(struct selection s, const struct symstore_entry *e)
{
	struct sc_error err;

	s.kind--; /* so that zero is any */
	assert_int_equal(selection_init(&s, &err), 0);
	return selection_has(&s, e);
}

static void entries(void **state)
{
	const char *tags[] = { "none", "release" };
	const struct symstore_entry e = {
		.sources = SYMCACHE_FROM_DWARF, .cache_size = 1024, .time = time(NULL) - 86400,
		.source_path = "/usr/lib/libc.so.6", .tags = "nightly\nrelease=1.4",
	};

	(void)state;
#define S(...) (struct selection){ __VA_ARGS__ }
	assert_true(chosen((struct selection){ 0 }, &e));
	assert_true(chosen(S(.older = "12h"), &e));
	assert_false(chosen(S(.older = "2d"), &e));
	assert_true(chosen(S(.newer = "2d"), &e));
	assert_false(chosen(S(.newer = "12h"), &e));
	assert_true(chosen(S(.larger = "1023"), &e));
	assert_false(chosen(S(.larger = "1K"), &e));
	assert_true(chosen(S(.smaller = "1025"), &e));
	assert_false(chosen(S(.smaller = "1K"), &e));
	assert_true(chosen(S(.name = "libc.*"), &e));
	assert_true(chosen(S(.name = "/usr/*.6"), &e));
	assert_false(chosen(S(.name = "usr*"), &e));
	assert_true(chosen(S(.kind = 1), &e));
	assert_false(chosen(S(.kind = 2), &e));
	assert_true(chosen(S(.tags = { tags, 2 }), &e)); /* one of them is enough */
	assert_false(chosen(S(.tags = { tags, 1 }), &e));
	assert_false(chosen(S(.tags = { tags, 2 }, .kind = 4), &e)); /* but all options */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(entries),
	};

	return cmocka_run_group_tests_name("select", tests, NULL, NULL);
}
