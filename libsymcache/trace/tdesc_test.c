/* Target descriptions: order, numbers, and documents that are not to be trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <elf.h>

#include <cmocka.h>

#include "libsymcache/trace/tdesc.h"

static int parse(struct symtrace_layout *t, const char *xml, char err[200])
{
	return tdesc_parse(t, xml, strlen(xml), err, 200);
}

/* More than expat takes is said to be too much, and not read. */
static void test_too_large(void **state)
{
	struct symtrace_layout t;
	char err[200] = "";

	(void)state;
	assert_int_not_equal(tdesc_parse(&t, "", (size_t)INT32_MAX + 1, err, sizeof(err)), 0);
	assert_string_equal(err, "it is too large");
}

static void test_order(void **state)
{
	struct symtrace_layout t;
	char err[200];

	(void)state;
	/* numbers go on across features; the document's order does not count */
	assert_int_equal(parse(&t,
		"<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n"
		"<target><architecture> i386:x86-64\n</architecture>"
		"<feature name='a'><reg name='pc' bitsize='64' regnum='7'/>"
		"<reg name='after' bitsize='32'/></feature>"
		"<feature name='b'><reg name='nine' bitsize='16'/>"
		"<reg name='zero' bitsize='8' regnum='0'/><reg name='one' bitsize='80'/></feature>"
		"</target>", err), 0);
	assert_string_equal(t.architecture, "i386:x86-64");
	assert_int_equal(t.num_registers, 5);
	assert_string_equal(t.registers[0].name, "zero");
	assert_string_equal(t.registers[1].name, "one");
	assert_int_equal(t.registers[1].offset, 1);
	assert_ptr_equal(tdesc_pc(&t), &t.registers[2]);
	assert_int_equal(t.registers[2].offset, 11);
	assert_int_equal(t.registers[3].offset, 19);
	assert_string_equal(t.registers[4].name, "nine");
	assert_int_equal(t.registers[4].number, 9);
	tdesc_deinit(&t);
}

static void test_no_registers(void **state)
{
	struct symtrace_layout t;
	char err[200];

	(void)state;
	assert_int_equal(parse(&t, "<target/>", err), 0);
	assert_string_equal(t.architecture, "");
	assert_null(tdesc_pc(&t));
	tdesc_deinit(&t);
}

static void test_faults(void **state)
{
	static const struct { const char *xml, *err; } bad[] = {
		{ "", "line 1: no element found" },
		{ "<target>\n<architecture>i386:x86-64</arch", "line 2: unclosed token" },
		{ "<target><xi:include href='a.xml'/></target>",
		  "line 1: it includes a document that is not there" },
		{ "<!DOCTYPE t [<!ENTITY a 'aaaaaaaa'><!ENTITY b '&a;&a;&a;'>]><t>&b;</t>",
		  "line 1: it declares an entity" },
		{ "<t><reg bitsize='x'/></t>",
		  "line 1: a register's bitsize or regnum is not a number" },
		{ "<t><reg bitsize=''/></t>", "line 1: a register's bitsize or regnum is not a number" },
		{ "<t>\n<reg regnum='7 '/></t>", "line 2: a register's bitsize or regnum is not a number" },
		{ "<t><reg bitsize='1048577'/></t>", "line 1: a register is too large" },
	};
	struct symtrace_layout t;
	char err[200];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(parse(&t, bad[i].xml, err), -1);
		assert_string_equal(err, bad[i].err);
		assert_int_equal(t.num_registers, 0);
	}
}

/* Of each machine, how many registers there are, of how many bytes together, and where the program counter
 * lies: as `maint print remote-registers` of GDB says. */
static void test_default(void **state)
{
	static const struct {
		uint16_t machine;
		bool is64;
		const char *layout;
	} cases[] = {
		{ EM_X86_64, true, "24 registers, 164 bytes, rip 128+8" },
		{ EM_X86_64, false, "24 registers, 164 bytes, rip 128+8" },
		{ EM_386, false, "16 registers, 64 bytes, eip 32+4" },
		{ EM_AARCH64, true, "33 registers, 264 bytes, pc 256+8" },
		{ EM_ARM, false, "16 registers, 64 bytes, pc 60+4" },
		{ EM_RISCV, true, "33 registers, 264 bytes, pc 256+8" },
		{ EM_RISCV, false, "33 registers, 132 bytes, pc 128+4" },
		{ EM_PPC64, true, "65 registers, 520 bytes, pc 512+8" },
		{ EM_PPC, false, "65 registers, 388 bytes, pc 384+4" },
		{ EM_S390, true, "2 registers, 16 bytes, pswa 8+8" },
		{ EM_MIPS, true, "38 registers, 304 bytes, pc 296+8" },
		{ EM_MIPS, false, "38 registers, 152 bytes, pc 148+4" },
		{ EM_386, true, "none" },
		{ EM_AARCH64, false, "none" },
		{ EM_S390, false, "none" },
		{ EM_VAX, false, "none" },
	};
	struct symtrace_layout t;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char got[100] = "none";
		uint32_t bytes = 0;

		if (tdesc_default(&t, cases[i].machine, cases[i].is64)) {
			const struct symtrace_register *pc = tdesc_pc(&t);

			for (size_t k = 0; k < t.num_registers; k++) {
				assert_int_equal(t.registers[k].number, k);
				bytes += t.registers[k].size;
			}
			snprintf(got, sizeof(got), "%zu registers, %u bytes, %s %u+%u", t.num_registers, bytes,
				 pc->name, pc->offset, pc->size);
		}
		assert_string_equal(got, cases[i].layout);
		tdesc_deinit(&t);
	}
}

/* Architectures by the names that GDB gives them. */
static void test_machines(void **state)
{
	enum { LITTLE, BIG, EITHER = -1 };
	static const struct {
		const char *name;
		struct tdesc_machine is;
	} cases[] = {
		{ "i386:x86-64", { EM_X86_64, true, LITTLE } },
		{ "i386:x86-64:intel", { EM_X86_64, true, LITTLE } },
		{ "i386:x64-32", { EM_X86_64, false, LITTLE } },
		{ "i386", { EM_386, false, LITTLE } },
		{ "aarch64", { EM_AARCH64, true, LITTLE } },
		{ "armv7", { EM_ARM, false, LITTLE } },
		{ "riscv:rv64", { EM_RISCV, true, LITTLE } },
		{ "riscv:rv32", { EM_RISCV, false, LITTLE } },
		{ "powerpc:common64", { EM_PPC64, true, EITHER } },
		{ "powerpc:e5500", { EM_PPC64, true, EITHER } },
		{ "powerpc:e6500", { EM_PPC64, true, EITHER } },
		{ "powerpc:common", { EM_PPC, false, EITHER } },
		{ "rs6000:6000", { EM_PPC, false, BIG } },
		{ "s390:31-bit", { EM_S390, false, BIG } },
		{ "s390:64-bit", { EM_S390, true, BIG } },
		{ "mips:isa64r2", { EM_MIPS, true, EITHER } },
		{ "mips:octeon3", { EM_MIPS, true, EITHER } },
		{ "mips:isa32r2", { EM_MIPS, false, EITHER } },
		{ "sparc:v9a", { EM_SPARCV9, true, BIG } },
		{ "sparc", { EM_SPARC, false, BIG } },
		{ "Loongarch64", { 258, true, LITTLE } },
		{ "m68k:68020", { EM_68K, false, BIG } },
	};
	struct tdesc_machine m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(tdesc_find_machine(cases[i].name, &m));
		if (m.machine != cases[i].is.machine || m.is64 != cases[i].is.is64 ||
		    m.big_endian != cases[i].is.big_endian)
			fail_msg("%s: machine %u, %d, order %d", cases[i].name, m.machine, m.is64, m.big_endian);
	}
	assert_false(tdesc_find_machine("vax", &m));
	assert_false(tdesc_find_machine("i38", &m));
	assert_false(tdesc_find_machine("", &m));
}

/* What is too long for its field is cut off; the rest of the document counts. */
static void test_long_names(void **state)
{
	struct symtrace_layout t;
	char xml[300], err[200];

	(void)state;
	for (int len = 62; len < 66; len++) {
		snprintf(xml, sizeof(xml), "<t><architecture>%0*d</architecture>0<reg name='%0*d' bitsize='1048576'/>"
			 "<reg name='pc' bitsize='32'/></t>", len, 7, len - 40, 7);
		assert_int_equal(parse(&t, xml, err), 0);
		assert_int_equal(strlen(t.architecture), len < 64 ? len : 63);
		assert_int_equal(strlen(t.registers[0].name), len - 40 < 24 ? len - 40 : 23);
		assert_int_equal(tdesc_pc(&t)->offset, 131072);
		assert_int_equal(tdesc_pc(&t)->size, 4);
		tdesc_deinit(&t);
	}
}

/* As many registers as a description may have, and one more. */
static void test_most_registers(void **state)
{
	enum { MOST = 10000 };
	struct symtrace_layout t;
	char err[200], *xml;
	size_t len;

	(void)state;
	for (int n = MOST; n <= MOST + 1; n++) {
		FILE *out = open_memstream(&xml, &len);

		fputs("<t>", out);
		for (int i = 0; i < n; i++)
			fputs("<reg bitsize='8'/>", out);
		fputs("</t>", out);
		fclose(out);
		assert_int_equal(parse(&t, xml, err), n > MOST ? -1 : 0);
		assert_int_equal(t.num_registers, n > MOST ? 0 : MOST);
		tdesc_deinit(&t);
		free(xml);
	}
	assert_string_equal(err, "line 1: too many registers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_registers),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_most_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
