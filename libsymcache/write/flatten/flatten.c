/*
 * Facts of one unit → disjoint ranges with inline chains: see flatten.h.
 *
 * The first step, which scope an address belongs to, is in scopes.c.
 *
 * Cost: O(n log n) in scopes, linear in rows. Tables are asked once per scope
 * and file, not per range.
 */
#include "libsymcache/write/flatten/flatten.h"

#include "format/symcache_format.h"
#include "libsymcache/base/search.h"
#include "libsymcache/dwarf/qualify.h"
#include "libsymcache/write/flatten/lang.h"
#include "libsymcache/write/flatten/scopes.h"

/* What a scope comes to in the tables; filled when the scope is first met. */
struct scope_memo {
	bool known;
	uint32_t function;
	uint32_t call; /* call location it is inlined into, or SC_NONE */
};

/* A function inlined often within a unit: what it came to the last time.
 * Direct-mapped by the name's address. */
struct inlined_memo {
	const struct dw_facts *unit; /* NULL: free */
	uint64_t unit_offset;
	const char *name;
	uint32_t qualified, lang, decl_file, decl_line;
	uint32_t function;
};

#define INLINED_MEMO 4096
#define FILE_NOT_ASKED (SC_NONE - 1)

struct sc_flattener {
	struct sc_flatten_env env;
	struct sc_paint pot;
	struct sc_scopes scopes;
	struct sc_intervals runs; /* of one scope each */
	struct sc_intervals sequences, lines, own, covers;
	VEC(struct scope_memo) memo;
	VEC(uint32_t) files;    /* file of the unit → file number, SC_NONE − 1: not asked yet */
	VEC(uint32_t) chain;    /* scopes to number, innermost first */

	const struct dw_facts *unit;
	struct sc_flat *out;
	size_t line;            /* into lines: first that can still matter */
	size_t cover;           /* into covers, likewise */
	size_t row;             /* of the last row found */
	bool in_piece;          /* the last piece of out is open */
	uint32_t piece_owner;
	struct inlined_memo inlined[INLINED_MEMO];
};


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
	sc_scopes_deinit(&f->scopes);
	vec_deinit(&f->runs.list);
	vec_deinit(&f->sequences.list);
	vec_deinit(&f->lines.list);
	vec_deinit(&f->own.list);
	vec_deinit(&f->covers.list);
	vec_deinit(&f->memo);
	vec_deinit(&f->files);
	vec_deinit(&f->chain);
	free(f);
}

void sc_flat_deinit(struct sc_flat *flat)
{
	for (size_t i = 0; i < flat->more.len; i++) {
		vec_deinit(&flat->more.data[i].ranges);
		sc_maps_deinit(&flat->more.data[i].maps);
	}
	vec_deinit(&flat->more);
	vec_deinit(&flat->inlined);
	vec_deinit(&flat->pieces);
	vec_deinit(&flat->ranges);
}

/* ---- tables ------------------------------------------------------------------------ */

static inline bool file_number(struct sc_flattener *f, uint32_t file, uint32_t *ret)
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
			 s->entry_vaddr - f->env.load_base >= SC_NONE ?
			 SC_NONE : (uint32_t)(s->entry_vaddr - f->env.load_base),
		.qualified = SC_NONE,
		.lang = sc_lang_of_dwarf(s->lang),
		.decl_line = s->decl_line,
	};
	const char *name = s->name;

	if (!name && !inlined) {
		name = f->env.symbol_at(f->env.ctx, s->entry_vaddr);
		fn.lang = name ? SYMCACHE_LANG_SYMTAB : fn.lang;
	}
	return sc_table_string(f->env.tables, name, &fn.name) &&
	       (!s->qualified || sc_table_passing_string(f->env.tables, dw_qualified(f->unit, s),
							 &fn.qualified)) &&
	       file_number(f, s->decl_file, &fn.decl_file) &&
	       sc_table_function(f->env.tables, &fn, ret);
}

/* As function_number() of an inlined scope, asked before the tables. */
static bool inlined_function(struct sc_flattener *f, const struct dw_scope *s, uint32_t *ret)
{
	size_t place = ((uintptr_t)s->name ^ (uintptr_t)s->name >> 12 ^ s->decl_line) %
		       INLINED_MEMO;
	struct inlined_memo *m = &f->inlined[place];

	if (m->unit == f->unit && m->unit_offset == f->unit->offset && m->name == s->name &&
	    m->qualified == s->qualified && m->lang == s->lang && m->decl_file == s->decl_file && m->decl_line == s->decl_line) {
		*ret = m->function;
		return true;
	}
	if (!function_number(f, s, true, ret))
		return false;
	*m = (struct inlined_memo){ f->unit, f->unit->offset, s->name, s->qualified, s->lang,
				    s->decl_file, s->decl_line, *ret };
	return true;
}

/* Where scope s, inlined at `call`, begins: of each of its ranges. */
static bool note_start(struct sc_flattener *f, const struct dw_scope *s, uint32_t call)
{
	const struct dw_range *r = f->unit->ranges.data + s->first_range;
	const uint64_t base = f->env.load_base, limit = SYMCACHE_START_MORE;
	const uint64_t start = s->entry_vaddr - base;
	const bool known = s->entry_vaddr != UINT64_MAX && start < limit;

	if (!vec_reserve(&f->out->inlined, s->num_ranges))
		return false;
	for (uint32_t i = 0; i < s->num_ranges; i++)
		if (r[i].start - base < limit)
			f->out->inlined.data[f->out->inlined.len++] = (struct sc_inlined){
				call, (uint32_t)(r[i].start - base),
				known ? (uint32_t)start : SC_NONE };
	return true;
}

/* The function of scope i and the call it is inlined into; its parent is known. */
static bool number_one(struct sc_flattener *f, uint32_t i)
{
	const struct dw_scope *s = &f->unit->scopes.data[i];
	struct scope_memo *m = &f->memo.data[i];

	m->call = SC_NONE;
	if (!(s->parent < i ? inlined_function(f, s, &m->function) :
			      function_number(f, s, false, &m->function)))
		return false;
	if (s->parent < i) {
		const struct scope_memo *outer = &f->memo.data[s->parent];
		struct sc_location call = {
			.line = s->call_line,
			.column = s->call_column,
			.function = outer->function,
			.inlined_into = outer->call,
			.discriminator = s->call_discriminator,
		};
		if (!file_number(f, s->call_file, &call.file) ||
		    !sc_table_call(f->env.tables, &call, &m->call) || !note_start(f, s, m->call))
			return false;
	}
	m->known = true;
	return true;
}

/* Numbers scope i and the scopes around it, outermost first. Entries may nest
 * to any depth: a stack of our own, not recursion. */
static bool number_scope(struct sc_flattener *f, uint32_t i)
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
		if (!number_one(f, f->chain.data[--f->chain.len]))
			return false;
	return true;
}

/* ---- cutting ------------------------------------------------------------------------- */

/* The piece that [start, …) belongs to; NULL: out of memory. */
static struct sc_piece *open_piece(struct sc_flattener *f, uint64_t start, uint32_t owner,
				   enum sc_piece_kind kind)
{
	struct sc_piece *p = f->out->pieces.len ?
		&f->out->pieces.data[f->out->pieces.len - 1] : NULL;

	if (f->in_piece && p->end == start && f->piece_owner == owner && p->kind == kind)
		return p;
	p = vec_push(&f->out->pieces);
	if (!p)
		return NULL;
	*p = (struct sc_piece){ .start = start, .end = start, .kind = kind,
				.first_range = (uint32_t)f->out->ranges.len,
				.function = kind == SC_PIECE_FUNCTION ?
					    f->memo.data[owner].function : SC_NONE };
	f->in_piece = true;
	f->piece_owner = owner;
	return p;
}

/* Of scope (or DW_NONE), without a row. */
static struct sc_location location_of(const struct sc_flattener *f, uint32_t scope)
{
	struct sc_location loc = { SC_NONE, 0, 0, SC_NONE, SC_NONE, 0 };

	if (scope != DW_NONE) {
		loc.function = f->memo.data[scope].function;
		loc.inlined_into = f->memo.data[scope].call;
	}
	return loc;
}

/* Adds what begins at `start` to the open piece `p`. */
static inline bool put(struct sc_flattener *f, struct sc_piece *p, uint64_t start,
		       const struct sc_location *loc)
{
	struct sc_flat *out = f->out;
	const size_t n = out->ranges.len;
	const struct sc_location *last = p->num_ranges ? &out->ranges.data[n - 1].loc : NULL;

	if (last && sc_same_place(last, loc) && last->discriminator == loc->discriminator) {
		out->merged++;
		return true;
	}
	if (!vec_reserve(&out->ranges, 1))
		return false;
	out->ranges.data[n] = (struct sc_flat_range){ (uint32_t)(start - f->env.load_base), *loc };
	out->ranges.len = n + 1;
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
	return f->row = lo + SC_SEARCH(i, hi - lo - 1, rows[lo + 1 + i].vaddr <= vaddr);
}

/* Cuts [start, end) of piece p, all inside sequence s, at its rows. */
static bool cut_at_rows(struct sc_flattener *f, struct sc_piece *p, uint64_t start, uint64_t end,
			uint32_t scope, const struct dw_sequence *s)
{
	const struct dw_row *rows = f->unit->rows.data;
	size_t i = find_row(f, s, start), last = s->first_row + s->num_rows;
	struct sc_location loc = location_of(f, scope);

	for (; start < end; i++) {
		uint64_t stop = i + 1 < last && rows[i + 1].vaddr < end ? rows[i + 1].vaddr : end;
		if (stop <= start)
			continue; /* a later row at the same address counts */
		loc.line = rows[i].line;
		loc.column = rows[i].column;
		loc.discriminator = DW_ROW_DISCRIMINATOR(rows[i].marks);
		if (!file_number(f, rows[i].file, &loc.file) || !put(f, p, start, &loc))
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
	const struct sc_location bare = location_of(f, scope);

	while (f->line < n && lines[f->line].end <= start)
		f->line++;
	for (size_t i = f->line; start < end; ) {
		bool covered = i < n && lines[i].start <= start;
		uint64_t stop = i < n && !covered && lines[i].start < end ? lines[i].start :
				covered && lines[i].end < end ? lines[i].end : end;

		if (covered || scope != DW_NONE) {
			struct sc_piece *p = open_piece(f, start, owner, kind);

			if (!p || !(covered ? cut_at_rows(f, p, start, stop, scope,
							  &f->unit->sequences.data[lines[i].id]) :
					      put(f, p, start, &bare)))
				return false;
			p->end = stop;
			p->has_rows |= covered;
		} else {
			f->in_piece = false;
		}
		if (covered && lines[i].end == stop)
			i++;
		start = stop;
	}
	return true;
}

/* Cuts what lies between functions, as far as it is the unit's own: the last row of a function
 * also covers the padding behind it, which belongs to no function. */
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

/* Functions whose code others have, as the linker folded them into one: their names are kept. */
static bool number_hidden(struct sc_flattener *f)
{
	for (uint32_t i = 0; i < f->unit->scopes.len; i++) {
		const struct dw_scope *s = &f->unit->scopes.data[i];

		if (s->parent >= i && !f->memo.data[i].known && s->name &&
		    f->env.code_end(f->env.ctx, s->entry_vaddr) && !number_one(f, i))
			return false;
	}
	return true;
}

bool sc_flatten(struct sc_flattener *f, const struct dw_facts *unit, struct sc_flat *ret)
{
	const size_t first = ret->inlined.len;
	uint64_t at = 0;

	f->unit = unit;
	f->out = ret;
	sc_table_calls_new_unit(f->env.tables);
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
	if (!sc_covers_paint(&f->pot, unit, true, &f->own, &f->covers) ||
	    !sc_scopes_paint(&f->scopes, &f->env, unit, &f->covers, &f->runs, &ret->too_far) ||
	    !sc_covers_paint(&f->pot, unit, false, &f->own, &f->covers) ||
	    !sc_sequences_paint(&f->scopes, &f->env, unit, &f->sequences, &f->lines, &ret->too_far))
		return false;
	for (size_t i = 0; i < f->runs.list.len; i++) {
		const struct sc_interval *s = &f->runs.list.data[i];
		uint32_t owner = f->scopes.function.data[s->id];

		/* Rows in the gap before it belong to no function of this unit. */
		if (at < s->start && !cut_gap(f, at, s->start))
			return false;
		if (!number_scope(f, s->id) ||
		    !cut(f, s->start, s->end, s->id, owner,
			 sc_is_stray(s) ? SC_PIECE_STRAY : SC_PIECE_FUNCTION))
			return false;
		at = s->end;
	}
	return cut_gap(f, at, UINT64_MAX) && number_hidden(f) && sc_inlined_of_unit(ret, first);
}
