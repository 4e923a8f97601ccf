/*
 * Logs → shards → tasks: see cut.h. A log is cut at the first place behind each target where
 * nothing is open; what is known there goes into a file. Targets divide the log evenly, so that no
 * shard is left with a few bytes. Where there is no such place the log stays whole.
 */
#include "libsymcache/plan/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/sort.h"

enum { SHOWN = 16 << 20 }; /* bytes from one report of progress to the next */

struct job {
	const struct markup_planning *p;
	const char *dir;
	struct mk_cuts *cuts;
	pthread_mutex_t lock;     /* of what follows */
	uint64_t done, size;
	struct sc_error *err;
	_Atomic int rc;
};

/* Until shards have their numbers. */
static struct mk_path first_path(const char *dir, uint64_t log, uint64_t part)
{
	return mk_path("%s/contexts/%llu.%llu", dir, (unsigned long long)log,
		       (unsigned long long)part);
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
		return sc_no_memory(err);
	s[-1].to = at->offset;
	*s = (struct mk_shard){ .log = log, .from = at->offset, .line = at->lines };
	sc_hash_text(sc_hash_of(saved, len), s->contexts_hash);
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

/* Is the cut behind the next target? Then *part moves behind all that it is behind. */
static bool is_behind(const struct markup_log *log, uint64_t parts, uint64_t offset, uint64_t *part)
{
	const uint64_t size = log->size / parts, before = *part;

	if (offset < log->size)
		while (*part < parts && offset >= size * *part)
			++*part;
	return *part > before;
}

/* Reads the log, and cuts it behind each target. */
static int follow(struct job *job, struct mk_cut_log *cut, int fd, struct markup_filter *filter,
		  struct sc_error *err)
{
	const struct markup_log *log = &job->p->logs[cut->log];
	const uint64_t task_size = job->p->task_size;
	const uint64_t parts = log->size / task_size + !!(log->size % task_size);
	uint64_t left = log->size, shown = left, part = 1;
	struct markup_cut at;
	size_t room;
	ssize_t len;
	int rc = 0;

	while (left && !rc) {
		char *to = markup_filter_room(filter, &room);

		while ((len = read(fd, to, room < left ? room : left)) < 0 && errno == EINTR)
			;
		if (len < 0)
			return sc_error_sys(err, "%s", log->path);
		if (!len)
			break;
		if (markup_filter_added(filter, (size_t)len))
			return sc_no_memory(err);
		left -= (uint64_t)len;
		/* Whatever was read at once: the first cut there is behind the target. */
		if (part < parts && markup_filter_cut(filter, &at) &&
		    is_behind(log, parts, at.offset, &part))
			rc = cut_here(job, cut->log, filter, &at, &cut->shards, err);
		if (shown - left >= SHOWN) {
			show_progress(job, shown - left, log->path);
			shown = left;
		}
	}
	return rc;
}

/* Its tables, which all shards get. Too much of them, and it stays whole. */
static int save_tables(struct job *job, struct mk_cut_log *cut, struct markup_filter *filter,
		       struct sc_error *err)
{
	const struct mk_path path = mk_tables_path(job->dir, cut->log);
	struct sc_str tables;
	int rc = markup_filter_tables(filter, &tables);

	if (rc == -E2BIG) {
		while (cut->shards.len > 1)
			unlink(first_path(job->dir, cut->log, --cut->shards.len).text);
		return 0;
	}
	if (rc)
		return sc_no_memory(err);
	if (!tables.len || cut->shards.len == 1)
		return 0;
	sc_hash_text(sc_hash_of(tables.ptr, tables.len), cut->tables_hash);
	return sc_replace_file(path.text, tables.ptr, tables.len, err);
}

static int cut_log(struct job *job, struct mk_cut_log *cut, struct sc_error *err)
{
	const struct markup_resolver resolver = { 0 };
	const struct markup_sink none = { 0 };
	const struct markup_log *log = &job->p->logs[cut->log];
	__attribute__((cleanup(sc_close_fd))) int fd = open(log->path, O_RDONLY | O_CLOEXEC);
	struct mk_shard *first = vec_push(&cut->shards);
	struct markup_filter *filter;
	int rc;

	if (fd < 0)
		return sc_error_sys(err, "%s", log->path);
	if (!first || markup_filter_create(&job->p->form.options, &resolver, 1, &none, &filter))
		return sc_no_memory(err);
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	first->log = cut->log;
	markup_filter_input(filter, log->path);
	rc = markup_filter_keep_tables(filter) ? sc_no_memory(err) :
						 follow(job, cut, fd, filter, err);
	if (!rc)
		rc = save_tables(job, cut, filter, err);
	markup_filter_destroy(filter);
	cut->shards.data[cut->shards.len - 1].to = log->size;
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
	rc = cut_log(job, &job->cuts->logs.data[i], &err);
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
		return sc_no_memory(err);
	for (size_t i = 0; i < of->len; i++) {
		struct mk_shard *s = &ret->data[ret->len];

		*s = of->data[i];
		s->number = ret->len++;
		s->last = i + 1 == of->len;
		if (!*s->contexts_hash)
			continue;
		const struct mk_path from = first_path(dir, s->log, i);
		const struct mk_path to = mk_contexts_path(dir, s->number);

		if (rename(from.text, to.text))
			return sc_error_sys(err, "cannot rename %s", from.text);
	}
	return 0;
}

static int number_all(const struct job *job, struct sc_error *err)
{
	const struct markup_planning *p = job->p;
	struct mk_cuts *cuts = job->cuts;
	size_t next = 0;
	int rc = 0;

	if (!vec_reserve(&cuts->shards, p->num_logs))
		return sc_no_memory(err);
	for (size_t i = 0; i < p->num_logs && !rc; i++) {
		const struct mk_shard whole = { .log = i, .to = p->logs[i].size };
		struct mk_shards one = { (struct mk_shard *)&whole, 1, 1 };
		const bool is_cut = next < cuts->logs.len && cuts->logs.data[next].log == i;

		rc = number_shards(job->dir, is_cut ? &cuts->logs.data[next].shards : &one,
				   &cuts->shards, err);
		next += is_cut;
	}
	return rc;
}

int mk_cut(const struct markup_planning *p, const char *dir, struct mk_cuts *ret,
	   struct sc_error *err)
{
	struct job job = { .p = p, .dir = dir, .cuts = ret, .lock = PTHREAD_MUTEX_INITIALIZER,
			   .err = err };
	const unsigned long refusals = sc_memory_refusals();

	for (size_t i = 0; i < p->num_logs; i++) {
		const struct markup_log *log = &p->logs[i];
		struct mk_cut_log *cut;

		if (log->kind != MARKUP_LOG_PLAIN || log->size <= p->task_size ||
		    markup_form_of(&p->form.options)->whole_page)
			continue;
		cut = vec_push(&ret->logs);
		if (!cut)
			return sc_no_memory(err);
		cut->log = i;
		job.size += log->size;
	}
	sc_parallel(p->threads, ret->logs.len, work, &job);
	if (!job.rc && sc_memory_refusals() != refusals) /* contexts may lack a module */
		return sc_no_memory(err);
	return job.rc ? job.rc : number_all(&job, err);
}

void mk_cuts_deinit(struct mk_cuts *c)
{
	for (size_t i = 0; i < c->logs.len; i++)
		vec_deinit(&c->logs.data[i].shards);
	vec_deinit(&c->logs);
	vec_deinit(&c->shards);
}

/* ---- tasks ------------------------------------------------------------------------- */

enum { UNPACKED = 8 };

struct dealt {
	uint64_t cost;
	uint64_t number; /* of the shard; of the task, in the order in which it got its first */
};

uint64_t markup_log_cost(enum markup_log_kind kind, uint64_t bytes)
{
	return bytes * (kind == MARKUP_LOG_PLAIN ? 1 : UNPACKED);
}

static bool less(const struct dealt *a, const struct dealt *b)
{
	return a->cost != b->cost ? a->cost < b->cost : a->number < b->number;
}

static inline bool costs_more(const struct dealt *a, const struct dealt *b)
{
	return a->cost > b->cost || (a->cost == b->cost && a->number < b->number);
}

SC_SORT(sort_by_falling_cost, struct dealt, costs_more)

/* A heap has the task with the least on top, which got more: it goes down to where it belongs. */
static void sink(struct dealt *heap, size_t n)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
		child += child + 1 < n && less(&heap[child + 1], &heap[child]);
		if (less(&heap[i], &heap[child]))
			return;
		const struct dealt up = heap[child];
		heap[child] = heap[i];
		heap[i] = up;
	}
}

/* `order`: the shards by falling cost; *total: the costs of all. */
static bool order_shards(const struct mk_shards *shards, const struct markup_log *logs,
			 struct dealt *order, uint64_t *total)
{
	*total = 0;
	for (size_t i = 0; i < shards->len; i++) {
		const struct mk_shard *s = &shards->data[i];

		order[i] = (struct dealt){ markup_log_cost(logs[s->log].kind, s->to - s->from), i };
		*total += order[i].cost;
	}
	return sort_by_falling_cost(order, shards->len);
}

bool mk_deal(struct mk_shards *shards, const struct markup_log *logs, uint64_t task_size,
	     uint64_t most, uint64_t *ret)
{
	struct dealt *order = calloc(shards->len + 1, sizeof(*order)), *heap = NULL;
	uint64_t total, tasks = 0, *renumbered = NULL;
	bool done = order && order_shards(shards, logs, order, &total);

	if (done) {
		tasks = total / task_size + !!(total % task_size);
		tasks = tasks < most ? tasks : most;
		tasks = tasks < shards->len ? tasks : shards->len;
		tasks += !tasks && shards->len;
		heap = calloc(tasks + 1, sizeof(*heap));
		renumbered = calloc(tasks + 1, sizeof(*renumbered));
		done = heap && renumbered;
	}
	for (size_t i = 0; i < tasks && done; i++)
		heap[i].number = i;
	for (size_t i = 0; i < shards->len && done; i++) {
		shards->data[order[i].number].task = heap[0].number;
		heap[0].cost += order[i].cost;
		sink(heap, tasks);
	}
	done = done && sort_by_falling_cost(heap, tasks);
	for (size_t i = 0; i < tasks && done; i++)
		renumbered[heap[i].number] = i;
	for (size_t i = 0; i < shards->len && done; i++)
		shards->data[i].task = renumbered[shards->data[i].task];
	free(renumbered);
	free(heap);
	free(order);
	*ret = tasks;
	return done;
}
