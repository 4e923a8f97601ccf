/* locals_test.c: local variables of sections that are in order and that are not. */
#include "libsymcache/read/tiny_test.h"

/* main has table at -8 and field; leaf, inlined there, field alone. */
static struct tiny example(void)
{
	struct tiny t = tiny_example_ext(9);
	const uint32_t table = t.data[0].name, field = t.data[1].name;

	t.num_local_ranges = 3;
	t.local_ranges[0] = (struct symcache_ext_local_range){ 0x10, 0, 2 };
	t.local_ranges[1] = (struct symcache_ext_local_range){ 0x20, 1, 1 };
	t.local_ranges[2] = (struct symcache_ext_local_range){ 0x30, 0, 0 };
	t.num_local_order = t.num_locals = 2;
	t.local_order[0] = 1;
	t.local_order[1] = 0;
	t.locals[0] = (struct symcache_ext_local){ SYMCACHE_NONE, field, SYMCACHE_NONE, 0, 0, 0, 0, 0 };
	t.locals[1] = (struct symcache_ext_local){ table, table, 1, 7, -8, 400, 0x80, 7 };
	return t;
}

/* "table 7 -8 400 128, field 0 ?? ?? ??" */
static void expect_locals(const struct symcache *c, uint64_t rel_pc, const char *want)
{
	char text[200] = "";
	struct symcache_local l;
	uint32_t first = 0, n = symcache_locals_of(c, rel_pc, &first);

	for (uint32_t i = 0; i < n; i++) {
		char *end = text + strlen(text);

		assert_true(symcache_local(c, first + i, &l));
		end += sprintf(end, "%s%.*s %d", i ? ", " : "", (int)l.name.len, l.name.ptr, (int)l.line);
		end += l.has_offset ? sprintf(end, " %d", (int)l.offset) : sprintf(end, " ??");
		end += l.has_size ? sprintf(end, " %d", (int)l.size) : sprintf(end, " ??");
		end += l.has_tag ? sprintf(end, " %d", (int)l.tag) : sprintf(end, " ??");
	}
	assert_string_equal(text, want);
}

static void test_values(void **state)
{
	struct tiny t = example();
	struct symcache_local l;
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);

	(void)state;
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	expect_locals(&c, 0xf, "");
	expect_locals(&c, 0x10, "table 7 -8 400 128, field 0 ?? ?? ??");
	expect_locals(&c, 0x1f, "table 7 -8 400 128, field 0 ?? ?? ??");
	expect_locals(&c, 0x2f, "field 0 ?? ?? ??");
	expect_locals(&c, 0x30, "");
	expect_locals(&c, UINT64_MAX, "");
	assert_true(symcache_local(&c, 0, &l));
	assert_int_equal(l.function.len, 5);
	assert_memory_equal(l.file.name.ptr, "leaf.h", 6);
	assert_true(symcache_local(&c, 1, &l));
	assert_null(l.function.ptr);
	assert_null(l.file.name.ptr);
	assert_false(symcache_local(&c, 2, &l));
	free(bytes);
	t = tiny_example_ext(9);
	bytes = tiny_open(&t, &c);
	assert_null(c.locals.ranges);
	expect_locals(&c, 0x10, "");
	free(bytes);
}

static void expect_fault(struct tiny *t, const char *want)
{
	struct symcache_local l;
	struct symcache c;
	uint8_t *bytes = tiny_open_faulty(t, &c, want);

	for (uint32_t pc = 0; pc < 0x50; pc++) {
		uint32_t first = 0, n = symcache_locals_of(&c, pc, &first);

		assert_true((uint64_t)first + n <= c.locals.num_order);
		for (uint32_t i = 0; i < n; i++)
			symcache_local(&c, first + i, &l);
	}
	free(bytes);
}

static void test_faults(void **state)
{
	struct tiny t = example();

	(void)state;
	t.num_local_order = 0;
	expect_fault(&t, "extension area: sections LOC… are incomplete");
	t = example();
	t.local_ranges[0].count = 3;
	expect_fault(&t, "range of locals 0: 3 from 0, of 2");
	t = example();
	t.local_ranges[1].count = 2;
	expect_fault(&t, "range of locals 1: 2 from 1, of 2");
	t = example();
	t.local_ranges[1].first = UINT32_MAX;
	expect_fault(&t, "range of locals 1: 1 from 4294967295, of 2");
	t = example();
	t.local_ranges[2].start = 0x20;
	expect_fault(&t, "range of locals 2: starts at 0x20, not after 0x20");
	t = example();
	t.local_order[1] = 2;
	expect_fault(&t, "place 1 of locals: no local 2");
	t = example();
	t.locals[1].name++;
	expect_fault(&t, "local 1: name: no string starts at offset 0x3a");
	t = example();
	t.locals[0].function = 400;
	expect_fault(&t, "local 0: function: no string starts at offset 0x190");
	t = example();
	t.locals[1].file_idx = 2;
	expect_fault(&t, "local 1: no file 2");
	t = example();
	t.locals[1].flags = 8;
	expect_fault(&t, "local 1: flags 0x8");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
