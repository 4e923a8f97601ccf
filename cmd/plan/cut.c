/*
 * Logs → shards: see cut.h. A log is cut at the first place behind each target where nothing
 * is open; what is known there goes into a file. Targets divide the log evenly, so that no
 * shard is left with a few bytes. Where there is no such place the log stays whole.
 */
#include "cmd/plan/cut.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/progress.h"
#include "symcache/logs.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

struct job {
	const struct cutting *c;
	struct plan_shards *of;  /* of each log that is cut */
	size_t *cut;             /* these logs */
	pthread_mutex_t lock;    /* of what follows */
	struct progress progress;
	uint64_t done, size;
	struct sc_error *err;
	_Atomic int rc;
};

static struct plan_shard *add(struct plan_shards *shards, uint64_t log)
{
	shards->data = must_grow(shards->data, shards->len, &shards->cap, sizeof(*shards->data));
	shards->data[shards->len] = (struct plan_shard){ .log = log };
	return &shards->data[shards->len++];
}

/* Until shards have their numbers. */
static char *first_path(const char *dir, uint64_t log, uint64_t part)
{
	return must_asprintf("%s/contexts/%llu.%llu", dir, (unsigned long long)log,
			     (unsigned long long)part);
}

/* Ends the last shard at the cut, and begins another. */
static int cut_here(struct job *job, uint64_t log, struct markup_filter *filter,
		    const struct markup_cut *at, struct plan_shards *shards, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = first_path(job->c->dir, log, shards->len);
	__attribute__((cleanup(sc_free_text))) char *saved = NULL;
	struct plan_shard *s;
	size_t len;

	if (markup_filter_save(filter, &saved, &len))
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	shards->data[shards->len - 1].to = at->offset;
	s = add(shards, log);
	s->from = at->offset;
	s->line = at->lines;
	s->has_contexts = true;
	hash_text(XXH3_128bits(saved, len), s->contexts_hash);
	return sc_replace_file(path, saved, len, err);
}

/* Tables of modules are read by the tasks that need them. */
static size_t no_tables(void *ctx, char *buf, size_t size)
{
	(void)ctx;
	(void)buf;
	(void)size;
	return 0;
}

/* Follows the log to the last target, and cuts it behind each. */
static int follow(struct job *job, const struct plan_log *log, struct symlog_input *in,
		  struct markup_filter *filter, struct plan_shards *shards, struct sc_error *err)
{
	const uint64_t parts = log->size / job->c->task_size + !!(log->size % job->c->task_size);
	uint64_t read = 0, shown = 0;
	struct markup_cut cut;
	size_t room, len;
	int rc = 0;

	markup_filter_input(filter, log->path);
	markup_filter_again(filter, no_tables, NULL);
	for (uint64_t part = 1; part < parts && !rc;) {
		char *to = markup_filter_room(filter, &room);

		rc = symlog_read(in, to, room, &len, err);
		if (rc || !len)
			break;
		if (markup_filter_added(filter, len))
			return sc_error_set(err, SC_ENOMEM, "out of memory");
		read += len;
		/* Whatever was read at once: the first cut there is behind the target. */
		if (markup_filter_cut(filter, &cut) && cut.offset >= log->size / parts * part &&
		    cut.offset < log->size) {
			rc = cut_here(job, log->number, filter, &cut, shards, err);
			while (part < parts && cut.offset >= log->size / parts * part)
				part++;
		}
		if (read - shown < 16 << 20)
			continue;
		pthread_mutex_lock(&job->lock);
		progress_update(&job->progress, job->done += read - shown, job->size, log->path);
		pthread_mutex_unlock(&job->lock);
		shown = read;
	}
	return rc;
}

static int cut_log(struct job *job, const struct plan_log *log, struct plan_shards *shards,
		   struct sc_error *err)
{
	const struct markup_resolver resolver = { 0 };
	const struct markup_sink none = { 0 };
	struct markup_filter *filter;
	struct symlog_input in;
	int rc = symlog_open(&in, log->path, err);

	add(shards, log->number);
	if (rc)
		return rc;
	if (markup_filter_create(job->c->options, &resolver, 1, &none, &filter))
		rc = sc_error_set(err, SC_ENOMEM, "out of memory");
	else
		rc = follow(job, log, &in, filter, shards, err);
	markup_filter_destroy(filter);
	symlog_close(&in);
	shards->data[shards->len - 1].to = log->size;
	return rc;
}

static void work(void *ctx, unsigned worker, size_t i)
{
	struct job *job = ctx;
	struct sc_error err;
	int rc;

	(void)worker;
	if (job->rc)
		return;
	rc = cut_log(job, &job->c->logs->data[job->cut[i]], &job->of[i], &err);
	if (!rc)
		return;
	pthread_mutex_lock(&job->lock);
	if (!job->rc)
		*job->err = err;
	job->rc = rc;
	pthread_mutex_unlock(&job->lock);
}

static bool is_cut(const struct cutting *c, const struct plan_log *log)
{
	return log->kind == LOG_PLAIN && log->size > c->task_size &&
	       c->options->format != MARKUP_HTML;
}

/* Takes the shards of a log over: they have numbers now. */
static int number_shards(const struct cutting *c, const struct plan_shards *of,
			 struct plan_shards *ret, struct sc_error *err)
{
	for (size_t i = 0; i < of->len; i++) {
		const uint64_t number = ret->len;
		struct plan_shard *s = add(ret, of->data[i].log);

		*s = of->data[i];
		s->number = number;
		s->last = i + 1 == of->len;
		if (!s->has_contexts)
			continue;
		__attribute__((cleanup(sc_free_text))) char *from = first_path(c->dir, s->log, i);
		__attribute__((cleanup(sc_free_text))) char *to = plan_contexts_path(c->dir, number);
		if (rename(from, to))
			return sc_error_sys(err, "cannot rename %s", from);
	}
	return 0;
}

int plan_cut(const struct cutting *c, struct plan_shards *ret, struct sc_error *err)
{
	struct job job = { .c = c, .lock = PTHREAD_MUTEX_INITIALIZER, .err = err };
	size_t num = 0, next = 0;
	int rc;

	job.cut = must_calloc(c->logs->len + 1, sizeof(*job.cut));
	for (size_t i = 0; i < c->logs->len; i++) {
		if (!is_cut(c, &c->logs->data[i]))
			continue;
		job.cut[num++] = i;
		job.size += c->logs->data[i].size;
	}
	job.of = must_calloc(num + 1, sizeof(*job.of));
	progress_init(&job.progress, "cutting", c->quiet);
	job.progress.bytes = true;
	sc_parallel(c->threads, num, work, &job);
	progress_erase(&job.progress);
	rc = job.rc;
	for (size_t i = 0; i < c->logs->len && !rc; i++) {
		if (next < num && job.cut[next] == i) {
			rc = number_shards(c, &job.of[next++], ret, err);
			continue;
		}
		struct plan_shard *s = add(ret, i);
		s->number = ret->len - 1;
		s->to = c->logs->data[i].size;
		s->last = true;
	}
	for (size_t i = 0; i < num; i++)
		free(job.of[i].data);
	free(job.of);
	free(job.cut);
	return rc;
}
