/*
 * One address, explained: see explain.h.
 *
 * Every unit is read as for a cache. Those of which a scope or a line row holds the
 * address are painted as in flatten/scopes.c, which gives the scope and the sequence that
 * decide; then the facts of these few are copied out, with what the cache leaves away:
 * where the entries stand, is_stmt, discriminators.
 */
#include "libsymcache/write/explain.h"

#include "libsymcache/dwarf/entries.h"
#include "libsymcache/dwarf/names.h"
#include "libsymcache/write/flatten/assemble.h"
#include "libsymcache/write/flatten/scopes.h"
#include "libsymcache/write/input/input.h"

struct explanation {
	struct symcache_explanation shown; /* what callers see: first */
	struct sc_input input;             /* all strings */
	VEC(struct symcache_explained_unit) units;
};

/* What explaining one unit after the other takes. */
struct work {
	struct explanation *to;
	struct sc_flatten_env env;
	uint64_t vaddr, too_far;
	struct dw_scanner *scanner;
	struct dw_facts unit;
	struct sc_scopes scopes;
	struct sc_paint pot;
	struct sc_intervals own, extent, runs, sequences, lines;
	VEC(uint8_t) decides; /* by scope */
	struct sc_flattener *flattener;
	struct sc_tables tables;
	struct sc_flat flat;           /* of the current unit */
	VEC(struct sc_piece) pieces;   /* that hold the address */
	VEC(uint32_t) units_of_pieces; /* their places in to->units */
};

static void work_deinit(struct work *w)
{
	dw_scanner_destroy(w->scanner);
	dw_facts_deinit(&w->unit);
	sc_scopes_deinit(&w->scopes);
	sc_paint_deinit(&w->pot);
	vec_deinit(&w->runs.list);
	vec_deinit(&w->own.list);
	vec_deinit(&w->extent.list);
	vec_deinit(&w->sequences.list);
	vec_deinit(&w->lines.list);
	vec_deinit(&w->decides);
	sc_flattener_destroy(w->flattener);
	sc_tables_deinit(&w->tables);
	sc_flat_deinit(&w->flat);
	vec_deinit(&w->pieces);
	vec_deinit(&w->units_of_pieces);
}

static struct symcache_file file_at(const struct dw_facts *u, uint32_t index)
{
	struct symcache_file file = {0};

	if (index < u->files.len) {
		const struct dw_file *f = &u->files.data[index];

		file = (struct symcache_file){ sc_str_of(f->comp_dir), sc_str_of(f->dir), sc_str_of(f->name) };
	}
	return file;
}

/* ---- what holds the address ------------------------------------------------------- */

/* The range of scope `s` that holds the address, or NULL. */
static const struct dw_range *range_of(const struct work *w, const struct dw_scope *s)
{
	for (uint32_t i = 0; i < s->num_ranges; i++) {
		const struct dw_range *r = &w->unit.ranges.data[s->first_range + i];

		if (w->vaddr >= r->start && w->vaddr < r->end)
			return r;
	}
	return NULL;
}

/* The id of the interval that holds the address, or DW_NONE. */
static uint32_t id_at(const struct sc_intervals *v, uint64_t vaddr)
{
	for (size_t i = 0; i < v->list.len; i++)
		if (vaddr >= v->list.data[i].start && vaddr < v->list.data[i].end)
			return v->list.data[i].id;
	return DW_NONE;
}

static bool is_concerned(const struct work *w)
{
	for (size_t i = 0; i < w->unit.scopes.len; i++)
		if (range_of(w, &w->unit.scopes.data[i]))
			return true;
	for (size_t i = 0; i < w->unit.sequences.len; i++)
		if (w->vaddr >= w->unit.sequences.data[i].start &&
		    w->vaddr < w->unit.sequences.data[i].end)
			return true;
	return false;
}

/* ---- copying out -------------------------------------------------------------------- */

/* Marks the scope that decides, and those that it is inlined into. */
static bool mark_chain(struct work *w)
{
	const struct dw_facts *u = &w->unit;
	uint32_t i = id_at(&w->runs, w->vaddr);

	vec_clear(&w->decides);
	if (!vec_reserve(&w->decides, u->scopes.len))
		return false;
	if (u->scopes.len)
		memset(w->decides.data, 0, u->scopes.len);
	for (; i != DW_NONE; i = u->scopes.data[i].parent < i ? u->scopes.data[i].parent : DW_NONE)
		w->decides.data[i] = 1;
	return true;
}

static bool copy_entries(struct work *w, uint64_t unit_offset,
			 struct symcache_explained_unit *ret)
{
	const struct dw_facts *u = &w->unit;
	VEC(struct symcache_explained_entry) entries = {0};

	if (!mark_chain(w))
		return false;
	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *s = &u->scopes.data[i];
		const struct dw_range *range = range_of(w, s);
		bool decides = w->decides.data[i];
		struct symcache_explained_entry *e;

		if (!range && !decides)
			continue;
		e = vec_push(&entries);
		if (!e) {
			vec_deinit(&entries);
			return false;
		}
		*e = (struct symcache_explained_entry){
			.offset = unit_offset + s->entry,
			.inlined = s->parent < i,
			.decides = decides,
			.name = s->name,
			.start = range ? range->start : 0,
			.end = range ? range->end : 0,
			.num_ranges = s->num_ranges,
			.call_file = file_at(u, s->call_file),
			.call_line = s->call_line,
			.call_column = s->call_column,
		};
	}
	ret->entries = entries.data;
	ret->num_entries = entries.len;
	return true;
}

static void copy_row(const struct work *w, struct symcache_explained_unit *ret)
{
	const struct dw_facts *u = &w->unit;
	uint32_t id = id_at(&w->lines, w->vaddr);
	const struct dw_sequence *s;
	const struct dw_row *rows;
	uint32_t i = 0;

	if (id == DW_NONE)
		return;
	s = &u->sequences.data[id];
	rows = &u->rows.data[s->first_row];
	while (i + 1 < s->num_rows && rows[i + 1].vaddr <= w->vaddr)
		i++;
	ret->has_row = true;
	ret->row = (struct symcache_explained_row){
		.start = rows[i].vaddr,
		.end = i + 1 < s->num_rows ? rows[i + 1].vaddr : s->end,
		.file = file_at(u, rows[i].file),
		.line = rows[i].line,
		.column = rows[i].column,
		.is_stmt = rows[i].marks & DW_ROW_IS_STMT,
		.discriminator = DW_ROW_DISCRIMINATOR(rows[i].marks),
		.sequence_start = s->start,
		.sequence_end = s->end,
		.sequence_rows = s->num_rows,
	};
}

/* The name of a unit: that of its root entry. */
static const char *name_of(const struct dw_unit *u)
{
	struct dw_value v[DW_NUM_SLOTS] = {0};
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);
	const struct dw_abbrev *abbrev = dw_abbrev(u->abbrevs, dw_uleb(&c));

	if (!abbrev)
		return NULL;
	dw_read_attributes(&c, u, abbrev, v);
	return c.bad ? NULL : dw_value_string(u, &v[DW_SLOT_NAME]);
}

/* ---- which unit ------------------------------------------------------------------------ */

/* Keeps the pieces of w->unit, the last of to->units, that hold the address. */
static bool keep_pieces(struct work *w)
{
	vec_clear(&w->flat.pieces);
	vec_clear(&w->flat.ranges);
	if (!sc_flatten(w->flattener, &w->unit, &w->flat))
		return false;
	for (size_t i = 0; i < w->flat.pieces.len; i++) {
		const struct sc_piece *p = &w->flat.pieces.data[i];

		if (w->vaddr < p->start || w->vaddr >= p->end)
			continue;
		if (!vec_reserve(&w->pieces, 1) || !vec_reserve(&w->units_of_pieces, 1))
			return false;
		w->pieces.data[w->pieces.len++] = *p;
		w->units_of_pieces.data[w->units_of_pieces.len++] =
			(uint32_t)w->to->units.len - 1;
	}
	return true;
}

/* Marks the unit that decides, as it is decided for a cache. */
static bool mark_unit(struct work *w)
{
	uint32_t piece;

	const struct sc_code_symbols symbols = {
		.symbol_at = w->env.shown_symbol_at, .ctx = w->env.ctx,
	};
	struct sc_flat flat = { .pieces = { w->pieces.data, w->pieces.len, w->pieces.cap } };

	if (!sc_piece_at(&flat, &symbols, &w->tables, w->vaddr, &piece))
		return false;
	if (piece != SC_NONE)
		w->to->units.data[w->units_of_pieces.data[piece]].decides = true;
	return true;
}

/* Explains w->unit, whose header is `u`. */
static bool explain_unit(struct work *w, const struct dw_unit *u)
{
	struct dw_debug debug = {0};
	const struct dw_unit *split = NULL, *root;
	struct symcache_explained_unit *ret;
	bool ok = sc_covers_paint(&w->pot, &w->unit, true, &w->own, &w->extent) &&
		  sc_scopes_paint(&w->scopes, &w->env, &w->unit, &w->extent, &w->runs,
				  &w->too_far) &&
		  sc_sequences_paint(&w->scopes, &w->env, &w->unit, &w->sequences, &w->lines,
				     &w->too_far);

	ret = ok ? vec_push(&w->to->units) : NULL;
	if (!ret)
		return false;
	if (u->split_name)
		ok = dw_split_read(u, &debug, &split, NULL) != SC_ENOMEM;
	root = split ? split : u;
	ret->offset = u->offset;
	ret->version = root->sizes.version;
	ret->name = name_of(root);
	ret->comp_dir = u->comp_dir;
	ret->split = u->split_name;
	ret->language = dw_language_name(root->lang);
	ok = ok && copy_entries(w, root->offset, ret) && keep_pieces(w);
	copy_row(w, ret);
	dw_debug_deinit(&debug);
	return ok;
}

static int explain_units(struct work *w, struct sc_error *err)
{
	const struct dw_debug *debug = &w->to->input.debug;

	w->scanner = dw_scanner_create(debug);
	w->flattener = sc_flattener_create(&w->env);
	if (!w->scanner || !w->flattener)
		return sc_no_memory(err);
	for (size_t i = 0; i < debug->units.len; i++) {
		if (dw_scan_unit(w->scanner, &debug->units.data[i], &w->unit, NULL) == SC_ENOMEM ||
		    (is_concerned(w) && !explain_unit(w, &debug->units.data[i])))
			return sc_no_memory(err);
		w->to->shown.units_read++;
	}
	return mark_unit(w) ? 0 : sc_no_memory(err);
}

/* ---- the file ------------------------------------------------------------------------ */

static int explain(struct explanation *e, const char *path,
		   const struct symcache_build_options *o, uint64_t vaddr, struct sc_error *err)
{
	__attribute__((cleanup(work_deinit))) struct work w = { .to = e, .vaddr = vaddr };
	struct sc_input *in = &e->input;
	int rc = sc_input_open_whole(in, path, NULL, o, err);

	if (rc || !in->dwarf)
		return rc;
	sc_input_begin_symbols(in, false); /* of folded functions they choose one */
	rc = sc_input_symbols(in, err);
	if (rc)
		return rc;
	e->shown.path = in->dwarf->path;
	w.env = (struct sc_flatten_env){
		.tables = &w.tables,
		.load_base = in->image->load_base,
		.code_end = sc_input_code_end,
		.symbol_at = sc_input_symbol_at,
		.shown_symbol_at = sc_input_shown_symbol_at,
		.ctx = in,
	};
	return explain_units(&w, err);
}

int symcache_explain(const char *path, const struct symcache_build_options *options,
		     uint64_t vaddr, struct symcache_explanation **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	struct explanation *e = calloc(1, sizeof(*e));
	int rc;

	*ret = NULL;
	if (!e)
		return sc_no_memory(err);
	rc = explain(e, path, options ? options : &defaults, vaddr, err);
	e->shown.units = e->units.data;
	e->shown.num_units = e->units.len;
	if (rc)
		symcache_explanation_destroy(&e->shown);
	else
		*ret = &e->shown;
	return rc;
}

void symcache_explanation_destroy(struct symcache_explanation *shown)
{
	struct explanation *e = (struct explanation *)shown;

	if (!e)
		return;
	for (size_t i = 0; i < e->units.len; i++)
		free(e->units.data[i].entries);
	vec_deinit(&e->units);
	sc_input_close(&e->input);
	free(e);
}
