/* Events of a line and what is wrong with them: see event.h. */
#include "libmarkup/event.h"

#include <stdlib.h>

#include "libmarkup/bytes/out.h"

struct mk_event *mk_add_event(struct mk_line *l, enum mk_event_kind kind)
{
	struct mk_event *e = &l->unseen;

	if (l->num_events == l->cap_events) {
		size_t cap = l->cap_events * 2 + 16;
		struct mk_event *events = realloc(l->events, cap * sizeof(*events));
		l->no_memory |= !events;
		l->cap_events = events ? cap : l->cap_events;
		l->events = events ? events : l->events;
	}
	if (l->num_events < l->cap_events)
		e = &l->events[l->num_events++];
	memset(e, 0, offsetof(struct mk_event, problems)); /* these are counted */
	e->kind = kind;
	return e;
}

struct mk_event *mk_add_frame(struct mk_line *l, const char *tag, const char *start,
			      const char *end)
{
	struct mk_event *e = mk_add_event(l, MK_FRAME);

	e->text = sc_span(start, end);
	e->tag = sc_str_of(tag);
	e->form = MK_FORM_BEHIND;
	e->in_module = true;
	return e;
}

struct mk_event *mk_add_binding(struct mk_line *l, const char *start, const char *end,
				struct sc_str name, struct sc_str build_id)
{
	struct mk_event *e = mk_add_event(l, MK_MODULE);

	e->text = sc_span(start, end);
	e->tag = sc_str_of("module");
	e->quiet = e->binds = true;
	e->name = name;
	e->detail = build_id;
	return e;
}

bool mk_problem(struct mk_event *e, const struct mk_problem *p)
{
	e->problems[e->num_problems++] = *p;
	e->bad |= p->severity == MK_ERROR;
	return false;
}

void mk_put_problem(struct mk_out *o, const struct mk_problem *p)
{
	switch (p->kind) {
	case MK_SAID:
		mk_put(o, p->what);
		return;
	case MK_EXPECTED: /* the text is quoted whole, and may be long */
		mk_put(o, "expected ", p->what, "; found '", p->found, "'");
		return;
	case MK_FIELDS:
		mk_put(o, "expected ", p->what, p->numbers[0], " field(s); found ", p->numbers[1]);
		return;
	case MK_OVERLAP:
		mk_put(o, "overlapping mmap: #", mk_hex(p->numbers[0]), " [", mk_hex(p->numbers[1]),
		       "-", mk_hex(p->numbers[2]), "]");
	}
}
