/*
 * Local variables, of an address (locals.h) and of all functions (cache_locals.h).
 *
 * Of all, each unit is painted by itself: functions in the order of their entries, over them what
 * the unit does not cover; then the units, the first one on top. Only locals that are seen are
 * kept, each once. Cost: linear in the locals and names, n log n in the ranges.
 */
#include "libsymcache/write/cache_locals.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/dwarf/locals.h"
#include "libsymcache/write/flatten/paint.h"
#include "libsymcache/write/image/encode.h"
#include "libsymcache/write/input/input.h"
#include "libsymcache/write/locals.h"

struct symcache_locals {
	struct sc_input input;
	struct dw_location_sections locations;
	struct dw_locals found;
	VEC(struct symcache_local) shown;
};

void symcache_locals_close(struct symcache_locals *l)
{
	if (!l)
		return;
	vec_deinit(&l->found.list);
	vec_deinit(&l->shown);
	sc_input_close(&l->input);
	free(l);
}

/* Broken lists of locations cost the places in them. */
static int open_input(struct symcache_locals *l, const char *path, const struct sc_input *opened,
		      const struct symcache_build_options *o, struct sc_error *err)
{
	struct sc_elf_wanted wanted[] = { { .name = ".debug_loc" }, { .name = ".debug_loclists" } };
	int rc = sc_input_open_whole(&l->input, path, opened, o, err);

	if (rc || !l->input.dwarf)
		return rc;
	sc_elf_load(l->input.dwarf, o->threads ? o->threads : sc_cores(), wanted, 2);
	for (int i = 0; i < 2; i++)
		if (wanted[i].rc == SC_ENOMEM)
			return sc_error_set(err, SC_ENOMEM, "%s", wanted[i].err.msg);
	l->locations = (struct dw_location_sections){ { wanted[0].data, wanted[0].size },
						      { wanted[1].data, wanted[1].size } };
	return 0;
}

static int open_locals(const char *path, const struct sc_input *opened,
		       const struct symcache_build_options *options,
		       struct symcache_locals **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	struct symcache_locals *l = calloc(1, sizeof(*l));
	int rc;

	*ret = NULL;
	if (!l)
		return sc_no_memory(err);
	rc = open_input(l, path, opened, options ? options : &defaults, err);
	if (rc)
		symcache_locals_close(l);
	else
		*ret = l;
	return rc;
}

int symcache_locals_open(const char *path, const struct symcache_build_options *options,
			 struct symcache_locals **ret, struct sc_error *err)
{
	return open_locals(path, NULL, options, ret, err);
}

int symcache_locals_at(struct symcache_locals *l, uint64_t vaddr, const struct symcache_local **ret,
		       size_t *n, struct sc_error *err)
{
	vec_clear(&l->found.list);
	vec_clear(&l->shown);
	if (!dw_read_locals(&l->input.debug, &l->locations, vaddr, &l->found) ||
	    !vec_reserve(&l->shown, l->found.list.len))
		return sc_no_memory(err);
	for (size_t i = 0; i < l->found.list.len; i++) {
		const struct dw_local *from = &l->found.list.data[i];

		l->shown.data[l->shown.len++] = (struct symcache_local){
			sc_str_of(from->function), sc_str_of(from->name),
			{ sc_str_of(from->file.comp_dir), sc_str_of(from->file.dir), sc_str_of(from->file.name) },
			from->line, from->has_offset, from->has_size, from->has_tag, from->offset,
			from->size, from->tag,
		};
	}
	*ret = l->shown.data;
	*n = l->shown.len;
	return 0;
}

/* ---- of all functions --------------------------------------------------------------------- */

#define NOT_COVERED UINT32_MAX

/* What the paint shows: locals order[first, first + count). */
struct run {
	uint32_t first, count;
};

struct name {
	const char *at;
	uint32_t number;
};

struct gathering {
	struct sc_tables *tables;
	VEC(struct name) names;               /* by their addresses: long ones are read once */
	struct sc_intern name_set;
	struct sc_locals *to;
	struct sc_intern set;                 /* of to->list */
	struct sc_intervals in, out;          /* of a unit, its functions */
	struct sc_intervals units;            /* of all units, their runs */
	struct sc_paint paint;
	VEC(struct run) runs;
	VEC(uint32_t) places;                 /* of a unit's locals, in to->order */
	uint64_t priority;                    /* of the unit: lower than of those before */
};

static void gathering_deinit(struct gathering *g)
{
	vec_deinit(&g->names);
	sc_intern_deinit(&g->name_set);
	sc_intern_deinit(&g->set);
	vec_deinit(&g->in.list);
	vec_deinit(&g->out.list);
	vec_deinit(&g->units.list);
	sc_paint_deinit(&g->paint);
	vec_deinit(&g->runs);
	vec_deinit(&g->places);
}

/* What unit `u` shows → g->out. */
static bool paint_unit(struct gathering *g, const struct dw_unit_locals *u)
{
	uint64_t at = 0;
	bool ok = true;

	vec_clear(&g->in.list);
	for (size_t i = 0; ok && i < u->covered.len; i++)
		ok = sc_intervals_add(&g->in, u->covered.data[i].start, u->covered.data[i].end, 1, 0);
	ok = ok && sc_paint(&g->paint, &g->in, &g->out);
	vec_clear(&g->in.list);
	for (size_t i = 0; ok && i <= g->out.list.len && u->covered.len; i++) {
		const bool last = i == g->out.list.len;

		ok = sc_intervals_add(&g->in, at, last ? UINT64_MAX : g->out.list.data[i].start,
				      UINT64_MAX, NOT_COVERED);
		at = last ? at : g->out.list.data[i].end;
	}
	for (size_t i = 0; ok && i < u->ranges.len; i++) {
		const struct dw_local_range *r = &u->ranges.data[i];

		ok = sc_intervals_add(&g->in, r->range.start, r->range.end,
				      u->functions.data[r->function].place, r->function);
	}
	return ok && sc_paint(&g->paint, &g->in, &g->out);
}

static bool same_local(const void *ctx, uint32_t i)
{
	const struct gathering *g = ctx;
	const struct symcache_ext_local *list = g->to->list.data;

	return !memcmp(&list[i], &list[g->to->list.len], sizeof(*list));
}

static bool same_name(const void *ctx, uint32_t i)
{
	const struct gathering *g = ctx;

	return g->names.data[i].at == g->names.data[g->names.len].at;
}

static bool number_name(struct gathering *g, const char *name, uint32_t *ret)
{
	struct name new = { name, SC_NONE };
	uint32_t *slot;

	*ret = SC_NONE;
	if (!name)
		return true;
	if (!vec_reserve(&g->names, 1))
		return false;
	g->names.data[g->names.len] = new; /* to be compared */
	slot = sc_intern_find(&g->name_set, XXH3_64bits(&name, sizeof(name)), same_name, g);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		if (!sc_encode_string(g->tables, name, &new.number))
			return false;
		g->names.data[g->names.len] = new;
		*slot = (uint32_t)g->names.len++;
	}
	*ret = g->names.data[*slot].number;
	return true;
}

static void forget_names(struct gathering *g)
{
	sc_intern_clear(&g->name_set);
	vec_clear(&g->names);
}

static bool number_file(struct gathering *g, const struct dw_file *file, uint32_t *ret)
{
	struct sc_file f;

	*ret = SC_NONE;
	return !file->name || (number_name(g, file->comp_dir, &f.comp_dir) &&
			       number_name(g, file->dir, &f.dir) &&
			       number_name(g, file->name, &f.name) &&
			       (f.name == SC_NONE || sc_table_file_record(g->tables, &f, ret)));
}

/* Appends it to the order, and to the list if it is new. */
static bool add_local(struct gathering *g, const struct dw_local *from)
{
	const bool has_tag = from->has_tag && from->tag <= UINT32_MAX;
	struct symcache_ext_local l = {
		.line = from->line <= UINT32_MAX ? (uint32_t)from->line : 0,
		.offset = from->has_offset ? from->offset : 0,
		.size = from->has_size ? from->size : 0,
		.tag = has_tag ? (uint32_t)from->tag : 0,
		.flags = (from->has_offset ? SYMCACHE_LOCAL_OFFSET : 0) |
			 (from->has_size ? SYMCACHE_LOCAL_SIZE : 0) |
			 (has_tag ? SYMCACHE_LOCAL_TAG : 0),
	};
	uint32_t *slot;

	if (!number_name(g, from->function, &l.function) || !number_name(g, from->name, &l.name) ||
	    !number_file(g, &from->file, &l.file_idx) || !vec_reserve(&g->to->list, 1) ||
	    !vec_reserve(&g->to->order, 1) || g->to->order.len == UINT32_MAX)
		return false;
	g->to->list.data[g->to->list.len] = l; /* to be compared */
	slot = sc_intern_find(&g->set, XXH3_64bits(&l, sizeof(l)), same_local, g);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW)
		*slot = (uint32_t)g->to->list.len++;
	g->to->order.data[g->to->order.len++] = *slot;
	return true;
}

/* Adds the locals of unit `u` that functions of g->out have; g->places: where each stands. */
static bool add_seen(struct gathering *g, const struct dw_unit_locals *u)
{
	const size_t n = u->locals.list.len;
	uint32_t *places, seen = 0;

	vec_clear(&g->places);
	if (!vec_reserve(&g->places, n + 1))
		return false;
	places = memset(g->places.data, 0, (n + 1) * sizeof(*places));
	for (size_t i = 0; i < g->out.list.len; i++) {
		const uint32_t function = g->out.list.data[i].id;

		if (function == NOT_COVERED)
			continue;
		places[u->functions.data[function].first]++;
		places[u->functions.data[function].end]--;
	}
	for (size_t i = 0; i < n; i++) {
		seen += places[i];
		places[i] = (uint32_t)g->to->order.len;
		if (seen && !add_local(g, &u->locals.list.data[i]))
			return false;
	}
	return true;
}

static bool take_unit(void *ctx, const struct dw_unit_locals *u)
{
	struct gathering *g = ctx;

	if (u->is_split)
		forget_names(g);
	if (!paint_unit(g, u) || !add_seen(g, u))
		return false;
	if (u->is_split)
		forget_names(g);
	g->priority--;
	for (size_t i = 0; i < g->out.list.len; i++) {
		const struct sc_interval *shown = &g->out.list.data[i];
		const struct dw_local_function *f;
		struct run *run;

		if (shown->id == NOT_COVERED)
			continue;
		f = &u->functions.data[shown->id];
		run = vec_push(&g->runs);
		if (!run || g->runs.len == UINT32_MAX ||
		    !sc_intervals_add(&g->units, shown->start, shown->end, g->priority,
				      (uint32_t)g->runs.len - 1))
			return false;
		if (f->end > f->first)
			*run = (struct run){ g->places.data[f->first], f->end - f->first };
	}
	return true;
}

/* From `start` on, code has these; unless that is so before it. */
static bool put_range(struct sc_locals *to, uint64_t start, struct run run)
{
	const size_t n = to->ranges.len;
	const struct symcache_ext_local_range *last = n ? &to->ranges.data[n - 1] : NULL;
	struct symcache_ext_local_range *range;

	if (start > UINT32_MAX || (!last && !run.count) ||
	    (last && last->first == run.first && last->count == run.count))
		return true;
	range = vec_push(&to->ranges);
	if (range)
		*range = (struct symcache_ext_local_range){ (uint32_t)start, run.first, run.count };
	return range;
}

/* The units, painted, are the ranges of the cache. */
static bool put_ranges(struct gathering *g, uint64_t load_base)
{
	bool ok = sc_paint(&g->paint, &g->units, &g->out);
	uint64_t end = 0;

	for (size_t i = 0; ok && i < g->out.list.len; i++) {
		const struct sc_interval *shown = &g->out.list.data[i];
		const uint64_t start = shown->start < load_base ? load_base : shown->start;

		if (shown->end <= load_base)
			continue;
		ok = (start == end || put_range(g->to, end - load_base, (struct run){ 0, 0 })) &&
		     put_range(g->to, start - load_base, g->runs.data[shown->id]);
		end = shown->end;
	}
	ok = ok && (!end || put_range(g->to, end - load_base, (struct run){ 0, 0 }));
	if (!g->to->ranges.len) { /* all code that has them was dropped by the linker */
		vec_clear(&g->to->order);
		vec_clear(&g->to->list);
	}
	return ok;
}

int sc_locals_read(const struct sc_input *opened, const struct symcache_build_options *options,
		   struct sc_tables *tables, struct sc_locals *ret, struct sc_error *err)
{
	struct gathering g = { .tables = tables, .to = ret, .priority = UINT64_MAX };
	struct symcache_locals *l;
	int rc = open_locals(NULL, opened, options, &l, err);

	if (rc)
		return rc;
	if (l->input.dwarf && (!dw_read_all_locals(&l->input.debug, &l->locations, take_unit, &g) ||
			       !put_ranges(&g, opened->image->load_base)))
		rc = sc_no_memory(err);
	gathering_deinit(&g);
	symcache_locals_close(l);
	return rc;
}
