/*
 * Why an address has its answer, as text and as JSON, of explanations that are made here: each fact that
 * one can have, and what is said where it has none. The cache is that of tiny_test.h.
 */
#include "libsymcache/answers/parts.h"
#include "libsymcache/answers/explain_shown.h"
#include "libsymcache/read/tiny_test.h"

static struct symcache_explained_entry entries[] = {
	{ .offset = 0x2d, .decides = true, .name = "main", .start = 0x400010, .end = 0x400030, .num_ranges = 1 },
	{ .offset = UINT64_C(0x100000002), .inlined = true, .decides = true, .name = "_ZN1a6middleEv", .start = 0x400020,
	  .end = 0x400028, .num_ranges = 2, .call_file = { .comp_dir = { "/src", 4 }, .name = { "main.c", 6 } },
	  .call_line = 11, .call_column = 4 },
	{ .offset = 0x77, .inlined = true, .num_ranges = 1, .call_line = 3 },
};

static struct symcache_explained_unit units[] = {
	{ .offset = 0xb, .version = 5, .name = "main.c", .comp_dir = "/src", .language = "C11", .decides = true,
	  .entries = entries, .num_entries = 3, .has_row = true,
	  .row = { .start = 0x400020, .end = 0x400024, .file = { .comp_dir = { "/src", 4 }, .name = { "main.c", 6 } },
		   .line = 11, .column = 4, .is_stmt = true, .discriminator = 2, .sequence_start = 0x400010,
		   .sequence_end = 0x400030, .sequence_rows = 9 } },
	{ .offset = 0x1234, .version = 4, .split = "a.dwo", .has_row = true,
	  .row = { .start = 0x400020, .end = 0x400022, .line = 7, .sequence_start = 0x400020, .sequence_end = 0x400040,
		   .sequence_rows = 2 } },
	{ .offset = 0x4321, .version = 3 },
};

struct given {
	uint64_t vaddr;
	struct symcache_why why;
};

static struct symcache_explanation
	all = { .path = "/d/x.debug", .units_read = 3, .units = units, .num_units = 3 },
	one = { .path = "/d/x.debug", .units_read = 1 };

static char own_name[] = "_ZN1a4mainEv", row[] = "CFA=rsp+8";

#define MISSING .missing = { .code = SC_ENOTFOUND, .msg = "no file has it" }

static const struct given given[] = {
	{ 0x400021, { .in_range = true, .range = 1, .range_start = 0x20, .range_end = 0x28, .has_code = true,
		      .has_symbol = true, .symbol = { .rel_address = 0x10, .size = 0x20, .name = { "main", 4 } },
		      .table = "the debug file's .symtab", .own_table = ".dynsym", .own_name = own_name, .unwind = row,
		      .unwind_start = 0x10, .unwind_end = 0x30, .dwarf = &all } },
	{ 0x400041, { .in_range = true, .range = 4, .range_start = 0x40, .range_end = SYMCACHE_NONE, .has_code = true,
		      .has_symbol = true, .symbol = { .rel_address = 0x40, .name = { "naked", 5 } }, .table = ".symtab",
		      .own_table = ".dynsym", .dwarf = &one } },
	{ 0x400031, { .in_range = true, .range = 3, .range_start = 0x30, .range_end = 0x40, .table = "the DWARF",
		      .own_table = ".dynsym", MISSING } },
	{ 0x400001, { MISSING } },
};

static char *explained(const struct given *g, bool json)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache cache;
	struct symcache_names *names = symcache_names_create(&(struct symcache_names_options){ 0 });
	struct symcache_caches *caches = symcache_caches_create(NULL);
	const struct symcache_answerer d = { .names = names, .caches = caches, .shown = "prog" };
	struct mk_explained e = { .vaddr = g->vaddr, .why = g->why };
	const struct mk_request r = { .line = "" };
	struct mk_worker w;
	uint8_t *bytes;
	char *ret;

	t.num_aliases = 2;
	t.aliases[0] = (struct symcache_ext_alias){ 0x10, tiny_string(&t, "start") };
	t.aliases[1] = (struct symcache_ext_alias){ 0x10, tiny_string(&t, "begin") };
	bytes = tiny_open(&t, &cache);
	e.cache = &cache;
	assert_true(mk_worker_init(&w, &d, false));
	(json ? mk_json_explained : mk_plain_explained)(&w, &r, &e);
	mk_out_char(&w.out, '\0');
	ret = mk_out_take(&w.out);
	mk_worker_deinit(&w);
	symcache_caches_destroy(caches);
	symcache_names_destroy(names);
	free(bytes);
	return ret;
}

static void test_explained(void **state)
{
	static const char *const wants[][2] = {
		{ ALL_AS_TEXT, ALL_AS_JSON }, { NO_UNITS_AS_TEXT, NO_UNITS_AS_JSON }, { GAP_AS_TEXT, GAP_AS_JSON },
		{ NOTHING_AS_TEXT, NOTHING_AS_JSON },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++) {
		for (int json = 0; json < 2; json++) {
			char *got = explained(&given[i], json);

			assert_string_equal(got, wants[i][json]);
			free(got);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_explained) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
