/* Unit tests of call frame information: operations, encodings, and what is broken. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/dwarf/cfi.h"

#define CODE(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* A section with a common entry and one entry for [0x1000, 0x1100). */
struct made {
	bool eh, dwarf64, big_endian;
	uint16_t machine;
	uint8_t version;
	const char *augmentation; /* with 'R': encoding */
	uint8_t encoding, column;
	const uint8_t *common, *program;
	size_t common_size, program_size;
};

static void put_common(struct bytes *b, const struct made *m)
{
	const unsigned offset = m->dwarf64 ? 8 : 4;
	size_t begin = begin_length(b, offset);

	put(b, m->eh ? 4 : offset, m->eh ? 0 : UINT64_MAX);
	if (!m->eh && m->dwarf64)
		patch(b, b->b.len - 8, 8, UINT64_MAX);
	put(b, 1, m->version);
	put_str(b, m->augmentation);
	if (m->version == 4)
		put(b, 2, 0), patch(b, b->b.len - 2, 1, 8);
	put_uleb(b, 4);
	put_sleb(b, -8);
	if (m->version == 1)
		put(b, 1, m->column);
	else
		put_uleb(b, m->column);
	if (*m->augmentation == 'z') {
		put_uleb(b, 1);
		put(b, 1, m->encoding);
	}
	put_block(b, m->common, m->common_size);
	end_length(b, offset, begin);
}

static void put_entry(struct bytes *b, const struct made *m, uint64_t start, uint64_t size)
{
	const unsigned offset = m->dwarf64 ? 8 : 4;
	const unsigned word = (m->encoding & 7) == 2 ? 2 : (m->encoding & 7) == 3 ? 4 : 8;
	size_t begin = begin_length(b, offset);

	if (m->eh)
		put(b, 4, b->b.len);
	else
		put(b, offset, 0);
	if ((m->encoding & 0x70) == 0x10)
		start -= 0x800 + b->b.len;
	if ((m->encoding & 0x70) == 0x20)
		start -= 0xff0;
	if ((m->encoding & 0x70) == 0x50)
		while (b->b.len % 8)
			put(b, 1, 0);
	put(b, word, start);
	put(b, word, size);
	if (*m->augmentation == 'z')
		put_uleb(b, 0);
	put_block(b, m->program, m->program_size);
	end_length(b, offset, begin);
}

static bool any_code(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr >= 0x1000 && vaddr < 0x10000;
}

/* "1000 r7+8 255@-8; 1004 …": address, CFA, and rules; f: flags. */
static bool say(void *ctx, uint64_t start, uint64_t end, const struct dw_cfi_row *row)
{
	static const char kinds[] = "?@=rxvu.";
	FILE *out = ctx;

	fprintf(out, "%llx-%llx ", (unsigned long long)start, (unsigned long long)end);
	if (row->cfa == DW_CFI_CFA_REGISTER)
		fprintf(out, "r%u%+d", row->cfa_reg, row->cfa_n);
	else
		fputs(row->cfa == DW_CFI_CFA_EXPRESSION ? "expr" : "none", out);
	for (unsigned i = 0; i < row->num_rules; i++) {
		fprintf(out, " %u%c", row->rules[i].reg, kinds[row->rules[i].kind]);
		if (row->rules[i].kind < DW_CFI_EXPRESSION)
			fprintf(out, "%d", row->rules[i].n);
	}
	if (row->flags)
		fprintf(out, " f%u", row->flags);
	fputs("; ", out);
	return true;
}

static void expect(const struct made *made, const char *rows, unsigned broken)
{
	struct made m = *made;
	struct bytes b = { .big_endian = m.big_endian };
	struct dw_cfi_section s = { .vaddr = 0x800, .text = 0xff0, .eh = m.eh, .is_64 = true,
				    .swap = m.big_endian,
				    .machine = dw_cfi_machine(m.machine ? m.machine : EM_X86_64) };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct dw_cfi cfi;

	put_common(&b, &m);
	put_entry(&b, &m, 0x1000, 0x100);
	put_entry(&b, &m, 0, 0x100); /* dropped code */
	s.bytes = (struct dw_section){ b.b.data, b.b.len };
	assert_int_equal(dw_cfi_read(&s, any_code, NULL, &cfi, NULL), 0);
	for (size_t i = 0; i < cfi.entries.len; i++)
		dw_cfi_run(&cfi, &cfi.entries.data[i], say, out);
	fclose(out);
	assert_string_equal(text, rows);
	assert_int_equal(cfi.broken, broken);
	assert_int_equal(!cfi.broken, !cfi.first_fault.msg[0]);
	dw_cfi_deinit(&cfi);
	bytes_deinit(&b);
	free(text);
}

/* def_cfa r7+8; offset r16 at CFA − 8 */
#define USUAL 0x0c, 7, 8, 0x90, 1

static void program(const char *rows, unsigned broken, const uint8_t *bytes, size_t size)
{
	const struct made m = { .eh = true, .version = 1, .augmentation = "zR", .encoding = 0x1b,
				.column = 16, .common = (const uint8_t[]){ USUAL }, .common_size = 5,
				.program = bytes, .program_size = size };

	expect(&m, rows, broken);
}

static void test_operations(void **state)
{
	(void)state;
	program("1000-1100 r7+8 255@-8; ", 0, CODE(0, 0));
	/* advance in all sizes */
	program("1000-1004 r7+8 255@-8; 1004-100c r7+16 255@-8; 100c-1014 r7+24 255@-8; "
		"1014-101c r7+32 255@-8; 101c-1020 r7+40 255@-8; 1020-1100 r7+48 255@-8; ", 0,
		CODE(0x41, 0x0e, 16, 0x02, 2, 0x0e, 24, 0x03, 2, 0, 0x0e, 32, 0x04, 2, 0, 0, 0, 0x0e, 40,
		     0x1d, 1, 0, 0, 0, 0, 0, 0, 0, 0x0e, 48));
	/* registers saved, restored, lost, the same */
	program("1000-1004 r7+8 3@-16 6@-24 255@-8; 1004-1008 r7+8 6@-24 255@-8; "
		"1008-100c r7+8 0. 6@-24 12u 255@-8; 100c-1100 r7+8 0. 12u 255@-8; ", 0,
		CODE(0x83, 2, 0x86, 3, 0x41, 0xc3, 0x41, 0x07, 12, 0x08, 0, 0x08, 3, 0x41, 0x06, 6));
	/* a CFA by another register, and back with what was remembered */
	program("1000-1004 r6+8 255@-8; 1004-1008 r10-16 255@-8; 1008-1100 r7+8 255@-8; ", 0,
		CODE(0x0a, 0x0d, 6, 0x41, 0x12, 10, 2, 0x41, 0x0b));
	/* val_offset, register, offset_extended, with and without signs */
	program("1000-1100 r7+8 1=-16 2=16 4@-24 5@8 8@24 9r3 255@-8; ", 0,
		CODE(0x14, 1, 2, 0x15, 2, 0x7e, 0x05, 4, 3, 0x11, 5, 0x7f, 0x2f, 8, 3, 0x09, 9, 3));
	/* expressions; def_cfa_register behind one begins anew */
	program("1000-1004 expr 3x 6v 255@-8; 1004-1100 r7+0 3x 6v 255@-8; ", 0,
		CODE(0x0f, 2, 0x77, 0, 0x10, 3, 2, 0x77, 0, 0x16, 6, 1, 0x30, 0x41, 0x0d, 7));
	/* the outermost frame; vectors, args_size and address spaces are of no interest */
	program("1000-1100 r7+8 f8; ", 0, CODE(0x07, 16, 0x05, 17, 2, 0x2e, 16, 0x30, 7, 8, 0));
	program("1000-1004 r7+8 f8; 1004-1100 r7+8 255@-8; ", 0, CODE(0x07, 16, 0x41, 0xd0));
}

/* The column of the return address: a byte, or since version 3 a number of any length. */
static void test_columns(void **state)
{
	static const struct { uint8_t version, column; } cases[] = { { 1, 16 }, { 1, 200 }, { 3, 200 }, { 4, 200 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint8_t common[] = { 0x0c, 7, 8, 0x05, 0x80 | (cases[i].column & 0x7f), cases[i].column >> 7, 1 };
		const struct made m = { .version = cases[i].version, .augmentation = "", .column = cases[i].column,
					.common = common, .common_size = sizeof(common) };

		expect(&m, "1000-1100 r7+8 255@-8; ", 0);
	}
}

static void test_broken(void **state)
{
	(void)state;
	program("1000-1004 r7+8 255@-8; ", 1, CODE(0x41, 0x3f));       /* unknown */
	program("1000-1004 r7+8 255@-8; ", 1, CODE(0x41, 0x0b));       /* nothing remembered */
	program("1000-1004 r7+8 255@-8; ", 1, CODE(0x41, 0x0e));       /* cut off */
	program("1000-1004 r7+8 255@-8; ", 1, CODE(0x41, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f));
	program("", 1, CODE(0x0f, 50, 0x77));                           /* an expression too long */
	program("1000-1100 r7+8 255@-8; ", 0, CODE(0x04, 0xff, 0xff, 0xff, 0x7f, 0x3f));
	program("1000-1100 r7+8 255@-8; ", 0, CODE(0x02, 0x40, 0x3f)); /* at the end */
}

static void test_encodings(void **state)
{
	static const uint8_t usual[] = { USUAL }, none[] = { 0 };
	struct made m = { .eh = true, .version = 1, .augmentation = "zR", .column = 16,
			  .common = usual, .common_size = 5, .program = none, .program_size = 1 };
	static const char rows[] = "1000-1100 r7+8 255@-8; ";
	static const uint8_t good[] = { 0x00, 0x02, 0x03, 0x04, 0x1b, 0x1c, 0x22, 0x50 };

	(void)state;
	for (size_t i = 0; i < sizeof(good); i++) {
		m.encoding = good[i];
		expect(&m, rows, 0);
	}
	m.encoding = 0x9b; /* indirect: what it means is not in the file */
	expect(&m, "", 2);
	m.encoding = 0x1b;
	m.big_endian = true;
	m.version = 3;
	expect(&m, rows, 0);
	m = (struct made){ .version = 4, .augmentation = "", .column = 16, .common = usual,
			   .common_size = 5, .program = none, .program_size = 1 };
	expect(&m, rows, 0);
	m.dwarf64 = true;
	expect(&m, rows, 0);
	m.augmentation = "armcc+";
	expect(&m, "", 3);
	m.augmentation = "";
	m.version = 7;
	expect(&m, "", 3);
}

/* Of entries that overlap the first has the addresses, each only once. */
static void test_overlaps(void **state)
{
	static const uint8_t usual[] = { USUAL }, none[] = { 0 };
	static const struct { uint64_t start, size; } entries[] = {
		{ 0x1000, 0x100 }, { 0x1080, 0x100 }, { 0x1010, 0x20 }, { 0x1180, 0x10 }, { 0x1000, 0x100 },
	};
	static const uint64_t want[][2] = { { 0x1000, 0x1100 }, { 0x1100, 0x1180 }, { 0x1180, 0x1190 } };
	const struct made m = { .version = 4, .augmentation = "", .column = 16, .common = usual, .common_size = 5,
				.program = none, .program_size = 1 };
	struct dw_cfi_section section = { .is_64 = true, .machine = dw_cfi_machine(EM_X86_64) };
	struct bytes b = { 0 };
	struct dw_cfi cfi;

	(void)state;
	put_common(&b, &m);
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++)
		put_entry(&b, &m, entries[i].start, entries[i].size);
	section.bytes = (struct dw_section){ b.b.data, b.b.len };
	assert_int_equal(dw_cfi_read(&section, any_code, NULL, &cfi, NULL), 0);
	assert_int_equal(cfi.entries.len, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(cfi.entries.data[i].start, want[i][0]);
		assert_int_equal(cfi.entries.data[i].end, want[i][1]);
	}
	dw_cfi_deinit(&cfi);
	bytes_deinit(&b);
}

static void test_machines(void **state)
{
	static const uint8_t sp[] = { 0x0c, 31, 0 }, riscv[] = { 0x0c, 2, 0 };
	static const uint8_t sign[] = { 0x2d, 0x41, 0x0e, 16, 0x9e, 2, 0x9d, 1, 0x41, 0x2d, 0x0e, 0, 0xde, 0xdd };
	static const uint8_t none[] = { 0 };
	struct made m = { .eh = true, .version = 1, .augmentation = "zR", .encoding = 0x1b,
			  .machine = EM_AARCH64, .column = 30, .common = sp, .common_size = 3,
			  .program = sign, .program_size = sizeof(sign) };

	(void)state;
	expect(&m, "1000-1004 r31+0 f2; 1004-1008 r31+16 29@-8 255@-16 f2; 1008-1100 r31+0; ", 0);
	m = (struct made){ .eh = true, .version = 1, .augmentation = "zR", .encoding = 0x1b,
			   .machine = EM_RISCV, .column = 5, .common = riscv, .common_size = 3,
			   .program = none, .program_size = 1 };
	expect(&m, "1000-1100 r2+0 255r5; ", 0);
	assert_null(dw_cfi_machine(EM_SPARC));
}

/* Registers by their numbers in the psABIs: stack pointer, frame pointer, what has the return address at
 * a function's entry (255: the stack), and what calls leave as it is. */
static void test_registers(void **state)
{
	static const struct { uint16_t machine; uint8_t sp, fp, link, last; const char *preserved; } cases[] = {
		{ EM_X86_64, 7, 6, 255, 16, "3 6 12 13 14 15" },
		{ EM_386, 4, 5, 255, 8, "3 5 6 7" },
		{ EM_AARCH64, 31, 29, 30, 32, "19 20 21 22 23 24 25 26 27 28 29" },
		{ EM_ARM, 13, 11, 14, 15, "4 5 6 7 8 9 10 11" },
		{ EM_RISCV, 2, 8, 1, 31, "8 9 18 19 20 21 22 23 24 25 26 27" },
		{ EM_PPC64, 1, 31, 32, 32, "2 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31" },
		{ EM_S390, 15, 11, 14, 15, "6 7 8 9 10 11 12 13" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct dw_cfi_machine *m = dw_cfi_machine(cases[i].machine);
		char preserved[200] = "";

		assert_non_null(m);
		assert_int_equal(m->stack_pointer, cases[i].sp);
		assert_int_equal(m->frame_pointer, cases[i].fp);
		assert_int_equal(m->link, cases[i].link);
		assert_int_equal(m->last, cases[i].last);
		for (unsigned r = 0; r < 32; r++)
			if (m->preserved >> r & 1)
				sprintf(preserved + strlen(preserved), "%s%u", *preserved ? " " : "", r);
		assert_string_equal(preserved, cases[i].preserved);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations), cmocka_unit_test(test_columns),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
