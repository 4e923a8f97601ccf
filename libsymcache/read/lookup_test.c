/* lookup_test.c: frames and strings of small files made in memory, in order and
 * out of order. Real files are in recorded_test.c. */
#include "libsymcache/read/batch_check.h"
#include "libsymcache/read/tiny_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* All frames of an address as text: "function file:line:column <- …". Function
 * with language and entry where `full`. */
static void frames_text(const struct symcache *c, uint64_t rel_pc, char *out, size_t size)
{
	struct symcache_frames frames;
	struct symcache_raw_frame f;
	size_t len = 0;
	bool any = symcache_lookup(c, rel_pc, &frames);

	out[0] = '\0';
	while (symcache_next_frame(&frames, &f)) {
		char path[100];

		assert_true(any);
		symcache_path(&f.file, SYMCACHE_PATH_CLEAN, path, sizeof(path));
		len += (size_t)snprintf(out + len, size - len, "%s%.*s %s:%u:%u", len ? " <- " : "",
					(int)f.function.len, f.function.ptr,
					f.file.name.ptr ? path : "-", f.line, f.column);
		assert_true(len < size);
	}
	assert_int_equal(any, len > 0);
	assert_false(symcache_next_frame(&frames, &f));
}

static void expect_file(const struct symcache *c, uint32_t idx, const char *name)
{
	const struct symcache_file file = symcache_file(c, idx);

	assert_int_equal(file.name.ptr != NULL, name != NULL);
	assert_int_equal(file.name.len, name ? strlen(name) : 0);
	if (name)
		assert_memory_equal(file.name.ptr, name, file.name.len);
}

/* The same frames as numbers say the same. */
static void check_ids(const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_frames frames, twin;
	struct symcache_raw_frame f;
	struct symcache_frame_ids ids;

	symcache_lookup(c, rel_pc, &frames);
	twin = frames;
	while (symcache_next_frame(&frames, &f)) {
		struct sc_str name = { "?", 1 };
		struct symcache_file file;

		assert_true(symcache_next_ids(&twin, &ids));
		assert_int_equal(frames.location, twin.location);
		assert_int_equal(f.line, ids.line);
		assert_int_equal(f.column, ids.column);
		if (ids.function != SYMCACHE_NONE &&
		    symcache_string(c, c->functions[ids.function].name).ptr)
			name = symcache_string(c, c->functions[ids.function].name);
		assert_int_equal(f.function.len, name.len);
		assert_memory_equal(f.function.ptr, name.ptr, name.len);
		file = symcache_file(c, ids.file);
		assert_memory_equal(&f.file, &file, sizeof(file));
	}
	assert_false(symcache_next_ids(&twin, &ids));
	for (uint32_t most = 0; most < 4; most++)
		assert_true(batch_is_same(c, &rel_pc, 1, most, 100));
}

static void expect_frames(const struct symcache *c, uint64_t rel_pc, const char *want)
{
	char got[500];

	frames_text(c, rel_pc, got, sizeof(got));
	assert_string_equal(got, want);
	check_ids(c, rel_pc);
}

static void test_frames(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct tiny t = tiny_example(version);
		struct symcache c;
		uint8_t *bytes = tiny_open(&t, &c);

		expect_frames(&c, 0x0, "");
		expect_frames(&c, 0xf, "");
		expect_frames(&c, 0x10, "main /src/main.c:10:0");
		expect_frames(&c, 0x1f, "main /src/main.c:10:0");
		expect_frames(&c, 0x20, "leaf /inc/leaf.h:3:0 <- _ZN1a6middleEv /inc/leaf.h:7:0"
					" <- main /src/main.c:11:0");
		expect_frames(&c, 0x28, "main /src/main.c:12:0");
		expect_frames(&c, 0x30, "");
		expect_frames(&c, 0x3f, "");
		expect_frames(&c, 0x40, "naked -:0:0");
		expect_frames(&c, 0xffffffff, "naked -:0:0");
		expect_frames(&c, 0x100000000, "");
		expect_frames(&c, 0x100000020, "");
		expect_frames(&c, UINT64_MAX, "");
		free(bytes);
	}
}

static void test_frame_fields(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);
	struct symcache_frames frames;
	struct symcache_raw_frame f;

	(void)state;
	assert_true(symcache_lookup(&c, 0x20, &frames));
	assert_true(symcache_next_frame(&frames, &f));
	assert_memory_equal(f.function.ptr, "leaf", f.function.len);
	assert_int_equal(f.lang, SYMCACHE_LANG_CPP);
	assert_int_equal(f.entry_pc, SYMCACHE_NONE);
	assert_memory_equal(f.file.comp_dir.ptr, "/src", f.file.comp_dir.len);
	assert_memory_equal(f.file.directory.ptr, "../inc", f.file.directory.len);
	assert_memory_equal(f.file.name.ptr, "leaf.h", f.file.name.len);
	assert_int_equal(f.column, 9);
	expect_file(&c, f.decl_file_idx, "leaf.h");
	assert_int_equal(f.decl_line, 2);
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.column, 5);
	assert_int_equal(f.decl_line, 6);
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.entry_pc, 0x10);
	assert_int_equal(f.lang, SYMCACHE_LANG_C);
	assert_null(f.file.directory.ptr);
	assert_int_equal(f.column, 4);
	expect_file(&c, f.decl_file_idx, "main.c");
	assert_false(symcache_next_frame(&frames, &f));

	assert_true(symcache_lookup(&c, 0x40, &frames));
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.lang, SYMCACHE_LANG_SYMTAB);
	assert_null(f.file.name.ptr);
	expect_file(&c, f.decl_file_idx, NULL);
	assert_int_equal(f.decl_line, 0);
	free(bytes);
}

static void test_bad_indices(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	t.locations[2].function_idx = 4;
	t.locations[4].file_idx = 2;
	t.locations[6].function_idx = SYMCACHE_NONE;
	t.functions[2].name = t.h.string_bytes;
	t.functions[1].name = SYMCACHE_NONE;
	t.files[1].directory = t.h.string_bytes - 1; /* 'n' = 110 bytes, past the end */
	bytes = tiny_open(&t, &c);
	expect_frames(&c, 0x10, "? /src/main.c:10:0");
	expect_frames(&c, 0x28, "main -:12:0");
	expect_frames(&c, 0x40, "? -:0:0");
	expect_frames(&c, 0x20, "? /src/leaf.h:3:0 <- ? /src/leaf.h:7:0 <- main /src/main.c:11:0");
	assert_null(symcache_file(&c, 2).name.ptr);
	assert_null(symcache_file(&c, SYMCACHE_NONE).name.ptr);
	free(bytes);
}

/* Chains end where inlined_into is not a call location before its own. */
static void test_bad_chains(void **state)
{
	static const struct {
		uint32_t from, into;
		const char *frames_of_leaf;
	} rows[] = {
		{ 0, 0, "leaf <- middle <- main" },      /* itself */
		{ 0, 1, "leaf <- middle <- main" },      /* cycle, forward */
		{ 1, 1, "leaf <- middle" },
		{ 1, 2, "leaf <- middle" },              /* a range location */
		{ 1, 7, "leaf <- middle" },              /* out of bounds */
		{ 3, 3, "leaf" },
		{ 3, 2, "leaf" },                        /* a range location */
		{ 3, 5, "leaf" },
		{ 3, 7, "leaf" },
		{ 3, 0xfffffffe, "leaf" },
		{ 3, 0, "leaf <- main" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tiny t = tiny_example(8);
		struct symcache c;
		struct symcache_frames frames;
		struct symcache_raw_frame f;
		uint8_t *bytes;
		char got[100] = "";

		t.locations[rows[i].from].inlined_into_idx = rows[i].into;
		bytes = tiny_open(&t, &c);
		assert_true(symcache_lookup(&c, 0x20, &frames));
		while (symcache_next_frame(&frames, &f)) {
			if (*got)
				strcat(got, " <- ");
			strncat(got, f.function.len > 10 ? "middle" : f.function.ptr,
				f.function.len);
		}
		assert_string_equal(got, rows[i].frames_of_leaf);
		free(bytes);
	}
}

static void test_inlined_into_gap(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	t.locations[0] = (struct symcache_source_location)TINY_GAP;
	bytes = tiny_open(&t, &c);
	expect_frames(&c, 0x20, "leaf /inc/leaf.h:3:0 <- _ZN1a6middleEv /inc/leaf.h:7:0");
	free(bytes);
}

/* Of a gap all four fields are SYMCACHE_NONE; three do not make one. */
static void test_nearly_gap(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	t.locations[5].line = 7;
	bytes = tiny_open(&t, &c);
	expect_frames(&c, 0x30, "? -:7:0");
	free(bytes);
}

static void test_more_ranges_than_locations(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	t.h.num_source_locations = 2; /* ranges 3 and 4 have locations 0 and 1 */
	bytes = tiny_open(&t, &c);
	expect_frames(&c, 0x10, "");
	expect_frames(&c, 0x28, "");
	expect_frames(&c, 0x30, "main /src/main.c:11:0");
	expect_frames(&c, 0x40, "_ZN1a6middleEv /inc/leaf.h:7:0 <- main /src/main.c:11:0");
	free(bytes);
}

static void test_strings(void **state)
{
	static const struct {
		const char *bytes;
		uint32_t size;
		int len; /* -1: unreadable */
	} rows[] = {
		{ "\x00", 1, 0 },
		{ "\x03" "abc", 4, 3 },
		{ "\x04" "abc", 4, -1 },
		{ "\x83\x00" "abc", 5, 3 },           /* longer than need be */
		{ "\x83\x80\x80\x80\x00" "abc", 8, 3 },
		{ "\x83\x80\x80\x80\x80\x00" "abc", 9, -1 },
		{ "\x83", 1, -1 },
		{ "\xff\xff\xff\xff\x0f", 5, -1 },    /* 4 GiB − 1 */
		{ "\x83\x80\x80\x80\x10" "abc", 8, -1 }, /* 4 GiB + 3 */
		{ "\xff\xff\xff\xff\x7f", 5, -1 },
	};
	struct symcache c;
	char longest[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct tiny t = { .h = { .magic = SYMCACHE_MAGIC, .version = 9 } };
		struct sc_str s;
		uint8_t *bytes;

		memcpy(t.strings, rows[i].bytes, rows[i].size);
		t.h.string_bytes = rows[i].size;
		bytes = tiny_open(&t, &c);
		s = symcache_string(&c, 0);
		assert_int_equal(s.ptr ? (int)s.len : -1, rows[i].len);
		if (s.len)
			assert_memory_equal(s.ptr, "abc", 3);
		free(bytes);
	}
	for (uint32_t version = 7; version <= 9; version++) {
		for (size_t len = 1; len < sizeof(longest); len++) {
			struct tiny t = { .h = { .magic = SYMCACHE_MAGIC, .version = version } };
			struct sc_str s;
			uint8_t *bytes;

			memset(longest, 'x', len);
			longest[len] = '\0';
			tiny_string(&t, longest);
			bytes = tiny_open(&t, &c);
			s = symcache_string(&c, 0);
			assert_int_equal(s.len, len);
			assert_memory_equal(s.ptr, longest, len);
			assert_null(symcache_string(&c, t.h.string_bytes).ptr);
			assert_null(symcache_string(&c, SYMCACHE_NONE).ptr);
			free(bytes);
			if (len == sizeof(longest) - 1)
				break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_frame_fields),
		cmocka_unit_test(test_bad_indices),
		cmocka_unit_test(test_bad_chains),
		cmocka_unit_test(test_inlined_into_gap),
		cmocka_unit_test(test_nearly_gap),
		cmocka_unit_test(test_more_ranges_than_locations),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
