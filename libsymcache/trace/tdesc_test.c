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
		{ "<t><reg bitsize='99999999999'/></t>", "line 1: a register is too large" },
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

/* The program counter's place on the machines no recording here comes from. */
static void test_default(void **state)
{
	static const struct { uint16_t machine; bool is64; uint32_t offset, size; } want[] = {
		{ EM_RISCV, false, 128, 4 }, { EM_S390, true, 8, 8 }, { EM_MIPS, true, 296, 8 },
		{ EM_PPC, false, 384, 4 },
	};
	struct symtrace_layout t;

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_true(tdesc_default(&t, want[i].machine, want[i].is64));
		assert_int_equal(tdesc_pc(&t)->offset, want[i].offset);
		assert_int_equal(tdesc_pc(&t)->size, want[i].size);
		tdesc_deinit(&t);
	}
	assert_false(tdesc_default(&t, EM_VAX, false));
	assert_null(tdesc_pc(&t));
}

static void test_machines(void **state)
{
	struct tdesc_machine m;

	(void)state;
	assert_true(tdesc_find_machine("i386:x86-64", &m));
	assert_int_equal(m.machine, EM_X86_64);
	assert_true(tdesc_find_machine("i386", &m));
	assert_int_equal(m.machine, EM_386);
	assert_true(tdesc_find_machine("s390:64-bit", &m));
	assert_int_equal(m.big_endian, 1);
	assert_true(tdesc_find_machine("mips:isa32r2", &m));
	assert_int_equal(m.big_endian, -1);
	assert_false(m.is64);
	assert_false(tdesc_find_machine("vax", &m));
	assert_false(tdesc_find_machine("", &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_no_registers),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
