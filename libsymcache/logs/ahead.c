/*
 * A compressed log is unpacked by a thread of its own, some blocks ahead of who filters it: see
 * input.h. All but one of the fields of the input are that thread's until it has ended.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/logs/input.h"

enum { BLOCKS = 4, BLOCK = 512 << 10 };

struct symlog_ahead {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct symlog_input *in;
	symlog_inflate_fn *inflate;
	struct { char *bytes; size_t len; } blocks[BLOCKS]; /* a ring */
	unsigned first, filled; /* those that are to be read */
	size_t pos;             /* in the first */
	bool stop, done;        /* no more is wanted; no more comes */
	int rc;                 /* then; and its error */
	struct sc_error err;
};

/* Fills a block; *len less than that: it is the last one. */
static int fill(struct symlog_ahead *a, char *bytes, size_t *len)
{
	size_t n = 1;
	int rc = 0;

	for (*len = 0; !rc && n && *len < BLOCK; *len += rc ? 0 : n)
		rc = a->inflate(a->in, bytes + *len, BLOCK - *len, &n, &a->err);
	return rc;
}

static void *run(void *ctx)
{
	struct symlog_ahead *a = ctx;
	unsigned at = 0;
	size_t len;
	int rc;

	pthread_mutex_lock(&a->lock);
	while (!a->stop && !a->done) {
		if (a->filled == BLOCKS) {
			pthread_cond_wait(&a->changed, &a->lock);
			continue;
		}
		pthread_mutex_unlock(&a->lock);
		rc = fill(a, a->blocks[at].bytes, &len);
		pthread_mutex_lock(&a->lock);
		a->blocks[at].len = len;
		a->filled += len != 0;
		at = (at + 1) % BLOCKS;
		a->rc = rc;
		a->done = rc || len < BLOCK;
		pthread_cond_signal(&a->changed);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void deinit(struct symlog_ahead *a)
{
	pthread_mutex_destroy(&a->lock);
	pthread_cond_destroy(&a->changed);
	for (unsigned i = 0; i < BLOCKS; i++)
		free(a->blocks[i].bytes);
	free(a);
}

struct symlog_ahead *symlog_ahead_start(struct symlog_input *in, symlog_inflate_fn *inflate)
{
	struct symlog_ahead *a = calloc(1, sizeof(*a));
	bool ok = a;

	if (!a)
		return NULL;
	a->in = in;
	a->inflate = inflate;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->changed, NULL);
	for (unsigned i = 0; i < BLOCKS; i++)
		ok = (a->blocks[i].bytes = malloc(BLOCK)) && ok;
	if (ok && !pthread_create(&a->thread, NULL, run, a))
		return a;
	deinit(a);
	return NULL;
}

void symlog_ahead_end(struct symlog_ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	pthread_join(a->thread, NULL);
	deinit(a);
}

int symlog_ahead_read(struct symlog_ahead *a, char *buf, size_t size, size_t *len,
		      struct sc_error *err)
{
	pthread_mutex_lock(&a->lock);
	while (!a->filled && !a->done)
		pthread_cond_wait(&a->changed, &a->lock);
	const bool any = a->filled;
	const size_t left = any ? a->blocks[a->first].len - a->pos : 0;

	pthread_mutex_unlock(&a->lock);
	*len = size < left ? size : left;
	if (!any) {
		if (a->rc && err)
			*err = a->err;
		return a->rc;
	}
	memcpy(buf, a->blocks[a->first].bytes + a->pos, *len);
	a->pos += *len;
	if (*len < left)
		return 0;
	pthread_mutex_lock(&a->lock);
	a->pos = 0;
	a->first = (a->first + 1) % BLOCKS;
	a->filled--;
	pthread_cond_signal(&a->changed);
	pthread_mutex_unlock(&a->lock);
	return 0;
}
