/* What is shown of a cache: its facts and each of its lists, as text and as JSON. The cache is
 * that of tiny_test.h, which was not made by our writer. */
#include <elf.h>

#include "libsymcache/read/tiny_test.h"
#include "libsymcache/report/report.h"

/* Shows the cache. */
static char *shown(struct tiny *t, const struct markup_cache_options *options)
{
	struct symcache cache;
	struct mk_out out = { 0 };
	uint8_t *bytes = tiny_open(t, &cache);

	assert_int_equal(markup_cache_report(&cache, options, &out, NULL), 0);
	free(bytes);
	return mk_out_take(&out);
}

static void expect(struct tiny *t, const struct markup_cache_options *options, const char *want)
{
	char *text = shown(t, options);

	assert_string_equal(text, want);
	free(text);
}

/* Is that a part of it? */
static void expect_part(struct tiny *t, const struct markup_cache_options *options, const char *want)
{
	char *text = shown(t, options);

	if (!strstr(text, want))
		fail_msg("not in it: %s\n%s", want, text);
	free(text);
}

static struct tiny example(void)
{
	struct tiny t = tiny_example_ext(9);
	const uint32_t table = t.data[0].name, field = t.data[1].name;

	t.num_qualified = 1;
	t.qualified[0] = (struct symcache_ext_qualified){ 2, tiny_string(&t, "ns::leaf\x1b") };
	t.num_local_ranges = 2;
	t.local_ranges[0] = (struct symcache_ext_local_range){ 0x10, 0, 2 };
	t.local_ranges[1] = (struct symcache_ext_local_range){ 0x30, 0, 0 };
	t.num_local_order = t.num_locals = 2;
	t.local_order[1] = 1;
	t.locals[0] = (struct symcache_ext_local){ table, field, SYMCACHE_NONE, 0, -8, 0, 0, SYMCACHE_LOCAL_OFFSET };
	t.locals[1] = (struct symcache_ext_local){ table, table, 1, 7, 0, 0, 0, 0 };
	return t;
}

static void test_lists(void **state)
{
	static const struct {
		unsigned lists;
		const char *want;
	} cases[] = {
		{ MARKUP_CACHE_FILES,
		  "0 /src/main.c\n"
		  "1 /inc/leaf.h\n" },
		{ MARKUP_CACHE_FUNCTIONS,
		  "0x00000010 C      main at /src/main.c:9\n"
		  "inlined    C++    _ZN1a6middleEv at /inc/leaf.h:6\n"
		  "inlined    C++    ns::leaf\\x1b at /inc/leaf.h:2\n"
		  "0x00000040 symbol naked\n" },
		{ MARKUP_CACHE_RANGES,
		  "0x00000010 main at /src/main.c:10:1\n"
		  "0x00000020 leaf at /inc/leaf.h:3:9 in _ZN1a6middleEv at /inc/leaf.h:7:5 in main at /src/main.c:11:4\n"
		  "0x00000028 main at /src/main.c:12:2\n"
		  "0x00000030 -\n"
		  "0x00000040 naked\n" },
		{ MARKUP_CACHE_DATA,
		  "0x00001000      256 table at /src/main.c:20\n"
		  "0x00001010        4 field at /inc/leaf.h:21\n"
		  "0x00002000        0 field\n"
		  "0x00002100        8  at /src/main.c:0\n" },
		{ MARKUP_CACHE_LOCALS,
		  "0x00000010 table:field-8, table:table\n"
		  "0x00000030 -\n" },
		{ MARKUP_CACHE_UNWIND, "" },
		{ MARKUP_CACHE_LOCALS | MARKUP_CACHE_FILES,
		  "0 /src/main.c\n"
		  "1 /inc/leaf.h\n"
		  "0x00000010 table:field-8, table:table\n"
		  "0x00000030 -\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tiny t = example();

		expect(&t, &(struct markup_cache_options){ .lists = cases[i].lists }, cases[i].want);
	}
}

/* Names as they are in the ELF file, if that is asked for. */
static void test_raw(void **state)
{
	struct tiny t = example();

	(void)state;
	expect_part(&t, &(struct markup_cache_options){ .lists = MARKUP_CACHE_FUNCTIONS, .raw = true },
		    "C++    ns::leaf\x1b at /inc/leaf.h:2\n");
}

static void test_json_lists(void **state)
{
	static const struct {
		unsigned lists;
		const char *want;
	} cases[] = {
		{ MARKUP_CACHE_FILES, "\"files\": [\n    \"/src/main.c\",\n    \"/inc/leaf.h\"\n  ]" },
		{ MARKUP_CACHE_FUNCTIONS, "{\n      \"name\": \"leaf\",\n      \"qualified\": \"ns::leaf\\u001B\",\n"
					  "      \"language\": \"C++\",\n      \"file\": \"/inc/leaf.h\",\n" },
		{ MARKUP_CACHE_FUNCTIONS, "\"language\": \"symbol\",\n      \"entry_pc\": \"0x40\",\n"
					  "      \"file\": \"\",\n      \"line\": 0" },
		{ MARKUP_CACHE_RANGES, "{\n      \"start\": \"0x28\",\n      \"frames\": [\n        {\n"
				       "          \"function\": \"main\",\n          \"file\": \"/src/main.c\",\n"
				       "          \"line\": 12,\n          \"column\": 2\n        }\n      ]\n    }" },
		{ MARKUP_CACHE_RANGES, "\"start\": \"0x30\",\n      \"frames\": [\n\n      ]" },
		{ MARKUP_CACHE_DATA, "\"name\": \"field\",\n      \"address\": \"0x1010\",\n      \"size\": 4,\n"
				     "      \"file\": \"/inc/leaf.h\",\n      \"line\": 21" },
		{ MARKUP_CACHE_LOCALS, "\"name\": \"field\",\n          \"offset\": -8\n        },\n        {\n"
				       "          \"function\": \"table\",\n          \"name\": \"table\"\n        }" },
		{ MARKUP_CACHE_UNWIND, "\"unwind\": [\n\n  ]" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tiny t = example();

		expect_part(&t, &(struct markup_cache_options){ .json = true, .lists = cases[i].lists }, cases[i].want);
	}
}

/* ---- facts --------------------------------------------------------------------------------- */

static void as_it_is(struct tiny *t) { t->h.debug_uuid[0] = 0x5f; }
static void with_age(struct tiny *t) { t->h.debug_age = 0x2a; }
static void without_image(struct tiny *t) { t->ext = false; }
static void of_mips(struct tiny *t) { t->h.arch = SYMCACHE_ARCH_MIPS64; t->image.big_endian = 1; }
static void of_no_machine(struct tiny *t) { t->h.arch = 77; }
static void broken(struct tiny *t) { t->image.broken_units = 3; }
static void derived(struct tiny *t) { t->image.build_id_len = 2; t->image.build_id[1] = 0xcd; t->image.build_id_derived = 1; }
static void of_longest_id(struct tiny *t) { t->image.build_id_len = SYMCACHE_BUILD_ID_MAX; }
static void of_longer_id(struct tiny *t) { t->image.build_id_len = SYMCACHE_BUILD_ID_MAX + 1; }
static void of_symbols(struct tiny *t) { t->image.sources = SYMCACHE_FROM_SYMTAB; }
static void written(struct tiny *t) { t->image.writer = tiny_string(t, "symcache\t9"); }

static void test_facts(void **state)
{
	static const struct {
		void (*change)(struct tiny *t);
		const char *text, *json;
	} cases[] = {
		{ as_it_is, "debug ID         5f000000-0000-0000-0000-000000000000\n",
		  "\"debug_id\": \"5f000000-0000-0000-0000-000000000000\"" },
		{ with_age, "-000000000000-2a\n", "-000000000000-2a\"" },
		{ as_it_is, "format           SymCache 9 with extensions\n", "\"format_version\": 9" },
		{ without_image, "format           SymCache 9\n", "\"format_version\": 9" },
		{ as_it_is, "architecture     amd64\n", "\"architecture\": \"amd64\"" },
		{ of_mips, "architecture     mips64\n", "\"architecture\": \"mips64\"" },
		{ of_no_machine, "architecture     unknown\n", "\"architecture\": \"unknown\"" },
		{ of_mips, "image            64-bit big-endian, machine 62, type 3\n", "\"big_endian\": true" },
		{ as_it_is, "image            64-bit little-endian, machine 62, type 3\n", "\"elf_class\": 64" },
		{ as_it_is, "soname           libtiny.so.1\n", "\"soname\": \"libtiny.so.1\"" },
		{ as_it_is, "load base        0x400000\n", "\"load_base\": \"0x400000\"" },
		{ as_it_is, "image size       0x3000\n", "\"image_size\": \"0x3000\"" },
		{ broken, "broken units     3\n", "\"elf_type\": 3" },
		{ derived, "build ID         00cd (derived)\n", "\"build_id\": \"00cd\",\n  \"build_id_derived\": true" },
		{ of_longest_id, "build ID         0000000000000000000000000000000000000000000000000000000000000000", "\"build_id\": \"00" },
		{ of_longer_id, "\narchitecture     amd64\nfiles  ", "" }, /* no image */
		{ as_it_is, "symbols          dwarf\n", "\"symbols\": [\n    \"dwarf\"\n  ]" },
		{ of_symbols, "symbols          symtab\n", "\"symbols\": [\n    \"symtab\"\n  ]" },
		{ written, "writer           symcache\\x099\n", "\"machine\": 62" },
		{ as_it_is, "\nfiles            2\nfunctions        4\nranges           5\nlocations        7\n",
		  "\"num_files\": 2,\n  \"num_functions\": 4,\n  \"num_ranges\": 5,\n  \"num_locations\": 7" },
		{ as_it_is, "data symbols     4\n", "\"num_data_symbols\": 4" },
		{ as_it_is, "local variables  2 in 2 ranges\n", "\"num_locals\": 2" },
		{ as_it_is, "unwind ranges    none: they are in the program itself; index it, too\n", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tiny t = example();

		cases[i].change(&t);
		expect_part(&t, &(struct markup_cache_options){ 0 }, cases[i].text);
		expect_part(&t, &(struct markup_cache_options){ .json = true }, cases[i].json);
	}
}

/* ---- entries -------------------------------------------------------------------------------- */

static void test_entry(void **state)
{
	const struct symstore_entry plain = {
		.build_id = { 0xab, 0xcd }, .build_id_len = 2, .source_path = "/bin/a\x1b", .debug_path = "",
		.source_size = 1234, .cache_hash = 0xfeed, .time = 86400, .tool_version = "0.9", .tags = "",
		.names = "", .transforms = "", .sources = SYMCACHE_FROM_DWARF,
	};
	struct symstore_entry full = plain;
	static const struct {
		bool full;
		const char *text, *json;
	} cases[] = {
		{ false, "build ID         abcd\nsource           /bin/a\\x1b\nsource size      1234\n",
		  "\"build_id\": \"abcd\"" },
		{ true, "build ID         abcd (derived: the file has none)\n", "\"build_id_derived\": true" },
		{ true, "debug file       /debug/a\n", "\"/debug/a\"" },
		{ false, "indexed          1970-01-02T00:00:00Z by 0.9\ncache XXH3-64    000000000000feed\ndebug ID",
		  "\"1970-01-02T00:00:00Z\"" },
		{ true, "last used        1970-01-03\n", "\"last_used\": \"1970-01-03T00:00:00Z\"" },
		{ true, "broken units     5\nname             a\nname             b\n", "[\n    \"a\",\n    \"b\"\n  ]" },
		{ true, "tag              k=v\n", "\"k=v\"" },
		{ true, "changed by       map /a /b\n", "\"map /a /b\"" },
		{ true, "packed size      99\n", "\"packed_size\": 99" },
	};

	(void)state;
	full.build_id_derived = true;
	full.debug_path = "/debug/a";
	full.bad_units = 5;
	full.names = "a\nb";
	full.tags = "k=v";
	full.transforms = "map /a /b";
	full.packed_size = 99;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct markup_cache_options o = { .entry = cases[i].full ? &full : &plain,
						  .used = cases[i].full ? 2 * 86400 : 0 };
		struct tiny t = example();

		expect_part(&t, &o, cases[i].text);
		o.json = true;
		expect_part(&t, &o, cases[i].json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists), cmocka_unit_test(test_raw), cmocka_unit_test(test_json_lists),
		cmocka_unit_test(test_facts), cmocka_unit_test(test_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
