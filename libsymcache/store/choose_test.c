/* Choosing entries by tags, names, times and sizes. */
#include "libsymcache/store/upkeep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static bool chosen(struct symstore_selection s, const struct symstore_entry *e)
{
	s.kind--; /* so that zero is any */
	s.before = s.before ? s.before : INT64_MAX;
	s.smaller = s.smaller ? s.smaller : UINT64_MAX;
	return symstore_selected(&s, e);
}

static void entries(void **state)
{
	const char *const tags[] = { "none", "release", NULL }, *const none[] = { "none", NULL };
	const struct symstore_entry e = {
		.sources = SYMCACHE_FROM_DWARF, .cache_size = 1024, .time = 1000,
		.source_path = "/usr/lib/libc.so.6", .tags = "nightly\nrelease=1.4",
	};

	(void)state;
#define S(...) (struct symstore_selection){ __VA_ARGS__ }
	assert_true(chosen((struct symstore_selection){ 0 }, &e));
	assert_true(chosen(S(.before = 1001), &e));
	assert_false(chosen(S(.before = 1000), &e));
	assert_true(chosen(S(.after = 1000), &e));
	assert_false(chosen(S(.after = 1001), &e));
	assert_true(chosen(S(.larger = 1023), &e));
	assert_false(chosen(S(.larger = 1024), &e));
	assert_true(chosen(S(.smaller = 1025), &e));
	assert_false(chosen(S(.smaller = 1024), &e));
	assert_true(chosen(S(.name = "libc.*"), &e));
	assert_true(chosen(S(.name = "/usr/*.6"), &e));
	assert_false(chosen(S(.name = "usr*"), &e));
	assert_true(chosen(S(.kind = 1), &e));
	assert_false(chosen(S(.kind = 2), &e));
	assert_true(chosen(S(.tags = tags), &e)); /* one of them is enough */
	assert_false(chosen(S(.tags = none), &e));
	assert_false(chosen(S(.tags = tags, .kind = 4), &e)); /* but all options */
}

/* Names of any of its files are found, whole paths by patterns with a slash. */
static void names(void **state)
{
	static const struct { const char *pattern; bool is; } cases[] = {
		{ "a.ko.xz", true }, { "*.xz", true }, { "a", false }, { "kvm.ko", true }, { "KVM*", false }, { "oth?r", true },
		{ "lib/a.ko.xz", false }, { "/lib/*", true }, { "*/a.ko*", true }, { "kvm.ko\nother", false }, { "/kvm.ko", false },
		{ "", false }, { "[k]vm.ko", true },
	};
	const struct symstore_entry e = { .source_path = "/lib/a.ko.xz", .names = "kvm.ko\nother", .tags = "" };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (chosen((struct symstore_selection){ .name = cases[i].pattern }, &e) != cases[i].is)
			fail_msg("%s", cases[i].pattern);
	assert_true(symstore_name_matches("a*", "a.c"));
	assert_false(symstore_name_matches("*/a*", "a.c"));
	assert_true(symstore_name_matches("a*", "/a/a.c"));
	assert_false(symstore_name_matches("/a", "/a/a.c"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries), cmocka_unit_test(names),
	};

	return cmocka_run_group_tests_name("choose", tests, NULL, NULL);
}
