/*
 * A core that is packed is read like a plain one: threads, and the memory that stacks are walked in,
 * wherever it stands in the file. And registers, which each machine has in its own order.
 */
#include <signal.h>

#include "libsymcache/core/parts.h"
#include "libsymcache/core/made_dump_test.h"

enum { CODE = 0x400000, STACK = 0x7f0000, BIG = 0x10000000, STACK_SIZE = 150000, BIG_SIZE = 1300000 };

static uint8_t stack[2][STACK_SIZE], big[BIG_SIZE], code[4096];

static int set_up(void **state)
{
	uint64_t seed = 5;

	(void)state;
	for (size_t i = 0; i < BIG_SIZE; i++)
		big[i] = (uint8_t)testing_below(&seed, 64);
	for (size_t i = 0; i < 2 * STACK_SIZE; i++)
		stack[i / STACK_SIZE][i % STACK_SIZE] = (uint8_t)testing_below(&seed, 64);
	return !mkdtemp(testing_dir) || chdir(testing_dir);
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || testing_run("rm -r %s", testing_dir);
}

/* Two threads, the second of which has its stack in front of the first one's; `order` of segments. */
static void write_core(const char *name, const char *order)
{
	struct made_core m = { 0 };
	struct bytes o = { 0 };
	FILE *f;

	put_thread(&m, 7, SIGABRT, CODE + 5, BIG + BIG_SIZE + 0x1000 + 50000);
	put_thread(&m, 8, 0, CODE + 9, STACK + 100);
	for (; *order; order++)
		switch (*order) {
		case 'c': add_segment_bytes(&m, CODE, PF_R | PF_X, code, sizeof(code)); break;
		case '2': add_segment_bytes(&m, STACK, PF_R | PF_W, stack[1], STACK_SIZE); break;
		case 'b': add_segment_bytes(&m, BIG, PF_R | PF_W, big, BIG_SIZE); break;
		case '1': add_segment_bytes(&m, BIG + BIG_SIZE + 0x1000, PF_R | PF_W, stack[0], STACK_SIZE); break;
		}
	put_core(&o, &m);
	f = fopen(name, "w");
	assert_true(f && fwrite(o.b.data, 1, o.b.len, f) == o.b.len && !fclose(f));
	bytes_deinit(&o);
	bytes_deinit(&m.notes);
}

/* Is the memory at the stack pointers of all threads as it was? */
static void check(struct symcache_core *core, const char *what)
{
	const uint64_t first = BIG + BIG_SIZE + 0x1000;
	uint8_t got[9000];

	assert_int_equal(core->num_threads, 2);
	for (size_t t = 0; t < 2; t++) {
		const uint64_t sp = core->threads[t].registers.value[7], at = t ? sp - STACK : sp - first;

		assert_int_equal(core->threads[t].tid, 7 + t);
		assert_int_equal(sp, t ? STACK + 100 : first + 50000);
		for (size_t from = 0; from < 60000; from += 7001) {
			if (!symcache_core_read(core, sp + from, got, sizeof(got)))
				fail_msg("%s: thread %zu, %zu above its stack pointer", what, t, from);
			assert_memory_equal(got, stack[t] + at + from, sizeof(got));
		}
	}
	assert_false(symcache_core_read(core, first + STACK_SIZE, got, 1));
	assert_false(symcache_core_read(core, first + STACK_SIZE - 10, got, 20));
	assert_false(symcache_core_read(core, STACK - 1, got, 2));
	assert_int_equal(core->missing, 0);
}

/* Memory that no stack pointer leads to is read again, in one pass, and is there from then on; what the
 * core does not have is not made up. */
static void check_elsewhere(struct symcache_core *core, const char *what)
{
	uint8_t got[5000];

	for (size_t from = 100001; from < BIG_SIZE - sizeof(got); from += 99991) {
		if (!symcache_core_read(core, BIG + from, got, sizeof(got)))
			fail_msg("%s: %zu", what, from);
		assert_memory_equal(got, big + from, sizeof(got));
	}
	assert_true(symcache_core_read(core, BIG, got, 64) && !memcmp(got, big, 64));
	assert_false(symcache_core_read(core, BIG - 1, got, 1));
	assert_false(symcache_core_read(core, BIG + BIG_SIZE, got, 1));
	assert_false(symcache_core_read(core, BIG + BIG_SIZE - 1, got, 2));
	assert_int_equal(core->private->passes, 2 * core->private->compressed);
	assert_int_equal(core->missing, 0);
}

static void test_packed(void **state)
{
	static const char *const orders[] = { "c2b1", "1bc2" };
	static const char *const kinds[] = { "", ".gz", ".xz", ".zst" };

	(void)state;
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		write_core("core", orders[i]);
		assert_int_equal(testing_run("gzip -1kf core && xz -0kf core && zstd -qf core"), 0);
		for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
			struct symcache_core *core;
			struct sc_error err;
			char name[20];

			snprintf(name, sizeof(name), "core%s", kinds[k]);
			if (symcache_core_open(name, &core, &err))
				fail_msg("%s: %s", name, err.msg);
			check(core, name);
			assert_int_equal(core->private->passes, k > 0); /* all that is needed is kept at once */
			check_elsewhere(core, name);
			symcache_core_close(core);
		}
	}
}

/* A packed core that is cut off gives what it has, and says that bytes are missing. */
static void test_cut_off(void **state)
{
	struct symcache_core *core;
	struct sc_error err;
	uint8_t got[64];

	(void)state;
	write_core("core", "cb");
	assert_int_equal(testing_run("zstd -qf core && truncate -s $(($(stat -c %%s core.zst) / 2)) core.zst"), 0);
	assert_int_equal(symcache_core_open("core.zst", &core, &err), 0);
	assert_int_equal(core->num_threads, 2);
	assert_true(symcache_core_read(core, BIG + 5000, got, sizeof(got)));
	assert_memory_equal(got, big + 5000, sizeof(got));
	assert_false(symcache_core_read(core, BIG + BIG_SIZE - 64, got, sizeof(got)));
	assert_int_equal(core->missing, 1);
	symcache_core_close(core);
}

/* What may be kept of one is bounded. */
static void test_kept(void **state)
{
	struct symcache_core *core;
	struct sc_error err;
	uint8_t got[64];

	(void)state;
	write_core("core", "cb");
	assert_int_equal(testing_run("zstd -qf core"), 0);
	assert_int_equal(symcache_core_open("core.zst", &core, &err), 0);
	core->private->keep_left = 1 << 20;
	assert_true(symcache_core_read(core, BIG + 100000, got, sizeof(got)));
	assert_memory_equal(got, big + 100000, sizeof(got));
	assert_int_equal(core->private->keep_left, 0);
	assert_false(symcache_core_read(core, BIG + BIG_SIZE - 64, got, sizeof(got)));
	assert_int_equal(core->missing, 1);
	symcache_core_close(core);
}

/* The number of headers may stand far behind what is read first. */
static void test_many_headers(void **state)
{
	struct made_core m = { .null_headers = 66000, .number_elsewhere = true };
	struct bytes o = { 0 };
	struct symcache_core *core;
	struct sc_error err;
	char word[5] = "";
	FILE *f;

	(void)state;
	put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
	add_segment_bytes(&m, 0x2000, PF_R, "last", 4);
	put_core(&o, &m);
	f = popen("zstd -qf1 -o many.zst", "we");
	assert_true(f && fwrite(o.b.data, 1, o.b.len, f) == o.b.len && !pclose(f));
	assert_int_equal(symcache_core_open("many.zst", &core, &err), 0);
	assert_true(symcache_core_read(core, 0x2000, word, 4));
	assert_string_equal(word, "last");
	symcache_core_close(core);
	bytes_deinit(&o);
	bytes_deinit(&m.notes);
}

static void test_minidump(void **state)
{
	struct symcache_core *core;
	struct sc_error err;
	struct dump d;
	char got[6] = "";
	FILE *f = popen("zstd -qf1 -o dump.zst", "we");

	(void)state;
	begin_amd64(&d);
	assert_true(f && fwrite(d.b.b.data, 1, d.b.b.len, f) == d.b.b.len && !pclose(f));
	assert_int_equal(symcache_core_open("dump.zst", &core, &err), 0);
	assert_true(symcache_core_read(core, 0x7000, got, 5));
	assert_string_equal(got, "stack");
	assert_int_equal(core->threads[0].registers.pc, 0x1234);
	assert_int_equal(core->missing, 0);
	symcache_core_close(core);
	bytes_deinit(&d.b);
}

/* ---- registers ----------------------------------------------------------------------------- */

/* Registers as NT_PRSTATUS has them, each being the number of its word: which of them a number of DWARF is. */
static void test_registers(void **state)
{
	static const struct {
		uint16_t machine;
		size_t words;
		unsigned pc;             /* word */
		uint8_t words_of[32], n; /* by their numbers in DWARF; 255: it has none */
	} cases[] = {
		/* r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp */
		{ EM_X86_64, 27, 16, { 10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0 }, 16 },
		{ EM_AARCH64, 34, 32,
		  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
		    28, 29, 30, 31 }, 32 },
		{ EM_RISCV, 32, 0,
		  { 255, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
		    28, 29, 30, 31 }, 32 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_core m = { 0 };
		struct bytes status = { 0 }, o = { 0 };
		struct symcache_core *core;
		const struct symcache_registers *r;
		struct sc_error err;

		for (int k = 0; k < 7; k++)
			put(&status, 16, 0);
		patch(&status, 32, 4, 77);
		for (size_t k = 0; k < cases[i].words; k++)
			put(&status, 8, 0x1000 + k);
		put(&status, 8, 0);
		put_note(&m, NT_PRSTATUS, status.b.data, status.b.len);
		put_core(&o, &m);
		patch(&o, 18, 2, cases[i].machine);
		assert_int_equal(open_bytes(o.b.data, o.b.len, &core, &err), 0);
		assert_int_equal(core->machine, cases[i].machine);
		assert_int_equal(core->num_threads, 1);
		r = &core->threads[0].registers;
		assert_int_equal(core->threads[0].tid, 77);
		assert_int_equal(r->pc, 0x1000 + cases[i].pc);
		for (unsigned k = 0; k < cases[i].n; k++) {
			assert_int_equal(r->known >> k & 1, cases[i].words_of[k] != 255);
			if (cases[i].words_of[k] != 255)
				assert_int_equal(r->value[k], 0x1000 + cases[i].words_of[k]);
		}
		symcache_core_close(core);
		bytes_deinit(&status);
		bytes_deinit(&o);
		bytes_deinit(&m.notes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed),	     cmocka_unit_test(test_cut_off),  cmocka_unit_test(test_kept),
		cmocka_unit_test(test_many_headers), cmocka_unit_test(test_minidump), cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
