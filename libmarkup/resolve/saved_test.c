/*
 * What is known at a place in a log, saved and taken up by another filter: of processes with keys of every
 * length, all of their modules and maps. Bytes that are not what was saved are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <errno.h>

#include "libmarkup/testing.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_keys) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
