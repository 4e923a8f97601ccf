/*
 * What is written of each log of testdata and of each seed of the fuzz targets, and of damaged ones, in each
 * form of output; with complaints, counts, and what is missing. Of all of it a hash is kept.
 *
 * The resolver has an answer to most questions, which depends on all that is asked: names, build IDs, and
 * what an address counts from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libmarkup/testing.h"

/* ---- the resolver ------------------------------------------------------------------------ */

static uint32_t number_of(struct sc_str s, uint32_t seed)
{
	for (size_t i = 0; i < s.len; i++)
		seed = (seed ^ (uint8_t)s.ptr[i]) * 0x01000193;
	return seed ^ seed >> 16;
}

/* One of eight has no symbols, another one a symbol table alone. */
static void *find_module(void *ctx, struct markup_module *m, const char **why)
{
	const struct sc_str id = { (const char *)m->build_id, m->build_id_len };
	const uint32_t n = number_of(m->release, number_of(id, number_of(m->name, 7 + m->kernel)));

	(void)ctx;
	if (n % 8 == 7) {
		*why = n & 8 ? "damaged" : NULL;
		return NULL;
	}
	m->table_only = n % 8 == 6;
	m->symbols = m->table_only ? "symbol table" : "DWARF";
	return (void *)(uintptr_t)(n | 1);
}

static bool find_place(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	const uint32_t n = number_of(p->symbol, 5 + (uint32_t)p->origin);

	(void)ctx;
	*vaddr = (p->has_page ? p->from_page : p->offset) + 0x100 * (uint64_t)p->origin + (uintptr_t)module % 16;
	switch (p->origin) {
	case MARKUP_FROM_SHOWN:
	case MARKUP_FROM_SYMBOL:
		p->size_here = p->symbol_size && n % 4 == 1 ? p->symbol_size + 16 : 0;
		*vaddr += n % 0x10000 + p->address % 0x1000;
		return n % 4 > 1;
	case MARKUP_INSIDE:
	case MARKUP_FIXED:
		return *vaddr % 8;
	default:
		return true;
	}
}

/* Up to 3 frames; of a line that names the module the last one has the table's name. */
static size_t find_code(void *ctx, void *module, uint64_t vaddr, bool named, const struct sc_frame **ret)
{
	static _Thread_local struct sc_frame frames[3];
	static _Thread_local char texts[3][2][64];
	const uint64_t n = (vaddr ^ (uintptr_t)module) / 4 % 1021;
	const size_t num = n % 8 < 6 ? n % 4 : 0;

	(void)ctx;
	for (size_t i = 0; i < num; i++) {
		struct sc_frame *f = &frames[i];

		*f = (struct sc_frame){ .line = (uint32_t)(n % 5 * 7 + i), .column = (uint32_t)(n % 3 * 40),
					.of_table = named && i + 1 == num };
		snprintf(texts[i][0], 64, n % 16 == 9 ? "ns::<f & %zu>" : f->of_table ? "t%zu.%u" : "f%zu.%u", i, (unsigned)n % 32);
		snprintf(texts[i][1], 64, n % 7 ? "/src/dir%u/a%zu.c" : "b%u\x01%zu", (unsigned)n % 3, i);
		f->function = n % 11 ? sc_str_of(texts[i][0]) : (struct sc_str){ NULL, 0 };
		f->file = n % 13 ? sc_str_of(texts[i][1]) : (struct sc_str){ NULL, 0 };
		f->scopes = n % 16 == 9 ? 4 : 0;
	}
	*ret = frames;
	return num;
}

static bool find_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	(void)ctx, (void)module;
	*ret = (struct markup_data){ STR("counter"), vaddr % 32, STR("/src/inl.cpp"), (uint32_t)(vaddr % 5) };
	if (vaddr % 7 == 0)
		ret->file = (struct sc_str){ NULL, 0 };
	return vaddr % 3;
}

static struct sc_str find_source(void *ctx, void *module, const struct sc_frame *frame)
{
	(void)ctx, (void)module;
	return frame->line % 2 ? (struct sc_str)STR("7 >: x < y;\n8  : }\n") : (struct sc_str){ NULL, 0 };
}

static const struct markup_resolver resolver = {
	.module = find_module, .place = find_place, .code = find_code, .source = find_source, .data = find_data,
	.unwind = fake_unwind, .demangle = fake_demangle,
};

/* ---- what is written ---------------------------------------------------------------------- */

static const char *const own[] = { "a0.c", "prog", NULL }, *const path_maps[] = { "/src=/home/me", NULL };

static const struct { const char *name; struct markup_options options; } forms[] = {
	{ "text", { .dialect = MARKUP_DEFAULT, .keep_modules = true } },
	{ "colours", { .color = MARKUP_COLOR_ON, .own = own } },
	{ "demux", { .demux = "", .color = MARKUP_COLOR_STRIP, .collect_dumpfiles = true } },
	{ "json", { .format = MARKUP_JSON, .name_inputs = true } },
	{ "html", { .format = MARKUP_HTML, .title = "A <title>", .link = "e:%f:%l:%c", .path_maps = path_maps, .own = own } },
	{ "llvm", { .dialect = MARKUP_LLVM } },
	{ "llvm, colours", { .dialect = MARKUP_LLVM, .color = MARKUP_COLOR_ON, .pc_innermost = true, .demux = "" } },
	{ "fuchsia", { .dialect = MARKUP_FUCHSIA, .collect_dumpfiles = true, .omit_module_lines = true } },
	{ "groups", { .group = true, .format = MARKUP_TEXT_OUT } },
	{ "groups, json", { .group = true, .format = MARKUP_JSON } },
	{ "groups, html", { .group = true, .format = MARKUP_HTML } },
};

static void put_missing(void *to, const struct markup_module *m)
{
	fprintf(to, "%.*s %zu %" PRIu64 " %" PRIu64 " %d%d%d%d; ", (int)m->name.len, m->name.ptr ? m->name.ptr : "",
		m->build_id_len, m->frames, m->unplaced, m->no_symbols, m->table_only, m->other_build, m->warned);
}

static size_t read_again(void *ctx, char *buf, size_t size)
{
	struct sc_str *rest = ctx;
	const size_t n = rest->len < size ? rest->len : size;

	memcpy(buf, rest->ptr, n);
	*rest = (struct sc_str){ rest->ptr + n, rest->len - n };
	return n;
}

/* Of a page what stands in it, without its style and script. */
static struct sc_str page_of(const struct fake_text *out)
{
	const char *body = out->len ? memmem(out->buf, out->len, "<body", 5) : NULL, *script = NULL;

	for (const char *at = body; at; at = memmem(at, (size_t)(out->buf + out->len - at), "<script", 7))
		script = at++;
	return body ? (struct sc_str){ body, (size_t)(script - body) } : (struct sc_str){ out->buf, out->len };
}

/* Groups, if there are some, and what is said at the end. */
static void put_end(struct markup_filter *f, struct markup_groups *groups, const struct markup_options *o,
		    struct fake_sink *got, FILE *to)
{
	const struct markup_stats *s = markup_filter_stats(f);
	struct sc_str dumpfiles = { NULL, 0 }, page;
	char *rest;
	size_t len;
	FILE *more = open_memstream(&rest, &len);

	if (groups)
		assert_int_equal(markup_groups_write(groups, o->format, false, fake_append, &got->out), 0);
	page = page_of(&got->out);
	put_digest(to, page.ptr, page.len);
	fprintf(to, ", %" PRIu64 " frames, %" PRIu64 " resolved, %" PRIu64 " outside, %" PRIu64 " understood, %" PRIu64
		" guessed, ", s->frames, s->frames_resolved, s->frames_outside, s->understood, s->guessed);
	if (got->err.len)
		fwrite(got->err.buf, 1, got->err.len, more);
	assert_int_equal(markup_filter_missing(f, put_missing, more), 0);
	if (o->keep_modules)
		assert_int_equal(markup_filter_modules(f, put_missing, more), 0);
	if (o->collect_dumpfiles)
		markup_filter_dumpfiles(f, &dumpfiles);
	if (dumpfiles.len)
		fwrite(dumpfiles.ptr, 1, dumpfiles.len, more);
	fclose(more);
	put_digest(to, rest, len);
	fputc('\n', to);
	free(rest);
}

/* What would be known behind the last place where the log can be cut. */
static void put_cut(struct markup_filter *f, FILE *to)
{
	struct markup_cut cut;
	char *saved;
	size_t len;

	assert_int_equal(markup_filter_flush(f), 0);
	if (!markup_filter_cut(f, &cut))
		return;
	assert_int_equal(markup_filter_save(f, &saved, &len), 0);
	fprintf(to, "cut at %" PRIu64 ", line %" PRIu64 ": ", cut.offset, cut.lines);
	put_digest(to, saved, len);
	fprintf(to, ", ");
	free(saved);
}

/* The tables of the log, as its parts are given them. */
static void put_tables(struct sc_str log, FILE *to)
{
	const struct markup_options options = { .keep_modules = true };
	struct fake_sink none = { 0 };
	const struct markup_sink sink = { .ctx = &none };
	struct sc_str tables = { NULL, 0 };
	struct markup_filter *f;

	assert_int_equal(markup_filter_create(&options, &resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "log");
	assert_int_equal(markup_filter_keep_tables(f), 0);
	assert_int_equal(markup_filter_feed(f, log.ptr, log.len), 0);
	put_cut(f, to);
	assert_int_equal(markup_filter_feed(f, "\nplain\n", 7), 0); /* behind which nothing is open */
	put_cut(f, to);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_tables(f, &tables), 0);
	put_digest(to, tables.ptr, tables.len);
	fputc('\n', to);
	markup_filter_destroy(f);
}

static void put_form(const struct markup_options *o, struct sc_str log, FILE *to)
{
	struct fake_sink got = { 0 };
	struct markup_groups *groups = NULL;
	struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;

	fake_append(&got.out, "", 0);
	fake_append(&got.err, "", 0);
	if (o->group) {
		assert_int_equal(markup_groups_create(&groups), 0);
		sink = (struct markup_sink){ groups, markup_groups_take };
	}
	assert_int_equal(markup_filter_create(o, &resolver, 1, &sink, &f), 0);
	markup_filter_input(f, "log");
	if (!o->group)
		markup_filter_again(f, read_again, &log);
	assert_int_equal(markup_filter_feed(f, log.ptr, log.len), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_end(f), 0);
	put_end(f, groups, o, &got, to);
	markup_filter_destroy(f);
	markup_groups_destroy(groups);
	fake_sink_deinit(&got);
}

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	fprintf(to, "tables: ");
	put_tables((struct sc_str){ (const char *)bytes, size }, to);
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		fprintf(to, "%s: ", forms[i].name);
		put_form(&forms[i].options, (struct sc_str){ (const char *)bytes, size }, to);
	}
}

static void test_answers(void **state)
{
	static const struct { const char *corpus; unsigned damages; } corpora[] = {
		{ "../logs", 10 }, { "input", 4 }, { "filter", 0 },
	};
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(corpora) / sizeof(*corpora); i++)
		put_seeds(to, corpora[i].corpus, &(struct damages){ corpora[i].damages, NULL }, answer);
	fclose(to);
	expect_recorded("filter", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
