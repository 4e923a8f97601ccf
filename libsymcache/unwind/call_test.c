/* Unit tests of what a return address stands behind: instructions as assemblers write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <elf.h>

#include "libsymcache/unwind/arch.h"

static const struct {
	uint16_t machine;
	bool call;
	const char *code; /* hex */
} cases[] = {
	{ EM_X86_64, true, "e8fbffffff" },       /* call 0 */
	{ EM_X86_64, true, "ffd0" },             /* call *%rax */
	{ EM_X86_64, true, "41ffd3" },           /* call *%r11 */
	{ EM_X86_64, true, "ff10" },             /* call *(%rax) */
	{ EM_X86_64, true, "ff5008" },           /* call *8(%rax) */
	{ EM_X86_64, true, "ff1424" },           /* call *(%rsp) */
	{ EM_X86_64, true, "ff542408" },         /* call *8(%rsp) */
	{ EM_X86_64, true, "ff1500000000" },     /* call *0(%rip) */
	{ EM_X86_64, true, "ff9000010000" },     /* call *256(%rax) */
	{ EM_X86_64, true, "ff14c500000000" },   /* call *0(,%rax,8) */
	{ EM_X86_64, true, "ff942400010000" },   /* call *256(%rsp) */
	{ EM_X86_64, true, "ffd4" },             /* call *%rsp */
	{ EM_X86_64, true, "ff542508" },         /* call *8(%rbp,%riz) */
	{ EM_386, true, "ff1500000000" },        /* call *0 */
	{ EM_X86_64, false, "ffc8" },            /* dec %eax */
	{ EM_X86_64, false, "ff18" },            /* lcall *(%rax) */
	{ EM_X86_64, false, "ff1425" },          /* the beginning of a longer one */
	{ EM_X86_64, false, "e8fbffff" },
	{ EM_X86_64, false, "ffe0" },            /* jmp *%rax */
	{ EM_X86_64, false, "ff2500000000" },    /* jmp *0(%rip) */
	{ EM_X86_64, false, "ff50080f" },        /* call *8(%rax), and a byte of the next one */
	{ EM_X86_64, false, "ff1500000000c3" },
	{ EM_X86_64, false, "4889e5" },
	{ EM_X86_64, false, "0f1f4000" },
	{ EM_AARCH64, true, "00000094" },        /* bl 0 */
	{ EM_AARCH64, true, "00003fd6" },        /* blr x0 */
	{ EM_AARCH64, true, "1f083fd6" },        /* blraaz x0 */
	{ EM_AARCH64, true, "01083fd7" },        /* blraa x0, x1 */
	{ EM_AARCH64, true, "1f0c3fd6" },        /* blrabz x0 */
	{ EM_AARCH64, true, "ffffff97" },        /* bl −4 */
	{ EM_AARCH64, false, "c0035fd6" },       /* ret */
	{ EM_AARCH64, false, "01103fd7" },       /* nothing */
	{ EM_AARCH64, false, "01003fd6" },
	{ EM_AARCH64, false, "00000014" },       /* b 0 */
	{ EM_AARCH64, false, "00001fd6" },       /* br x0 */
	{ EM_AARCH64, false, "fd7bbfa9" },
	{ EM_RISCV, true, "ef000000" },          /* jal ra, 0 */
	{ EM_RISCV, true, "e7800700" },          /* jalr ra, 0(a5) */
	{ EM_RISCV, true, "01008297" },          /* nop; c.jalr a5's like: c.jalr */
	{ EM_RISCV, true, "ef020000" },          /* jal t0, 0 */
	{ EM_RISCV, true, "e7820200" },          /* jalr t0, 0(t0) */
	{ EM_RISCV, false, "6f010000" },         /* jal sp, 0 */
	{ EM_RISCV, false, "6f020000" },         /* jal tp, 0 */
	{ EM_RISCV, false, "6f030000" },         /* jal t1, 0 */
	{ EM_RISCV, false, "e7900700" },         /* of no such instruction */
	{ EM_RISCV, false, "01000290" },         /* nop; c.ebreak */
	{ EM_RISCV, false, "01001690" },         /* nop; c.add zero, t0 */
	{ EM_RISCV, false, "6f000000" },         /* j 0 */
	{ EM_RISCV, false, "67800000" },         /* ret */
	{ EM_RISCV, false, "01008280" },         /* nop; c.ret */
	{ EM_S390, true, "0000" },
};

static void test_calls(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const size_t len = strlen(cases[i].code) / 2;
		uint8_t code[SC_CALL_MAX];

		memset(code, 0x90, sizeof(code));
		for (size_t n = 0; n < len; n++) {
			unsigned byte;

			assert_int_equal(sscanf(cases[i].code + 2 * n, "%2x", &byte), 1);
			code[SC_CALL_MAX - len + n] = (uint8_t)byte;
		}
		if (sc_ends_with_call(cases[i].machine, code) != cases[i].call)
			fail_msg("%s of machine %u", cases[i].code, cases[i].machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_calls) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
