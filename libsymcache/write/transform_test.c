/* Unit tests of transformations: what callbacks are asked and what becomes of their
 * answers in the cache; and that who read the file makes no difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/read/read.h"
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

/* A program whose line table has discriminators: profilers tell blocks of one line apart by them. */
static void make_blocks(char path[64])
{
	snprintf(path, 64, "%s/blocks", testing_dir);
	assert_int_equal(testing_run("printf 'int g(int), h(int);\\nint f(int n) { int s = 0; for (int i = 0; i < n; i++) "
		"s += i & 1 ? g(i) : i & 2 ? h(i) : 3; return s; }\\nint k(int n) { while (n > 3) n -= n & 1 ? g(n) : "
		"h(n); return n; }\\n' > %s/a.c && gcc -g -O1 -c -o %s %s/a.c", testing_dir, path, testing_dir), 0);
}

/* Of the innermost frame; UINT32_MAX: there is no code. */
static uint32_t discriminator_at(const struct plain_cache *c, uint64_t pc)
{
	const uint32_t location = plain_lookup(c, pc);

	return location == PLAIN_NONE ? UINT32_MAX : plain_discriminator(c, location, pc);
}

/* Places change, or become one; discriminators stay where they are. */
static void keeps_discriminators(void **state)
{
	struct suffix suffix = { .text = "/1" };
	const struct symcache_transform list[] = {
		{ no_name, deny, NULL }, { NULL, one_place, &suffix }, { add_suffix, NULL, &suffix },
	};
	struct indexed plain, r;
	unsigned found = 0;
	char path[64];

	(void)state;
	make_blocks(path);
	must_index(path, &plain);
	for (size_t i = 0; i < 3; i++) {
		const struct symcache_build_options o = { .transforms = &list[i], .num_transforms = 1 };

		index_file(path, &o, &r);
		assert_int_equal(r.rc, 0);
		for (uint64_t pc = 0; pc < 0x200; pc++) {
			const uint32_t d = discriminator_at(&plain.cache, pc);

			assert_int_equal(discriminator_at(&r.cache, pc), d);
			found += d && d != UINT32_MAX;
		}
		indexed_deinit(&r);
	}
	assert_true(found > 30);
	indexed_deinit(&plain);
}

static bool other_name(void *ctx, struct symcache_place *place)
{
	assert_null(place->dir);
	assert_null(place->comp_dir);
	assert_string_equal(place->name, "a.c");
	place->name = "b.c";
	place->dir = *(const char *const *)ctx;
	return true;
}

/* The file of a symbol without debug information has a name alone, and so it stays. */
static void changes_files_of_symbols(void **state)
{
	const char *dir = NULL;
	const struct symcache_transform name = { NULL, other_name, &dir };
	const struct symcache_build_options o = { .transforms = &name, .num_transforms = 1, .no_debug_search = true };
	struct indexed r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/symbols.o", testing_dir);
	assert_int_equal(testing_run("echo 'static int f(int x) { return x + 1; } int g(int x) { return f(x) + 2; }' > %s/a.c && "
		"gcc -O0 -c -o %s %s/a.c", testing_dir, path, testing_dir), 0);
	for (int with_dir = 0; with_dir < 2; with_dir++) {
		struct symcache_symbol symbol;
		struct symcache cache;

		dir = with_dir ? "/d" : NULL;
		index_file(path, &o, &r);
		assert_int_equal(r.rc, 0);
		assert_int_equal(symcache_open(&cache, r.bytes, r.size, NULL), 0);
		assert_true(symcache_lookup_symbol(&cache, 0, &symbol));
		assert_true(sc_str_is(symbol.name, "f"));
		assert_true(sc_str_is(symbol.file, with_dir ? "a.c" : "b.c"));
		indexed_deinit(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_changes),
		cmocka_unit_test(in_order),
		cmocka_unit_test(keeps_discriminators),
		cmocka_unit_test(changes_files_of_symbols),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}
