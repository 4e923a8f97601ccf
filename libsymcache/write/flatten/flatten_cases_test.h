/* flatten_cases_test.h: the cases of flatten_test.c: each a scene (scene.h) and what it gives. */
#ifndef FLATTEN_CASES_TEST_H
#define FLATTEN_CASES_TEST_H

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
	{ "calls inlined into a function that was dropped, at offsets from 0; into one of which a part is left",
	  "fn f 0-500,0-80\n  in g 120-130,480-490 a:1\n"
	  "fn h 0-50,200-240\n  in g 140-150 b:1\n",
	  "stray 140-150\n  140 g -:0 < h b:1\n"
	  "function 200-240\n  200 h -:0\n" },
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
	{ "functions are cut to what the unit owns, or has lines for",
	  "own 100-140\nown 180-1c0\n"
	  "fn f 101-141\n"
	  "fn g 120-190\n"
	  "  in h 130-188 a:1\n"
	  "fn far 300-310\n"
	  "fn lines 400-420\n"
	  "seq 400 a:1, 410 end\n",
	  "function 101-120\n"
	  "  101 f -:0\n"
	  "function 120-140\n"
	  "  120 g -:0\n"
	  "  130 h -:0 < g a:1\n"
	  "function 180-190\n"
	  "  180 h -:0 < g a:1\n"
	  "  188 g -:0\n"
	  "function 400-410\n"
	  "  400 lines a:1\n" },
	{ "an inlinee without ranges is there for what is inlined into it",
	  "fn f 100-140\n"
	  "  in g - a:1\n"
	  "    in h 110-120 a:2\n",
	  "function 100-140\n"
	  "  100 f -:0\n"
	  "  110 h -:0 < g a:2 < f a:1\n"
	  "  120 f -:0\n" },
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

#endif
