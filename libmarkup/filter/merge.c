/*
 * What came of the chunks → the sink, in their order: see filter.h. Output whose
 * turn it is goes straight on; other output is kept by keeping the filter's buffer
 * itself, and giving the filter another.
 */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/filter/filter.h"

struct complaint {
	uint32_t len;
	uint32_t warns_of; /* entry of the chunk's missing table + 1; 0: of nothing */
};

/* ---- pieces ----------------------------------------------------------------- */

/* A buffer of OUT_BUFFER bytes, or NULL. */
static char *get_buffer(struct markup_filter *p)
{
	char *buf = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->buffers.len)
		buf = p->buffers.data[--p->buffers.len];
	pthread_mutex_unlock(&p->lock);
	return buf ? buf : malloc(OUT_BUFFER);
}

/* Takes back those of the chunk's pieces. */
static void put_buffers(struct markup_filter *p, struct chunk *c)
{
	if (!c->pieces.len)
		return;
	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < c->pieces.len; i++) {
		if (c->pieces.data[i].len > OUT_BUFFER || !vec_reserve(&p->buffers, 1))
			free(c->pieces.data[i].buf);
		else
			p->buffers.data[p->buffers.len++] = c->pieces.data[i].buf;
	}
	pthread_mutex_unlock(&p->lock);
	c->pieces.len = c->kept = 0;
}

/* Keeps what the filter of `w` hands over. */
static int keep(struct worker *w, struct chunk *c, const char *data, size_t len)
{
	const bool whole = data == w->s->output.out.buf; /* all that is in there */
	char *buf = len > OUT_BUFFER ? malloc(len) : get_buffer(w->filter);

	if (!buf || !vec_reserve(&c->pieces, 1)) {
		free(buf);
		return -ENOMEM;
	}
	if (whole) {
		char *full = w->s->output.out.buf;
		w->s->output.out.buf = buf;
		buf = full;
	} else {
		memcpy(buf, data, len);
	}
	c->pieces.data[c->pieces.len++] = (struct piece){ buf, len };
	c->kept += len;
	return 0;
}

void mk_filter_free_chunks(struct markup_filter *p, struct chunk *c)
{
	for (struct chunk *next; c; c = next) {
		next = c->next;
		put_buffers(p, c);
		vec_deinit(&c->pieces);
		mk_out_deinit(&c->complaints);
		mk_out_deinit(&c->dumpfiles);
		mk_modules_deinit(&c->missing);
		mk_modules_deinit(&c->lines);
		free(c->data);
		free(c);
	}
}

/* ---- writing, in turn ------------------------------------------------------- */

static int write_text(struct markup_filter *p, const char *data, size_t len)
{
	if (len && !p->error && p->whole)
		p->error = p->whole_kind->take(p->whole, data, len);
	else if (len && !p->error && p->sink.write && p->sink.write(p->sink.ctx, data, len))
		p->error = -EIO;
	return p->error;
}

/* Writes what chunk `c`, whose turn it is, has given so far. */
static int write_output(struct markup_filter *p, struct chunk *c)
{
	if (c->plain && !p->workers[0].s->output.renderer->drops_plain)
		write_text(p, c->data, c->len);
	for (size_t i = 0; i < c->pieces.len; i++)
		write_text(p, c->pieces.data[i].buf, c->pieces.data[i].len);
	put_buffers(p, c);
	return p->error;
}

/* Writes complaints, but no warning a second time; `missing` is the table that
 * they speak of. */
static void write_complaints(struct markup_filter *p, struct chunk *c,
			     const struct mk_modules *missing)
{
	const char *at = c->complaints.buf, *end = at + c->complaints.len;
	struct complaint head;

	for (; at < end; at += head.len) {
		memcpy(&head, at, sizeof(head));
		at += sizeof(head);
		if (head.warns_of) {
			const struct markup_module *m = missing->entries[head.warns_of - 1];
			struct markup_module *all = mk_modules_entry(
				&p->missing, m->name, m->build_id, m->build_id_len);
			if (all && all->warned)
				continue;
			if (all)
				all->warned = true;
			if (p->sink.tally && !markup_tally_warns(p->sink.tally, m))
				continue;
			if (p->sink.warn) {
				p->sink.warn(p->sink.ctx, m, at, head.len);
				continue;
			}
		}
		p->sink.complain(p->sink.ctx, at, head.len);
	}
	c->complaints.len = 0;
}

static void finish_chunk(struct markup_filter *p, struct chunk *c)
{
	write_output(p, c);
	write_complaints(p, c, &c->missing);
	if (c->dumpfiles.len && p->dumpfiles.len + c->dumpfiles.len <= DUMPFILES_MAX) {
		if (p->dumpfiles.len)
			mk_out_lit(&p->dumpfiles, ",\n");
		mk_out_put(&p->dumpfiles, c->dumpfiles.buf, c->dumpfiles.len);
	}
	c->dumpfiles.len = 0;
	for (uint32_t i = 0; i < c->missing.len; i++)
		mk_modules_add(&p->missing, c->missing.entries[i]); /* maybe no one was warned */
	for (uint32_t i = 0; i < c->lines.len; i++)
		mk_modules_list(&p->lines, c->lines.entries[i]);
	mk_modules_deinit(&c->missing);
	mk_modules_deinit(&c->lines);
}

void mk_filter_advance(struct markup_filter *p)
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
static bool is_turn(struct markup_filter *p, const struct chunk *c, size_t kept)
{
	bool turn;

	pthread_mutex_lock(&p->lock);
	while (kept > OUT_MAX && p->first != c && !p->error)
		pthread_cond_wait(&p->changed, &p->lock);
	turn = p->first == c;
	pthread_mutex_unlock(&p->lock);
	return turn;
}

int mk_filter_take_output(void *worker, const char *data, size_t len)
{
	struct worker *w = worker;
	struct markup_filter *p = w->filter;
	struct chunk *c = w->chunk;
	int rc;

	if (!c)
		return 0; /* silent */
	if (is_turn(p, c, c->kept + len)) {
		write_output(p, c);
		write_text(p, data, len);
	} else if ((rc = keep(w, c, data, len))) {
		p->error = rc;
	}
	return p->error;
}

void mk_filter_take_complaint(void *worker, const char *data, size_t len)
{
	struct worker *w = worker;
	struct chunk *c = w->chunk;
	const struct markup_module *warns_of = w->s->where.warning_about;
	struct complaint head = { .len = (uint32_t)len };

	if (!c)
		return;
	if (c->complaints.len + len > OUT_MAX && is_turn(w->filter, c, c->complaints.len + len))
		write_complaints(w->filter, c, &w->s->resolve.missing);
	for (uint32_t i = 0; warns_of && i < w->s->resolve.missing.len; i++)
		if (w->s->resolve.missing.entries[i] == warns_of)
			head.warns_of = i + 1;
	mk_out_put(&c->complaints, (const char *)&head, sizeof(head));
	mk_out_put(&c->complaints, data, len);
}

const struct mk_modules *mk_filter_all_modules(struct markup_filter *p)
{
	struct mk_modules *all = &p->workers[0].s->resolve.seen;

	for (uint32_t i = 0; i < p->lines.len; i++)
		mk_modules_list(all, p->lines.entries[i]);
	return all;
}

void mk_filter_end_whole(struct markup_filter *p)
{
	if (p->whole && !p->error)
		p->error = p->whole_kind->end(p->whole, mk_filter_all_modules(p), &p->missing, &p->stats);
}
