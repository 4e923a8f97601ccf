/* Unit tests of assembling units and symbols: each case as a scene (scene.h) and the
 * ranges of the image; then random pieces against the definition. */
#include "libsymcache/write/flatten/assemble.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/flatten/scene.h"

struct assemble_case {
	const char *name, *in, *out;
};

/* Expected are the ranges, "START FRAMES", and "." where nothing is. */
static const struct assemble_case cases[] = {
	{ "nothing", "", "" },
	{ "the end of a function is marked, and so are gaps",
	  "fn f 100-120\n"
	  "fn g 140-160\n",
	  "100 f -:0\n"
	  "120 .\n"
	  "140 g -:0\n"
	  "160 .\n" },
	{ "functions that touch have no gap",
	  "fn f 100-120\n"
	  "fn g 120-160\n",
	  "100 f -:0\n"
	  "120 g -:0\n"
	  "160 .\n" },
	{ "addresses are relative to the base",
	  "base 80\n"
	  "fn f 100-120\n",
	  "80 f -:0\n"
	  "a0 .\n" },
	{ "one function in two units: the first unit counts",
	  "fn f 100-200\n"
	  "seq 100 a:1, 200 end\n"
	  "unit\n"
	  "fn f 100-200\n"
	  "seq 100 b:1, 200 end\n",
	  "100 f a:1\n"
	  "200 .\n" },
	{ "units that overlap: containment decides",
	  "fn f 100-200\n"
	  "seq 100 a:1, 180 a:2, 200 end\n"
	  "unit\n"
	  "fn g 140-160\n"
	  "seq 140 b:1, 150 b:2, 160 end\n",
	  "100 f a:1\n"
	  "140 g b:1\n"
	  "150 g b:2\n"
	  "160 f a:1\n"
	  "180 f a:2\n"
	  "200 .\n" },
	{ "a stray is replaced by a function of another unit",
	  "fn f 100-120\n"
	  "  in h 110-180 a:1\n"
	  "unit\n"
	  "fn g 140-160\n",
	  "100 f -:0\n"
	  "110 h -:0 < f a:1\n"
	  "140 g -:0\n"
	  "160 h -:0 < f a:1\n"
	  "180 .\n" },
	{ "equal neighbours of two units are one range",
	  "seq 100 a:1, 110 end\n"
	  "unit\n"
	  "seq 110 a:1, 120 end\n"
	  "sym 100-120 s\n",
	  "100 s a:1\n"
	  "120 .\n" },
	{ "two functions stay two, whatever their names",
	  "fn f 100-120\n"
	  "seq 100 a:1, 120 end\n"
	  "unit\n"
	  "fn f 120-140\n"
	  "seq 120 a:1, 140 end\n",
	  "100 f a:1\n"
	  "120 f a:1\n"
	  "140 .\n" },
	{ "symbols fill gaps",
	  "fn f 120-140\n"
	  "seq 120 a:1, 140 end\n"
	  "sym 100-200 s\n"
	  "sym 120-140 f\n"
	  "sym 210-220 t\n",
	  "100 s -:0\n"
	  "120 f a:1\n"
	  "140 s -:0\n"
	  "200 .\n"
	  "210 t -:0\n"
	  "220 .\n" },
	{ "nested symbols: the inner one names",
	  "sym 100-200 outer\n"
	  "sym 120-180 middle\n"
	  "sym 140-160 inner\n",
	  "100 outer -:0\n"
	  "120 middle -:0\n"
	  "140 inner -:0\n"
	  "160 middle -:0\n"
	  "180 outer -:0\n"
	  "200 .\n" },
	{ "symbols that overlap: the later start names",
	  "sym 100-160 a\n"
	  "sym 140-200 b\n",
	  "100 a -:0\n"
	  "140 b -:0\n"
	  "200 .\n" },
	{ "symbols name line rows without a function",
	  "seq 100 s.S:1, 110 s.S:2, 120 s.S:3, 140 end\n"
	  "sym 108-118 label\n"
	  "sym 130-150 tail\n",
	  "100 ? s.S:1\n"
	  "108 label s.S:1\n"
	  "110 label s.S:2\n"
	  "118 ? s.S:2\n"
	  "120 ? s.S:3\n"
	  "130 tail s.S:3\n"
	  "140 tail -:0\n"
	  "150 .\n" },
	{ "line rows of two units that overlap",
	  "seq 100 a:1, 140 end\n"
	  "unit\n"
	  "seq 110 b:1, 120 end\n",
	  "100 ? a:1\n"
	  "110 ? b:1\n"
	  "120 ? a:1\n"
	  "140 .\n" },
	{ "line rows yield to a function of another unit",
	  "seq 100 a:1, 110 a:2, 130 a:3, 140 end\n"
	  "unit\n"
	  "fn f 108-128\n"
	  "seq 108 b:1, 128 end\n",
	  "100 ? a:1\n"
	  "108 f b:1\n"
	  "128 ? a:2\n"
	  "130 ? a:3\n"
	  "140 .\n" },
	{ "code that ends at the last address within reach has no end mark",
	  "code 100-200000000\n"
	  "fn f fffffff0-100000000\n",
	  "fffffff0 f -:0\n" },
	{ "the last address that can be marked",
	  "code 100-200000000\n"
	  "fn f fffffff0-ffffffff\n",
	  "fffffff0 f -:0\n"
	  "ffffffff .\n" },
};

/* Assembles the scene's flat; starts must ascend strictly. */
static void assemble(struct scene *s, struct sc_flat *flat, struct sc_final *ret)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t before = flat->merged, merged;
	struct sc_final again = {0};

	assert_true(sc_assemble(flat, &(struct sc_code_symbols){ s->symbols.data, s->symbols.len,
			s->base }, s->tables, 1, ret));
	/* In parts it is the same. */
	merged = flat->merged - before;
	s->tables->lock = &lock;
	assert_true(sc_assemble(flat, &(struct sc_code_symbols){ s->symbols.data, s->symbols.len,
			s->base }, s->tables,
				2, &again));
	s->tables->lock = NULL;
	assert_int_equal(flat->merged - before, 2 * merged);
	flat->merged -= merged;
	assert_int_equal(again.ranges.len, ret->ranges.len);
	if (again.ranges.len)
		assert_memory_equal(again.ranges.data, ret->ranges.data,
				    again.ranges.len * sizeof(*again.ranges.data));
	vec_deinit(&again.ranges);
	for (size_t i = 1; i < ret->ranges.len; i++) {
		assert_true(ret->ranges.data[i - 1].start < ret->ranges.data[i].start);
		assert_memory_not_equal(&ret->ranges.data[i - 1].loc, &ret->ranges.data[i].loc,
					sizeof(struct sc_location));
	}
}

static void test_case(void **state)
{
	const struct assemble_case *c = *state;
	struct sc_flat flat = {0};
	struct sc_final final = {0};
	struct scene s;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	scene_init(&s, c->in);
	assert_true(scene_flatten(&s, &flat));
	assemble(&s, &flat, &final);
	for (size_t i = 0; i < final.ranges.len; i++) {
		fprintf(out, "%" PRIx32 " ", final.ranges.data[i].start);
		scene_location(&s, &final.ranges.data[i].loc, out);
		fprintf(out, "\n");
	}
	fclose(out);
	assert_string_equal(text, c->out);
	free(text);
	vec_deinit(&final.ranges);
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* What a function that only a symbol knows looks like in the tables. */
static void test_symbol_function(void **state)
{
	struct sc_flat flat = {0};
	struct sc_final final = {0};
	const struct sc_function *f;
	struct scene s;

	(void)state;
	scene_init(&s, "base 100\nsym 140-160 label\n");
	assemble(&s, &flat, &final);
	assert_int_equal(s.tables->functions.len, 1);
	f = &s.tables->functions.data[0];
	assert_int_equal(f->lang, SYMCACHE_LANG_SYMTAB);
	assert_int_equal(f->entry, 0x40);
	assert_int_equal(f->decl_file, SC_NONE);
	vec_deinit(&final.ranges);
	scene_deinit(&s);
}

/* ---- random pieces and symbols --------------------------------------------------------- */

#define LOW 0x100u
#define HIGH 0x140u

/* Pieces whose ranges say in `line` which piece and range they are. */
static void random_pieces(uint64_t *seed, struct sc_flat *flat)
{
	for (uint32_t i = testing_below(seed, 8); i; i--) {
		struct sc_piece *p = vec_push(&flat->pieces);

		p->start = LOW + testing_below(seed, HIGH - LOW);
		p->end = p->start + 1 + testing_below(seed, (uint32_t)(HIGH - p->start));
		p->kind = testing_below(seed, 3);
		p->first_range = (uint32_t)flat->ranges.len;
		for (uint64_t at = p->start; at < p->end; at += 1 + testing_below(seed, 20)) {
			struct sc_flat_range *r = vec_push(&flat->ranges);

			r->start = at;
			r->loc = (struct sc_location){ SC_NONE, (uint32_t)flat->ranges.len, 0,
				p->kind == SC_PIECE_LINES ? SC_NONE : 0, SC_NONE };
			p->num_ranges++;
		}
	}
}

/* Of [start, end) at vaddr, is it better than the best so far? */
static bool better(uint64_t start, uint64_t end, uint64_t vaddr, const struct dw_range *best)
{
	return start <= vaddr && vaddr < end &&
	       (start > best->start || (start == best->start && end < best->end));
}

/* The piece that assemble.h promises: of the lines, or of the functions. */
static const struct sc_piece *piece_at(const struct sc_flat *flat, bool lines, uint64_t vaddr)
{
	const struct sc_piece *found = NULL;

	for (int kind = lines ? SC_PIECE_LINES : SC_PIECE_FUNCTION;
	     !found && kind >= (lines ? SC_PIECE_LINES : SC_PIECE_STRAY); kind--) {
		struct dw_range best = { 0, UINT64_MAX };

		for (size_t i = 0; i < flat->pieces.len; i++) {
			const struct sc_piece *p = &flat->pieces.data[i];

			if ((int)p->kind == kind && better(p->start, p->end, vaddr, &best)) {
				best = (struct dw_range){ p->start, p->end };
				found = p;
			}
		}
	}
	return found;
}

static uint32_t line_at(const struct sc_flat *flat, const struct sc_piece *p, uint64_t vaddr)
{
	uint32_t line = 0;

	for (size_t k = 0; p && k < p->num_ranges; k++)
		if (flat->ranges.data[p->first_range + k].start <= vaddr)
			line = flat->ranges.data[p->first_range + k].loc.line;
	return line;
}

static void check_address(const struct scene *s, const struct sc_flat *flat,
			  const struct sc_final *final, uint64_t vaddr)
{
	const struct sc_piece *function = piece_at(flat, false, vaddr);
	const struct sc_piece *lines = piece_at(flat, true, vaddr);
	const struct sc_location *got = NULL;
	const char *symbol = NULL, *name;
	struct dw_range best = { 0, UINT64_MAX };

	for (size_t i = 0; i < s->symbols.len; i++) {
		const struct sc_code_symbol *c = &s->symbols.data[i];
		if (better(c->start, c->end, vaddr, &best)) {
			best = (struct dw_range){ c->start, c->end };
			symbol = c->name;
		}
	}
	for (size_t i = 0; i < final->ranges.len && final->ranges.data[i].start <= vaddr; i++)
		got = &final->ranges.data[i].loc;
	if (!function && !lines && !symbol) {
		assert_true(!got || got->function == SC_NONE);
		return;
	}
	assert_non_null(got);
	assert_int_equal(got->line, line_at(flat, function ? function : lines, vaddr));
	name = s->tables->functions.data[got->function].name == SC_NONE ? "" :
	       s->tables->strings.data[s->tables->functions.data[got->function].name].ptr;
	assert_string_equal(name, function ? "function" : symbol ? symbol : "");
}

static void test_random(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	struct sc_function fn = { SC_NONE, SC_NONE, 0, 0, SC_NONE, 0 };

	(void)state;
	for (uint32_t run = 0; run < 3000; run++) {
		uint64_t seed = run;
		uint32_t number;
		struct sc_flat flat = {0};
		struct sc_final final = {0};
		struct scene s;

		scene_init(&s, "");
		assert_true(sc_table_string(s.tables, "function", &fn.name));
		assert_true(sc_table_function(s.tables, &fn, &number));
		random_pieces(&seed, &flat);
		for (uint32_t i = testing_below(&seed, 5); i; i--) {
			uint64_t start = LOW + testing_below(&seed, HIGH - LOW);
			*vec_push(&s.symbols) = (struct sc_code_symbol){
				start, start + 1 + testing_below(&seed, 20), names[i]
			};
		}
		assemble(&s, &flat, &final);
		for (uint64_t vaddr = LOW - 1; vaddr < HIGH + 24; vaddr++)
			check_address(&s, &flat, &final, vaddr);
		vec_deinit(&final.ranges);
		sc_flat_deinit(&flat);
		scene_deinit(&s);
	}
}

int main(void)
{
	const size_t n = sizeof(cases) / sizeof(*cases);
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases) + 2];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, test_case, NULL, NULL,
						(void *)(uintptr_t)&cases[i] };
	tests[n] = (struct CMUnitTest)cmocka_unit_test(test_symbol_function);
	tests[n + 1] = (struct CMUnitTest)cmocka_unit_test(test_random);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
