/*
 * A log in parts, each filtered by a fresh filter that got what was saved at the cut, against
 * one filter for all of it: random logs in every dialect, with and without colour, JSON, and
 * several processes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <errno.h>

#include "libmarkup/filter/filter.h"
#include "libmarkup/filter/testing.h"
#include "libmarkup/resolve/saved.h"

static const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver };

struct part {
	struct markup_cut from;
	char *saved;
	size_t len;
};

enum { PARTS_MAX = 4000 };
static struct part parts[PARTS_MAX];

/* For resume_fuzz.c, into $SEEDS. */
static void keep_seed(const struct markup_options *options, const struct part *p)
{
	const char *dir = getenv("SEEDS");
	char path[512];
	FILE *f;

	if (!dir || p->len > 4000)
		return;
	snprintf(path, sizeof(path), "%s/%d-%d-%zu", dir, options->dialect, !!options->demux, p->len);
	f = fopen(path, "w");
	assert_non_null(f);
	fputc((int)options->dialect | (options->demux ? 16 : 0), f);
	fwrite(p->saved, 1, p->len, f);
	fclose(f);
}

/* Follows the log silently, and cuts it where that can be, every `step` bytes or so. */
static size_t plan(const struct markup_options *options, const struct fake_text *in, size_t step)
{
	const struct markup_sink none = { 0 };
	struct markup_filter *f;
	struct markup_cut cut;
	size_t n = 1;

	parts[0] = (struct part){ { 0, 0 }, NULL, 0 };
	assert_int_equal(markup_filter_create(options, resolvers, 1, &none, &f), 0);
	markup_filter_input(f, "first");
	for (size_t at = 0; at < in->len; at += step) {
		const size_t len = in->len - at < step ? in->len - at : step;

		assert_int_equal(markup_filter_feed(f, in->buf + at, len), 0);
		if (step < 60000)
			assert_int_equal(markup_filter_flush(f), 0);
		if (!markup_filter_cut(f, &cut) || cut.offset == parts[n - 1].from.offset ||
		    cut.offset == in->len || n == PARTS_MAX)
			continue;
		parts[n].from = cut;
		assert_int_equal(markup_filter_save(f, &parts[n].saved, &parts[n].len), 0);
		keep_seed(options, &parts[n]);
		n++;
	}
	markup_filter_destroy(f);
	return n;
}

/* The complaints of parts warn of a module each; of these the first one counts. */
struct warned {
	struct fake_sink *sink;
	struct markup_tally *tally;
};

static int write_out(void *ctx, const char *data, size_t len)
{
	return fake_write(((struct warned *)ctx)->sink, data, len);
}

static void complain(void *ctx, const char *data, size_t len)
{
	fake_complain(((struct warned *)ctx)->sink, data, len);
}

static void warn(void *ctx, const struct markup_module *m, const char *data, size_t len)
{
	if (markup_tally_warns(((struct warned *)ctx)->tally, m))
		complain(ctx, data, len);
}

static void miss(void *ctx, const struct markup_module *m)
{
	markup_tally_miss(ctx, m);
}

static void run_part(const struct markup_options *options, const struct fake_text *in, size_t i,
		     size_t n, unsigned threads, struct warned *to, struct reports *reports)
{
	const struct markup_sink sink = { to, write_out, complain, warn };
	const size_t from = parts[i].from.offset, end = i + 1 < n ? parts[i + 1].from.offset : in->len;
	struct markup_filter *f;
	struct markup_str json;

	assert_int_equal(markup_filter_create(options, resolvers, threads, &sink, &f), 0);
	markup_filter_input(f, "first");
	if (i)
		assert_int_equal(markup_filter_resume(f, parts[i].from.lines, parts[i].saved,
						      parts[i].len), 0);
	assert_int_equal(markup_filter_feed(f, in->buf + from, end - from), 0);
	assert_int_equal(i + 1 < n ? markup_filter_flush(f) : markup_filter_finish(f), 0);
	markup_tally_count(to->tally, markup_filter_stats(f));
	markup_filter_missing(f, miss, to->tally);
	markup_filter_dumpfiles(f, &json);
	if (json.len && reports->dumpfiles.len)
		fake_append(&reports->dumpfiles, ",\n", 2);
	fake_append(&reports->dumpfiles, json.ptr, json.len);
	markup_filter_destroy(f);
}

static void run_whole(const struct markup_options *options, const struct fake_text *in,
		      struct warned *to, struct reports *reports)
{
	const struct part first = parts[0];

	parts[0] = (struct part){ 0 };
	run_part(options, in, 0, 1, 1, to, reports);
	parts[0] = first;
}

static void init(struct warned *w, struct fake_sink *sink)
{
	*sink = (struct fake_sink){ 0 };
	fake_append(&sink->out, "", 0);
	fake_append(&sink->err, "", 0);
	w->sink = sink;
	assert_int_equal(markup_tally_create(&w->tally), 0);
}

/* Returns the number of parts. */
static size_t check(const struct markup_options *options, const struct fake_text *in, size_t step)
{
	struct reports wanted = { .missing = "" }, reported = { .missing = "" };
	struct fake_sink want, got;
	struct warned whole, cut;
	size_t n;

	init(&whole, &want);
	init(&cut, &got);
	run_whole(options, in, &whole, &wanted);
	n = plan(options, in, step);
	for (size_t i = 0; i < n; i++)
		run_part(options, in, i, n, 1 + (unsigned)i % 3, &cut, &reported);
	same_text("output", &got.out, &want.out);
	same_text("complaints", &got.err, &want.err);
	same_text("dumpfiles", &reported.dumpfiles, &wanted.dumpfiles);
	markup_tally_missing(whole.tally, note_missing, &wanted);
	markup_tally_missing(cut.tally, note_missing, &reported);
	assert_string_equal(reported.missing, wanted.missing);
	assert_memory_equal(markup_tally_stats(cut.tally), markup_tally_stats(whole.tally),
			    sizeof(struct markup_stats));
	for (size_t i = 1; i < n; i++)
		free(parts[i].saved);
	markup_tally_destroy(whole.tally);
	markup_tally_destroy(cut.tally);
	fake_sink_deinit(&want);
	fake_sink_deinit(&got);
	free(wanted.dumpfiles.buf);
	free(reported.dumpfiles.buf);
	return n;
}

static void test_parts(void **state)
{
	static const enum markup_dialect dialects[] = {
		MARKUP_DEFAULT, MARKUP_DEFAULT, MARKUP_LLVM, MARKUP_FUCHSIA,
	};
	struct fake_text in = { 0 };
	size_t all = 0;

	(void)state;
	for (unsigned seed = 1; seed <= 24; seed++) {
		const struct markup_options options = {
			.dialect = dialects[seed % 4],
			.format = seed % 5 == 0 ? MARKUP_JSON : MARKUP_TEXT_OUT,
			.color = seed / 4 % 3,
			.collect_dumpfiles = true,
			.demux = seed % 3 ? NULL : "",
		};
		make_log(&in, seed, options.demux);
		all += check(&options, &in, 3000 + 1777 * (seed % 7));
		all += check(&options, &in, 150000);
	}
	print_message("%zu parts\n", all);
	assert_true(all > 1000);
	free(in.buf);
}

/* More processes than there may be: which one is forgotten is the same. */
static void test_forgotten(void **state)
{
	const struct markup_options options = { .demux = "" };
	struct fake_text in = { 0 };
	char line[128];

	(void)state;
	srand(7);
	for (unsigned i = 0; i < 12000; i++) {
		const unsigned process = pick(3 * DEMUX_MAX / 2);

		if (pick(3))
			snprintf(line, sizeof(line), "[1.2] %u.7> {{{bt:0:0x11200:pc}}}\n", process);
		else
			snprintf(line, sizeof(line), "[1.2] %u.7> {{{module:0:m:elf:aa}}}"
				 "{{{mmap:0x10000:0x4000:load:0:rx:0}}}\n", process);
		add(&in, line);
		add(&in, "plain\n");
	}
	assert_true(check(&options, &in, 20000) > 20);
	free(in.buf);
}

/* What is refused: a page, bytes that were changed, other options. */
static void test_refused(void **state)
{
	const struct markup_options page = { .format = MARKUP_HTML }, text = { 0 },
		llvm = { .dialect = MARKUP_LLVM };
	const struct markup_sink none = { 0 };
	struct fake_text in = { 0 };
	struct markup_filter *f;
	size_t n;

	(void)state;
	add(&in, "{{{module:0:m:elf:aa}}}\n{{{mmap:0x10000:0x4000:load:0:rx:0}}}\nplain\n");
	for (unsigned i = 0; i < 1000; i++)
		add(&in, "plain\n");
	assert_int_equal(plan(&page, &in, 1000), 1);
	n = plan(&text, &in, 1000);
	assert_true(n > 3);
	for (size_t len = 0; len <= parts[1].len; len++) {
		char *changed = malloc(parts[1].len + 1);

		memcpy(changed, parts[1].saved, parts[1].len);
		assert_int_equal(markup_filter_create(len % 2 ? &llvm : &text, resolvers, 1, &none, &f), 0);
		markup_filter_input(f, "log");
		assert_int_equal(markup_filter_resume(f, 0, changed, len),
				 len == parts[1].len && len % 2 == 0 ? 0 : -EINVAL);
		markup_filter_destroy(f);
		free(changed);
	}
	for (size_t i = 1; i < n; i++)
		free(parts[i].saved);
	free(in.buf);
}

/* A copy of a context takes as much memory as it, by the count that decides what is forgotten. */
static void test_bytes(void **state)
{
	uint64_t generations = 0;
	struct mk_context a, b;
	uint32_t index;

	(void)state;
	mk_context_init(&a, MARKUP_FUCHSIA, &generations);
	mk_context_init(&b, MARKUP_FUCHSIA, &generations);
	for (uint64_t i = 0; i < 100; i++)
		assert_int_equal(mk_context_add_module(&a, i % 60, (struct markup_str)STR("name"),
						       (struct markup_str)STR("aabb"), &index),
				 i < 60 ? MK_CTX_OK : MK_CTX_SAME);
	assert_int_equal(mk_context_add_module(&a, 0, (struct markup_str)STR("other"),
					       (struct markup_str)STR("aabb"), &index), MK_CTX_OK);
	assert_true(mk_context_copy(&b, &a));
	assert_int_equal(mk_context_bytes(&a), mk_context_bytes(&b));
	assert_int_equal(a.name_bytes, b.name_bytes);
	mk_context_deinit(&a);
	mk_context_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bytes),
	};
	return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
