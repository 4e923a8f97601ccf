/*
 * What facts at random become, recorded, with all that units say: ranges, their places and
 * discriminators, functions, calls and where inlined functions begin; on one thread as on several.
 */
#include "libsymcache/write/flatten/flatten.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/write/flatten/lang.h"
#include "libsymcache/write/flatten/scene.h"

enum { SCENES = 500, SCENES_WHOLE = 10, LOW = 0x100, SPAN = 0x60, SYMBOLS = 4, BASE = LOW - 0x20 };

static const uint64_t LAST = BASE + 0xffffffffull; /* that a cache can have */
static const uint64_t FAR = 0x1000000b0; /* code, some of which is out of reach of a cache */

struct facts {
	uint64_t seed;
	struct dw_facts units[3];
	size_t num_units;
	struct dw_range shared[2]; /* by the units: folded functions */
	struct sc_code_symbol symbols[SYMBOLS];
};

static uint32_t below(struct facts *f, uint32_t n)
{
	return testing_below(&f->seed, n);
}

static const char *name(struct facts *f)
{
	static const char *const names[] = { NULL, "f", "g", "h", "main", "f.cold", "_ZN1a1bEv" };

	return names[below(f, 7)];
}

/* Mostly of code; else of what the linker dropped, or out of reach. */
static struct dw_range range(struct facts *f)
{
	const uint32_t start = below(f, SPAN), kind = below(f, 24);
	const uint64_t base = kind == 0 ? 0 : kind == 1 ? FAR : LOW;

	if (f->shared[1].end && !below(f, 4))
		return f->shared[below(f, 2)];
	return (struct dw_range){ base + start, base + start + (kind == 2 ? 0 : 1 + below(f, SPAN - start)) };
}

static void like(struct facts *f, const struct dw_scope *from, struct dw_scope *to)
{
	to->name = from->name;
	to->parent = from->parent;
	to->lang = below(f, 5) ? from->lang : 0x0c;
	to->decl_file = below(f, 5) ? from->decl_file : 1;
	to->decl_line = below(f, 5) ? from->decl_line : 7;
}

static void make_scope(struct facts *f, struct dw_facts *u, uint32_t i)
{
	static const uint32_t langs[] = { 0, 0x0c, 0x1a, 0x1c, 0x16, 0x8001, 0xffff };
	struct dw_scope *s = vec_push(&u->scopes);
	const char *text = name(f);

	*s = (struct dw_scope){
		.name = name(f), .parent = i && below(f, 3) ? below(f, i) : DW_NONE,
		.first_range = (uint32_t)u->ranges.len, .num_ranges = below(f, 8) ? 1 + below(f, 3) : 0,
		.lang = langs[below(f, 7)], .call_file = below(f, 5), .call_line = below(f, 4),
		.call_column = below(f, 3), .decl_file = below(f, 5), .decl_line = below(f, 9),
		.call_discriminator = below(f, 3) ? 0 : below(f, 300),
	};
	if (i && !below(f, 3)) /* another one of the same function, in all or in most */
		like(f, &u->scopes.data[i - 1], s);
	for (uint32_t k = 0; k < s->num_ranges; k++)
		*vec_push(&u->ranges) = range(f);
	s->entry_vaddr = s->num_ranges && below(f, 3) ? u->ranges.data[s->first_range].start :
			 below(f, 2) ? LOW + below(f, SPAN) : below(f, 2) ? LAST - below(f, 3) : UINT64_MAX;
	if (text && !below(f, 4)) {
		s->qualified = (uint32_t)u->texts.len;
		for (size_t k = 0; k <= strlen(text); k++)
			*vec_push(&u->texts) = k < strlen(text) ? (char)(text[k] ^ 0x20) : 0;
	}
}

static void make_sequence(struct facts *f, struct dw_facts *u)
{
	const struct dw_range r = range(f);
	struct dw_sequence s = { r.start, r.end, (uint32_t)u->rows.len, 0 };

	for (uint64_t at = r.start; at < r.end; at += below(f, 9)) {
		*vec_push(&u->rows) = (struct dw_row){ at, below(f, 5), below(f, 4), below(f, 3),
						       below(f, 2) | (below(f, 3) ? 0 : below(f, 300) << 1) };
		s.num_rows++;
	}
	if (s.num_rows)
		*vec_push(&u->sequences) = s;
}

static void make_unit(struct facts *f, struct dw_facts *u)
{
	static const struct dw_file files[] = {
		{ "/src", "lib", "a.c", NULL }, { "/src", NULL, "b.h", NULL }, { NULL, NULL, "a.c", NULL }, { NULL, NULL, NULL, NULL },
	};

	for (int i = 0; i < 4; i++)
		*vec_push(&u->files) = files[i];
	*vec_push(&u->texts) = 0;
	for (u->num_covers = below(f, 3) ? 0 : below(f, 3); u->ranges.len < u->num_covers; )
		*vec_push(&u->ranges) = range(f);
	for (uint32_t i = 0, n = below(f, 9); i < n; i++)
		make_scope(f, u, i);
	for (uint32_t n = below(f, 4); n; n--)
		make_sequence(f, u);
}

static uint64_t code_end(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr >= LOW && vaddr < LOW + SPAN - 4 ? LOW + SPAN - 4 :
	       vaddr >= FAR && vaddr < FAR + SPAN ? FAR + SPAN : 0;
}

/* Symbols that begin there; all are shown but one. */
static const char *symbol_at(const void *ctx, uint64_t vaddr)
{
	const struct facts *f = ctx;

	for (int i = 0; i < SYMBOLS; i++)
		if (f->symbols[i].start == vaddr)
			return f->symbols[i].name;
	return NULL;
}

static const char *shown_symbol_at(const void *ctx, uint64_t vaddr)
{
	const struct facts *f = ctx;

	return f->symbols[0].start == vaddr ? "main" : symbol_at(ctx, vaddr);
}

static void make_facts(struct facts *f, uint64_t number)
{
	*f = (struct facts){ .seed = (number + 1) * 0x9e3779b97f4a7c15 };
	f->num_units = 1 + below(f, 3);
	for (int i = 0; i < 2; i++)
		f->shared[i] = range(f);
	for (size_t i = 0; i < f->num_units; i++)
		make_unit(f, &f->units[i]);
	for (uint32_t i = 0, at = LOW; i < SYMBOLS; i++) {
		const char *known = name(f);

		at += below(f, 20);
		f->symbols[i] = (struct sc_code_symbol){ at, at + 1 + below(f, 30), known ? known : "sym" };
		at += 1;
	}
}

/* ---- what comes of them ------------------------------------------------------------------------------ */

static const char *text_of(const struct sc_tables *t, uint32_t number)
{
	return number == SC_NONE ? "-" : t->strings.data[number].ptr;
}

static void put_file_of(FILE *to, const struct sc_tables *t, uint32_t number)
{
	const struct sc_file *f = number == SC_NONE ? NULL : &t->files.data[number];

	if (f)
		fprintf(to, " %s|%s|%s", text_of(t, f->comp_dir), text_of(t, f->dir), text_of(t, f->name));
	else
		fprintf(to, " -");
}

static void put_function(FILE *to, const struct sc_tables *t, const struct sc_function *f)
{
	fprintf(to, "%s (%s) from %" PRIx32 " lang %" PRId32, text_of(t, f->name), text_of(t, f->qualified), f->entry,
		(int32_t)f->lang);
	put_file_of(to, t, f->decl_file);
	fprintf(to, ":%" PRIu32 "\n", f->decl_line);
}

static void put_location(FILE *to, const struct sc_tables *t, const struct sc_location *l)
{
	put_file_of(to, t, l->file);
	fprintf(to, ":%" PRIu32 ":%" PRIu32 " into %" PRId32 " discriminator %" PRIu32 " ", l->line, l->column,
		(int32_t)l->inlined_into, l->discriminator);
	if (l->function == SC_NONE)
		fprintf(to, "nowhere\n");
	else
		put_function(to, t, &t->functions.data[l->function]);
}

static void put_flat(FILE *to, const struct sc_tables *t, const struct sc_flat *flat)
{
	for (size_t i = 0; i < flat->pieces.len; i++) {
		const struct sc_piece *p = &flat->pieces.data[i];

		fprintf(to, "piece [%" PRIx64 ", %" PRIx64 ") %d function %" PRId32 "%s, %" PRIu32 " ranges\n", p->start, p->end,
			p->kind, (int32_t)p->function, p->has_rows ? " with rows" : "", p->num_ranges);
	}
	for (size_t i = 0; i < flat->inlined.len; i++)
		fprintf(to, "inlined call %" PRIu32 " from %" PRIx32 " begins %" PRIx32 "\n", flat->inlined.data[i].call,
			flat->inlined.data[i].from, flat->inlined.data[i].start);
	for (size_t i = 0; i < t->calls.len; i++) {
		fprintf(to, "call %zu", i);
		put_location(to, t, &t->calls.data[i]);
	}
	fprintf(to, "%" PRIu64 " merged, %" PRIu64 " too far\n", flat->merged, flat->too_far);
}

static void put_final(FILE *to, const struct sc_tables *t, const struct sc_final *f)
{
	for (size_t i = 0; i < f->ranges.len; i++) {
		fprintf(to, "%" PRIx32, f->ranges.data[i].start);
		put_location(to, t, &f->ranges.data[i].loc);
	}
	for (size_t i = 0; i < f->discriminators.len; i++)
		fprintf(to, "%" PRIx32 " discriminator %" PRIu32 "\n", f->discriminators.data[i].start,
			f->discriminators.data[i].value);
}

/* The whole text, assembled on so many threads. */
static char *text_of_scene(uint64_t number, unsigned threads)
{
	pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct sc_tables *tables = calloc(1, sizeof(*tables));
	struct sc_final final = { 0 };
	struct sc_flat flat = { 0 };
	struct facts f;
	struct sc_code_symbols symbols;
	struct sc_flattener *flattener;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	make_facts(&f, number);
	symbols = (struct sc_code_symbols){ f.symbols, SYMBOLS, BASE, number % 3 ? shown_symbol_at : NULL, &f };
	flattener = sc_flattener_create(&(struct sc_flatten_env){ tables, symbols.load_base, code_end, symbol_at, &f, 0,
								    number % 2 ? shown_symbol_at : NULL });
	for (size_t i = 0; i < f.num_units; i++)
		assert_true(sc_flatten(flattener, &f.units[i], &flat));
	put_flat(to, tables, &flat);
	tables->lock = threads > 1 ? &lock : NULL;
	assert_true(sc_assemble(&flat, &symbols, tables, threads, &final));
	put_final(to, tables, &final);
	for (uint64_t vaddr = LOW - 1; vaddr <= LOW + SPAN; vaddr += 7) {
		uint32_t piece;

		assert_true(sc_piece_at(&flat, &symbols, tables, vaddr, &piece));
		fprintf(to, " %" PRId32, (int32_t)piece);
	}
	fprintf(to, "\n%" PRIu64 " merged\n", flat.merged);
	sc_flattener_destroy(flattener);
	sc_final_deinit(&final);
	sc_flat_deinit(&flat);
	sc_tables_deinit(tables);
	free(tables);
	for (size_t i = 0; i < f.num_units; i++)
		dw_facts_deinit(&f.units[i]);
	fclose(to);
	return text;
}

static void test_scenes(void **state)
{
	size_t len;
	char *got;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	fprintf(to, "languages");
	for (uint32_t i = 0; i < 0x60; i++)
		fprintf(to, " %" PRIu32, sc_lang_of_dwarf(i));
	fputc('\n', to);
	for (uint64_t i = 0; i < SCENES; i++) {
		char *text = text_of_scene(i, 1), *other = text_of_scene(i, 3);

		assert_string_equal(other, text);
		free(other);
		fprintf(to, "== scene %" PRIu64 "\n", i);
		if (i < SCENES_WHOLE)
			fputs(text, to);
		else
			put_digest(to, text, strlen(text)), fputc('\n', to);
		free(text);
	}
	fclose(to);
	expect_recorded("flattened", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
