/*
 * Which of two symbols at one address names it: each kind of symbol against each, recorded; and the
 * same if that address alone is asked for, among some thousand symbols.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/elf/elf_text_test.h"

enum { TEXT_START = 0x1000, NAMES = 10, KINDS = NAMES * 3 * 2, PAIRS = KINDS * KINDS };

static const char *const names[NAMES] = {
	"x", "_x", "__x", "______________x", "_______________x", "________________x", "__GI_x", "__GIx", ".Lx", "y",
};

/* The symbols of a kind: its name, binding and type. */
static void put_kind(struct bytes *table, struct bytes *strings, unsigned kind, uint64_t vaddr, uint64_t size)
{
	static const unsigned bindings[] = { STB_GLOBAL, STB_WEAK, STB_LOCAL }, types[] = { STT_FUNC, STT_NOTYPE };

	put(table, 4, put_str(strings, names[kind % NAMES]));
	put(table, 1, bindings[kind / NAMES % 3] << 4 | types[kind / NAMES / 3]);
	put(table, 1, 0), put(table, 2, 1);
	put(table, 8, vaddr), put(table, 8, size);
}

/* A file with all pairs, each at an address of its own. */
static struct sc_elf *make_file(uint64_t first_size, uint64_t second_size)
{
	static const struct elf_shape shape = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN };
	struct bytes table = {0}, strings = {0}, file = {0};
	const struct elf_section sections[] = {
		{ ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT_START, NULL, PAIRS, 0, 0 },
		{ ".strtab", SHT_STRTAB, 0, 0, &strings, 0, 0, 0 },
		{ ".symtab", SHT_SYMTAB, 0, 0, &table, 0, 2, 24 },
	};
	struct sc_error err;
	struct sc_elf *e;

	put_str(&strings, "");
	put(&table, 8, 0), put(&table, 16, 0);
	for (unsigned i = 0; i < PAIRS; i++) {
		put_kind(&table, &strings, i / KINDS, TEXT_START + i, first_size);
		put_kind(&table, &strings, i % KINDS, TEXT_START + i, second_size);
	}
	put_elf(&file, &shape, sections, 3);
	bytes_deinit(&table);
	bytes_deinit(&strings);
	assert_int_equal(sc_elf_open_memory(file.b.data, file.b.len, "file", &e, &err), 0);
	return e;
}

/* Of each pair: '1' or '2': that one's name; '=': both have it; '-': none. */
static void put_winners(FILE *to, const char *what, const struct sc_elf_symbol *list, size_t n)
{
	for (unsigned i = 0, at = 0; i < PAIRS; i++) {
		const char *first = names[i / KINDS % NAMES], *second = names[i % KINDS % NAMES];
		char winner = '-';

		for (; at < n && list[at].vaddr == TEXT_START + i; at++)
			if (winner == '-')
				winner = !strcmp(first, second) ? '=' : strcmp(list[at].name, first) ? '2' : '1';
		if (i % KINDS == 0)
			fprintf(to, "%s%s %02u ", i ? "\n" : "", what, i / KINDS);
		fputc(winner, to);
	}
	fputc('\n', to);
}

static const char *name_at(const struct sc_elf_symbol *list, size_t n, uint64_t vaddr)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].vaddr == vaddr)
			return list[i].name;
	return "-";
}

static void check_asked(struct sc_elf *e, const struct sc_elf_symbols *all)
{
	for (uint64_t vaddr = TEXT_START; vaddr < TEXT_START + PAIRS; vaddr += 71) {
		struct sc_elf_symbols s;
		struct sc_error err;

		assert_int_equal(sc_elf_symbols_of_both(e, NULL, &(struct sc_elf_asked){ &vaddr, 1 }, &s, &err), 0);
		assert_string_equal(name_at(s.code.data, s.code.len, vaddr), name_at(all->code.data, all->code.len, vaddr));
		assert_string_equal(name_at(s.all.data, s.all.len, vaddr), name_at(all->all.data, all->all.len, vaddr));
		assert_true(s.all.len <= 3);
		sc_elf_symbols_deinit(&s);
	}
}

static void test_pairs(void **state)
{
	static const uint64_t sizes[][2] = { { 1, 1 }, { 0, 0 }, { 0, 1 } };
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct sc_elf *e = make_file(sizes[i][0], sizes[i][1]);
		struct sc_elf_symbols s;
		struct sc_error err;

		assert_int_equal(sc_elf_symbols(e, &s, &err), 0);
		fprintf(to, "== sizes %" PRIu64 " and %" PRIu64 ", %zu aliases\n", sizes[i][0], sizes[i][1], s.aliases.len);
		put_winners(to, "code", s.code.data, s.code.len);
		put_winners(to, "all", s.all.data, s.all.len);
		check_asked(e, &s);
		sc_elf_symbols_deinit(&s);
		sc_elf_close(e);
	}
	fclose(to);
	expect_recorded("elf_aliases", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
