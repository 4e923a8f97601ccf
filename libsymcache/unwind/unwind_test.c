/*
 * Walks over made stacks: by which means a frame was found, what it says of itself, and where a
 * stack ends. A module at BASE has rows; code elsewhere has none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/unwind/rows.h"
#include "libsymcache/unwind/unwind.h"

enum {
	BASE = 0x10000,      /* of the module with rows, up to 0x20000 */
	BARE = 0x40000,      /* of one without a cache, up to 0x50000 */
	LOOSE = 0x60000,     /* code in no module, of 16 bytes */
	STACK = 0x7000, WORDS = 200,
};

/* In the module: */
enum {
	USUAL = 0x100,       /* CFA=sp+16: return address at CFA − 8, frame pointer at CFA − 16 */
	SIGNAL = 0x200,      /* a signal's: CFA=sp+64, return address at CFA − 8 */
	LAST = 0x300,        /* the outermost frame */
	LEAF = 0x400,        /* the return address in the link register, or lost */
	BY_FP = 0x500,       /* CFA=fp+16 */
	NOTHING = 0x600,     /* no row */
};

struct process {
	struct symcache cache;
	struct sc_rows rows;
	uint64_t stack[WORDS];
	uint8_t loose[16];
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct process *p = ctx;
	const bool in_stack = address >= STACK && address < STACK + sizeof(p->stack);
	const uint64_t start = in_stack ? STACK : LOOSE;
	const size_t size = in_stack ? sizeof(p->stack) : sizeof(p->loose);

	if (address < start || address - start >= size || bytes > size - (address - start))
		return false;
	memcpy(to, (in_stack ? (const uint8_t *)p->stack : p->loose) + (address - start), bytes);
	return true;
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct process *p = ctx;

	if (address >= BASE && address < BASE + 0x10000) {
		ret->cache = &p->cache;
		ret->base = BASE;
		ret->owner = p;
	}
	return (address >= BASE && address < BASE + 0x10000) || (address >= BARE && address < BARE + 0x10000);
}

static bool is_executable(void *ctx, uint64_t address)
{
	(void)ctx;
	return address >= BASE && address < LOOSE + 0x1000;
}

static void add(struct sc_rows_maker *m, uint64_t start, const struct symcache_ext_row *row,
		const struct symcache_ext_rule *rules)
{
	assert_true(sc_rows_add(m, start, start + 0x100, row, rules));
}

static void make_process(struct process *p, uint8_t sp, uint8_t fp, uint8_t link)
{
	static const struct symcache_header header = {
		.version = SYMCACHE_VERSION_MAX, .num_ranges = 1, .num_source_locations = 1, .num_functions = 1,
	};
	static const struct symcache_function function = { .entry_pc = BASE };
	static const struct symcache_source_location location = {
		.file_idx = SYMCACHE_NONE, .inlined_into_idx = SYMCACHE_NONE,
	};
	static const uint32_t first = 0;
	struct sc_rows_maker m = { .out = &p->rows };
	const struct symcache_ext_rule usual[] = {
		{ fp, SYMCACHE_RULE_AT_CFA, 0, -16 }, { SYMCACHE_UNWIND_RETURN, SYMCACHE_RULE_AT_CFA, 0, -8 },
	};

	*p = (struct process){ .rows.facts = { .stack_pointer = sp, .frame_pointer = fp, .link = link, .word = 8,
					       .preserved = 1u << fp } };
	add(&m, USUAL, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, 0, 2, 16, 0 }, usual);
	add(&m, SIGNAL, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, SYMCACHE_ROW_SIGNAL_FRAME, 1, 64, 0 },
	    usual + 1);
	add(&m, LAST, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, SYMCACHE_ROW_OUTERMOST, 0, 0, 0 }, NULL);
	add(&m, LEAF, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, 0, 0, 0, 0 }, NULL);
	add(&m, BY_FP, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, fp, 0, 2, 16, 0 }, usual);
	assert_true(sc_rows_finish(&m));
	sc_rows_maker_deinit(&m);
	p->cache.header = &header; /* one function, which begins elsewhere */
	p->cache.ranges = &first;
	p->cache.functions = &function;
	p->cache.locations = &location;
	p->cache.unwind = sc_rows_view(&p->rows);
}

/* The stack as "rel_pc trust; … stop", and empties the process. "S" behind a signal's frame. */
static void expect(struct process *p, uint16_t machine, const struct symcache_registers *r,
		   uint64_t signature, const char *wants)
{
	struct symcache_unwind_source source = {
		.machine = machine, .signature = signature, .max_frames = 30, .read = read_memory,
		.module = find_module, .modules = p, .executable = is_executable, .ctx = p,
	};
	struct symcache_unwind_frame f;
	struct symcache_unwinder u;
	char got[2000] = "";

	assert_int_equal(symcache_unwind_begin(&u, &source, r, NULL), 0);
	while (symcache_unwind_next(&u, &f))
		sprintf(got + strlen(got), "%llx %s%s; ", (unsigned long long)f.lookup_pc,
			symcache_trust_text(f.trust), f.signal ? " S" : "");
	strcat(got, symcache_stop_word(u.stop));
	assert_string_equal(got, wants);
	sc_rows_deinit(&p->rows);
}

/* Registers of x86-64. */
static struct symcache_registers at(uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct symcache_registers r = { .pc = pc };

	symcache_set_register(&r, 7, sp);
	symcache_set_register(&r, 6, fp);
	return r;
}

/* ---- trust: how a frame was found ---------------------------------------------------------- */

static void test_trust(void **state)
{
	static const struct {
		const char *what;
		uint64_t pc, fp;
		struct { unsigned at; uint64_t value; } words[4]; /* of the stack */
		const char *wants;
	} cases[] = {
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
		{ "what looks like one, but has no caller", BARE + 8, 0, { { 4, BASE + USUAL + 5 } },
		  "40008 context; no_cache" },
		{ "no row, and nothing on the stack", BASE + NOTHING, 0, { { 0, 0 } }, "10600 context; no_row" },
		{ "a frame below the one that it called", BASE + BY_FP, STACK - 64, { { 0, 0 } },
		  "10500 context; no_memory" },
		{ "no memory", BASE + BY_FP, STACK + 8 * WORDS, { { 0, 0 } }, "10500 context; no_memory" },
		{ "a return address of 0", BASE + USUAL, 0, { { 1, 0 } }, "10100 context; end" },
		{ "a return address that is lost", BASE + LEAF, 0, { { 0, 0 } }, "10400 context; lost" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = at(cases[i].pc, STACK, cases[i].fp);
		struct process p;

		make_process(&p, 7, 6, 16);
		for (unsigned k = 0; k < 4; k++)
			if (cases[i].words[k].value)
				p.stack[cases[i].words[k].at] = cases[i].words[k].value;
		expect(&p, EM_X86_64, &r, 0, cases[i].wants);
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

/* ---- trampolines that no file has ------------------------------------------------------------ */

static void test_trampoline(void **state)
{
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	struct symcache_registers r = at(LOOSE, STACK, 0);
	struct process p;

	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		make_process(&p, 7, 6, 16);
		memcpy(p.loose, code, sizeof(code));
		p.loose[3] ^= (uint8_t)broken;
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
 * siginfo: without its pc the innermost frame would be lost. */
static void test_arm_signal(void **state)
{
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	struct symcache_registers r = arm(LOOSE, STACK, 0);
	struct process p;

	(void)state;
	make_process(&p, 31, 29, 30);
	memcpy(p.loose, code, sizeof(code));
	p.stack[312 / 8 + 30] = BASE + LAST + 1; /* x30 */
	p.stack[312 / 8 + 31] = STACK + 800;     /* sp */
	p.stack[312 / 8 + 32] = BASE + LEAF;     /* pc */
	expect(&p, EM_AARCH64, &r, 0, "60000 context S; 10400 signal; 10300 cfi; end");
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
		cmocka_unit_test(test_trampoline),
		cmocka_unit_test(test_arm_signal),
		cmocka_unit_test(test_arm_signature),
		cmocka_unit_test(test_other_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
