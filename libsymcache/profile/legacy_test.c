/* Heap texts and CPU profiles: which byte is looked up, what the numbers become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/process.h"
#include "libsymcache/profile/packing.h"
#include "libsymcache/profile/testing.h"
#include "libsymcache/profile/wire.h"

#define MAPS \
	"MAPPED_LIBRARIES:\n" \
	"00009000-0000a000 rw-p 00001000 fd:01 12 /opt/prog\n" \
	"00007000-00008000 r-xp 00000000 fd:01 12345678901234567890 /opt/prog\n" \
	"0000b000-0000c000 r-xp 00000000 00:00 0   [vdso]\n"

static void expect(struct symprofile_options options, const void *bytes, size_t size,
		   const char *want)
{
	struct sc_error err;
	size_t len;
	char *got = prof_symbolized(options, bytes, size, &len, &err);

	assert_string_equal(got ? got : err.msg, want);
	free(got);
}

static void expect_refused(const void *bytes, size_t size)
{
	struct sc_error err;
	size_t len;

	assert_null(prof_symbolized((struct symprofile_options){ 0 }, bytes, size, &len, &err));
	assert_int_equal(err.code, SC_EFORMAT);
	assert_memory_equal(err.msg, "a CPU profile of gperftools: at 0x", 34);
}

static void folded(const char *text, const char *value, const char *want)
{
	expect((struct symprofile_options){ .form = SYMPROFILE_FOLDED, .value = value }, text,
	       strlen(text), want);
}

/* The address behind the last byte of grind() is a return address to it. */
static void test_gperftools(void **state)
{
	static const char text[] =
		"heap profile:    3:  120 [  5:  200] @ heapprofile\n"
		"  1:  40 [  2: 80] @ 0x7151 0x7140 0x1\n"
		"  2: 80 [ 3: 120] @ 0xb001\n" MAPS;

	(void)state;
	folded(text, NULL, "0x0;grind;mill::turn(int) 40\n[[vdso]] 0xb000 80\n");
	folded(text, "alloc_objects", "0x0;grind;mill::turn(int) 2\n[[vdso]] 0xb000 3\n");
	folded(text, "space", "there is no sample type 'space'; it has alloc_objects, alloc_space, "
	       "inuse_objects, inuse_space");
	/* The brackets say nothing new. */
	folded("heap profile: 1: 40 [1: 40] @ heapprofile\n1: 40 [1: 40] @ 0x7151\n" MAPS, "space",
	       "mill::turn(int) 40\n");
}

/* 1 / (1 - exp(-40 / 1024)) is 26.10; at half the rate 13.30. */
static void test_scaling(void **state)
{
	(void)state;
	folded("heap profile: 1: 40 [1: 40] @ heap_v2/1024\n10: 400 [0: 0] @ 0x7151\n" MAPS,
	       "objects", "mill::turn(int) 261\n");
	folded("heap profile: 1: 40 [1: 40] @ heap/1024\n10: 400 [0: 0] @ 0x7151\n" MAPS,
	       "objects", "mill::turn(int) 133\n");
	folded("heap profile: 1: 40 [1: 40] @ heap_v2/1024\n1: 9000000 [0: 0] @ 0x7151\n" MAPS,
	       "space", "mill::turn(int) 9000000\n");
	folded("heap profile: 1: 40 [1: 40] @ growthz\n", NULL,
	       "is a heap profile of the kind 'growthz', which is not read");
}

/* What a sample stands for: its numbers divided by 1 - exp(-size / rate), cut to integers. */
static void test_scales(void **state)
{
	static const struct { const char *rate, *counts, *objects, *bytes; } cases[] = {
		{ "heap_v2/1", "10: 400", "10", "400" }, { "heap_v2/2", "10: 20", "15", "31" }, { "heap_v2/0", "10: 400", "10", "400" },
		{ "heap/1", "10: 400", "10", "400" }, { "heap/4", "10: 20", "15", "31" },
		{ "heap_v2/1024", "10: 0", NULL, NULL }, { "heap_v2/1024", "0: 10", NULL, NULL },
		{ "heap_v2/1000", "1: 39999", "1", "39999" }, { "heap_v2/10", "3: 1200", "3", "1200" },
		{ "heap_v2/10", "100: 1", "100050", "1000" }, { "heap_v2/1024", "1000: 24000", "43168", "1036046" },
		{ "heap_v2/1000000", "9000000000000000000: 9000000000000000000", "9223372036854775807", "9223372036854775807" },
		{ "heapprofile/7", "3: 21", "3", "21" }, { "heapprofile", "1: 1", "1", "1" },
		/* Sizes that are 256 apart, behind each other. */
		{ "heap_v2/1024", "1: 256 [0: 0] @ 0x7151\n5: 0", "4", "1157" },
		{ "heap_v2/1024", "1: 256 [0: 0] @ 0x7151\n0: 5", "4", "1157" },
		{ "heap_v2/1024", "1: 256 [0: 0] @ 0x7151\n1: 512", "6", "2458" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[500], want[100] = "";

		snprintf(text, sizeof(text), "heap profile: 1: 40 [1: 40] @ %s\n%s [0: 0] @ 0x7151\n" MAPS, cases[i].rate,
			 cases[i].counts);
		for (int bytes = 0; bytes < 2; bytes++) {
			const char *number = bytes ? cases[i].bytes : cases[i].objects;

			if (number)
				snprintf(want, sizeof(want), "mill::turn(int) %s\n", number);
			folded(text, bytes ? "space" : "objects", want);
		}
	}
}

static void test_jemalloc(void **state)
{
	static const char text[] =
		"heap_v2/1024\n  t*: 3: 120 [0: 0]\n  t0: 3: 120 [0: 0]\n"
		"@ 0x7151 0x7140\n  t*: 10: 400 [0: 0]\n  t0: 10: 400 [0: 0]\n\n" MAPS;

	(void)state;
	folded(text, "objects", "grind;mill::turn(int) 261\n");
	folded("heap_v2/1024\n@ 0x7151\n  t0: 1: 40 [0: 0]\n", NULL,
	       "a heap profile: at 0x18: a stack without its numbers, t*");
	folded("heap_v2/1024\n@ 0x7151\n  t*: 1: 40 [0: 0]\n", NULL,
	       "a heap profile: at 0x28: it ends before its table of maps");
	folded("heap_v2/1024\n@ 0x7151 7\n", NULL,
	       "a heap profile: at 0x16: a stack has something that is not an address");
}

/* What is malformed is said, with its offset. */
static void test_refused(void **state)
{
#define HEADER "heap profile: 1: 40 [1: 40] @ heapprofile\n"
	static const struct { const char *text, *want; } cases[] = {
		{ "heap profile: x\n", "a heap profile: at 0xe: the first line is not the header of a heap profile" },
		{ "heap profile: 1: 40 heapprofile\n", "a heap profile: at 0x14: the first line is not the header of a heap profile" },
		{ "heap profile: 1: 40 [1: x] @ heapprofile\n", "a heap profile: at 0x18: the first line is not the header of a heap profile" },
		{ "heap profile: 99999999999999999999: 40 @ heap\n",
		  "a heap profile: at 0x20: the first line is not the header of a heap profile" },
		{ "heap profile: 1: 40 @ heap_v2/x\n" MAPS, "a heap profile: at 0x1e: the sampling rate is not a number" },
		{ HEADER "1: 40 @ 0x1\n" MAPS, "a heap profile: at 0x30: a line is neither a stack nor the table of maps" },
		{ HEADER "1: 40 [1: 40] 0x1\n" MAPS, "a heap profile: at 0x38: a line is neither a stack nor the table of maps" },
		{ HEADER "1: 40 [1: 40] @ 0x\n" MAPS, "a heap profile: at 0x3c: a stack has something that is not an address" },
		{ HEADER "1: 40 [1: 40] @ 0x12345678123456781\n" MAPS,
		  "a heap profile: at 0x4d: a stack has something that is not an address" },
		{ HEADER "1: 40 [1: 40] @ 0x1", "a heap profile: at 0x3d: it ends before its table of maps" },
		{ "heap_v2/\n", "a heap profile: at 0x8: the sampling rate is not a number" },
		{ "heap_v2/1\n t*: 1: 2\n", "a heap profile: at 0x13: t* is not followed by its numbers" },
		{ "heap_v2/1\nx\n", "a heap profile: at 0xa: a line is neither a stack nor the table of maps" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		folded(cases[i].text, NULL, cases[i].want);
	/* Blanks, carriage returns, empty lines, and the other word for the maps are fine. */
	folded("heap profile:\t1: 40 [ 1 : 40 ] @ heapprofile\r\n\r\n\t1 : 40 [1: 40] @  0x7151\t0x7140 \r\n"
	       "--- Memory map:\n" MAPS, NULL, "grind;mill::turn(int) 40\n");
	folded("heap_v2/1\n\nt*: 1: 40 [2: 80]\n@ 0x7151\n t*: 1: 40 [2: 80]\n t0: x\n\n" MAPS, "alloc_space",
	       "mill::turn(int) 80\n");
	/* Addresses of all lengths, in either case. */
	folded(HEADER "1: 7 [1: 7] @ 0x123456789abcdef0 0xABCDEF0123456789 0xabCd 0x0000000000007151\t0x3\r\n" MAPS,
	       NULL, "0x2;mill::turn(int);0xabcc;0xabcdef0123456788;0x123456789abcdeef 7\n");
}

static void nothing(void)
{
}

/* So many addresses that two threads look them up: the same comes out. */
static void test_two_threads(void **state)
{
	enum { ADDRESSES = 6000 };
	static const struct sc_process ours = { nothing, nothing }; /* may have threads */
	char *text = malloc(64 * ADDRESSES + sizeof(MAPS)), *at = text, *got[2];
	struct sc_error err;
	size_t len[2];

	(void)state;
	assert_non_null(text);
	at += sprintf(at, "heap profile: 1: 40 [1: 40] @ heapprofile\n");
	for (unsigned i = 0; i < ADDRESSES; i++)
		at += sprintf(at, "1: 40 [1: 40] @ 0x%x 0x%x\n", 0x7001 + i % 0xfff, 0x7151 + i % 7);
	strcpy(at, MAPS);
	sc_process = &ours;
	for (int i = 0; i < 2; i++) {
		got[i] = prof_symbolized((struct symprofile_options){ .form = SYMPROFILE_FOLDED,
					 .two_threads = i }, text, strlen(text), &len[i], &err);
		assert_non_null(got[i]);
	}
	sc_process = NULL;
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(got[0], got[1], len[0]);
	assert_non_null(strstr(got[1], "grind"));
	free(got[0]);
	free(got[1]);
	free(text);
}

static void put_words(struct bytes *to, unsigned size, const uint64_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put(to, size, words[i]);
}

/* Words of 4 and 8 bytes, in both orders; the second address is the first once more. */
static void test_cpu(void **state)
{
	static const uint64_t words[] = {
		0, 3, 0, 10000, 0, 5, 3, 0x7140, 0x7140, 0x7140, 1, 1, 0x7100, 0, 1, 0,
	};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		struct bytes b = { .big_endian = i & 1 };
		const unsigned size = i & 2 ? 4 : 8;

		put_words(&b, size, words, 16);
		put_block(&b, MAPS, strlen(MAPS));
		expect((struct symprofile_options){ .form = SYMPROFILE_FOLDED }, b.b.data, b.b.len,
		       "grind 10000000\ngrind;mill::turn(int) 50000000\n");
		expect((struct symprofile_options){ .form = SYMPROFILE_FOLDED, .value = "samples" },
		       b.b.data, b.b.len, "grind 1\ngrind;mill::turn(int) 5\n");
		/* Cut off behind any word but the header's, it is refused. */
		for (size_t n = 5; n < 16; n++)
			expect_refused(b.b.data, n * size);
		bytes_deinit(&b);
	}
}

static void test_java(void **state)
{
	static const uint64_t words[] = { 0, 3, 1, 10000, 0, 0, 1, 0 };
	struct bytes b = { 0 };

	(void)state;
	put_words(&b, 8, words, 8);
	expect((struct symprofile_options){ 0 }, b.b.data, b.b.len,
	       "is a CPU profile of Java, which has names of its own");
	bytes_deinit(&b);
}

/* Keys as jeprof and google-pprof look for them: of jemalloc less one but for the first. Of an
 * address that is exact and a caller's in a CPU profile, the exact one counts. */
static void test_jeprof(void **state)
{
	static const char heap[] =
		"heap_v2/1024\n  t*: 3: 120 [0: 0]\n@ 0x7140 0x7141\n  t*: 1: 40 [0: 0]\n" MAPS;
	static const uint64_t words[] = {
		0, 3, 0, 10000, 0, 1, 2, 0x7150, 0x7140, 1, 1, 0x7140, 0, 1, 0,
	};
	struct bytes b = { 0 };
	char want[4096];

	(void)state;
	snprintf(want, sizeof(want), "--- symbol\nbinary=/opt/prog\n0x7140 grind\n---\n--- heap\n%s",
		 heap);
	expect((struct symprofile_options){ .form = SYMPROFILE_JEPROF }, heap, strlen(heap), want);
	put_words(&b, 8, words, 15);
	put_block(&b, MAPS, strlen(MAPS));
	expect((struct symprofile_options){ .form = SYMPROFILE_JEPROF }, b.b.data, b.b.len,
	       "--- symbol\nbinary=/opt/prog\n0x7140 mill::turn(int)\n0x7150 mill::turn(int)\n"
	       "---\n--- profile\n"); /* and the input, which begins with a NUL */
	bytes_deinit(&b);
}

/* A rate of nothing is one of each. */
static void test_period(void **state)
{
	static const struct { const char *text; uint64_t want; } cases[] = {
		{ "heap_v2/0\n@ 0x7151\n  t*: 1: 40 [0: 0]\n" MAPS, 1 }, { "heap_v2/7\n@ 0x7151\n  t*: 1: 40 [0: 0]\n" MAPS, 7 },
		{ "heap profile: 1: 40 [1: 40] @ heap_v2/0\n" MAPS, 1 }, { "heap profile: 1: 40 [1: 40] @ heap/9\n" MAPS, 4 },
		{ "heap profile: 1: 40 [1: 40] @ heap/1\n" MAPS, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prof_field f;
		struct sc_error err;
		size_t len;
		char *got = prof_symbolized((struct symprofile_options){ 0 }, cases[i].text, strlen(cases[i].text), &len, &err);
		const uint8_t *bytes = (const uint8_t *)got;
		struct prof_packing packing = { 0 };
		enum symcache_packing was;

		assert_int_equal(prof_unpack(&packing, &bytes, &len, &was, &err), 0);
		struct prof_wire w = prof_wire_of(bytes, len);

		do
			assert_true(prof_wire_next(&w, &f));
		while (!prof_is_number(&f, 12));
		assert_int_equal(f.value, cases[i].want);
		prof_packing_deinit(&packing);
		free(got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gperftools),
		cmocka_unit_test(test_scaling), cmocka_unit_test(test_scales),
		cmocka_unit_test(test_period),
		cmocka_unit_test(test_jemalloc), cmocka_unit_test(test_refused), cmocka_unit_test(test_two_threads),
		cmocka_unit_test(test_cpu),
		cmocka_unit_test(test_java),
		cmocka_unit_test(test_jeprof),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}
