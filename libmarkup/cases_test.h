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

/* As fake_code(), and at 0x1600 and 0x1020 names with templates, at 0x1610 one of the system's; the
 * same from 0x400000 on. */
static inline size_t case_code(void *ctx, void *module, uint64_t vaddr, bool named,
			       const struct sc_frame **frames)
{
	static const struct sc_frame templates[] = {
		{ STR("std::vector<int, std::allocator<int> >::push_back(int const&)"),
		  STR("/usr/include/c++/12/bits/stl_vector.h"), 1276, 2 },
		{ STR("void shop::fill<shop::Money<2>, 7>(shop::Money<2>*) const"), STR("shop/fill.hh"), 3, 0 },
		{ STR("shop::operator<"), STR("/src/<shop>&.cc"), 0, 0 },
	};
	static const struct sc_frame system[] = { { STR("std::terminate()"), NOWHERE, 0, 0 } };
	size_t n;

	vaddr %= 0x400000;
	if ((vaddr & ~15ull) == 0x1600 || (vaddr & ~15ull) == 0x1020)
		return *frames = templates, 3;
	if ((vaddr & ~15ull) == 0x1610)
		return *frames = system, 1;
	n = fake_code(ctx, module, vaddr, named, frames);
	if (!n)
		*frames = templates; /* of which none is meant */
	return n;
}

/* As fake_module(), and modules that are known by their names alone. */
static inline void *case_module(void *ctx, struct markup_module *m, const char **why)
{
	static char named;
	const struct sc_str name = sc_basename(m->name);

	return sc_str_is(name, "crash") || sc_str_is(name, "mongod") || sc_str_is(name, "vmlinux") ?
		&named : fake_module(ctx, m, why);
}

/* All symbols are at 0x1200. */
static inline bool case_place(void *ctx, void *module, struct markup_place *place, uint64_t *vaddr)
{
	(void)ctx;
	(void)module;
	if (place->origin == MARKUP_FROM_SYMBOL || place->origin == MARKUP_FROM_SHOWN)
		*vaddr = 0x1200 + place->offset;
	else
		*vaddr = place->offset;
	return !sc_str_is(place->symbol, "no_such_function");
}

/* Lines around the place of a frame, but for each third line, and without the last newline. */
static inline struct sc_str case_source(void *ctx, void *module, const struct sc_frame *frame)
{
	static _Thread_local char text[200];

	(void)ctx;
	(void)module;
	if (frame->line % 3 == 0)
		return (struct sc_str){ NULL, 0 };
	const int n = snprintf(text, sizeof(text), "%u  : if (a < b)\n%u >: \tcall();\n%u  :\n%u",
			       frame->line - 1, frame->line, frame->line + 1, frame->line + 2);
	return (struct sc_str){ text, (size_t)n };
}

static inline struct markup_resolver case_resolver(bool sources)
{
	struct markup_resolver ret = fake_resolver;

	ret.module = case_module;
	ret.place = case_place;
	ret.code = case_code;
	ret.source = sources ? case_source : NULL;
	return ret;
}

/* All that comes of the log, fed in pieces. */
static inline void run_case(const struct markup_options *options,
			    const struct markup_resolver *resolver, const struct fake_text *log,
			    size_t piece, struct fake_text *ret)
{
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	const struct markup_stats *stats;
	struct markup_filter *f;
	char line[200];

	assert_int_equal(markup_filter_create(options, resolver, 1, &sink, &f), 0);
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
	if (options->collect_dumpfiles) {
		struct sc_str list;

		fake_append(ret, "---- dumpfiles\n", 15);
		markup_filter_dumpfiles(f, &list);
		fake_append(ret, list.ptr, list.len);
		fake_append(ret, "\n", 1);
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

/* Logs, one behind another, as one output, or, with options->group, for groups. */
static inline void run_logs(const struct markup_options *options, bool sources,
			    const char *const *names, size_t piece, struct markup_groups *g,
			    struct fake_text *ret)
{
	const struct markup_resolver resolver = case_resolver(sources);
	struct fake_sink got = { 0 };
	const struct markup_sink sink = {
		g ? (void *)g : &got, g ? markup_groups_take : fake_write, g ? NULL : fake_complain,
	};
	struct markup_filter *f;

	assert_int_equal(markup_filter_create(options, &resolver, 1, &sink, &f), 0);
	for (; *names; names++) {
		struct fake_text log = { 0 };
		char path[100];

		read_case("logs", *names, ".log", &log);
		snprintf(path, sizeof(path), "/var/log/%s.log", *names);
		markup_filter_input(f, path);
		for (size_t at = 0; at < log.len; at += piece)
			assert_int_equal(markup_filter_feed(f, log.buf + at, log.len - at < piece ?
							    log.len - at : piece), 0);
		assert_int_equal(markup_filter_finish(f), 0);
		free(log.buf);
	}
	assert_int_equal(markup_filter_end(f), 0);
	markup_filter_destroy(f);
	*ret = got.out;
	free(got.err.buf);
}

struct case_cut { size_t piece; const char *how; };
static const struct case_cut case_cuts[] = {
	{ 1 << 20, "as a whole" }, { 1, "in single bytes" }, { 61, "in pieces of 61 bytes" },
};
enum { CASE_CUTS = sizeof(case_cuts) / sizeof(*case_cuts) };

/* The groups of logs in a form, as they are written; `edit` may leave out some of it. */
static inline void expect_groups(const char *name, enum markup_format format, bool color,
				 const char *const *logs, const struct markup_page *pages,
				 void (*edit)(struct fake_text *t))
{
	const struct markup_options options = { .format = format, .group = true };

	for (size_t i = 0; i < CASE_CUTS; i++) {
		struct fake_text got = { 0 }, none;
		struct markup_groups *g;

		assert_int_equal(markup_groups_create(&g), 0);
		markup_groups_pages(g, pages);
		run_logs(&options, false, logs, case_cuts[i].piece, g, &none);
		assert_null(none.buf);
		assert_int_equal(markup_groups_write(g, format, color, fake_append, &got), 0);
		markup_groups_destroy(g);
		if (edit)
			edit(&got);
		if (!i)
			record(name, &got);
		expect_recorded(name, &got, case_cuts[i].how);
		free(got.buf);
	}
}

static inline void expect_case_of(const struct markup_resolver *resolver,
				  const struct markup_options *options, const char *log_name,
				  const char *name)
{
	struct fake_text log = { 0 };
	char file[60];

	read_case("logs", log_name, ".log", &log);
	snprintf(file, sizeof(file), "%s.%s", log_name, name);
	for (size_t i = 0; i < CASE_CUTS; i++) {
		struct fake_text got = { 0 };

		run_case(options, resolver, &log, case_cuts[i].piece, &got);
		if (!i)
			record(file, &got);
		expect_recorded(file, &got, case_cuts[i].how);
		free(got.buf);
	}
	free(log.buf);
}

static inline void expect_case(const struct markup_options *options, const char *log_name,
			       const char *name)
{
	expect_case_of(&fake_resolver, options, log_name, name);
}

#endif
