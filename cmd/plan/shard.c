/*
 * The shards of a task: see shard.h. Many shards are filtered side by side, each by one
 * thread; few one after the other, each by all threads. What comes out is the same.
 */
#include "cmd/plan/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/progress.h"
#include "cmd/filter/filtering.h"
#include "symcache/logs.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

enum { SAID_MAX = 1 << 20 };

/* ---- what is said of a shard -------------------------------------------------------- */

/* A file without a name in OUT. -1: see errno. */
static int open_nameless(const char *out)
{
	__attribute__((cleanup(sc_free_text))) char *dir = out_path(out, "");
	__attribute__((cleanup(sc_free_text))) char *path = out_path(out, "said.XXXXXX");
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), above;

	if (fd < 0 && (fd = mkostemp(path, O_CLOEXEC)) >= 0)
		unlink(path);
	if (fd)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, 1);
	close(fd);
	return above;
}

static void put_away(struct said *s, const char *out)
{
	if (s->fd <= 0)
		s->fd = open_nameless(out);
	if (s->fd < 0 || sc_write_all(s->fd, s->text.bytes, s->text.len))
		s->error = errno;
	s->text.len = 0;
}

int said_copy(struct said *s, int fd, XXH3_state_t *hash)
{
	char block[1 << 16];
	ssize_t n;

	if (s->fd > 0 && lseek(s->fd, 0, SEEK_SET) < 0)
		return -1;
	while (s->fd > 0 && (n = read(s->fd, block, sizeof(block)))) {
		if (n < 0 || sc_write_all(fd, block, (size_t)n))
			return -1;
		XXH3_128bits_update(hash, block, (size_t)n);
	}
	if (!s->text.len)
		return 0;
	XXH3_128bits_update(hash, s->text.bytes, s->text.len);
	return sc_write_all(fd, s->text.bytes, s->text.len);
}

void said_deinit(struct said *s)
{
	if (s->fd > 0)
		close(s->fd);
	free(s->text.bytes);
	*s = (struct said){ 0 };
}

/* ---- one shard ------------------------------------------------------------------------ */

struct job {
	struct task *t;
	struct cmd_caches caches;
	struct symlog_sources from;
	unsigned threads;            /* for each shard */
	struct filtering **spare;    /* of each worker, for whole logs; NULL: none yet */
	XXH3_state_t **hashes;       /* of each worker */
	pthread_mutex_t lock;        /* of what follows */
	struct progress progress;
	uint64_t done, size;
	struct sc_error *err;
	_Atomic int rc;
};

struct saying {
	struct said *to;
	const char *out;
};

static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	struct saying *s = ctx;
	const size_t before = s->to->text.len;

	complaint_put(&s->to->text, warns_of, text, len);
	s->to->bytes += s->to->text.len - before;
	if (s->to->text.len > SAID_MAX)
		put_away(s->to, s->out);
}

struct missing {
	struct misses *to;
	uint64_t shard;
};

static void miss(void *ctx, const struct markup_module *m)
{
	const struct missing *missing = ctx;

	misses_add(missing->to, missing->shard, m);
}

/* Is the log what was planned? */
static int check_log(const struct plan_log *l, const char *path, struct sc_error *err)
{
	struct stat st;

	if (stat(path, &st))
		return sc_error_sys(err, "%s", path);
	if ((uint64_t)st.st_size == l->size &&
	    st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec == l->mtime)
		return 0;
	return sc_error_set(err, SC_ESYS, "%s has changed since the plan was made: plan again", path);
}

static struct filtering *new_filtering(const struct job *job, const struct plan_log *l)
{
	struct markup_options options = form_markup(&job->t->plan.form);
	struct filtering *f;

	options.title = l->path;
	if (filtering_create(&options, &job->from, job->threads, form_complaints(&job->t->plan.form),
			     NULL, &f))
		must(NULL);
	return f;
}

/* What came of it; 0: it may be kept. */
static int take_result(struct job *job, size_t i, enum filtering_result result,
		       const struct symlog *log, struct filtering *f,
		       const struct sc_new_file *file, struct sc_error *err)
{
	struct result *r = &job->t->record.results.data[i];
	struct stat st;

	if (result == FILTERING_NO_INPUT || (result == FILTERING_CUT && log->error != SC_EFORMAT))
		return sc_error_set(err, SC_ESYS, "%s cannot be read", log->path);
	if (result == FILTERING_FAILED || fstat(file->fd, &st))
		return sc_error_set(err, SC_ESYS, "%s is not complete", file->path);
	if (job->caches.failed)
		return sc_error_set(err, SC_ESYS, "the store is damaged here");
	if (job->t->said[i].error) {
		errno = job->t->said[i].error;
		return sc_error_sys(err, "cannot write what is to be said of %s", log->shown);
	}
	r->cut_off = result == FILTERING_CUT;
	r->read = log->read;
	r->written = (uint64_t)st.st_size;
	r->stats = *markup_filter_stats(filtering_filter(f));
	r->complaints = job->t->said[i].bytes;
	markup_filter_missing(filtering_filter(f), miss,
			      &(struct missing){ &job->t->missed[i], r->shard });
	return 0;
}

/* Filters it into an open file. */
static int filter_into(struct job *job, unsigned worker, size_t i, const char *path,
		       struct sc_new_file *file, struct sc_error *err)
{
	const struct plan_shard *s = &job->t->shards.data[i];
	const struct plan_log *l = plan_log_of(&job->t->logs, s);
	const bool whole = plan_shard_is_whole(s);
	const bool reuses = whole && job->t->plan.form.format != MARKUP_HTML;
	__attribute__((cleanup(sc_free_text))) char *saved = NULL;
	struct saying saying = { &job->t->said[i], job->t->options->out };
	struct symlog log = {
		.path = path, .shown = l->path, .part = !whole, .goes_on = !s->last,
		.from = s->from, .to = s->to, .lines = s->line,
	};
	enum filtering_result result;
	struct filtering *f;
	int rc = plan_read_contexts(&job->t->plan, s, &saved, &log.saved_len, err);

	if (rc)
		return rc;
	log.saved = saved;
	f = reuses && job->spare[worker] ? job->spare[worker] : new_filtering(job, l);
	if (reuses)
		job->spare[worker] = f;
	XXH3_128bits_reset(job->hashes[worker]);
	filtering_report_to(f, say, &saying);
	filtering_begin(f, job->hashes[worker]);
	result = filtering_run(f, &log, file->fd, file->path);
	if (result <= FILTERING_CUT && whole && filtering_end(f))
		result = FILTERING_FAILED;
	rc = take_result(job, i, result, &log, f, file, err);
	hash_text(XXH3_128bits_digest(job->hashes[worker]), job->t->record.results.data[i].hash);
	if (!reuses)
		filtering_destroy(f);
	return rc;
}

static int run_shard(struct job *job, unsigned worker, size_t i, struct sc_error *err)
{
	const struct task_options *o = job->t->options;
	const struct plan_shard *s = &job->t->shards.data[i];
	const struct plan_log *l = plan_log_of(&job->t->logs, s);
	const char *root = o->input_root && *l->path != '/' ? o->input_root : NULL;
	__attribute__((cleanup(sc_free_text))) char *path =
		must_asprintf("%s%s%s", root ? root : "", root ? "/" : "", l->path);
	__attribute__((cleanup(sc_free_text))) char *output =
		plan_shard_is_whole(s) ? must_asprintf("%s/%s", o->out, l->output)
				       : out_part_path(o->out, s->number);
	struct sc_new_file file = { .fd = -1 };
	int rc = check_log(l, path, err);

	job->t->record.results.data[i].shard = s->number;
	if (!rc && symlog_same_file(path, output))
		rc = sc_error_set(err, SC_EINVAL, "%s: its output would overwrite it", path);
	if (!rc)
		rc = sc_make_parents(output, err);
	if (!rc)
		rc = sc_new_file_open(output, false, &file, err);
	if (!rc)
		rc = filter_into(job, worker, i, path, &file, err);
	if (!rc)
		rc = check_log(l, path, err);
	if (!rc)
		rc = sc_new_file_commit(&file, err);
	sc_new_file_discard(&file);
	return rc;
}

/* ---- all of them -------------------------------------------------------------------------- */

static void work(void *ctx, unsigned worker, size_t i)
{
	struct job *job = ctx;
	const struct plan_shard *s = &job->t->shards.data[i];
	struct sc_error err;
	int rc;

	if (job->rc)
		return;
	rc = run_shard(job, worker, i, &err);
	pthread_mutex_lock(&job->lock);
	if (rc && !job->rc)
		*job->err = err;
	if (rc && !job->rc)
		job->rc = rc;
	job->done += s->to - s->from;
	progress_update(&job->progress, job->done, job->size, plan_log_of(&job->t->logs, s)->path);
	pthread_mutex_unlock(&job->lock);
}

int run_shards(struct task *t, struct sc_error *err)
{
	const bool few = t->shards.len < t->options->jobs;
	const unsigned workers = few ? 1 : t->options->jobs;
	struct job job = {
		.t = t, .threads = few ? t->options->jobs : 1,
		.lock = PTHREAD_MUTEX_INITIALIZER, .err = err,
	};

	cmd_caches_init(&job.caches, t->options->store, (struct symcache_caches_options){
		.store_optional = true, .any_build_id = t->plan.form.dialect == MARKUP_LLVM });
	job.from = (struct symlog_sources){
		job.caches.caches, t->plan.form.modules.items, t->plan.form.modules.len,
		t->plan.form.raw, .no_files = true, .store_name = t->plan.store_name,
	};
	job.spare = must_calloc(workers, sizeof(*job.spare));
	job.hashes = must_calloc(workers, sizeof(*job.hashes));
	for (unsigned i = 0; i < workers; i++)
		job.hashes[i] = must(XXH3_createState());
	for (size_t i = 0; i < t->shards.len; i++)
		job.size += t->shards.data[i].to - t->shards.data[i].from;
	progress_init(&job.progress, "filtering", t->options->quiet);
	job.progress.bytes = true;
	sc_parallel(workers, t->shards.len, work, &job);
	progress_erase(&job.progress);
	for (unsigned i = 0; i < workers; i++) {
		filtering_destroy(job.spare[i]);
		XXH3_freeState(job.hashes[i]);
	}
	free(job.spare);
	free(job.hashes);
	cmd_caches_deinit(&job.caches);
	return job.rc;
}
