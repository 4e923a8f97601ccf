/*
 * Many logs, each into a file of its own: see logs.h.
 *
 * An output is put in its place when it is whole; so what is there is finished, and is
 * left alone next time unless the log has changed since. That of a log that could not be
 * read to its end is kept, too, but dated before its log.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "libsymcache/base/file.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/text.h"
#include "libsymcache/logs/input.h"
#include "libsymcache/logs/logs.h"

struct batch {
	const struct symlog_list *logs;
	const struct symlog_batch_options *options;
	char **outputs;       /* of each log; NULL: has none, which was reported */
	struct symlog_filter **filters; /* of each thread, made when it first needs one */
	pthread_mutex_t lock; /* of what follows */
	uint64_t size, done;  /* bytes of logs */
	struct symlog_batch sum;
	atomic_bool no_memory;
	atomic_bool broken;   /* nothing can be written any more */
};

/* ---- one log ----------------------------------------------------------------------- */

static void end_filter(struct batch *b, struct symlog_filter **f)
{
	if (*f && markup_tally_add(b->options->how->tally, symlog_filter_markup(*f)))
		b->no_memory = true;
	symlog_filter_destroy(*f);
	*f = NULL;
}

static enum symlog_result run_filter(struct batch *b, unsigned worker,
				     const struct symlog_file *log, int fd, const char *output)
{
	struct symlog_filter **f = &b->filters[worker];
	struct markup_options markup = *b->options->how->markup;
	struct symlog_filter_options how = *b->options->how;
	struct symlog of = { .path = log->path, .output = { fd, output } };
	enum symlog_result result = SYMLOG_FAILED;
	struct sc_error err;

	markup.title = log->path;
	how.markup = &markup;
	if (*f || !symlog_filter_create(&how, f, &err))
		result = symlog_filter_run(*f, &of, &err);
	if (result <= SYMLOG_CUT && symlog_filter_end(*f, &err))
		result = SYMLOG_FAILED;
	if (result == SYMLOG_FAILED)
		b->options->fault(b->options->ctx, err.msg);
	if (markup_form_of(&markup)->whole_page)
		end_filter(b, f);
	return result;
}

/* Is the output there, and not older than the log? */
static bool finished(const char *log, const char *output)
{
	struct stat in, out;

	if (stat(log, &in) || stat(output, &out))
		return false;
	return out.st_mtim.tv_sec > in.st_mtim.tv_sec ||
	       (out.st_mtim.tv_sec == in.st_mtim.tv_sec &&
		out.st_mtim.tv_nsec >= in.st_mtim.tv_nsec);
}

/* Makes the output older than its log, so that it does not count as finished. */
static void outdate(int fd, const char *log)
{
	struct stat st;

	if (stat(log, &st))
		return;
	st.st_mtim.tv_sec--;
	futimens(fd, (struct timespec[]){ st.st_mtim, st.st_mtim });
}

/* SYMLOG_NO_INPUT also if the output cannot be made. */
static enum symlog_result filter_log(struct batch *b, unsigned worker,
				     const struct symlog_file *log, char *output)
{
	const struct symlog_batch_options *o = b->options;
	struct sc_new_file file = { .fd = -1 };
	enum symlog_result result = SYMLOG_NO_INPUT;
	struct sc_error err;

	if (symlog_same_file(log->path, output)) {
		char *text __attribute__((cleanup(sc_free_text))) =
			sc_text("%s: its output would overwrite it", log->path);

		o->fault(o->ctx, text ? text : "out of memory");
		return result;
	}
	if (!sc_new_file_make(output, &file, &err)) {
		result = o->filter ? o->filter(o->ctx, worker, log, file.fd, output) :
				     run_filter(b, worker, log, file.fd, output);
		if (result == SYMLOG_CUT)
			outdate(file.fd, log->path);
		if (result > SYMLOG_CUT || !sc_new_file_commit(&file, &err)) {
			sc_new_file_discard(&file);
			return result;
		}
		result = SYMLOG_FAILED;
	}
	o->fault(o->ctx, err.msg);
	sc_new_file_discard(&file);
	return result;
}

/* ---- all logs ------------------------------------------------------------------------ */

static void work(void *ctx, unsigned worker, size_t i)
{
	struct batch *b = ctx;
	const struct symlog_file *log = &b->logs->logs[i];
	char *output = b->outputs[i];
	enum symlog_result result = SYMLOG_OK;
	bool skip;

	if (!output || b->broken)
		return;
	skip = !symlog_same_file(log->path, output) && finished(log->path, output);
	pthread_mutex_lock(&b->lock);
	b->options->progress(b->options->ctx, b->done, b->size, log->path);
	pthread_mutex_unlock(&b->lock);
	if (!skip)
		result = filter_log(b, worker, log, output);
	pthread_mutex_lock(&b->lock);
	b->done += log->size;
	b->sum.skipped += skip;
	b->sum.filtered += !skip && !result;
	b->sum.failed += result != SYMLOG_OK;
	b->broken |= result == SYMLOG_FAILED;
	pthread_mutex_unlock(&b->lock);
}

int symlog_batch(struct symlog_list *logs, const struct symlog_batch_options *options,
		 struct symlog_batch *ret, struct sc_error *err)
{
	struct batch b = { .logs = logs, .options = options, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc = symlog_outputs(logs, options->output_dir, options->format, &b.outputs,
				&b.sum.failed, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < logs->num; i++)
		b.size += logs->logs[i].size;
	b.filters = calloc(options->jobs, sizeof(struct symlog_filter *));
	if (b.filters)
		sc_parallel(options->jobs, logs->num, work, &b);
	for (unsigned i = 0; b.filters && i < options->jobs; i++)
		end_filter(&b, &b.filters[i]);
	*ret = b.sum;
	ret->broken = b.broken;
	rc = b.filters && !b.no_memory ? 0 : sc_no_memory(err);
	free(b.filters);
	free(b.outputs);
	return rc;
}
