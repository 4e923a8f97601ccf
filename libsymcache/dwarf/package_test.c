/* The index of a DWARF package: each unit gets its own parts of the sections; of a damaged index none is
 * given, as another unit's entries would be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/dwarf/package.h"

enum { UNITS = 5, SLOTS = 8, COLUMNS = 5, SIZE = 4096 };

/* Their low bits are the same, so that they look for further slots: by 1, 3, 3, 5 and 1. */
static const uint64_t ids[UNITS] = {
	0x0000000000000005, 0x0000000300000005, 0x000000020000000d, 0xffff000400000015, 0x000000080000001d,
};
static const uint32_t heads[COLUMNS] = { 1, 3, 4, 6, 8 };

static uint32_t part_offset(unsigned unit, unsigned column)
{
	return 100 * unit + 7 * column;
}

static uint32_t part_size(unsigned unit, unsigned column)
{
	return 10 * unit + column + 1;
}

/* The index as DWARF 5, 7.3.5.3, and GNU's version 2 have it. */
static void put_index(struct bytes *b, unsigned version)
{
	uint64_t slots[SLOTS] = { 0 };
	uint32_t rows[SLOTS] = { 0 };

	for (unsigned i = 0; i < UNITS; i++) {
		unsigned at = ids[i] % SLOTS;

		while (rows[at])
			at = (at + (unsigned)((ids[i] >> 32 & (SLOTS - 1)) | 1)) % SLOTS;
		slots[at] = ids[i];
		rows[at] = i + 1;
	}
	if (version == 2)
		put(b, 4, 2);
	else
		put(b, 2, version), put(b, 2, 0);
	put(b, 4, COLUMNS);
	put(b, 4, UNITS);
	put(b, 4, SLOTS);
	for (unsigned i = 0; i < SLOTS; i++)
		put(b, 8, slots[i]);
	for (unsigned i = 0; i < SLOTS; i++)
		put(b, 4, rows[i]);
	for (unsigned c = 0; c < COLUMNS; c++)
		put(b, 4, heads[c]);
	for (unsigned i = 0; i < UNITS; i++)
		for (unsigned c = 0; c < COLUMNS; c++)
			put(b, 4, part_offset(i, c));
	for (unsigned i = 0; i < UNITS; i++)
		for (unsigned c = 0; c < COLUMNS; c++)
			put(b, 4, part_size(i, c));
}

static struct dw_package package_of(const struct bytes *index)
{
	static const uint8_t info[SIZE], abbrev[SIZE], str_offsets[SIZE], rnglists[SIZE], str[SIZE];

	return (struct dw_package){
		.sections = {
			.info = { info, SIZE }, .abbrev = { abbrev, SIZE }, .str_offsets = { str_offsets, SIZE },
			.rnglists = { rnglists, SIZE }, .str = { str, SIZE }, .types = { str, SIZE },
			.swap = index->big_endian,
		},
		.cu_index = { index->b.data, index->b.len },
	};
}

static void expect_part(const struct dw_section *part, const struct dw_section *whole, unsigned unit,
			unsigned column)
{
	assert_int_equal(part->data - whole->data, part_offset(unit, column));
	assert_int_equal(part->size, part_size(unit, column));
}

static void test_units(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		const unsigned version = n & 1 ? 5 : 2;
		struct bytes index = { .big_endian = n & 2 };
		struct dw_package p;
		struct dw_sections s;

		put_index(&index, version);
		p = package_of(&index);
		for (unsigned i = 0; i < UNITS; i++) {
			assert_true(dw_package_find(&p, ids[i], &s));
			expect_part(&s.info, &p.sections.info, i, 0);
			expect_part(&s.abbrev, &p.sections.abbrev, i, 1);
			expect_part(&s.str_offsets, &p.sections.str_offsets, i, 3);
			/* Column 8 is of macros in version 2. */
			if (version == 5)
				expect_part(&s.rnglists, &p.sections.rnglists, i, 4);
			else
				assert_int_equal(s.rnglists.size, 0);
			assert_int_equal(s.types.size, 0);
			assert_int_equal(s.str.size, SIZE);
		}
		assert_false(dw_package_find(&p, ids[0] + SLOTS, &s)); /* it ends in a free slot, or in all */
		assert_false(dw_package_find(&p, ids[0] + 1, &s));
		bytes_deinit(&index);
	}
}

static void test_damaged(void **state)
{
	static const struct { const char *what; size_t at; unsigned size; uint64_t value; } cases[] = {
		{ "version 1", 0, 4, 1 }, { "version 3", 0, 4, 3 }, { "version 4", 0, 4, 4 }, { "version 6", 0, 4, 6 },
		{ "no slots", 12, 4, 0 },
		{ "slots that are no power of two", 12, 4, 6 },
		{ "more units than slots", 8, 4, SLOTS + 1 },
		{ "more columns than there can be", 4, 4, 65 },
		{ "so many columns that their size wraps around", 4, 4, 1u << 30 },
		{ "more slots than there are bytes", 12, 4, 1u << 31 },
		{ "a row that is not there", 16 + 8 * SLOTS + 4 * 5, 4, UNITS + 1 },
		{ "a part behind its section", 16 + 12 * SLOTS + 4 * COLUMNS, 4, SIZE + 1 },
		{ "a part that goes past the end", 16 + 12 * SLOTS + 4 * COLUMNS * (1 + UNITS), 4, SIZE + 1 },
		{ "a part whose end wraps around", 16 + 12 * SLOTS + 4 * COLUMNS * (1 + UNITS), 4, UINT32_MAX },
		{ "of abbreviations", 16 + 12 * SLOTS + 4 * COLUMNS + 4, 4, SIZE + 1 },
		{ "of string offsets", 16 + 12 * SLOTS + 4 * COLUMNS + 12, 4, SIZE + 1 },
		{ "of ranges", 16 + 12 * SLOTS + 4 * COLUMNS + 16, 4, SIZE + 1 },
	};
	struct dw_sections s;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes index = { 0 };
		struct dw_package p;

		put_index(&index, 5);
		patch(&index, cases[i].at, cases[i].size, cases[i].value);
		p = package_of(&index);
		if (dw_package_find(&p, ids[0], &s))
			fail_msg("%s", cases[i].what);
		bytes_deinit(&index);
	}
	/* A part may end where its section does. Cut off anywhere, the index gives nothing. */
	struct bytes index = { 0 };
	struct dw_package p;

	put_index(&index, 5);
	patch(&index, 16 + 12 * SLOTS + 4 * COLUMNS, 4, SIZE - part_size(0, 0));
	p = package_of(&index);
	assert_true(dw_package_find(&p, ids[0], &s));
	for (size_t n = 0; n < index.b.len; n++) {
		uint8_t *copy = malloc(n + 1);

		memcpy(copy, index.b.data, n);
		p.cu_index = (struct dw_section){ copy, n };
		assert_false(dw_package_find(&p, ids[0], &s));
		free(copy);
	}
	bytes_deinit(&index);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
