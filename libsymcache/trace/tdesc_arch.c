/*
 * tdesc_arch.c: architectures by GDB's name and by ELF's number, and the register
 * layout GDB supposes where there is no target description.
 *
 * The layouts are those `maint print remote-registers` of GDB 13 shows, up to the
 * program counter, on x86 also the flags and segments: what comes behind differs
 * from one machine to the next.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/trace/tdesc.h"

/* Registers of one size: names, or "r0-31" for a row of them. */
struct row {
	uint8_t size;
	const char *names;
};

struct layout {
	uint16_t machine;
	bool is64;
	struct row rows[4];
};

#define RISCV "zero ra sp gp tp t0-2 fp s1 a0-7 s2-11 t3-6 pc"
#define MIPS "zero at v0-1 a0-3 t0-7 s0-7 t8-9 k0-1 gp sp s8 ra sr lo hi bad cause pc"
#define SEGMENTS "eflags cs ss ds es fs gs"

static const struct layout layouts[] = {
	{ EM_X86_64, true, {
		{ 8, "rax rbx rcx rdx rsi rdi rbp rsp r8-15 rip" }, { 4, SEGMENTS } } },
	{ EM_386, false, { { 4, "eax ecx edx ebx esp ebp esi edi eip " SEGMENTS } } },
	{ EM_AARCH64, true, { { 8, "x0-30 sp pc" } } },
	{ EM_ARM, false, { { 4, "r0-12 sp lr pc" } } },
	{ EM_RISCV, true, { { 8, RISCV } } },
	{ EM_RISCV, false, { { 4, RISCV } } },
	{ EM_PPC64, true, { { 8, "r0-31 f0-31 pc" } } },
	{ EM_PPC, false, { { 4, "r0-31" }, { 8, "f0-31" }, { 4, "pc" } } },
	{ EM_S390, true, { { 8, "pswm pswa" } } },
	{ EM_MIPS, true, { { 8, MIPS } } },
	{ EM_MIPS, false, { { 4, MIPS } } },
};

/* The first name that begins an architecture's name is taken. */
static const struct {
	const char *name;
	struct tdesc_machine machine;
} machines[] = {
	{ "i386:x86-64", { EM_X86_64, true, 0 } },
	{ "i386:x64-32", { EM_X86_64, false, 0 } },
	{ "i386", { EM_386, false, 0 } },
	{ "aarch64", { EM_AARCH64, true, 0 } },
	{ "arm", { EM_ARM, false, 0 } },
	{ "riscv:rv32", { EM_RISCV, false, 0 } },
	{ "riscv", { EM_RISCV, true, 0 } },
	{ "powerpc:common64", { EM_PPC64, true, -1 } },
	{ "powerpc:e5500", { EM_PPC64, true, -1 } },
	{ "powerpc:e6500", { EM_PPC64, true, -1 } },
	{ "powerpc", { EM_PPC, false, -1 } },
	{ "rs6000", { EM_PPC, false, 1 } },
	{ "s390:31-bit", { EM_S390, false, 1 } },
	{ "s390", { EM_S390, true, 1 } },
	{ "mips:isa64", { EM_MIPS, true, -1 } },
	{ "mips:octeon", { EM_MIPS, true, -1 } },
	{ "mips", { EM_MIPS, false, -1 } },
	{ "sparc:v9", { EM_SPARCV9, true, 1 } },
	{ "sparc", { EM_SPARC, false, 1 } },
	{ "Loongarch64", { 258, true, 0 } },
	{ "m68k", { EM_68K, false, 1 } },
};

bool tdesc_find_machine(const char *architecture, struct tdesc_machine *ret)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (strncmp(architecture, machines[i].name, strlen(machines[i].name)) == 0) {
			*ret = machines[i].machine;
			return true;
		}
	return false;
}

/* Adds what one word of a row stands for: "sp", or "r0-31". */
static bool add_word(struct symtrace_layout *tdesc, const char *word, size_t len, uint8_t size)
{
	const char *dash = memchr(word, '-', len);
	size_t prefix = strcspn(word, "0123456789");
	unsigned long first = 0, last = 0;
	bool fine = true;

	if (dash) {
		first = strtoul(word + prefix, NULL, 10);
		last = strtoul(dash + 1, NULL, 10);
	}
	for (unsigned long i = first; i <= last && fine; i++) {
		char name[24];

		if (dash)
			snprintf(name, sizeof(name), "%.*s%lu", (int)prefix, word, i);
		else
			snprintf(name, sizeof(name), "%.*s", (int)len, word);
		fine = tdesc_add(tdesc, name, tdesc->num_registers, size);
	}
	return fine;
}

bool tdesc_default(struct symtrace_layout *ret, uint16_t machine, bool is64)
{
	const struct layout *found = NULL;
	bool fine = true;

	*ret = (struct symtrace_layout){ 0 };
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (layouts[i].machine == machine &&
		    (layouts[i].is64 == is64 || machine == EM_X86_64))
			found = &layouts[i];
	for (const struct row *row = found ? found->rows : NULL; row && row->names; row++)
		for (const char *word = row->names; *word && fine; ) {
			size_t len = strcspn(word, " ");

			fine = add_word(ret, word, len, row->size);
			word += len + strspn(word + len, " ");
		}
	if (!fine)
		tdesc_deinit(ret);
	return found && fine;
}
