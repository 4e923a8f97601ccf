/*
 * A filter on several threads: see markup.h.
 *
 *   input → chunks, cut where nothing is open (cut.h)
 *             |
 *             +→ thread 1: its filter →\
 *             +→ thread 2: its filter →-+→ written in the order of the chunks
 *             +→ plain text ───────────/
 *
 * Each thread has a whole filter of its own. The filters agree on modules and
 * maps because each of them sees every contextual line of the log: those of the
 * chunks of others it is fed silently, as `events`, before the next chunk of its
 * own. Where the input could not be cut cleanly the whole chunk is such an
 * event. So every filter is in the state it would be in had it seen everything,
 * and the output does not depend on who filtered what.
 *
 * Memory: a bounded number of chunks; the output of one that is not yet its turn
 * is kept up to OUT_MAX, then its thread waits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libmarkup/cut.h"
#include "libmarkup/state.h"

#define CHUNK     (256u << 10)
#define OUT_MAX   (8u << 20)
#define IN_FLIGHT 3u /* chunks for each thread */

struct chunk {
	struct chunk *next;
	uint64_t seq;
	uint64_t line_no;  /* lines before it */
	char *data;        /* CHUNK bytes */
	size_t len;
	bool plain;        /* comes out as it is */
	bool last;         /* of its input */
	bool done;
	/* What came of it and was not written yet. */
	struct markup_out out;
	struct markup_out complaints; /* of struct complaint, each with its text */
	struct markup_out dumpfiles;
	struct missing_table missing;
};

struct complaint {
	uint32_t len;
	uint32_t warns_of; /* entry of the chunk's missing table + 1; 0: of nothing */
};

/* What a chunk does to the state of a filter. */
struct event {
	uint64_t seq; /* of the chunk */
	bool whole;   /* all of it; else its contextual lines */
	bool last;    /* the input ends behind it */
	size_t len;
	char bytes[];
};

struct worker {
	struct markup_pool *pool;
	struct markup_filter *f;
	pthread_t thread;
	struct chunk *chunk;  /* at hand; NULL: an event, to be silent about */
	uint64_t next_event;  /* number of the next one to see */
};

struct markup_pool {
	struct markup_sink sink;
	unsigned n;                    /* workers */
	unsigned running;              /* those that have a thread */
	struct worker *workers;
	const char *input;
	uint64_t input_number;
	bool begun;                    /* the head of the output is written */
	enum markup_scan_for scan_for;
	bool every_line;

	/* The input. */
	struct chunk *filling;
	uint64_t line_no;     /* lines before it */
	bool clean;           /* nothing is open where it begins */

	/* Shared, under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool threads, stop, writing;
	_Atomic int error;
	struct chunk *first, *last;    /* in flight, in order */
	struct chunk *untaken;         /* the first that no thread has taken */
	struct chunk *unused;
	unsigned in_flight;
	uint64_t next_seq;             /* of the next chunk */
	struct event **events;         /* ring: number i is at i % cap_events */
	uint64_t first_event, num_events, cap_events; /* numbers of all there were */

	/* The sum of what the chunks gave, in their order. */
	struct markup_stats stats;
	struct missing_table missing;
	struct markup_out dumpfiles;
};

/* ---- writing, in turn ------------------------------------------------------- */

/* Writes complaints, but no warning a second time; `missing` is the table that
 * they speak of. */
static void write_complaints(struct markup_pool *p, struct chunk *c,
			     const struct missing_table *missing)
{
	const char *at = c->complaints.buf, *end = at + c->complaints.len;
	struct complaint head;

	for (; at < end; at += head.len) {
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		if (head.warns_of) {
			const struct markup_missing *m = missing->entries[head.warns_of - 1];
			struct markup_missing *all = mk_missing_entry(
				&p->missing, m->name, m->build_id, m->build_id_len);
			if (all && all->no_symbols)
				continue;
			if (all)
				all->no_symbols = true;
			if (p->sink.warns &&
			    !p->sink.warns(p->sink.ctx, m->build_id, m->build_id_len))
				continue;
		}
		p->sink.complain(p->sink.ctx, at, head.len);
	}
	c->complaints.len = 0;
}

/* Writes what chunk `c`, whose turn it is, has given so far. */
static int write_output(struct markup_pool *p, struct chunk *c)
{
	const struct markup_str text = c->plain ? (struct markup_str){ c->data, c->len }
						: (struct markup_str){ c->out.buf, c->out.len };

	if (text.len && !p->error && p->sink.write(p->sink.ctx, text.ptr, text.len))
		p->error = -EIO;
	c->out.len = 0;
	return p->error;
}

static void finish_chunk(struct markup_pool *p, struct chunk *c)
{
	write_output(p, c);
	write_complaints(p, c, &c->missing);
	if (c->dumpfiles.len && p->dumpfiles.len + c->dumpfiles.len <= DUMPFILES_MAX) {
		if (p->dumpfiles.len)
			mk_out_lit(&p->dumpfiles, ",\n");
		mk_out_put(&p->dumpfiles, c->dumpfiles.buf, c->dumpfiles.len);
	}
	c->dumpfiles.len = 0;
	for (uint32_t i = 0; i < c->missing.len; i++) {
		const struct markup_missing *m = c->missing.entries[i];
		struct markup_missing *all = mk_missing_entry(&p->missing, m->name, m->build_id,
							      m->build_id_len);
		if (all)
			all->frames += m->frames;
	}
	mk_missing_deinit(&c->missing);
}

/* Writes all chunks whose turn has come. Called and returns with the lock held. */
static void advance(struct markup_pool *p)
{
	while (!p->writing && p->first && p->first->done) {
		struct chunk *c = p->first;

		p->writing = true;
		pthread_mutex_unlock(&p->lock);
		finish_chunk(p, c);
		pthread_mutex_lock(&p->lock);
		p->writing = false;
		p->first = c->next;
		if (!p->first)
			p->last = NULL;
		c->next = p->unused;
		p->unused = c;
		p->in_flight--;
	}
	pthread_cond_broadcast(&p->changed);
}

/* Waits until it is the turn of `c`, if more than OUT_MAX bytes would be kept.
 * Is it? Then it stays so until the chunk is done. */
static bool is_turn(struct markup_pool *p, const struct chunk *c, size_t kept)
{
	bool turn;

	pthread_mutex_lock(&p->lock);
	while (kept > OUT_MAX && p->first != c && !p->error)
		pthread_cond_wait(&p->changed, &p->lock);
	turn = p->first == c;
	pthread_mutex_unlock(&p->lock);
	return turn;
}

/* A worker's filter has output. */
static int take_output(void *ctx, const char *data, size_t len)
{
	struct worker *w = ctx;
	struct markup_pool *p = w->pool;
	struct chunk *c = w->chunk;

	if (!c)
		return 0; /* silent */
	if (is_turn(p, c, c->out.len + len)) {
		if (write_output(p, c))
			return 1;
		if (p->sink.write(p->sink.ctx, data, len))
			p->error = -EIO;
	} else {
		mk_out_put(&c->out, data, len);
		if (c->out.error)
			p->error = c->out.error;
	}
	return p->error;
}

static void take_complaint(void *ctx, const char *data, size_t len)
{
	struct worker *w = ctx;
	struct chunk *c = w->chunk;
	const struct markup_missing *warns_of = w->f->warning_about;
	struct complaint head = { .len = (uint32_t)len };

	if (!c)
		return;
	if (c->complaints.len + len > OUT_MAX && is_turn(w->pool, c, c->complaints.len + len))
		write_complaints(w->pool, c, &w->f->missing);
	for (uint32_t i = 0; warns_of && i < w->f->missing.len; i++)
		if (w->f->missing.entries[i] == warns_of)
			head.warns_of = i + 1;
	mk_out_put(&c->complaints, (const char *)&head, sizeof(head));
	mk_out_put(&c->complaints, data, len);
}

/* ---- filtering -------------------------------------------------------------- */

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

/* Lets the filter see what was announced in the chunks before `seq` that were
 * not its own. Called and returns with the lock held. */
static void catch_up(struct worker *w, uint64_t seq)
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
		rc = c->out.error ? c->out.error : c->complaints.error ? c->complaints.error
								       : c->dumpfiles.error;
	pthread_mutex_lock(&p->lock);
	add_stats(&p->stats, &f->stats);
	if (rc && !p->error)
		p->error = rc;
	c->done = true;
	pthread_mutex_unlock(&p->lock);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	struct markup_pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	while (!p->stop) {
		struct chunk *c = p->untaken;
		if (!c) {
			/* Nothing to do: see what the others have announced, so
			 * that it can be forgotten. */
			uint64_t seen = w->next_event;
			catch_up(w, p->next_seq);
			if (seen == w->next_event && !p->untaken && !p->stop)
				pthread_cond_wait(&p->changed, &p->lock);
			continue;
		}
		do
			p->untaken = p->untaken->next;
		while (p->untaken && p->untaken->plain);
		catch_up(w, c->seq);
		/* Its own event, if it has one. */
		if (w->next_event < p->num_events &&
		    p->events[w->next_event % p->cap_events]->seq == c->seq)
			w->next_event++;
		pthread_mutex_unlock(&p->lock);
		filter_chunk(w, c);
		pthread_mutex_lock(&p->lock);
		advance(p);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* ---- the input → chunks and events ------------------------------------------- */

static void free_chunks(struct chunk *c)
{
	for (struct chunk *next; c; c = next) {
		next = c->next;
		mk_out_deinit(&c->out);
		mk_out_deinit(&c->complaints);
		mk_out_deinit(&c->dumpfiles);
		mk_missing_deinit(&c->missing);
		free(c->data);
		free(c);
	}
}

static struct chunk *new_chunk(struct markup_pool *p)
{
	struct chunk *c = p->unused;

	if (c) {
		p->unused = c->next;
		c->len = 0;
		c->plain = c->last = c->done = false;
		c->next = NULL;
		return c;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->data = malloc(CHUNK);
	if (!c->data || mk_out_init(&c->out, 4096, NULL, NULL) ||
	    mk_out_init(&c->complaints, 256, NULL, NULL) ||
	    mk_out_init(&c->dumpfiles, 256, NULL, NULL)) {
		free_chunks(c);
		return NULL;
	}
	return c;
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

static bool push_event(struct markup_pool *p, struct event *e)
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

/* What the chunk does to the state; NULL in *ret: nothing. False: no memory. */
static bool make_event(const struct chunk *c, bool whole, struct event **ret)
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

/* The other filters take over the state of the first, which is clean. */
static bool start_threads(struct markup_pool *p)
{
	for (unsigned i = 1; i < p->n; i++)
		if (!mk_demux_copy(p->workers[i].f, p->workers[0].f))
			return false;
	while (p->running < p->n && !pthread_create(&p->workers[p->running].thread, NULL, work,
						    &p->workers[p->running]))
		p->running++; /* fewer will do */
	p->threads = p->running;
	return p->threads;
}

/* Writes the head of the output or, if `end`, what closes it. Nothing is in
 * flight. */
static void write_frame(struct markup_pool *p, bool end)
{
	const struct markup_filter *f = p->workers[0].f;
	struct markup_out o;

	if (f->options.format != MARKUP_HTML || p->error)
		return;
	if (mk_out_init(&o, 4096, NULL, NULL)) {
		p->error = -ENOMEM;
		return;
	}
	if (!p->begun)
		mk_html_begin(&o, f->options.title);
	if (end)
		mk_html_end(&o, &f->seen, &p->missing, &p->stats);
	p->begun = true;
	if (o.error)
		p->error = o.error;
	else if (p->sink.write(p->sink.ctx, o.buf, o.len))
		p->error = -EIO;
	mk_out_deinit(&o);
}

/* Puts a chunk into the order, with what it announces. False: no memory. */
static bool push_chunk(struct markup_pool *p, struct chunk *c, bool whole)
{
	struct event *e = NULL;

	if (!p->begun)
		write_frame(p, false);
	p->begun = true;
	c->seq = p->next_seq;
	if (p->threads && !c->plain && !make_event(c, whole, &e))
		return false;
	pthread_mutex_lock(&p->lock);
	if (e && !push_event(p, e)) {
		pthread_mutex_unlock(&p->lock);
		free(e);
		return false;
	}
	p->next_seq++;
	p->in_flight++;
	if (p->last)
		p->last->next = c;
	else
		p->first = c;
	p->last = c;
	if (c->plain)
		c->done = true;
	else if (p->threads && !p->untaken)
		p->untaken = c;
	if (c->plain || p->threads)
		advance(p); /* wakes the threads, too */
	pthread_mutex_unlock(&p->lock);
	if (!c->plain && !p->threads) {
		filter_chunk(&p->workers[0], c);
		pthread_mutex_lock(&p->lock);
		advance(p);
		pthread_mutex_unlock(&p->lock);
	}
	return true;
}

/* Waits until at most `most` chunks are in flight. */
static void wait_for(struct markup_pool *p, unsigned most)
{
	pthread_mutex_lock(&p->lock);
	while (p->in_flight > most)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static int fail(struct markup_pool *p, int error)
{
	p->error = error;
	return error;
}

enum how_much {
	ALL,           /* the chunk is full */
	WHAT_THERE_IS, /* whole lines, because no more come for the moment */
};

/*
 * Sends what is there on its way, up to the last clean cut. If there is none, it
 * goes nevertheless, and all filters have to follow it. `last`: and that is the
 * end of the input.
 */
static int dispatch(struct markup_pool *p, enum how_much how_much, bool last)
{
	struct chunk *c = p->filling, *rest;
	size_t len = last ? c->len : mk_clean_cut(c->data, c->len,
						  p->scan_for == MARKUP_SCAN_ESC, p->clean);
	const bool clean = last || len, full = how_much == ALL && !last;
	uint64_t lines = p->line_no;

	if (!clean) {
		const char *eol = memrchr(c->data, '\n', c->len);
		len = full ? c->len : eol ? (size_t)(eol + 1 - c->data) : 0;
		if (!len)
			return 0;
	}
	wait_for(p, p->threads ? IN_FLIGHT * p->running : 0);
	if (p->error)
		return p->error;
	pthread_mutex_lock(&p->lock);
	rest = new_chunk(p);
	pthread_mutex_unlock(&p->lock);
	if (!rest)
		return fail(p, -ENOMEM);
	rest->len = c->len - len;
	memcpy(rest->data, c->data + len, rest->len);
	c->len = len;
	c->line_no = p->line_no;
	c->last = last;
	c->plain = p->clean && clean && !last && !p->every_line &&
		   !markup_scan(c->data, c->data + len, p->scan_for, &lines);
	p->line_no = c->plain ? lines
			      : p->line_no + markup_count_newlines(c->data, c->data + len);
	p->filling = rest;
	if (full && !c->plain && p->clean && !p->threads && p->n > 1 && !start_threads(p))
		return fail(p, -ENOMEM);
	if (!push_chunk(p, c, !(p->clean && clean)))
		return fail(p, -ENOMEM);
	p->clean = clean;
	return p->error;
}

/* ---- the interface ------------------------------------------------------------ */

int markup_pool_create(const struct markup_options *options,
		       const struct markup_resolver resolvers[], unsigned n,
		       const struct markup_sink *sink, struct markup_pool **ret)
{
	struct markup_pool *p = calloc(1, sizeof(*p));
	int rc = 0;

	*ret = NULL;
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->sink = *sink;
	p->clean = true;
	p->workers = calloc(n, sizeof(*p->workers));
	for (unsigned i = 0; p->workers && i < n; i++, p->n++) {
		struct worker *w = &p->workers[i];
		const struct markup_sink own = {
			w, take_output, sink->complain ? take_complaint : NULL };
		w->pool = p;
		rc = markup_filter_create(options, &resolvers[i], &own, &w->f);
		if (rc)
			break;
		w->f->inner = true;
	}
	if (p->n == n && !mk_out_init(&p->dumpfiles, 256, NULL, NULL))
		p->filling = new_chunk(p);
	if (!p->filling) {
		markup_pool_destroy(p);
		return rc ? rc : -ENOMEM;
	}
	p->scan_for = p->workers[0].f->scan_for;
	p->every_line = p->workers[0].f->renderer->every_line;
	*ret = p;
	return 0;
}

void markup_pool_destroy(struct markup_pool *p)
{
	if (!p)
		return;
	if (p->threads) {
		wait_for(p, 0);
		pthread_mutex_lock(&p->lock);
		p->stop = true;
		pthread_cond_broadcast(&p->changed);
		pthread_mutex_unlock(&p->lock);
		for (unsigned i = 0; i < p->running; i++)
			pthread_join(p->workers[i].thread, NULL);
	}
	for (unsigned i = 0; i < p->n; i++)
		markup_filter_destroy(p->workers[i].f);
	for (; p->first_event < p->num_events; p->first_event++)
		free(p->events[p->first_event % p->cap_events]);
	free(p->events);
	free(p->workers);
	free_chunks(p->filling);
	free_chunks(p->unused);
	free_chunks(p->first);
	mk_missing_deinit(&p->missing);
	mk_out_deinit(&p->dumpfiles);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p);
}

void markup_pool_input(struct markup_pool *p, const char *name)
{
	p->input = name;
	p->input_number++;
	p->line_no = 0;
}

char *markup_pool_room(struct markup_pool *p, size_t *size)
{
	*size = CHUNK - p->filling->len;
	return p->filling->data + p->filling->len;
}

int markup_pool_added(struct markup_pool *p, size_t len)
{
	p->filling->len += len;
	return p->filling->len < CHUNK ? p->error : dispatch(p, ALL, false);
}

int markup_pool_flush(struct markup_pool *p)
{
	if (!p->error)
		dispatch(p, WHAT_THERE_IS, false);
	wait_for(p, 0);
	return p->error;
}

int markup_pool_finish(struct markup_pool *p)
{
	if (!p->error)
		dispatch(p, ALL, true);
	wait_for(p, 0);
	return p->error;
}

int markup_pool_end(struct markup_pool *p)
{
	wait_for(p, 0);
	write_frame(p, true);
	return p->error;
}

const struct markup_stats *markup_pool_stats(const struct markup_pool *p)
{
	return &p->stats;
}

int markup_pool_missing(const struct markup_pool *p,
			void (*fn)(void *ctx, const struct markup_missing *m), void *ctx)
{
	return mk_missing_each(&p->missing, fn, ctx);
}

void markup_pool_dumpfiles(const struct markup_pool *p, struct markup_str *ret)
{
	*ret = (struct markup_str){ p->dumpfiles.buf, p->dumpfiles.len };
}
