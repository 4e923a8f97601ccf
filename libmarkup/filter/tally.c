/* What several filters found, together: see markup.h. */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/filter/filter.h"

struct markup_tally {
	pthread_mutex_t lock;
	struct markup_stats stats;
	struct mk_modules missing; /* and those that were warned of */
};

int markup_tally_create(struct markup_tally **ret)
{
	*ret = calloc(1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	pthread_mutex_init(&(*ret)->lock, NULL);
	return 0;
}

void markup_tally_destroy(struct markup_tally *t)
{
	if (!t)
		return;
	mk_modules_deinit(&t->missing);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

bool markup_tally_warns(struct markup_tally *t, const struct markup_module *m)
{
	struct markup_module *e;
	bool first;

	pthread_mutex_lock(&t->lock);
	e = mk_modules_entry(&t->missing, m->name, m->build_id, m->build_id_len);
	first = !e || !e->warned; /* no memory: rather twice than never */
	if (e)
		e->warned = true;
	pthread_mutex_unlock(&t->lock);
	return first;
}

/* Under the lock. */
static void add_module(void *ctx, const struct markup_module *m)
{
	struct markup_tally *t = ctx;

	mk_modules_add(&t->missing, m);
}

void markup_tally_miss(struct markup_tally *t, const struct markup_module *m)
{
	pthread_mutex_lock(&t->lock);
	add_module(t, m);
	pthread_mutex_unlock(&t->lock);
}

void markup_tally_count(struct markup_tally *t, const struct markup_stats *stats)
{
	pthread_mutex_lock(&t->lock);
	t->stats.frames += stats->frames;
	t->stats.frames_resolved += stats->frames_resolved;
	t->stats.frames_outside += stats->frames_outside;
	t->stats.understood += stats->understood;
	t->stats.guessed += stats->guessed;
	t->stats.bytes += stats->bytes;
	pthread_mutex_unlock(&t->lock);
}

int markup_tally_add(struct markup_tally *t, const struct markup_filter *f)
{
	int rc;

	markup_tally_count(t, &f->stats);
	pthread_mutex_lock(&t->lock);
	rc = mk_modules_each(&f->missing, add_module, t);
	pthread_mutex_unlock(&t->lock);
	return rc;
}

const struct markup_stats *markup_tally_stats(const struct markup_tally *t)
{
	return &t->stats;
}

int markup_tally_missing(const struct markup_tally *t,
			 void (*fn)(void *ctx, const struct markup_module *m), void *ctx)
{
	return mk_modules_each(&t->missing, fn, ctx);
}
