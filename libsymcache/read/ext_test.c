/* ext_test.c: the conditions under which the extension area is used. Where one is
 * not met, open treats the file as a plain SymCache and verify says why. */
#include "libsymcache/read/tiny_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static bool keep_first(void *ctx, const char *fault)
{
	snprintf(ctx, 200, "%s", fault);
	return false;
}

/* The area must be ignored by open and `fault` be what verify says first. */
static void expect_damage(const void *bytes, size_t size, const char *fault)
{
	struct symcache cache;
	char first[200] = "";

	assert_int_equal(symcache_open(&cache, bytes, size, NULL), 0);
	assert_null(cache.image);
	assert_null(cache.columns);
	assert_null(cache.decls);
	assert_null(cache.data_symbols);
	assert_int_equal(cache.num_data_symbols, 0);
	assert_null(cache.index);
	assert_int_equal(symcache_load_base(&cache), 0);
	assert_int_equal(symcache_verify(&cache, keep_first, first), 1);
	assert_string_equal(first, fault);
}

static void test_ext_valid(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct tiny t = tiny_example_ext(version);
		struct symcache cache;
		uint8_t *bytes = tiny_open(&t, &cache);

		assert_non_null(cache.image);
		assert_int_equal(symcache_load_base(&cache), 0x400000);
		assert_int_equal(cache.columns[3], 9);
		assert_int_equal(cache.decls[1].line, 6);
		assert_int_equal(cache.num_data_symbols, 4);
		assert_non_null(cache.index);
		assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
		free(bytes);
	}
}

static void test_ext_sections_are_optional(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache cache;
	uint8_t *bytes;

	(void)state;
	t.ext = true;
	bytes = tiny_open(&t, &cache);
	assert_null(cache.image);
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	bytes[t.size - 1] ^= 1;
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 1);
	free(bytes);
}

/* Offsets in the file: of two segments, the second with fewer bytes before it than addresses. */
static void test_ext_segments(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache cache;
	char first[200] = "";
	uint64_t vaddr = 7;
	uint8_t *bytes;

	(void)state;
	bytes = tiny_open(&t, &cache);
	assert_false(symcache_vaddr_of_offset(&cache, 0x10, &vaddr));
	free(bytes);
	t.num_segments = 2;
	t.segments[0] = (struct symcache_ext_segment){ 0, 0x400000, 0x100, 0, 0 };
	t.segments[1] = (struct symcache_ext_segment){ 0x200, 0x401200, 0x100, 0, 0 };
	bytes = tiny_open(&t, &cache);
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	assert_true(symcache_vaddr_of_offset(&cache, 0xff, &vaddr));
	assert_int_equal(vaddr, 0x4000ff);
	assert_true(symcache_vaddr_of_offset(&cache, 0x2ff, &vaddr));
	assert_int_equal(vaddr, 0x4012ff);
	assert_false(symcache_vaddr_of_offset(&cache, 0x100, &vaddr));
	assert_false(symcache_vaddr_of_offset(&cache, 0x300, &vaddr));
	assert_true(symcache_may_be_code(&cache, 0x4012ff) &&
		    symcache_may_be_code(&cache, 0x400000));
	assert_false(symcache_may_be_code(&cache, 0x401300) ||
		     symcache_may_be_code(&cache, 0x3fffff));
	assert_false(symcache_vaddr_of_code(&cache, 0x200, &vaddr)); /* there are two */
	free(bytes);
	t.segments[1].vaddr = 0x3fff00;
	t.segments[1].offset = -1ull;
	bytes = tiny_open(&t, &cache);
	assert_int_equal(symcache_verify(&cache, keep_first, first), 1);
	assert_string_equal(first, "segment 1: ends past the last address");
	free(bytes);
}

static void test_ext_footer(void **state)
{
	struct tiny t = tiny_example_ext(9);
	uint8_t *bytes = tiny_bytes(&t), *copy = malloc(t.size + 8);
	struct symcache_ext_footer *f = (void *)(bytes + t.at_footer), good = *f;
	char message[100];

	(void)state;
	f->version = 2;
	expect_damage(bytes, t.size, "extension area: unknown version 2");
	f->version = 0;
	expect_damage(bytes, t.size, "extension area: unknown version 0");
	*f = good;
	f->file_size++;
	snprintf(message, sizeof(message),
		 "extension area: made for a file of %zu bytes, this one has %zu", t.size + 1,
		 t.size);
	expect_damage(bytes, t.size, message);
	*f = good;
	memcpy(copy + 4, bytes, t.size);
	expect_damage(copy + 4, t.size, "extension area: not aligned to 8 bytes");

	static const uint64_t tables[] = { 0, 80, 1, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 63 };
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
		f->table_offset = tables[i];
		snprintf(message, sizeof(message),
			 "extension area: bad section table: 6 sections at 0x%llx",
			 (unsigned long long)tables[i]);
		expect_damage(bytes, t.size, message);
	}
	*f = good;
	static const uint32_t counts[] = { 7, 65, 0x0aaaaaab, UINT32_MAX };
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		f->num_sections = counts[i];
		snprintf(message, sizeof(message),
			 "extension area: bad section table: %u sections at 0x%zx", counts[i],
			 t.at_table);
		expect_damage(bytes, t.size, message);
	}
	free(copy);
	free(bytes);
}

/* Four bytes more before the footer, which knows of them. */
static void test_ext_footer_unaligned(void **state)
{
	struct tiny t = tiny_example_ext(9);
	uint8_t *bytes = tiny_bytes(&t), *longer = calloc(1, t.size + 4);
	struct symcache_ext_footer f;

	(void)state;
	memcpy(&f, bytes + t.at_footer, sizeof(f));
	f.file_size += 4;
	memcpy(longer, bytes, t.at_footer);
	memcpy(longer + t.at_footer + 4, &f, sizeof(f));
	expect_damage(longer, t.size + 4, "extension area: not aligned to 8 bytes");
	free(longer);
	free(bytes);
}

static void test_ext_sections(void **state)
{
	struct tiny t = tiny_example_ext(9);
	uint8_t *bytes = tiny_bytes(&t);
	/* IMAG, COLS, ????, DECL, DATA, INDX */
	struct symcache_ext_section *s = (void *)(bytes + t.at_table), good[6];
	static const struct {
		int section;
		struct symcache_ext_section set; /* what is not zero is set */
		const char *fault;
	} rows[] = {
		{ 0, { .size = 208 }, "IMAG: 2 records instead of 1" },
		{ 0, { .size = 103 }, "IMAG: bad record size 104" },
		{ 0, { .entry_size = 8 }, "IMAG: bad record size 8" },
		{ 1, { .size = 12 }, "COLS: 6 records instead of 7" },
		{ 1, { .size = 16 }, "COLS: 8 records instead of 7" },
		{ 1, { .size = 13 }, "COLS: bad record size 2" },
		{ 3, { .size = 24 }, "DECL: 3 records instead of 4" },
		{ 3, { .size = 40 }, "DECL: 5 records instead of 4" },
		{ 4, { .size = 79 }, "DATA: bad record size 20" },
		{ 4, { .entry_size = 24 }, "DATA: bad record size 24" },
		{ 5, { .size = 4 }, "INDX does not fit the ranges" },
		{ 5, { .entry_size = 8 }, "INDX: bad record size 8" },
		{ 3, { .tag = SYMCACHE_EXT_TAG_COLUMN }, "COLS is there twice" },
		{ 0, { .offset = 1 }, NULL },
		{ 0, { .offset = 80 }, NULL },
		{ 0, { .offset = UINT64_MAX - 7 }, NULL },
		{ 0, { .size = UINT64_MAX - 103 }, NULL },
		{ 2, { .offset = UINT64_MAX - 7 }, NULL },
	};

	(void)state;
	memcpy(good, s, sizeof(good));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct symcache_ext_section *r = &s[rows[i].section];
		char message[120];

		r->tag = rows[i].set.tag ? rows[i].set.tag : r->tag;
		r->entry_size = rows[i].set.entry_size ? rows[i].set.entry_size : r->entry_size;
		r->offset = rows[i].set.offset ? rows[i].set.offset : r->offset;
		r->size = rows[i].set.size ? rows[i].set.size : r->size;
		if (rows[i].fault)
			snprintf(message, sizeof(message), "extension area: section %s",
				 rows[i].fault);
		else
			snprintf(message, sizeof(message),
				 "extension area: section 0x%08x: bad place 0x%llx, size 0x%llx",
				 r->tag, (unsigned long long)r->offset,
				 (unsigned long long)r->size);
		expect_damage(bytes, t.size, message);
		memcpy(s, good, sizeof(good));
	}

	char message[120];
	s[2].offset = t.at_footer; /* nothing, where the sections end */
	s[2].size = 0;
	tiny_rehash(bytes, t.size);
	struct symcache cache;
	assert_int_equal(symcache_open(&cache, bytes, t.size, NULL), 0);
	assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
	s[2].size = 3;
	snprintf(message, sizeof(message), "extension area: section 0x3f3f3f3f: bad place 0x%zx, size 0x3", t.at_footer);
	expect_damage(bytes, t.size, message);
	memcpy(s, good, sizeof(good));
	s[1].offset += 4;
	snprintf(message, sizeof(message),
		 "extension area: section 0x534c4f43: bad place 0x%llx, size 0xe",
		 (unsigned long long)s[1].offset);
	expect_damage(bytes, t.size, message);
	memcpy(s, good, sizeof(good));

	struct symcache_ext_image *image = (void *)(bytes + s[0].offset);
	image->build_id_len = 65;
	expect_damage(bytes, t.size, "extension area: section IMAG: build ID of 65 bytes");
	image->build_id_len = 20;
	uint32_t *index = (void *)(bytes + s[5].offset);
	index[0] = 32;
	expect_damage(bytes, t.size, "extension area: section INDX does not fit the ranges");
	index[0] = 0;
	expect_damage(bytes, t.size, "extension area: section INDX does not fit the ranges");
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ext_valid),
		cmocka_unit_test(test_ext_sections_are_optional),
		cmocka_unit_test(test_ext_segments), cmocka_unit_test(test_ext_footer),
		cmocka_unit_test(test_ext_footer_unaligned),
		cmocka_unit_test(test_ext_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
