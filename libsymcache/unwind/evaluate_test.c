/*
 * Expressions of call frame information, operator by operator: a frame's CFA or a saved register
 * is what they say, and a wrong one is a wrong stack.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "libsymcache/unwind/arch.h"

enum { MEMORY = 0x5000, BASE = 0x10000 };

static const uint8_t memory[] = { 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x91, 7, 0, 0, 0, 0, 0, 0, 0 };

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	(void)ctx;
	if (address < MEMORY || address - MEMORY > sizeof(memory) || bytes > sizeof(memory) - (address - MEMORY))
		return false;
	memcpy(to, memory + (address - MEMORY), bytes);
	return true;
}

static bool no_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	(void)ctx, (void)address, (void)ret;
	return false;
}

static uint64_t unread; /* the address at which the last expression could not read */

/* Evaluates on a machine whose register 3 is 100 and 6 is MEMORY, the CFA being 0x4000. */
static bool evaluate(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t *ret)
{
	const struct symcache_unwind_source source = {
		.machine = machine, .read = read_memory, .module = no_module,
	};
	struct symcache_registers registers = { .pc = BASE + 0x1234 };
	uint8_t stored[2 + 600] = { (uint8_t)size, (uint8_t)(size >> 8) };
	const struct symcache cache = { .unwind = { .expressions = stored, .expression_bytes = size + 2 } };
	const struct symcache_unwind_frame module = { .cache = &cache, .base = BASE };
	const uint64_t cfa = 0x4000;
	struct symcache_unwinder u;
	bool ok;

	symcache_set_register(&registers, 3, 100);
	symcache_set_register(&registers, 6, MEMORY);
	memcpy(stored + 2, bytes, size);
	assert_int_equal(symcache_unwind_begin(&u, &source, &registers, NULL), 0);
	ok = sc_evaluate(&u, &module, 0, &cfa, ret);
	unread = u.address;
	return ok;
}

#define U16(n) (n) & 0xff, (n) >> 8
#define MINUS_1 0x09, 0xff       /* const1s */
#define MINUS_7 0x11, 0x79       /* consts */
#define LIT(n) 0x30 + (n)
#define BAD UINT64_C(0xbadbadbadbad)

static const struct {
	const char *what;
	uint64_t on_64, on_32; /* BAD: it makes no sense, and there is no frame */
	uint8_t size, bytes[14];
} cases[] = {
#define X(what, on_64, on_32, ...) \
	{ what, on_64, on_32, sizeof((const uint8_t[]){ __VA_ARGS__ }), { __VA_ARGS__ } },
	X("the CFA is there at first", 0x4000, 0x4000, 0x96)
	X("lit", 31, 31, LIT(31))
	X("addr, relative to the module", BASE + 0x20, BAD, 0x03, 0x20, 0, 0, 0, 0, 0, 0, 0)
	X("addr of 4 bytes", BAD, BASE + 0x20, 0x03, 0x20, 0, 0, 0)
	X("const1u", 0xff, 0xff, 0x08, 0xff)
	X("const1s", -UINT64_C(1), UINT32_MAX, MINUS_1)
	X("const2u", 0xfffe, 0xfffe, 0x0a, U16(0xfffe))
	X("const2s", -UINT64_C(2), UINT32_MAX - 1, 0x0b, U16(0xfffe))
	X("const4u", 0xfffffffe, 0xfffffffe, 0x0c, 0xfe, 0xff, 0xff, 0xff)
	X("const4s", -UINT64_C(2), UINT32_MAX - 1, 0x0d, 0xfe, 0xff, 0xff, 0xff)
	X("const8u", 0x0807060504030201, 0x04030201, 0x0e, 1, 2, 3, 4, 5, 6, 7, 8)
	X("constu", 0x3fff, 0x3fff, 0x10, 0xff, 0x7f)
	X("consts", -UINT64_C(7), UINT32_MAX - 6, MINUS_7)
	X("dup", 18, 18, LIT(9), 0x12, 0x22)
	X("drop", 4, 4, LIT(4), LIT(5), 0x13)
	X("over", 4, 4, LIT(4), LIT(5), 0x14)
	X("pick", 4, 4, LIT(4), LIT(5), LIT(6), 0x15, 2)
	X("pick below the first", BAD, BAD, LIT(4), 0x15, 2)
	X("swap", 3, 3, LIT(5), LIT(8), 0x16, 0x1c)
	X("rot: the first becomes the third", 2, 2, LIT(1), LIT(2), LIT(3), 0x17)
	X("rot: and the third the second", 1, 1, LIT(1), LIT(2), LIT(3), 0x17, 0x13)
	X("rot: the first", 3, 3, LIT(1), LIT(2), LIT(3), 0x17, 0x13, 0x13)
	X("abs", 7, 7, MINUS_7, 0x19)
	X("abs of what is positive", 7, 7, LIT(7), 0x19)
	X("and", 8, 8, LIT(12), LIT(10), 0x1a)
	X("div", -UINT64_C(3), UINT32_MAX - 2, MINUS_7, LIT(2), 0x1b)
	X("div of the smallest number by −1", UINT64_C(1) << 63, 0, 0x0e, 0, 0, 0, 0, 0, 0, 0, 0x80, MINUS_1, 0x1b)
	X("div by 0", BAD, BAD, LIT(7), LIT(0), 0x1b)
	X("minus", 5, 5, LIT(9), LIT(4), 0x1c)
	X("mod", 2, 2, LIT(17), LIT(5), 0x1d)
	X("mod by 0", BAD, BAD, LIT(7), LIT(0), 0x1d)
	X("mul", 45, 45, LIT(9), LIT(5), 0x1e)
	X("neg", 7, 7, MINUS_7, 0x1f)
	X("not", -UINT64_C(8), UINT32_MAX - 7, LIT(7), 0x20)
	X("or", 14, 14, LIT(12), LIT(10), 0x21)
	X("plus", 13, 13, LIT(9), LIT(4), 0x22)
	X("plus_uconst", 0x4090, 0x4090, 0x23, 0x90, 0x01)
	X("shl", 36, 36, LIT(9), LIT(2), 0x24)
	X("shl by the word", 0, 0, LIT(9), 0x08, 64, 0x24)
	X("shl by 32", UINT64_C(9) << 32, 0, LIT(9), 0x08, 32, 0x24)
	X("shr", 2, 2, LIT(9), LIT(2), 0x25)
	X("shr by the word", 0, 0, LIT(9), 0x08, 64, 0x25)
	X("shr of a negative one", 1, 0, MINUS_7, 0x08, 63, 0x25)
	X("shra", -UINT64_C(2), UINT32_MAX - 1, MINUS_7, LIT(2), 0x26)
	X("shra by more than the word", -UINT64_C(1), UINT32_MAX, MINUS_7, 0x08, 200, 0x26)
	X("xor", 6, 6, LIT(12), LIT(10), 0x27)
	X("bra, taken", 0x4000, 0x4000, LIT(1), 0x28, U16(1), LIT(9))
	X("bra, not taken", 9, 9, LIT(0), 0x28, U16(1), LIT(9))
	X("bra backwards", BAD, BAD, LIT(1), 0x28, U16(0xfffc))
	X("bra behind the end", BAD, BAD, LIT(1), 0x28, U16(2), LIT(9))
	X("eq", 1, 1, LIT(9), LIT(9), 0x29)
	X("eq of others", 0, 0, LIT(9), LIT(8), 0x29)
	X("ge", 1, 1, LIT(9), LIT(9), 0x2a)
	X("ge of a smaller one", 0, 0, MINUS_7, LIT(2), 0x2a)
	X("gt", 1, 1, LIT(2), MINUS_7, 0x2b)
	X("gt of equal ones", 0, 0, LIT(2), LIT(2), 0x2b)
	X("le", 1, 1, LIT(2), LIT(2), 0x2c)
	X("le of a larger one", 0, 0, LIT(2), MINUS_7, 0x2c)
	X("lt", 1, 1, MINUS_7, LIT(2), 0x2d)
	X("lt of equal ones", 0, 0, LIT(2), LIT(2), 0x2d)
	X("ne", 1, 1, LIT(2), LIT(3), 0x2e)
	X("ne of equal ones", 0, 0, LIT(2), LIT(2), 0x2e)
	X("skip", 0x4000, 0x4000, 0x2f, U16(1), LIT(9))
	X("breg3", 92, 92, 0x73, 0x78)
	X("bregx", 92, 92, 0x92, 3, 0x78)
	X("the pc, as PLT entries have it", BASE + 0x1234, BAD, 0x80, 0) /* breg16 */
	X("the pc of i386", BAD, BASE + 0x1234, 0x78, 0) /* breg8 */
	X("a register that is not known", BAD, BAD, 0x74, 0)
	X("bregx of no register", BAD, BAD, 0x92, 0x80, 0x01, 0)
	X("deref", UINT64_C(0x9122334455667788), 0x55667788, 0x76, 0, 0x06)
	X("deref of what is not there", BAD, BAD, LIT(1), 0x06)
	X("deref_size", 0x667788, 0x667788, 0x76, 0, 0x94, 3)
	X("deref_size 9", BAD, BAD, 0x76, 0, 0x94, 9)
	X("deref_size 0", BAD, BAD, 0x76, 0, 0x94, 0)
	X("deref_size at the end", 0, 0, 0x76, 15, 0x94, 1)
	X("deref_size behind it", BAD, BAD, 0x76, 15, 0x94, 2)
	X("nothing left", BAD, BAD, 0x13)
	X("one of two values", BAD, BAD, 0x13, LIT(1), 0x22)
	X("an operation that is none", BAD, BAD, 0x05)
	X("push_object_address", BAD, BAD, 0x97)
	X("xderef", BAD, BAD, LIT(1), 0x18)
	X("an argument cut off", BAD, BAD, 0x0a, 1)
#undef X
};

static void test_operations(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t on_64, on_32;

		if (!evaluate(EM_X86_64, cases[i].bytes, cases[i].size, &on_64))
			on_64 = BAD;
		if (!evaluate(EM_386, cases[i].bytes, cases[i].size, &on_32))
			on_32 = BAD;
		if (on_64 != cases[i].on_64 || on_32 != cases[i].on_32)
			fail_msg("%s: 0x%llx, 0x%llx", cases[i].what, (unsigned long long)on_64,
				 (unsigned long long)on_32);
	}
}

/* An address that cannot be read is an error; an expression that is not valid has no address. */
static void test_addresses(void **state)
{
	static const struct { uint64_t address; uint8_t size, bytes[4]; } rows[] = {
		{ 17, 2, { LIT(17), 0x06 } }, { 17, 3, { LIT(17), 0x94, 3 } }, { MEMORY + 15, 4, { 0x76, 15, 0x94, 2 } },
		{ MEMORY + 9, 3, { 0x76, 9, 0x06 } }, { 0, 2, { 0x74, 0 } }, { 0, 3, { LIT(7), LIT(0), 0x1b } },
	};
	uint64_t v;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_false(evaluate(EM_X86_64, rows[i].bytes, rows[i].size, &v));
		assert_int_equal(unread, rows[i].address);
	}
}

/* The stack has 64 values, the CFA among them. */
static void test_depth(void **state)
{
	uint8_t bytes[64];
	uint64_t v;

	(void)state;
	memset(bytes, LIT(1), sizeof(bytes));
	assert_true(evaluate(EM_X86_64, bytes, 63, &v));
	assert_false(evaluate(EM_X86_64, bytes, 64, &v));
}

/* A place outside of the section, and an expression that is longer than it. */
static void test_places(void **state)
{
	static const uint8_t stored[] = { 1, 0, LIT(5), 2, 0, LIT(6) };
	static const struct { int32_t n; size_t size; } places[] = {
		{ 0, 1 }, { 3, 0 }, { 4, 0 }, { 5, 0 }, { 6, 0 }, { -1, 0 }, { INT32_MAX, 0 },
	};
	const struct symcache c = { .unwind = { .expressions = stored, .expression_bytes = sizeof(stored) } };
	const uint8_t *bytes;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		assert_int_equal(symcache_expression(&c, places[i].n, &bytes), places[i].size);
}

/* Memory in which each word is its own address, without an end at 4 GiB. */
static bool read_address(void *ctx, uint64_t address, void *to, size_t bytes)
{
	(void)ctx;
	memcpy(to, &address, bytes);
	return address <= UINT32_MAX;
}

/* Addresses of 32 bits wrap around: what a row finds near the end of them lies near 0. */
static void test_wrapping(void **state)
{
	static const struct symcache_ext_rule rules[] = {
		{ 3, SYMCACHE_RULE_AT_CFA, 0, -8 },       { 5, SYMCACHE_RULE_VAL_CFA, 0, -4 },
		{ 6, SYMCACHE_RULE_VAL_CFA, 0, -0x30 },   { 7, SYMCACHE_RULE_AT_CFA, 0, -0x30 },
		{ SYMCACHE_UNWIND_RETURN, SYMCACHE_RULE_AT_CFA, 0, -12 },
	};
	static const struct symcache_row row = { .cfa = SYMCACHE_CFA_REGISTER, .cfa_reg = 4, .num_rules = 5, .n = 0x20,
						 .rules = rules };
	static const struct symcache_ext_unwind facts = { .stack_pointer = 4, .word = 4 };
	static const struct symcache cache = { .unwind = { .facts = &facts } };
	static const struct symcache_unwind_frame module = { .cache = &cache, .base = BASE };
	static const struct symcache_unwind_source source = {
		.machine = EM_386, .read = read_address, .module = no_module,
	};
	struct symcache_registers r = { .pc = BASE }, caller = { .known = 0 };
	struct symcache_unwinder u;

	(void)state;
	symcache_set_register(&r, 4, 0xfffffff0);
	assert_int_equal(symcache_unwind_begin(&u, &source, &r, NULL), 0);
	assert_true(sc_step_by_row(&u, &module, &row, &caller));
	assert_int_equal(caller.known, 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7);
	assert_int_equal(caller.value[4], 0x10);
	assert_int_equal(caller.value[3], 8);
	assert_int_equal(caller.value[5], 0xc);
	assert_int_equal(caller.value[6], 0xffffffe0);
	assert_int_equal(caller.value[7], 0xffffffe0);
	assert_int_equal(caller.pc, 4);
}

/* The budget of a whole stack: so many operations, and some more for each of its frames. */
static void test_budget(void **state)
{
	static const uint8_t stored[] = { 1, 0, 0x96 }; /* nop */
	static const struct symcache cache = { .unwind = { .expressions = stored, .expression_bytes = sizeof(stored) } };
	static const struct symcache_unwind_frame module = { .cache = &cache, .base = BASE };
	static const struct symcache_unwind_source source = {
		.machine = EM_X86_64, .read = read_memory, .module = no_module,
	};
	const struct symcache_registers r = { .pc = BASE };
	const uint64_t cfa = 1;
	struct symcache_unwinder u;
	uint64_t ret;

	(void)state;
	for (uint32_t frames = 0; frames < 3; frames++) {
		uint64_t n = 0;

		assert_int_equal(symcache_unwind_begin(&u, &source, &r, NULL), 0);
		u.frames = frames;
		while (sc_evaluate(&u, &module, 0, &cfa, &ret))
			n++;
		assert_int_equal(n, 100000 + 100 * frames);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations), cmocka_unit_test(test_depth), cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_places), cmocka_unit_test(test_wrapping), cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
