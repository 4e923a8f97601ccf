/*
 * The workers of a pool: see pool.h. Chunks are taken in their order, the oldest
 * first; so the one whose turn it is to be written is always at work or done, and
 * who waits for its turn waits for somebody.
 */
#include "libmarkup/filter/filter.h"

static void forget_missing(struct markup_context *c)
{
	for (uint32_t i = 0; i < c->num_modules; i++) {
		c->modules[i].missing = NULL;
		c->modules[i].asked = c->modules[i].handle;
	}
}

/* Its misses belong to the chunk; the next one starts with none. */
static void take_missing(struct markup_filter *f, struct chunk *c)
{
	if (!f->missing.len)
		return;
	c->missing = f->missing;
	f->missing = (struct missing_table){ 0 };
	mk_demux_each(f, forget_missing);
}

static void add_stats(struct markup_stats *sum, struct markup_stats *s)
{
	sum->frames += s->frames;
	sum->frames_resolved += s->frames_resolved;
	sum->frames_outside += s->frames_outside;
	*s = (struct markup_stats){ 0 };
}

static void filter_chunk(struct worker *w, struct chunk *c)
{
	struct markup_pool *p = w->pool;
	struct markup_filter *f = w->f;
	int rc;

	w->chunk = c;
	f->input = p->input;
	f->html.input = p->input_number;
	f->line_no = c->line_no;
	rc = markup_filter_feed(f, c->data, c->len);
	if (!rc)
		rc = c->last ? markup_filter_finish(f) : markup_filter_flush(f);
	take_missing(f, c);
	mk_out_put(&c->dumpfiles, f->dumpfiles.buf, f->dumpfiles.len);
	f->dumpfiles.len = 0;
	if (!rc)
		rc = c->complaints.error ? c->complaints.error : c->dumpfiles.error;
	pthread_mutex_lock(&p->lock);
	add_stats(&p->stats, &f->stats);
	if (rc && !p->error)
		p->error = rc;
	c->done = true;
	mk_pool_advance(p);
	pthread_mutex_unlock(&p->lock);
}

/* Takes the oldest chunk, which there is, and filters it. Called and returns with
 * the lock held. */
static void work_on_one(struct worker *w)
{
	struct markup_pool *p = w->pool;
	struct chunk *c = p->untaken;

	do
		p->untaken = p->untaken->next;
	while (p->untaken && p->untaken->plain);
	mk_pool_catch_up(w, c->seq);
	/* Its own event, if it has one. */
	if (w->next_event < p->num_events &&
	    p->events[w->next_event % p->cap_events]->seq == c->seq)
		w->next_event++;
	pthread_mutex_unlock(&p->lock);
	filter_chunk(w, c);
	pthread_mutex_lock(&p->lock);
}

static void *run_thread(void *ctx)
{
	struct worker *w = ctx;
	struct markup_pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		if (p->untaken) {
			work_on_one(w);
			continue;
		}
		/* Nothing to do: see what the others have announced, so that it can
		 * be forgotten. */
		uint64_t seen = w->next_event;
		mk_pool_catch_up(w, p->next_seq);
		if (seen == w->next_event && !p->untaken && !p->stop)
			pthread_cond_wait(&p->changed, &p->lock);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

void mk_pool_work(struct markup_pool *p, unsigned most)
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
		mk_pool_catch_up(w, p->next_seq);
	pthread_mutex_unlock(&p->lock);
}

bool mk_pool_start(struct markup_pool *p)
{
	for (unsigned i = 1; i < p->n; i++)
		if (!mk_demux_copy(p->workers[i].f, p->workers[0].f))
			return false;
	while (p->running < p->n && !pthread_create(&p->workers[p->running].thread, NULL,
						    run_thread, &p->workers[p->running]))
		p->running++; /* fewer will do */
	return true;
}

void mk_pool_stop(struct markup_pool *p)
{
	mk_pool_work(p, 0);
	pthread_mutex_lock(&p->lock);
	p->stop = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (unsigned i = 1; i < p->running; i++)
		pthread_join(p->workers[i].thread, NULL);
	p->running = 1;
}
