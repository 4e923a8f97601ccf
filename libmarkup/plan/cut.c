/*
 * Logs → shards: see cut.h. A log is cut at the first place behind each target where nothing
 * is open; what is known there goes into a file. Targets divide the log evenly, so that no
 * shard is left with a few bytes. Where there is no such place the log stays whole.
 */
#include "libmarkup/plan/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

enum { SHOWN = 16 << 20 }; /* bytes from one report of progress to the next */

struct job {
	const struct markup_planning *p;
	const char *dir;
	VEC(uint64_t) cut;        /* logs that are */
	struct mk_shards *of;     /* of each of them */
	pthread_mutex_t lock;     /* of what follows */
	uint64_t done, size;
	struct sc_error *err;
	_Atomic int rc;
};

/* Until shards have their numbers. */
static struct mk_path first_path(const char *dir, uint64_t log, uint64_t part)
{
	return mk_path("%s/contexts/%llu.%llu", dir, (unsigned long long)log, (unsigned long long)part);
}

/* Ends the last shard at the cut, and begins another. */
static int cut_here(struct job *job, uint64_t log, struct markup_filter *filter,
		    const struct markup_cut *at, struct mk_shards *shards, struct sc_error *err)
{
	const struct mk_path path = first_path(job->dir, log, shards->len);
	__attribute__((cleanup(sc_free_text))) char *saved = NULL;
	struct mk_shard *s = vec_push(shards);
	size_t len;

	if (!s || markup_filter_save(filter, &saved, &len))
		return mk_no_memory(err);
	s[-1].to = at->offset;
	*s = (struct mk_shard){ .log = log, .from = at->offset, .line = at->lines, .has_contexts = true };
	mk_hash_text(XXH3_128bits(saved, len), s->contexts_hash);
	return sc_replace_file(path.text, saved, len, err);
}

static void show_progress(struct job *job, uint64_t more, const char *path)
{
	pthread_mutex_lock(&job->lock);
	job->done += more;
	if (job->p->progress)
		job->p->progress(job->p->ctx, job->done, job->size, path);
	pthread_mutex_unlock(&job->lock);
}

/* Reads the log to the last target, and cuts it behind each. */
static int follow(struct job *job, uint64_t number, int fd, struct markup_filter *filter,
		  struct mk_shards *shards, struct sc_error *err)
{
	const struct markup_log *log = &job->p->logs[number];
	const uint64_t task_size = job->p->task_size;
	const uint64_t parts = log->size / task_size + !!(log->size % task_size);
	uint64_t read_so_far = 0, shown = 0;
	struct markup_cut cut;
	size_t room;
	ssize_t len;
	int rc = 0;

	for (uint64_t part = 1; part < parts && !rc;) {
		char *to = markup_filter_room(filter, &room);

		while ((len = read(fd, to, room)) < 0 && errno == EINTR)
			;
		if (len < 0)
			return sc_error_sys(err, "%s", log->path);
		if (!len)
			break;
		if (markup_filter_added(filter, (size_t)len))
			return mk_no_memory(err);
		read_so_far += (uint64_t)len;
		/* Whatever was read at once: the first cut there is behind the target. */
		if (markup_filter_cut(filter, &cut) && cut.offset >= log->size / parts * part &&
		    cut.offset < log->size) {
			rc = cut_here(job, number, filter, &cut, shards, err);
			while (part < parts && cut.offset >= log->size / parts * part)
				part++;
		}
		if (read_so_far - shown >= SHOWN) {
			show_progress(job, read_so_far - shown, log->path);
			shown = read_so_far;
		}
	}
	return rc;
}

/* Tables of modules are read by the tasks that need them. */
static size_t no_tables(void *ctx, char *buf, size_t size)
{
	(void)ctx;
	(void)buf;
	(void)size;
	return 0;
}

static int cut_log(struct job *job, uint64_t number, struct mk_shards *shards, struct sc_error *err)
{
	const struct markup_resolver resolver = { 0 };
	const struct markup_sink none = { 0 };
	const struct markup_log *log = &job->p->logs[number];
	__attribute__((cleanup(sc_close_fd))) int fd = open(log->path, O_RDONLY | O_CLOEXEC);
	struct mk_shard *first = vec_push(shards);
	struct markup_filter *filter;
	int rc;

	if (fd < 0)
		return sc_error_sys(err, "%s", log->path);
	if (!first || markup_filter_create(&job->p->form.options, &resolver, 1, &none, &filter))
		return mk_no_memory(err);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	first->log = number;
	markup_filter_input(filter, log->path);
	markup_filter_again(filter, no_tables, NULL);
	rc = follow(job, number, fd, filter, shards, err);
	markup_filter_destroy(filter);
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
	rc = cut_log(job, job->cut.data[i], &job->of[i], &err);
	pthread_mutex_lock(&job->lock);
	if (rc && !job->rc) {
		*job->err = err;
		job->rc = rc;
	}
	pthread_mutex_unlock(&job->lock);
}

/* ---- all logs ---------------------------------------------------------------------- */

/* Takes the shards of a log over: they have numbers now. */
static int number_shards(const char *dir, const struct mk_shards *of, struct mk_shards *ret,
			 struct sc_error *err)
{
	if (!vec_reserve(ret, of->len))
		return mk_no_memory(err);
	for (size_t i = 0; i < of->len; i++) {
		struct mk_shard *s = &ret->data[ret->len];

		*s = of->data[i];
		s->number = ret->len++;
		s->last = i + 1 == of->len;
		if (!s->has_contexts)
			continue;
		const struct mk_path from = first_path(dir, s->log, i);
		const struct mk_path to = mk_contexts_path(dir, s->number);

		if (rename(from.text, to.text))
			return sc_error_sys(err, "cannot rename %s", from.text);
	}
	return 0;
}

static int number_all(const struct job *job, struct mk_shards *ret, struct sc_error *err)
{
	const struct markup_planning *p = job->p;
	size_t next = 0;
	int rc = 0;

	if (!vec_reserve(ret, p->num_logs))
		return mk_no_memory(err);
	for (size_t i = 0; i < p->num_logs && !rc; i++) {
		const struct mk_shard whole = { .log = i, .to = p->logs[i].size };
		struct mk_shards one = { (struct mk_shard *)&whole, 1, 1 };
		const bool is_cut = next < job->cut.len && job->cut.data[next] == i;

		rc = number_shards(job->dir, is_cut ? &job->of[next] : &one, ret, err);
		next += is_cut;
	}
	return rc;
}

int mk_cut(const struct markup_planning *p, const char *dir, struct mk_shards *ret,
	   struct sc_error *err)
{
	struct job job = { .p = p, .dir = dir, .lock = PTHREAD_MUTEX_INITIALIZER, .err = err };
	int rc;

	for (size_t i = 0; i < p->num_logs; i++) {
		const struct markup_log *log = &p->logs[i];

		if (log->kind != MARKUP_LOG_PLAIN || log->size <= p->task_size ||
		    p->form.options.format == MARKUP_HTML)
			continue;
		if (!vec_reserve(&job.cut, 1))
			job.rc = SC_ENOMEM;
		else
			job.cut.data[job.cut.len++] = i;
		job.size += log->size;
	}
	job.of = calloc(job.cut.len + 1, sizeof(*job.of));
	if (job.rc || !job.of)
		rc = mk_no_memory(err);
	else {
		sc_parallel(p->threads, job.cut.len, work, &job);
		rc = job.rc ? job.rc : number_all(&job, ret, err);
	}
	for (size_t i = 0; i < job.cut.len && job.of; i++)
		vec_deinit(&job.of[i]);
	free(job.of);
	vec_deinit(&job.cut);
	return rc;
}
