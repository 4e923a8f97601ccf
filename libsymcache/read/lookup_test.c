/* lookup_test.c: frames and data symbols of small files made in memory, in order
 * and out of order. Real files are in recorded_test.c. */
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
	struct symcache_frame f;
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

static void expect_frames(const struct symcache *c, uint64_t rel_pc, const char *want)
{
	char got[500];

	frames_text(c, rel_pc, got, sizeof(got));
	assert_string_equal(got, want);
}

/* Opens the bytes of `t`, which the test frees. */
static uint8_t *open_tiny(struct tiny *t, struct symcache *c)
{
	uint8_t *bytes = tiny_bytes(t);

	assert_int_equal(symcache_open(c, bytes, t->size, NULL), 0);
	return bytes;
}

static void test_frames(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct tiny t = tiny_example(version);
		struct symcache c;
		uint8_t *bytes = open_tiny(&t, &c);

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
	uint8_t *bytes = open_tiny(&t, &c);
	struct symcache_frames frames;
	struct symcache_frame f;

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
	assert_memory_equal(f.decl_file.name.ptr, "leaf.h", f.decl_file.name.len);
	assert_int_equal(f.decl_line, 2);
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.column, 5);
	assert_int_equal(f.decl_line, 6);
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.entry_pc, 0x10);
	assert_int_equal(f.lang, SYMCACHE_LANG_C);
	assert_null(f.file.directory.ptr);
	assert_int_equal(f.column, 4);
	assert_memory_equal(f.decl_file.name.ptr, "main.c", f.decl_file.name.len);
	assert_false(symcache_next_frame(&frames, &f));

	assert_true(symcache_lookup(&c, 0x40, &frames));
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.lang, SYMCACHE_LANG_SYMTAB);
	assert_null(f.file.name.ptr);
	assert_null(f.decl_file.name.ptr);
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
	bytes = open_tiny(&t, &c);
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
		struct symcache_frame f;
		uint8_t *bytes;
		char got[100] = "";

		t.locations[rows[i].from].inlined_into_idx = rows[i].into;
		bytes = open_tiny(&t, &c);
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
	bytes = open_tiny(&t, &c);
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
	bytes = open_tiny(&t, &c);
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
	bytes = open_tiny(&t, &c);
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
		struct symcache_str s;
		uint8_t *bytes;

		memcpy(t.strings, rows[i].bytes, rows[i].size);
		t.h.string_bytes = rows[i].size;
		bytes = open_tiny(&t, &c);
		s = symcache_string(&c, 0);
		assert_int_equal(s.ptr ? (int)s.len : -1, rows[i].len);
		if (s.len)
			assert_memory_equal(s.ptr, "abc", 3);
		free(bytes);
	}
	for (uint32_t version = 7; version <= 9; version++) {
		for (size_t len = 1; len < sizeof(longest); len++) {
			struct tiny t = { .h = { .magic = SYMCACHE_MAGIC, .version = version } };
			struct symcache_str s;
			uint8_t *bytes;

			memset(longest, 'x', len);
			longest[len] = '\0';
			tiny_string(&t, longest);
			bytes = open_tiny(&t, &c);
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

/* ---- the search ---------------------------------------------------------------- */

enum { MANY = 3000 };

/* A file of `n` ranges, location i for range i, line i + 1, with or without INDX. */
static uint8_t *many_ranges(const uint32_t *starts, uint32_t n, bool indexed, size_t *size)
{
	struct symcache_header h = { .magic = SYMCACHE_MAGIC, .version = 9,
				     .num_source_locations = n, .num_ranges = n };
	size_t ranges = sizeof(h) + n * sizeof(struct symcache_source_location);
	uint32_t shift = symcache_index_shift(n, starts[n - 1]);
	uint32_t buckets = symcache_index_buckets(shift, starts[n - 1]);
	struct symcache_ext_section s = { SYMCACHE_EXT_TAG_INDEX, 4, (ranges + n * 4 + 7) & ~7ull,
					  (buckets + 2) * 4 };
	struct symcache_ext_footer f = { .num_sections = 1, .version = 1, .magic = "SYMCEXT" };
	uint8_t *bytes;
	uint32_t *index;

	f.table_offset = (s.offset + s.size + 7) & ~7ull;
	f.file_size = f.table_offset + sizeof(s) + sizeof(f);
	bytes = calloc(1, f.file_size);
	assert_non_null(bytes);
	memcpy(bytes, &h, sizeof(h));
	for (uint32_t i = 0; i < n; i++) {
		struct symcache_source_location l = { SYMCACHE_NONE, i + 1, SYMCACHE_NONE,
						      SYMCACHE_NONE };
		memcpy(bytes + sizeof(h) + i * sizeof(l), &l, sizeof(l));
	}
	memcpy(bytes + ranges, starts, n * 4);
	index = (uint32_t *)(bytes + s.offset);
	index[0] = shift;
	symcache_index_fill(index + 1, shift, starts, n);
	memcpy(bytes + f.table_offset, &s, sizeof(s));
	memcpy(bytes + f.table_offset + sizeof(s), &f, sizeof(f));
	tiny_rehash(bytes, f.file_size);
	*size = indexed ? f.file_size : s.offset;
	return bytes;
}

static uint32_t line_of(const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_frames frames;
	struct symcache_frame f;

	return symcache_lookup(c, rel_pc, &frames) && symcache_next_frame(&frames, &f) ? f.line : 0;
}

/* Every start and the address before and after it, by a search from the left. */
static void check_search(const uint32_t *starts, uint32_t n, bool indexed)
{
	struct symcache c;
	size_t size;
	uint8_t *bytes = many_ranges(starts, n, indexed, &size);
	uint32_t last = 0;

	assert_int_equal(symcache_open(&c, bytes, size, NULL), 0);
	assert_int_equal(c.index != NULL, indexed);
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		if (starts[i])
			assert_int_equal(line_of(&c, starts[i] - 1), last);
		assert_int_equal(line_of(&c, starts[i]), i + 1);
		last = i + 1;
		if (i + 1 == n || starts[i + 1] > starts[i] + 1)
			assert_int_equal(line_of(&c, (uint64_t)starts[i] + 1),
					 starts[i] == UINT32_MAX ? 0 : last);
	}
	assert_int_equal(line_of(&c, UINT32_MAX), n);
	free(bytes);
}

static void test_search(void **state)
{
	static uint32_t starts[MANY];
	uint32_t random = 12345;

	(void)state;
	for (uint32_t n = 1; n <= MANY; n += n < 300 ? 1 : 777) {
		for (int shape = 0; shape < 4; shape++) {
			uint32_t pc = shape == 0 ? 0 : 0x1000;

			for (uint32_t i = 0; i < n; i++) {
				starts[i] = pc;
				random = random * 1664525 + 1013904223;
				/* Even; odd; in clusters; up to the end of the space. */
				pc += shape == 0 ? 1 : shape == 1 ? 1 + random % 61 :
				      shape == 2 ? (random % 50 ? 3 : 0x4000) : 0xfffffu;
			}
			if (shape == 3)
				starts[n - 1] = UINT32_MAX;
			check_search(starts, n, false);
			check_search(starts, n, true);
		}
	}
}

/* An index that lies gives wrong answers or falls back, and stays in bounds. */
static void test_bad_index(void **state)
{
	static const uint32_t values[] = { 0, 1, 99, 100, 101, UINT32_MAX };
	uint32_t starts[100];
	struct symcache c;
	uint8_t *bytes;
	size_t size;

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		starts[i] = i * 10;
	bytes = many_ranges(starts, 100, true, &size);
	assert_int_equal(symcache_open(&c, bytes, size, NULL), 0);
	for (uint32_t k = 0; k <= c.index_buckets; k++) {
		for (size_t v = 0; v < sizeof(values) / sizeof(*values); v++) {
			uint32_t *entry = (uint32_t *)&c.index[k], old = *entry;

			*entry = values[v];
			for (uint32_t pc = 0; pc < 1100; pc++) {
				uint32_t line = line_of(&c, pc);

				assert_true(line <= 100);
				if (values[v] >= 100)
					assert_int_equal(line, pc / 10 < 100 ? pc / 10 + 1 : 100);
			}
			assert_int_equal(symcache_verify(&c, NULL, NULL) > 0, values[v] != old);
			*entry = old;
		}
	}
	free(bytes);
}

/* ---- data symbols --------------------------------------------------------------- */

static void expect_data(const struct symcache *c, uint64_t address, const char *want)
{
	struct symcache_data d;
	char got[100] = "";

	if (symcache_lookup_data(c, address, &d))
		snprintf(got, sizeof(got), "%.*s 0x%llx %llu %.*s:%u", (int)d.name.len,
			 d.name.ptr ? d.name.ptr : "", (unsigned long long)d.rel_address,
			 (unsigned long long)d.size, (int)d.file.name.len,
			 d.file.name.ptr ? d.file.name.ptr : "", d.line);
	assert_string_equal(got, want);
}

static void test_data_symbols(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache c;
	uint8_t *bytes = open_tiny(&t, &c);

	(void)state;
	expect_data(&c, 0xfff, "");
	expect_data(&c, 0x1000, "table 0x1000 256 main.c:20");
	expect_data(&c, 0x100f, "table 0x1000 256 main.c:20");
	expect_data(&c, 0x1010, "field 0x1010 4 leaf.h:21");
	expect_data(&c, 0x1013, "field 0x1010 4 leaf.h:21");
	expect_data(&c, 0x1014, "table 0x1000 256 main.c:20");
	expect_data(&c, 0x10ff, "table 0x1000 256 main.c:20");
	expect_data(&c, 0x1100, "");
	expect_data(&c, 0x2000, "field 0x2000 0 :0");
	expect_data(&c, 0x20ff, "field 0x2000 0 :0");
	expect_data(&c, 0x2100, " 0x2100 8 main.c:0");
	expect_data(&c, 0x2108, "");
	expect_data(&c, 0x100001000, "");
	free(bytes);
}

static void test_data_symbols_at_one_address(void **state)
{
	struct tiny t = tiny_example_ext(9);
	uint32_t table = t.data[0].name, field = t.data[1].name;
	const struct symcache_ext_data data[] = {
		{ 0x1000, 0, table, 0, 1 },
		{ 0x1000, 8, field, 0, 2 },
		{ 0x1000, 8, table, 0, 3 },
		{ 0x1000, 16, field, 0, 4 },
		{ 0x2000, 0, table, 0, 5 },
	};
	struct symcache c;
	uint8_t *bytes;

	(void)state;
	memcpy(t.data, data, sizeof(data));
	t.num_data = 5;
	bytes = open_tiny(&t, &c);
	expect_data(&c, 0x1000, "field 0x1000 16 main.c:4");
	expect_data(&c, 0x100f, "field 0x1000 16 main.c:4");
	expect_data(&c, 0x1010, "table 0x1000 0 main.c:1");
	/* The last one of unknown size reaches to the end of the image. */
	expect_data(&c, 0x2fff, "table 0x2000 0 main.c:5");
	expect_data(&c, 0x3000, "");
	free(bytes);

	t.num_image = 0;
	t.num_data = 2;
	bytes = open_tiny(&t, &c);
	expect_data(&c, 0x1007, "field 0x1000 8 main.c:2");
	expect_data(&c, 0xffffffffffffffff, "table 0x1000 0 main.c:1");
	free(bytes);
}

static void test_no_data_symbols(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes = open_tiny(&t, &c);

	(void)state;
	expect_data(&c, 0x1000, "");
	free(bytes);
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
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_bad_index),
		cmocka_unit_test(test_data_symbols),
		cmocka_unit_test(test_data_symbols_at_one_address),
		cmocka_unit_test(test_no_data_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
