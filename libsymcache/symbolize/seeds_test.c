/*
 * What is said of each address, name and line of a small cache, by each way to show it, one by one
 * and in batches; and of damaged ones.
 */
#include "libsymcache/read/tiny_names_test.h"

#include <inttypes.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/symbolize/places.h"
#include "libsymcache/symbolize/reverse.h"
#include "libsymcache/symbolize/symbolizer.h"
#include "libsymcache/write/explain.h"

enum { ADDRESSES = 100 };

static const struct { const char *name; struct symcache_names_options options; } ways[] = {
	{ "plain", { .functions = SYMCACHE_FUNCTIONS_WHOLE } },
	{ "llvm", { .paths = SYMCACHE_PATHS_RAW, .table = SYMCACHE_TABLE_OUTERMOST, .llvm = true,
		    .bytes = SYMCACHE_BYTES_CACHED } },
	{ "llvm, short", { .functions = SYMCACHE_FUNCTIONS_SHORT, .paths = SYMCACHE_PATHS_BASENAME,
			   .table = SYMCACHE_TABLE_OUTERMOST, .llvm = true } },
	{ "addr2line", { .paths = SYMCACHE_PATHS_RELATIVE, .table = SYMCACHE_TABLE_FALLBACK,
			 .binutils = true, .bytes = SYMCACHE_BYTES_ORIGINAL } },
	{ "mangled", { .mangled = true, .paths = SYMCACHE_PATHS_BASENAME, .table = SYMCACHE_TABLE_OUTERMOST } },
	{ "short", { .functions = SYMCACHE_FUNCTIONS_SHORT, .bytes = SYMCACHE_BYTES_CACHED } },
	{ "none", { .functions = SYMCACHE_FUNCTIONS_NONE } },
};

static void put(FILE *to, struct sc_str s)
{
	if (s.ptr)
		fprintf(to, "%.*s", (int)s.len, s.ptr);
	else
		fputc('-', to);
}

/* ---- addresses --------------------------------------------------------------------------- */

static void put_frame(FILE *to, struct symcache_symbolizer *s, const struct symcache_answer *a, size_t i)
{
	const struct sc_frame *f = &a->frames[i];
	const struct symcache_start start = a->cache && s ? symcache_symbolize_start(s, a, i) :
							    (struct symcache_start){ .known = false };

	fprintf(to, " / ");
	put(to, f->function);
	fputc(' ', to);
	put(to, f->file);
	fprintf(to, ":%u:%u", f->line, f->column);
	if (f->scopes)
		fprintf(to, " scopes %u", f->scopes);
	if (f->of_table)
		fprintf(to, " of table");
	if (s && symcache_symbolize_discriminator(s, a, i))
		fprintf(to, " (%u)", symcache_symbolize_discriminator(s, a, i));
	if (start.known || start.line || start.file.ptr) {
		fprintf(to, " from %s%" PRIx64 "%s ", start.known ? "" : "? ", start.vaddr,
			start.inlined ? " inlined" : "");
		put(to, start.file);
		fprintf(to, ":%u", start.line);
	}
}

static void put_answer(FILE *to, struct symcache_symbolizer *s, const struct symcache_answer *a)
{
	if (a->reason)
		fprintf(to, " reason %d", a->reason);
	if (a->has_symbol)
		fprintf(to, " symbol %" PRIx64, a->symbol_vaddr);
	if (a->one_frame)
		fprintf(to, " one, of %d", (int)a->code_idx);
	for (size_t i = 0; i < a->num_frames; i++)
		put_frame(to, s, a, i);
	fputc('\n', to);
}

static void put_data_at(FILE *to, const char *what, const struct symcache_shown_data *d)
{
	fprintf(to, " %s ", what);
	put(to, d->name);
	fprintf(to, " %" PRIx64 "+%" PRIu64 " ", d->vaddr, d->size);
	put(to, d->file);
	fprintf(to, ":%u%s\n", d->line, d->of_table ? " of table" : "");
}

/* Where something begins or ends, and around it. */
static size_t list_addresses(const struct symcache *c, uint64_t list[ADDRESSES])
{
	const uint64_t base = symcache_load_base(c);
	size_t n = 0;

	for (uint32_t i = 0; i < c->header->num_ranges && n < ADDRESSES - 40; i++) {
		list[n++] = base + c->ranges[i];
		list[n++] = base + c->ranges[i] + 5;
	}
	for (size_t i = 0; i < c->num_data_symbols && n < ADDRESSES - 20; i++) {
		list[n++] = base + c->data_symbols[i].address;
		list[n++] = base + c->data_symbols[i].address + c->data_symbols[i].size;
	}
	list[n++] = base;
	list[n++] = base - 1;
	list[n++] = UINT64_MAX;
	return n;
}

struct one {
	FILE *to;
	struct symcache_symbolizer *s;
	struct symcache_module *m;
	const struct symcache *cache;
	uint64_t list[ADDRESSES];
	size_t n;
};

static void put_addresses(struct one *o, enum symcache_table_rule table)
{
	struct symcache_shown_data data;
	struct symcache_answer a;

	for (size_t i = 0; i < o->n; i++) {
		fprintf(o->to, "%" PRIx64 ":", o->list[i]);
		symcache_symbolize(o->s, o->m, o->list[i], &a);
		put_answer(o->to, o->s, &a);
		for (int how = SYMCACHE_ONE_FRAME; how <= SYMCACHE_INNERMOST && (a.num_frames > 1 || table); how++) {
			symcache_symbolize_as(o->s, o->m, o->list[i], (enum symcache_inlines)how, table, &a);
			put_answer(o->to, o->s, &a);
		}
		if (symcache_symbolize_data(o->s, o->m, o->list[i], &data))
			put_data_at(o->to, "data", &data);
		if (symcache_symbolize_function(o->s, o->m, o->list[i], &data))
			put_data_at(o->to, "function", &data);
	}
}

static struct symcache_question question_at(void *ctx, size_t i)
{
	const struct one *o = ctx;

	return (struct symcache_question){ o->m, o->list[i / 2] }; /* each twice */
}

static int put_one(void *ctx, size_t i, const struct symcache_answer *a)
{
	const struct one *o = ctx;

	if (i % 2)
		put_answer(o->to, o->s, a);
	return 0;
}

/* One by one, all in batches, and in batches in another order: the same. */
static void expect_same_in_batches(struct one o)
{
	char *text[3];
	size_t len;

	for (int how = 0; how < 3; how++) {
		struct symcache_module *modules[SYMCACHE_BATCH];
		struct symcache_answer a;

		o.to = open_memstream(&text[how], &len);
		for (size_t i = 0; i < SYMCACHE_BATCH; i++)
			modules[i] = o.m;
		if (how == 1)
			symcache_symbolize_sorted(o.s, 2 * o.n, question_at, put_one, &o);
		for (size_t i = 0; how != 1 && i < o.n; i++) {
			if (how == 2 && i % 7 == 0) /* some are asked for that were not announced */
				symcache_symbolize_ahead(o.s, modules, o.list + i, o.n - i < 5 ? o.n - i : 5);
			if (how == 2 && i % 3 == 0)
				symcache_symbolize_as(o.s, o.m, o.list[o.n - 1 - i], SYMCACHE_INNERMOST,
						      SYMCACHE_TABLE_OUTERMOST, &a);
			symcache_symbolize(o.s, o.m, o.list[i], &a);
			put_answer(o.to, o.s, &a);
		}
		fclose(o.to);
		if (how)
			same_answers(how == 1 ? "sorted" : "announced", text[how], text[0]);
	}
	free(text[0]);
	free(text[1]);
	free(text[2]);
}

/* ---- names and lines --------------------------------------------------------------------- */

static int put_found(void *ctx, const struct symcache_found_name *f)
{
	FILE *to = ctx;

	fprintf(to, " / ");
	put(to, f->linkage);
	fputc('=', to);
	put(to, f->name);
	fprintf(to, " %" PRIx64 "+%" PRIu64 " ", f->vaddr, f->size);
	put(to, f->file);
	fprintf(to, ":%u%s%s%s", f->line, f->data ? " data" : "", f->of_table ? " of table" : "",
		f->again ? " again" : "");
	return 0;
}

static int put_found_line(void *ctx, const struct symcache_found_line *f)
{
	const struct symcache_answer a = { .frames = f->frame, .num_frames = 1 };
	FILE *to = ctx;

	fprintf(to, " / %" PRIx64 "-%" PRIx64 " %s%u", f->vaddr, f->end, f->inlined ? "inlined " : "", f->depth);
	put_frame(to, NULL, &a, 0);
	return 0;
}

static void put_names(struct one *o)
{
	static const char *const globs[] = { "*", "*leaf*", "a::*", "_ZN1a*" };
	static const char *const names[] = {
		"main", "leaf", "naked", "_ZN1a4workEv", "a::work", "a::work()", "_ZN1a4workEv.cold", "entry", "leaf.2",
		"table", "table.1", "table_too", "field", "?", "", "none", "ns::leaf", "_ZN1a6middleEv", "work",
	};

	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); i++) {
		fprintf(o->to, "glob %s:", globs[i]);
		fprintf(o->to, " (%d)\n", (int)symcache_find_names(o->s, o->m, sc_str_of(globs[i]), true, put_found, o->to));
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const struct sc_str name = sc_str_of(names[i]);
		struct symcache_named named = { name, 4, 8 };
		uint64_t vaddr = 0, has;
		uint32_t at = 0;
		bool ok;

		fprintf(o->to, "name %s:", names[i]);
		fprintf(o->to, " (%d)", (int)symcache_find_names(o->s, o->m, name, false, put_found, o->to));
		for (int k = 0; k < 9 && symcache_symbolize_name(o->s, o->m, name, &at, &vaddr); k++)
			fprintf(o->to, " %" PRIx64, vaddr);
		for (named.offset = 4; named.offset < 64; named.offset *= 3)
			for (named.size = 0; named.size < 40; named.size += 16) {
				ok = symcache_symbolize_offset(o->s, o->m, &named, &vaddr, &has);
				fprintf(o->to, " %" PRIx64 "(%" PRIx64 ")", ok ? vaddr : 0, has);
			}
		for (uint64_t page = 0; page < 0x80; page += 8) /* at this place in a page */
			if (sc_symbolize_shown(o->s, o->m, name, 0xffff00013003 + page, 3, &vaddr))
				fprintf(o->to, " shown %" PRIx64, vaddr);
		fputc('\n', o->to);
	}
}

static void put_lines(struct one *o)
{
	static const char *const files[] = {
		"main.c", "/src/main.c", "src/main.c", "rc/main.c", "leaf.h", "inc/leaf.h", "/inc/leaf.h", "work.cc", "x/work.cc",
		"./x/work.cc", "../x/./work.cc", "other.c", "",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		for (uint32_t line = 0; line < 32; line++) {
			const struct sc_str file = sc_str_of(files[i]);
			char *text;
			size_t len;
			FILE *to = open_memstream(&text, &len);
			const ssize_t n = symcache_find_line(o->s, o->m, file, line, put_found_line, to);

			fclose(to);
			if (n)
				fprintf(o->to, "line %s:%u: (%d)%s\n", files[i], line, (int)n, text);
			free(text);
		}
}

/* ---- the whole cache --------------------------------------------------------------------- */

/* What it is made of decides, the best of it; also where a later version adds to that. */
static void test_kinds(void **state)
{
	static const struct { uint32_t sources; const char *words; } kinds[] = {
		{ SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB, "DWARF" }, { SYMCACHE_FROM_GO | SYMCACHE_FROM_DYNSYM, "Go's .gopclntab" },
		{ SYMCACHE_FROM_SYMTAB | SYMCACHE_FROM_DYNSYM, "symbol table" }, { SYMCACHE_FROM_NAMES | SYMCACHE_FROM_SYMTAB, "names alone" },
		{ SYMCACHE_FROM_MINIDEBUGINFO, "MiniDebugInfo" }, { SYMCACHE_FROM_DYNSYM, "dynamic symbols" },
		{ 0, "symbols" }, { 1u << 30, "symbols" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct symcache_ext_image image = { .sources = kinds[i].sources };
		const struct symcache cache = { .image = &image };

		assert_string_equal(symcache_kind_of_symbols(&cache), kinds[i].words);
		assert_int_equal(symcache_lacks_lines(&cache), i > 1);
	}
	assert_string_equal(symcache_kind_of_symbols(&(struct symcache){ .image = NULL }), "symbols");
}

static void put_why(struct one *o)
{
	static const char *const no_files[] = { NULL };

	fprintf(o->to, "%s, lacks lines %d\n", symcache_kind_of_symbols(o->cache), symcache_lacks_lines(o->cache));
	for (size_t i = 0; i < o->n; i++) {
		const struct symcache_why_request r = { o->cache, no_files, no_files, o->list[i] };
		struct symcache_why w;

		fprintf(o->to, "why %" PRIx64 ": %d", o->list[i], symcache_why(&r, &w));
		if (w.in_range)
			fprintf(o->to, " range %u [%x, %x)", w.range, w.range_start, w.range_end);
		fprintf(o->to, " code %d, %s%s", w.has_code, w.table ? w.table : "no table", i ? "" : w.missing.msg);
		if (w.has_symbol)
			fprintf(o->to, ", symbol at %" PRIx64, w.symbol.rel_address);
		fputc('\n', o->to);
		symcache_why_deinit(&w);
	}
}

static void put_places(struct one *o, struct symcache_caches *caches, struct symcache_names *names)
{
	struct symcache_places *p = symcache_places_create(caches, names, true);

	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < o->n; i++) {
			const struct symcache_code_place *code = symcache_places_get(p, o, o->m, o->list[i]);
			const struct symcache_answer a = { .frames = code->frames, .num_frames = code->num_frames };
			const struct symcache_data_place *data;

			if (again)
				continue;
			fprintf(o->to, "place %" PRIx64 ":", o->list[i]);
			data = symcache_places_data(p, o, o->m, o->list[i]);
			if (data->found)
				fprintf(o->to, " in %s %" PRIu64 " of %" PRIu64, data->name, data->offset, data->size);
			for (size_t k = 0; k < code->num_frames; k++)
				fprintf(o->to, " %s", code->frames[k].inlined ? "inlined" : "whole");
			put_answer(o->to, NULL, &a);
		}
	symcache_places_destroy(p);
}

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	char path[32];
	const int fd = testing_memfd(bytes, size, path);
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct one o = { .to = to };
	struct sc_error err;

	o.m = symcache_caches_module(caches, SYMCACHE_MODULE_CACHE, path);
	if (symcache_module_cache(o.m, &o.cache, NULL, &err))
		fprintf(to, "%d%s\n", err.code, err.msg + strcspn(err.msg, ":"));
	for (size_t i = 0; o.cache && i < sizeof(ways) / sizeof(*ways); i++) {
		struct symcache_names *names = symcache_names_create(&ways[i].options);

		o.s = symcache_symbolizer_create(caches, names);
		o.n = list_addresses(o.cache, o.list);
		fprintf(to, "-- %s\n", ways[i].name);
		put_addresses(&o, ways[i].options.table);
		expect_same_in_batches(o);
		if (i < 2)
			put_names(&o);
		if (!i) {
			put_lines(&o);
			put_why(&o);
			put_places(&o, caches, names);
		}
		symcache_symbolizer_destroy(o.s);
		symcache_names_destroy(names);
	}
	symcache_caches_destroy(caches);
	close(fd);
}

static void test_answers(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint32_t version = 8; version <= 9; version++) {
		struct tiny t = tiny_example_names(version);
		uint8_t *bytes = tiny_bytes(&t);

		fprintf(to, "== version %u\n", version);
		put_answers(to, bytes, t.size, &(struct damages){ version == 9 ? ANSWERS_MOST : 0, NULL }, answer);
		free(bytes);
	}
	fclose(to);
	expect_recorded("symbolize", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
