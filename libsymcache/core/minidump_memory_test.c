/* Memory of minidumps: ranges of bytes, and where code is. */
#include "libsymcache/core/made_dump_test.h"

#include "libsymcache/core/parts.h"

/* Ranges that lie outside of the file, or around the end of all addresses, are not there; what is
 * valid stays. */
static void test_memory(void **state)
{
	static const struct {
		uint64_t start, size, at; /* of the second range; at 0: behind the first */
		bool first;
		const char *third; /* which bytes it has, if any */
	} cases[] = {
		{ 0x9000, 4, 0, true, "CCCC" }, { 0x9000, UINT64_C(1) << 63, 0, true }, { 0x9000, UINT64_MAX, 0, true },
		{ UINT64_MAX - 1, 4, 0, true, "CCCC" }, { 0x9000, 0, 0, true, "BBBB" },
		{ 0x9000, 4, UINT64_C(1) << 63, false }, { 0x9000, 4, UINT64_MAX - 4, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;
		size_t bytes, at;
		char got[4] = "";

		begin_amd64(&d);
		bytes = d.b.b.len;
		put_block(&d.b, "AAAABBBBCCCC", 12);
		at = put(&d.b, 8, 3);
		put(&d.b, 8, cases[i].at ? cases[i].at : bytes);
		put(&d.b, 8, 0x8000);
		put(&d.b, 8, 4);
		put(&d.b, 8, cases[i].start);
		put(&d.b, 8, cases[i].size);
		put(&d.b, 8, 0xa000);
		put(&d.b, 8, 4);
		stream(&d, MEMORY_64, at);
		core = open_dump(&d);
		assert_true(symcache_core_read(core, 0x7000, got, 3) && !memcmp(got, "sta", 3));
		assert_int_equal(symcache_core_read(core, 0x8000, got, 4), cases[i].first);
		if (cases[i].first)
			assert_memory_equal(got, "AAAA", 4);
		assert_int_equal(symcache_core_read(core, 0x9000, got, 4), i == 0);
		assert_false(symcache_core_read(core, UINT64_MAX - 1, got, 1));
		if (i == 0)
			assert_memory_equal(got, "BBBB", 4);
		assert_int_equal(symcache_core_read(core, 0xa000, got, 4), cases[i].third != NULL);
		if (cases[i].third)
			assert_memory_equal(got, cases[i].third, 4);
		symcache_core_close(core);
	}
}

/* The list with sizes of 32 bits: what the file does not have of a range is missing. */
static void test_list(void **state)
{
	static const struct { uint32_t size; size_t missing; } cases[] = {
		{ 4, 0 }, { 0x1000004, 0x1000000 }, { 0x80000004, 0x80000000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;
		size_t at;
		char got[4];

		begin_amd64(&d);
		at = put(&d.b, 4, 2);
		put(&d.b, 8, 0x8000), put(&d.b, 4, 2), put(&d.b, 4, at + 38);
		put(&d.b, 8, 0x9000), put(&d.b, 4, cases[i].size), put(&d.b, 4, at + 36);
		stream(&d, MEMORY, at);
		put_block(&d.b, "CODE", 4);
		core = open_dump(&d);
		assert_true(symcache_core_read(core, 0x8000, got, 2) && !memcmp(got, "DE", 2));
		assert_false(symcache_core_read(core, 0x8002, got, 1));
		assert_true(symcache_core_read(core, 0x9000, got, 4) && !memcmp(got, "CODE", 4));
		assert_false(symcache_core_read(core, 0x9004, got, 1));
		assert_int_equal(core->missing, cases[i].missing);
		symcache_core_close(core);
	}
}

/* One record of the kinds of memory. */
static void put_kind(struct dump *d, uint64_t start, uint64_t size, uint32_t protection, uint32_t record)
{
	const size_t at = put(&d->b, 8, start);

	put(&d->b, 8, 0), put(&d->b, 8, 0), put(&d->b, 8, size), put(&d->b, 4, 0);
	put(&d->b, 4, protection);
	while (d->b.b.len < at + record)
		put(&d->b, 1, 0);
}

/* Code is what the list of memory's kinds says; without one that makes sense, all of the modules is. */
static void test_kinds(void **state)
{
	static const struct library module = { 0x10000, 0x4000, "/bin/prog", 0x4270454c, 20 };
	static const struct {
		uint32_t head, record; /* bytes, as the list says */
		uint64_t n;
		uint32_t stored;       /* bytes of a record */
		const char *code;      /* of each page of the module */
		const char *maps;      /* of the process, if they are there: they say it alone */
	} cases[] = {
		{ 16, 48, 3, 48, "01100" }, { 16, 56, 3, 56, "01100" }, { 24, 48, 3, 48, "01100" },
		{ 16, 48, 2, 48, "01000" },           /* a record less */
		{ 16, 48, 9, 48, "01100" },           /* more than there are: what is behind the list is none */
		{ 16, 47, 3, 48, "11110" }, { 16, 0x1000030, 3, 48, "11110" }, { 16, 0, 3, 48, "11110" },
		{ 16, 48, 0, 48, "11110" },
		{ 16, 48, 3, 48, "10000", "10000-11000 r-xp 0 0:0 0 /bin/prog\n" },
		{ 16, 48, 3, 48, "01100", "10000-11000 rw-p 0 0:0 0 /bin/prog\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;
		size_t at;

		begin_amd64(&d);
		put_modules(&d, &module, 1);
		if (cases[i].maps)
			put_text(&d, MAPS, cases[i].maps, strlen(cases[i].maps));
		at = put(&d.b, 4, cases[i].head);
		put(&d.b, 4, cases[i].record), put(&d.b, 8, cases[i].n);
		while (d.b.b.len < at + cases[i].head)
			put(&d.b, 8, 0);
		put_kind(&d, 0x10000, 0x1000, 4, cases[i].stored);    /* PAGE_READWRITE */
		put_kind(&d, 0x11000, 0x1000, 0x20, cases[i].stored); /* PAGE_EXECUTE_READ */
		put_kind(&d, 0x12000, 0x1000, 0x80, cases[i].stored); /* PAGE_EXECUTE_WRITECOPY */
		stream(&d, KINDS, at);
		put_kind(&d, 0x13000, 0x1000, 0x10, cases[i].stored);
		core = open_dump(&d);
		for (unsigned page = 0; page < 5; page++)
			if (symcache_core_executable(core, 0x10000 + page * 0x1000) != (cases[i].code[page] == '1'))
				fail_msg("case %zu, page %u", i, page);
		assert_false(symcache_core_executable(core, 0xffff));
		symcache_core_close(core);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
