/* Unit tests of the layout: what is written is read back with a reader that shares
 * nothing with the writer (plain_cache.h). */
#include "libsymcache/write/image/layout.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/image/plain_cache.h"
#include "libsymcache/write/flatten/scene.h"

/* A scene all the way to bytes. */
struct built {
	struct scene scene;
	struct sc_flat flat;
	struct sc_final final;
	struct sc_data_symbols data;
	uint8_t *bytes;
	size_t size;
	struct sc_layout_counts counts;
	struct plain_cache cache;
};

static void built_deinit(struct built *b)
{
	free(b->bytes);
	vec_deinit(&b->data.list);
	vec_deinit(&b->final.ranges);
	sc_flat_deinit(&b->flat);
	scene_deinit(&b->scene);
}

static uint8_t *lay_out(const struct sc_content *content, struct sc_layout_counts *counts)
{
	struct sc_layout *layout;
	struct sc_error err;
	uint8_t *bytes, *again;

	assert_int_equal(sc_layout_create(content, &layout, &err), 0);
	*counts = sc_layout_counts(layout);
	bytes = malloc(counts->size);
	again = malloc(counts->size);
	memset(bytes, 0x55, counts->size);
	memset(again, 0xaa, counts->size);
	sc_layout_write(layout, 1, bytes);
	sc_layout_write(layout, 3, again);
	assert_memory_equal(bytes, again, counts->size); /* each byte is written */
	free(again);
	sc_layout_destroy(layout);
	return bytes;
}

/* Makes the bytes of what is in b->scene, and opens them. */
static void finish(struct built *b, uint32_t version)
{
	static const struct sc_table_symbols no_symbols;
	struct sc_content content = {
		.symbols = &no_symbols,
		.version = version,
		.debug_uuid = "0123456789abcde",
		.arch = SYMCACHE_ARCH_AMD64,
		.tables = b->scene.tables,
		.ranges = &b->final,
		.data = &b->data,
		.image = { .load_base = b->scene.base, .machine = 62, .soname = SC_NONE },
	};

	assert_true(scene_flatten(&b->scene, &b->flat));
	assert_true(sc_assemble(&b->flat, &(struct sc_code_symbols){ b->scene.symbols.data, b->scene.symbols.len,
			b->scene.base }, b->scene.tables, 1, &b->final));
	assert_true(sc_table_string(b->scene.tables, "the writer", &content.image.writer));
	b->bytes = lay_out(&content, &b->counts);
	b->size = b->counts.size;
	assert_ptr_equal(plain_open(&b->cache, b->bytes, b->size), NULL);
	assert_int_equal(b->cache.version, version);
}

static char *show(const struct plain_cache *c, uint64_t rel_pc)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	plain_show(c, rel_pc, out);
	fclose(out);
	return text;
}

static void expect(const struct plain_cache *c, uint64_t rel_pc, const char *frames)
{
	char *got = show(c, rel_pc);

	assert_string_equal(got, frames);
	free(got);
}

static const char program[] =
	"base 100\n"
	"fn main 200-300\n"
	"  in outer 220-280 main.c:7:3\n"
	"    in inner 240-260 lib.h:99:12\n"
	"  in inner 290-2a0 main.c:8:70000\n"
	"fn cold 400-420\n"
	"seq 200 main.c:1, 240 lib.h:5:9, 260 main.c:6:65535, 290 lib.h:5:65536, 300 end\n"
	"sym 340-360 label\n";

static void check_program(const struct plain_cache *c)
{
	expect(c, 0, "");
	expect(c, 0xff, "");
	expect(c, 0x100, "main main.c:1");
	expect(c, 0x11f, "main main.c:1");
	expect(c, 0x120, "outer main.c:1 < main main.c:7:3");
	expect(c, 0x140, "inner lib.h:5:9 < outer lib.h:99:12 < main main.c:7:3");
	expect(c, 0x15f, "inner lib.h:5:9 < outer lib.h:99:12 < main main.c:7:3");
	expect(c, 0x160, "outer main.c:6:65535 < main main.c:7:3");
	expect(c, 0x180, "main main.c:6:65535");
	/* Columns above 65535 are unknown. */
	expect(c, 0x190, "inner lib.h:5 < main main.c:8");
	expect(c, 0x1a0, "main lib.h:5");
	expect(c, 0x1ff, "main lib.h:5");
	expect(c, 0x200, "");
	expect(c, 0x240, "label -:0");
	expect(c, 0x260, "");
	expect(c, 0x300, "cold -:0");
	expect(c, 0x320, "");
	expect(c, 0x100000100, "");
}

static void test_read_back(void **state)
{
	static const size_t file_size[] = { 12, 12, 24 };

	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct built b = {0};

		scene_init(&b.scene, program);
		finish(&b, version);
		check_program(&b.cache);
		assert_int_equal(b.cache.file_size, file_size[version - 7]);
		assert_int_equal(b.cache.files, 2);
		assert_int_equal(b.cache.functions, 5);
		assert_int_equal(b.cache.locations - b.cache.ranges, 3);
		assert_int_equal(b.cache.files, b.counts.files);
		assert_int_equal(b.cache.functions, b.counts.functions);
		assert_int_equal(b.cache.locations, b.counts.source_locations);
		assert_int_equal(b.cache.ranges, b.counts.ranges);
		assert_int_equal(b.cache.string_bytes, b.counts.string_bytes);
		assert_memory_equal(b.bytes + 8, "0123456789abcde", 16);
		assert_int_equal(plain_u32(&b.cache, 40), SYMCACHE_ARCH_AMD64);
		assert_int_equal(plain_u64(&b.cache, b.cache.at_image), 0x100);
		built_deinit(&b);
	}
}

/* Tables in another order, with much that is not used: the same bytes. */
static void test_order_of_tables(void **state)
{
	static const char *const names[] = {
		"unused", "label", "lib.h", "the writer", "inner", "main.c", "outer", "main",
	};
	struct built a = {0}, b = {0};
	struct sc_function fn = { 0, SC_NONE, 0, 1, SC_NONE, 5 };
	struct sc_location call = { SC_NONE, 1, 2, 0, SC_NONE };
	uint32_t number;

	(void)state;
	scene_init(&a.scene, program);
	finish(&a, 9);
	scene_init(&b.scene, program);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_true(sc_table_string(b.scene.tables, names[i], &fn.name));
		assert_true(sc_table_file(b.scene.tables, NULL, i % 2 ? names[0] : NULL, names[i],
					  &number));
		assert_true(sc_table_function(b.scene.tables, &fn, &number));
		assert_true(sc_table_call(b.scene.tables, &call, &call.inlined_into));
	}
	finish(&b, 9);
	assert_int_equal(a.size, b.size);
	assert_memory_equal(a.bytes, b.bytes, a.size);
	built_deinit(&a);
	built_deinit(&b);
}

/* Length prefixes of one, two and three bytes. */
static void test_string_lengths(void **state)
{
	static const size_t lengths[] = { 1, 127, 128, 16383, 16384, 70000 };

	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct built b = {0};
		struct dw_facts *u;
		char *names[6];

		scene_init(&b.scene, "fn a 200-201\nfn b 202-203\nfn c 204-205\n"
				     "fn d 206-207\nfn e 208-209\nfn f 20a-20b\n");
		u = &b.scene.units[0];
		for (size_t i = 0; i < 6; i++) {
			names[i] = calloc(1, lengths[i] + 1);
			memset(names[i], 'a' + (int)i, lengths[i]);
			u->scopes.data[i].name = names[i];
		}
		finish(&b, version);
		for (size_t i = 0; i < 6; i++) {
			uint32_t l = plain_lookup(&b.cache, 0x200 + 2 * i);
			struct plain_string s = plain_frame(&b.cache, l).function;

			assert_int_equal(s.len, lengths[i]);
			assert_memory_equal(s.ptr, names[i], s.len);
		}
		built_deinit(&b);
		for (size_t i = 0; i < 6; i++)
			free(names[i]);
	}
}

static void test_empty(void **state)
{
	(void)state;
	for (uint32_t version = 7; version <= 9; version++) {
		struct built b = {0};

		scene_init(&b.scene, "");
		finish(&b, version);
		assert_int_equal(b.cache.ranges, 0);
		assert_int_equal(b.cache.locations, 0);
		expect(&b.cache, 0, "");
		built_deinit(&b);
	}
}

/* Data symbols, and the files that only they and declarations name. */
static void test_data_and_declarations(void **state)
{
	struct built b = {0};
	struct sc_data_symbol one = { 0x1000, 8, 0, 0, 12 }, two = { 0x1000, 16, 0, 0, 0 };
	struct sc_tables *t;
	size_t at;

	(void)state;
	scene_init(&b.scene, "fn f 200-220 a.c:1\n");
	t = b.scene.tables;
	b.scene.units[0].scopes.data[0].decl_file = 0;
	b.scene.units[0].scopes.data[0].decl_line = 31;
	assert_true(sc_table_string(t, "counter", &one.name));
	assert_true(sc_table_file(t, "/c", NULL, "data.c", &one.decl_file));
	two.name = one.name;
	two.decl_file = SC_NONE;
	*vec_push(&b.data.list) = one;
	*vec_push(&b.data.list) = two;
	finish(&b, 9);
	assert_int_equal(b.cache.num_data, 2);
	at = b.cache.at_data;
	assert_int_equal(plain_u32(&b.cache, at), 0x1000);
	assert_int_equal(plain_u32(&b.cache, at + 4), 8);
	assert_int_equal(plain_string(&b.cache, plain_u32(&b.cache, at + 8)).len, 7);
	assert_int_equal(plain_u32(&b.cache, at + 12), 1);
	assert_int_equal(plain_u32(&b.cache, at + 16), 12);
	assert_int_equal(plain_u32(&b.cache, at + 32), PLAIN_NONE);
	assert_int_equal(plain_u32(&b.cache, b.cache.at_decls), 0);
	assert_int_equal(plain_u32(&b.cache, b.cache.at_decls + 4), 31);
	assert_int_equal(b.cache.files, 2);
	built_deinit(&b);
}

/* Call locations must come after those they are inlined into, at any depth. */
static void test_deep_chain(void **state)
{
	const uint32_t depth = 10000;
	struct built b = {0};
	struct dw_facts *u;
	uint32_t l, frames = 0;

	(void)state;
	scene_init(&b.scene, "fn f 200-300\n");
	u = &b.scene.units[0];
	for (uint32_t i = 1; i <= depth; i++) {
		struct dw_scope *s = vec_push(&u->scopes);
		*s = u->scopes.data[0];
		s->parent = i - 1;
		s->call_line = i;
	}
	finish(&b, 9);
	assert_int_equal(b.cache.locations - b.cache.ranges, depth);
	for (l = plain_lookup(&b.cache, 0x200); l != PLAIN_NONE; frames++)
		l = plain_frame(&b.cache, l).inlined_into;
	assert_int_equal(frames, depth + 1);
	built_deinit(&b);
}

/* More than 4 GiB of strings: an error, not a file that lies. */
static void test_too_many_strings(void **state)
{
	struct sc_tables *t = calloc(1, sizeof(*t));
	struct sc_final final = {0};
	struct sc_data_symbols data = {0};
	struct sc_table_symbols symbols = {0};
	struct sc_content content = { .version = 9, .tables = t, .ranges = &final, .data = &data,
				      .symbols = &symbols,
				      .image = { .soname = SC_NONE, .writer = SC_NONE } };
	struct sc_layout *layout;
	struct sc_error err;

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		*vec_push(&t->strings) = (struct sc_string){ "x", 0x60000000 };
		*vec_push(&data.list) = (struct sc_data_symbol){ i, 1, i, SC_NONE, 0 };
	}
	assert_int_equal(sc_layout_create(&content, &layout, &err), SC_ELIMIT);
	assert_null(layout);
	assert_string_not_equal(err.msg, "");
	data.list.len = 2;
	assert_int_equal(sc_layout_create(&content, &layout, &err), 0);
	assert_true(sc_layout_counts(layout).size > 0xc0000000u);
	sc_layout_destroy(layout);
	t->strings.data[1].len = 0x9ffffff4; /* with both prefixes, of five bytes: UINT32_MAX − 1 */
	t->string_bytes = UINT32_MAX;
	assert_int_equal(sc_layout_create(&content, &layout, &err), 0);
	assert_int_equal(sc_layout_counts(layout).string_bytes, UINT32_MAX - 1);
	sc_layout_destroy(layout);
	t->strings.data[1].len++;
	assert_int_equal(sc_layout_create(&content, &layout, &err), SC_ELIMIT);
	t->strings.data[1].len--;
	t->string_bytes++; /* some were refused */
	assert_int_equal(sc_layout_create(&content, &layout, &err), SC_ELIMIT);
	vec_deinit(&data.list);
	sc_tables_deinit(t);
	free(t);
}

/* More than one thread writes at once, of each kind: the last slice is full, or almost empty. */
static void test_many(void **state)
{
	enum { STRINGS = 65536, CALLS = 65537, RANGES = 131072 };
	static char names[STRINGS][8];
	struct sc_tables *t = calloc(1, sizeof(*t));
	struct sc_final final = { 0 };
	struct sc_data_symbols data = { 0 };
	struct sc_table_symbols symbols = { 0 };
	struct sc_content content = { .version = 9, .tables = t, .ranges = &final, .data = &data,
				      .symbols = &symbols,
				      .image = { .soname = SC_NONE, .writer = SC_NONE } };
	struct sc_layout_counts counts;
	struct plain_cache cache;
	uint8_t *bytes;

	(void)state;
	for (uint32_t i = 0; i < STRINGS; i++) {
		snprintf(names[i], sizeof(names[i]), "f%x", i);
		*vec_push(&t->strings) = (struct sc_string){ names[i], (uint32_t)strlen(names[i]) };
		*vec_push(&t->functions) = (struct sc_function){ i, SC_NONE, SC_NONE, 0, SC_NONE, 0 };
	}
	for (uint32_t i = 0; i < CALLS; i++)
		*vec_push(&t->calls) = (struct sc_location){ SC_NONE, i, 0, i % STRINGS, SC_NONE, 0 };
	for (uint32_t i = 0; i < RANGES; i++)
		*vec_push(&final.ranges) = (struct sc_final_range){ 2 * i,
			{ SC_NONE, i + 1, 0, i * 7 % STRINGS, i % CALLS, 0 } };
	bytes = lay_out(&content, &counts);
	assert_null(plain_open(&cache, bytes, counts.size));
	for (uint32_t i = 0; i < RANGES; i++) {
		const struct plain_frame f = plain_frame(&cache, plain_lookup(&cache, 2 * i)),
					 outer = plain_frame(&cache, f.inlined_into);

		assert_int_equal(f.line, i + 1);
		assert_memory_equal(f.function.ptr, names[i * 7 % STRINGS], f.function.len);
		assert_int_equal(outer.line, i % CALLS);
		assert_memory_equal(outer.function.ptr, names[i % CALLS % STRINGS], outer.function.len);
	}
	free(bytes);
	vec_deinit(&final.ranges);
	sc_tables_deinit(t);
	free(t);
}

/* Random scenes: the file says at each address what the ranges say. */
static void test_random(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 300; run++) {
		uint64_t seed = run;
		struct built b = {0};
		char text[1024] = "";

		for (uint32_t i = 0, n = testing_below(&seed, 8); i < n; i++) {
			uint32_t start = 0x100 + testing_below(&seed, 200);
			size_t len = strlen(text);

			snprintf(text + len, sizeof(text) - len, "%s %c %x-%x a:%u\n",
				 i && testing_below(&seed, 2) ? "  in" : "fn",
				 'a' + (int)testing_below(&seed, 5), start,
				 start + 1 + testing_below(&seed, 50), testing_below(&seed, 3));
		}
		scene_init(&b.scene, text);
		finish(&b, 7 + run % 3);
		for (size_t i = 0; i < b.final.ranges.len; i++) {
			const struct sc_final_range *r = &b.final.ranges.data[i];
			char *want;
			size_t len;
			FILE *out = open_memstream(&want, &len);

			scene_location(&b.scene, &r->loc, out);
			fclose(out);
			expect(&b.cache, r->start, strcmp(want, ".") ? want : "");
			free(want);
		}
		built_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_back),
		cmocka_unit_test(test_order_of_tables),
		cmocka_unit_test(test_string_lengths),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_data_and_declarations),
		cmocka_unit_test(test_deep_chain),
		cmocka_unit_test(test_too_many_strings),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
