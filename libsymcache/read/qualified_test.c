/* qualified_test.c: names with their scopes, in a section that is in order and one that is not. */
#include "libsymcache/read/tiny_test.h"

/* leaf, function 2, is "outer::leaf", naked is "file::naked". */
static struct tiny example(void)
{
	struct tiny t = tiny_example_ext(9);

	t.qualified[0] = (struct symcache_ext_qualified){ 2, tiny_string(&t, "outer::leaf") };
	t.qualified[1] = (struct symcache_ext_qualified){ 3, tiny_string(&t, "file::naked") };
	t.num_qualified = 2;
	return t;
}

static void expect(const struct symcache *c, uint32_t function, const char *want)
{
	const struct sc_str name = symcache_qualified(c, function);

	if (!want) {
		assert_null(name.ptr);
		return;
	}
	assert_int_equal(name.len, strlen(want));
	assert_memory_equal(name.ptr, want, name.len);
}

static void test_values(void **state)
{
	struct tiny t = example();
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);

	(void)state;
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	expect(&c, 0, NULL);
	expect(&c, 1, NULL);
	expect(&c, 2, "outer::leaf");
	expect(&c, 3, "file::naked");
	expect(&c, SYMCACHE_NONE, NULL);
	free(bytes);
	t = tiny_example_ext(9);
	bytes = tiny_open(&t, &c);
	expect(&c, 2, NULL);
	free(bytes);
}

static void expect_fault(struct tiny *t, const char *want)
{
	struct symcache c;
	uint8_t *bytes = tiny_open_faulty(t, &c, want);

	for (uint32_t function = 0; function < 9; function++)
		symcache_qualified(&c, function);
	free(bytes);
}

static void test_faults(void **state)
{
	struct tiny t = example();

	(void)state;
	t.qualified[1].function = 4;
	expect_fault(&t, "qualified name 1: no function 4");
	t = example();
	t.qualified[1].function = 2;
	expect_fault(&t, "qualified name 1: function 2 must come after 2");
	t = example();
	t.qualified[0].name = 5000;
	expect_fault(&t, "qualified name 0: name: no string starts at offset 0x1388");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
