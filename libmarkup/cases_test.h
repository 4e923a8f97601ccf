/*
 * cases_test.h: for the tests: a log of testdata/logs through the whole filter, with the
 * resolver of testing.h, against the file of testdata/markup that has what must come of it. With
 * UPDATE=1 in the environment that is written; read it before you commit it.
 */
#ifndef MARKUP_CASES_TEST_H
#define MARKUP_CASES_TEST_H

#include <stdio.h>

#include "libmarkup/testing.h"

static inline void read_case(const char *folder, const char *name, const char *end,
			     struct fake_text *ret)
{
	char path[100], block[4096];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "testdata/%s/%s%s", folder, name, end);
	f = fopen(path, "r");
	if (!f)
		fail_msg("there is no %s", path);
	fake_append(ret, "", 0);
	while ((n = fread(block, 1, sizeof(block), f)))
		fake_append(ret, block, n);
	fclose(f);
}

static inline void put_case_module(void *ctx, const struct markup_module *m)
{
	char line[300];
	const int n = snprintf(line, sizeof(line), "%.*s, build ID of %zu bytes: %llu frames%s\n",
			       (int)m->name.len, m->name.ptr ? m->name.ptr : "", m->build_id_len,
			       (unsigned long long)m->frames, m->no_symbols ? ", no symbols" : "");

	fake_append(ctx, line, (size_t)n);
}

/* All that comes of the log, fed in pieces. */
static inline void run_case(const struct markup_options *options, const struct fake_text *log,
			    size_t piece, struct fake_text *ret)
{
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	const struct markup_stats *stats;
	struct markup_filter *f;
	char line[200];

	assert_int_equal(markup_filter_create(options, &fake_resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "log");
	for (size_t at = 0; at < log->len; at += piece)
		assert_int_equal(markup_filter_feed(f, log->buf + at,
						    log->len - at < piece ? log->len - at : piece),
				 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_end(f), 0);
	fake_append(ret, got.out.buf, got.out.len);
	fake_append(ret, "\n---- complaints\n", 17);
	fake_append(ret, got.err.buf, got.err.len);
	fake_append(ret, "---- missing\n", 13);
	markup_filter_missing(f, put_case_module, ret);
	if (options->keep_modules) {
		fake_append(ret, "---- modules\n", 13);
		markup_filter_modules(f, put_case_module, ret);
	}
	stats = markup_filter_stats(f);
	snprintf(line, sizeof(line),
		 "---- %llu frames, %llu resolved, %llu outside, %llu understood, %llu guessed\n",
		 (unsigned long long)stats->frames, (unsigned long long)stats->frames_resolved,
		 (unsigned long long)stats->frames_outside, (unsigned long long)stats->understood,
		 (unsigned long long)stats->guessed);
	fake_append(ret, line, strlen(line));
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

/* What came of something against testdata/markup/NAME; `how`: it was done. */
static inline void expect_recorded(const char *name, const struct fake_text *got, const char *how)
{
	struct fake_text want = { 0 };
	size_t at = 0;

	read_case("markup", name, "", &want);
	while (at < got->len && at < want.len && got->buf[at] == want.buf[at])
		at++;
	if (got->len != want.len || at < got->len)
		fail_msg("%s %s: byte %zu\n got  %.200s\n want %.200s\n", name, how, at,
			 got->buf + (at < 80 ? 0 : at - 80), want.buf + (at < 80 ? 0 : at - 80));
	free(want.buf);
}

/* Writes it there, if that is asked for. */
static inline void record(const char *name, const struct fake_text *got)
{
	char path[100];
	FILE *f;

	if (!getenv("UPDATE"))
		return;
	snprintf(path, sizeof(path), "testdata/markup/%s", name);
	f = fopen(path, "w");
	assert_true(f && fwrite(got->buf, 1, got->len, f) == got->len && !fclose(f));
}

static inline void expect_case(const struct markup_options *options, const char *log_name,
			       const char *name)
{
	static const struct { size_t piece; const char *how; } cuts[] = {
		{ SIZE_MAX, "as a whole" }, { 1, "in single bytes" }, { 61, "in pieces of 61 bytes" },
	};
	struct fake_text log = { 0 };
	char file[60];

	read_case("logs", log_name, ".log", &log);
	snprintf(file, sizeof(file), "%s.%s", log_name, name);
	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		struct fake_text got = { 0 };

		run_case(options, &log, cuts[i].piece < log.len ? cuts[i].piece : log.len, &got);
		if (!i)
			record(file, &got);
		expect_recorded(file, &got, cuts[i].how);
		free(got.buf);
	}
	free(log.buf);
}

#endif
