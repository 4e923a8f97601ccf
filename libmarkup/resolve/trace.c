/*
 * What a frame's line leaves to its neighbours in the same trace:
 *
 *   - return addresses are looked up one before, so that the call is found; but the signal
 *     trampoline is at its first byte, and the frame behind it was interrupted;
 *   - where a line has the address of the process alone, another one that has both
 *     showed where its module begins; so has one without a name, if it lies in that module. Or a
 *     table in the log has it (tables.h). Or the next line is the same frame with its module:
 *     then the first one stays, and counts for nothing.
 *
 * A trace ends with the first line that has no such frame, or one of a format whose lines are not
 * chained: a log may be cut behind those, so they leave nothing to the next line.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

void mk_begin_line(struct mk_resolve *r, const struct mk_event *first)
{
	const bool was_chained = r->chained;

	r->chained = first;
	if (!was_chained || !first || (mk_names_module(first) ? first->known_only :
		       first->aside != MK_IN_TRACE && first->aside != MK_CARRIES)) {
		r->num_bases = 0;
		r->interrupted = r->trace_begins = r->in_trace = false;
		r->looked_ahead = r->carried.is = false;
	}
	r->trace_begins |= first && first->aside == MK_BEGINS_TRACE;
	r->interrupted |= first && first->aside == MK_INTERRUPTS;
}

void mk_carry(struct mk_resolve *r, const struct mk_event *e)
{
	struct mk_carried *c = &r->carried;

	c->is = e->name.len <= sizeof(c->name) && e->build_id.len <= sizeof(c->build_id);
	if (!c->is)
		return;
	c->name_len = e->name.len;
	c->build_id_len = e->build_id.len;
	mempcpy(c->name, e->name.ptr ? e->name.ptr : "", e->name.len);
	mempcpy(c->build_id, e->build_id.ptr ? e->build_id.ptr : "", e->build_id.len);
	c->lookup = e->lookup;
}

/* Completes a frame by what was kept. */
static void take_carried(const struct mk_resolve *r, struct mk_event *e)
{
	const struct mk_carried *c = &r->carried;

	if (c->name_len) {
		e->name = (struct sc_str){ c->name, c->name_len };
		e->build_id = (struct sc_str){ c->build_id, c->build_id_len };
	} else {
		e->lookup = c->lookup;
	}
}

/* Is the address exactly that of the trampoline? */
static bool is_trampoline(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr)
{
	struct mk_ordinary *seen = &r->ordinary[(vaddr ^ m->generation << 5) % MK_ORDINARY];
	struct markup_data symbol;

	if (seen->generation == m->generation && seen->vaddr == vaddr)
		return false;
	if (mk_named_data(r, m, vaddr, &symbol) && !symbol.offset &&
	    (sc_str_is(symbol.name, "__restore_rt") ||
	     sc_str_is(symbol.name, "__kernel_rt_sigreturn")))
		return true;
	*seen = (struct mk_ordinary){ m->generation, vaddr };
	return false;
}

/* What the line counts from somewhere else becomes an address of the ELF file. `first_page`: where
 * that of the file is mapped; 0: unknown. */
static bool place(struct mk_resolve *r, struct mk_module *m, struct mk_event *e,
		  uint64_t first_page)
{
	struct markup_place place = {
		.origin = e->origin, .offset = e->lookup, .symbol = e->symbol,
		.symbol_size = e->symbol_size, .has_page = first_page,
		.from_page = e->address - first_page,
	};

	if (e->origin == MARKUP_FROM_ZERO || mk_named_place(r, m, &place, &e->lookup)) {
		e->origin = MARKUP_FROM_ZERO;
		return true;
	}
	mk_count_unplaced(r, m, &place);
	return false;
}

/* Its lines have the build ID alone: then they have their frames' addresses themselves. */
static bool is_nameless(const struct mk_module *m)
{
	return m->build_id_len && mk_field_build_id_is(m->name, m->build_id, m->build_id_len);
}

/* A line that has the address of the process alone: the module of this trace whose image it is
 * in. */
static struct mk_module *neighbour(struct mk_resolve *r, struct mk_event *e)
{
	for (size_t i = 0; i < r->num_bases; i++) {
		const struct mk_base *b = &r->bases[i];
		struct markup_place place = { .origin = MARKUP_INSIDE,
					      .offset = e->address - b->address };
		struct mk_module *m = &r->named.modules[b->module];

		if (b->bad || b->module >= r->named.num_modules || m->generation != b->generation ||
		    is_nameless(m) || !mk_named_place(r, m, &place, &e->lookup))
			continue;
		e->name = m->name;
		e->origin = MARKUP_FROM_ZERO;
		e->absolute = false;
		return m;
	}
	return NULL;
}

/* Is the address exact, although the printer writes return addresses? */
static bool is_exact(struct mk_resolve *r, struct mk_module *m, const struct mk_event *e)
{
	const bool interrupted = r->interrupted;
	const bool first = (e->returns == MK_RETURN_BUT_FIRST && r->trace_begins) ||
			   (e->returns == MK_RETURN_BUT_LEAD && !r->in_trace);

	r->interrupted = !e->kernel && is_trampoline(r, m, e->lookup);
	return r->interrupted || interrupted || first;
}

/* An address of the process alone becomes one of a module, by a table in the log. */
static bool find_row(struct mk_resolve *r, struct mk_event *e, uint64_t *first_page)
{
	char buf[DEMUX_REGEX_MAX];
	struct mk_table_row row;

	if (!r->tables || r->where->silent ||
	    !mk_tables_find(r->tables, mk_demux_key_of(&r->demux, r->line->p, e->text.ptr, buf),
			    r->where->line_no, e->address, &row))
		return false;
	e->name = row.name;
	e->shared_object = false;
	e->build_id = row.build_id;
	e->lookup = e->address - row.start + row.from;
	e->origin = row.origin;
	*first_page = row.first_page;
	e->absolute = false;
	return true;
}

static void unplaced(struct mk_resolve *r, struct mk_event *e)
{
	e->unplaced = true;
	r->stats.frames++;
	r->stats.frames_outside++;
}

/* The address of the process alone is known: where in its module that is. */
static struct mk_module *find_module(struct mk_resolve *r, struct mk_event *e,
				     struct mk_module *m, uint64_t *first_page)
{
	struct markup_place fixed = { .origin = MARKUP_FIXED, .offset = e->address };
	const bool known = m && mk_is_known(r, m);
	const struct mk_base *base;

	if (known && !mk_base_of(r, m))
		mk_look_ahead(r);
	base = m ? mk_base_of(r, m) : NULL;
	if (base && !base->by_symbol) {
		e->lookup = e->address - base->address;
		e->origin = MARKUP_FROM_ZERO;
	} else if (known && mk_named_place(r, m, &fixed, &e->lookup)) {
		e->origin = MARKUP_FROM_ZERO;
	} else if (find_row(r, e, first_page)) {
		return mk_named_module(r, e);
	} else if (base && !base->bad) {
		e->lookup = e->address - base->address;
		e->origin = MARKUP_FROM_ZERO;
	} else {
		return e->name.len ? NULL : neighbour(r, e);
	}
	e->absolute = false;
	return m;
}

static struct mk_module *module_of(struct mk_resolve *r, struct mk_event *e)
{
	struct mk_module *m = e->name.len ? mk_named_module(r, e) : NULL;

	if (m && e->other_name.len && !mk_is_known(r, m)) {
		struct mk_event other = *e;
		struct mk_module *second;

		other.name = e->other_name;
		second = mk_named_module(r, &other);
		if (second && mk_is_known(r, second)) {
			e->name = e->other_name;
			return second;
		}
	}
	return m;
}

static void take_frame(struct mk_resolve *r, struct mk_event *e)
{
	uint64_t first_page = 0;
	struct mk_module *m;

	if (e->carried && r->carried.is)
		take_carried(r, e);
	m = module_of(r, e);
	if (e->absolute && !m && mk_is_said_again(r, e)) {
		e->unplaced = e->quiet = true;
		return;
	}
	if (e->absolute)
		m = find_module(r, e, m, &first_page);
	if (!m || e->absolute) {
		unplaced(r, e);
		return;
	}
	if (!place(r, m, e, first_page)) {
		e->unplaced = true;
		return;
	}
	if (e->address > e->lookup)
		mk_note_base(r, m, e->address - e->lookup, false);
	if (e->returns && (e->known_only || !is_exact(r, m, e)))
		e->lookup--;
	r->trace_begins &= !e->returns;
}

void mk_take_frame(struct mk_resolve *r, struct mk_event *e)
{
	take_frame(r, e);
	r->stats.guessed += e->known_only && sc_str_is(e->tag, mk_any_input.name);
	r->in_trace = !e->known_only;
}
