/*
 * What a frame collected, as stacks are walked in it: memory of blocks that touch, overlap or leave
 * gaps, wherever a read begins; and registers by the layout.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/trace/collected.h"
#include "libsymcache/trace/tdesc.h"
#include "libsymcache/trace/tfile_reader.h"

#define DEFINITIONS "\177TRACE0\nR 88\ntp T1:1000:E:0:0\n\n"

/* Blocks in the order of the file: the first one that has a byte counts. */
static const struct {
	uint64_t address;
	const char *bytes;
} blocks[] = {
	{ 0x7008, "EFGHIJ" }, { 0x7000, "abcd" },	      { 0x7004, "efgh" }, { 0x700c, "ijklmnop" },
	{ 0x7020, "!" },	    { 0x7030, "0123456789" },   { 0x7032, "xx" },	{ 0x7028, "........++" },
	{ 0x7050, "" },	    { UINT64_MAX - 3, "last" },
};

static void collect(struct symtrace *f, struct bytes *file, struct symtrace_collected *ret)
{
	struct symtrace_frames frames;
	struct symtrace_frame frame;
	struct symtrace_error ignored;
	struct sc_error err;
	size_t size;

	put_block(file, DEFINITIONS, strlen(DEFINITIONS));
	put(file, 2, 1);
	size = put(file, 4, 0);
	put(file, 1, 'R');
	for (unsigned i = 0; i < 17; i++)
		put(file, 8, 0x100 + i);
	for (size_t i = 0; i < sizeof(blocks) / sizeof(*blocks); i++) {
		put(file, 1, 'M');
		put(file, 8, blocks[i].address);
		put(file, 2, strlen(blocks[i].bytes));
		put_block(file, blocks[i].bytes, strlen(blocks[i].bytes));
	}
	patch(file, size, 4, file->b.len - size - 4);
	put(file, 2, 0);
	assert_int_equal(symtrace_read(f, file->b.data, file->b.len), 0);
	assert_true(tdesc_default(&f->layout, EM_X86_64, true));
	frames = symtrace_frames(f);
	assert_int_equal(symtrace_next_frame(&frames, &frame, &ignored), 1);
	assert_int_equal(symtrace_collect(f, &frame,
					  (struct symtrace_pc){ SYMTRACE_PC_REGISTERS, 0x1234 },
					  EM_X86_64, ret, &err),
			 0);
}

static void test_memory(void **state)
{
	static const struct {
		uint64_t at;
		const char *wants;
	} cases[] = {
		/* "-": it was not collected */
		{ 0x7000, "abcd" },
		{ 0x7002, "cdefg" },
		{ 0x7000, "abcdefghEFGHIJklmnop" },
		{ 0x7003, "defghEFGHIJk" },
		{ 0x7007, "hE" },
		{ 0x700d, "Jklm" },
		{ 0x7013, "p" },
		{ 0x7013, "--" },
		{ 0x7014, "-" },
		{ 0x6fff, "--" },
		{ 0x7020, "!" },
		{ 0x701f, "-" },
		{ 0x7021, "-" },
		{ 0x7030, "++23456789" },
		{ 0x7028, "........++2" },
		{ 0x702f, ".+" },
		{ 0x703a, "-" },
		{ 0x7050, "-" },
		{ 0, "-" },
	};
	struct symtrace_collected c = { 0 };
	struct bytes file = { 0 };
	struct symtrace f;

	(void)state;
	collect(&f, &file, &c);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char got[32] = "";
		const bool there =
			symtrace_collected_read(&c, cases[i].at, got, strlen(cases[i].wants));

		if (there != (*cases[i].wants != '-') || (there && strcmp(got, cases[i].wants)))
			fail_msg("0x%llx: %d '%s'", (unsigned long long)cases[i].at, there, got);
	}
	symtrace_collected_deinit(&c);
	symtrace_close(&f);
	bytes_deinit(&file);
}

/* Where a stack ends that was collected in part. */
static void test_end(void **state)
{
	static const struct {
		uint64_t at, end;
	} cases[] = {
		{ 0x7000, 0x7014 }, { 0x7005, 0x7014 }, { 0x7013, 0x7014 }, { 0x7014, 0 },
		{ 0x6fff, 0 },	  { 0x7020, 0x7021 }, { 0x7021, 0 },      { 0x7028, 0x703a },
		{ 0x7031, 0x703a }, { 0x703a, 0 },	    { 0x7050, 0 },
	};
	struct symtrace_collected c = { 0 };
	struct bytes file = { 0 };
	struct symtrace f;

	(void)state;
	collect(&f, &file, &c);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (symtrace_collected_end(&c, cases[i].at) != cases[i].end)
			fail_msg("0x%llx: 0x%llx", (unsigned long long)cases[i].at,
				 (unsigned long long)symtrace_collected_end(&c, cases[i].at));
	/* rax rbx rcx rdx rsi rdi rbp rsp r8 … of GDB, by DWARF's numbers. */
	assert_int_equal(c.registers.pc, 0x1234);
	assert_int_equal(c.registers.value[0], 0x100);
	assert_int_equal(c.registers.value[1], 0x103);
	assert_int_equal(c.registers.value[3], 0x101);
	assert_int_equal(c.registers.value[7], 0x107);
	assert_int_equal(c.registers.value[15], 0x10f);
	symtrace_collected_deinit(&c);
	symtrace_close(&f);
	bytes_deinit(&file);
}

/* The registers by DWARF's numbers; and without the stack pointer there is no stack: a block that ends
 * with it, and one that is a byte shorter. */
static void test_registers(void **state)
{
	static const struct {
		uint16_t machine;
		bool is64;
		unsigned sp, bytes; /* its number in DWARF, and where it ends */
		uint64_t known;     /* then */
	} cases[] = {
		{ EM_X86_64, true, 7, 64, 0xff },
		{ EM_386, false, 4, 20, 0x1f },
		{ EM_AARCH64, true, 31, 256, 0xffffffff },
		{ EM_RISCV, true, 2, 24, 0x7 },
	};
	const struct symtrace_pc pc = { SYMTRACE_PC_REGISTERS, 0x1234 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned word = cases[i].is64 ? 8 : 4;
		struct symtrace_collected c = { 0 };
		struct bytes file = { 0 };
		struct symtrace f;
		struct symtrace_frames frames;
		struct symtrace_frame frame;
		struct symtrace_error ignored;
		struct sc_error err;

		put_block(&file, DEFINITIONS, strlen(DEFINITIONS));
		put(&file, 2, 1);
		put(&file, 4, 1 + cases[i].bytes);
		put(&file, 1, 'R');
		for (unsigned k = 0; k < cases[i].bytes / word; k++)
			put(&file, word, 0x7f00 + k);
		assert_int_equal(symtrace_read(&f, file.b.data, file.b.len), 0);
		assert_true(tdesc_default(&f.layout, cases[i].machine, cases[i].is64));
		frames = symtrace_frames(&f);
		assert_int_equal(symtrace_next_frame(&frames, &frame, &ignored), 1);
		f.regblock_size = cases[i].bytes;
		assert_int_equal(symtrace_collect(&f, &frame, pc, cases[i].machine, &c, &err), 0);
		assert_int_equal(c.registers.value[cases[i].sp], 0x7f00 + cases[i].bytes / word - 1);
		assert_int_equal(c.registers.known, cases[i].known);
		f.regblock_size--;
		assert_int_equal(symtrace_collect(&f, &frame, pc, cases[i].machine, &c, &err), SC_ENOTFOUND);
		assert_string_equal(err.msg, "no registers were collected");
		assert_int_equal(c.registers.known, cases[i].known & ~(UINT64_C(1) << cases[i].sp));
		symtrace_collected_deinit(&c);
		symtrace_close(&f);
		bytes_deinit(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_memory),
					   cmocka_unit_test(test_end), cmocka_unit_test(test_registers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
