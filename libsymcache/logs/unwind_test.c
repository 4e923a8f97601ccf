/*
 * Stacks of logs that have registers and bytes: on each machine the registers that logs have by names of
 * their own, and which machine it is if no module says so. And a stack of this test program itself, of
 * which there is a cache.
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/logs/resolver.h"
#include "libsymcache/symbolize/module.h"
#include "libsymcache/unwind/unwind.h"

enum { STACK = 0x7000, CODE = 0x10000, CODE_END = 0x20000 };

typedef bool find_fn(void *ctx, uint64_t address, void **module, uint64_t *vaddr);

static bool find_code(void *ctx, uint64_t address, void **module, uint64_t *vaddr)
{
	*module = ctx;
	*vaddr = address;
	return address >= CODE && address < CODE_END;
}

/* The frames as "pc how; … end", with "*" where the pc is exact. */
static void expect(const struct markup_register *registers, size_t n, find_fn *find, const void *bytes,
		   size_t len, const char *wants)
{
	const struct markup_stack stack = { registers, n, bytes, len, find, NULL };
	const struct markup_caller *callers;
	struct sc_log_resolver r = { .thread = 0 };
	const char *end = "none";
	char got[300] = "";
	const size_t found = sc_log_unwind(&r, &stack, &callers, &end);

	for (size_t i = 0; i < found; i++)
		sprintf(got + strlen(got), "%" PRIx64 "%s %s; ", callers[i].pc, callers[i].exact ? "*" : "",
			callers[i].how ? callers[i].how : "sure");
	strcat(got, end ? end : "end");
	assert_string_equal(got, wants);
	vec_deinit(&r.callers);
}

#define R(name, value) { { name, sizeof(name) - 1 }, value }

/* A record of the frame pointer at the end of the stack, and behind a call that went nowhere the link
 * register or a word of the stack. */
static void test_machines(void **state)
{
	static const struct {
		const char *own;  /* a register that no other machine has */
		unsigned word;
		int record;       /* from the frame pointer to it */
		bool link;
	} cases[] = {
		{ "rax", 8, 0, false }, { "eax", 4, 0, false }, { "x0", 8, 0, true }, { "t0", 8, -16, true },
	};
	static const char called[] = "10* sure; 12345 call; 10101 frame pointer; the module is not in the store";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned w = cases[i].word;
		const uint64_t fp = STACK + 2 * w - cases[i].record;
		struct markup_register registers[] = {
			R("pc", 0x12345), { { cases[i].own, strlen(cases[i].own) }, 7 }, R("lr", 0x12345), R("sp", STACK), R("fp", fp),
		};
		uint8_t stack[4 * 8] = { 0 };

		memcpy(stack, &(uint32_t){ cases[i].link ? 0 : 0x12345 }, 4);
		memcpy(stack + 3 * w, &(uint32_t){ 0x10101 }, 4); /* the record's old frame pointer is 0 */
		expect(registers, 5, find_code, stack, 4 * w,
		       "12345* sure; 10101 frame pointer; the module is not in the store");
		expect(registers, 5, find_code, stack, 4 * w - 1, "12345* sure; the module is not in the store");
		registers[0].value = 0x10;
		expect(registers, 5, find_code, stack, 4 * w, called);
		/* Without what is needed, or with what no machine has, there are none. */
		expect(registers + 1, 4, find_code, stack, 4 * w, "none");
		registers[3].name = (struct sc_str){ "rsp0", 4 };
		expect(registers, 5, find_code, stack, 4 * w, "none");
		registers[3].name = (struct sc_str){ "stackpointer", 12 };
		expect(registers, 5, find_code, stack, 4 * w, "none");
		expect(registers, 3, find_code, stack, 4 * w, "none");
	}
}

/* ---- rows of a module ------------------------------------------------------------------------ */

static struct symcache made; /* a cache that has rows alone */

static bool find_made(void *ctx, uint64_t address, void **module, uint64_t *vaddr)
{
	static struct symcache_module m = { .cache = &made };

	(void)ctx;
	*module = &m;
	*vaddr = address - CODE + made.image->load_base;
	return address >= CODE && address < CODE_END;
}

/* The machine is that of the module, and the row counts from its stack pointer, which logs call "sp". */
static void test_stack_pointers(void **state)
{
	static const struct { uint16_t machine; uint8_t sp; int word; } cases[] = {
		{ EM_X86_64, 7, 8 }, { EM_386, 4, 4 }, { EM_AARCH64, 31, 8 }, { EM_RISCV, 2, 8 },
	};
	static const struct symcache_ext_start starts[] = { { 0x100, 1 }, { 0x110, 0 }, { 0x200, 2 }, { 0x210, 0 } };
	static const uint32_t pages[] = { 0, 4 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint8_t sp = cases[i].sp;
		const int w = cases[i].word;
		const struct symcache_ext_image image = { .machine = cases[i].machine, .load_base = 0x400000 };
		const struct symcache_ext_unwind facts = { .stack_pointer = sp, .word = (uint8_t)w };
		const struct symcache_ext_row rows[] = {
			{ .cfa = SYMCACHE_CFA_NONE }, { SYMCACHE_CFA_REGISTER, sp, 0, 1, 3 * w, 0 },
			{ SYMCACHE_CFA_REGISTER, sp, SYMCACHE_ROW_OUTERMOST, 0, 0, 0 },
		};
		const struct symcache_ext_rule rules[] = { { SYMCACHE_UNWIND_RETURN, SYMCACHE_RULE_AT_CFA, 0, -w } };
		const struct markup_register registers[] = { R("pc", CODE + 0x100), R("sp", STACK) };
		uint8_t bytes[3 * 8] = { 0 };

		made = (struct symcache){ .image = &image, .unwind = {
			.facts = &facts, .pages = pages, .num_pages = 2, .starts = starts, .num_starts = 4,
			.rows = rows, .num_rows = 3, .rules = rules, .num_rules = 1,
		} };
		memcpy(bytes + 2 * w, &(uint32_t){ CODE + 0x201 }, 4);
		expect(registers, 2, find_made, bytes, 3 * (size_t)w, "10100* sure; 10201 sure; end");
	}
}

/* ---- this program ---------------------------------------------------------------------------- */

enum { BIAS = 0x5000000 };

static const struct symcache *own;

static bool find_own(void *ctx, uint64_t address, void **module, uint64_t *vaddr)
{
	struct symcache_row row;

	*module = ctx;
	*vaddr = address - BIAS;
	return address >= BIAS && symcache_find_row(own, *vaddr - symcache_load_base(own), &row);
}

/* The first frame at the beginning of a function, whose return address is on top of the stack. */
static void test_rows(void **state)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_module *m = symcache_caches_module(caches, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	const struct markup_caller *callers;
	struct sc_log_resolver r = { .thread = 0 };
	uint64_t start = 0, bytes[2] = { 0 };
	const char *end;
	uint32_t row_number;
	struct symcache_row row;

	(void)state;
	assert_int_equal(symcache_module_cache(m, &own, NULL, NULL), 0);
	if (own->image->machine != EM_X86_64) {
		printf("skipped: it is written for x86-64\n");
		symcache_caches_destroy(caches);
		skip();
	}
	/* A function that begins like most: its caller's frame is one word above. */
	for (uint32_t i = own->unwind.num_starts / 2; i < own->unwind.num_starts; i++)
		if (symcache_row_range(own, i, &start, &row_number) && symcache_find_row(own, start, &row) &&
		    row.cfa == SYMCACHE_CFA_REGISTER && row.cfa_reg == 7 && row.n == 8)
			break;
	start += symcache_load_base(own) + BIAS;
	bytes[0] = start + 1;
	{
		const struct markup_register registers[] = { R("rsp", STACK), R("pc", start), R("sp", STACK) };
		const struct markup_stack stack = { registers, 3, (const uint8_t *)bytes, sizeof(bytes), find_own, m };

		assert_true(sc_log_unwind(&r, &stack, &callers, &end) >= 2);
	}
	assert_true(callers[0].pc == start && callers[0].exact && !callers[0].how);
	assert_true(callers[1].pc == start + 1 && !callers[1].exact && !callers[1].how);
	vec_deinit(&r.callers);
	symcache_caches_destroy(caches);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_machines), cmocka_unit_test(test_stack_pointers),
					    cmocka_unit_test(test_rows) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
