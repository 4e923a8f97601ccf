/* Rows of unwind information as people read them, in `lookup --explain` and `show --unwind`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <elf.h>
#include <string.h>

#include "libsymcache/read/rows.h"

#define BYTES(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* The text of a row of one rule, with an expression at 0 of the section. */
static void expect(uint16_t machine, bool big, const struct symcache_ext_row *raw,
		   const struct symcache_ext_rule *rules, const uint8_t *expression, size_t size, const char *wants)
{
	const struct symcache_ext_unwind facts = { .word = 8, .link = machine == EM_X86_64 ? 16 : 30 };
	const struct symcache_ext_image image = { .machine = machine, .elf_class = 2, .big_endian = big };
	uint8_t stored[100] = { (uint8_t)size };
	const struct symcache c = {
		.image = &image, .unwind = { .facts = &facts, .expressions = stored, .expression_bytes = size + 2 },
	};
	const struct symcache_row row = {
		.cfa = raw->cfa, .cfa_reg = raw->cfa_reg, .flags = raw->flags, .num_rules = raw->num_rules,
		.n = raw->n, .rules = rules,
	};
	char text[300];

	if (size)
		memcpy(stored + 2, expression, size);
	assert_int_equal(symcache_row_text(&c, &row, text, sizeof(text)), strlen(wants));
	assert_string_equal(text, wants);
	symcache_row_text(&c, &row, text, 5); /* cut off */
	assert_int_equal(strlen(text), strlen(wants) < 4 ? strlen(wants) : 4);
}

static void test_rules(void **state)
{
	static const struct { struct symcache_ext_rule rule; const char *wants; } cases[] = {
		{ { 3, SYMCACHE_RULE_AT_CFA, 0, -16 }, "CFA=rsp+16: rbx=[CFA-16]" },
		{ { 3, SYMCACHE_RULE_AT_CFA, 0, 8 }, "CFA=rsp+16: rbx=[CFA+8]" },
		{ { 3, SYMCACHE_RULE_AT_CFA, 0, 0 }, "CFA=rsp+16: rbx=[CFA]" },
		{ { 3, SYMCACHE_RULE_VAL_CFA, 0, -8 }, "CFA=rsp+16: rbx=CFA-8" },
		{ { 3, SYMCACHE_RULE_VAL_CFA, 0, 0 }, "CFA=rsp+16: rbx=CFA" },
		{ { 3, SYMCACHE_RULE_REGISTER, 0, 12 }, "CFA=rsp+16: rbx=r12" },
		{ { 3, SYMCACHE_RULE_UNDEFINED, 0, 0 }, "CFA=rsp+16: rbx=undefined" },
		{ { SYMCACHE_UNWIND_RETURN, SYMCACHE_RULE_AT_CFA, 0, -8 }, "CFA=rsp+16: rip=[CFA-8]" },
		{ { 77, SYMCACHE_RULE_AT_CFA, 0, -8 }, "CFA=rsp+16: r77=[CFA-8]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(EM_X86_64, false, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, 7, 0, 1, 16, 0 },
		       &cases[i].rule, NULL, 0, cases[i].wants);
}

/* Numbers in an expression are in the byte order of the image. */
static void test_expressions(void **state)
{
	static const struct symcache_ext_rule saved = { 3, SYMCACHE_RULE_EXPRESSION, 0, 0 },
					      value = { 3, SYMCACHE_RULE_VAL_EXPRESSION, 0, 0 };
	static const struct symcache_ext_row by_register = { SYMCACHE_CFA_REGISTER, 7, 0, 1, 16, 0 },
					     by_expression = { SYMCACHE_CFA_EXPRESSION, 0, 0, 0, 0, 0 };

	(void)state;
	expect(EM_X86_64, false, &by_register, &saved, BYTES(0x77, 8), "CFA=rsp+16: rbx=[breg7 rsp+8]");
	expect(EM_X86_64, false, &by_register, &value, BYTES(0x0a, 0x34, 0x12), "CFA=rsp+16: rbx=const2u 0x1234");
	expect(EM_X86_64, true, &by_register, &value, BYTES(0x0a, 0x34, 0x12), "CFA=rsp+16: rbx=const2u 0x3412");
	expect(EM_X86_64, false, &by_expression, NULL, BYTES(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x24),
	       "CFA=breg7 rsp+8, breg16 rip+0, lit15, and, shl");
	expect(EM_X86_64, false, &by_expression, NULL, BYTES(0x92, 3, 0x78), "CFA=bregx rbx-8");
	expect(EM_X86_64, false, &by_expression, NULL, BYTES(0x0a, 1), "CFA=?");
	expect(EM_X86_64, false, &by_expression, NULL, NULL, 0, "CFA=?");
}

static void test_registers(void **state)
{
	static const struct { uint16_t machine; unsigned number; const char *name; } cases[] = {
		{ EM_X86_64, 0, "rax" }, { EM_X86_64, 7, "rsp" }, { EM_X86_64, 15, "r15" }, { EM_386, 4, "esp" },
		{ EM_AARCH64, 31, "sp" }, { EM_AARCH64, 19, "x19" }, { EM_RISCV, 2, "x2" }, { EM_S390, 5, "r5" },
	};
	char buf[8];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_string_equal(symcache_register_name(cases[i].machine, cases[i].number, buf), cases[i].name);
		if (cases[i].machine != EM_S390)
			assert_int_equal(symcache_register_number(cases[i].machine, cases[i].name), cases[i].number);
	}
	assert_int_equal(symcache_register_number(EM_X86_64, "xyz"), SYMCACHE_NO_REGISTER);
	assert_int_equal(symcache_register_number(EM_X86_64, ""), SYMCACHE_NO_REGISTER);
}

/* Of all machines, from 0 to 34 and the return address. */
static void test_all_registers(void **state)
{
	static const struct { uint16_t machine; const char *names; } cases[] = {
		{ EM_X86_64, "rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip r17 r18 r19 r20 r21 r22 r23 "
			     "r24 r25 r26 r27 r28 r29 r30 r31 r32 r33 r34 rip" },
		{ EM_386, "eax ecx edx ebx esp ebp esi edi eip r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 "
			  "r24 r25 r26 r27 r28 r29 r30 r31 r32 r33 r34 eip" },
		{ EM_AARCH64, "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 "
			      "x24 x25 x26 x27 x28 x29 x30 sp pc x33 x34 x30" },
		{ EM_RISCV, "x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 "
			    "x24 x25 x26 x27 x28 x29 x30 x31 x32 x33 x34 ra" },
		{ EM_PPC64, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 "
			    "r24 r25 r26 r27 r28 r29 r30 r31 lr r33 r34 lr" },
		{ EM_S390, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15 r16 r17 r18 r19 r20 r21 r22 r23 "
			   "r24 r25 r26 r27 r28 r29 r30 r31 r32 r33 r34 ra" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char got[300] = "", buf[8];

		for (unsigned n = 0; n <= 35; n++) {
			const unsigned reg = n < 35 ? n : SYMCACHE_UNWIND_RETURN;
			const char *name = symcache_register_name(cases[i].machine, reg, buf);

			strcat(strcat(got, n ? " " : ""), name);
			if (n < 32)
				assert_int_equal(symcache_register_number(cases[i].machine, name), n);
		}
		assert_string_equal(got, cases[i].names);
		assert_int_equal(symcache_register_number(cases[i].machine, "none"), SYMCACHE_NO_REGISTER);
	}
	assert_int_equal(symcache_register_number(EM_RISCV, "zero"), 0);
	assert_int_equal(symcache_register_number(EM_RISCV, "ra"), 1);
	assert_int_equal(symcache_register_number(EM_RISCV, "t6"), 31);
	assert_int_equal(symcache_register_number(EM_X86_64, "a0"), SYMCACHE_NO_REGISTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules), cmocka_unit_test(test_expressions), cmocka_unit_test(test_registers),
		cmocka_unit_test(test_all_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
