/* Unit tests of flattening: each case as a scene (scene.h) and what it gives; then
 * random scenes against the definition, address by address. */
#include "libsymcache/build/flatten.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/build/scene.h"

struct flatten_case {
	const char *name, *in, *out;
};

/*
 * Expected are the pieces, "KIND START-END", and below each its ranges with
 * the frames at their start, innermost first; then, unless 0, how many ranges
 * were merged and how many lay out of reach.
 */
static const struct flatten_case cases[] = {
	{ "nothing", "", "" },
	{ "no inlinee",
	  "fn f 100-200\n"
	  "seq 100 a:1, 110 a:2:7, 180 a:3, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  110 f a:2:7\n"
	  "  180 f a:3\n" },
	{ "no lines",
	  "fn f 100-200\n"
	  "  in g 120-130 a:7\n",
	  "function 100-200\n"
	  "  100 f -:0\n"
	  "  120 g -:0 < f a:7\n"
	  "  130 f -:0\n" },
	{ "all inlinee",
	  "fn f 100-200\n"
	  "  in g 100-200 a:9:2\n"
	  "seq 100 b:1, 150 b:2, 200 end\n",
	  "function 100-200\n"
	  "  100 g b:1 < f a:9:2\n"
	  "  150 g b:2 < f a:9:2\n" },
	{ "leading and trailing inlinee",
	  "fn f 100-200\n"
	  "  in g 100-120 a:9\n"
	  "  in h 1e0-200 a:10\n"
	  "seq 100 a:1, 200 end\n",
	  "function 100-200\n"
	  "  100 g a:1 < f a:9\n"
	  "  120 f a:1\n"
	  "  1e0 h a:1 < f a:10\n" },
	{ "several inlinees, some touching",
	  "fn f 100-200\n"
	  "  in g 110-120 a:1\n"
	  "  in h 120-130 a:2\n"
	  "  in i 140-150 a:3\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  110 g a:5 < f a:1\n"
	  "  120 h a:5 < f a:2\n"
	  "  130 f a:5\n"
	  "  140 i a:5 < f a:3\n"
	  "  150 f a:5\n" },
	{ "one function inlined twice keeps its call sites apart",
	  "fn f 100-200\n"
	  "  in g 110-120 a:1\n"
	  "  in g 120-130 a:2\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  110 g a:5 < f a:1\n"
	  "  120 g a:5 < f a:2\n"
	  "  130 f a:5\n" },
	{ "interleaved inlinees",
	  "fn f 100-200\n"
	  "  in g 110-120,130-140 a:1\n"
	  "  in h 120-130,140-150 a:2\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  110 g a:5 < f a:1\n"
	  "  120 h a:5 < f a:2\n"
	  "  130 g a:5 < f a:1\n"
	  "  140 h a:5 < f a:2\n"
	  "  150 f a:5\n" },
	{ "overlapping siblings: the later entry wins",
	  "fn f 100-200\n"
	  "  in g 110-140 a:1\n"
	  "  in h 130-160 a:2\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  110 g a:5 < f a:1\n"
	  "  130 h a:5 < f a:2\n"
	  "  160 f a:5\n" },
	{ "overlapping siblings the other way round",
	  "fn f 100-200\n"
	  "  in h 130-160 a:2\n"
	  "  in g 110-140 a:1\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  110 g a:5 < f a:1\n"
	  "  140 h a:5 < f a:2\n"
	  "  160 f a:5\n" },
	{ "nested inlinees with one range",
	  "fn f 100-200\n"
	  "  in g 120-140 a:1\n"
	  "    in h 120-140 a:2\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  120 h a:5 < g a:2 < f a:1\n"
	  "  140 f a:5\n" },
	{ "an inlinee exceeds its parent inlinee",
	  "fn f 100-200\n"
	  "  in g 120-140 a:1\n"
	  "    in h 130-160 a:2\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  120 g a:5 < f a:1\n"
	  "  130 h a:5 < g a:2 < f a:1\n"
	  "  160 f a:5\n" },
	{ "the end of an inlinee makes no hole in its parent",
	  "fn f 100-200\n"
	  "  in g 120-180 a:1\n"
	  "    in h 140-160 a:2\n"
	  "seq 100 a:5, 160 a:6, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  120 g a:5 < f a:1\n"
	  "  140 h a:5 < g a:2 < f a:1\n"
	  "  160 g a:6 < f a:1\n"
	  "  180 f a:6\n" },
	{ "an inlinee exceeds its function: a stray",
	  "fn f 100-200\n"
	  "  in g 1f0-220 a:1\n"
	  "seq 100 a:5, 240 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  1f0 g a:5 < f a:1\n"
	  "stray 200-220\n"
	  "  200 g a:5 < f a:1\n"
	  "lines 220-240\n"
	  "  220 - a:5\n" },
	{ "an inlinee exceeds its function into another, which wins",
	  "fn f 100-200\n"
	  "  in g 1f0-230 a:1\n"
	  "fn h 210-240\n"
	  "seq 100 a:5, 240 end\n",
	  "function 100-200\n"
	  "  100 f a:5\n"
	  "  1f0 g a:5 < f a:1\n"
	  "stray 200-210\n"
	  "  200 g a:5 < f a:1\n"
	  "function 210-240\n"
	  "  210 h a:5\n" },
	{ "an inlinee before its function",
	  "fn h 100-120\n"
	  "fn f 140-200\n"
	  "  in g 110-150 a:1\n"
	  "seq 100 a:5, 200 end\n",
	  "function 100-120\n"
	  "  100 h a:5\n"
	  "stray 120-140\n"
	  "  120 g a:5 < f a:1\n"
	  "function 140-200\n"
	  "  140 g a:5 < f a:1\n"
	  "  150 f a:5\n" },
	{ "the function of an inlinee was dropped",
	  "fn f 0-50\n"
	  "  in g 120-130 a:1\n",
	  "stray 120-130\n"
	  "  120 g -:0 < f a:1\n" },
	{ "an inlined call without a function around it is a function",
	  "in g 120-130 a:1\n",
	  "function 120-130\n"
	  "  120 g -:0\n" },
	{ "hot and cold parts are one function each by its own name",
	  "fn f 100-120,300-320\n"
	  "  in g 110-120,300-310 a:1\n"
	  "fn h 120-140\n"
	  "seq 100 a:1, 140 end\n"
	  "seq 300 a:7, 320 end\n",
	  "function 100-120\n"
	  "  100 f a:1\n"
	  "  110 g a:1 < f a:1\n"
	  "function 120-140\n"
	  "  120 h a:1\n"
	  "function 300-320\n"
	  "  300 g a:7 < f a:1\n"
	  "  310 f a:7\n" },
	{ "a row that starts before the function",
	  "fn f 110-200\n"
	  "seq 100 a:1, 120 a:2, 200 end\n",
	  "lines 100-110\n"
	  "  100 - a:1\n"
	  "function 110-200\n"
	  "  110 f a:1\n"
	  "  120 f a:2\n" },
	{ "a row that ends behind the function",
	  "fn f 100-108\n"
	  "fn g 110-120\n"
	  "seq 100 a:1, 110 a:2, 120 end\n",
	  "function 100-108\n"
	  "  100 f a:1\n"
	  "lines 108-110\n"
	  "  108 - a:1\n"
	  "function 110-120\n"
	  "  110 g a:2\n" },
	{ "rows without any function",
	  "seq 200 s:1, 204 s:2, 210 end\n"
	  "seq 100 s:7, 108 end\n",
	  "lines 100-108\n"
	  "  100 - s:7\n"
	  "lines 200-210\n"
	  "  200 - s:1\n"
	  "  204 - s:2\n" },
	{ "gaps between sequences",
	  "fn f 100-200\n"
	  "seq 100 a:1, 120 end\n"
	  "seq 140 a:2, 160 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  120 f -:0\n"
	  "  140 f a:2\n"
	  "  160 f -:0\n" },
	{ "a function uses all its sequences",
	  "fn f 100-200\n"
	  "seq 180 a:3, 200 end\n"
	  "seq 140 a:2, 180 end\n"
	  "seq 100 a:1, 140 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  140 f a:2\n"
	  "  180 f a:3\n" },
	{ "overlapping sequences: the inner one counts",
	  "fn f 100-200\n"
	  "seq 100 a:1, 1c0 a:2, 200 end\n"
	  "seq 140 b:1, 180 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  140 f b:1\n"
	  "  180 f a:1\n"
	  "  1c0 f a:2\n" },
	{ "dropped code at 0, -1 and -2, in 64 and 32 bits",
	  "fn f 0-50\n"
	  "fn g ffffffffffffffff-4f\n"
	  "fn h fffffffffffffffe-ffffffffffffffff\n"
	  "fn i ffffffff-10000004f\n"
	  "fn j fffffffe-10000004e\n"
	  "fn k 1-51\n"
	  "fn real 100-120\n"
	  "seq 0 a:1, 50 end\n"
	  "seq ffffffffffffffff a:2, 4f end\n"
	  "seq ffffffff a:3, 10000004f end\n"
	  "seq 100 a:9, 120 end\n",
	  "function 100-120\n"
	  "  100 real a:9\n" },
	{ "dropped code that overlaps real code",
	  "fn f 0-500\n"
	  "  in g 0-80 a:1\n"
	  "fn real 100-200\n"
	  "seq 0 a:1, 110 a:2, 500 end\n"
	  "seq 100 a:9, 200 end\n",
	  "function 100-200\n"
	  "  100 real a:9\n" },
	{ "one start, different sizes: the smaller one is inside",
	  "fn f 100-200\n"
	  "fn g 100-140\n",
	  "function 100-140\n"
	  "  100 g -:0\n"
	  "function 140-200\n"
	  "  140 f -:0\n" },
	{ "one start, different sizes, in the other order",
	  "fn g 100-140\n"
	  "fn f 100-200\n",
	  "function 100-140\n"
	  "  100 g -:0\n"
	  "function 140-200\n"
	  "  140 f -:0\n" },
	{ "identical ranges: the later entry wins, with its inlinees",
	  "fn f 100-200\n"
	  "  in h 120-130 a:1\n"
	  "fn g 100-200\n"
	  "  in i 140-150 a:2\n",
	  "function 100-200\n"
	  "  100 g -:0\n"
	  "  140 i -:0 < g a:2\n"
	  "  150 g -:0\n" },
	{ "partly overlapping functions: the later start wins",
	  "fn f 100-180\n"
	  "  in h 140-170 a:1\n"
	  "fn g 160-200\n",
	  "function 100-160\n"
	  "  100 f -:0\n"
	  "  140 h -:0 < f a:1\n"
	  "function 160-200\n"
	  "  160 g -:0\n" },
	{ "a function within a function, and an inlinee after it",
	  "fn outer 100-200\n"
	  "  fn inner 140-180\n"
	  "    in h 150-160 a:1\n"
	  "  in g 120-130,170-190 a:2\n",
	  "function 100-140\n"
	  "  100 outer -:0\n"
	  "  120 g -:0 < outer a:2\n"
	  "  130 outer -:0\n"
	  "function 140-180\n"
	  "  140 inner -:0\n"
	  "  150 h -:0 < inner a:1\n"
	  "  160 inner -:0\n"
	  "function 180-200\n"
	  "  180 g -:0 < outer a:2\n"
	  "  190 outer -:0\n" },
	{ "ranges of one function that touch or overlap are one piece",
	  "fn f 100-120,120-140,138-150\n"
	  "  in g 110-128 a:1\n"
	  "  in h 130-148 a:2\n",
	  "function 100-150\n"
	  "  100 f -:0\n"
	  "  110 g -:0 < f a:1\n"
	  "  128 f -:0\n"
	  "  130 h -:0 < f a:2\n"
	  "  148 f -:0\n" },
	{ "functions without a name take the symbol's",
	  "fn - 100-120\n"
	  "  in - 110-118 a:1\n"
	  "fn - 120-140\n"
	  "sym 100-120 label\n"
	  "sym 110-111 not_this\n",
	  "function 100-120\n"
	  "  100 label -:0\n"
	  "  110 ? -:0 < label a:1\n"
	  "  118 label -:0\n"
	  "function 120-140\n"
	  "  120 ? -:0\n" },
	{ "call sites without file, line or both",
	  "fn f 100-200\n"
	  "  in g 110-120 ?:7\n"
	  "  in g 130-140 a:0\n"
	  "  in g 150-160\n",
	  "function 100-200\n"
	  "  100 f -:0\n"
	  "  110 g -:0 < f -:7\n"
	  "  120 f -:0\n"
	  "  130 g -:0 < f a:0\n"
	  "  140 f -:0\n"
	  "  150 g -:0 < f -:0\n"
	  "  160 f -:0\n" },
	{ "rows without file or line",
	  "fn f 100-200\n"
	  "seq 100 ?:3, 110 a:0, 120 a:1, 200 end\n",
	  "function 100-200\n"
	  "  100 f -:3\n"
	  "  110 f a:0\n"
	  "  120 f a:1\n" },
	{ "several rows at one address: the last one counts",
	  "fn f 100-200\n"
	  "seq 100 a:1, 100 a:2, 110 a:3, 110 a:4, 110 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:2\n"
	  "  110 f a:5\n" },
	{ "several rows where an inlinee starts",
	  "fn f 100-200\n"
	  "  in g 110-120 a:1\n"
	  "seq 100 a:1, 110 a:3, 110 b:4, 120 a:5, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  110 g b:4 < f a:1\n"
	  "  120 f a:5\n" },
	{ "equal neighbours are one range",
	  "fn f 100-200\n"
	  "seq 100 a:1, 110 a:1, 120 a:2, 130 a:2, 140 a:2, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  120 f a:2\n"
	  "merged 3\n" },
	{ "columns keep ranges apart",
	  "fn f 100-200\n"
	  "  in g 140-180 a:9:1\n"
	  "  in g 180-1c0 a:9:2\n"
	  "seq 100 a:1:1, 110 a:1:2, 120 a:1:2, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:1:1\n"
	  "  110 f a:1:2\n"
	  "  140 g a:1:2 < f a:9:1\n"
	  "  180 g a:1:2 < f a:9:2\n"
	  "  1c0 f a:1:2\n"
	  "merged 1\n" },
	{ "functions are cut off where the code ends",
	  "code 100-180\n"
	  "code 200-280\n"
	  "fn f 140-300\n"
	  "fn g 1f0-210\n"
	  "seq 100 a:1, 300 end\n",
	  "lines 100-140\n"
	  "  100 - a:1\n"
	  "function 140-180\n"
	  "  140 f a:1\n" },
	{ "code beyond 4 GiB, or below the base, is counted",
	  "base 1000\n"
	  "code 800-1100\n"
	  "code 100000000-100002000\n"
	  "fn low 800-900\n"
	  "fn ok 1000-1010\n"
	  "fn last 100000f80-100001100\n"
	  "fn far 100001000-100001010\n"
	  "seq 100001000 a:1, 100001010 end\n",
	  "function 1000-1010\n"
	  "  1000 ok -:0\n"
	  "function 100000f80-100001000\n"
	  "  100000f80 last -:0\n"
	  "too far 3\n" },
	{ "units do not mix",
	  "fn f 100-200\n"
	  "seq 100 a:1, 180 end\n"
	  "unit\n"
	  "fn g 180-200\n"
	  "seq 180 b:1, 200 end\n",
	  "function 100-200\n"
	  "  100 f a:1\n"
	  "  180 f -:0\n"
	  "function 180-200\n"
	  "  180 g b:1\n" },
};

/* What every result must be: pieces ascend, ranges tile their piece. */
static void check_flat(const struct sc_flat *flat, uint64_t base)
{
	uint64_t at = 0;

	for (size_t i = 0; i < flat->pieces.len; i++) {
		const struct sc_piece *p = &flat->pieces.data[i];

		assert_true(p->start >= at);
		assert_true(p->end > p->start);
		assert_true(p->num_ranges > 0);
		assert_true(p->first_range + p->num_ranges <= flat->ranges.len);
		assert_int_equal(base + flat->ranges.data[p->first_range].start, p->start);
		for (size_t k = p->first_range; k < p->first_range + p->num_ranges; k++) {
			uint64_t start = base + flat->ranges.data[k].start;
			assert_true(k == p->first_range || start > at);
			assert_true(start < p->end);
			at = start;
		}
		at = p->end;
	}
}

static char *show(const struct scene *s, const struct sc_flat *flat)
{
	static const char *const kinds[] = { "lines", "stray", "function" };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < flat->pieces.len; i++) {
		const struct sc_piece *p = &flat->pieces.data[i];

		fprintf(out, "%s %" PRIx64 "-%" PRIx64 "\n", kinds[p->kind], p->start, p->end);
		for (size_t k = 0; k < p->num_ranges; k++) {
			const struct sc_flat_range *r = &flat->ranges.data[p->first_range + k];
			fprintf(out, "  %" PRIx64 " ", s->base + r->start);
			scene_location(s, &r->loc, out);
			fprintf(out, "\n");
		}
	}
	if (flat->merged)
		fprintf(out, "merged %" PRIu64 "\n", flat->merged);
	if (flat->too_far)
		fprintf(out, "too far %" PRIu64 "\n", flat->too_far);
	fclose(out);
	return text;
}

static void test_case(void **state)
{
	const struct flatten_case *c = *state;
	struct sc_flat flat = {0};
	struct scene s;
	char *got;

	scene_init(&s, c->in);
	assert_true(scene_flatten(&s, &flat));
	if (s.num_units == 1)
		check_flat(&flat, s.base);
	got = show(&s, &flat);
	assert_string_equal(got, c->out);
	free(got);
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* f with an inlinee with an inlinee … each two bytes smaller on either side. */
static void nest(uint32_t depth)
{
	struct sc_flat flat = {0};
	struct scene s;
	struct dw_unit *u;

	scene_init(&s, "code 100-100000\nfn f 100-100000\nseq 100 a:1, 100000 end\n");
	u = &s.units[0];
	for (uint32_t i = 1; i <= depth; i++) {
		struct dw_scope *scope = vec_push(&u->scopes);
		*scope = u->scopes.data[0];
		scope->name = "g";
		scope->parent = i - 1;
		scope->first_range = (uint32_t)u->ranges.len;
		scope->call_file = 0;
		scope->call_line = i;
		*vec_push(&u->ranges) = (struct dw_range){ 0x100 + 2 * i, 0x100000 - 2 * i };
	}
	assert_true(scene_flatten(&s, &flat));
	check_flat(&flat, s.base);
	assert_int_equal(flat.pieces.len, 1);
	assert_int_equal(flat.ranges.len, 2 * depth + 1);
	assert_int_equal(s.tables->calls.len, depth);
	for (uint32_t i = 0; i < flat.ranges.len; i++) {
		uint32_t level = i <= depth ? i : 2 * depth - i, line = level;
		const struct sc_location *l = &flat.ranges.data[i].loc;

		while (l->inlined_into != SC_NONE) {
			l = &s.tables->calls.data[l->inlined_into];
			assert_int_equal(l->line, line--);
		}
		assert_int_equal(line, 0);
		if (depth > 100)
			i += 97; /* a sample: the chains are long */
	}
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

static void test_nested_50(void **state)
{
	(void)state;
	nest(50);
}

static void test_nested_10000(void **state)
{
	(void)state;
	nest(10000);
}

/* A function of n ranges, and n calls that span all of it: n² would be too much. */
static void test_many_ranges(void **state)
{
	const uint32_t n = 100000;
	struct sc_flat flat = {0};
	struct scene s;
	struct dw_unit *u;

	(void)state;
	scene_init(&s, "code 100-1000000\nfn f 100-101\n  in g 100-1000000 a:1\n");
	u = &s.units[0];
	u->scopes.data[0].first_range = (uint32_t)u->ranges.len;
	u->scopes.data[0].num_ranges = n;
	for (uint32_t i = 0; i < n; i++)
		*vec_push(&u->ranges) = (struct dw_range){ 0x100 + 4 * i, 0x102 + 4 * i };
	for (uint32_t i = 0; i < n; i++) {
		struct dw_scope *scope = vec_push(&u->scopes);
		*scope = u->scopes.data[1];
	}
	assert_true(scene_flatten(&s, &flat));
	check_flat(&flat, s.base);
	assert_int_equal(flat.pieces.len, 2 * n); /* f and stray in turn */
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* What the tables keep of a function. */
static void test_function_record(void **state)
{
	struct sc_flat flat = {0};
	const struct sc_function *f;
	const struct sc_file *file;
	struct dw_unit *u;
	struct scene s;

	(void)state;
	scene_init(&s, "base 80\nfn f 100-200\n  in g 120-140 a:1\n");
	u = &s.units[0];
	u->files.data[0].comp_dir = "/src";
	u->files.data[0].dir = "sub";
	u->scopes.data[0].entry_vaddr = 0x110;
	u->scopes.data[0].lang = 0x21;
	u->scopes.data[0].decl_file = 0;
	u->scopes.data[0].decl_line = 77;
	u->scopes.data[1].decl_file = 99; /* there is no such file */
	u->scopes.data[1].lang = 0x7777;
	assert_true(scene_flatten(&s, &flat));
	f = s.tables->functions.data;
	assert_int_equal(s.tables->functions.len, 2);
	assert_string_equal(s.tables->strings.data[f[0].name].ptr, "f");
	assert_int_equal(f[0].entry, 0x90);
	assert_int_equal(f[0].lang, SYMCACHE_LANG_CPP);
	assert_int_equal(f[0].decl_line, 77);
	file = &s.tables->files.data[f[0].decl_file];
	assert_string_equal(s.tables->strings.data[file->comp_dir].ptr, "/src");
	assert_string_equal(s.tables->strings.data[file->dir].ptr, "sub");
	assert_string_equal(s.tables->strings.data[file->name].ptr, "a");
	assert_int_equal(f[1].entry, SC_NONE);
	assert_int_equal(f[1].lang, SYMCACHE_LANG_UNKNOWN);
	assert_int_equal(f[1].decl_file, SC_NONE);
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* Facts that make no sense: parents that come later, ranges that are inverted. */
static void test_nonsense(void **state)
{
	struct sc_flat flat = {0};
	struct dw_unit *u;
	struct scene s;

	(void)state;
	scene_init(&s, "fn f 100-200\n  in g 120-140 a:1\n    in h 128-130 a:2\n"
		       "fn i 220-210\nseq 300 a:1, 2f0 end\n");
	u = &s.units[0];
	u->scopes.data[0].parent = 2;
	u->scopes.data[1].parent = 1;
	u->scopes.data[2].parent = 0xfffffffe;
	assert_true(scene_flatten(&s, &flat));
	check_flat(&flat, s.base);
	assert_int_equal(s.tables->calls.len, 0); /* all of them are functions now */
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

/* ---- random scenes ---------------------------------------------------------------- */

#define LOW 0x100u
#define HIGH 0x160u

static struct dw_range random_range(uint64_t *seed)
{
	uint32_t start = LOW + testing_below(seed, HIGH - LOW - 1);

	return (struct dw_range){ start, start + 1 + testing_below(seed, HIGH - start) };
}

static void random_unit(uint64_t *seed, struct dw_unit *u)
{
	static const char *const names[] = { "f", "g", "h", "i", "j", "k", "l", "m" };
	uint32_t scopes = testing_below(seed, 9), sequences = testing_below(seed, 4);

	for (int i = 0; i < 3; i++)
		vec_push(&u->files)->name = names[i];
	for (uint32_t i = 0; i < scopes; i++) {
		struct dw_scope *s = vec_push(&u->scopes);

		s->name = names[i % 8];
		s->parent = i && testing_below(seed, 3) ? testing_below(seed, i) : DW_NONE;
		s->call_file = testing_below(seed, 3);
		s->call_line = testing_below(seed, 3);
		s->decl_file = DW_NONE;
		s->first_range = (uint32_t)u->ranges.len;
		s->num_ranges = 1 + testing_below(seed, 3);
		for (uint32_t k = 0; k < s->num_ranges; k++)
			*vec_push(&u->ranges) = random_range(seed);
		s->entry_vaddr = i;
	}
	for (uint32_t i = 0; i < sequences; i++) {
		struct dw_range r = random_range(seed);
		struct dw_sequence *q = vec_push(&u->sequences);

		*q = (struct dw_sequence){ r.start, r.end, (uint32_t)u->rows.len, 0 };
		for (uint64_t at = r.start; at < r.end; at += testing_below(seed, 8)) {
			*vec_push(&u->rows) = (struct dw_row){
				at, testing_below(seed, 4), testing_below(seed, 3), 0
			};
			q->num_rows++;
		}
	}
}

/* The function around scope i. */
static uint32_t function_of(const struct dw_unit *u, uint32_t i)
{
	while (u->scopes.data[i].parent < i)
		i = u->scopes.data[i].parent;
	return i;
}

/* The range of scope i that covers vaddr and starts last, of these the shortest. */
static const struct dw_range *covering(const struct dw_unit *u, uint32_t i, uint64_t vaddr)
{
	const struct dw_scope *s = &u->scopes.data[i];
	const struct dw_range *best = NULL;

	for (uint32_t k = 0; k < s->num_ranges; k++) {
		const struct dw_range *r = &u->ranges.data[s->first_range + k];
		if (r->start <= vaddr && vaddr < r->end &&
		    (!best || r->start > best->start ||
		     (r->start == best->start && r->end < best->end)))
			best = r;
	}
	return best;
}

/* The scope that flatten.h promises for vaddr, or DW_NONE. */
static uint32_t scope_by_definition(const struct dw_unit *u, uint64_t vaddr)
{
	uint32_t function = DW_NONE, scope = DW_NONE;
	const struct dw_range *best = NULL;

	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_range *r = covering(u, i, vaddr);
		if (function_of(u, i) != i || !r)
			continue;
		if (!best || r->start > best->start ||
		    (r->start == best->start && r->end <= best->end)) {
			best = r;
			function = i;
		}
	}
	for (uint32_t i = 0; i < u->scopes.len; i++)
		if (covering(u, i, vaddr) &&
		    (function == DW_NONE || function_of(u, i) == function))
			scope = i; /* the last one wins */
	return scope;
}

static const struct dw_row *row_by_definition(const struct dw_unit *u, uint64_t vaddr)
{
	const struct dw_sequence *best = NULL;
	const struct dw_row *row = NULL;

	for (uint32_t i = 0; i < u->sequences.len; i++) {
		const struct dw_sequence *q = &u->sequences.data[i];
		if (q->start <= vaddr && vaddr < q->end &&
		    (!best || q->start > best->start ||
		     (q->start == best->start && q->end < best->end)))
			best = q;
	}
	for (uint32_t k = 0; best && k < best->num_rows; k++)
		if (u->rows.data[best->first_row + k].vaddr <= vaddr)
			row = &u->rows.data[best->first_row + k];
	return row;
}

static char *expected(const struct dw_unit *u, uint64_t vaddr)
{
	uint32_t scope = scope_by_definition(u, vaddr);
	const struct dw_row *row = row_by_definition(u, vaddr);
	uint32_t file = row ? row->file : DW_NONE, line = row ? row->line : 0;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (scope == DW_NONE && row)
		fprintf(out, "- %s:%u", file < 3 ? u->files.data[file].name : "-", line);
	while (scope != DW_NONE) {
		const struct dw_scope *s = &u->scopes.data[scope];

		fprintf(out, "%s %s:%u", s->name, file < 3 ? u->files.data[file].name : "-", line);
		if (s->parent >= scope)
			break;
		fprintf(out, " < ");
		file = s->call_file;
		line = s->call_line;
		scope = s->parent;
	}
	fclose(out);
	return text;
}

static char *at(const struct scene *s, const struct sc_flat *flat, uint64_t vaddr)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const struct sc_flat_range *found = NULL;

	for (size_t i = 0; i < flat->pieces.len; i++) {
		const struct sc_piece *p = &flat->pieces.data[i];
		for (size_t k = 0; k < p->num_ranges; k++)
			if (p->start <= vaddr && vaddr < p->end &&
			    s->base + flat->ranges.data[p->first_range + k].start <= vaddr)
				found = &flat->ranges.data[p->first_range + k];
	}
	if (found)
		scene_location(s, &found->loc, out);
	fclose(out);
	return text;
}

static void test_random(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 3000; run++) {
		uint64_t seed = run;
		struct sc_flat flat = {0};
		struct scene s;

		scene_init(&s, "");
		random_unit(&seed, &s.units[0]);
		assert_true(scene_flatten(&s, &flat));
		check_flat(&flat, s.base);
		for (uint64_t vaddr = LOW - 1; vaddr < HIGH + 2; vaddr++) {
			char *want = expected(&s.units[0], vaddr), *got = at(&s, &flat, vaddr);

			if (strcmp(want, got))
				fail_msg("scene %u at 0x%" PRIx64 ": '%s', not '%s'", run, vaddr,
					 got, want);
			free(want);
			free(got);
		}
		sc_flat_deinit(&flat);
		scene_deinit(&s);
	}
}

int main(void)
{
	const size_t n = sizeof(cases) / sizeof(*cases);
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases) + 6];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, test_case, NULL, NULL,
						(void *)(uintptr_t)&cases[i] };
	tests[n] = (struct CMUnitTest)cmocka_unit_test(test_nested_50);
	tests[n + 1] = (struct CMUnitTest)cmocka_unit_test(test_nested_10000);
	tests[n + 2] = (struct CMUnitTest)cmocka_unit_test(test_function_record);
	tests[n + 3] = (struct CMUnitTest)cmocka_unit_test(test_nonsense);
	tests[n + 4] = (struct CMUnitTest)cmocka_unit_test(test_random);
	tests[n + 5] = (struct CMUnitTest)cmocka_unit_test(test_many_ranges);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
