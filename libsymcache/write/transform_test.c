/* Unit tests of transformations: what callbacks are asked and what becomes of their
 * answers in the cache; and that who read the file makes no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/write/indexed_test.h"

struct suffix {
	const char *text;
	char buf[4096]; /* one thread asks at a time here */
};

static const char *add_suffix(void *ctx, const char *name)
{
	struct suffix *s = ctx;

	snprintf(s->buf, sizeof(s->buf), "%s%s", name, s->text);
	return s->buf;
}

static bool one_place(void *ctx, struct symcache_place *place)
{
	place->comp_dir = NULL;
	place->dir = ((struct suffix *)ctx)->text;
	place->name = "one.c";
	place->line = 1;
	place->no_column = true;
	return true;
}

static bool deny(void *ctx, struct symcache_place *place)
{
	(void)ctx;
	(void)place;
	return false;
}

static const char *no_name(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return "";
}

static void nothing_changes(void **state)
{
	const struct symcache_transform same[] = { { NULL, deny, NULL }, { no_name, NULL, NULL } };
	const struct symcache_build_options o = { .transforms = same, .num_transforms = 2 };
	struct indexed plain, r;

	(void)state;
	index_file(PROGRAMS "inlines", NULL, &plain);
	index_file(PROGRAMS "inlines", &o, &r);
	assert_int_equal(r.rc, 0);
	assert_int_equal(r.size, plain.size);
	assert_memory_equal(r.bytes, plain.bytes, r.size);
	indexed_deinit(&plain);
	indexed_deinit(&r);
}

static void in_order(void **state)
{
	struct suffix suffixes[] = { { .text = "/1" }, { .text = "/2" } };
	const struct symcache_transform list[] = {
		{ add_suffix, one_place, &suffixes[0] }, { add_suffix, one_place, &suffixes[1] },
	};
	struct symcache_build_options o = { .transforms = list, .num_transforms = 2, .threads = 1 };
	struct indexed plain, r, other;
	uint32_t frames = 0;

	(void)state;
	index_file(PROGRAMS "inlines", NULL, &plain);
	index_file(PROGRAMS "inlines", &o, &r);
	assert_int_equal(r.rc, 0);
	/* Lines that have become one are one range; inlined calls still part them. */
	assert_true(r.cache.ranges < plain.cache.ranges);
	for (uint64_t pc = 0; pc < 0x10000; pc++) {
		uint32_t a = plain_lookup(&plain.cache, pc), b = plain_lookup(&r.cache, pc);

		while (a != PLAIN_NONE) {
			struct plain_frame f = plain_frame(&plain.cache, a), g;
			char want[4200];

			assert_true(b != PLAIN_NONE);
			g = plain_frame(&r.cache, b);
			if (f.name.ptr) {
				assert_int_equal(g.dir.len, 2);
				assert_memory_equal(g.dir.ptr, "/2", 2);
				assert_memory_equal(g.name.ptr, "one.c", 5);
				assert_int_equal(g.line, 1);
				assert_int_equal(g.column, 0);
			}
			if (f.function.ptr) {
				snprintf(want, sizeof(want), "%.*s/1/2", (int)f.function.len,
					 f.function.ptr);
				assert_int_equal(g.function.len, strlen(want));
				assert_memory_equal(g.function.ptr, want, strlen(want));
			}
			frames++;
			a = f.inlined_into;
			b = g.inlined_into;
		}
		assert_true(b == PLAIN_NONE);
	}
	assert_true(frames > 100);
	o.threads = 5;
	index_file(PROGRAMS "inlines", &o, &other);
	assert_int_equal(r.size, other.size);
	assert_memory_equal(r.bytes, other.bytes, r.size);
	indexed_deinit(&other);
	o.reader = SYMCACHE_READER_LIBDW;
	index_file(PROGRAMS "inlines", &o, &other);
	assert_int_equal(r.size, other.size);
	assert_memory_equal(r.bytes, other.bytes, r.size);
	indexed_deinit(&other);
	indexed_deinit(&plain);
	indexed_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes),
		cmocka_unit_test(in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
