/* Profiles of OpenTelemetry: what is read of tables and samples, what comes out, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/profile/testing.h"
#include "libsymcache/profile/proto_test.h"

/* Strings 0 to 9; attributes 1 to 3; "/opt/prog" mapped at 0x7000, "/opt/gone" at 0x9000. */
#define STRINGS \
	"5\"\" 5\"cpu\" 5\"nanoseconds\" 5\"/opt/prog\" 5\"/opt/gone\" 5\"samples\" 5\"count\" " \
	"5\"profile.frame.type\" 5\"process.executable.build_id.gnu\" 5\"work.py\" "
#define ATTRIBUTES \
	"6{} 6{1:7 2{1\"cpython\"}} 6{1:7 2{1\"native\"}} 6{1:8 2{1\"00112233\"}} "
#define MAPPINGS "1{} 1{1:0x7000 2:0x8000 4:3} 1{1:0x9000 2:0xa000 3:16 4:4 5(3)} "
/* 1: turn(), 2: its first byte, 3: in grind(), 4: nowhere, 5: in what is gone, 6: an interpreter's,
 * 7: one that has lines. */
#define LOCATIONS \
	"3{} 3{1:9 3:9} 2{} 2{1:1 2:0x7150} 2{1:1 2:0x7140} 2{1:1 2:0x7110} 2{2:0x99} " \
	"2{1:2 2:0x9020} 2{1:1 2:0x7110 4(1)} 2{1:1 2:0x7110 3{1:1 2:12}} "
#define STACKS "7{} 7{1(1 3)} 7{1:2} 7{1(5 3)} 7{1(6)} 7{1(7 4)} 7{1(2 7)} 7{1(7 2)} "
#define DICTIONARY "2{" STRINGS ATTRIBUTES MAPPINGS LOCATIONS STACKS "} "
/* Samples of processor time; of another type. */
#define CPU(samples) "1{2{2{1{1:1 2:2} " samples "}}} "
#define SAMPLES(samples) "1{2{2{1{1:5 2:6} " samples "}}} "

static char *run(struct symprofile_options o, const char *text, size_t *len, struct sc_error *err)
{
	struct prof_bytes in = { 0 };
	char *got;

	proto_put(&in, text);
	assert_false(in.failed);
	got = prof_symbolized(o, in.v.data, in.v.len, len, err);
	prof_bytes_deinit(&in);
	return got;
}

/* The text that comes out, or the message, is this. */
static void expect(struct symprofile_options o, const char *text, const char *want)
{
	struct sc_error err;
	size_t len;
	char *got = run(o, text, &len, &err);

	if (strcmp(got ? got : err.msg, want))
		print_error("of %s\n", text);
	assert_string_equal(got ? got : err.msg, want);
	free(got);
}

static void expect_folded(const char *text, const char *value, const char *want)
{
	expect((struct symprofile_options){ .form = SYMPROFILE_FOLDED, .value = value }, text, want);
}

/* ---- samples ------------------------------------------------------------------------------------ */

static void test_samples(void **state)
{
	static const struct { const char *samples, *value, *want; } cases[] = {
		/* Values of a sample are added up; equal stacks are one. */
		{ CPU("2{1:1 4(3 4)} 2{1:1 4:5}"), NULL, "grind;mill::turn(int) 12\n" },
		/* Without values each time stamp counts, 8 bytes or a field. */
		{ CPU("2{1:1 5\"1234567812345678\"} 2{1:1 5:9 5:9 5:9}"), NULL,
		  "grind;mill::turn(int) 5\n" },
		{ CPU("2{1:1 4:2 5\"12345678\"}"), NULL, "grind;mill::turn(int) 2\n" },
		{ CPU("2{1:2 4:1} 2{1:3 4:2} 2{1:4 4:3} 2{1:5 4:4}"), NULL,
		  "0x99;work.py 4\ngrind;[gone] 0x9020 2\nmill::turn(int) 1\nprog+0x10110 3\n" },
		/* A sample without a stack has no frames. */
		{ CPU("2{4:7}"), NULL, "" },
		/* Of several types the last one, or the one that is asked for. */
		{ CPU("2{1:1 4:3}") SAMPLES("2{1:2 4:4}"), NULL, "mill::turn(int) 4\n" },
		{ CPU("2{1:1 4:3}") SAMPLES("2{1:2 4:4}"), "cpu", "grind;mill::turn(int) 3\n" },
		{ CPU("2{1:1 4:3}") SAMPLES("2{1:2 4:4}") CPU("2{1:2 4:9}"), "cpu",
		  "grind;mill::turn(int) 3\nmill::turn(int) 9\n" },
		{ CPU("2{1:1 4:3}"), "space", "there is no sample type 'space'" },
		/* A type of the same name and another unit is another type. */
		{ CPU("2{1:1 4:3}") "1{2{2{1{1:1 2:6} 2{1:2 4:8}}}}", NULL, "mill::turn(int) 8\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[2048];

		snprintf(text, sizeof(text), "%s%s", DICTIONARY, cases[i].samples);
		expect_folded(text, cases[i].value, cases[i].want);
	}
	/* The tables may come in pieces, behind the samples, too. */
	expect_folded(CPU("2{1:1 4:3}") "2{" STRINGS ATTRIBUTES "} 2{" MAPPINGS LOCATIONS STACKS "}", NULL,
		      "grind;mill::turn(int) 3\n");
}

/* The first of a stack is exact even if it is a caller elsewhere; other addresses are looked up
 * one before. */
static void test_return_addresses(void **state)
{
	struct symprofile_options o = { .form = SYMPROFILE_FOLDED, .return_addresses = true };
	const char *const text = "2{" STRINGS ATTRIBUTES MAPPINGS "2{} 2{1:1 2:0x7140} 2{1:1 2:0x7140} "
				 "7{} 7{1(1 2)} } " CPU("2{1:1 4:1}");

	(void)state;
	expect(o, text, "grind;mill::turn(int) 1\n");
	o.return_addresses = false;
	expect(o, text, "mill::turn(int);mill::turn(int) 1\n");
}

/* A page has the values of all types in columns. */
static void test_page(void **state)
{
	static const char *const wanted[] = {
		"\"types\":[[\"cpu\",\"nanoseconds\"],[\"samples\",\"count\"]]",
		"\"chosen\":0",
		/* turn() called from grind() has 3 of the first; alone it has 4 of the second. */
		"\"tree\":[\n0,0,0,0,\n1,6,0,0,\n2,4,3,0,\n1,4,0,4]",
	};
	struct sc_error err;
	size_t len;
	char *got = run((struct symprofile_options){ .form = SYMPROFILE_HTML, .value = "cpu" },
			DICTIONARY CPU("2{1:1 4:1}") SAMPLES("2{1:2 4:4}") CPU("2{1:1 4:2}"), &len, &err);

	(void)state;
	assert_non_null(got);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!strstr(got, wanted[i]))
			fail_msg("no %s in %s", wanted[i], strstr(got, "{\"chosen\""));
	free(got);
}

/* ---- its own form ------------------------------------------------------------------------------- */

/* Byte for byte: locations get lines behind their fields, and behind the last piece of the
 * dictionary come new functions and strings; what has names keeps them. */
static void test_own(void **state)
{
#define KEPT "1\"unknown\" 9:5 "
	static const struct { bool force; const char *in, *want; } cases[] = {
		{ false, KEPT "2{5\"\" 5\"/opt/prog\" 5\"grind\" 1{} 1{1:0x7000 2:0x8000 4:1} 3{} 2{} "
		  "2{1:1 2:0x7150 9:1} } 2{2{1:1 2:0x7110} 9\"x\"} " KEPT,
		  KEPT "2{5\"\" 5\"/opt/prog\" 5\"grind\" 1{} 1{1:0x7000 2:0x8000 4:1} 3{} 2{} "
		  "2{1:1 2:0x7150 9:1 3{1:2}} } 2{2{1:1 2:0x7110 3{1:1}} 9\"x\" 3{1:2 2:2} 3{1:4 2:3} "
		  "5\"_ZN4mill4turnEi\" 5\"mill::turn(int)\"} " KEPT },
		{ false, DICTIONARY CPU("2{1:4 4:3}"), NULL },
		{ true, "2{5\"\" 5\"/opt/prog\" 1{} 1{1:0x7000 4:1} 3{} 2{} 2{1:1 3{1:0 2:7} 2:0x7110 3{}} }",
		  "2{5\"\" 5\"/opt/prog\" 1{} 1{1:0x7000 4:1} 3{} 2{} 2{1:1 2:0x7110 3{1:1}} 3{1:2 2:2} "
		  "5\"grind\"}" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prof_bytes want = { 0 };
		struct sc_error err;
		size_t len;
		char *got = run((struct symprofile_options){ .force = cases[i].force }, cases[i].in, &len,
				&err);

		if (!cases[i].want) {
			free(got);
			continue;
		}
		proto_put(&want, cases[i].want);
		assert_non_null(got);
		assert_int_equal(len, want.v.len);
		assert_memory_equal(got, want.v.data, len);
		free(got);
		prof_bytes_deinit(&want);
	}
}

/* ---- counting ----------------------------------------------------------------------------------- */

static void test_counts(void **state)
{
	struct symprofiler *p = prof_profiler((struct symprofile_options){ .count = true });
	const struct symprofile_missing *missing;
	struct symprofile_counts counts;
	struct symprofile_output out;
	struct prof_bytes in = { 0 };
	struct sc_error err;
	size_t n;

	(void)state;
	proto_put(&in, DICTIONARY CPU("2{1:1 4:3} 2{1:3 4:3} 2{1:3 4:3} 2{1:5 4:1}"));
	assert_int_equal(symprofiler_run(p, in.v.data, in.v.len, &out, &err), 0);
	symprofiler_counts(p, &counts);
	assert_int_equal(counts.samples, 4);
	assert_int_equal(counts.locations, 7);
	assert_int_equal(counts.looked_up, 3);
	assert_int_equal(counts.found, 3);
	assert_int_equal(counts.named, 2);   /* the interpreter's, and the one that has lines */
	assert_int_equal(counts.nowhere, 1);
	missing = symprofiler_missing(p, &n);
	assert_int_equal(n, 1);
	assert_string_equal(missing->name, "/opt/gone");
	assert_string_equal(missing->id, "00112233");
	assert_int_equal(missing->samples, 2);
	assert_int_equal(missing->locations, 1);
	symprofiler_destroy(p);
	prof_bytes_deinit(&in);
}

/* ---- what is refused ---------------------------------------------------------------------------- */

static void test_refused(void **state)
{
	static const struct { const char *in, *want; } cases[] = {
		{ "2{" STRINGS ATTRIBUTES MAPPINGS "2{} 2{1:3} 7{} } ", "a location has a mapping that is not there" },
		{ "2{" STRINGS "1{4:10} } ", "a mapping has a string that is not there" },
		{ "2{" STRINGS "1{5(9)} } ", "an attribute is not there" },
		{ "2{" STRINGS "6{1:10} 1{5(0)} } ", "an attribute is not there" },
		{ "2{" STRINGS "6{2\"\x0a\"} } ", "a number is cut off" },
		{ "2{" STRINGS "2{4\"\xff\"} } ", "a number is cut off" },
		{ "2{" STRINGS "2{3\"\xff\"} 2{1} } ", NULL },
		{ DICTIONARY CPU("2{1:8 4:1}"), "a sample has a stack that is not there" },
		{ "2{" STRINGS "7{1:1} } " CPU("2{1:0 4:1}"), "a stack has a location that is not there" },
		{ "2{" STRINGS "7{1\"\x80\"} } " CPU("2{4:1}"), "a number is cut off" },
		{ "2{" STRINGS "3{1:10} } ", "a function has a string that is not there" },
		{ "2{" STRINGS "3{} 2{3{1:1}} } ", "a line has a function that is not there" },
		{ "2{" STRINGS "3{} 2{3\"\x08\"} } ", "a line is malformed" },
		{ DICTIONARY "1{2{2{1{1:10}}}} ", "a sample type is a string that is not there" },
		{ DICTIONARY "1{2{2{1{2:10}}}} ", "a sample type is a string that is not there" },
		{ DICTIONARY "1{2{2{2\"\x08\"}}} ", "a number is cut off" },
		{ DICTIONARY "1{2{2\"\x03\"}} ", "a field has the number 0" },
		{ DICTIONARY "1{2\"\x0b\"} ", "a field is of a kind that protobuf does not have" },
		{ DICTIONARY "1\"\x12\x05\" ", "a field goes past the end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symprofile_options o = { .form = SYMPROFILE_FOLDED };
		struct sc_error err;
		size_t len;
		char *got;

		if (!cases[i].want)
			continue;
		got = run(o, cases[i].in, &len, &err);
		if (got || !strstr(err.msg, cases[i].want))
			fail_msg("%s: '%s' of %s", got ? got : err.msg, cases[i].want, cases[i].in);
		assert_int_equal(err.code, SC_EFORMAT);
		assert_memory_equal(err.msg, "OTLP: at 0x", 11);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples), cmocka_unit_test(test_return_addresses),
		cmocka_unit_test(test_page), cmocka_unit_test(test_own), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}
