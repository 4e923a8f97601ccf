/*
 * .gopclntab as each version of Go writes it, put together by hand:
 *
 *   main.outer   [0x1000, 0x1040)   a.go:10, from 0x20 on a.go:12
 *     main.mid     [0x10, 0x20)     a.go:30, called at a.go:11
 *       main.leaf    [0x18, 0x20)   b.go:5, called at a.go:31
 *   main.next    [0x1040, 0x1050)   b.go:50, and padding up to 0x1060
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/dwarf/gopclntab.h"

enum { GO_1_16 = 0xfffffffa, GO_1_18 = 0xfffffff0, GO_1_20 = 0xfffffff1, TEXT = 0x1000 };

struct sample {
	struct bytes table, tree;
	unsigned word;
	uint32_t version;
	size_t names, mid, leaf, outer, next; /* where they stand: in the table, of names */
};

/* A pair: to which value, for how many bytes. */
static void put_pair(struct bytes *o, int32_t *value, int32_t to, uint32_t bytes)
{
	const int32_t step = to - *value;

	put_uleb(o, (uint32_t)step << 1 ^ (uint32_t)(step >> 31));
	put_uleb(o, bytes);
	*value = to;
}

/* Pairs of value and number of bytes, up to 0 bytes; where they begin among all pairs. */
static uint32_t put_pairs(struct bytes *o, size_t pairs, const int32_t *list)
{
	const uint32_t at = (uint32_t)(o->b.len - pairs);
	int32_t value = -1;

	for (; list[1]; list += 2)
		put_pair(o, &value, list[0], (uint32_t)list[1]);
	put(o, 1, 0);
	return at;
}

static uint32_t put_name(struct sample *s, const char *name)
{
	const size_t at = s->table.b.len;

	put_block(&s->table, name, strlen(name) + 1);
	return (uint32_t)(at - s->names);
}

static void put_record(struct sample *s, uint64_t start, uint32_t name, const uint32_t tables[3],
		       uint32_t first_line, bool has_tree)
{
	struct bytes *o = &s->table;

	put(o, s->version == GO_1_16 ? s->word : 4, start);
	put(o, 4, name);
	put(o, 4, 0), put(o, 4, 0), put(o, 4, 0); /* args, deferreturn, pcsp */
	put(o, 4, tables[0]);
	put(o, 4, tables[1]);
	put(o, 4, has_tree ? 3 : 0); /* pcdata */
	put(o, 4, 1);                /* the unit's first file */
	if (s->version == GO_1_20)
		put(o, 4, first_line);
	put(o, 3, 0);
	put(o, 1, has_tree ? 4 : 0); /* funcdata */
	if (!has_tree)
		return;
	put(o, 4, 0), put(o, 4, 0), put(o, 4, tables[2]);
	put(o, 4, UINT32_MAX), put(o, 4, UINT32_MAX), put(o, 4, UINT32_MAX);
	put(o, 4, 8); /* the tree */
}

static void put_call(struct sample *s, int parent, uint32_t file, uint32_t line, uint32_t name,
		     uint32_t parent_pc, uint32_t first_line)
{
	struct bytes *o = &s->tree;

	if (s->version == GO_1_20) {
		put(o, 4, 0);
		put(o, 4, name);
		put(o, 4, parent_pc);
		put(o, 4, first_line);
		return;
	}
	put(o, 2, (uint16_t)parent);
	put(o, 2, 0);
	put(o, 4, file);
	put(o, 4, line);
	put(o, 4, name);
	put(o, 4, parent_pc);
}

static void make(struct sample *s, uint32_t version, unsigned word, bool big_endian)
{
	const bool old = version == GO_1_16;
	const uint64_t base = old ? TEXT : 0;
	const unsigned field = old ? word : 4;
	struct bytes *o = &s->table;
	uint32_t tables[2][3], names[4];
	size_t parts, pairs, functions;

	*s = (struct sample){ .table.big_endian = big_endian, .tree.big_endian = big_endian,
			      .word = word, .version = version };
	put(o, 4, version);
	put(o, 2, 0);
	put(o, 1, 1);
	put(o, 1, word);
	put(o, word, 2);
	put(o, word, 2);
	if (!old)
		put(o, word, 0x77777777); /* not believed: programs are moved */
	parts = o->b.len;
	put(o, word, 0), put(o, word, 0), put(o, word, 0), put(o, word, 0), put(o, word, 0);
	s->names = o->b.len;
	patch(o, parts, word, o->b.len);
	names[0] = put_name(s, "main.outer");
	names[1] = put_name(s, "main.mid");
	names[2] = put_name(s, "main.leaf");
	names[3] = put_name(s, "main.next");
	patch(o, parts + word, word, o->b.len);
	put(o, 4, UINT32_MAX), put(o, 4, 0), put(o, 4, 10); /* files of units: none, a.go, b.go */
	patch(o, parts + 2 * word, word, o->b.len);
	put_block(o, "/src/a.go\0/src/b.go", 20);
	pairs = o->b.len;
	patch(o, parts + 3 * word, word, pairs);
	put(o, 1, 0);
	tables[0][0] = put_pairs(o, pairs, (int32_t[]){ 0, 0x18, 1, 8, 0, 0x20, 0, 0 });
	tables[0][1] = put_pairs(o, pairs, (int32_t[]){ 10, 8, 11, 8, 30, 4, 31, 4, 5, 8, 12, 0x20, 0, 0 });
	tables[0][2] = put_pairs(o, pairs, (int32_t[]){ -1, 0x10, 0, 8, 1, 8, -1, 0x20, 0, 0 });
	tables[1][0] = put_pairs(o, pairs, (int32_t[]){ 1, 0x10, 0, 0 });
	tables[1][1] = put_pairs(o, pairs, (int32_t[]){ 50, 0x10, 0, 0 });
	functions = o->b.len;
	patch(o, parts + 4 * word, word, functions);
	put(o, field, base), put(o, field, 5 * field);
	put(o, field, base + 0x40);
	put(o, field, 0); /* where the second record is */
	put(o, field, base + 0x60);
	put_record(s, base, names[0], tables[0], 9, true);
	patch(o, functions + 3 * field, field, o->b.len - functions);
	put_record(s, base + 0x40, names[3], tables[1], 49, false);
	put(&s->tree, 8, 0);
	put_call(s, -1, 0, 11, names[1], 8, 29);
	put_call(s, 0, 0, 31, names[2], 0x14, 4);
}

static struct dw_go_sections sections_of(const struct sample *s)
{
	return (struct dw_go_sections){
		{ s->table.b.data, s->table.b.len }, { s->tree.b.data, s->tree.b.len }, TEXT, 1000, NULL,
		s->table.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
	};
}

static void expect_scope(const struct dw_facts *u, size_t i, const char *want)
{
	const struct dw_scope *s = &u->scopes.data[i];
	const struct dw_range *r = u->ranges.data + s->first_range;
	char got[200];

	snprintf(got, sizeof(got), "%s %llx-%llx of %u in %d at %s:%u, line %u", s->name,
		 (unsigned long long)r->start, (unsigned long long)r->end, s->num_ranges, (int)s->parent,
		 s->call_file == DW_NONE ? "-" : u->files.data[s->call_file].name, s->call_line,
		 s->decl_line);
	assert_string_equal(got, want);
}

static void expect(uint32_t version, unsigned word, bool big_endian)
{
	const bool later = version == GO_1_20, inlines = version != GO_1_16;
	struct dw_go_sections sections;
	struct dw_facts u = { 0 };
	struct dw_go_reader *r;
	struct sample s;
	struct bytes seed = { 0 };
	char text[400] = "";

	make(&s, version, word, big_endian);
	sections = sections_of(&s);
	assert_int_equal(dw_go_open(&sections, &r, NULL), 0);
	assert_true(dw_go_has_inlines(r) == inlines);
	assert_int_equal(dw_go_next(r, &u, NULL), 0);
	assert_int_equal(u.scopes.len, inlines ? 4 : 2);
	expect_scope(&u, 0, later ? "main.outer 1000-1040 of 1 in -1 at -:0, line 9" :
				    "main.outer 1000-1040 of 1 in -1 at -:0, line 0");
	if (inlines) {
		expect_scope(&u, 1, later ? "main.mid 1010-1018 of 1 in 0 at /src/a.go:11, line 29" :
					    "main.mid 1010-1018 of 1 in 0 at /src/a.go:11, line 0");
		expect_scope(&u, 2, later ? "main.leaf 1018-1020 of 1 in 1 at /src/a.go:31, line 4" :
					    "main.leaf 1018-1020 of 1 in 1 at /src/a.go:31, line 0");
	}
	expect_scope(&u, u.scopes.len - 1, later ? "main.next 1040-1050 of 1 in -1 at -:0, line 49" :
						   "main.next 1040-1050 of 1 in -1 at -:0, line 0");
	for (size_t i = 0; i < u.rows.len; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%llx %s:%u ",
			 (unsigned long long)u.rows.data[i].vaddr,
			 u.files.data[u.rows.data[i].file].name + 5, u.rows.data[i].line);
	assert_string_equal(text, "1000 a.go:10 1008 a.go:11 1010 a.go:30 1014 a.go:31 1018 b.go:5 "
				  "1020 a.go:12 1040 b.go:50 ");
	assert_int_equal(u.sequences.len, 2);
	assert_int_equal(dw_go_next(r, &u, NULL), SC_ENOTFOUND);
	dw_go_close(r);
	put(&seed, 1, sections.swap);
	put(&seed, 2, s.tree.b.len);
	put_block(&seed, s.table.b.data, s.table.b.len);
	put_block(&seed, s.tree.b.data, s.tree.b.len);
	testing_seed(seed.b.data, seed.b.len);
	bytes_deinit(&seed);
	dw_facts_deinit(&u);
	bytes_deinit(&s.table);
	bytes_deinit(&s.tree);
}

static void reads_each_version(void **state)
{
	(void)state;
	expect(GO_1_16, 8, false);
	expect(GO_1_18, 8, false);
	expect(GO_1_20, 8, false);
	expect(GO_1_20, 4, true);
	expect(GO_1_18, 4, true);
}

/* The number of functions and inlined calls of a sample as it stands. */
static size_t count_scopes(const struct sample *s, struct dw_facts *u)
{
	const struct dw_go_sections sections = sections_of(s);
	struct dw_go_reader *r;

	assert_int_equal(dw_go_open(&sections, &r, NULL), 0);
	assert_int_equal(dw_go_next(r, u, NULL), 0);
	dw_go_close(r);
	return u->scopes.len;
}

/* Of some addresses, the functions that have one of them. */
static void reads_what_is_wanted(void **state)
{
	static const struct { uint64_t vaddrs[2]; size_t n; const char *names; } cases[] = {
		{ { TEXT }, 1, "main.outer " }, { { TEXT + 0x3f }, 1, "main.outer " }, { { TEXT + 0x40 }, 1, "main.next " },
		{ { TEXT + 1, TEXT + 0x41 }, 2, "main.outer main.next " }, { { TEXT - 1 }, 1, "" }, { { TEXT + 0x80 }, 1, "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct dw_wanted wanted = { cases[i].vaddrs, cases[i].n };
		struct dw_go_sections sections;
		struct dw_facts u = { 0 };
		struct dw_go_reader *r;
		struct sample s;
		char names[100] = "";

		make(&s, GO_1_20, 8, false);
		sections = sections_of(&s);
		sections.wanted = &wanted;
		assert_int_equal(dw_go_open(&sections, &r, NULL), 0);
		while (!dw_go_next(r, &u, NULL))
			for (size_t k = 0; k < u.scopes.len; k++)
				if (u.scopes.data[k].parent == DW_NONE)
					snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", u.scopes.data[k].name);
		assert_string_equal(names, cases[i].names);
		dw_go_close(r);
		dw_facts_deinit(&u);
		bytes_deinit(&s.table);
		bytes_deinit(&s.tree);
	}
}

/* Code of a call, and again behind that of one inlined into it. */
static void has_several_ranges(void **state)
{
	struct sample s;
	struct dw_facts u = { 0 };
	uint8_t *runs;

	(void)state;
	make(&s, GO_1_20, 8, false);
	runs = memmem(s.table.b.data, s.table.b.len, "\2\10\2\10\3\40", 6);
	assert_non_null(runs);
	runs[4] = 1; /* from 0x20 on it is main.mid, too */
	assert_int_equal(count_scopes(&s, &u), 4);
	expect_scope(&u, 1, "main.mid 1010-1018 of 2 in 0 at /src/a.go:11, line 29");
	assert_int_equal(u.ranges.data[u.scopes.data[1].first_range + 1].start, 0x1020);
	assert_int_equal(u.ranges.data[u.scopes.data[1].first_range + 1].end, 0x1040);
	expect_scope(&u, 2, "main.leaf 1018-1020 of 1 in 1 at /src/a.go:31, line 4");
	dw_facts_deinit(&u);
	bytes_deinit(&s.table);
	bytes_deinit(&s.tree);
}

/* Where inlined code is, or the tree of the calls, is not what stands behind a list that ends before it. */
static void needs_both_lists(void **state)
{
	struct sample s;
	struct dw_facts u = { 0 };
	uint8_t *numbers, *lists; /* of the first function: how many of each, and what they are */

	(void)state;
	make(&s, GO_1_20, 8, false);
	lists = memmem(s.table.b.data, s.table.b.len, "\0\0\0\4\0\0\0\0\0\0\0", 11);
	assert_non_null(lists);
	lists += 4;
	numbers = lists - 16;
	assert_int_equal(numbers[0], 3);
	assert_int_equal(count_scopes(&s, &u), 4);
	lists[-1] = 3;
	assert_int_equal(count_scopes(&s, &u), 2);
	lists[-1] = 4;
	numbers[0] = 2;
	memcpy(lists + 4 * 5, (uint8_t[]){ 8, 0, 0, 0 }, 4);
	assert_int_equal(count_scopes(&s, &u), 2);
	dw_facts_deinit(&u);
	bytes_deinit(&s.table);
	bytes_deinit(&s.tree);
}

/* Each byte changed, and each length: no more facts than asked for, nothing out of bounds. */
static void survives_damage(void **state)
{
	struct sample s;
	struct dw_facts u = { 0 };

	(void)state;
	make(&s, GO_1_20, 8, false);
	for (size_t i = 0; i < 2 * s.table.b.len; i++) {
		const size_t at = i / 2;
		struct dw_go_sections sections = sections_of(&s);
		const uint8_t old = s.table.b.data[at];
		struct dw_go_reader *r;
		int rc = 0;

		if (i % 2)
			sections.table.size = at;
		else
			s.table.b.data[at] ^= 0xff;
		sections.most = 30;
		if (!dw_go_open(&sections, &r, NULL)) {
			for (size_t facts = 0; !rc; facts += u.scopes.len) {
				assert_true(facts <= 30);
				rc = dw_go_next(r, &u, NULL);
			}
			assert_true(rc == SC_ENOTFOUND || rc == SC_ELIMIT);
			dw_go_close(r);
		}
		s.table.b.data[at] = old;
	}
	dw_facts_deinit(&u);
	bytes_deinit(&s.table);
	bytes_deinit(&s.tree);
}

/* Functions that share one table of values cost as much as if each had its own. */
static void is_bounded(void **state)
{
	struct dw_go_sections sections;
	struct dw_facts u = { 0 };
	struct dw_go_reader *r;
	struct sample s;
	uint8_t *last;

	(void)state;
	make(&s, GO_1_20, 8, false);
	sections = sections_of(&s);
	sections.most = 5;
	assert_int_equal(dw_go_open(&sections, &r, NULL), 0);
	assert_int_equal(dw_go_next(r, &u, NULL), SC_ELIMIT);
	dw_go_close(r);
	/* Also if it is broken at its end: 21 facts with the pairs of the lines, 15 without them. */
	sections.most = 16;
	last = memmem(s.table.b.data, s.table.b.len, "\x0e\x20", 2);
	assert_non_null(last);
	last[1] = 0x7f;
	assert_int_equal(dw_go_open(&sections, &r, NULL), 0);
	assert_int_equal(dw_go_next(r, &u, NULL), SC_ELIMIT);
	dw_go_close(r);
	patch(&s.table, 0, 4, 0xfffffffb);
	assert_int_equal(dw_go_open(&sections, &r, NULL), SC_EUNSUPPORTED);
	assert_null(r);
	dw_facts_deinit(&u);
	bytes_deinit(&s.table);
	bytes_deinit(&s.tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_version),
		cmocka_unit_test(reads_what_is_wanted),
		cmocka_unit_test(has_several_ranges),
		cmocka_unit_test(needs_both_lists),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
