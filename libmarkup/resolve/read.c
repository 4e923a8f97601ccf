/* The events of a line, without those that mean nothing to this log and store. */
#include "libmarkup/resolve/resolve.h"

#include <errno.h>

/* Does the event mean nothing, here? `carries`: one before it in the line carries what it lacks. */
static bool means_nothing(struct mk_resolve *r, const struct mk_event *e, bool carries)
{
	struct markup_place place = { .origin = e->origin, .offset = e->lookup };
	struct mk_module *m;

	if (!mk_names_module(e))
		return false;
	if ((e->behind_header && !r->trace_begins) ||
	    (e->carried && !carries && !r->carried.is && !e->absolute))
		return true;
	if (!e->known_only)
		return false;
	m = mk_named_module(r, e);
	if (!m || !mk_is_known(r, m) ||
	    (e->origin != MARKUP_FROM_ZERO && !mk_named_place(r, m, &place, &place.offset)))
		return true;
	place.origin = MARKUP_INSIDE;
	return !mk_named_place(r, m, &place, &place.offset);
}

void mk_read_events(struct mk_resolve *r, struct mk_line *l)
{
	l->num_events = 0;
	for (const struct mk_input *const *in = r->ahead.inputs; *in && !l->num_events; in++) {
		bool carries = false;
		size_t n = 0;

		mk_read_line(*in, l);
		l->chained = (*in)->chained;
		for (size_t i = 0; i < l->num_events; i++) {
			carries |= l->events[i].kind == MK_UNKNOWN && l->events[i].aside == MK_CARRIES;
			if (!means_nothing(r, &l->events[i], carries) && n++ != i)
				l->events[n - 1] = l->events[i];
		}
		l->num_events = n;
	}
	if (l->no_memory)
		r->error = -ENOMEM;
}
