/*
 * The threads of a filter: see filter.h. Chunks are taken in their order, the oldest
 * first; so the one whose turn it is to be written is always at work or done, and
 * who waits for its turn waits for one that works.
 */
#include "libmarkup/filter/filter.h"

#include "libsymcache/base/parallel.h"

/* Its misses belong to the chunk; the next one starts with none. */
static void take_missing(struct mk_resolve *r, struct chunk *c)
{
	if (!r->missing.len && !r->lines.len)
		return;
	c->missing = r->missing;
	c->lines = r->lines;
	r->missing = r->lines = (struct mk_modules){ 0 };
	mk_forget_missing(r);
}

static void add_stats(struct markup_stats *sum, struct markup_stats *s)
{
	sum->frames += s->frames;
	sum->frames_resolved += s->frames_resolved;
	sum->frames_outside += s->frames_outside;
	sum->understood += s->understood;
	sum->guessed += s->guessed;
	*s = (struct markup_stats){ 0 };
}

static void filter_chunk(struct worker *w, struct chunk *c)
{
	struct markup_filter *p = w->filter;
	struct mk_stream *s = w->s;
	int rc;

	w->chunk = c;
	s->where.input = p->input;
	s->where.line_no = c->line_no;
	rc = mk_stream_feed(s, c->data, c->len);
	if (!rc)
		rc = c->last ? mk_stream_finish(s) : mk_stream_flush(s);
	take_missing(&s->resolve, c);
	mk_out_put(&c->dumpfiles, s->output.dumpfiles.buf, s->output.dumpfiles.len);
	s->output.dumpfiles.len = 0;
	if (!rc)
		rc = c->complaints.error ? c->complaints.error : c->dumpfiles.error;
	pthread_mutex_lock(&p->lock);
	add_stats(&p->stats, &s->resolve.stats);
	if (rc && !p->error)
		p->error = rc;
	c->done = true;
	mk_filter_advance(p);
	pthread_mutex_unlock(&p->lock);
}

/* Takes the oldest chunk, which there is, and filters it. Called and returns with
 * the lock held. */
static void work_on_one(struct worker *w)
{
	struct markup_filter *p = w->filter;
	struct chunk *c = p->untaken;

	do
		p->untaken = p->untaken->next;
	while (p->untaken && p->untaken->plain);
	mk_filter_catch_up(w, c->seq);
	/* Its own notice, if it has one. */
	if (w->next_notice < p->num_notices &&
	    p->notices[w->next_notice % p->cap_notices]->seq == c->seq)
		w->next_notice++;
	pthread_mutex_unlock(&p->lock);
	filter_chunk(w, c);
	pthread_mutex_lock(&p->lock);
}

static void *run_thread(void *ctx)
{
	struct worker *w = ctx;
	struct markup_filter *p = w->filter;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (p->untaken) {
			work_on_one(w);
			continue;
		}
		/* Nothing to do: see what the others have announced, so that it can
		 * be forgotten. */
		uint64_t seen = w->next_notice;
		mk_filter_catch_up(w, p->next_seq);
		if (seen == w->next_notice && !p->untaken && !p->stop)
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void mk_filter_work(struct markup_filter *p, unsigned most)
{
	struct worker *w = &p->workers[0];

	pthread_mutex_lock(&p->lock);
	while (p->in_flight > most) {
		if (p->untaken)
			work_on_one(w);
		else
			pthread_cond_wait(&p->changed, &p->lock);
	}
	/* What it did not work on it has to follow, too: see run_thread(). */
	if (!most)
		mk_filter_catch_up(w, p->next_seq);
	pthread_mutex_unlock(&p->lock);
}

bool mk_filter_start(struct markup_filter *p)
{
	for (unsigned i = 1; i < p->n; i++)
		if (!mk_demux_copy(&p->workers[i].s->resolve, &p->workers[0].s->resolve))
			return false;
	while (p->running < p->n && sc_thread_start(&p->workers[p->running].thread, run_thread,
						    &p->workers[p->running]))
		p->running++; /* fewer will do */
	return true;
}

void mk_filter_stop(struct markup_filter *p)
{
	mk_filter_work(p, 0);
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 1; i < p->running; i++)
		pthread_join(p->workers[i].thread, NULL);
	p->running = 1;
}
