/*
 * Walks over made stacks: by which means a frame was found, what it says of itself, and where a
 * stack ends.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/unwind/testing.h"

/* The stack is as it should be; empties the process. */
static void expect_of(struct process *p, uint16_t machine, const struct symcache_registers *r,
		      uint64_t signature, bool executable, const char *wants)
{
	const struct symcache_unwind_source source = {
		.machine = machine,
		.signature = signature,
		.max_frames = 30,
		.read = read_memory,
		.module = find_module,
		.modules = p,
		.executable = executable ? is_executable : NULL,
		.ctx = p,
	};

	expect_stack(&source, r, false, wants);
	sc_rows_deinit(&p->rows);
}

static void expect(struct process *p, uint16_t machine, const struct symcache_registers *r,
		   uint64_t signature, const char *wants)
{
	expect_of(p, machine, r, signature, true, wants);
}

/* ---- trust: how a frame was found ---------------------------------------------------------- */

static const struct {
	const char *what;
	uint64_t pc, fp;
	struct { unsigned at; uint64_t value; } words[4]; /* of the stack */
	const char *wants;
} trusts[] = {
	{ "rows", BASE + USUAL, 0, { { 1, BASE + USUAL + 9 }, { 3, BASE + LAST + 1 } },
	  "10100 context; 10108 cfi; 10300 cfi; end" },
	{ "behind a signal the pc is exact, and the frame above it is of the signal",
	  BASE + USUAL, 0, { { 1, BASE + SIGNAL + 1 }, { 9, BASE + USUAL }, { 11, BASE + LAST + 1 } },
	  "10100 context; 10200 cfi S; 10100 signal; 10300 cfi; end" },
	{ "a frame pointer, where there is no row", BARE + 8, STACK + 16,
	  { { 2, STACK + 80 }, { 3, BASE + BY_FP + 4 }, { 11, BASE + LAST + 1 } },
	  "40008 context; 10503 frame pointer; 10300 cfi; end" },
	{ "a frame pointer that is odd", BARE + 8, STACK + 17,
	  { { 2, STACK + 80 }, { 3, BASE + BY_FP + 4 } }, "40008 context; no_cache" },
	{ "a call that went nowhere", 0x10, 0, { { 0, BASE + USUAL + 5 }, { 2, BASE + LAST + 1 } },
	  "10 context; 10104 call; 10300 cfi; end" },
	{ "a call that came from nowhere", 0x10, 0, { { 0, 0x20 } }, "10 context; no_module" },
	{ "what looks like a return address, and has a caller", BARE + 8, 0,
	  { { 4, BASE + USUAL + 5 }, { 6, BASE + USUAL + 7 }, { 8, BASE + LAST + 1 } },
	  "40008 context; 10104 scan; 10106 cfi; 10300 cfi; end" },
	{ "a function that begins with what was inlined", BARE + 8, 0,
	  { { 4, BASE + USUAL + 0x80 }, { 6, BASE + USUAL + 7 }, { 8, BASE + LAST + 1 } },
	  "40008 context; 10106 scan; 10300 cfi; end" },
	{ "behind the first instruction of that one", BARE + 8, 0,
	  { { 4, BASE + USUAL + 0x81 }, { 6, BASE + USUAL + 7 }, { 8, BASE + LAST + 1 } },
	  "40008 context; 10180 scan; 10106 cfi; 10300 cfi; end" },
	{ "the last word that is looked at", BARE + 8, 0,
	  { { 159, BASE + USUAL + 5 }, { 161, BASE + LAST + 1 } }, "40008 context; 10104 scan; 10300 cfi; end" },
	{ "a word behind it", BARE + 8, 0,
	  { { 160, BASE + USUAL + 5 }, { 162, BASE + LAST + 1 } }, "40008 context; no_cache" },
	{ "what looks like one, but has no caller", BARE + 8, 0, { { 4, BASE + USUAL + 5 } },
	  "40008 context; no_cache" },
	{ "no row, and nothing on the stack", BASE + NOTHING, 0, { { 0, 0 } }, "10600 context; no_row" },
	{ "a frame below the one that it called", BASE + BY_FP, STACK - 64, { { 0, 0 } },
	  "10500 context; no_memory" },
	{ "no memory", BASE + BY_FP, STACK + 8 * WORDS, { { 0, 0 } }, "10500 context; no_memory" },
	{ "a return address of 0", BASE + USUAL, 0, { { 1, 0 } }, "10100 context; end" },
	{ "a return address that is lost", BASE + LEAF, 0, { { 0, 0 } }, "10400 context; lost" },
};

static void test_trust(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(trusts) / sizeof(*trusts); i++) {
		const struct symcache_registers r = at(trusts[i].pc, STACK, trusts[i].fp);
		struct process p;

		make_process(&p, 7, 6, 16);
		for (unsigned k = 0; k < 4; k++)
			if (trusts[i].words[k].value)
				p.stack[trusts[i].words[k].at] = trusts[i].words[k].value;
		expect(&p, EM_X86_64, &r, 0, trusts[i].wants);
	}
}

/* Without a function that says where code is: an address that no machine has is none, and was
 * called. */
static void test_unknown_memory(void **state)
{
	static const struct { uint64_t pc; const char *wants; } cases[] = {
		{ 0xfff, "fff context; 10104 call; 10300 cfi; end" },
		{ 0x1000, "1000 context; 10104 call; 10300 cfi; end" },
		{ UINT64_C(0xffffffffffff), "ffffffffffff context; 10104 call; 10300 cfi; end" },
		{ UINT64_C(1) << 48, "1000000000000 context; 10104 call; 10300 cfi; end" },
	};
	static const struct { uint64_t pc; bool may_be_code; } places[] = {
		{ 0, false }, { 0xfff, false }, { 0x1000, true }, { UINT64_C(1) << 47, true },
		{ UINT64_C(0xffffffffffff), true }, { UINT64_C(1) << 48, false }, { UINT64_C(0xfffeffffffffffff), false },
		{ UINT64_C(0xffff000000000000), true }, { UINT64_MAX, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = at(cases[i].pc, STACK, 0);
		struct process p;

		make_process(&p, 7, 6, 16);
		p.stack[0] = BASE + USUAL + 5;
		p.stack[2] = BASE + LAST + 1;
		expect_of(&p, EM_X86_64, &r, 0, false, cases[i].wants);
	}
	/* Nothing was called, but a stack may be there: only where there may be code. */
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct symcache_registers r = at(places[i].pc, STACK, STACK + 64);
		char wants[200];
		struct process p;

		make_process(&p, 7, 6, 16);
		p.stack[8] = STACK + 128;
		p.stack[9] = BASE + LAST + 1;
		snprintf(wants, sizeof(wants), "%llx context; %s", (unsigned long long)places[i].pc,
			 places[i].may_be_code ? "10300 frame pointer; end" : "no_module");
		expect_of(&p, EM_X86_64, &r, 0, false, wants);
	}
}

/* A stack that leads into itself, and one that has more frames than were asked for. */
static void test_ends(void **state)
{
	struct symcache_registers r = at(BASE + BY_FP, STACK, STACK + 64);
	struct process p;
	char wants[2000] = "10100 context; ";

	(void)state;
	make_process(&p, 7, 6, 16);
	p.stack[8] = STACK + 16; /* below */
	p.stack[9] = BASE + BY_FP + 1;
	p.stack[2] = STACK + 64;
	p.stack[3] = BASE + BY_FP + 1;
	expect(&p, EM_X86_64, &r, 0, "10500 context; 10500 cfi; not_growing");

	make_process(&p, 7, 6, 16);
	for (unsigned i = 0; i < WORDS; i++)
		p.stack[i] = BASE + USUAL + 1;
	for (unsigned i = 1; i < 30; i++)
		strcat(wants, "10100 cfi; ");
	r = at(BASE + USUAL, STACK, 0);
	expect(&p, EM_X86_64, &r, 0, strcat(wants, "limit"));
}

static uint64_t endless_word; /* that all memory is full of */

static bool read_endless(void *ctx, uint64_t address, void *to, size_t bytes)
{
	(void)ctx, (void)address;
	if (bytes != sizeof(endless_word))
		return false; /* code is not there */
	memcpy(to, &endless_word, bytes);
	return true;
}

/* Where a stack without an end is cut off: by the number of its frames, and of its signals. */
static void test_endless(void **state)
{
	static const struct {
		uint64_t word;
		uint32_t most, frames;
		enum symcache_stop stop;
	} cases[] = {
		{ BASE + USUAL + 1, 0, 100000, SYMCACHE_STOP_LIMIT }, { BASE + USUAL + 1, 1, 1, SYMCACHE_STOP_LIMIT },
		{ BASE + USUAL + 1, 200000, 200000, SYMCACHE_STOP_LIMIT },
		{ BASE + SIGNAL + 1, 0, 1 + 64 + 1, SYMCACHE_STOP_NOT_GROWING },
	};
	const struct symcache_registers r = at(BASE + USUAL, STACK, 0);
	struct process p;

	(void)state;
	make_process(&p, 7, 6, 16);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_unwind_source source = {
			.machine = EM_X86_64, .max_frames = cases[i].most, .read = read_endless,
			.module = find_module, .modules = &p, .executable = is_executable,
		};
		struct symcache_unwind_frame f;
		struct symcache_unwinder u;
		uint32_t n = 0;

		endless_word = cases[i].word;
		assert_int_equal(symcache_unwind_begin(&u, &source, &r, NULL), 0);
		while (symcache_unwind_next(&u, &f))
			n++;
		assert_int_equal(n, cases[i].frames);
		assert_int_equal(u.stop, cases[i].stop);
	}
	sc_rows_deinit(&p.rows);
}

static bool find_none(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	find_module(ctx, address, ret);
	return false;
}

/* What is said of a module counts only where the address is in it. */
static void test_no_module(void **state)
{
	const struct symcache_registers r = at(BASE + USUAL, STACK, 0);
	struct process p;
	const struct symcache_unwind_source source = {
		.machine = EM_X86_64, .read = read_memory, .module = find_none, .modules = &p, .ctx = &p,
	};
	struct symcache_unwind_frame f;
	struct symcache_unwinder u;

	(void)state;
	make_process(&p, 7, 6, 16);
	assert_int_equal(symcache_unwind_begin(&u, &source, &r, NULL), 0);
	assert_true(symcache_unwind_next(&u, &f));
	assert_false(f.has_module);
	assert_true(!f.cache && !f.owner && !f.base && f.rel_pc == BASE + USUAL);
	assert_false(symcache_unwind_next(&u, &f));
	assert_int_equal(u.stop, SYMCACHE_STOP_NO_MODULE);
	sc_rows_deinit(&p.rows);
}

/* Registers that are not kept, such as those of vectors, which have numbers from 64 on, leave the others as
 * they are: whether their rules can be followed or not. */
static void test_far_registers(void **state)
{
	static const struct { uint8_t reg; int32_t offset; bool known; uint64_t value; } cases[] = {
		{ 64, -24, true, 1 }, { 64, -0x6000, true, 1 }, { 65, -24, true, 1 }, { 254, -24, true, 1 },
		{ 0, -24, true, 7 }, { 0, -0x6000, false, 0 }, { 63, -24, true, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_ext_rule rules[] = {
			{ cases[i].reg, SYMCACHE_RULE_AT_CFA, 0, cases[i].offset },
			{ SYMCACHE_UNWIND_RETURN, SYMCACHE_RULE_AT_CFA, 0, -8 },
		};
		struct symcache_registers r = at(BASE + USUAL, STACK, 0);
		struct process p;
		struct symcache_unwind_source source = {
			.machine = EM_X86_64, .read = read_memory, .module = find_module, .modules = &p, .ctx = &p,
		};
		struct sc_rows_maker m = { .out = &p.rows };
		struct symcache_unwind_frame f;
		struct symcache_unwinder u;

		make_process(&p, 7, 6, 16);
		sc_rows_deinit(&p.rows);
		p.rows = (struct sc_rows){ .facts = p.rows.facts };
		p.rows.facts.preserved = 1; /* register 0, and its neighbour in `known` */
		add(&m, USUAL, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, 7, 0, 2, 32, 0 }, rules);
		assert_true(sc_rows_finish(&m));
		sc_rows_maker_deinit(&m);
		p.cache.unwind = sc_rows_view(&p.rows);
		symcache_set_register(&r, 0, 1);
		p.stack[1] = 7;
		p.stack[3] = BASE + USUAL + 1;
		assert_int_equal(symcache_unwind_begin(&u, &source, &r, NULL), 0);
		assert_true(symcache_unwind_next(&u, &f));
		if ((u.registers.known & 1) != cases[i].known || (cases[i].known && u.registers.value[0] != cases[i].value))
			fail_msg("register %u at %d: known %llx, %llu", cases[i].reg, cases[i].offset,
				 (unsigned long long)u.registers.known, (unsigned long long)u.registers.value[0]);
		assert_int_equal(u.registers.pc, BASE + USUAL + 1);
		sc_rows_deinit(&p.rows);
	}
}

/* ---- trampolines that no file has ------------------------------------------------------------ */

static void test_trampoline(void **state)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct symcache_registers r = at(LOOSE, STACK, 0);
	struct process p;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		make_process(&p, 7, 6, 16);
		memcpy(p.code, code, sizeof(code));
		p.code[3] ^= (uint8_t)broken;
		p.stack[5 + 15] = STACK + 256;    /* the stack pointer that was interrupted */
		p.stack[5 + 16] = BASE + USUAL;
		p.stack[256 / 8 + 1] = BASE + LAST + 1;
		expect(&p, EM_X86_64, &r, 0, broken ? "60000 context; 10300 scan; end" :
		       "60000 context S; 10100 signal; 10300 cfi; end");
	}
}

/* ---- AArch64 ----------------------------------------------------------------------------------- */

static struct symcache_registers arm(uint64_t pc, uint64_t sp, uint64_t link)
{
	struct symcache_registers r = { .pc = pc };

	symcache_set_register(&r, 31, sp);
	symcache_set_register(&r, 29, 0);
	symcache_set_register(&r, 30, link);
	return r;
}

/* The row of the vDSO's trampoline finds the frame record; what was interrupted is behind the
 * siginfo: without its pc the innermost frame would be lost. One in no module has no row. */
static void test_arm_signal(void **state)
{
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	static const struct { uint64_t at; const char *wants; } cases[] = {
		{ LOOSE, "60000 context S; 10400 signal; 10300 cfi; end" },
		{ BASE + SIGNAL, "10200 context S; 10400 signal; 10300 cfi; end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = arm(cases[i].at, STACK, 0);
		struct process p;

		make_process(&p, 31, 29, 30);
		p.code_at = cases[i].at;
		memcpy(p.code, code, sizeof(code));
		p.stack[64 / 8 - 1] = BASE + USUAL;      /* of the frame record */
		p.stack[312 / 8 + 30] = BASE + LAST + 1; /* x30 */
		p.stack[312 / 8 + 31] = STACK + 800;     /* sp */
		p.stack[312 / 8 + 32] = BASE + LEAF;     /* pc */
		expect(&p, EM_AARCH64, &r, 0, cases[i].wants);
	}
}

/* The upper bits of a signed return address are taken away: those that the core names, or those that
 * Linux uses. */
static void test_arm_signature(void **state)
{
	static const struct { uint64_t bits, signature; } cases[] = {
		{ 0, 0 }, { UINT64_C(0xffff) << 48, 0 }, { UINT64_C(0x1234) << 48, 0 },
		{ UINT64_C(1) << 48, 0 }, { UINT64_C(0x7f) << 40, UINT64_C(0x7f) << 40 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = arm(BASE + LEAF, STACK, cases[i].bits | (BASE + USUAL + 4));
		struct process p;

		make_process(&p, 31, 29, 30);
		p.stack[1] = cases[i].bits | (BASE + LAST + 4);
		expect(&p, EM_AARCH64, &r, cases[i].signature, "10400 context; 10103 cfi; 10303 cfi; end");
	}
}

/* A leaf has no frame of its own, but one that returns to itself would go round for ever. */
static void test_arm_leaf(void **state)
{
	static const struct { uint64_t link; const char *wants; } cases[] = {
		{ BASE + LAST + 4, "10400 context; 10303 cfi; end" }, { BASE + LEAF, "10400 context; not_growing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = arm(BASE + LEAF, STACK, cases[i].link);
		struct process p;

		make_process(&p, 31, 29, 30);
		expect(&p, EM_AARCH64, &r, 0, cases[i].wants);
	}
}

static void test_other_machine(void **state)
{
	const struct symcache_unwind_source source = { .machine = EM_S390 };
	const struct symcache_registers r = { 0 };
	struct symcache_unwinder u;
	struct sc_error err;

	(void)state;
	assert_int_equal(symcache_unwind_begin(&u, &source, &r, &err), SC_EUNSUPPORTED);
	assert_string_equal(err.msg, "stacks of machine 22 are not read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trust),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_endless),
		cmocka_unit_test(test_no_module),
		cmocka_unit_test(test_far_registers),
		cmocka_unit_test(test_trampoline),
		cmocka_unit_test(test_arm_signal),
		cmocka_unit_test(test_arm_signature),
		cmocka_unit_test(test_unknown_memory),
		cmocka_unit_test(test_arm_leaf),
		cmocka_unit_test(test_other_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
