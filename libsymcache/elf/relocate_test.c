/*
 * What each relocation of each machine writes into .debug_info, recorded: those that are known, with an
 * addend of their own or that which stands there, up to the end of the section.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/elf/elf.h"

enum { TYPES = 300, CELL = 16, VALUE_SECTION = 1, INFO = 2, SYMTAB = 3, TABLE = 5, NUM_SECTIONS = 5 };

static const struct { const char *name; uint16_t machine; bool is_64, big_endian; } machines[] = {
	{ "x86-64", EM_X86_64, true, false }, { "x86", EM_386, false, false }, { "AArch64", EM_AARCH64, true, false },
	{ "ARM", EM_ARM, false, false }, { "RISC-V", EM_RISCV, true, false }, { "PowerPC", EM_PPC, false, true },
	{ "ppc64", EM_PPC64, true, true }, { "ppc64le", EM_PPC64, true, false }, { "s390x", EM_S390, true, true },
	{ "MIPS", EM_MIPS, false, true }, { "mips64", EM_MIPS, true, true }, { "mips64el", EM_MIPS, true, false },
	{ "68k", EM_68K, false, true },
};

/* What stands where a relocation writes: also a ULEB128 of four bytes. */
static const uint8_t cell[CELL] = { 0xc3, 0xa5, 0x91, 0x07, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 1, 2, 3, 4, 5 };

static uint64_t info_of(const struct elf_shape *s, unsigned symbol, unsigned type)
{
	if (!s->is_64)
		return symbol << 8 | (type & 0xff);
	return s->machine == EM_MIPS && !s->big_endian ? symbol | (uint64_t)type << 56 : (uint64_t)symbol << 32 | type;
}

static void put_relocation(struct bytes *o, const struct elf_shape *s, bool rela, uint64_t at, unsigned type)
{
	const unsigned word = s->is_64 ? 8 : 4;

	put(o, word, at);
	put(o, word, info_of(s, 1, type));
	if (rela)
		put(o, word, 0x21);
}

static void put_symbols(struct bytes *o, const struct elf_shape *s)
{
	put(o, 8, 0), put(o, 8, 0);
	if (s->is_64)
		put(o, 8, 0);
	put(o, 4, 0);
	if (!s->is_64)
		put(o, 4, 0x55667788), put(o, 4, 0);
	put(o, 1, 0), put(o, 1, 0), put(o, 2, VALUE_SECTION);
	if (s->is_64)
		put(o, 8, 0x1122334455667788), put(o, 8, 0);
}

static uint64_t entry_size(const struct elf_shape *s, bool rela)
{
	return (2u + rela) * (s->is_64 ? 8 : 4);
}

/* A cell for each type, and two more that the section ends within. */
static struct sc_elf *make_file(const struct elf_shape *s, bool rela, uint64_t entsize, unsigned at_end)
{
	struct bytes text = { .big_endian = s->big_endian }, info = text, symbols = text, names = text, table = text,
		     file = { 0 };
	const struct elf_section sections[] = {
		{ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR, .content = &text },
		{ .name = ".debug_info", .type = SHT_PROGBITS, .content = &info },
		{ .name = ".symtab", .type = SHT_SYMTAB, .content = &symbols, .link = 4, .entsize = s->is_64 ? 24 : 16 },
		{ .name = ".strtab", .type = SHT_STRTAB, .content = &names },
		{ .name = ".rela.debug_info", .type = rela ? SHT_RELA : SHT_REL, .content = &table, .link = SYMTAB,
		  .entsize = entsize },
	};
	const size_t header = s->is_64 ? 64 : 40, info_at = s->is_64 ? 44 : 28;
	struct sc_elf *elf;
	struct sc_error err;

	put(&text, 16, 0);
	put(&names, 1, 0);
	put_symbols(&symbols, s);
	for (unsigned type = 0; type < TYPES; type++) {
		put_block(&info, cell, CELL);
		put_relocation(&table, s, rela, type * CELL, type);
	}
	put_block(&info, cell, at_end); /* the next ones lie across the end, or up to it */
	put_relocation(&table, s, rela, TYPES * CELL, 1);
	put_relocation(&table, s, rela, TYPES * CELL, 60);
	put_elf(&file, s, sections, NUM_SECTIONS);
	patch(&file, file.b.len - header * (NUM_SECTIONS + 2 - TABLE) + info_at, 4, INFO);
	assert_int_equal(sc_elf_open_memory(file.b.data, file.b.len, "file", &elf, &err), 0);
	bytes_deinit(&text), bytes_deinit(&info), bytes_deinit(&symbols), bytes_deinit(&names), bytes_deinit(&table);
	return elf;
}

static void put_cell(FILE *to, const char *name, unsigned type, const uint8_t *p, size_t n)
{
	if (!memcmp(p, cell, n))
		return;
	fprintf(to, "%s %u:", name, type);
	for (size_t i = 0; i < n; i++)
		fprintf(to, " %02x", p[i]);
	fputc('\n', to);
}

static void test_kinds(void **state)
{
	static const unsigned ends[] = { 1, 4, 7, 8 };
	size_t len, size;
	char *got;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		for (int rela = 0; rela < 2; rela++)
			for (size_t k = 0; k < 4; k++) {
				const struct elf_shape shape = { .is_64 = machines[i].is_64, .type = ET_REL,
								 .big_endian = machines[i].big_endian,
								 .machine = machines[i].machine };
				struct sc_elf *elf = make_file(&shape, rela, entry_size(&shape, rela), ends[k]);
				struct sc_error err;
				const uint8_t *data;
				char name[40];

				snprintf(name, sizeof(name), "%s%s", machines[i].name, rela ? ", addends" : "");
				assert_int_equal(sc_elf_section(elf, ".debug_info", &data, &size, &err), 0);
				assert_int_equal(size, TYPES * CELL + ends[k]);
				for (unsigned type = 0; type < TYPES && !k; type++)
					put_cell(to, name, type, data + type * CELL, CELL);
				put_cell(to, name, TYPES + ends[k], data + TYPES * CELL, ends[k]);
				if (!k)
					fprintf(to, "%s: %" PRIu64 " unknown\n", name, elf->unknown_relocations);
				sc_elf_close(elf);
			}
	fclose(to);
	expect_recorded("relocations", got, len);
}

/* Entries of no size are none. */
static void test_no_size(void **state)
{
	const struct elf_shape shape = { .is_64 = true, .type = ET_REL, .machine = EM_X86_64 };
	struct sc_elf *elf = make_file(&shape, true, 0, 1);
	struct sc_error err;
	const uint8_t *data;
	size_t size;

	(void)state;
	assert_int_equal(sc_elf_section(elf, ".debug_info", &data, &size, &err), 0);
	assert_int_equal(size, TYPES * CELL + 1);
	for (unsigned type = 0; type < TYPES; type++)
		assert_memory_equal(data + type * CELL, cell, CELL);
	assert_int_equal(elf->unknown_relocations, 0);
	sc_elf_close(elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
