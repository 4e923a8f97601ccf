/*
 * What a frame's line leaves to its neighbours in the same trace:
 *
 *   - return addresses are looked up one before, so that the call is found; but the signal
 *     trampoline is at its first byte, and the frame behind it was interrupted;
 *   - where a line has the address of the process alone, another one that has both told
 *     where its module begins; so has one without a name, if it lies in that module. Or a
 *     table in the log has it (tables.h).
 *
 * A trace ends with the first line that has no such frame.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

void mk_begin_line(struct mk_resolve *r, const struct mk_event *first)
{
	if (!first || !(mk_names_module(first) || first->aside == MK_IN_TRACE)) {
		r->num_bases = 0;
		r->interrupted = r->trace_begins = r->in_trace = false;
	}
	r->trace_begins |= first && first->aside == MK_BEGINS_TRACE;
	r->interrupted |= first && first->aside == MK_INTERRUPTS;
}

static struct mk_base *base_of(struct mk_resolve *r, const struct mk_module *m)
{
	for (size_t i = 0; i < r->num_bases; i++)
		if (r->bases[i].generation == m->generation)
			return &r->bases[i];
	return NULL;
}

/* Is the address exactly that of the trampoline? */
static bool is_trampoline(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr)
{
	struct markup_data symbol;

	return mk_named_data(r, m, vaddr, &symbol) && !symbol.offset &&
	       (sc_str_is(symbol.name, "__restore_rt") ||
		sc_str_is(symbol.name, "__kernel_rt_sigreturn"));
}

/* What the line counts from somewhere else becomes an address of the ELF file. `first_page`: where
 * that of the file is mapped; 0: unknown. */
static bool place(struct mk_resolve *r, struct mk_module *m, struct mk_event *e,
		  uint64_t first_page)
{
	const struct markup_place place = {
		.origin = e->origin, .offset = e->lookup, .symbol = e->symbol,
		.symbol_size = e->symbol_size, .has_page = first_page,
		.from_page = e->address - first_page,
	};

	if (e->origin == MARKUP_FROM_ZERO || mk_named_place(r, m, &place, &e->lookup)) {
		e->origin = MARKUP_FROM_ZERO;
		return true;
	}
	mk_count_unplaced(r, m);
	return false;
}

/* A line that has the address of the process alone: the module of this trace whose image it is
 * in. */
static struct mk_module *neighbour(struct mk_resolve *r, struct mk_event *e)
{
	for (size_t i = 0; i < r->num_bases; i++) {
		const struct mk_base *b = &r->bases[i];
		const struct markup_place place = { .origin = MARKUP_INSIDE,
						    .offset = e->address - b->address };
		struct mk_module *m = &r->named.modules[b->module];

		if (b->module >= r->named.num_modules || m->generation != b->generation ||
		    !mk_named_place(r, m, &place, &e->lookup))
			continue;
		e->name = m->name;
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

static void take_frame(struct mk_resolve *r, struct mk_event *e)
{
	struct mk_module *m = e->name.len ? mk_named_module(r, e) : NULL;
	struct mk_base *base = m ? base_of(r, m) : NULL;
	uint64_t first_page = 0;

	if (e->absolute && base) {
		e->lookup = e->address - base->address;
		e->absolute = false;
	} else if (e->absolute && find_row(r, e, &first_page)) {
		m = mk_named_module(r, e);
	} else if (e->absolute && !e->name.len) {
		m = neighbour(r, e);
	}
	if (!m || e->absolute) {
		unplaced(r, e);
		return;
	}
	if (!place(r, m, e, first_page)) {
		e->unplaced = true;
		return;
	}
	if (e->address && !base_of(r, m) && r->num_bases < MK_BASES_MAX)
		r->bases[r->num_bases++] = (struct mk_base){ m->generation, e->address - e->lookup,
							     (uint32_t)(m - r->named.modules) };
	if (e->returns && !is_exact(r, m, e))
		e->lookup--;
	r->trace_begins &= !e->returns;
}

void mk_take_frame(struct mk_resolve *r, struct mk_event *e)
{
	take_frame(r, e);
	r->in_trace = true;
}
