/* Keys of prefixes, and logs of several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <errno.h>

#include "libmarkup/resolve/demux.h"
#include "libmarkup/testing.h"

static void test_keys(void **state)
{
	static const struct {
		const char *prefix, *key;
	} cases[] = {
		{ "[00169.291005][1234][5678][klog] INFO: ", "1234" },
		{ "[2020-10-02 14:15:01][123][456][tags] INFO: ", "123" },
		{ "[00012.345] 1234.5678> ", "1234" },
		{ "[00012.345]   77.1>", "77" },
		{ "[00012.345] 1234.5678 ", "" },
		{ "[00012.345][12][ab] ", "" },
		{ "[00012.345] ", "" },
		{ "[][12][34] ", "" },
		{ "[1\0][12][34] ", "" },
		{ "Nov 21 10:00:00 host name[1234]: ", "1234" },
		{ "name[1234]: ", "1234" },
		{ "a[1] b[22]: c[3]: ", "22" },
		{ "[1234]: ", "" },
		{ "host [1234]: ", "" },
		{ "name[12a4]: ", "" },
		{ "name[1234] ", "" },
		{ "[", "" },
		{ "", "" },
		{ "x", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *p = cases[i].prefix;
		struct sc_str key = mk_demux_key(p, p + strlen(p));
		assert_int_equal(key.len, strlen(cases[i].key));
		assert_memory_equal(key.ptr ? key.ptr : "", cases[i].key, key.len);
	}
}

static void expect(const char *how, enum markup_dialect dialect, const char *in, const char *out)
{
	const struct markup_options options = { .demux = how, .dialect = dialect };
	struct fake_sink got;

	for (size_t piece = 1; piece < 1000; piece += 500) {
		assert_int_equal(fake_filter(&options, in, strlen(in), piece, &got), 0);
		assert_string_equal(got.out.buf, out);
		fake_sink_deinit(&got);
	}
}

static const char two[] =
	"a[1]: {{{module:0:one:elf:aa}}}\n"
	"a[2]: {{{module:0:two:elf:bb}}}\n"
	"a[1]: {{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"
	"a[2]: {{{mmap:0x10000:0x3000:load:0:rx:0}}}\n"
	"a[1]: {{{bt:0:0x10201}}}\n"
	"a[2]: {{{bt:0:0x11201}}}\n"
	"a[3]: {{{bt:0:0x10201}}}\n"
	"{{{bt:0:0x10201}}}\n"
	"a[2]: {{{reset}}}\n"
	"a[2]: {{{bt:0:0x10201}}}\n"
	"a[1]: {{{bt:1:0x10201}}}\n";

static void test_two_processes(void **state)
{
	(void)state;
	expect("", MARKUP_DEFAULT, two,
	       "a[1]: [[[ELF module #0x0 \"one\"; BuildID=aa]]]\n"
	       "a[2]: [[[ELF module #0x0 \"two\"; BuildID=bb]]]\n"
	       "a[1]: [[[ELF module #0x0 \"one\"; adds [0x10000-0x12fff](rx)]]]\n"
	       "a[2]: [[[ELF module #0x0 \"two\"; adds [0x10000-0x12fff](rx)]]]\n"
	       "a[1]:     #0    0x0000000000010201 main main.c:12:3 (one+0x1201)\n"
	       "a[2]:     #0    0x0000000000011201 main main.c:12:3 (two+0x1201)\n"
	       "a[3]:     #0    0x0000000000010201 is not in any module\n"
	       "    #0    0x0000000000010201 is not in any module\n"
	       "a[2]: [[[reset]]]\n"
	       "a[2]:     #0    0x0000000000010201 is not in any module\n"
	       "a[1]:     #1    0x0000000000010201 main main.c:12:3 (one+0x1201)\n");
	expect("", MARKUP_FUCHSIA, two,
	       "a[1]: [[[ELF module #0x0 \"one\" BuildID=aa 0xf000]]]\n"
	       "a[2]: [[[ELF module #0x0 \"two\" BuildID=bb 0x10000]]]\n"
	       "a[1]:    #0    0x0000000000010201 in main main.c:12 <one>+0x1201\n"
	       "a[2]:    #0    0x0000000000011201 in main main.c:12 <two>+0x1201\n"
	       "a[3]:    #0    0x0000000000010201 is not covered by any module\n"
	       "   #0    0x0000000000010201 is not covered by any module\n"
	       "a[2]:    #0    0x0000000000010201 is not covered by any module\n"
	       "a[1]:    #1    0x0000000000010201 in main main.c:12 <one>+0x1201\n");
}

static void test_regex(void **state)
{
	const struct markup_options bad = { .demux = "(" };
	struct fake_sink got = { 0 };
	const char *in = "<one> {{{module:0:a:elf:aa}}}\n<two> {{{pc:0x1}}}\n<one> {{{reset}}}\n";
	const char *out = "<one> [[[ELF module #0x0 \"a\"; BuildID=aa]]]\n"
			  "<two> 0x0000000000000001 is not in any module\n<one> [[[reset]]]\n";

	(void)state;
	expect("^<([a-z]+)>", MARKUP_DEFAULT, in, out);
	expect("^<[a-z]+>", MARKUP_DEFAULT, in, out);
	assert_int_equal(fake_filter(&bad, "", 0, 1, &got), -EINVAL);
	fake_sink_deinit(&got);
}

/* What takes exponential memory or time is refused, and what is not a regular expression. */
static void test_valid(void **state)
{
	static const struct { const char *how; bool valid; } cases[] = {
		{ "", true }, { "a", true }, { "(", false }, { "a\\", false },
		{ "(a)\\1", false }, { "(a)(b)(c)(d)(e)(f)(g)(h)(i)\\9", false }, { "\\\\1", true }, { "\\.9", true },
		{ "\\{2000\\}", true }, { "a{1000}", true }, { "a{1001}", false }, { "a{0}", true }, { "a{2,}", true },
		{ "a{2,1000}", true }, { "a{2,1001}", false }, { "(a{10}){100}", true }, { "(a{10}){101}", false },
		{ "a{500}b{2}", true }, { "a{500}b{3}", false }, { "a{2,500}b{2,3}", false }, { "(a{0}){1000}", true },
		{ "a{99999999999999999999}", false },
	};
	char longest[1002];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct markup_options options = { .demux = cases[i].how };
		struct fake_sink got = { 0 };

		if (markup_demux_valid(cases[i].how) != cases[i].valid)
			fail_msg("%s", cases[i].how);
		assert_int_equal(fake_filter(&options, "", 0, 1, &got), cases[i].valid ? 0 : -EINVAL);
		fake_sink_deinit(&got);
	}
	memset(longest, 'a', sizeof(longest));
	longest[1001] = 0;
	assert_false(markup_demux_valid(longest));
	longest[1000] = 0;
	assert_true(markup_demux_valid(longest));
}

/* How much is looked at of what stands before the markup: two lines are of one process if they have
 * the same key within that, and of none without one. */
static void test_reach(void **state)
{
	static const struct { const char *how, *key; size_t most; } cases[] = {
		{ "", " p[%u]:", 512 }, { "<(p[0-9])>", "<p%u>", 1023 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t len = cases[i].most - 2; len <= cases[i].most + 2; len++) {
			const struct markup_options options = { .demux = cases[i].how };
			char log[3][1200], all[4000], key[20];
			struct fake_sink got;

			for (unsigned k = 0; k < 3; k++) {
				const int n = sprintf(key, cases[i].key, k == 2);

				memset(log[k], '.', len);
				strcpy(log[k] + len - (size_t)n, key);
			}
			sprintf(all, "%s{{{module:0:a:elf:aa}}}\n%s{{{mmap:0x10000:0x1000:load:0:rx:0x1000}}}\n"
				"%s{{{pc:0x10200}}}\n", log[0], log[1], log[2]);
			assert_int_equal(fake_filter(&options, all, strlen(all), 4000, &got), 0);
			/* Without keys all are of one process, or none. */
			assert_int_equal(strstr(got.out.buf, "main[main.c:12]") != NULL, len > cases[i].most);
			fake_sink_deinit(&got);
		}
	}
}

/* What contexts take is bounded by this count. */
static void test_bytes(void **state)
{
	uint64_t generations = 0;
	struct mk_context c;
	uint32_t index;

	(void)state;
	mk_context_init(&c, MARKUP_DEFAULT, &generations);
	assert_int_equal(mk_context_bytes(&c), 0);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(mk_context_add_module(&c, i, (struct sc_str)STR("name"), (struct sc_str)STR("aabb"),
						       &index), MK_CTX_OK);
	assert_int_equal(mk_context_bytes(&c), 100 * (4 + 2 + sizeof(*c.modules) + sizeof(*c.by_id)));
	for (uint64_t i = 0; i < 30; i++)
		assert_int_equal(mk_context_add_map(&c, &(struct mk_map){ .address = 100 * i, .size = 10 }, &index),
				 MK_CTX_OK);
	assert_int_equal(mk_context_bytes(&c), 100 * (4 + 2 + sizeof(*c.modules) + sizeof(*c.by_id)) +
			 30 * (sizeof(*c.maps) + sizeof(*c.starts) + sizeof(*c.order)));
	mk_context_reset(&c);
	assert_int_equal(mk_context_bytes(&c), 0);
	mk_context_deinit(&c);
}

/* Of more processes than are remembered the last ones are. */
static void test_many(void **state)
{
	const struct markup_options options = { .demux = "" };
	struct fake_text in = { 0 };
	struct fake_sink got;
	char line[64];

	(void)state;
	for (unsigned i = 0; i < DEMUX_MAX + 10; i++)
		fake_append(&in, line, (size_t)snprintf(line, sizeof(line),
							"a[%u]: {{{module:0:a:elf:aa}}}\n", i));
	fake_append(&in, "a[9]: {{{reset}}}x\na[10]: {{{reset}}}\n", 37);
	assert_int_equal(fake_filter(&options, in.buf, in.len, 1 << 20, &got), 0);
	/* The ninth is gone and its reset says nothing; but it took the place of
	 * the tenth. */
	assert_non_null(strstr(got.out.buf, "\na[9]: x\n"));
	assert_null(strstr(got.out.buf, "a[9]: [[[reset]]]"));
	assert_null(strstr(got.out.buf, "a[10]: [[[reset]]]"));
	fake_sink_deinit(&got);
	free(in.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_two_processes),
		cmocka_unit_test(test_regex),
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests_name("demux", tests, NULL, NULL);
}
