/*
 * Local variables: see locals.h.
 *
 * Cost: one pass over the entries of the unit that holds the address; for all functions two over
 * each unit, and one more over functions within functions.
 */
#include "libsymcache/dwarf/locals_parts.h"

#include <dwarf.h>

#include "libsymcache/base/limits.h"
#include "libsymcache/dwarf/ranges.h"
#include "libsymcache/dwarf/split.h"

#define NO_FUNCTION UINT32_MAX

/* Reads the ranges of the entry at *c, if it may be code, into r->files.ranges, and goes behind
 * it. `steps`: as of dw_read_ranges(); NULL: those that a file of its size has. */
static const struct dw_abbrev *read_code(struct dw_locals_reading *r, struct dw_cursor *c,
					 const struct dw_unit *u, uint64_t *steps)
{
	struct dw_value values[DW_NUM_SLOTS] = {0};
	const uint64_t code = dw_uleb(c);
	const struct dw_abbrev *a = code ? dw_abbrev(u->abbrevs, code) : NULL;
	uint64_t fresh = sc_limit_facts(u->debug->sections.file_size);

	vec_clear(&r->files.ranges);
	if (!a)
		return NULL;
	if (a->tag != DW_TAG_subprogram && a->tag != DW_TAG_inlined_subroutine &&
	    a->tag != DW_TAG_compile_unit && a->tag != DW_TAG_skeleton_unit) {
		dw_skip_attributes(c, u, a);
		return a;
	}
	dw_read_attributes(c, u, a, values);
	if (!c->bad)
		dw_read_ranges(u, values, steps ? steps : &fresh, &r->files);
	return a;
}

/* ---- all of a function ------------------------------------------------------------------ */

struct level {
	struct dw_entry function; /* whose variables these are */
	bool ignored;          /* what stands in a variable */
	uint32_t number;       /* of the function in r->all; NO_FUNCTION: it is not there */
};

/* Adds the function or inlined call at `place` to r->all, if it has code. False: out of memory. */
static bool begin_function(struct dw_locals_reading *r, const struct dw_unit *u, uint64_t place,
			   uint32_t *number)
{
	struct dw_cursor c = dw_entry_cursor(u, place);
	struct dw_unit_locals *all = r->all;
	const uint32_t first = (uint32_t)all->locals.list.len;
	struct dw_local_function *f;
	size_t n;

	read_code(r, &c, u, &r->left);
	n = r->files.ranges.len;
	if (!n || n >= r->left)
		return true;
	r->left -= n + 1;
	f = vec_push(&all->functions);
	if (!f || !vec_reserve(&all->ranges, n))
		return false;
	*number = (uint32_t)all->functions.len - 1;
	*f = (struct dw_local_function){ place, first, first };
	for (size_t i = 0; i < n; i++)
		all->ranges.data[all->ranges.len++] =
			(struct dw_local_range){ r->files.ranges.data[i], *number };
	return true;
}

static void end_function(struct dw_locals_reading *r, const struct level *level)
{
	if (level->number != NO_FUNCTION)
		r->all->functions.data[level->number].end = (uint32_t)r->all->locals.list.len;
}

static bool add_local(struct dw_locals_reading *r, const struct level *level,
		      const struct dw_entry *e)
{
	if (level->ignored || (r->all && !r->left))
		return true;
	r->left -= r->all != NULL;
	return dw_add_local(r, &level->function, e);
}

/* The variables in the entry at `top`, in the order of the entries; *behind: where that ends.
 * False: out of memory. */
static bool add_locals(struct dw_locals_reading *r, const struct dw_unit *u, uint64_t top,
		       uint64_t *behind)
{
	VEC(struct level) stack = {0};
	struct dw_cursor c = dw_entry_cursor(u, top);
	struct level level = { .number = NO_FUNCTION };
	bool ok = true;

	*behind = top;
	if (!dw_open_entry(&r->steps, u, top, &level.function))
		return true;
	do {
		const uint64_t place = dw_place_of(u, &c);
		struct level inner = level;
		struct dw_entry e;

		inner.number = NO_FUNCTION;
		if (dw_left(&c) && !*c.p) { /* the end of a list of children */
			dw_u8(&c);
			end_function(r, &level);
			if (stack.len)
				level = stack.data[--stack.len];
			continue;
		}
		if (!dw_open_entry(&r->steps, u, place, &e))
			break;
		if (e.abbrev->tag == DW_TAG_variable || e.abbrev->tag == DW_TAG_formal_parameter) {
			inner.ignored = true;
			ok = add_local(r, &level, &e);
		} else if (e.abbrev->tag == DW_TAG_inlined_subroutine &&
			   !dw_follow(&e, DW_AT_abstract_origin, &inner.function)) {
			inner.function = level.function;
		}
		if (ok && r->all && (place == top || e.abbrev->tag == DW_TAG_inlined_subroutine))
			ok = begin_function(r, u, place, &inner.number);
		c = dw_entry_cursor(u, e.at);
		dw_skip_attributes(&c, u, e.abbrev);
		if (e.abbrev->has_children) {
			ok = ok && vec_reserve(&stack, 1);
			if (ok)
				stack.data[stack.len++] = level;
			level = inner;
		}
	} while (ok && stack.len && !c.bad);
	for (; r->all && stack.len; level = stack.data[--stack.len])
		end_function(r, &level);
	*behind = dw_place_of(u, &c);
	vec_deinit(&stack);
	return ok;
}

/* ---- units ------------------------------------------------------------------------------ */

/* Steps to the next entry, at *place, and reads its ranges. NULL: there is none. */
static const struct dw_abbrev *next_code(struct dw_locals_reading *r, struct dw_cursor *c,
					 const struct dw_unit *u, uint64_t *steps, uint64_t *place)
{
	while (dw_left(c) && !c->bad && !*c->p)
		dw_u8(c);
	*place = dw_place_of(u, c);
	return dw_left(c) && !c->bad ? read_code(r, c, u, steps) : NULL;
}

static bool holds(const struct dw_facts *read, uint64_t vaddr)
{
	for (size_t i = 0; i < read->ranges.len; i++)
		if (vaddr >= read->ranges.data[i].start && vaddr < read->ranges.data[i].end)
			return true;
	return false;
}

/* The locals of the innermost function or inlined call of unit `u` that holds the address: the
 * last one, for parents stand before their children. *found: there is one. */
static bool add_at(struct dw_locals_reading *r, const struct dw_unit *u, uint64_t vaddr,
		   bool *found)
{
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);
	uint64_t function = 0, place;

	read_code(r, &c, u, NULL);
	while (next_code(r, &c, u, NULL, &place))
		if (holds(&r->files, vaddr))
			function = place;
	*found = function;
	return !function || add_locals(r, u, function, &place);
}

/* The locals of all functions of unit `u`. Those of a function within another are read again, as
 * its own. */
static bool add_all(struct dw_locals_reading *r, const struct dw_unit *u)
{
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);
	uint64_t place, end, behind = 0;
	const struct dw_abbrev *a;
	bool ok = true;

	read_code(r, &c, u, &r->steps);
	while (ok && (a = next_code(r, &c, u, &r->steps, &place))) {
		if (!r->files.ranges.len || (a->tag != DW_TAG_subprogram && place < behind))
			continue;
		ok = add_locals(r, u, place, &end);
		behind = end > behind ? end : behind;
	}
	return ok;
}

static bool has_locals(const struct dw_unit *u)
{
	return !u->broken && u->tag && u->type != DW_UT_type && u->type != DW_UT_split_type;
}

/* Reads what unit `u` covers into r->files.ranges. */
static void read_covered(struct dw_locals_reading *r, const struct dw_unit *u)
{
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);

	read_code(r, &c, u, NULL);
}

/* Makes `u` the unit to be read: itself, or what it is split into, in `split` (to be deinited).
 * NULL: out of memory. */
static const struct dw_unit *begin_unit(struct dw_locals_reading *r, const struct dw_unit *u,
					struct dw_debug *split)
{
	const struct dw_unit *in_split = NULL;

	if (u->split_name && dw_split_read(u, split, &in_split, NULL) == SC_ENOMEM)
		return NULL;
	u = in_split ? in_split : u;
	r->files_of = NULL;
	r->steps = 256 * (u->end - u->offset) + (1 << 20);
	return u;
}

bool dw_read_locals(const struct dw_debug *debug, const struct dw_location_sections *locations,
		    uint64_t vaddr, struct dw_locals *ret)
{
	struct dw_locals_reading r = { .locations = locations, .out = ret };
	bool found = false, ok = true;

	for (size_t i = 0; i < debug->units.len && ok && !found; i++) {
		const struct dw_unit *u = &debug->units.data[i];
		struct dw_debug split = {0};

		if (!has_locals(u))
			continue;
		read_covered(&r, u);
		if (r.files.ranges.len && !holds(&r.files, vaddr))
			continue;
		u = begin_unit(&r, u, &split);
		ok = u && add_at(&r, u, vaddr, &found);
		dw_debug_deinit(&split);
	}
	dw_facts_deinit(&r.files);
	return ok;
}

static void unit_locals_deinit(struct dw_unit_locals *u)
{
	vec_deinit(&u->locals.list);
	vec_deinit(&u->functions);
	vec_deinit(&u->ranges);
	vec_deinit(&u->covered);
}

bool dw_read_all_locals(const struct dw_debug *debug, const struct dw_location_sections *locations,
			dw_unit_locals_fn *take, void *ctx)
{
	struct dw_unit_locals all = {0};
	struct dw_locals_reading r = { .locations = locations, .out = &all.locals, .all = &all,
				       .left = sc_limit_facts(debug->sections.file_size) };
	bool ok = true;

	for (size_t i = 0; i < debug->units.len && ok; i++) {
		const struct dw_unit *u = &debug->units.data[i];
		struct dw_debug split = {0};

		if (!has_locals(u))
			continue;
		vec_clear(&all.locals.list);
		vec_clear(&all.functions);
		vec_clear(&all.ranges);
		vec_clear(&all.covered);
		read_covered(&r, u);
		ok = vec_reserve(&all.covered, r.files.ranges.len);
		for (size_t k = 0; ok && k < r.files.ranges.len; k++)
			all.covered.data[all.covered.len++] = r.files.ranges.data[k];
		u = ok ? begin_unit(&r, u, &split) : NULL;
		all.is_split = split.units.len;
		ok = u && add_all(&r, u) && take(ctx, &all);
		dw_debug_deinit(&split);
	}
	unit_locals_deinit(&all);
	dw_facts_deinit(&r.files);
	return ok;
}
