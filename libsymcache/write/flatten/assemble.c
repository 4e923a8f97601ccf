/*
 * Pieces of all units and the symbols → the ranges of the image: see assemble.h.
 *
 * Three layers, each made disjoint by painting:
 *
 *   functions  [ f ][ g  ]      [ h ]        pieces of functions and strays
 *   lines                   [------------]   pieces of line rows alone
 *   symbols       [s1 ][ s2    )
 *   image      [ f ][ g  ][s2)[s2+l][ h ][l]
 *
 * On many threads each takes some of the functions in a row, with the gaps before them.
 * A function piece brings its ranges. In the gaps between them, symbols and
 * lines are overlaid: the symbol names the function, the row its line.
 */
#include "libsymcache/write/flatten/assemble.h"

#include "format/symcache_format.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/search.h"
#include "libsymcache/write/flatten/folded.h"

struct layer {
	struct sc_intervals painted;
	size_t at; /* first interval that can still matter */
};

struct assembler {
	const struct sc_flat *flat;
	const struct sc_code_symbol *symbols;
	uint64_t base;
	struct sc_tables *tables;
	struct sc_final *out;
	uint64_t merged;
	uint64_t end; /* of what was put last */
	bool any;     /* something was put */
	struct layer functions, lines, code_symbols;
};

static void assembler_deinit(struct assembler *a)
{
	vec_deinit(&a->functions.painted.list);
	vec_deinit(&a->lines.painted.list);
	vec_deinit(&a->code_symbols.painted.list);
}

void sc_final_deinit(struct sc_final *f)
{
	vec_deinit(&f->ranges);
	vec_deinit(&f->discriminators);
}

bool sc_final_discriminate(struct sc_final *f, uint32_t start, uint32_t value)
{
	const struct sc_final_range *range = &f->ranges.data[f->ranges.len - 1];
	struct sc_discriminator *last = f->discriminators.len ?
		&f->discriminators.data[f->discriminators.len - 1] : NULL;

	if (last && last->start < range->start)
		last = NULL;
	if (value == (last ? last->value : range->loc.discriminator))
		return true;
	last = vec_push(&f->discriminators);
	if (last)
		*last = (struct sc_discriminator){ start, value };
	return last;
}

static inline bool append(struct assembler *a, uint64_t vaddr, const struct sc_location *loc)
{
	const uint32_t start = (uint32_t)(vaddr - a->base);
	struct sc_final *out = a->out;
	const size_t n = out->ranges.len;

	if (n && sc_same_place(&out->ranges.data[n - 1].loc, loc)) {
		a->merged++;
		return sc_final_discriminate(out, start, loc->discriminator);
	}
	if (!vec_reserve(&out->ranges, 1))
		return false;
	out->ranges.data[n] = (struct sc_final_range){ start, *loc };
	out->ranges.len = n + 1;
	return true;
}

/* Marks that what was put last ends. */
static __attribute__((noinline)) bool append_gap(struct assembler *a)
{
	static const struct sc_location none = { SC_NONE, SC_NONE, SC_NONE, SC_NONE, SC_NONE, 0 };

	return append(a, a->end, &none);
}

/* Puts [start, end); a gap before it is marked. */
static inline bool put(struct assembler *a, uint64_t start, uint64_t end,
		       const struct sc_location *loc)
{
	if (a->any && a->end < start && !append_gap(a))
		return false;
	a->end = end;
	a->any = true;
	return append(a, start, loc);
}

/* The ranges of piece p, and how to translate them: NULL, not at all. */
static const struct sc_flat_range *ranges_of(const struct assembler *a, const struct sc_piece *p,
					     const struct sc_maps **maps)
{
	const struct sc_flat_part *part = p->part ? &a->flat->more.data[p->part - 1] : NULL;

	*maps = part ? &part->maps : NULL;
	return (part ? part->ranges.data : a->flat->ranges.data) + p->first_range;
}

/* Puts the ranges of piece p that lie in [start, end); `function` names them
 * where they have none of their own. */
static bool put_piece(struct assembler *a, const struct sc_piece *p, uint64_t start,
		      uint64_t end, uint32_t function)
{
	const struct sc_maps *maps;
	const struct sc_flat_range *r = ranges_of(a, p, &maps);
	const size_t first = SC_SEARCH(i, p->num_ranges, r[i].start <= start - a->base);

	for (size_t i = first ? first - 1 : 0; i < p->num_ranges && start < end; i++) {
		uint64_t stop = i + 1 < p->num_ranges ? r[i + 1].start + a->base : p->end;
		const struct sc_location *loc = &r[i].loc;
		struct sc_location changed;

		if (stop > end)
			stop = end;
		if (maps || loc->function == SC_NONE) {
			changed = *loc;
			if (maps)
				sc_location_move(&changed, maps);
			if (changed.function == SC_NONE)
				changed.function = function;
			loc = &changed;
		}
		if (!put(a, start, stop, loc))
			return false;
		start = stop;
	}
	return true;
}

static bool nameless_function(struct assembler *a, uint32_t *ret)
{
	static const struct sc_function fn = { SC_NONE, SC_NONE, SC_NONE, SYMCACHE_LANG_UNKNOWN,
					       SC_NONE, 0 };

	return sc_table_function(a->tables, &fn, ret);
}

static bool symbol_function(struct assembler *a, uint32_t symbol, uint32_t *ret)
{
	const struct sc_code_symbol *s = &a->symbols[symbol];
	struct sc_function fn = {
		.entry = (uint32_t)(s->start - a->base),
		.qualified = SC_NONE,
		.lang = SYMCACHE_LANG_SYMTAB,
		.decl_file = SC_NONE,
	};

	return sc_table_string(a->tables, s->name, &fn.name) &&
	       sc_table_function(a->tables, &fn, ret);
}

/* The interval of a layer at `vaddr`, or NULL; *stop shrinks to where that
 * answer ends. Addresses asked for must ascend. */
static const struct sc_interval *layer_at(struct layer *l, uint64_t vaddr, uint64_t *stop)
{
	const struct sc_interval *list = l->painted.list.data;
	bool inside;

	while (l->at < l->painted.list.len && list[l->at].end <= vaddr)
		l->at++;
	if (l->at == l->painted.list.len)
		return NULL;
	inside = list[l->at].start <= vaddr;
	if (*stop > (inside ? list[l->at].end : list[l->at].start))
		*stop = inside ? list[l->at].end : list[l->at].start;
	return inside ? &list[l->at] : NULL;
}

/* Fills a gap [start, end) between functions with symbols and lines. */
static bool put_gap(struct assembler *a, uint64_t start, uint64_t end)
{
	while (start < end) {
		uint64_t stop = end;
		const struct sc_interval *symbol = layer_at(&a->code_symbols, start, &stop);
		const struct sc_interval *line = layer_at(&a->lines, start, &stop);
		struct sc_location loc = { SC_NONE, 0, 0, SC_NONE, SC_NONE, 0 };

		if (symbol || line) {
			if (!(symbol ? symbol_function(a, symbol->id, &loc.function) :
				       nameless_function(a, &loc.function)))
				return false;
			if (!(line ? put_piece(a, &a->flat->pieces.data[line->id], start, stop,
					       loc.function) :
				     put(a, start, stop, &loc)))
				return false;
		}
		start = stop;
	}
	return true;
}

/* Paints the pieces: functions and strays, and lines. */
static bool paint_pieces(struct sc_paint *pot, const struct sc_naming *n,
			 struct sc_intervals *functions, struct sc_intervals *lines)
{
	struct sc_intervals in_functions = {0}, in_lines = {0};
	const struct sc_piece *pieces = n->flat->pieces.data;
	bool ok = true;

	for (uint32_t i = 0; ok && i < n->flat->pieces.len; i++)
		ok = sc_intervals_add(pieces[i].kind == SC_PIECE_LINES ? &in_lines : &in_functions,
				      pieces[i].start, pieces[i].end, 0, i);
	ok = ok && sc_rank_by_containment(&in_functions) && sc_rank_by_containment(&in_lines);
	if (ok)
		sc_prefer_kept(&in_functions, n);
	for (size_t i = 0; ok && i < in_functions.list.len; i++)
		if (pieces[in_functions.list.data[i].id].kind == SC_PIECE_FUNCTION)
			in_functions.list.data[i].priority += UINT32_MAX;
	ok = ok && sc_paint(pot, &in_functions, functions) && sc_paint(pot, &in_lines, lines);
	vec_deinit(&in_functions.list);
	vec_deinit(&in_lines.list);
	return ok;
}

static bool make_layers(struct assembler *a, const struct sc_code_symbols *code_symbols)
{
	const struct sc_naming naming = { a->flat, code_symbols, a->tables };
	struct sc_paint pot = {0};
	struct sc_intervals symbols = {0};
	bool ok = true;

	for (uint32_t i = 0; ok && i < code_symbols->n; i++)
		ok = sc_intervals_add(&symbols, a->symbols[i].start, a->symbols[i].end, 0, i);
	ok = ok && sc_rank_by_containment(&symbols) &&
	     paint_pieces(&pot, &naming, &a->functions.painted, &a->lines.painted) &&
	     sc_paint(&pot, &symbols, &a->code_symbols.painted);
	vec_deinit(&symbols.list);
	sc_paint_deinit(&pot);
	return ok;
}

bool sc_piece_at(const struct sc_flat *flat, const struct sc_code_symbols *symbols,
		 const struct sc_tables *tables, uint64_t vaddr, uint32_t *ret)
{
	const struct sc_naming naming = { flat, symbols, tables };
	struct layer functions = {0}, lines = {0};
	struct sc_paint pot = {0};
	uint64_t stop = UINT64_MAX;
	const struct sc_interval *at;
	bool ok = paint_pieces(&pot, &naming, &functions.painted, &lines.painted);

	*ret = SC_NONE;
	if (ok) {
		at = layer_at(&functions, vaddr, &stop);
		at = at ? at : layer_at(&lines, vaddr, &stop);
		*ret = at ? at->id : SC_NONE;
	}
	vec_deinit(&functions.painted.list);
	vec_deinit(&lines.painted.list);
	sc_paint_deinit(&pot);
	return ok;
}

/* Puts the functions [first, last) with the gap before each, and the one behind all. */
static bool put_functions(struct assembler *a, size_t first, size_t last)
{
	const struct sc_interval *f = a->functions.painted.list.data;
	size_t n = a->functions.painted.list.len, ranges = a->flat->ranges.len;
	uint64_t at = first ? f[first - 1].end : a->base;

	a->end = at;
	a->any = first;
	for (size_t i = 0; i < a->flat->more.len; i++)
		ranges += a->flat->more.data[i].ranges.len;
	if (n && !vec_reserve(&a->out->ranges, ranges / n * (last - first)))
		return false;
	for (size_t i = first; i < last; i++) {
		if (!put_gap(a, at, f[i].start) ||
		    !put_piece(a, &a->flat->pieces.data[f[i].id], f[i].start, f[i].end, SC_NONE))
			return false;
		at = f[i].end;
	}
	if (last < n)
		return true;
	return put_gap(a, at, UINT64_MAX) &&
	       (!a->any || a->end - a->base > 0xffffffffull || append_gap(a));
}

/* ---- in parts, on many threads ------------------------------------------------------ */

struct part {
	struct assembler a; /* the layers are shared, the places in them are not */
	struct sc_final out;
	size_t first, last; /* functions */
	size_t skip;        /* ranges at its begin that continue the part before */
	size_t at;          /* where it goes */
	size_t discriminators_at;
	bool ok;
};

struct parts {
	struct part *list;
	struct sc_final *out;
};

static void part_job(void *ctx, unsigned worker, size_t job)
{
	struct part *p = &((struct parts *)ctx)->list[job];

	(void)worker;
	p->a.out = &p->out;
	p->ok = put_functions(&p->a, p->first, p->last);
}

static void copy_job(void *ctx, unsigned worker, size_t job)
{
	struct parts *parts = ctx;
	struct part *p = &parts->list[job];

	(void)worker;
	if (p->out.ranges.len)
		memcpy(parts->out->ranges.data + p->at, p->out.ranges.data + p->skip,
		       (p->out.ranges.len - p->skip) * sizeof(*p->out.ranges.data));
	if (p->out.discriminators.len)
		memcpy(parts->out->discriminators.data + p->discriminators_at,
		       p->out.discriminators.data,
		       p->out.discriminators.len * sizeof(*p->out.discriminators.data));
	sc_final_deinit(&p->out);
}

/* Where each part goes; the first range of one may go on what the one before it ends with.
 * False: out of memory. */
static bool place_parts(struct assembler *a, struct part *list, unsigned n)
{
	struct sc_final *before = NULL;
	size_t total = 0, discriminators = 0;

	for (struct part *p = list; p < list + n; p++) {
		const struct sc_final_range *first = p->out.ranges.data;
		const size_t len = p->out.ranges.len;

		p->skip = len && before &&
			  sc_same_place(&before->ranges.data[before->ranges.len - 1].loc,
					&first->loc);
		if (p->skip &&
		    !sc_final_discriminate(before, first->start, first->loc.discriminator))
			return false;
		p->at = total;
		total += len - p->skip;
		a->merged += p->a.merged + p->skip;
		if (len)
			before = &p->out;
	}
	for (struct part *p = list; p < list + n; p++) {
		p->discriminators_at = discriminators;
		discriminators += p->out.discriminators.len;
	}
	if (!vec_reserve(&a->out->ranges, total) ||
	    !vec_reserve(&a->out->discriminators, discriminators))
		return false;
	a->out->ranges.len = total;
	a->out->discriminators.len = discriminators;
	return true;
}

static bool put_in_parts(struct assembler *a, unsigned n, unsigned threads)
{
	struct parts parts = { calloc(n, sizeof(*parts.list)), a->out };
	size_t functions = a->functions.painted.list.len;
	bool ok = parts.list;

	for (unsigned i = 0; ok && i < n; i++) {
		parts.list[i].a = *a;
		parts.list[i].first = functions * i / n;
		parts.list[i].last = functions * (i + 1) / n;
	}
	if (ok)
		sc_parallel(threads, n, part_job, &parts);
	for (unsigned i = 0; ok && i < n; i++)
		ok = parts.list[i].ok;
	ok = ok && place_parts(a, parts.list, n);
	if (ok)
		sc_parallel(threads, n, copy_job, &parts);
	for (unsigned i = 0; parts.list && i < n; i++)
		sc_final_deinit(&parts.list[i].out);
	free(parts.list);
	return ok;
}

bool sc_assemble(struct sc_flat *flat, const struct sc_code_symbols *symbols,
		 struct sc_tables *tables, unsigned threads, struct sc_final *ret)
{
	__attribute__((cleanup(assembler_deinit))) struct assembler a = {
		.flat = flat, .symbols = symbols->list, .base = symbols->load_base, .tables = tables, .out = ret,
	};
	size_t functions;
	bool ok;

	if (!make_layers(&a, symbols))
		return false;
	functions = a.functions.painted.list.len;
	if (threads < 2 || !functions)
		ok = put_functions(&a, 0, functions);
	else
		ok = put_in_parts(&a, functions < 4 * threads ? (unsigned)functions : 4 * threads,
				  threads);
	flat->merged += a.merged;
	return ok;
}
