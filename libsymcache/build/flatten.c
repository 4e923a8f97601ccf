/*
 * Facts of one unit → disjoint ranges with inline chains: see flatten.h.
 *
 * Priorities of the painting. A function's range gets a rank by containment
 * (1 … n), an inlined call the rank of the function range it lies in; below the
 * rank the order of the entries decides. So an inlined call never wins over
 * another function, and what it has beyond all ranges of its own function has
 * rank 0: a stray, shown only where nothing else is.
 *
 *     63           32 31            0
 *     |    rank      | scope number |
 *
 * Cost: O(n log n) in scopes, linear in rows. Tables are asked once per scope
 * and file, not per range.
 */
#include "libsymcache/build/flatten.h"

#include "format/symcache_format.h"
#include "libsymcache/build/lang.h"

#define LAST_REL 0xffffffffull

/* What a scope comes to in the tables; filled when the scope is first met. */
struct scope_memo {
	bool known;
	uint32_t function;
	uint32_t call; /* call location it is inlined into, or SC_NONE */
};

struct sc_flattener {
	struct sc_flatten_env env;
	struct sc_paint pot;
	struct sc_intervals functions, scopes, painted, sequences, lines, own, covers;
	VEC(struct scope_memo) memo;
	VEC(uint32_t) files;    /* file of the unit → file number, SC_NONE − 1: not asked yet */
	VEC(uint32_t) function; /* scope → the function around it */
	VEC(uint32_t) chain;    /* scopes to settle, innermost first */

	const struct dw_unit *unit;
	struct sc_flat *out;
	size_t line;            /* into lines: first that can still matter */
	size_t cover;           /* into covers, likewise */
	size_t row;             /* of the last row found */
	bool in_piece;          /* the last piece of out is open */
	uint32_t piece_owner;
};

#define FILE_NOT_ASKED (SC_NONE - 1)

struct sc_flattener *sc_flattener_create(const struct sc_flatten_env *env)
{
	struct sc_flattener *f = calloc(1, sizeof(*f));

	if (f)
		f->env = *env;
	return f;
}

void sc_flattener_destroy(struct sc_flattener *f)
{
	if (!f)
		return;
	sc_paint_deinit(&f->pot);
	vec_deinit(&f->functions.list);
	vec_deinit(&f->scopes.list);
	vec_deinit(&f->painted.list);
	vec_deinit(&f->sequences.list);
	vec_deinit(&f->lines.list);
	vec_deinit(&f->own.list);
	vec_deinit(&f->covers.list);
	vec_deinit(&f->memo);
	vec_deinit(&f->files);
	vec_deinit(&f->function);
	vec_deinit(&f->chain);
	free(f);
}

void sc_flat_deinit(struct sc_flat *flat)
{
	vec_deinit(&flat->pieces);
	vec_deinit(&flat->ranges);
}

/* ---- collecting ------------------------------------------------------------------ */

/* Cuts [start, end) to what is code and within reach. False: nothing is left. */
static bool clip(struct sc_flattener *f, uint64_t *start, uint64_t *end)
{
	uint64_t code_end = f->env.code_end(f->env.ctx, *start);
	uint64_t base = f->env.load_base;

	if (*end > code_end)
		*end = code_end;
	if (*start >= *end)
		return false;
	if (*start < base || *start - base > LAST_REL) {
		f->out->too_far++;
		return false;
	}
	if (*end - base > LAST_REL + 1)
		*end = base + LAST_REL + 1;
	return true;
}

static bool add(struct sc_intervals *v, uint64_t start, uint64_t end, uint64_t priority,
		uint32_t id)
{
	struct sc_interval *i = vec_push(&v->list);

	if (!i)
		return false;
	*i = (struct sc_interval){ start, end, priority, id };
	return true;
}

/* All ranges of functions, ranked; in function[] each scope's function. */
static bool collect_functions(struct sc_flattener *f)
{
	const struct dw_unit *u = f->unit;

	vec_clear(&f->functions.list);
	vec_clear(&f->function);
	if (!vec_reserve(&f->function, u->scopes.len))
		return false;
	f->function.len = u->scopes.len;
	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *s = &u->scopes.data[i];

		f->function.data[i] = s->parent < i ? f->function.data[s->parent] : i;
		if (s->parent < i)
			continue;
		for (uint32_t k = 0; k < s->num_ranges; k++) {
			struct dw_range r = u->ranges.data[s->first_range + k];
			/* Of equal ranges in one unit the later entry wins, as
			 * an entry does over what is before it: ids go down. */
			if (clip(f, &r.start, &r.end) &&
			    !add(&f->functions, r.start, r.end, 0, UINT32_MAX - i))
				return false;
		}
	}
	sc_rank_by_containment(&f->functions);
	for (size_t i = 0; i < f->functions.list.len; i++) {
		struct sc_interval *r = &f->functions.list.data[i];
		r->id = UINT32_MAX - r->id;
		r->priority = r->priority << 32 | r->id;
	}
	return true;
}

static int by_id(const void *a, const void *b)
{
	const struct sc_interval *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

/*
 * One range of an inlined call, split by the ranges r[0, n) of its function
 * (ascending):
 *
 *   function        [----r0----)        [---r1---)
 *   inlined call          [---------------------------)
 *   becomes               [in )[ stray )[-- in --)[str)
 */
static bool split_by_function(struct sc_flattener *f, uint64_t start, uint64_t end,
			      uint32_t id, const struct sc_interval *r, size_t n)
{
	for (size_t i = 0; i < n && start < end; i++) {
		uint64_t stop;

		if (r[i].end <= start)
			continue;
		if (r[i].start >= end)
			break;
		if (start < r[i].start) {
			if (!add(&f->scopes, start, r[i].start, id, id))
				return false;
			start = r[i].start;
		}
		stop = end < r[i].end ? end : r[i].end;
		if (!add(&f->scopes, start, stop, (r[i].priority >> 32) << 32 | id, id))
			return false;
		start = stop;
	}
	return start >= end || add(&f->scopes, start, end, id, id);
}

static bool collect_scopes(struct sc_flattener *f)
{
	const struct dw_unit *u = f->unit;
	struct sc_interval *r;
	size_t n = 0, at = 0, total;

	if (!collect_functions(f))
		return false;
	total = f->functions.list.len;
	if (total)
		qsort(f->functions.list.data, total, sizeof(*f->functions.list.data), by_id);
	r = f->functions.list.data;
	vec_clear(&f->scopes.list);
	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *s = &u->scopes.data[i];

		if (f->function.data[i] == i) {
			at += n;
			for (n = 0; at + n < total && r[at + n].id == i; n++)
				if (!add(&f->scopes, r[at + n].start, r[at + n].end,
					 r[at + n].priority, i))
					return false;
			continue;
		}
		/* Functions nest (GNU C): the ranges at hand may be another's. */
		size_t first = at, count = n;
		if (!count || r[first].id != f->function.data[i]) {
			uint32_t want = f->function.data[i];
			size_t lo = 0, hi = total;
			while (lo < hi) {
				size_t mid = lo + (hi - lo) / 2;
				if (r[mid].id < want)
					lo = mid + 1;
				else
					hi = mid;
			}
			for (first = lo, count = 0;
			     first + count < total && r[first + count].id == want;)
				count++;
		}
		for (uint32_t k = 0; k < s->num_ranges; k++) {
			struct dw_range range = u->ranges.data[s->first_range + k];
			if (clip(f, &range.start, &range.end) &&
			    !split_by_function(f, range.start, range.end, i, r + first, count))
				return false;
		}
	}
	return true;
}

/* The sequences, made disjoint: where two overlap, the one inside wins. */
static bool collect_lines(struct sc_flattener *f)
{
	const struct dw_unit *u = f->unit;

	vec_clear(&f->sequences.list);
	for (uint32_t i = 0; i < u->sequences.len; i++) {
		uint64_t start = u->sequences.data[i].start, end = u->sequences.data[i].end;
		if (clip(f, &start, &end) && !add(&f->sequences, start, end, 0, i))
			return false;
	}
	sc_rank_by_containment(&f->sequences);
	return sc_paint(&f->pot, &f->sequences, &f->lines);
}

/* What the unit claims as its own. Rows outside functions count only there: the
 * last row of a function also covers the padding behind it, which is nobody's. */
static bool collect_covers(struct sc_flattener *f)
{
	const struct dw_unit *u = f->unit;

	vec_clear(&f->own.list);
	for (uint32_t i = 0; i < u->num_covers; i++)
		if (!add(&f->own, u->ranges.data[i].start, u->ranges.data[i].end, 0, 0))
			return false;
	if (!u->num_covers && !add(&f->own, 0, UINT64_MAX, 0, 0))
		return false;
	return sc_paint(&f->pot, &f->own, &f->covers);
}

/* ---- tables ------------------------------------------------------------------------ */

static bool file_number(struct sc_flattener *f, uint32_t file, uint32_t *ret)
{
	const struct dw_file *d;
	uint32_t *known;

	*ret = SC_NONE;
	if (file >= f->files.len)
		return true;
	known = &f->files.data[file];
	if (*known == FILE_NOT_ASKED) {
		d = &f->unit->files.data[file];
		if (!sc_table_file(f->env.tables, d->comp_dir, d->dir, d->name, known))
			return false;
	}
	*ret = *known;
	return true;
}

static bool function_number(struct sc_flattener *f, const struct dw_scope *s, bool inlined,
			    uint32_t *ret)
{
	struct sc_function fn = {
		.entry = inlined || s->entry_vaddr < f->env.load_base ||
			 s->entry_vaddr - f->env.load_base >= LAST_REL ?
			 SC_NONE : (uint32_t)(s->entry_vaddr - f->env.load_base),
		.lang = sc_lang_of_dwarf(s->lang),
		.decl_line = s->decl_line,
	};
	const char *name = s->name;

	if (!name && !inlined)
		name = f->env.symbol_at(f->env.ctx, s->entry_vaddr);
	return sc_table_string(f->env.tables, name, &fn.name) &&
	       file_number(f, s->decl_file, &fn.decl_file) &&
	       sc_table_function(f->env.tables, &fn, ret);
}

/* The function of scope i and the call it is inlined into; its parent is known. */
static bool settle_one(struct sc_flattener *f, uint32_t i)
{
	const struct dw_scope *s = &f->unit->scopes.data[i];
	struct scope_memo *m = &f->memo.data[i];

	m->call = SC_NONE;
	if (!function_number(f, s, s->parent < i, &m->function))
		return false;
	if (s->parent < i) {
		const struct scope_memo *outer = &f->memo.data[s->parent];
		struct sc_location call = {
			.line = s->call_line,
			.column = s->call_column,
			.function = outer->function,
			.inlined_into = outer->call,
		};
		if (!file_number(f, s->call_file, &call.file) ||
		    !sc_table_call(f->env.tables, &call, &m->call))
			return false;
	}
	m->known = true;
	return true;
}

/* Settles scope i and the scopes around it, outermost first. Entries may nest
 * to any depth: a stack of our own, not recursion. */
static bool settle_scope(struct sc_flattener *f, uint32_t i)
{
	vec_clear(&f->chain);
	for (uint32_t at = i; !f->memo.data[at].known; at = f->unit->scopes.data[at].parent) {
		uint32_t *slot = vec_push(&f->chain);
		if (!slot)
			return false;
		*slot = at;
		if (f->unit->scopes.data[at].parent >= at)
			break;
	}
	while (f->chain.len)
		if (!settle_one(f, f->chain.data[--f->chain.len]))
			return false;
	return true;
}

/* ---- cutting ------------------------------------------------------------------------- */

static bool open_piece(struct sc_flattener *f, uint64_t start, uint32_t owner,
		       enum sc_piece_kind kind)
{
	struct sc_piece *p = f->out->pieces.len ?
		&f->out->pieces.data[f->out->pieces.len - 1] : NULL;

	if (f->in_piece && p->end == start && f->piece_owner == owner && p->kind == kind)
		return true;
	p = vec_push(&f->out->pieces);
	if (!p)
		return false;
	*p = (struct sc_piece){ .start = start, .end = start, .kind = kind,
				.first_range = (uint32_t)f->out->ranges.len };
	f->in_piece = true;
	f->piece_owner = owner;
	return true;
}

/* Adds [start, end) to the open piece: scope (or DW_NONE) and row (or NULL). */
static bool put(struct sc_flattener *f, uint64_t start, uint64_t end, uint32_t scope,
		const struct dw_row *row)
{
	struct sc_piece *p = &f->out->pieces.data[f->out->pieces.len - 1];
	struct sc_location loc = { SC_NONE, 0, 0, SC_NONE, SC_NONE };
	struct sc_flat_range *r;

	if (scope != DW_NONE) {
		loc.function = f->memo.data[scope].function;
		loc.inlined_into = f->memo.data[scope].call;
	}
	if (row) {
		if (!file_number(f, row->file, &loc.file))
			return false;
		loc.line = row->line;
		loc.column = row->column;
	}
	p->end = end;
	if (p->num_ranges) {
		r = &f->out->ranges.data[f->out->ranges.len - 1];
		if (!memcmp(&r->loc, &loc, sizeof(loc))) {
			f->out->merged++;
			return true;
		}
	}
	r = vec_push(&f->out->ranges);
	if (!r)
		return false;
	r->start = start;
	r->loc = loc;
	p->num_ranges++;
	return true;
}

/* The last row of the sequence at or before vaddr (there is one). */
static size_t find_row(struct sc_flattener *f, const struct dw_sequence *s, uint64_t vaddr)
{
	const struct dw_row *rows = f->unit->rows.data;
	size_t lo = s->first_row, hi = lo + s->num_rows;

	/* Addresses ascend: the row is near the last one found. */
	if (f->row >= lo && f->row < hi && rows[f->row].vaddr <= vaddr) {
		lo = f->row;
		if (lo + 8 < hi && rows[lo + 8].vaddr > vaddr)
			hi = lo + 8;
	}
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;
		if (rows[mid].vaddr <= vaddr)
			lo = mid;
		else
			hi = mid;
	}
	f->row = lo;
	return lo;
}

/* Cuts [start, end), all inside sequence s, at its rows. */
static bool cut_at_rows(struct sc_flattener *f, uint64_t start, uint64_t end, uint32_t scope,
			const struct dw_sequence *s)
{
	const struct dw_row *rows = f->unit->rows.data;
	size_t i = find_row(f, s, start), last = s->first_row + s->num_rows;

	for (; start < end; i++) {
		uint64_t stop = i + 1 < last && rows[i + 1].vaddr < end ? rows[i + 1].vaddr : end;
		if (stop <= start)
			continue; /* a later row at the same address counts */
		if (!put(f, start, stop, scope, &rows[i]))
			return false;
		start = stop;
		f->row = i;
	}
	return true;
}

/* Cuts [start, end) of one scope, or of none, at the sequences and their rows. */
static bool cut(struct sc_flattener *f, uint64_t start, uint64_t end, uint32_t scope,
		uint32_t owner, enum sc_piece_kind kind)
{
	const struct sc_interval *lines = f->lines.list.data;
	size_t n = f->lines.list.len;

	while (f->line < n && lines[f->line].end <= start)
		f->line++;
	for (size_t i = f->line; start < end; ) {
		bool covered = i < n && lines[i].start <= start;
		uint64_t stop = i < n && !covered && lines[i].start < end ? lines[i].start :
				covered && lines[i].end < end ? lines[i].end : end;

		if (covered || scope != DW_NONE) {
			if (!open_piece(f, start, owner, kind) ||
			    !(covered ? cut_at_rows(f, start, stop, scope,
						    &f->unit->sequences.data[lines[i].id]) :
					put(f, start, stop, scope, NULL)))
				return false;
		} else {
			f->in_piece = false;
		}
		if (covered && lines[i].end == stop)
			i++;
		start = stop;
	}
	return true;
}

/* Cuts what lies between functions, as far as it is the unit's own. */
static bool cut_gap(struct sc_flattener *f, uint64_t start, uint64_t end)
{
	const struct sc_interval *covers = f->covers.list.data;

	while (f->cover < f->covers.list.len && covers[f->cover].end <= start)
		f->cover++;
	for (size_t i = f->cover; i < f->covers.list.len && covers[i].start < end; i++)
		if (!cut(f, start > covers[i].start ? start : covers[i].start,
			 end < covers[i].end ? end : covers[i].end, DW_NONE, DW_NONE,
			 SC_PIECE_LINES))
			return false;
	return true;
}

bool sc_flatten(struct sc_flattener *f, const struct dw_unit *unit, struct sc_flat *ret)
{
	uint64_t at = 0;

	f->unit = unit;
	f->out = ret;
	f->line = f->row = f->cover = 0;
	f->in_piece = false;
	vec_clear(&f->files);
	vec_clear(&f->memo);
	if (!vec_reserve(&f->files, unit->files.len) ||
	    !vec_reserve(&f->memo, unit->scopes.len))
		return false;
	for (; f->files.len < unit->files.len; f->files.len++)
		f->files.data[f->files.len] = FILE_NOT_ASKED;
	for (; f->memo.len < unit->scopes.len; f->memo.len++)
		f->memo.data[f->memo.len].known = false;
	if (!collect_scopes(f) || !collect_lines(f) || !collect_covers(f) ||
	    !sc_paint(&f->pot, &f->scopes, &f->painted))
		return false;
	for (size_t i = 0; i < f->painted.list.len; i++) {
		const struct sc_interval *s = &f->painted.list.data[i];
		uint32_t owner = f->function.data[s->id];

		/* Rows in the gap before it belong to no function of this unit. */
		if (at < s->start && !cut_gap(f, at, s->start))
			return false;
		if (!settle_scope(f, s->id) ||
		    !cut(f, s->start, s->end, s->id, owner,
			 s->priority >> 32 ? SC_PIECE_FUNCTION : SC_PIECE_STRAY))
			return false;
		at = s->end;
	}
	return cut_gap(f, at, UINT64_MAX);
}
