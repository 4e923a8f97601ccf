/*
 * What the chunks of others do to the state of a filter: see pool.h. An event is
 * made once, when its chunk is put into the order, and seen once by each filter
 * but the one that has the chunk.
 */
#include <stdlib.h>

#include "libmarkup/bytes/cut.h"
#include "libmarkup/filter/filter.h"

bool mk_pool_make_event(const struct chunk *c, bool whole, struct event **ret)
{
	const char *p = c->data, *end = p + c->len, *line, *line_end;
	size_t len = whole ? c->len : 0;
	struct event *e;

	*ret = NULL;
	for (line = p; !whole && (line = mk_contextual_line(line, end, &line_end)); line = line_end)
		len += (size_t)(line_end - line);
	if (!len && !c->last)
		return true;
	e = malloc(sizeof(*e) + len);
	if (!e)
		return false;
	*e = (struct event){ .seq = c->seq, .whole = whole, .last = c->last };
	if (whole) {
		memcpy(e->bytes, p, len);
		e->len = len;
	} else {
		for (line = p; (line = mk_contextual_line(line, end, &line_end)); line = line_end) {
			memcpy(e->bytes + e->len, line, (size_t)(line_end - line));
			e->len += (size_t)(line_end - line);
		}
	}
	*ret = e;
	return true;
}

/* Forgets the events that all have seen. */
static void forget_events(struct markup_pool *p)
{
	uint64_t seen = p->num_events;

	for (unsigned i = 0; i < p->running; i++)
		if (p->workers[i].next_event < seen)
			seen = p->workers[i].next_event;
	for (; p->first_event < seen; p->first_event++)
		free(p->events[p->first_event % p->cap_events]);
}

bool mk_pool_push_event(struct markup_pool *p, struct event *e)
{
	forget_events(p);
	if (p->num_events - p->first_event == p->cap_events) {
		uint64_t cap = p->cap_events * 2 + 16;
		struct event **events = calloc(cap, sizeof(*events));
		if (!events)
			return false;
		for (uint64_t i = p->first_event; i < p->num_events; i++)
			events[i % cap] = p->events[i % p->cap_events];
		free(p->events);
		p->events = events;
		p->cap_events = cap;
	}
	p->events[p->num_events++ % p->cap_events] = e;
	return true;
}

/* Nothing is open behind a clean cut, whatever the lines before it were. */
static void close_all(struct markup_filter *f)
{
	f->modline.open = false;
	f->hexdict.open = false;
	f->json.open = f->html.open = false;
	f->sgr = (struct sgr_state){ -1, false };
}

static void apply(struct worker *w, const struct event *e)
{
	struct markup_filter *f = w->f;
	const struct markup_stats stats = f->stats;

	w->chunk = NULL;
	f->silent = true;
	if (e->whole) {
		markup_filter_feed(f, e->bytes, e->len);
	} else {
		mk_filter_lines(f, e->bytes, e->bytes + e->len);
		close_all(f);
	}
	if (e->last)
		markup_filter_finish(f);
	f->out.len = 0;
	f->stats = stats;
	f->silent = false;
}

void mk_pool_catch_up(struct worker *w, uint64_t seq)
{
	struct markup_pool *p = w->pool;

	while (w->next_event < p->num_events) {
		struct event *e = p->events[w->next_event % p->cap_events];
		if (e->seq >= seq)
			break;
		pthread_mutex_unlock(&p->lock);
		apply(w, e);
		pthread_mutex_lock(&p->lock);
		w->next_event++;
	}
}

void mk_pool_free_events(struct markup_pool *p)
{
	for (; p->first_event < p->num_events; p->first_event++)
		free(p->events[p->first_event % p->cap_events]);
	free(p->events);
}
