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
		{ "core", 5, false }, { "LIN", 4, false }, { "linux", 6, false },
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

/* Which signals have an address that caused them, and which of these were sent by someone. */
static void test_addresses(void **state)
{
	static const struct { int signal, code; bool has_address; } cases[] = {
		{ SIGSEGV, 1, true }, { SIGBUS, 2, true }, { SIGILL, 1, true }, { SIGFPE, 1, true }, { SIGTRAP, 1, true },
		{ SIGABRT, 1, false }, { SIGSYS, 1, false }, { SIGQUIT, 1, false }, { SIGCHLD, 1, false },
		{ SIGSEGV, 0, false }, { SIGTRAP, -6, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint32_t words[] = { (uint32_t)cases[i].signal, 5, (uint32_t)cases[i].code, 0, 0x1000, 0x7f };
		struct made_core m = { 0 };
		struct symcache_core *core;

		put_thread(&m, 7, SIGUSR1, 0x1000, 0x2000);
		put_note(&m, NT_SIGINFO, words, sizeof(words));
		core = open_made(&m);
		assert_true(core->signal == cases[i].signal && core->signal_code == cases[i].code && core->died);
		assert_int_equal(core->has_signal_address, cases[i].has_address);
		assert_int_equal(core->signal_address, 0x7f00001000);
		symcache_core_close(core);
	}
}

/* A note begins at a multiple of four bytes, however long the one in front is. */
static void test_padding(void **state)
{
	(void)state;
	for (size_t size = 0; size < 9; size++) {
		struct made_core m = { 0 };
		struct symcache_core *core;

		put_note(&m, NT_PRFPREG, "12345678", size);
		put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
		core = open_made(&m);
		assert_int_equal(core->num_threads, 1);
		assert_int_equal(core->threads[0].tid, 7);
		symcache_core_close(core);
	}
}

/* Which bits of return addresses are a signature, as the kernel says for each thread of AArch64: the mask
 * of code, behind that of data. */
static void test_signature(void **state)
{
	static const uint64_t masks[][2] = { { 1, 0x7f000000000000 }, { 2, 0xff000000000000 } };
	struct made_core m = { 0 };
	struct bytes o = { 0 }, status = { 0 };
	struct symcache_core *core;
	struct sc_error err;

	(void)state;
	while (status.b.len < 392)
		put(&status, 8, 0);
	for (size_t i = 0; i < 2; i++) {
		put_note(&m, NT_PRSTATUS, status.b.data, status.b.len);
		put_words(&m, 0x406, masks[i], 2);
		put_words(&m, 0x405, (uint64_t[]){ 0, 1 }, 2);
		put_words(&m, 0x407, (uint64_t[]){ 0, 1 }, 2);
	}
	put_core(&o, &m);
	patch(&o, 18, 2, EM_AARCH64);
	assert_int_equal(open_bytes(o.b.data, o.b.len, &core, &err), 0);
	assert_int_equal(core->num_threads, 2);
	assert_int_equal(core->signature, 0xff000000000000);
	symcache_core_close(core);
	bytes_deinit(&o);
	bytes_deinit(&status);
	bytes_deinit(&m.notes);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names), cmocka_unit_test(test_addresses),
					   cmocka_unit_test(test_padding), cmocka_unit_test(test_signature) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
