/*
 * One task of a plan: see plan.h. Many shards are filtered side by side, each by one thread; few
 * one after the other, each by all threads. What comes out is the same.
 *
 *   OUT/LOG                     whole logs
 *   OUT/.symcache/parts/N       shard N of a log that is cut
 *   OUT/.symcache/done/N.json   the record of task N, when all of that is there
 *   OUT/.symcache/plan          which plan it is
 *
 * Every file has its name when it is whole, and each attempt writes the same bytes: so a task
 * may be done twice, at once, or be killed at any moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/plan/record.h"

struct markup_task {
	struct markup_task_options options;
	struct mk_plan plan;
	struct mk_shards shards;
	struct mk_logs logs;        /* of these shards */
	struct mk_record record;    /* a result for each shard */
	struct mk_complaints *complaints; /* of each shard */
	unsigned workers;           /* shards at once */
};

typedef int mk_filter_fn(void *ctx, struct markup_shard *s, struct sc_error *err);

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- before ------------------------------------------------------------------------- */

/* OUT/.symcache/plan says whose folder it is: of two plans the first one that comes. */
static int claim_folder(const struct markup_task *t, struct sc_error *err)
{
	const struct mk_path path = mk_out_path(t->options.out, "plan");
	struct sc_new_file file;
	static const char advice[] = ": choose another folder";
	int rc = mk_read_claim(&t->plan, t->options.out, advice, err);

	if (rc)
		return rc < 0 ? rc : 0;
	rc = sc_new_file_below(path.text, strlen(t->options.out), &file, err);
	if (rc)
		return rc;
	if (sc_write_all(file.fd, t->plan.hash, SC_HASH_TEXT - 1)) {
		rc = sc_error_sys(err, "cannot write %s", path.text);
		sc_new_file_discard(&file);
	} else {
		rc = sc_new_file_commit_first(&file, err);
	}
	if (!rc)
		rc = mk_read_claim(&t->plan, t->options.out, advice, err);
	return rc == 1 ? 0 : rc ? rc : sc_error_set(err, SC_ESYS, "%s has vanished", path.text);
}

/* Is it done? A record that cannot be read is made anew. */
static bool is_recorded(const struct markup_task *t)
{
	struct mk_record r;
	const bool done = !mk_record_read(&t->plan, t->options.out, t->options.task, false, &r,
					  NULL);

	mk_record_deinit(&r);
	return done;
}

/* The folder that a file of OUT is in. */
static int make_folder(const char *out, const struct mk_path *path, struct sc_error *err)
{
	const char *name;
	const int dir = sc_folder_below(path->text, strlen(out), true, &name, err);

	if (dir < 0)
		return err->code;
	close(dir);
	return 0;
}

static int open_task(struct markup_task *t, struct sc_error *err)
{
	const struct markup_task_options *o = &t->options;
	const struct mk_path record = mk_record_path(o->out, 0), part = mk_part_path(o->out, 0);
	int rc = mk_plan_open(o->plan, &t->plan, err);

	if (rc)
		return rc;
	if (o->task >= t->plan.tasks)
		return sc_error_set(err, SC_EINVAL, "%s has the tasks 0 to %llu", o->plan,
				    (unsigned long long)t->plan.tasks - 1);
	rc = mk_plan_read_shards(&t->plan, o->task, &t->shards, err);
	if (!rc)
		rc = mk_plan_read_logs(&t->plan, &t->shards, &t->logs, err);
	if (!rc && !t->shards.len)
		rc = sc_error_set(err, SC_EFORMAT, "%s: its shards.jsonl has none of task %llu",
				  o->plan, (unsigned long long)o->task);
	if (!rc)
		rc = make_folder(o->out, &record, err);
	if (!rc)
		rc = make_folder(o->out, &part, err);
	if (!rc)
		rc = claim_folder(t, err);
	return rc;
}

int markup_task_open(const struct markup_task_options *o, struct markup_task **ret,
		     struct markup_task_plan *plan, struct sc_error *err)
{
	struct markup_task *t = *ret = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return sc_no_memory(err);
	t->options = *o;
	rc = open_task(t, err);
	/* Few shards come one after the other, each on all threads. */
	t->workers = t->shards.len < o->threads ? 1 : o->threads;
	*plan = (struct markup_task_plan){ &t->plan.form, t->plan.store_name, t->plan.store,
					   t->workers, o->threads / t->workers,
					   !rc && is_recorded(t) };
	return rc;
}

void markup_task_close(struct markup_task *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->complaints && i < t->shards.len; i++) {
		if (t->complaints[i].fd > 0)
			close(t->complaints[i].fd);
		mk_out_deinit(&t->complaints[i].text);
		mk_misses_deinit(&t->complaints[i].missed);
	}
	free(t->complaints);
	mk_record_deinit(&t->record);
	mk_logs_deinit(&t->logs);
	vec_deinit(&t->shards);
	mk_plan_close(&t->plan);
	free(t);
}

/* ---- one shard ------------------------------------------------------------------------ */

struct job {
	struct markup_task *t;
	mk_filter_fn *filter;
	void *ctx;
	pthread_mutex_t lock;        /* of what follows */
	uint64_t done, size;
	struct sc_error *err;
	_Atomic int rc;
};

/* Is the log what was planned, and its output another file? */
static int check_log(const struct markup_log *l, const char *path, const char *output,
		     struct sc_error *err)
{
	struct stat st, out;

	if (stat(path, &st))
		return sc_error_sys(err, "%s", path);
	if ((uint64_t)st.st_size != l->size ||
	    st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec != l->mtime)
		return sc_error_set(err, SC_ESYS,
				    "%s has changed since the plan was made: plan again", path);
	if (output && !stat(output, &out) && out.st_dev == st.st_dev && out.st_ino == st.st_ino)
		return sc_error_set(err, SC_EINVAL, "%s: its output would overwrite it", path);
	return 0;
}

/* Filters it into an open file. */
static int filter_into(struct job *job, unsigned worker, size_t i, const char *path,
		       const struct sc_new_file *file, struct sc_error *err)
{
	struct markup_task *t = job->t;
	const struct mk_shard *s = &t->shards.data[i];
	struct mk_result *r = &t->record.results.data[i];
	struct mk_complaints *complaints = &t->complaints[i];
	const struct mk_log *log = mk_log_of(&t->logs, s);
	__attribute__((cleanup(sc_free_text))) char *saved = NULL;
	__attribute__((cleanup(sc_free_text))) char *tables = NULL;
	XXH3_state_t hash;
	struct markup_shard shard = {
		.worker = worker, .path = path, .shown = log->log.path,
		.part = !mk_shard_is_whole(s), .goes_on = !s->last, .from = s->from, .to = s->to,
		.lines = s->line, .fd = file->fd, .output = file->path, .hash = &hash,
		.complaints = complaints,
	};
	struct stat st;
	int rc = mk_read_saved(mk_contexts_path(t->plan.dir, s->number).text, s->contexts_hash,
			       &saved, &shard.saved_len, err);

	if (!rc && shard.part)
		rc = mk_read_saved(mk_tables_path(t->plan.dir, s->log).text, log->tables_hash,
				   &tables, &shard.tables_len, err);
	shard.saved = saved;
	shard.tables = tables;
	XXH3_128bits_reset(&hash);
	if (!rc)
		rc = job->filter(job->ctx, &shard, err);
	if (!rc && fstat(file->fd, &st))
		rc = sc_error_sys(err, "%s", file->path);
	if (!rc && complaints->error) {
		errno = complaints->error;
		rc = sc_error_sys(err, "cannot write the messages about %s", shard.shown);
	}
	if (rc)
		return rc;
	*r = (struct mk_result){
		.shard = s->number, .status = shard.cut_off ? MK_CUT_OFF : MK_WHOLE,
		.read = shard.read, .written = (uint64_t)st.st_size, .stats = shard.stats,
		.complaints = complaints->bytes,
	};
	sc_hash_text(sc_hash_digest(&hash), r->hash);
	return 0;
}

static int run_shard(struct job *job, unsigned worker, size_t i, struct sc_error *err)
{
	const struct markup_task_options *o = &job->t->options;
	const struct mk_shard *s = &job->t->shards.data[i];
	const struct markup_log *l = &mk_log_of(&job->t->logs, s)->log;
	const bool below = o->input_root && *l->path != '/';
	const struct mk_path path = mk_path("%s%s%s", below ? o->input_root : "", below ? "/" : "",
					    l->path);
	struct mk_path output = mk_shard_is_whole(s) ? mk_path("%s/%s", o->out, l->output)
						     : mk_part_path(o->out, s->number);
	struct sc_new_file file = { .fd = -1 };
	int rc = check_log(l, path.text, output.text, err);

	if (!rc)
		rc = sc_new_file_below(output.text, strlen(o->out), &file, err);
	if (!rc)
		rc = filter_into(job, worker, i, path.text, &file, err);
	if (!rc)
		rc = check_log(l, path.text, NULL, err);
	return sc_new_file_end(&file, rc, err);
}

static void work(void *ctx, unsigned worker, size_t i)
{
	struct job *job = ctx;
	const struct mk_shard *s = &job->t->shards.data[i];
	const struct markup_task_options *o = &job->t->options;
	struct sc_error err;
	int rc;

	if (job->rc)
		return;
	job->t->complaints[i].shard = s->number;
	job->t->complaints[i].out = o->out;
	rc = run_shard(job, worker, i, &err);
	pthread_mutex_lock(&job->lock);
	if (rc && !job->rc) {
		*job->err = err;
		job->rc = rc;
	}
	job->done += s->to - s->from;
	if (o->progress)
		o->progress(o->ctx, job->done, job->size, mk_log_of(&job->t->logs, s)->log.path);
	pthread_mutex_unlock(&job->lock);
}

/* All shards, several at once. SC_ESYS, SC_EFULL, SC_ENOMEM: again, maybe elsewhere; SC_EFORMAT:
 * what is known where a shard begins is damaged. */
static int run_shards(struct markup_task *t, mk_filter_fn *filter, void *ctx, struct sc_error *err)
{
	struct job job = { .t = t, .filter = filter, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER,
			   .err = err };

	for (size_t i = 0; i < t->shards.len; i++)
		job.size += t->shards.data[i].to - t->shards.data[i].from;
	sc_parallel(t->workers, t->shards.len, work, &job);
	return job.rc;
}

/* ---- after ----------------------------------------------------------------------------- */

/* The complaints of all shards, in one file, if there are any. */
static int write_complaints(struct markup_task *t, struct sc_error *err)
{
	const struct mk_path path = mk_complaints_path(t->options.out, t->options.task);
	struct mk_record *r = &t->record;
	struct sc_new_file file = { .fd = -1 };
	XXH3_state_t hash;
	int rc = 0;

	XXH3_128bits_reset(&hash);
	for (size_t i = 0; i < t->shards.len; i++)
		r->complaints += r->results.data[i].complaints;
	if (r->complaints)
		rc = sc_new_file_below(path.text, strlen(t->options.out), &file, err);
	for (size_t i = 0; i < t->shards.len && !rc && r->complaints; i++)
		if (mk_complaints_copy(&t->complaints[i], file.fd, &hash))
			rc = sc_error_sys(err, "cannot write %s", path.text);
	sc_hash_text(sc_hash_digest(&hash), r->complaints_hash);
	if (!rc && r->complaints)
		return sc_new_file_commit(&file, err);
	sc_new_file_discard(&file);
	return rc;
}

static int write_record(struct markup_task *t, struct sc_error *err)
{
	struct mk_record *r = &t->record;
	char host[256] = "";
	int rc = write_complaints(t, err);

	if (rc)
		return rc;
	memcpy(r->plan, t->plan.hash, sizeof(r->plan));
	r->task = t->options.task;
	gethostname(host, sizeof(host) - 1);
	r->host = host;
	r->ended = now();
	for (size_t i = 0; i < r->results.len; i++) {
		r->read += r->results.data[i].read;
		r->written += r->results.data[i].written;
		if (!mk_misses_move(&r->missed, &t->complaints[i].missed))
			return sc_no_memory(err);
	}
	rc = mk_record_write(r, t->options.out, err);
	r->host = NULL;
	return rc;
}

int markup_task_run(struct markup_task *t, mk_filter_fn *filter, void *ctx,
		    struct markup_task_sums *ret, struct sc_error *err)
{
	struct mk_record *r = &t->record;
	int rc;

	r->begun = now();
	t->complaints = calloc(t->shards.len, sizeof(*t->complaints));
	if (!t->complaints || !vec_reserve(&r->results, t->shards.len))
		return sc_no_memory(err);
	r->results.len = t->shards.len;
	rc = run_shards(t, filter, ctx, err);
	if (!rc)
		rc = write_record(t, err);
	*ret = (struct markup_task_sums){ t->shards.len, r->read, r->written,
					  (double)(r->ended - r->begun) / 1000 };
	return rc;
}
