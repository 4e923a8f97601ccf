/* details_test.c: discriminators and starts of inlined functions, in sections that are in order
 * and that are not. */
#include "libsymcache/read/tiny_test.h"

/* leaf at 0x20 has discriminator 1, at 0x24 70000; its call 200. leaf begins at 0x20, middle,
 * which stands for two copies, at 0x1c or 0x24. */
static struct tiny example(void)
{
	static const uint8_t discriminators[] = { 200, 0, 0, 255, 254, 0, 0 };
	struct tiny t = tiny_example_ext(9);

	memcpy(t.discriminators, discriminators, sizeof(discriminators));
	t.num_discriminators = 7;
	t.discriminator_list[0] = (struct symcache_ext_detail){ 3, 0x20, 1 };
	t.discriminator_list[1] = (struct symcache_ext_detail){ 3, 0x24, 70000 };
	t.num_discriminator_list = 2;
	t.starts[0] = SYMCACHE_START_MORE;
	t.starts[1] = 0x20;
	t.num_starts = 2;
	t.start_list[0] = (struct symcache_ext_detail){ 0, 0x1c, 0x1c };
	t.start_list[1] = (struct symcache_ext_detail){ 0, 0x24, 0x24 };
	t.num_start_list = 2;
	return t;
}

static void test_values(void **state)
{
	struct tiny t = example();
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);

	(void)state;
	assert_int_equal(symcache_verify(&c, NULL, NULL), 0);
	assert_int_equal(symcache_discriminator(&c, 0, 0x20), 200);
	assert_int_equal(symcache_discriminator(&c, 3, 0x20), 1);
	assert_int_equal(symcache_discriminator(&c, 3, 0x23), 1);
	assert_int_equal(symcache_discriminator(&c, 3, 0x27), 70000);
	assert_int_equal(symcache_discriminator(&c, 3, 0x1f), 0); /* not its address */
	assert_int_equal(symcache_discriminator(&c, 4, 0x28), 254);
	assert_int_equal(symcache_discriminator(&c, 7, 0x28), 0);
	assert_int_equal(symcache_discriminator(&c, SYMCACHE_NONE, 0x28), 0);
	assert_int_equal(symcache_inlined_start(&c, 3, 0x24), 0x20);
	assert_int_equal(symcache_inlined_start(&c, 1, 0x23), 0x1c);
	assert_int_equal(symcache_inlined_start(&c, 1, 0x24), 0x24);
	assert_int_equal(symcache_inlined_start(&c, 0, 0x24), SYMCACHE_NONE);
	assert_int_equal(symcache_inlined_start(&c, 5, 0x30), SYMCACHE_NONE);
	assert_int_equal(symcache_inlined_start(&c, 7, 0x24), SYMCACHE_NONE);
	free(bytes);
}

static void test_absent(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache c;
	uint8_t *bytes = tiny_open(&t, &c);

	(void)state;
	assert_int_equal(symcache_discriminator(&c, 3, 0x20), 0);
	assert_int_equal(symcache_inlined_start(&c, 3, 0x20), SYMCACHE_NONE);
	free(bytes);
	/* A list alone. */
	t = example();
	t.num_discriminators = t.num_starts = 0;
	bytes = tiny_open(&t, &c);
	assert_int_equal(symcache_discriminator(&c, 3, 0x20), 0);
	assert_int_equal(symcache_inlined_start(&c, 1, 0x20), SYMCACHE_NONE);
	assert_int_equal(symcache_verify(&c, NULL, NULL), 4);
	free(bytes);
}

static void expect_fault(struct tiny *t, const char *want)
{
	struct symcache c;
	uint8_t *bytes = tiny_open_faulty(t, &c, want);

	for (uint32_t location = 0; location < 9; location++)
		for (uint32_t pc = 0x10; pc < 0x50; pc++) {
			symcache_discriminator(&c, location, pc);
			symcache_inlined_start(&c, location, pc);
		}
	free(bytes);
}

static void test_faults(void **state)
{
	struct tiny t = example();

	(void)state;
	t.num_discriminators = 6;
	expect_fault(&t, "extension area: section DISC: 6 records instead of 7");
	t = example();
	t.num_starts = 3;
	expect_fault(&t, "extension area: section INLS: 3 records instead of 2");
	t = example();
	t.discriminator_list[1].from = 0x20;
	expect_fault(&t, "discriminator 1: 0x20 of location 3 must come after 0x20 of 3");
	t = example();
	t.discriminator_list[1].location = 7;
	expect_fault(&t, "discriminator 1: no source location 7");
	t = example();
	t.start_list[1].location = 2;
	expect_fault(&t, "start 1: no source location 2");
	t = example();
	t.start_list[0].location = 1;
	expect_fault(&t, "start 1: 0x24 of location 0 must come after 0x1c of 1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
