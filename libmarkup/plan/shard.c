/*
 * The shards of a task: see shard.h. Many shards are filtered side by side, each by one
 * thread; few one after the other, each by all threads. What comes out is the same.
 */
#include "libmarkup/plan/shard.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

enum { SAID_MAX = 1 << 20 };

/* ---- what is said of a shard -------------------------------------------------------- */

/* A file without a name in OUT. -1: see errno. */
static int open_nameless(const char *out)
{
	const struct mk_path dir = mk_out_path(out, "");
	struct mk_path path = mk_out_path(out, "said.XXXXXX");
	int fd = open(dir.text, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), above;

	if (fd < 0 && (fd = mkostemp(path.text, O_CLOEXEC)) >= 0)
		unlink(path.text);
	if (fd)
		return fd;
	above = fcntl(fd, F_DUPFD_CLOEXEC, 1);
	close(fd);
	return above;
}

void markup_shard_say(void *ctx, const struct markup_module *warns_of, const char *text,
		      size_t len)
{
	struct mk_said *s = ctx;
	const size_t before = s->text.len;

	mk_complaint_put(&s->text, warns_of, text, len);
	s->bytes += s->text.len - before;
	if (s->text.error)
		s->error = ENOMEM;
	if (s->text.len <= SAID_MAX)
		return;
	if (s->fd <= 0)
		s->fd = open_nameless(s->out);
	if (s->fd < 0 || sc_write_all(s->fd, s->text.buf, s->text.len))
		s->error = errno;
	s->text.len = 0;
}

void markup_shard_miss(void *ctx, const struct markup_module *m)
{
	struct mk_said *s = ctx;

	if (!mk_misses_add(&s->missed, s->shard, m))
		s->error = ENOMEM;
}

int mk_said_copy(struct mk_said *s, int fd, XXH3_state_t *hash)
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
	XXH3_128bits_update(hash, s->text.buf, s->text.len);
	return sc_write_all(fd, s->text.buf, s->text.len);
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
	struct mk_said *said = &t->said[i];
	const struct mk_log *log = mk_log_of(&t->logs, s);
	__attribute__((cleanup(sc_free_text))) char *saved = NULL;
	__attribute__((cleanup(sc_free_text))) char *tables = NULL;
	XXH3_state_t hash;
	struct markup_shard shard = {
		.worker = worker, .path = path, .shown = log->log.path,
		.part = !mk_shard_is_whole(s), .goes_on = !s->last, .from = s->from, .to = s->to,
		.lines = s->line, .fd = file->fd, .output = file->path, .hash = &hash, .said = said,
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
	if (!rc && said->error) {
		errno = said->error;
		rc = sc_error_sys(err, "cannot write what is to be said of %s", shard.shown);
	}
	if (rc)
		return rc;
	*r = (struct mk_result){
		.shard = s->number, .status = shard.cut_off ? MK_CUT_OFF : MK_WHOLE, .read = shard.read,
		.written = (uint64_t)st.st_size, .stats = shard.stats, .complaints = said->bytes,
	};
	mk_hash_text(XXH3_128bits_digest(&hash), r->hash);
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
		rc = sc_make_parents(output.text, err);
	if (!rc)
		rc = sc_new_file_open(output.text, false, &file, err);
	if (!rc)
		rc = filter_into(job, worker, i, path.text, &file, err);
	if (!rc)
		rc = check_log(l, path.text, NULL, err);
	if (!rc)
		rc = sc_new_file_commit(&file, err);
	sc_new_file_discard(&file);
	return rc;
}

/* ---- all of them -------------------------------------------------------------------------- */

static void work(void *ctx, unsigned worker, size_t i)
{
	struct job *job = ctx;
	const struct mk_shard *s = &job->t->shards.data[i];
	const struct markup_task_options *o = &job->t->options;
	struct sc_error err;
	int rc;

	if (job->rc)
		return;
	job->t->said[i].shard = s->number;
	job->t->said[i].out = o->out;
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

int mk_run_shards(struct markup_task *t, mk_filter_fn *filter, void *ctx, struct sc_error *err)
{
	struct job job = { .t = t, .filter = filter, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER,
			   .err = err };

	for (size_t i = 0; i < t->shards.len; i++)
		job.size += t->shards.data[i].to - t->shards.data[i].from;
	sc_parallel(t->workers, t->shards.len, work, &job);
	return job.rc;
}
