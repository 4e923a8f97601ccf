/*
 * Where a Go program has its table of functions, and what its offsets count from: found by what
 * runtime.firstmoduledata begins with, in the data or among the relocations.
 */
#include <elf.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/elf/go.h"

enum { BASE = 0x10000, WORDS = 44, NAMES = 0x40 };
enum { TEXT = 1, TABLE, DATA, RELA, NUM = RELA };

struct program {
	unsigned word;
	bool big_endian, is_1_20;
	const char *name; /* of the section with the table */
	bool by_relocations;
	unsigned decoys; /* places with the table's address that are something else */
	bool no_text;	 /* what stands for it is no code */
	bool no_module;	 /* nothing has the names' address */
	bool no_funcdata;
	unsigned shift; /* of the module data, in bytes */
};

/* The words of the module data: the table, the names in it, …, the code, …, what trees count from. */
static void put_module(struct bytes *data, struct bytes *rela, const struct program *p,
		       const uint64_t addr[], bool real)
{
	const unsigned gofunc = p->is_1_20 ? 40 : 38;

	for (unsigned i = 0; i < (real ? WORDS : 2); i++) {
		const uint64_t v = i == 0    ? addr[TABLE]
				   : i == 1  ? addr[TABLE] + (real && !p->no_module ? NAMES : 8)
				   : i == 22 ? (p->no_text ? addr[DATA] : addr[TEXT] + 4)
				   : i == gofunc && !p->no_funcdata ? addr[DATA] + 8
				   : i == 40 || i == 38		    ? addr[TEXT]
								    : 7;

		if (v != 7 && p->by_relocations) {
			put(rela, p->word, addr[DATA] + data->b.len);
			put(rela, p->word, 8); /* R_…_RELATIVE */
			put(rela, p->word, v);
		}
		put(data, p->word, p->by_relocations && v != 7 ? 0 : v);
	}
}

static void put_program(struct bytes *file, const struct program *p, const uint64_t addr[],
			uint64_t size)
{
	const struct elf_shape shape = {
		p->word == 8, p->big_endian, p->word == 8 ? EM_X86_64 : EM_386,
		ET_DYN,	      BASE,	     size };
	struct bytes text = { .big_endian = p->big_endian }, table = text, data = text, rela = text;
	const struct elf_section sections[NUM] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, addr[TEXT], &text, 0, 0, 0 },
		{ p->name, SHT_PROGBITS, SHF_ALLOC, addr[TABLE], &table, 0, 0, 0 },
		{ ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, addr[DATA], &data, 0, 0, 0 },
		{ ".rela.dyn", SHT_RELA, SHF_ALLOC, addr[RELA], &rela, 0, 0, 3 * p->word },
	};

	put(&text, 16, 0), put(&text, 16, 0);
	put(&table, 4, p->is_1_20 ? 0xfffffff1 : 0xfffffff0);
	put(&table, 3, 0), put(&table, 1, p->word);
	for (int i = 0; i < 3; i++)
		put(&table, p->word, 5);
	put(&table, p->word, NAMES);
	put(&table, 16, 0), put(&table, 16, 0);
	put(&data, p->shift, 0);
	for (unsigned i = 0; i < p->decoys; i++)
		put_module(&data, &rela, p, addr, false);
	put_module(&data, &rela, p, addr, true);
	put_elf(file, &shape, sections, NUM);
	bytes_deinit(&text), bytes_deinit(&table), bytes_deinit(&data), bytes_deinit(&rela);
}

static uint64_t header_field(const struct bytes *file, const struct program *p, unsigned section,
			     unsigned field)
{
	const unsigned w = p->word, at = w == 8 ? 40 : 32;
	uint64_t headers = 0, v = 0;

	for (unsigned i = 0; i < w; i++)
		headers = headers << 8 | file->b.data[at + (p->big_endian ? i : w - 1 - i)];
	headers += section * (w == 8 ? 64u : 40u) + field;
	for (unsigned i = 0; i < w; i++)
		v = v << 8 | file->b.data[headers + (p->big_endian ? i : w - 1 - i)];
	return v;
}

/* With each section where it stands in the file. */
static struct sc_elf *open_program(const struct program *p, uint64_t addr[NUM + 1],
				   uint64_t *size)
{
	struct bytes file = { 0 };
	struct sc_error err;
	struct sc_elf *e;
	uint8_t *own;

	memset(addr, 0, (NUM + 1) * sizeof(*addr));
	put_program(&file, p, addr, 1);
	for (unsigned i = 1; i <= NUM; i++)
		addr[i] = BASE + header_field(&file, p, i, p->word == 8 ? 24 : 16);
	*size = file.b.len;
	bytes_deinit(&file);
	put_program(&file, p, addr, *size);
	assert_int_equal(file.b.len, *size);
	own = malloc(*size);
	assert_int_equal(
		sc_elf_open_memory(memcpy(own, file.b.data, *size), *size, "go", &e, &err), 0);
	bytes_deinit(&file);
	return e;
}

/* The file again, as its bytes are now. */
static struct sc_elf *reopen(struct sc_elf *e, uint64_t size)
{
	uint8_t *own = malloc(size);
	struct sc_elf *ret;

	memcpy(own, e->memory, size);
	sc_elf_close(e);
	assert_int_equal(sc_elf_open_memory(own, size, "go", &ret, NULL), 0);
	return ret;
}

#define USUAL ".gopclntab"
#define RELRO ".data.rel.ro.gopclntab"

/* What is no table, or one of an older Go, is not looked into. */
static void test_tables(void **state)
{
	static const struct {
		size_t size;
		uint8_t word;
		uint8_t magic;
		bool looked_into;
	} cases[] = {
		{ 72, 8, 0xf1, true },   { 40, 8, 0xf1, true },  { 39, 8, 0xf1, false },
		{ 8, 8, 0xf1, false },   { 7, 8, 0xf1, false },  { 72, 2, 0xf1, false },
		{ 72, 16, 0xf1, false }, { 72, 0, 0xf1, false }, { 72, 8, 0xfa, false },
		{ 72, 8, 0xfb, false },  { 72, 8, 0xf0, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct program p = { 8, false, cases[i].magic == 0xf1, USUAL };
		uint64_t addr[NUM + 1], size;
		struct sc_elf *e = open_program(&p, addr, &size);
		uint8_t *table = e->memory + (addr[TABLE] - BASE);
		struct sc_elf_go go;
		struct sc_error err;
		uint64_t headers;

		table[0] = cases[i].magic;
		table[7] = cases[i].word;
		memcpy(&headers, e->memory + 40, 8);
		memcpy(e->memory + headers + TABLE * 64 + 32, &cases[i].size, 8); /* sh_size */
		e = reopen(e, size);
		assert_int_equal(sc_elf_go_find(e, &go, &err), 0);
		assert_int_equal(go.size, cases[i].size);
		if ((go.funcdata != NULL) != cases[i].looked_into)
			fail_msg("case %zu: %d", i, go.funcdata != NULL);
		sc_elf_close(e);
	}
}

static void test_find(void **state)
{
	static const struct {
		struct program p;
		bool table, module;
	} cases[] = {
		{ { 8, false, true, USUAL }, true, true },
		{ { 8, false, false, USUAL }, true, true },
		{ { 8, true, true, USUAL }, true, true },
		{ { 4, false, true, RELRO }, true, true },
		{ { 4, true, false, USUAL }, true, true },
		{ { 8, false, true, ".other" }, false, false },
		{ { 8, false, true, RELRO, .by_relocations = true }, true, true },
		{ { 8, true, false, USUAL, .by_relocations = true, .decoys = 3 }, true, true },
		{ { 4, false, true, USUAL, .by_relocations = true }, true, true },
		{ { 8, false, true, USUAL, .decoys = 15 }, true, true },
		{ { 8, false, true, USUAL, .decoys = 16 }, true, false }, /* too many to be tried */
		{ { 8, false, true, USUAL, .no_text = true }, true, false },
		{ { 8, false, true, USUAL, .no_module = true }, true, false },
		{ { 8, false, true, USUAL, .no_funcdata = true }, true, true },
		{ { 8, false, true, USUAL, .shift = 16 }, true, true },
		{ { 8, false, true, USUAL, .shift = 4 }, true, false }, /* pointers are aligned */
		{ { 4, false, true, USUAL, .shift = 4 }, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct program *p = &cases[i].p;
		uint64_t addr[NUM + 1], size;
		struct sc_elf *e = open_program(p, addr, &size);
		struct sc_error err;
		struct sc_elf_go go;

		assert_int_equal(sc_elf_go_find(e, &go, &err), 0);
		if (cases[i].table != (go.table != NULL) ||
		    (go.table && go.text != addr[TEXT] + (cases[i].module ? 4 : 0)))
			fail_msg("case %zu: %d, text 0x%llx", i, go.table != NULL,
				 (unsigned long long)go.text);
		if (go.table) {
			assert_ptr_equal(go.table, e->bytes + (addr[TABLE] - BASE));
			assert_int_equal(go.size, 8 + 4 * p->word + 32);
		}
		if (cases[i].module) {
			const uint64_t at = (p->no_funcdata ? addr[TEXT] : addr[DATA] + 8) - BASE;

			assert_ptr_equal(go.funcdata, e->bytes + at);
			assert_int_equal(go.funcdata_size, size - at);
		} else {
			assert_null(go.funcdata);
		}
		sc_elf_close(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_find),
					   cmocka_unit_test(test_tables) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
