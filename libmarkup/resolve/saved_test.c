/*
 * What is known at a place in a log, saved and taken up by another filter: of processes with keys of every
 * length, all of their modules and maps. Bytes that are not what was saved are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <errno.h>

#include "libmarkup/cases_test.h"

/* Two processes, whose keys are `len` bytes and one more; a frame of each is behind the cut. */
static size_t make_log(size_t len, char *log)
{
	size_t cut = 0;
	char *to = log;

	for (int behind = 0; behind < 2; behind++) {
		for (size_t k = len; k < len + 2; k++) {
			char key[200];

			memset(key, 'k', k);
			key[k] = '\0';
			if (behind)
				to += sprintf(to, "%s: {{{bt:0:0x10193:pc}}}\n", key);
			else
				to += sprintf(to, "%s: {{{module:%zu:m%zu:elf:aa}}}\n%s: {{{mmap:0x10000:0x%zu000:load:%zu:rx:0x%zu000}}}\n",
					      key, k, k, key, 2 + k % 2, k, 1 + k % 2);
		}
		if (!behind)
			cut = (size_t)((to += sprintf(to, "plain\n")) - log);
	}
	return cut;
}

static struct markup_filter *begin(const struct markup_options *o, struct fake_sink *got)
{
	const struct markup_sink sink = { got, fake_write, fake_complain };
	struct markup_filter *f;

	assert_int_equal(markup_filter_create(o, &fake_resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "log");
	return f;
}

static void test_keys(void **state)
{
	static const size_t lengths[] = { 1, 2, 31, 62, 63, 64, 65, 100 };

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(lengths) / sizeof(*lengths); i++) {
		const struct markup_options o = { .demux = "^(k+): ", .dialect = i % 2 ? MARKUP_FUCHSIA : MARKUP_DEFAULT };
		struct fake_sink whole = { 0 }, parts = { 0 };
		struct markup_filter *f;
		struct markup_cut at;
		char log[2000], *saved;
		const size_t cut = make_log(lengths[i / 2], log);
		size_t len;

		assert_int_equal(fake_filter(&o, log, strlen(log), SIZE_MAX / 2, &whole), 0);
		f = begin(&o, &parts);
		assert_int_equal(markup_filter_feed(f, log, cut), 0);
		assert_int_equal(markup_filter_flush(f), 0);
		assert_true(markup_filter_cut(f, &at));
		assert_int_equal(at.offset, cut);
		assert_int_equal(at.lines, 5);
		assert_int_equal(markup_filter_save(f, &saved, &len), 0);
		markup_filter_destroy(f);
		f = begin(&o, &parts);
		assert_int_equal(markup_filter_resume(f, at.lines, saved, len), 0);
		assert_int_equal(markup_filter_feed(f, log + cut, strlen(log) - cut), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		assert_int_equal(markup_filter_end(f), 0);
		markup_filter_destroy(f);
		assert_string_equal(parts.out.buf, whole.out.buf);
		assert_string_equal(parts.err.buf ? parts.err.buf : "", whole.err.buf);
		if (lengths[i / 2] < 64) /* longer ones are one process */
			assert_non_null(strstr(whole.out.buf, "ns::get"));
		for (size_t left = 0; left < len; left += 1 + left / 16) { /* cut off */
			f = begin(&o, &parts);
			assert_int_equal(markup_filter_resume(f, at.lines, saved, left), -EINVAL);
			markup_filter_destroy(f);
		}
		free(saved);
		fake_sink_deinit(&whole);
		fake_sink_deinit(&parts);
	}
}

/* Each byte that was saved, changed in four ways: '-': it is refused; '=': it is taken, and saved again
 * as it is; '~': as something else. In testdata/markup is what is known to be right. */
static void test_changed(void **state)
{
	static const char log[] =
		"kk: {{{module:3:name:elf:aabb}}}\nkk: {{{mmap:0x1000:0x800:load:3:rx:0x100}}}\n"
		"kk: {{{module:4::elf:cc}}}\nkk: {{{mmap:0x2000:0x10:load:4:rw:0x20}}}\n"
		"{{{module:3:own:elf:dd}}}\n{{{mmap:0x3000:0x10:load:3:r:0}}}\nplain\n";
	static const struct { const char *name; struct markup_options options; } cases[] = {
		{ "saved.default", { .demux = "^(k+): " } },
		{ "saved.fuchsia", { .demux = "^(k+): ", .dialect = MARKUP_FUCHSIA } },
		{ "saved.llvm", { .dialect = MARKUP_LLVM } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct fake_sink none = { 0 };
		struct fake_text text = { 0 };
		struct markup_filter *f = begin(&cases[i].options, &none);
		char *saved, *again, line[40];
		size_t len, again_len;

		assert_int_equal(markup_filter_feed(f, log, sizeof(log) - 1), 0);
		assert_int_equal(markup_filter_flush(f), 0);
		assert_int_equal(markup_filter_save(f, &saved, &len), 0);
		markup_filter_destroy(f);
		for (size_t at = 0; at < len; at++) {
			const char was = saved[at], others[4] = { (char)(was ^ 1), (char)(was ^ 0x80), 0, (char)0xff };

			fake_append(&text, line, (size_t)sprintf(line, "%zu %02x ", at, (unsigned char)was));
			for (size_t k = 0; k < 4; k++) {
				int rc;

				saved[at] = others[k];
				f = begin(&cases[i].options, &none);
				rc = markup_filter_resume(f, 7, saved, len);
				assert_true(!rc || rc == -EINVAL);
				if (!rc) {
					assert_int_equal(markup_filter_save(f, &again, &again_len), 0);
					fake_append(&text, again_len == len && !memcmp(again, saved, len) ? "=" : "~", 1);
					free(again);
				} else {
					fake_append(&text, "-", 1);
				}
				markup_filter_destroy(f);
			}
			saved[at] = was;
			fake_append(&text, "\n", 1);
		}
		record(cases[i].name, &text);
		expect_recorded(cases[i].name, &text, "");
		free(text.buf);
		free(saved);
		fake_sink_deinit(&none);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_keys), cmocka_unit_test(test_changed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
