/*
 * Where the modules of a trace begin in the process, as its lines say, for lines that have an
 * address of the process alone:
 *
 *   ./prog(+0x1234) [0x55…1234]         address and offset: the base
 *   libfoo.so f(int) + 18 0x7f…2f2      address, symbol and offset: the base, if it is at a page
 *                                       and all lines of the trace agree
 *
 * Such a line may stand behind those that need it, as far as its trace goes on in memory: a
 * chunk of a log ends at the end of a trace (filter/cut.h).
 */
#include "libmarkup/resolve/resolve.h"

#define LINES_AHEAD 256
#define BYTES_AHEAD (256 << 10)
#define PAGE 4096

static struct mk_base *find(const struct mk_resolve *r, const struct mk_module *m)
{
	for (size_t i = 0; i < r->num_bases; i++)
		if (r->bases[i].generation == m->generation)
			return (struct mk_base *)&r->bases[i];
	return NULL;
}

const struct mk_base *mk_base_of(const struct mk_resolve *r, const struct mk_module *m)
{
	return find(r, m);
}

void mk_note_base(struct mk_resolve *r, const struct mk_module *m, uint64_t address, bool by_symbol)
{
	struct mk_base *b = find(r, m);

	if (!b && r->num_bases < MK_BASES_MAX) {
		b = &r->bases[r->num_bases++];
		*b = (struct mk_base){ .generation = m->generation, .address = address,
				       .by_symbol = by_symbol,
				       .module = (uint32_t)(m - r->named.modules) };
	} else if (b && b->by_symbol && !by_symbol) {
		b->address = address;
		b->by_symbol = b->bad = false;
	} else if (b && b->by_symbol) {
		b->bad |= b->address != address;
	}
}

/* What a frame says of the base of its module. */
static void note_frame(struct mk_resolve *r, const struct mk_event *e)
{
	struct mk_module *m = e->name.len ? mk_named_module(r, e) : NULL;
	struct markup_place place = {
		.origin = e->absolute ? MARKUP_FROM_SHOWN : e->origin,
		.offset = e->absolute ? e->symbol_offset : e->lookup,
		.symbol = e->symbol, .symbol_size = e->symbol_size, .address = e->address,
	};
	uint64_t vaddr = e->lookup;

	if (!m || !e->address || (e->absolute && !e->symbol.len) || !mk_is_known(r, m) ||
	    (place.origin != MARKUP_FROM_ZERO && !mk_named_place(r, m, &place, &vaddr)) ||
	    e->address <= vaddr || (e->absolute && (e->address - vaddr) % PAGE))
		return;
	mk_note_base(r, m, e->address - vaddr, e->absolute);
}

/* Reads the events of the next line: false, it is not of the trace. */
static bool read_line(struct mk_resolve *r, struct mk_line *l)
{
	mk_read_events(r, l);
	return l->num_events && (mk_names_module(l->events) || l->events->aside == MK_IN_TRACE ||
				 l->events->aside == MK_CARRIES);
}

bool mk_is_said_again(struct mk_resolve *r, const struct mk_event *e)
{
	const char *end = r->lines_end, *p = r->line->p, *eol;
	struct mk_line *l = &r->ahead_line;

	p = end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	while (p && ++p < end && *p == ' ')
		;
	if (!p || p == end || *p != '[')
		return false;
	eol = memchr(p, '\n', (size_t)(end - p));
	eol = eol ? eol : end;
	l->formats = r->line->formats;
	l->part = MK_LINE_WHOLE;
	l->p = p;
	l->len = (size_t)(eol - p);
	return read_line(r, l) && mk_names_module(l->events) && !l->events->absolute &&
	       l->events->build_id.len && e->address - l->events->address <= 1;
}

void mk_look_ahead(struct mk_resolve *r)
{
	const char *p = r->line->p, *end = r->lines_end ? r->lines_end : p + r->line->len, *eol;
	struct mk_line *l = &r->ahead_line;

	if (r->looked_ahead)
		return;
	r->looked_ahead = true;
	end = end - p > BYTES_AHEAD ? p + BYTES_AHEAD : end;
	l->formats = r->line->formats;
	l->part = MK_LINE_WHOLE;
	for (int i = 0; i < LINES_AHEAD && p < end; i++, p = eol) {
		eol = memchr(p, '\n', (size_t)(end - p));
		eol = eol ? eol + 1 : end;
		l->p = p;
		l->len = (size_t)(eol - p);
		if (!read_line(r, l))
			return;
		for (size_t k = 0; k < l->num_events; k++)
			if (mk_names_module(&l->events[k]) && !l->events[k].kernel && !l->events[k].carried)
				note_frame(r, &l->events[k]);
	}
}
