/*
 * What contents at random become, recorded: which questions transformations are asked, what is
 * escaped, and what the cache says, of each table a cache can have. Tables, symbols and variables are
 * made here, so that each may have what real files seldom have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <xxhash.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/read/cache_text_test.h"
#include "libsymcache/write/image/encode.h"
#include "libsymcache/write/image/transform.h"

enum { CONTENTS = 160, WHOLE = 12, BASE = 0x1000, STEP = 0x40, MOST = 40 };

static const uint64_t LAST = BASE + 0xffffffffull; /* that a cache can have */

struct content {
	uint64_t seed;
	FILE *to;
	char last[64]; /* what a transformation returned */
	struct sc_tables tables;
	struct sc_final ranges;
	struct dw_facts unit;
	struct sc_elf_symbols symbols;
	struct sc_elf image;
	struct sc_data data;
	struct sc_flat flat;
	struct sc_starts starts;
	struct sc_locals locals;
	struct sc_rows rows;
	struct symcache_unwind unwind;
	struct sc_elf_segment segments[3];
	size_t num_segments;
};

static uint32_t below(struct content *c, uint32_t n)
{
	return testing_below(&c->seed, n);
}

/* One of these, or NULL, once in `absent` times. */
static const char *name(struct content *c, unsigned absent)
{
	static const char a_130[] = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
				    "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
	static const char *const names[] = {
		"main", "f", "g", "f.cold", "_ZN1a1bEv", "a b", "Jos\xe9", "h", "ff", "f\xffg", a_130,
		"_start", "counter", "table", "e", "",
	};

	return absent && below(c, absent) == 0 ? NULL : names[below(c, 16)];
}

static uint32_t string(struct content *c, unsigned absent)
{
	uint32_t ret;

	assert_true(sc_table_string(&c->tables, name(c, absent), &ret));
	return ret;
}

/* As those of local variables and a SONAME are numbered. */
static uint32_t encoded(struct content *c, unsigned absent)
{
	uint32_t ret;

	assert_true(sc_encode_string(&c->tables, name(c, absent), &ret));
	return ret;
}

static struct dw_file path(struct content *c)
{
	static const char *const dirs[] = { NULL, "/src", "lib", "../x", "inc\xff", "/usr/include" };
	static const char *const files[] = { "a.c", "b.h", "/abs/c.c", "\xe9.c", "d.inc" };

	return (struct dw_file){ dirs[below(c, 3)], dirs[below(c, 6)], files[below(c, 5)], NULL };
}

static uint32_t file(struct content *c)
{
	const struct dw_file f = path(c);
	uint32_t ret;

	if (below(c, 6) == 0)
		return SC_NONE;
	assert_true(sc_table_file(&c->tables, f.comp_dir, f.dir, f.name, &ret));
	return ret;
}

static uint32_t discriminator(struct content *c)
{
	static const uint32_t some[] = { 0, 0, 0, 1, 2, 3, 254, 255, 256, 70000 };

	return some[below(c, 10)];
}

/* An address at which mostly something begins. */
static uint32_t address(struct content *c)
{
	return STEP * below(c, MOST) + (below(c, 5) == 0);
}

/* ---- functions, calls, ranges ------------------------------------------------------------------ */

static void make_functions(struct content *c)
{
	for (uint32_t i = 0, n = 1 + below(c, 10), number; i < n; i++) {
		const struct sc_function f = {
			.name = string(c, 9), .qualified = below(c, 3) ? SC_NONE : string(c, 0),
			.entry = SC_NONE, .lang = below(c, 5),
			.decl_file = file(c), .decl_line = below(c, 90),
		};

		assert_true(sc_table_function(&c->tables, &f, &number));
	}
}

static struct sc_location location(struct content *c, uint32_t calls)
{
	static const uint32_t columns[] = { 0, 1, 9, 65535, 65536, 70000 };

	return (struct sc_location){
		.file = file(c), .line = below(c, 9), .column = columns[below(c, 6)],
		.function = below(c, (uint32_t)c->tables.functions.len),
		.inlined_into = calls && below(c, 3) ? below(c, calls) : SC_NONE,
		.discriminator = discriminator(c),
	};
}

/* Calls, each inlined into one before it, or into none; and where the inlined functions begin. */
static void make_calls(struct content *c)
{
	for (uint32_t i = 0, n = below(c, 12); i < n; i++) {
		*vec_push(&c->tables.calls) = location(c, i);
		for (uint32_t k = 0, copies = below(c, 3) ? 1 : below(c, 4), last = 1; k < copies; k++) {
			const uint32_t start = below(c, 5) ? STEP * (i + k) : SC_NONE;

			if (k && start == last)
				continue;
			*vec_push(&c->flat.inlined) = (struct sc_inlined){ i, STEP * (i + k), start };
			last = start;
		}
	}
	assert_true(sc_starts_make(&c->flat, c->tables.calls.len, &c->starts));
}

static void make_ranges(struct content *c)
{
	static const struct sc_location nothing = { SC_NONE, SC_NONE, SC_NONE, SC_NONE, SC_NONE, 0 };
	struct sc_location l = nothing;

	for (uint32_t at = STEP * below(c, 3), n = below(c, 30); n; n--, at += below(c, 8) ? STEP * (1 + below(c, 2)) : 8) {
		if (below(c, 3) == 0)
			l = below(c, 6) ? location(c, (uint32_t)c->tables.calls.len) : nothing;
		else if (l.function != SC_NONE)
			l.line = below(c, 9);
		*vec_push(&c->ranges.ranges) = (struct sc_final_range){ at, l };
		for (uint32_t k = 1; l.function != SC_NONE && below(c, 6) == 0 && k < 8; k += 3)
			assert_true(sc_final_discriminate(&c->ranges, at + k, discriminator(c)));
	}
}

/* Functions mostly begin where a range does. */
static void make_entries(struct content *c)
{
	for (size_t i = 0, n = c->ranges.ranges.len; i < c->tables.functions.len; i++)
		if (below(c, 3))
			c->tables.functions.data[i].entry =
				n && below(c, 6) ? c->ranges.ranges.data[below(c, (uint32_t)n)].start : address(c);
}

/* ---- symbols and variables ---------------------------------------------------------------------- */

static struct sc_elf_symbol symbol(struct content *c, uint64_t vaddr)
{
	static const uint64_t sizes[] = { 0, 1, 8, STEP, 0x1ffffffff };

	return (struct sc_elf_symbol){ .name = name(c, 0), .file = below(c, 3) ? NULL : name(c, 0),
				       .vaddr = vaddr, .size = sizes[below(c, 5)] };
}

static void make_symbols(struct content *c)
{
	const bool low = below(c, 4) == 0, high = below(c, 4) == 0;

	c->image.load_base = BASE;
	*vec_push(&c->image.alloc.list) = (struct sc_elf_range){ BASE, BASE + STEP * 20 };
	*vec_push(&c->image.alloc.list) = (struct sc_elf_range){ BASE + STEP * 24, BASE + STEP * MOST };
	for (uint64_t i = low ? 0 : BASE / STEP; i < BASE / STEP + MOST; i += low ? 1 + i / 2 : 1) {
		const struct sc_elf_symbol s = symbol(c, STEP * i);

		if (below(c, 3) == 0)
			*vec_push(&c->symbols.all) = s;
		if (below(c, 3) == 0)
			*vec_push(&c->symbols.data) = below(c, 4) ? s : symbol(c, STEP * i);
		for (uint32_t k = below(c, 4) ? 0 : below(c, 5); k; k--)
			*vec_push(&c->symbols.aliases) = symbol(c, STEP * i);
	}
	for (uint64_t vaddr = LAST; high && vaddr <= LAST + 1; vaddr++) {
		*vec_push(&c->symbols.all) = symbol(c, vaddr);
		*vec_push(&c->symbols.data) = symbol(c, vaddr);
		*vec_push(&c->symbols.aliases) = symbol(c, vaddr);
	}
}

/* Those of two units. */
static void make_variables(struct content *c)
{
	for (uint32_t unit = 2; unit--;) {
		dw_facts_clear(&c->unit);
		for (uint32_t i = below(c, 3); i; i--)
			*vec_push(&c->unit.files) = path(c);
		for (uint32_t i = below(c, 9); i; i--)
			*vec_push(&c->unit.variables) = (struct dw_variable){
				name(c, 9), below(c, 9) ? BASE + address(c) : 0, below(c, 9),
				below(c, 3), below(c, 50) };
		assert_true(sc_data_add_unit(&c->data, &c->unit, unit, &c->tables));
	}
	assert_true(sc_data_finish(&c->data, &c->symbols, &c->image, &c->tables));
}

/* ---- segments, local variables, unwind information -------------------------------------------------- */

static void make_segments(struct content *c)
{
	c->num_segments = below(c, 4);
	for (size_t i = 0; i < c->num_segments; i++)
		c->segments[i] = (struct sc_elf_segment){ 0x1000 * i, BASE + 0x1000 * i, 1 + below(c, 0x1000),
							  below(c, 2) };
}

static void make_locals(struct content *c)
{
	for (uint32_t i = 0, n = below(c, 6); i < n; i++) {
		*vec_push(&c->locals.list) = (struct symcache_ext_local){
			.function = encoded(c, 9), .name = encoded(c, 0), .file_idx = file(c),
			.line = below(c, 50), .offset = (int64_t)below(c, 99) - 50, .size = below(c, 99),
			.tag = below(c, 9), .flags = below(c, 8) };
		*vec_push(&c->locals.order) = below(c, i + 1);
	}
	for (uint32_t i = 0, n = (uint32_t)c->locals.order.len; i < n; i++)
		*vec_push(&c->locals.ranges) = (struct symcache_ext_local_range){ STEP * i, i, 1 + below(c, n - i) };
}

static void make_rows(struct content *c)
{
	struct sc_rows_maker m = { .out = &c->rows };

	c->rows.facts = (struct symcache_ext_unwind){ .stack_pointer = 7, .frame_pointer = 6, .link = 255, .word = 8,
						      .sources = SYMCACHE_UNWIND_EH_FRAME, .preserved = 0xf008 };
	for (uint32_t i = 0, n = below(c, 12); i < n; i++) {
		const struct symcache_ext_row row = { SYMCACHE_CFA_REGISTER, 7, 0, 1, 8 * (int32_t)below(c, 4), 0 };
		const struct symcache_ext_rule rule = { 6, SYMCACHE_RULE_AT_CFA, 0, -8 * (int32_t)below(c, 4) };

		assert_true(sc_rows_add(&m, STEP * i, STEP * i + 1 + below(c, STEP), &row, &rule));
	}
	assert_true(sc_rows_finish(&m));
	sc_rows_maker_deinit(&m);
	c->unwind = sc_rows_view(&c->rows);
}

/* ---- transformations ------------------------------------------------------------------------------ */

static const char *other_name(void *ctx, const char *name)
{
	struct content *c = ctx;

	fprintf(c->to, "name %s\n", name);
	if (*name == '_')
		return name;
	snprintf(c->last, sizeof(c->last), "%s", *name == 'e' ? "" : *name == 'f' ? "h" : "other_");
	return c->last;
}

static void put_part(FILE *to, const char *part)
{
	fprintf(to, " %s", part ? part : "-");
}

static bool other_place(void *ctx, struct symcache_place *place)
{
	struct content *c = ctx;

	fprintf(c->to, "place");
	put_part(c->to, place->comp_dir);
	put_part(c->to, place->dir);
	put_part(c->to, place->name);
	fprintf(c->to, ":%" PRIu32 "\n", place->line);
	if (place->line % 3 == 2)
		return false;
	if (place->comp_dir)
		place->comp_dir = "/new";
	else if (place->line % 3 == 1)
		place->dir = "moved";
	else if (!strcmp(place->name, "d.inc"))
		place->name = "";
	else if (*place->name == 'g')
		place->dir = "d";
	else
		place->name = "one.c";
	place->no_column = place->line > 5;
	place->line /= 2;
	return true;
}

/* What is changed by none, by one, or by one and another one behind it. */
static void transform(struct content *c)
{
	const struct symcache_transform list[] = {
		{ other_name, below(c, 2) ? other_place : NULL, c },
		{ below(c, 2) ? other_name : NULL, other_place, c },
	};

	assert_true(sc_transform(list, below(c, 3), &c->tables, &c->ranges, &c->data, &c->locals));
	assert_true(sc_encode(&c->tables, &c->ranges, &c->data, &c->locals));
}

/* ---- the cache ------------------------------------------------------------------------------------ */

static void put_made(struct content *c)
{
	const bool with_starts = below(c, 5), with_locals = below(c, 2), with_aliases = below(c, 5);
	const bool with_unwind = c->unwind.facts && below(c, 4);
	struct sc_content made = {
		.version = 7 + below(c, 3), .debug_uuid = "a debug uuid", .arch = SYMCACHE_ARCH_AMD64,
		.tables = &c->tables, .ranges = &c->ranges, .data = &c->data.symbols, .symbols = &c->data.table,
		.aliases = with_aliases ? &c->data.aliases : NULL, .segments = c->segments,
		.num_segments = c->num_segments, .starts = with_starts ? &c->starts : NULL,
		.locals = with_locals ? &c->locals : NULL, .unwind = with_unwind ? &c->unwind : NULL,
		.image = { .load_base = BASE, .machine = 62, .elf_class = 64, .soname = encoded(c, 2), .writer = encoded(c, 2) },
	};
	struct sc_layout *layout;
	struct symcache cache;
	struct sc_error err;
	uint8_t *bytes;
	size_t size;

	assert_int_equal(sc_layout_create(&made, &layout, &err), 0);
	size = sc_layout_counts(layout).size;
	bytes = malloc(size);
	memset(bytes, 0x55, size);
	assert_true(sc_layout_write(layout, 1, bytes) == XXH3_64bits(bytes, size));
	sc_layout_destroy(layout);
	put_digest(c->to, bytes, size);
	fprintf(c->to, ", %" PRIu64 " too far\n", c->data.too_far);
	assert_int_equal(symcache_open(&cache, bytes, size, &err), 0);
	put_cache(c->to, &cache);
	free(bytes);
}

static void deinit(struct content *c)
{
	vec_deinit(&c->symbols.all);
	vec_deinit(&c->symbols.data);
	vec_deinit(&c->symbols.aliases);
	vec_deinit(&c->image.alloc.list);
	dw_facts_deinit(&c->unit);
	sc_flat_deinit(&c->flat);
	sc_starts_deinit(&c->starts);
	sc_final_deinit(&c->ranges);
	sc_data_deinit(&c->data);
	sc_locals_deinit(&c->locals);
	sc_rows_deinit(&c->rows);
	sc_tables_deinit(&c->tables);
}

/* The content made from the eight bytes of a seed. */
static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	struct content *c = calloc(1, sizeof(*c));

	assert_int_equal(size, sizeof(c->seed));
	memcpy(&c->seed, bytes, size);
	c->seed = (c->seed + 1) * 0x9e3779b97f4a7c15;
	c->to = to;
	make_functions(c);
	make_calls(c);
	make_ranges(c);
	make_entries(c);
	make_symbols(c);
	make_variables(c);
	make_segments(c);
	make_locals(c);
	make_rows(c);
	transform(c);
	put_made(c);
	deinit(c);
	free(c);
}

static void test_contents(void **state)
{
	(void)state;
	expect_made("content", "content", CONTENTS, WHOLE, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
