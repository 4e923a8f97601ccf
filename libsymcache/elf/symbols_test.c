/* Unit tests of the symbol tables: tables written here, and those of a compiled program
 * against nm. */
#include "libsymcache/elf/nearest.h"
#include "libsymcache/elf/symbols.h"

#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"

enum { TEXT = 1, DATA, TLS, NOTES, SECTIONS = NOTES };

struct symbol {
	const char *name;
	unsigned binding, type, section;
	uint64_t value, size;
};

static void put_symbols(struct bytes *table, struct bytes *names, bool is_64,
			const struct symbol *symbols, size_t n)
{
	unsigned word = is_64 ? 8 : 4;

	put_str(names, "");
	put(table, 8, 0);
	put(table, 2 * word, 0);
	for (size_t i = 0; i < n; i++) {
		const struct symbol *s = &symbols[i];

		put(table, 4, put_str(names, s->name));
		if (!is_64) {
			put(table, 4, s->value);
			put(table, 4, s->size);
		}
		put(table, 1, s->binding << 4 | s->type);
		put(table, 1, 0);
		put(table, 2, s->section);
		if (is_64) {
			put(table, 8, s->value);
			put(table, 8, s->size);
		}
	}
}

/* A file with a table of symbols: .text at 1000–2000, .data at 3000–4000, .tdata,
 * and a section that is not loaded. */
static struct sc_elf *file_of(const struct elf_shape *shape, uint32_t type, uint64_t symbol_size,
			      const struct symbol *symbols, size_t n)
{
	struct bytes table = { .big_endian = shape->big_endian }, names = {0}, file = {0};
	struct elf_section s[] = {
		{ ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x1000, 0, 0 },
		{ ".data", SHT_NOBITS, SHF_ALLOC, 0x3000, NULL, 0x1000, 0, 0 },
		{ ".tdata", SHT_NOBITS, SHF_ALLOC | SHF_TLS, 0x5000, NULL, 0x1000, 0, 0 },
		{ ".comment", SHT_NOBITS, 0, 0x1000, NULL, 0x1000, 0, 0 },
		{ ".strtab", SHT_STRTAB, 0, 0, &names, 0, 0, 0 },
		{ ".symtab", type, 0, 0, &table, 0, SECTIONS + 1, symbol_size },
	};
	struct sc_error err = { .msg = "" };
	struct sc_elf *e;
	char path[32];
	int fd;

	put_symbols(&table, &names, shape->is_64, symbols, n);
	put_elf(&file, shape, s, 6);
	fd = testing_memfd(file.b.data, file.b.len, path);
	sc_elf_open(path, &e, &err);
	assert_string_equal(err.msg, "");
	close(fd);
	bytes_deinit(&file);
	bytes_deinit(&table);
	bytes_deinit(&names);
	return e;
}

static struct sc_elf *file_with(const struct elf_shape *shape, uint32_t type,
				const struct symbol *symbols, size_t n)
{
	return file_of(shape, type, shape->is_64 ? 24 : 16, symbols, n);
}

static const struct elf_shape shape_64 = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN };

/* "1000+20 name 1020+8 other": code, then behind a "|" data. */
static char *show(const struct sc_elf_symbols *s)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < s->code.len; i++)
		fprintf(out, "%" PRIx64 "+%" PRIx64 " %s ", s->code.data[i].vaddr,
			s->code.data[i].size, s->code.data[i].name);
	fprintf(out, "|");
	for (size_t i = 0; i < s->data.len; i++)
		fprintf(out, " %" PRIx64 "+%" PRIx64 " %s", s->data.data[i].vaddr,
			s->data.data[i].size, s->data.data[i].name);
	fclose(out);
	return text;
}

static void expect_in(struct sc_elf *e, const char *want)
{
	struct sc_elf_symbols s;
	char *got;

	assert_int_equal(sc_elf_symbols(e, &s, NULL), 0);
	got = show(&s);
	assert_string_equal(got, want);
	free(got);
	sc_elf_symbols_deinit(&s);
	sc_elf_close(e);
}

#define EXPECT(want, ...)                                                                  \
	do {                                                                               \
		const struct symbol symbols_[] = { __VA_ARGS__ };                          \
		expect_in(file_with(&shape_64, SHT_SYMTAB, symbols_,                       \
				    sizeof(symbols_) / sizeof(*symbols_)), want);          \
	} while (0)

#define GLOBAL STB_GLOBAL
#define WEAK STB_WEAK
#define LOCAL STB_LOCAL
#define FUNC STT_FUNC
#define OBJECT STT_OBJECT
#define NOTYPE STT_NOTYPE

static void test_kinds(void **state)
{
	(void)state;
	EXPECT("1000+10 f 1010+10 resolver 1020+8 label 1030+8 unique | 3000+4 v 3004+4 c 3008+4 d",
	       { "d", GLOBAL, NOTYPE, DATA, 0x3008, 4 },
	       { "label", LOCAL, NOTYPE, TEXT, 0x1020, 8 },
	       { "resolver", GLOBAL, STT_GNU_IFUNC, TEXT, 0x1010, 0x10 },
	       { "f", GLOBAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "v", GLOBAL, OBJECT, DATA, 0x3000, 4 },
	       { "c", GLOBAL, STT_COMMON, DATA, 0x3004, 4 },
	       { "unique", STB_GNU_UNIQUE, FUNC, TEXT, 0x1030, 8 });
	/* None of these are code or data of the image. */
	EXPECT("|",
	       { "file.c", LOCAL, STT_FILE, SHN_ABS, 0x1000, 0 },
	       { "absolute", GLOBAL, FUNC, SHN_ABS, 0x1000, 0 },
	       { "", LOCAL, STT_SECTION, TEXT, 0x1000, 0 },
	       { "section", LOCAL, STT_SECTION, TEXT, 0x1000, 0 },
	       { "imported", GLOBAL, FUNC, SHN_UNDEF, 0x1000, 0 },
	       { "common", GLOBAL, OBJECT, SHN_COMMON, 0x3000, 4 },
	       { "", GLOBAL, FUNC, TEXT, 0x1000, 4 },
	       { "thread", GLOBAL, STT_TLS, TLS, 0, 4 },
	       { "thread2", GLOBAL, OBJECT, TLS, 0x5000, 4 },
	       { "thread3", GLOBAL, NOTYPE, TLS, 0x5000, 4 },
	       { "comment", GLOBAL, OBJECT, NOTES, 0x1000, 4 },
	       { "nowhere", GLOBAL, FUNC, 99, 0x1000, 4 },
	       { "$x", LOCAL, NOTYPE, TEXT, 0x1000, 0 },
	       { "$d", LOCAL, NOTYPE, TEXT, 0x1000, 0 },
	       { "$t.12", LOCAL, NOTYPE, TEXT, 0x1000, 0 });
	/* HWASan's tags; what is nowhere without them either stays. */
	EXPECT("1000+4 f | 3000+4 v 3004+4 w 2100000000009000+4 x",
	       { "f", GLOBAL, FUNC, TEXT, 0x1000, 4 },
	       { "v", GLOBAL, OBJECT, DATA, 0x1100000000003000, 4 },
	       { "w", GLOBAL, OBJECT, DATA, 0x3004, 4 },
	       { "x", GLOBAL, OBJECT, DATA, 0x2100000000009000, 4 });
	EXPECT("1000+1000 $ | 3000+1000 $dollar", /* these are names */
	       { "$", LOCAL, NOTYPE, TEXT, 0x1000, 0 },
	       { "$dollar", LOCAL, NOTYPE, DATA, 0x3000, 0 });
}

/* Among names at one address: the one a user would expect. */
static void test_aliases(void **state)
{
	(void)state;
	EXPECT("1000+10 read |",
	       { "__GI___libc_read", LOCAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "__GI_read", LOCAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "__read", GLOBAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "read", GLOBAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "__libc_read", GLOBAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+10 global |",
	       { "local", LOCAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "weak", WEAK, FUNC, TEXT, 0x1000, 0x10 },
	       { "global", GLOBAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+10 weak |",
	       { "local", LOCAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "weak", WEAK, FUNC, TEXT, 0x1000, 0x10 });
	/* A type goes before a binding, a plain name before __GI_. */
	EXPECT("1000+10 local |",
	       { "label", GLOBAL, NOTYPE, TEXT, 0x1000, 0 },
	       { "local", LOCAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+10 plain |",
	       { "__GI_x", GLOBAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "plain", LOCAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+10 __GIx |", /* which is not such a name */
	       { "___x", GLOBAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "__GIx", GLOBAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+10 __GI_x |", /* if there is no other */
	       { "__GI_x", LOCAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+10 first |",
	       { "first", GLOBAL, FUNC, TEXT, 0x1000, 0x10 },
	       { "other", GLOBAL, FUNC, TEXT, 0x1000, 0x10 });
	EXPECT("1000+8 small 1000+20 _large |", /* no name beyond its own size */
	       { "small", GLOBAL, FUNC, TEXT, 0x1000, 0x8 },
	       { "_large", GLOBAL, FUNC, TEXT, 0x1000, 0x20 });
	EXPECT("| 3000+8 environ",
	       { "_environ", WEAK, OBJECT, DATA, 0x3000, 8 },
	       { "__environ", GLOBAL, OBJECT, DATA, 0x3000, 8 },
	       { "environ", WEAK, OBJECT, DATA, 0x3000, 8 },
	       { "environ", GLOBAL, OBJECT, DATA, 0x3000, 8 });
}

/* Labels of the compiler are no names, whether a function with a size is around them or not. */
static void test_compiler_labels(void **state)
{
	(void)state;
	EXPECT("1000+40 sized 1040+20 unsized 1060+10 f |",
	       { "sized", GLOBAL, FUNC, TEXT, 0x1000, 0x40 },
	       { ".L10", LOCAL, NOTYPE, TEXT, 0x1010, 0 },
	       { "unsized", LOCAL, NOTYPE, TEXT, 0x1040, 0 },
	       { ".L413", LOCAL, NOTYPE, TEXT, 0x1050, 0 },
	       { "f", LOCAL, FUNC, TEXT, 0x1060, 0x10 },
	       { ".L5", LOCAL, NOTYPE, TEXT, 0x1080, 0 });
}

/* Sizes of 0 go up to the next symbol or the end of the section. */
static void test_sizes(void **state)
{
	(void)state;
	EXPECT("1000+20 a 1020+4 b 1030+fd0 c |",
	       { "a", GLOBAL, FUNC, TEXT, 0x1000, 0 },
	       { "b", GLOBAL, FUNC, TEXT, 0x1020, 4 },
	       { "c", GLOBAL, FUNC, TEXT, 0x1030, 0 });
	EXPECT("1000+1000 a 2000+0 end 3000+0 odd | 3000+10 d 3010+ff0 e",
	       { "a", GLOBAL, FUNC, TEXT, 0x1000, 0 },
	       { "end", GLOBAL, NOTYPE, TEXT, 0x2000, 0 },
	       { "odd", GLOBAL, FUNC, TEXT, 0x3000, 0 }, /* outside of its section */
	       { "e", GLOBAL, OBJECT, DATA, 0x3010, 0 },
	       { "d", GLOBAL, OBJECT, DATA, 0x3000, 0 });
	/* Not beyond the sized one around it, and not where an alias has a size. */
	EXPECT("1000+40 outer 1010+8 inner 1014+4 in_inner 1020+10 in_outer 1030+10 last "
	       "1080+10 sized 1200+e00 far |",
	       { "outer", GLOBAL, FUNC, TEXT, 0x1000, 0x40 },
	       { "inner", LOCAL, FUNC, TEXT, 0x1010, 8 },
	       { "in_inner", LOCAL, NOTYPE, TEXT, 0x1014, 0 },
	       { "in_outer", LOCAL, NOTYPE, TEXT, 0x1020, 0 },
	       { "last", LOCAL, NOTYPE, TEXT, 0x1030, 0 },
	       { "alias", GLOBAL, NOTYPE, TEXT, 0x1080, 0 },
	       { "sized", LOCAL, NOTYPE, TEXT, 0x1080, 0x10 },
	       { "far", GLOBAL, NOTYPE, TEXT, 0x1200, 0 });
	/* Data among the code ends them, too. */
	EXPECT("1000+20 a | 1020+8 table",
	       { "a", GLOBAL, NOTYPE, TEXT, 0x1000, 0 },
	       { "table", LOCAL, OBJECT, TEXT, 0x1020, 8 });
	EXPECT("1000+ffffffffffffffff huge |",
	       { "huge", GLOBAL, FUNC, TEXT, 0x1000, UINT64_MAX });
}

/* 32 bits, big-endian, Thumb, and no table but the dynamic one. */
static void test_shapes(void **state)
{
	static const struct symbol symbols[] = {
		{ "thumb", GLOBAL, FUNC, TEXT, 0x1001, 0x10 },
		{ "label", GLOBAL, NOTYPE, TEXT, 0x1101, 0x10 },
		{ "data", GLOBAL, OBJECT, DATA, 0x3001, 4 },
	};
	static const struct symbol riscv[] = {
		{ "$xrv64i2p1_m2p0", LOCAL, NOTYPE, TEXT, 0x1000, 0 },
		{ "f", LOCAL, NOTYPE, TEXT, 0x1000, 0 },
	};
	struct elf_shape arm = { .machine = EM_ARM, .type = ET_DYN };
	struct sc_elf_symbols s;
	struct sc_elf *e;

	(void)state;
	expect_in(file_with(&arm, SHT_SYMTAB, symbols, 3),
		  "1000+10 thumb 1101+10 label | 3001+4 data");
	arm.big_endian = true;
	expect_in(file_with(&arm, SHT_SYMTAB, symbols, 3),
		  "1000+10 thumb 1101+10 label | 3001+4 data");
	arm.machine = EM_PPC;
	expect_in(file_with(&arm, SHT_SYMTAB, symbols, 3),
		  "1001+10 thumb 1101+10 label | 3001+4 data");
	arm = (struct elf_shape){ .is_64 = true, .machine = EM_RISCV, .type = ET_DYN };
	expect_in(file_with(&arm, SHT_SYMTAB, riscv, 2), "1000+1000 f |");
	e = file_with(&shape_64, SHT_DYNSYM, symbols, 3);
	assert_int_equal(sc_elf_symbols(e, &s, NULL), 0);
	assert_true(s.from_dynsym);
	assert_int_equal(s.code.len, 2);
	sc_elf_symbols_deinit(&s);
	sc_elf_close(e);
	e = file_with(&shape_64, SHT_SYMTAB, symbols, 0);
	assert_int_equal(sc_elf_symbols(e, &s, NULL), 0);
	assert_false(s.from_dynsym);
	assert_int_equal(s.code.len + s.data.len, 0);
	sc_elf_symbols_deinit(&s);
	sc_elf_close(e);
	e = file_with(&shape_64, SHT_PROGBITS, symbols, 3);
	assert_int_equal(sc_elf_symbols(e, &s, NULL), 0);
	assert_int_equal(s.code.len + s.data.len, 0);
	sc_elf_symbols_deinit(&s);
	sc_elf_close(e);
}

static void expect_nearest(const struct sc_elf_nearest *n, uint64_t vaddr, const char *want,
			   const char *want_file)
{
	const char *name = NULL, *file = NULL;

	assert_int_equal(sc_elf_nearest_find(n, vaddr, &name, &file), want != NULL);
	assert_string_equal(name ? name : "-", want ? want : "-");
	assert_string_equal(file ? file : "-", want_file);
}

/* By the rules of BFD: the nearest below in its section, of those together the better one. */
static void test_nearest(void **state)
{
	static const struct symbol symbols[] = {
		{ "first.c", LOCAL, STT_FILE, SHN_ABS, 0, 0 },
		{ "local", LOCAL, FUNC, TEXT, 0x1000, 0x10 },
		{ "", LOCAL, STT_FILE, SHN_ABS, 0, 0 },
		{ "table", LOCAL, OBJECT, DATA, 0x3000, 4 },
		{ "label", LOCAL, NOTYPE, TEXT, 0x1100, 0x20 },
		{ "whole", GLOBAL, FUNC, TEXT, 0x1100, 0x20 },
		{ "part", GLOBAL, FUNC, TEXT, 0x1100, 8 },
		{ "early", GLOBAL, NOTYPE, DATA, 0x2ff8, 0 },
		{ "bss", GLOBAL, NOTYPE, DATA, 0x3010, 0 },
	};
	struct sc_elf *e = file_with(&shape_64, SHT_SYMTAB, symbols,
				     sizeof(symbols) / sizeof(*symbols));
	struct sc_elf_nearest *n = sc_elf_nearest_create(e, e);

	(void)state;
	assert_non_null(n);
	expect_nearest(n, 0x1000, "local", "first.c");
	expect_nearest(n, 0x10ff, "local", "first.c");
	expect_nearest(n, 0x1104, "part", "-");
	expect_nearest(n, 0x1107, "part", "-");
	expect_nearest(n, 0x1108, "whole", "-"); /* where the other ends */
	expect_nearest(n, 0x1110, "whole", "-");
	expect_nearest(n, 0x1fff, "label", ""); /* none reaches there: the first of the largest */
	expect_nearest(n, 0x3004, NULL, "-"); /* neither a variable, nor what is not in there */
	expect_nearest(n, 0x3018, "bss", "-");
	assert_true(sc_elf_nearest_loaded(n, 0x3004));
	assert_false(sc_elf_nearest_loaded(n, 0x2fff));
	assert_false(sc_elf_nearest_loaded(n, UINT64_MAX));
	sc_elf_nearest_destroy(n);
	sc_elf_close(e);
}

/* A compiled program: every function that nm knows, at its address and size. */
static void test_nm(void **state)
{
	struct sc_elf_symbols s;
	struct sc_elf *e;
	char line[512];
	size_t found = 0;
	FILE *nm;

	(void)state;
	assert_int_equal(testing_run("scripts/testprogs.sh build/testprogs"), 0);
	assert_int_equal(sc_elf_open("build/testprogs/layouts", &e, NULL), 0);
	assert_int_equal(sc_elf_symbols(e, &s, NULL), 0);
	nm = popen("nm -S build/testprogs/layouts", "r");
	while (fgets(line, sizeof(line), nm)) {
		uint64_t vaddr, size;
		char type, name[256];
		bool known = false;

		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %c %255s", &vaddr, &size, &type, name) !=
			    4 ||
		    !strchr("TtWi", type))
			continue;
		for (size_t i = 0; i < s.code.len; i++)
			known |= s.code.data[i].vaddr == vaddr && s.code.data[i].size == size;
		if (!known)
			fail_msg("no symbol %s at 0x%" PRIx64, name, vaddr);
		found++;
	}
	pclose(nm);
	assert_true(found >= 4);
	for (size_t i = 1; i < s.code.len; i++)
		assert_true(s.code.data[i - 1].vaddr < s.code.data[i].vaddr);
	sc_elf_symbols_deinit(&s);
	sc_elf_close(e);
}

/* On 64-bit PowerPC a function's symbol leads to its descriptor, and that to the code, if all of it is there. */
static void test_descriptors(void **state)
{
	static const struct { unsigned size; uint64_t offset, code; const char *want; } cases[] = {
		{ 8, 0, 0x1010, "1010+4 f |" }, { 7, 0, 0x1010, "|" }, { 24, 16, 0x1010, "1010+4 f |" }, { 24, 17, 0x1010, "|" },
		{ 24, 0, 0x0fff, "|" }, { 24, 0, 0x1000, "1000+4 f |" }, { 24, 8, 0x1fff, "1fff+4 f |" }, { 24, 8, 0x2000, "|" },
		{ 16, UINT64_MAX, 0x1010, "|" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const struct elf_shape shape = { .is_64 = true, .big_endian = i % 2, .machine = EM_PPC64, .type = ET_DYN };
		const struct symbol f = { "f", GLOBAL, FUNC, 2, 0x3000 + cases[i / 2].offset, 4 };
		struct bytes opd = { .big_endian = i % 2 }, table = opd, names = {0}, file = {0};
		const struct elf_section sections[] = {
			{ ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000, NULL, 0x1000, 0, 0 },
			{ ".opd", SHT_PROGBITS, SHF_ALLOC, 0x3000, &opd, 0, 0, 0 },
			{ ".strtab", SHT_STRTAB, 0, 0, &names, 0, 0, 0 },
			{ ".symtab", SHT_SYMTAB, 0, 0, &table, 0, 3, 24 },
		};
		struct sc_elf *e;

		put(&opd, 8, 0), put(&opd, 8, 0), put(&opd, 8, 0);
		patch(&opd, cases[i / 2].offset < 17 ? cases[i / 2].offset : 0, 8, cases[i / 2].code);
		opd.b.len = cases[i / 2].size;
		put_symbols(&table, &names, true, &f, 1);
		put_elf(&file, &shape, sections, 4);
		assert_int_equal(sc_elf_open_memory(file.b.data, file.b.len, "file", &e, NULL), 0);
		expect_in(e, cases[i / 2].want);
		bytes_deinit(&opd);
		bytes_deinit(&table);
		bytes_deinit(&names);
	}
}

/* A table that does not say how large a symbol is has none. */
static void test_no_entry_size(void **state)
{
	static const struct symbol f = { "f", GLOBAL, FUNC, TEXT, 0x1000, 0x10 };

	(void)state;
	expect_in(file_of(&shape_64, SHT_SYMTAB, 0, &f, 1), "|");
	expect_in(file_of(&shape_64, SHT_SYMTAB, 24, &f, 1), "1000+10 f |");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_aliases),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_no_entry_size),
		cmocka_unit_test(test_compiler_labels), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_nearest), cmocka_unit_test(test_nm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
