/* Profiles that have addresses get functions; all else stays: see profile.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/profile/testing.h"
#include "libsymcache/profile/proto_test.h"

static void expect_text(struct symprofile_options options, const void *bytes, size_t size,
			const char *want)
{
	struct sc_error err;
	size_t len;
	char *got = prof_symbolized(options, bytes, size, &len, &err);

	assert_string_equal(got ? got : err.msg, want);
	free(got);
}

static void expect_error(const void *bytes, size_t size, int code, const char *message)
{
	struct sc_error err;
	size_t len;
	char *got = prof_symbolized((struct symprofile_options){ 0 }, bytes, size, &len, &err);

	assert_null(got);
	assert_int_equal(err.code, code);
	assert_string_equal(err.msg, message);
}

/* ---- pprof ------------------------------------------------------------------------------------ */

static void put_location(struct prof_bytes *to, uint64_t id, uint64_t mapping, uint64_t address)
{
	struct prof_bytes l = { 0 };

	prof_put_number(&l, 1, id);
	prof_put_number(&l, 2, mapping);
	prof_put_number(&l, 3, address);
	prof_put_number(&l, 5, id == 1); /* is_folded, which goes where lines come */
	prof_put_bytes(&l, 77, "unknown", 7);
	prof_put_bytes(to, 4, l.v.data, l.v.len);
	prof_bytes_deinit(&l);
}

/* One sample of 3 and one of 4 at turn() called from grind(), which is at p_vaddr - 0x10000 of
 * the file, mapped at 0x7000; ids are large; a location is in no mapping. */
static void make_pprof(struct prof_bytes *to)
{
	static const char *const strings[] = { "", "cpu", "nanoseconds", "/opt/prog", "grind" };
	const uint64_t far = (uint64_t)1 << 62;
	struct prof_bytes b = { 0 };

	prof_put_number(&b, 1, 1);
	prof_put_number(&b, 2, 2);
	prof_put_bytes(to, 1, b.v.data, b.v.len);
	for (unsigned i = 0; i < 2; i++) {
		vec_clear(&b.v);
		prof_put_number(&b, 1, 1);   /* not packed */
		prof_put_number(&b, 1, far);
		prof_put_number(&b, 1, 3);
		prof_put_number(&b, 2, 3 + i);
		prof_put_bytes(to, 2, b.v.data, b.v.len);
	}
	vec_clear(&b.v);
	prof_put_number(&b, 1, far + 1);
	prof_put_number(&b, 2, 0x7000);
	prof_put_number(&b, 3, 0x8000);
	prof_put_number(&b, 5, 3);
	prof_put_bytes(to, 3, b.v.data, b.v.len);
	put_location(to, 1, far + 1, 0x7150);
	put_location(to, far, far + 1, 0x7110);
	put_location(to, 3, 0, 0x99);
	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
		prof_put_bytes(to, 6, strings[i], strlen(strings[i]));
	assert_false(to->failed);
	prof_bytes_deinit(&b);
}

static void test_pprof(void **state)
{
	struct prof_bytes in = { 0 };
	struct sc_error err;
	size_t len;
	char *out, *again, *first;

	(void)state;
	make_pprof(&in);
	out = prof_symbolized((struct symprofile_options){ 0 }, in.v.data, in.v.len, &len, &err);
	assert_non_null(out);
	assert_true(len > in.v.len);
	assert_true(prof_only_added(&prof_pprof_changes, prof_wire_of(in.v.data, in.v.len),
				    prof_wire_of((uint8_t *)out, len)));
	assert_non_null(memmem(out, len, "mill::turn(int)", 15));
	assert_non_null(memmem(out, len, "_ZN4mill4turnEi", 15));
	/* A string that is there is used again. */
	first = memmem(out, len, "\x32\x05grind", 7);
	assert_non_null(first);
	assert_null(memmem(first + 7, len - (size_t)(first + 7 - out), "grind", 5));
	/* What has lines stays: the same bytes come out. */
	again = prof_symbolized((struct symprofile_options){ 0 }, out, len, &len, &err);
	assert_non_null(again);
	assert_memory_equal(again, out, len);
	free(again);
	free(out);
	prof_bytes_deinit(&in);
}

static void test_folded_of_pprof(void **state)
{
	struct symprofile_options o = { .form = SYMPROFILE_FOLDED };
	struct prof_bytes in = { 0 };
	struct sc_error err;
	size_t len;
	char *named;

	(void)state;
	make_pprof(&in);
	expect_text(o, in.v.data, in.v.len, "0x99;grind;mill::turn(int) 7\n");
	o.how = SYMPROFILE_SHORT;
	expect_text(o, in.v.data, in.v.len, "0x99;grind;turn 7\n");
	o.how = SYMPROFILE_LINKAGE;
	o.value = "cpu";
	expect_text(o, in.v.data, in.v.len, "0x99;grind;_ZN4mill4turnEi 7\n");
	o.value = "space";
	expect_text(o, in.v.data, in.v.len, "there is no sample type 'space'; it has cpu");
	/* Of what has lines, their functions. */
	named = prof_symbolized((struct symprofile_options){ 0 }, in.v.data, in.v.len, &len, &err);
	expect_text((struct symprofile_options){ .form = SYMPROFILE_FOLDED }, named, len,
		    "0x99;grind;mill::turn(int) 7\n");
	free(named);
	prof_bytes_deinit(&in);
}

/* grind() called turn() with its last instruction, and both addresses are the same: that of the leaf is
 * exact, the caller's is one behind the call. A location that is a leaf somewhere is exact. */
static void test_return_addresses(void **state)
{
	static const char tables[] = "1{1:1} 3{1:1 2:0x7000 3:0x8000 5:2} 4{1:1 2:1 3:0x7140} 4{1:2 2:1 3:0x7140} "
		"6\"\" 6\"cpu\" 6\"/opt/prog\" ";
	static const struct { const char *samples, *want; } cases[] = {
		{ "2{1(1 2) 2:1}", "grind;mill::turn(int) 1\n" },
		{ "2{2:1 1(1 2)}", "grind;mill::turn(int) 1\n" },
		{ "2{1:1 1:2 2:1}", "grind;mill::turn(int) 1\n" },
		{ "2{1(1 2) 2:1} 2{1:2 2:5}", "mill::turn(int) 5\nmill::turn(int);mill::turn(int) 1\n" },
		{ "2{1() 1(2 1) 2:1}", "grind;mill::turn(int) 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symprofile_options o = { .form = SYMPROFILE_FOLDED, .return_addresses = true };
		struct prof_bytes in = { 0 };

		proto_put(&in, cases[i].samples);
		proto_put(&in, tables);
		expect_text(o, in.v.data, in.v.len, cases[i].want);
		prof_bytes_deinit(&in);
	}
	struct symprofile_options o = { .form = SYMPROFILE_FOLDED };
	struct prof_bytes in = { 0 };

	proto_put(&in, cases[0].samples);
	proto_put(&in, tables);
	expect_text(o, in.v.data, in.v.len, "mill::turn(int);mill::turn(int) 1\n");
	prof_bytes_deinit(&in);
}

/* Every prefix is refused, with an offset, but for those that end behind a field and have all
 * that is needed; nothing is read behind the end. */
static void test_cut_pprof(void **state)
{
	struct prof_bytes in = { 0 };
	size_t refused = 0;

	(void)state;
	make_pprof(&in);
	for (size_t n = 0; n < in.v.len; n++) {
		uint8_t *bytes = malloc(n ? n : 1);
		struct sc_error err;
		size_t len;
		char *out;

		memcpy(bytes, in.v.data, n);
		out = prof_symbolized((struct symprofile_options){ .form = SYMPROFILE_FOLDED }, bytes, n, &len,
			  &err);
		refused += !out;
		if (!out)
			assert_true(err.code == SC_EFORMAT || err.code == SC_EUNSUPPORTED);
		free(out);
		free(bytes);
	}
	assert_true(refused > in.v.len - 8);
	in.v.len--;
	expect_error(in.v.data, in.v.len, SC_EFORMAT, "pprof: at 0xb2: a field goes past the end");
	prof_bytes_deinit(&in);
}

/* ---- folded -------------------------------------------------------------------------------------- */

static void test_folded(void **state)
{
	static const char in[] =
		"main;prog+0x10110;prog!0x10150;[prog+0x10100] 12\n"
		"prog+0x9;other+0x10110;prog+0x10110x;prog +0x10110 3\r\n";
	static const char want[] =
		"main;grind;mill::turn(int);grind 12\n"
		"prog+0x9;other+0x10110;prog+0x10110x;prog +0x10110 3\r\n";

	/* What is an address and what is not. */
	static const char tokens[] =
		"prog+0x1010A;prog+0x1010F;prog+0x1010a;prog+0x1010f;prog+0x1010g;prog+0x0000000000010110 1\n"
		"prog+0x00000000000010110;prog+0x;prog0x10110;prog-0x10110;+0x10110;prog+x10110;prog+0X10110 1\n"
		"[prog+0x10110;prog+0x10110];[prog+0x10110]x;prog[+0x10110;prog]+0x10110;prog\t+0x10110 1\n";
	static const char shown[] =
		"prog+0x1010A;prog+0x1010F;grind;grind;prog+0x1010g;grind 1\n"
		"prog+0x00000000000010110;prog+0x;prog0x10110;prog-0x10110;+0x10110;prog+x10110;prog+0X10110 1\n"
		"grind;grind;[prog+0x10110]x;prog[+0x10110;prog]+0x10110;prog\t+0x10110 1\n";

	(void)state;
	expect_text((struct symprofile_options){ 0 }, in, strlen(in), want);
	expect_text((struct symprofile_options){ 0 }, tokens, strlen(tokens), shown);
}

/* A name with control characters, in each way in which names are written. */
static void test_unprintable(void **state)
{
	static const char tables[] = "1{1:1} 3{1:1 2:0x7000 3:0x8000 5:2} 4{1:1 2:1 3:0x71d0} 2{1:1 2:5} "
		"6\"\" 6\"cpu\" 6\"/opt/prog\" ";
	struct prof_bytes in = { 0 };
	struct sc_error err;

	(void)state;
	proto_put(&in, tables);
	for (int how = SYMPROFILE_FULL; how <= SYMPROFILE_LINKAGE; how++)
		for (int form = SYMPROFILE_OWN; form <= SYMPROFILE_FOLDED; form++) {
			const struct symprofile_options o = { .form = form, .how = how };
			size_t len;
			char *out = prof_symbolized(o, in.v.data, in.v.len, &len, &err);

			assert_non_null(out);
			assert_null(memmem(out, len, "odd\033", 4));
			assert_non_null(memmem(out, len, "odd\\x1b[1m", 10));
			free(out);
		}
	prof_bytes_deinit(&in);
}

/* ---- pages ------------------------------------------------------------------------------------ */

/* A page that has this in it. */
static void expect_in_page(const void *bytes, size_t size, const char *want)
{
	struct sc_error err;
	size_t len;
	char *got = prof_symbolized((struct symprofile_options){ .form = SYMPROFILE_HTML }, bytes, size,
				    &len, &err);

	assert_non_null(got);
	if (!memmem(got, len, want, strlen(want)))
		fail_msg("no %s in %s", want, strstr(got, "{\"chosen\""));
	assert_null(memmem(got, len, "<u>", 3));
	free(got);
}

static void test_page(void **state)
{
	static const char folded[] = "main;</script><u> 2\nmain;prog+0x10110 3\nmain;gone+0x1 4\n";
	struct prof_bytes in = { 0 };
	struct sc_error err;
	size_t len;

	(void)state;
	make_pprof(&in);
	expect_in_page(in.v.data, in.v.len, "\"types\":[[\"cpu\",\"nanoseconds\"]]");
	/* turn() called from grind(), called from nowhere. */
	expect_in_page(in.v.data, in.v.len, "\"tree\":[\n0,0,0,\n1,6,0,\n2,4,0,\n3,2,7]");
	/* Children by their totals; names end nothing. */
	expect_in_page(folded, strlen(folded), "\"tree\":[\n0,0,0,\n1,2,0,\n2,8,4,\n2,6,3,\n2,4,2]");
	expect_in_page(folded, strlen(folded), "[\"\\u003c/script>\\u003cu>\",\"\",0,-1,0,");
	expect_in_page(folded, strlen(folded), "[\"gone (no symbols)\",\"\",0,");
	for (unsigned i = 0; i < 64; i++)
		prof_put_bytes(&in, 1, "", 0);
	assert_null(prof_symbolized((struct symprofile_options){ .form = SYMPROFILE_HTML }, in.v.data,
				    in.v.len, &len, &err));
	assert_int_equal(err.code, SC_ELIMIT);
	prof_bytes_deinit(&in);
}

/* Each in the largest unit of which there is one, by three digits or more. */
static void test_page_values(void **state)
{
	static const struct {
		const char *value, *want;
	} cases[] = {
		{ "100000000000", "<h1>100 s cpu</h1>" }, { "99900000000", "<h1>99.9 s cpu</h1>" },
		{ "10000000000", "<h1>10.0 s cpu</h1>" }, { "9990000000", "<h1>9.99 s cpu</h1>" },
		{ "1000000000", "<h1>1.00 s cpu</h1>" },  { "999000000", "<h1>999 ms cpu</h1>" },
		{ "1000", "<h1>1.00 µs cpu</h1>" },	  { "999", "<h1>999 ns cpu</h1>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct prof_bytes in = { 0 };
		char text[200];

		snprintf(text, sizeof(text),
			 "1{1:1 2:2} 3{1:1 2:0x7000 3:0x8000 5:3} 4{1:1 2:1 3:0x71d0} 2{1:1 2:%s} "
			 "6\"\" 6\"cpu\" 6\"nanoseconds\" 6\"/opt/prog\" ",
			 cases[i].value);
		proto_put(&in, text);
		expect_in_page(in.v.data, in.v.len, cases[i].want);
		prof_bytes_deinit(&in);
	}
}

/* ---- what is no profile ---------------------------------------------------------------------------- */

static void test_unknown(void **state)
{
	(void)state;
	expect_error("", 0, SC_EUNSUPPORTED, "is empty");
	expect_error("\x7f" "ELF\2\1\1", 7, SC_EUNSUPPORTED, "is an ELF file");
	expect_error("Hello\n", 6, SC_EUNSUPPORTED,
		     "is a text, but not of stacks: its lines do not end in numbers");
	expect_error("main \n", 6, SC_EUNSUPPORTED,
		     "is a text, but not of stacks: its lines do not end in numbers");
	expect_error("123", 3, SC_EUNSUPPORTED,
		     "is a text, but not of stacks: its lines do not end in numbers");
	expect_error("\x1f\x8b\x08\0\0\0\0\0\0\0", 10, SC_EFORMAT,
		     "after 0xa bytes: gzip: the file is cut off");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_folded_of_pprof),
		cmocka_unit_test(test_return_addresses),
		cmocka_unit_test(test_cut_pprof),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_unprintable), cmocka_unit_test(test_page), cmocka_unit_test(test_page_values),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}
