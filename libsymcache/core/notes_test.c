/* Which notes of a core file count: those of the kernel, by their names. Others have types of their
 * own, and what is taken for a thread is shown as one. */
#include "libsymcache/core/testing.h"

#include <signal.h>

static void put_named(struct made_core *m, const char *name, size_t name_size, uint32_t tid)
{
	uint8_t status[336] = { 0 };

	memcpy(status + 32, &tid, 4);
	put(&m->notes, 4, name_size);
	put(&m->notes, 4, sizeof(status));
	put(&m->notes, 4, NT_PRSTATUS);
	put_block(&m->notes, name, name_size);
	put(&m->notes, -name_size & 3, 0);
	put_block(&m->notes, status, sizeof(status));
}

static void test_names(void **state)
{
	static const struct { const char *name; size_t size; bool counts; } cases[] = {
		{ "CORE", 5, true }, { "CORE", 4, true }, { "LINUX", 6, true }, { "", 0, false }, { "", 1, false },
		{ "COR", 4, false }, { "GNU", 4, false }, { "FreeBSD", 8, false }, { "CORE of others", 15, false },
		{ "core", 5, false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const bool first = i % 2; /* in front of the one that is a thread */
		struct made_core m = { 0 };
		struct symcache_core *core;

		if (first)
			put_named(&m, cases[i / 2].name, cases[i / 2].size, 8);
		put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
		if (!first)
			put_named(&m, cases[i / 2].name, cases[i / 2].size, 8);
		core = open_made(&m);
		if (core->num_threads != 1u + cases[i / 2].counts)
			fail_msg("'%s', %zu bytes: %zu threads", cases[i / 2].name, cases[i / 2].size,
				 core->num_threads);
		assert_int_equal(core->threads[0].tid, cases[i / 2].counts && first ? 8 : 7);
		symcache_core_close(core);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
