/* data_test.c: which data symbol covers an address. */
#include "libsymcache/read/tiny_test.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

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
	uint8_t *bytes = tiny_open(&t, &c);

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
	bytes = tiny_open(&t, &c);
	expect_data(&c, 0x1000, "field 0x1000 16 main.c:4");
	expect_data(&c, 0x100f, "field 0x1000 16 main.c:4");
	expect_data(&c, 0x1010, "table 0x1000 0 main.c:1");
	/* The last one of unknown size reaches to the end of the image. */
	expect_data(&c, 0x2fff, "table 0x2000 0 main.c:5");
	expect_data(&c, 0x3000, "");
	free(bytes);

	t.num_image = 0;
	t.num_data = 2;
	bytes = tiny_open(&t, &c);
	expect_data(&c, 0x1007, "field 0x1000 8 main.c:2");
	expect_data(&c, 0xffffffffffffffff, "table 0x1000 0 main.c:1");
	free(bytes);
}

/* A symbol that holds very many others shows behind 4,095 of them, no further: what
 * nothing covers must be found out in bounded time. */
static void test_many_data_symbols(void **state)
{
	const uint32_t n = 10000;
	struct tiny t = tiny_example_ext(9);
	struct symcache_ext_data *data = calloc(n, sizeof(*data));
	struct symcache_data d;
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);

	(void)state;
	for (uint32_t i = 0; i < n; i++)
		data[i] = (struct symcache_ext_data){ 0x1000 + 4 * i, 1, t.data[0].name, 0, i };
	data[0].size = 0x20000;
	data[n - 100].size = 0x1000;
	c.data_symbols = data;
	c.num_data_symbols = n;
	assert_true(symcache_lookup_data(&c, 0x1002, &d));
	assert_int_equal(d.line, 0);
	assert_true(symcache_lookup_data(&c, 0x1000 + 4 * 4095 + 2, &d));
	assert_int_equal(d.line, 0);
	assert_false(symcache_lookup_data(&c, 0x1000 + 4 * 4096 + 2, &d));
	assert_true(symcache_lookup_data(&c, 0x1000 + 4 * 4096, &d));
	assert_int_equal(d.line, 4096);
	assert_true(symcache_lookup_data(&c, 0x1000 + 4 * (n - 1) + 3, &d));
	assert_int_equal(d.line, n - 100);
	free(data);
	free(bytes);
}

static void test_no_data_symbols(void **state)
{
	struct tiny t = tiny_example(9);
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);

	(void)state;
	expect_data(&c, 0x1000, "");
	free(bytes);
}

static void test_aliases(void **state)
{
	struct tiny t = tiny_example_ext(9);
	const uint32_t table = t.data[0].name, field = t.data[1].name;
	const struct symcache_ext_alias aliases[] = {
		{ 0, table }, { 0x10, field }, { 0x10, table }, { 0x40, field }, { 0xffffffff, table },
	};
	struct symcache c;
	uint8_t *bytes;
	size_t first;

	(void)state;
	memcpy(t.aliases, aliases, sizeof(aliases));
	t.num_aliases = 5;
	bytes = tiny_open(&t, &c);
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	assert_int_equal(symcache_aliases_of(&c, 0, &first), 1);
	assert_int_equal(first, 0);
	assert_int_equal(symcache_aliases_of(&c, 0x10, &first), 2);
	assert_int_equal(first, 1);
	assert_int_equal(symcache_aliases_of(&c, 0x11, &first), 0);
	assert_int_equal(symcache_aliases_of(&c, 0xffffffff, &first), 1);
	assert_int_equal(symcache_aliases_of(&c, 0x1ffffffff, &first), 0);
	free(bytes);
	t.aliases[2].address = 8;
	bytes = tiny_open_faulty(&t, &c, "alias 2: 0x8 must not come after 0x10");
	free(bytes);
	t.aliases[2] = (struct symcache_ext_alias){ 0x10, 3 };
	bytes = tiny_open_faulty(&t, &c, "alias 2: name: no string starts at offset 0x3");
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_data_symbols),
		cmocka_unit_test(test_data_symbols_at_one_address),
		cmocka_unit_test(test_many_data_symbols),
		cmocka_unit_test(test_no_data_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
