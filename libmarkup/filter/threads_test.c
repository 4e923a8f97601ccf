/*
 * A filter against a single stream: random logs of some megabytes with all that
 * may be open where a log is cut, in every dialect, with and without colour, on
 * 1 to 4 threads, in pieces of random sizes, with pauses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include <errno.h>

#include "libmarkup/filter/stream.h"
#include "libmarkup/filter/testing.h"

/* A sink that makes a whole of what a stream gives, if its form wants that. */
struct whole_sink {
	struct fake_sink *out;
	const struct mk_whole *kind;
	void *whole;
};

static int take(void *ctx, const char *data, size_t len)
{
	struct whole_sink *w = ctx;

	return w->kind ? w->kind->take(w->whole, data, len) : fake_write(w->out, data, len);
}

static void complain(void *ctx, const char *data, size_t len)
{
	fake_complain(((struct whole_sink *)ctx)->out, data, len);
}

/* All of the log in one stream. */
static void run_stream(const struct markup_options *options, const struct fake_text *in,
		       struct fake_sink *out, struct reports *reports)
{
	struct whole_sink w = { out, mk_choose_renderer(options)->whole, NULL };
	struct markup_sink sink = { &w, take, complain };
	struct mk_stream *s;

	if (w.kind)
		w.whole = w.kind->create(options, fake_write, out);
	assert_true(!w.kind || w.whole);
	assert_int_equal(mk_stream_create(options, &fake_resolver, &sink, &s), 0);
	for (int i = 0; i < 2; i++) {
		s->where.input = i ? "second" : "first";
		s->where.line_no = 0;
		assert_int_equal(mk_stream_feed(s, in->buf, in->len), 0);
		assert_int_equal(mk_stream_finish(s), 0);
	}
	assert_int_equal(mk_stream_flush(s), 0);
	if (w.kind)
		assert_int_equal(w.kind->end(w.whole, &s->resolve.seen, &s->resolve.missing,
					     &s->resolve.stats), 0);
	reports->stats = s->resolve.stats;
	mk_modules_each(&s->resolve.missing, note_missing, reports);
	fake_append(&reports->dumpfiles, s->output.dumpfiles.buf, s->output.dumpfiles.len);
	mk_stream_destroy(s);
	if (w.kind)
		w.kind->destroy(w.whole);
}

static void run_filter(const struct markup_options *options, const struct fake_text *in, unsigned n,
		     struct fake_sink *out, struct reports *reports)
{
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver,
						     fake_resolver };
	struct markup_sink sink = { out, fake_write, fake_complain };
	struct markup_filter *f;
	struct sc_str json;

	assert_int_equal(markup_filter_create(options, resolvers, n, &sink, &f), 0);
	for (int i = 0; i < 2; i++) {
		markup_filter_input(f, i ? "second" : "first");
		for (size_t at = 0; at < in->len;) {
			size_t room, len;
			char *to = markup_filter_room(f, &room);
			len = pick(3) ? room : pick((unsigned)room) + 1;
			if (len > in->len - at)
				len = in->len - at;
			memcpy(to, in->buf + at, len);
			assert_int_equal(markup_filter_added(f, len), 0);
			at += len;
			if (!pick(4))
				assert_int_equal(markup_filter_flush(f), 0);
		}
		assert_int_equal(markup_filter_finish(f), 0);
	}
	assert_int_equal(markup_filter_end(f), 0);
	reports->stats = *markup_filter_stats(f);
	markup_filter_missing(f, note_missing, reports);
	markup_filter_dumpfiles(f, &json);
	fake_append(&reports->dumpfiles, json.ptr, json.len);
	markup_filter_destroy(f);
}

static void check(const struct markup_options *options, const struct fake_text *in, unsigned n)
{
	struct fake_sink want = { 0 }, got = { 0 };
	struct reports wanted = { .missing = "" }, reported = { .missing = "" };

	fake_append(&want.out, "", 0);
	fake_append(&want.err, "", 0);
	fake_append(&got.out, "", 0);
	fake_append(&got.err, "", 0);
	run_stream(options, in, &want, &wanted);
	run_filter(options, in, n, &got, &reported);
	same_text("output", &got.out, &want.out);
	same_text("complaints", &got.err, &want.err);
	same_text("dumpfiles", &reported.dumpfiles, &wanted.dumpfiles);
	assert_string_equal(reported.missing, wanted.missing);
	wanted.stats.bytes = reported.stats.bytes; /* a stream does not count them */
	assert_memory_equal(&reported.stats, &wanted.stats, sizeof(wanted.stats));
	fake_sink_deinit(&want);
	fake_sink_deinit(&got);
	free(wanted.dumpfiles.buf);
	free(reported.dumpfiles.buf);
}

static void test_same(void **state)
{
	static const enum markup_dialect dialects[] = {
		MARKUP_DEFAULT, MARKUP_DEFAULT, MARKUP_LLVM, MARKUP_FUCHSIA,
	};
	struct fake_text in = { 0 };

	(void)state;
	for (unsigned seed = 1; seed <= 20; seed++) { /* each dialect with each format */
		const struct markup_options options = {
			.dialect = dialects[seed % 4],
			.format = seed % 5 == 0 ? MARKUP_JSON :
				  seed % 5 == 1 ? MARKUP_HTML : MARKUP_TEXT_OUT,
			.name_inputs = seed % 2,
			.title = "a \"log\"",
			.color = seed / 4 % 3,
			.collect_dumpfiles = true,
			.demux = seed % 3 ? NULL : "",
		};
		make_log(&in, seed, options.demux);
		check(&options, &in, 1 + seed % 4);
		check(&options, &in, 4);
	}
	free(in.buf);
}

static int failing_write(void *ctx, const char *data, size_t len)
{
	int *left = ctx;
	(void)data;
	(void)len;
	return --*left < 0;
}

/* A module that is another one from now on, long before it is asked for again. */
static void test_announced_again(void **state)
{
	const struct markup_options options = { .dialect = MARKUP_FUCHSIA };
	struct fake_text in = { 0 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		add(&in, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"
			 "{{{bt:0:0x10193:pc}}}\n{{{module:0:a:elf:ff}}}\n");
		for (int line = 0; line < 60000; line++)
			add(&in, "many lines of plain text, in which nothing happens\n");
		add(&in, "{{{bt:0:0x10193:pc}}}\n");
	}
	for (unsigned n = 1; n < 4; n++)
		check(&options, &in, n);
	free(in.buf);
}

static void test_failing_sink(void **state)
{
	const struct markup_options options = { 0 };
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver };
	struct fake_text in = { 0 };

	(void)state;
	make_log(&in, 3, false);
	for (int writes = 0; writes < 4; writes++) {
		int left = writes, rc = 0;
		struct markup_sink sink = { &left, failing_write, NULL };
		struct markup_filter *f;

		assert_int_equal(markup_filter_create(&options, resolvers, 2, &sink, &f), 0);
		for (int i = 0; i < 10 && !rc; i++) {
			for (size_t at = 0; at < in.len && !rc;) {
				size_t room;
				char *to = markup_filter_room(f, &room);
				if (room > in.len - at)
					room = in.len - at;
				memcpy(to, in.buf + at, room);
				rc = markup_filter_added(f, room);
				at += room;
			}
		}
		assert_int_equal(markup_filter_finish(f), -EIO);
		markup_filter_destroy(f);
	}
	free(in.buf);
}

/* A filter that is given up, with chunks at work, has written the beginning of its output. */
static void test_given_up(void **state)
{
	const struct markup_options options = { 0 };
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver };
	struct fake_text in = { 0 };
	struct fake_sink all, got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;

	(void)state;
	make_log(&in, 3, false);
	assert_int_equal(fake_filter(&options, in.buf, in.len, 1 << 20, &all), 0);
	assert_int_equal(markup_filter_create(&options, resolvers, 3, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, in.buf, in.len), 0);
	markup_filter_destroy(f);
	assert_in_range(got.out.len, 1, all.out.len);
	assert_memory_equal(got.out.buf, all.out.buf, got.out.len);
	fake_sink_deinit(&all);
	fake_sink_deinit(&got);
	free(in.buf);
}

/* The same as a page, which is closed behind all that came, though the end of the input did not. */
static void test_cut_off(void **state)
{
	const struct markup_options options = { .format = MARKUP_HTML };
	const struct markup_resolver resolvers[] = { fake_resolver, fake_resolver, fake_resolver };
	struct fake_text in = { 0 };
	struct fake_sink pages[2] = { 0 };

	(void)state;
	add(&in, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n");
	for (int i = 0; i < 30000; i++)
		add(&in, "[1] {{{bt:1:0x10501:pc:msg}}} x\n");
	for (int i = 0; i < 2; i++) {
		const struct markup_sink sink = { &pages[i], fake_write, fake_complain };
		struct markup_filter *f;

		assert_int_equal(markup_filter_create(&options, resolvers, i ? 3 : 1, &sink, &f), 0);
		assert_int_equal(markup_filter_feed(f, in.buf, in.len), 0);
		assert_int_equal(markup_filter_end(f), 0);
		markup_filter_destroy(f);
	}
	same_text("page", &pages[1].out, &pages[0].out);
	fake_sink_deinit(&pages[0]);
	fake_sink_deinit(&pages[1]);
	free(in.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_announced_again),
		cmocka_unit_test(test_failing_sink),
		cmocka_unit_test(test_given_up),
		cmocka_unit_test(test_cut_off),
	};
	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
