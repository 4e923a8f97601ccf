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
	snprintf(path, sizeof(path), "%s/%d-%d-%zu", dir, options->dialect, !!options->demux,
		 p->len);
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
	const size_t from = parts[i].from.offset,
		     end = i + 1 < n ? parts[i + 1].from.offset : in->len;
	struct markup_filter *f;
	struct sc_str json;

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
		all += check(&options, &in, 6000 + 3554 * (seed % 7));
		all += check(&options, &in, 150000);
	}
	print_message("%zu parts\n", all);
	assert_true(all > 500);
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
			snprintf(line, sizeof(line), "[1.2] %u.7> {{{bt:0:0x11200:pc}}}\n",
				 process);
		else
			snprintf(line, sizeof(line), "[1.2] %u.7> {{{module:0:m:elf:aa}}}"
				 "{{{mmap:0x10000:0x4000:load:0:rx:0}}}\n", process);
		add(&in, line);
		add(&in, "plain\n");
	}
	assert_true(check(&options, &in, 20000) > 20);
	free(in.buf);
}

/* Where modules are, in tables before frames and far behind them, of two processes: parts know
 * them from what was kept, the whole log is read again. */
static struct fake_text tables_log;
static size_t read_so_far;

static size_t read_log(void *ctx, char *buf, size_t size)
{
	const size_t left = tables_log.len - read_so_far, len = size < left ? size : left;

	(void)ctx;
	memcpy(buf, tables_log.buf + read_so_far, len);
	read_so_far += len;
	return len;
}

static void *named_module(void *ctx, struct markup_module *m, const char **why)
{
	if (!m->build_id_len) {
		m->build_id = (const uint8_t *)"\xaa";
		m->build_id_len = 1;
	}
	return fake_module(ctx, m, why);
}

static bool place(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	(void)ctx;
	(void)module;
	*vaddr = p->offset;
	return true;
}

static void run_tables(const char *p, size_t len, bool last, const struct part *from,
		       const struct sc_str *tables, struct fake_sink *to)
{
	const struct markup_options options = { .demux = "" };
	const struct markup_sink sink = { to, fake_write, NULL };
	struct markup_resolver resolver = fake_resolver;
	struct markup_filter *f;

	resolver.module = named_module;
	resolver.place = place;
	assert_int_equal(markup_filter_create(&options, &resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "log");
	read_so_far = 0;
	if (tables)
		markup_filter_give_tables(f, tables->ptr, tables->len);
	else
		markup_filter_again(f, read_log, NULL);
	if (from->saved)
		assert_int_equal(markup_filter_resume(f, from->from.lines, from->saved, from->len),
				 0);
	assert_int_equal(markup_filter_feed(f, p, len), 0);
	assert_int_equal(last ? markup_filter_finish(f) : markup_filter_flush(f), 0);
	markup_filter_destroy(f);
}

static void make_tables_log(struct fake_text *in, bool ends)
{
	char line[200];

	for (unsigned i = 0; i < 9000; i++) {
		const unsigned pid = 1 + i / 3 % 2, base = i / 1000 * 16;

		if (i % 500 < 6)
			snprintf(line, sizeof(line),
				 "host app[%u]: %x0000-%x0000 r-xp 00000000 fe:00 7 /opt/m%u\n",
				 pid, base + i % 500, base + i % 500 + 1, i);
		else if (i % 7 == 3)
			snprintf(line, sizeof(line), "host app[%u]: [0x%x1208]\n", pid,
				 pick(9) * 16 + pick(6));
		else
			snprintf(line, sizeof(line), "plain text of line %u\n", i);
		add(in, line);
		if (i == 4000) /* a line that is too long for one */
			for (unsigned k = 0; k < 40000; k++)
				add(in, "10000-20000 r-xp 0 fe:00 7 /m ");
	}
	add(in, "host app[1]: 10000-90000 r-xp 00000000 fe:00 7 /opt/last");
	if (ends)
		add(in, "\n");
}

static void test_tables(void **state)
{
	const struct markup_options options = { .demux = "" };
	const struct markup_sink none = { 0 };
	struct fake_sink want = { 0 }, got = { 0 };
	struct markup_filter *f;
	struct sc_str tables;
	struct markup_cut cut;
	size_t n = 1;

	(void)state;
	for (int ends = 0; ends < 2; ends++) {
		srand(3);
		n = 1;
		tables_log.len = want.out.len = got.out.len = 0;
		make_tables_log(&tables_log, ends);
		run_tables(tables_log.buf, tables_log.len, true, &parts[0], NULL, &want);
		assert_non_null(strstr(want.out.buf, "main.c:12"));
		assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &none, &f), 0);
		markup_filter_input(f, "log");
		assert_int_equal(markup_filter_keep_tables(f), 0);
		for (size_t at = 0; at < tables_log.len; at += 9973) {
			const size_t left = tables_log.len - at;

			assert_int_equal(markup_filter_feed(f, tables_log.buf + at, left < 9973 ? left : 9973), 0);
			assert_int_equal(markup_filter_flush(f), 0);
			if (!markup_filter_cut(f, &cut) || cut.offset == parts[n - 1].from.offset ||
			    cut.offset == tables_log.len)
				continue;
			parts[n].from = cut;
			assert_int_equal(markup_filter_save(f, &parts[n].saved, &parts[n].len), 0);
			n++;
		}
		assert_true(n > 10);
		assert_int_equal(markup_filter_tables(f, &tables), 0);
		assert_true(tables.len > 1000);
		for (size_t i = 0; i < n; i++) {
			const size_t end = i + 1 < n ? parts[i + 1].from.offset : tables_log.len;

			run_tables(tables_log.buf + parts[i].from.offset,
				   end - parts[i].from.offset, i + 1 == n, &parts[i], &tables,
				   &got);
			free(parts[i].saved);
			parts[i].saved = NULL;
		}
		same_text("output", &got.out, &want.out);
		markup_filter_destroy(f);
	}
	fake_sink_deinit(&want);
	fake_sink_deinit(&got);
	free(tables_log.buf);
}

/* The words of all formats and of their tables, and ESC, are found in one pass (input.h). */
static void test_words_fit(void **state)
{
	const struct markup_options options = { .color = MARKUP_COLOR_ON };
	const struct markup_sink none = { 0 };
	struct markup_filter *f;

	(void)state;
	assert_int_equal(markup_filter_create(&options, &fake_resolver, 1, &none, &f), 0);
	assert_int_equal(markup_filter_keep_tables(f), 0);
	assert_true(f->tables.words.num && f->tables.found);
	assert_int_equal(f->workers[0].s->resolve.ahead.scan_for, MK_SCAN_ESC);
	markup_filter_destroy(f);
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
		assert_int_equal(mk_context_add_module(&a, i % 60, (struct sc_str)STR("name"),
						       (struct sc_str)STR("aabb"), &index),
				 i < 60 ? MK_CTX_OK : MK_CTX_SAME);
	assert_int_equal(mk_context_add_module(&a, 0, (struct sc_str)STR("other"),
					       (struct sc_str)STR("aabb"), &index), MK_CTX_OK);
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
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_words_fit),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bytes),
	};
	return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
