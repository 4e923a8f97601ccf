/*
 * What the chunks of others do to the context of a stream: see filter.h. A notice is
 * made once, when its chunk is put into the order, and seen once by each stream
 * but the one that has the chunk.
 */
#include <stdlib.h>

#include "libmarkup/filter/filter.h"

bool mk_filter_make_notice(const struct mk_formats *f, const struct chunk *c,
			   bool whole, struct notice **ret)
{
	const char *p = c->data, *end = p + c->len, *line, *line_end;
	size_t len = whole ? c->len : 0;
	struct notice *e;

	*ret = NULL;
	for (line = p; !whole && (line = mk_context_line(f, line, end, &line_end));
	     line = line_end)
		len += (size_t)(line_end - line);
	if (!len && !c->last)
		return true;
	e = malloc(sizeof(*e) + len);
	if (!e)
		return false;
	*e = (struct notice){ .seq = c->seq, .whole = whole, .last = c->last };
	if (whole) {
		memcpy(e->bytes, p, len);
		e->len = len;
	} else {
		for (line = p; (line = mk_context_line(f, line, end, &line_end));
		     line = line_end) {
			memcpy(e->bytes + e->len, line, (size_t)(line_end - line));
			e->len += (size_t)(line_end - line);
		}
	}
	*ret = e;
	return true;
}

/* Forgets the notices that all have seen. */
static void forget_notices(struct markup_filter *p)
{
	uint64_t seen = p->num_notices;

	for (unsigned i = 0; i < p->running; i++)
		if (p->workers[i].next_notice < seen)
			seen = p->workers[i].next_notice;
	for (; p->first_notice < seen; p->first_notice++)
		free(p->notices[p->first_notice % p->cap_notices]);
}

bool mk_filter_push_notice(struct markup_filter *p, struct notice *e)
{
	forget_notices(p);
	if (p->num_notices - p->first_notice == p->cap_notices) {
		uint64_t cap = p->cap_notices * 2 + 16;
		struct notice **notices = calloc(cap, sizeof(*notices));
		if (!notices)
			return false;
		for (uint64_t i = p->first_notice; i < p->num_notices; i++)
			notices[i % cap] = p->notices[i % p->cap_notices];
		free(p->notices);
		p->notices = notices;
		p->cap_notices = cap;
	}
	p->notices[p->num_notices++ % p->cap_notices] = e;
	return true;
}

static void apply(struct worker *w, const struct notice *e)
{
	struct mk_stream *s = w->s;
	const struct markup_stats stats = s->resolve.stats;

	w->chunk = NULL;
	s->where.silent = true;
	if (e->whole)
		mk_stream_feed(s, e->bytes, e->len);
	else
		mk_stream_follow(s, e->bytes, e->bytes + e->len);
	if (e->last)
		mk_stream_finish(s);
	s->output.out.len = 0;
	s->resolve.stats = stats;
	s->where.silent = false;
}

void mk_filter_catch_up(struct worker *w, uint64_t seq)
{
	struct markup_filter *p = w->filter;

	while (w->next_notice < p->num_notices) {
		struct notice *e = p->notices[w->next_notice % p->cap_notices];
		if (e->seq >= seq)
			break;
		pthread_mutex_unlock(&p->lock);
		apply(w, e);
		pthread_mutex_lock(&p->lock);
		w->next_notice++;
	}
}

void mk_filter_free_notices(struct markup_filter *p)
{
	for (; p->first_notice < p->num_notices; p->first_notice++)
		free(p->notices[p->first_notice % p->cap_notices]);
	free(p->notices);
}
