/*
 * A filter on one thread or several: see markup.h and, for how it works, filter.h.
 * Here the bytes of an input become chunks.
 */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/filter/cut.h"
#include "libmarkup/filter/filter.h"

/* ---- the input → chunks ------------------------------------------------------ */

static struct chunk *new_chunk(struct markup_filter *p)
{
	struct chunk *c;

	pthread_mutex_lock(&p->lock);
	c = p->unused;
	p->unused = c ? c->next : NULL;
	pthread_mutex_unlock(&p->lock);
	if (c) {
		c->len = 0;
		c->plain = c->last = c->done = false;
		c->next = NULL;
		return c;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->data = malloc(CHUNK);
	if (!c->data || mk_out_init(&c->complaints, 256, NULL, NULL) ||
	    mk_out_init(&c->dumpfiles, 256, NULL, NULL)) {
		mk_filter_free_chunks(p, c);
		return NULL;
	}
	return c;
}

/* Puts a chunk into the order, with what it announces. False: no memory. */
static bool push_chunk(struct markup_filter *p, struct chunk *c, bool whole)
{
	struct notice *e = NULL;

	c->seq = p->next_seq;
	if (p->running > 1 && !c->plain &&
	    !mk_filter_make_notice(&p->workers[0].s->formats, c, whole, &e))
		return false;
	pthread_mutex_lock(&p->lock);
	if (e && !mk_filter_push_notice(p, e)) {
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
	else if (!p->untaken)
		p->untaken = c;
	mk_filter_advance(p); /* wakes the threads, too */
	pthread_mutex_unlock(&p->lock);
	return true;
}

enum how_much {
	ALL,           /* the chunk is full */
	WHAT_THERE_IS, /* whole lines, because no more come for the moment */
};

/* Is there nothing for a filter to do in the first `len` bytes, which are whole lines?
 * Then *lines is the number of the line behind them. */
static bool is_plain(const struct markup_filter *p, const struct chunk *c, size_t len,
		     uint64_t *lines)
{
	const struct mk_stream *s = p->workers[0].s;

	*lines = p->line_no;
	return len && p->clean && !s->output.renderer->every_line &&
	       !mk_ahead_finds(&s->resolve.ahead, c->data, c->data + len, lines);
}

/*
 * Sends what is there on its way, up to the last clean cut; behind whole lines without
 * markup there is one. If there is none, it goes nevertheless, and all filters have to
 * follow it. `last`: and that is the end of the input.
 */
static void dispatch(struct markup_filter *p, enum how_much how_much, bool last)
{
	const struct mk_stream *s = p->workers[0].s;
	struct chunk *c = p->filling, *rest;
	const char *eol = memrchr(c->data, '\n', c->len);
	const size_t whole_lines = eol ? (size_t)(eol + 1 - c->data) : 0;
	uint64_t lines;
	const bool plain = !last && is_plain(p, c, whole_lines, &lines);
	size_t len = last ? c->len : plain ? whole_lines :
		     mk_clean_cut(&s->formats, c->data, c->len, s->output.follows, p->clean);
	const bool clean = last || len, full = how_much == ALL && !last;
	bool counted;

	if (!clean) {
		len = full ? c->len : whole_lines;
		if (!len)
			return;
	}
	if (full && !plain && p->clean && p->running < p->n && !p->started) {
		p->started = true;
		if (!mk_filter_start(p)) {
			p->error = -ENOMEM;
			return;
		}
	}
	rest = new_chunk(p);
	if (!rest) {
		p->error = -ENOMEM;
		return;
	}
	rest->len = c->len - len;
	memcpy(rest->data, c->data + len, rest->len);
	c->len = len;
	c->line_no = p->line_no;
	c->last = last;
	c->plain = plain;
	/* One thread counts the lines as it goes. */
	counted = p->running == 1 && !plain && !last && !s->mute;
	if (!counted)
		p->line_no = plain ? lines : p->line_no + mk_count_newlines(c->data, c->data + len);
	p->filling = rest;
	mk_tables_take(&p->tables, c->data, c->len, c->line_no, c->plain);
	if (!push_chunk(p, c, !(p->clean && clean))) {
		p->error = -ENOMEM;
		return;
	}
	p->clean = clean;
	mk_filter_work(p, p->running > 1 ? IN_FLIGHT * p->running : 0);
	if (counted)
		p->line_no = s->where.line_no;
}

/* ---- the interface ------------------------------------------------------------ */

/* Creates the stream of a worker. */
static int create_stream(struct markup_filter *p, struct worker *w,
			 const struct markup_resolver *resolver)
{
	const struct markup_sink own = { w, mk_filter_take_output,
					 p->sink.complain ? mk_filter_take_complaint : NULL };
	int rc;

	w->filter = p;
	rc = mk_stream_create(&p->options, resolver, &own, &w->s);
	if (!rc)
		w->s->mute = !p->sink.write && !p->options.keep_modules;
	return rc;
}

int markup_filter_create(const struct markup_options *options,
			 const struct markup_resolver resolvers[], unsigned n,
			 const struct markup_sink *sink, struct markup_filter **ret)
{
	struct markup_filter *p = calloc(1, sizeof(*p));
	int rc = 0;

	*ret = NULL;
	if (!p)
		return -ENOMEM;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->sink = *sink;
	p->options = *options;
	p->options.title = p->title = options->title ? strdup(options->title) : NULL;
	p->whole_kind = mk_choose_renderer(options)->whole;
	p->clean = true;
	p->running = 1;
	p->workers = calloc(n, sizeof(*p->workers));
	for (unsigned i = 0; p->workers && i < n && !rc; i++) {
		rc = create_stream(p, &p->workers[i], &resolvers[i]);
		p->n += !rc;
	}
	if (p->n == n && !mk_out_init(&p->dumpfiles, 256, NULL, NULL))
		p->filling = new_chunk(p);
	if (p->filling) { /* markup needs no tables, all others may need those of any format */
		const struct mk_stream *s = p->workers[0].s;
		const struct mk_input *const *inputs = s->formats.inputs;
		const bool markup = *inputs == &mk_markup_input && !inputs[1];

		mk_tables_init(&p->tables, markup ? inputs : mk_inputs, &s->resolve.demux);
	}
	for (unsigned i = 0; i < p->n; i++)
		p->workers[i].s->resolve.tables = &p->tables;
	if (p->whole_kind && sink->write)
		p->whole = p->whole_kind->create(&p->options, sink->write, sink->ctx);
	if (!p->filling || (p->whole_kind && sink->write && !p->whole)) {
		markup_filter_destroy(p);
		return rc ? rc : -ENOMEM;
	}
	*ret = p;
	return 0;
}

void markup_filter_destroy(struct markup_filter *p)
{
	if (!p)
		return;
	if (p->running > 1)
		mk_filter_stop(p);
	for (unsigned i = 0; i < p->n; i++)
		mk_stream_destroy(p->workers[i].s);
	if (p->tables.inputs)
		mk_tables_deinit(&p->tables);
	free(p->workers);
	if (p->whole)
		p->whole_kind->destroy(p->whole);
	free(p->title);
	mk_filter_free_notices(p);
	mk_filter_free_chunks(p, p->filling);
	mk_filter_free_chunks(p, p->unused);
	while (p->buffers.len)
		free(p->buffers.data[--p->buffers.len]);
	vec_deinit(&p->buffers);
	mk_modules_deinit(&p->missing);
	mk_modules_deinit(&p->lines);
	mk_out_deinit(&p->dumpfiles);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
	free(p);
}

void markup_filter_input(struct markup_filter *p, const char *name)
{
	mk_tables_reset(&p->tables);
	p->input = name;
	p->line_no = p->added = 0;
}

void markup_filter_again(struct markup_filter *p, size_t (*read)(void *ctx, char *buf, size_t size),
			 void *ctx)
{
	p->tables.again = read;
	p->tables.again_ctx = ctx;
}

char *markup_filter_room(struct markup_filter *p, size_t *size)
{
	*size = CHUNK - p->filling->len;
	return p->filling->data + p->filling->len;
}

int markup_filter_added(struct markup_filter *p, size_t len)
{
	p->filling->len += len;
	p->added += len;
	p->stats.bytes += len;
	if (p->filling->len == CHUNK)
		dispatch(p, ALL, false);
	return p->error;
}

int markup_filter_feed(struct markup_filter *p, const char *data, size_t len)
{
	size_t room;

	for (; len && !p->error; data += room, len -= room) {
		char *to = markup_filter_room(p, &room);
		if (room > len)
			room = len;
		memcpy(to, data, room);
		markup_filter_added(p, room);
	}
	return p->error;
}

int markup_filter_flush(struct markup_filter *p)
{
	if (!p->error)
		dispatch(p, WHAT_THERE_IS, false);
	mk_filter_work(p, 0);
	return p->error;
}

/* Of a pipe, whose frames have gone when their tables come. */
static void complain_of_late_tables(struct markup_filter *p)
{
	static const char text[] = "the mappings of some modules come after the addresses in them: filter "
				   "it as a file, which can be read twice\n";

	if (!p->error && p->sink.complain && p->options.dialect == MARKUP_DEFAULT &&
	    mk_tables_late(&p->tables))
		p->sink.complain(p->sink.ctx, text, sizeof(text) - 1);
}

int markup_filter_finish(struct markup_filter *p)
{
	if (!p->error)
		dispatch(p, ALL, true);
	mk_filter_work(p, 0);
	complain_of_late_tables(p);
	mk_tables_reset(&p->tables);
	return p->error;
}

int markup_filter_end(struct markup_filter *p)
{
	mk_filter_work(p, 0);
	mk_filter_end_whole(p);
	return p->error;
}

const struct markup_stats *markup_filter_stats(const struct markup_filter *p)
{
	return &p->stats;
}

void markup_filter_forget(struct markup_filter *p)
{
	mk_modules_deinit(&p->missing);
	p->stats = (struct markup_stats){ 0 };
}

int markup_filter_missing(const struct markup_filter *p,
			void (*fn)(void *ctx, const struct markup_module *m), void *ctx)
{
	return mk_modules_each(&p->missing, fn, ctx);
}

int markup_filter_modules(struct markup_filter *p,
			  void (*fn)(void *ctx, const struct markup_module *m), void *ctx)
{
	return mk_modules_each(mk_filter_all_modules(p), fn, ctx);
}

void markup_filter_dumpfiles(const struct markup_filter *p, struct sc_str *ret)
{
	*ret = (struct sc_str){ p->dumpfiles.buf, p->dumpfiles.len };
}
