/*
 * ELF files that are made at random, objects and programs of all machines: what is read of them is
 * recorded. Symbols of all kinds, relocations of debug information, notes, links. A change of
 * anything is seen in testdata/seeds/elf_made.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/elf/elf_text_test.h"

enum { FILES = 600, WHOLE = 10, SYMBOLS_MOST = 16, RELOCATIONS_MOST = 12 };

enum {
	TEXT = 1,
	HOT,
	DATA,
	BSS,
	TLS,
	OPD,
	INFO,
	LINE,
	SYMTAB,
	STRTAB,
	RELA_INFO,
	RELA_LINE,
	NOTE,
	DEBUGLINK,
	RELA_OPD,
	NUM_SECTIONS = RELA_OPD
};

struct made {
	uint64_t random;
	struct elf_shape shape;
	bool rela;
	unsigned symbols;
	struct bytes content[NUM_SECTIONS + 1];
};

static const uint64_t addresses[] = { 0, 0x1000, 0x1100, 0x2000, 0x2100, 0x2180, 0x2200 };

static uint32_t below(struct made *m, uint32_t n)
{
	return testing_below(&m->random, n);
}

static unsigned word_of(const struct made *m)
{
	return m->shape.is_64 ? 8 : 4;
}

static void make_bytes(struct made *m, unsigned section, size_t n)
{
	while (n--)
		put(&m->content[section], 1, below(m, 4) ? below(m, 256) : 0);
}

/* ---- symbols ------------------------------------------------------------------------------ */

static void make_symbol(struct made *m)
{
	static const char *const names[] = { "main", "_start", "__x",	"foo",	    "foo",
					    "$x",   "$d.1",   ".L10",	"__GI_foo", "a.c",
					    "b.c",  "",	      "_ZN1aE", "$xrv64i" };
	static const uint8_t types[] = { STT_NOTYPE, STT_OBJECT,	 STT_FUNC,
					STT_FUNC,   STT_SECTION, STT_FILE,
					STT_COMMON, STT_TLS,	 STT_GNU_IFUNC };
	static const uint16_t sizes[] = { 0, 0, 4, 16, 48, 200 };
	struct bytes *o = &m->content[SYMTAB];
	const unsigned name = below(m, 14), type = types[below(m, 9)], binding = below(m, 3);
	unsigned section = below(m, 2) ? TEXT + below(m, 2) : below(m, OPD + 2);
	const uint64_t offset = 4 * below(m, 18), size = sizes[below(m, 6)],
		       hidden = below(m, 3) ? 0 : STV_HIDDEN;
	uint64_t value =
		offset + (m->shape.type == ET_REL || section > OPD ? 0 : addresses[section]);

	if (section > OPD)
		section = below(m, 2) ? SHN_ABS : SHN_COMMON;
	if (m->shape.is_64 && !below(m, 12))
		value |= UINT64_C(0xab) << 56; /* a tag of HWASan */
	if (!below(m, 10))
		value++; /* Thumb */
	put(o, 4, put_str(&m->content[STRTAB], names[name]));
	if (!m->shape.is_64)
		put(o, 4, value), put(o, 4, size);
	put(o, 1, binding << 4 | type);
	put(o, 1, hidden);
	put(o, 2, section);
	if (m->shape.is_64)
		put(o, 8, value), put(o, 8, size);
}

static void make_symbols(struct made *m)
{
	put_str(&m->content[STRTAB], "");
	put(&m->content[SYMTAB], m->shape.is_64 ? 8 : 16, 0);
	if (m->shape.is_64)
		put(&m->content[SYMTAB], 16, 0);
	m->symbols = below(m, SYMBOLS_MOST);
	for (unsigned i = 0; i < m->symbols; i++)
		make_symbol(m);
}

/* ---- relocations ---------------------------------------------------------------------------- */

static void make_relocations(struct made *m, unsigned section)
{
	struct bytes *o = &m->content[section];
	const unsigned w = word_of(m);

	for (unsigned n = below(m, RELOCATIONS_MOST); n; n--) {
		const uint64_t offset = below(m, 100), symbol = below(m, m->symbols + 3);
		const uint64_t type = below(m, 66), addend = below(m, 40);

		put(o, w, offset);
		put(o, w, m->shape.is_64 ? symbol << 32 | type : symbol << 8 | type);
		if (m->rela)
			put(o, w, addend - 8);
	}
}

/* In an object of 64-bit PowerPC, where descriptors lead to: into .text, which begins at 0. */
static void make_descriptors(struct made *m)
{
	struct bytes *o = &m->content[RELA_OPD];

	for (unsigned i = 0; i < 3 && m->shape.machine == EM_PPC64; i++)
		put(o, 8, 8 * i), put(o, 8, R_PPC64_ADDR64), put(o, 8, 4 * i + 16);
}

/* ---- a file --------------------------------------------------------------------------------- */

static void make_note(struct made *m)
{
	struct bytes *o = &m->content[NOTE];
	const unsigned len = below(m, 24);

	put(o, 4, 4);
	put(o, 4, len);
	put(o, 4, below(m, 4) ? NT_GNU_BUILD_ID : NT_GNU_ABI_TAG);
	put_block(o, "GNU", 4);
	make_bytes(m, NOTE, len);
}

static void make_link(struct made *m)
{
	static const char *const names[] = { "file.debug", "x", "../file.debug", "" };
	struct bytes *o = &m->content[DEBUGLINK];

	put_str(o, names[below(m, 4)]);
	while (o->b.len % 4)
		put(o, 1, 0);
	put(o, below(m, 5) ? 4 : 3, below(m, UINT32_MAX)); /* some are cut off */
}

static void choose_shape(struct made *m)
{
	static const struct {
		uint16_t machine;
		char word;
	} machines[] = {
		/* 0: either */
		{ EM_X86_64, 8 }, { EM_386, 4 }, { EM_AARCH64, 8 }, { EM_ARM, 4 },
		{ EM_PPC, 4 }, { EM_PPC64, 8 }, { EM_RISCV, 0 }, { EM_RISCV, 0 },
		{ EM_S390, 8 }, { EM_MIPS, 0 },
	};
	const unsigned n = below(m, 10);

	m->shape.machine = machines[n].machine;
	m->shape.is_64 = machines[n].word ? machines[n].word == 8 : below(m, 2);
	m->shape.big_endian = !below(m, 3);
	m->shape.type = below(m, 2) ? ET_REL : ET_DYN;
	m->rela = below(m, 2);
	if (m->shape.type != ET_REL) {
		m->shape.load_vaddr = below(m, 2) ? 0x1000 : 0;
		m->shape.load_size = 0x3000;
	}
}

/* The section that a table of relocations is for: put_elf() leaves that out. */
static void set_target(const struct made *m, struct bytes *file, unsigned table, unsigned target)
{
	const unsigned w = word_of(m), header = m->shape.is_64 ? 64 : 40;
	uint64_t headers = 0;

	for (unsigned i = 0; i < w; i++)
		headers |= (uint64_t)file->b.data[(m->shape.is_64 ? 40 : 32) +
						  (m->shape.big_endian ? w - 1 - i : i)]
			   << 8 * i;
	patch(file, headers + table * header + (m->shape.is_64 ? 44 : 28), 4, target);
}

static void make_content(struct made *m)
{
	for (unsigned i = 0; i <= NUM_SECTIONS; i++)
		m->content[i].big_endian = m->shape.big_endian;
	make_bytes(m, TEXT, 64 + 4 * below(m, 8));
	make_bytes(m, HOT, 64);
	make_bytes(m, DATA, 64);
	make_bytes(m, INFO, 96);
	make_bytes(m, LINE, 1 + below(m, 60));
	for (unsigned i = 0; i < 3; i++)
		put(&m->content[OPD], 8, 0x1000 + 8 * below(m, 12));
	make_symbols(m);
	make_relocations(m, RELA_INFO);
	make_relocations(m, RELA_LINE);
	make_note(m);
	make_link(m);
	make_descriptors(m);
}

static void make_file(struct made *m, uint64_t number, struct bytes *file)
{
	const struct bytes *c = m->content;
	unsigned w;

	*m = (struct made){ .random = number };
	below(m, 1);
	choose_shape(m);
	make_content(m);
	w = word_of(m);
	const unsigned relocations = m->rela ? SHT_RELA : SHT_REL;
	const bool placed = m->shape.type != ET_REL, dynamic = !below(m, 5);
	const struct elf_section sections[NUM_SECTIONS] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, placed * addresses[TEXT],
		 &c[TEXT], 0, 0, 0 },
		{ ".text.hot", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, placed * addresses[HOT],
		 &c[HOT], 0, 0, 0 },
		{ ".data", SHT_PROGBITS, SHF_ALLOC, placed * addresses[DATA], &c[DATA], 0, 0, 0 },
		{ ".bss", SHT_NOBITS, SHF_ALLOC, placed * addresses[BSS], NULL, 0x80, 0, 0 },
		{ ".tdata", SHT_PROGBITS, SHF_ALLOC | SHF_TLS, placed * addresses[TLS], &c[DATA],
		 0, 0, 0 },
		{ ".opd", SHT_PROGBITS, SHF_ALLOC, placed * addresses[OPD], &c[OPD], 0, 0, 0 },
		{ ".debug_info", SHT_PROGBITS, 0, 0, &c[INFO], 0, 0, 0 },
		{ ".debug_line", SHT_PROGBITS, 0, 0, &c[LINE], 0, 0, 0 },
		{ dynamic ? ".dynsym" : ".symtab", dynamic ? SHT_DYNSYM : SHT_SYMTAB, 0, 0,
		 &c[SYMTAB], 0, STRTAB, w == 8 ? 24 : 16 },
		{ ".strtab", SHT_STRTAB, 0, 0, &c[STRTAB], 0, 0, 0 },
		{ ".rel.debug_info", relocations, 0, 0, &c[RELA_INFO], 0, SYMTAB,
		 (2u + m->rela) * w },
		{ ".rel.debug_line", relocations, 0, 0, &c[RELA_LINE], 0, SYMTAB,
		 (2u + m->rela) * w },
		{ ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, 0, &c[NOTE], 0, 0, 0 },
		{ ".gnu_debuglink", SHT_PROGBITS, 0, 0, &c[DEBUGLINK], 0, 0, 0 },
		{ ".rela.opd", SHT_RELA, 0, 0, &c[RELA_OPD], 0, SYMTAB, 24 },
	};

	put_elf(file, &m->shape, sections, NUM_SECTIONS - !c[RELA_OPD].b.len);
	if (c[RELA_OPD].b.len)
		set_target(m, file, RELA_OPD, OPD);
	set_target(m, file, RELA_INFO, INFO);
	set_target(m, file, RELA_LINE, LINE);
	for (unsigned i = 0; i <= NUM_SECTIONS; i++)
		bytes_deinit(&m->content[i]);
}

static void put_made(FILE *to, const struct bytes *file)
{
	static const uint64_t asked[] = { 0x1004, 0x1110, 0x2010 };
	uint8_t *own = malloc(file->b.len);
	struct sc_elf_symbols s;
	struct sc_error err;
	struct sc_elf *e;

	if (sc_elf_open_memory(memcpy(own, file->b.data, file->b.len), file->b.len, "file", &e,
			       &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	put_elf_text(to, e);
	fprintf(to, "%" PRIu64 " unknown relocations\n", e->unknown_relocations);
	for (size_t i = 0; i < e->placed.len; i++)
		fprintf(to, " %" PRIx64, e->placed.data[i]);
	put_nearest(to, e, e->load_base, e->load_base + 0x2240, 0x14);
	if (!sc_elf_symbols_of_both(e, NULL, &(struct sc_elf_asked){ asked, 3 }, &s, &err)) {
		put_symbol_list(to, "asked code", s.code.data, s.code.len);
		put_symbol_list(to, "asked", s.all.data, s.all.len);
		sc_elf_symbols_deinit(&s);
	}
	sc_elf_close(e);
}

/* The first ones are kept as they are, the others as hashes. */
static void test_made(void **state)
{
	char *got, *one;
	size_t len, size;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint64_t i = 0; i < FILES; i++) {
		FILE *all = open_memstream(&one, &size);
		struct bytes file = { 0 };
		struct made m;

		make_file(&m, i, &file);
		put_made(all, &file);
		fclose(all);
		fprintf(to, "== machine %u, %d-bit, %s-endian, %" PRIu64 "\n", m.shape.machine,
			m.shape.is_64 ? 64 : 32, m.shape.big_endian ? "big" : "little", i);
		if (i < WHOLE)
			fputs(one, to);
		else
			put_digest(to, one, size), fputc('\n', to);
		free(one);
		bytes_deinit(&file);
	}
	fclose(to);
	expect_recorded("elf_made", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
