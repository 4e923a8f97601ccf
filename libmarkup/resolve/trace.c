/*
 * What a frame's line leaves to its neighbours in the same trace:
 *
 *   - return addresses are looked up one before, so that the call is found; but the signal
 *     trampoline is at its first byte, and the frame behind it was interrupted;
 *   - where a line has the address of the process alone, another one that has both told
 *     where its module begins, or a table in the log has it (tables.h).
 *
 * A trace ends with the first line that has no such frame.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

void mk_end_trace(struct mk_resolve *r)
{
	r->num_bases = 0;
	r->interrupted = r->trace_begins = false;
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
	       (mk_str_is(symbol.name, "__restore_rt") ||
		mk_str_is(symbol.name, "__kernel_rt_sigreturn"));
}

/* What the line counts from somewhere else becomes an address of the ELF file. */
static bool place(struct mk_resolve *r, struct mk_module *m, struct mk_event *e)
{
	const struct markup_place place = { e->origin, e->lookup, e->symbol, e->symbol_size };

	if (e->origin == MARKUP_FROM_ZERO)
		return true;
	e->origin = MARKUP_FROM_ZERO;
	return mk_named_place(r, m, &place, &e->lookup);
}

/* An address of the process alone becomes one of a module, by a table in the log. */
static bool find_row(struct mk_resolve *r, struct mk_event *e)
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
	e->absolute = false;
	return true;
}

static void unplaced(struct mk_resolve *r, struct mk_event *e)
{
	e->unplaced = true;
	r->stats.frames++;
	r->stats.frames_outside++;
}

void mk_take_frame(struct mk_resolve *r, struct mk_event *e)
{
	struct mk_module *m = e->name.len ? mk_named_module(r, e) : NULL;
	struct mk_base *base = m ? base_of(r, m) : NULL;
	bool trampoline;

	if (e->absolute && !base && find_row(r, e))
		m = mk_named_module(r, e);
	if (!m || (e->absolute && !base)) {
		unplaced(r, e);
		return;
	}
	if (!e->absolute && !place(r, m, e)) {
		e->unplaced = true;
		return;
	}
	if (e->absolute) {
		e->lookup = e->address - base->address;
	} else if (e->address && !base && r->num_bases < MK_BASES_MAX) {
		r->bases[r->num_bases++] = (struct mk_base){ m->generation,
							     e->address - e->lookup };
	}
	if (!e->returns)
		return;
	trampoline = is_trampoline(r, m, e->lookup);
	if (!trampoline && !r->interrupted && !(e->first_exact && r->trace_begins))
		e->lookup--;
	r->trace_begins = false;
	r->interrupted = trampoline;
}
