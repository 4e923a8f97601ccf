/*
 * Many logs, each into a file of its own: see filtering.h.
 *
 * An output is put in its place when it is whole; so what is there is finished, and is
 * left alone next time unless the log has changed since. That of a log that could not be
 * read to its end is kept, too, but dated before its log.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/filter/filtering.h"
#include "symcache/logs.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/parallel.h"
#include "symcache/error.h"

struct batch {
	const struct symlog_list *logs;
	const struct batch_options *options;
	const struct symlog_sources *from;
	struct markup_tally *tally;
	char **outputs;     /* of each log; NULL: has none, which was reported */
	struct filtering **filterings; /* of each thread, made when it first needs one */
	pthread_mutex_t lock; /* of what follows */
	struct progress progress;
	uint64_t size, done; /* bytes of logs */
	size_t filtered, skipped, failed;
	atomic_bool broken; /* nothing can be written any more */
};

/* ---- one log ----------------------------------------------------------------------- */

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

/* FILTERING_NO_INPUT also if the output cannot be made. */
static enum filtering_result filter_log(struct filtering *f, const char *log, char *output)
{
	struct symlog of = { .path = log };
	enum filtering_result result = FILTERING_NO_INPUT;
	struct sc_new_file file;
	struct sc_error err;

	if (symlog_same_file(log, output)) {
		cmd_error("%s: its output would overwrite it", log);
		return result;
	}
	if (sc_make_parents(output, &err) || sc_new_file_open(output, false, &file, &err)) {
		cmd_error("%s", err.msg);
		return result;
	}
	result = filtering_run(f, &of, file.fd, output);
	if (result <= FILTERING_CUT && filtering_end(f))
		result = FILTERING_FAILED;
	if (result == FILTERING_CUT)
		outdate(file.fd, log);
	if (result <= FILTERING_CUT && sc_new_file_commit(&file, &err)) {
		cmd_error("%s", err.msg);
		result = FILTERING_FAILED;
	}
	sc_new_file_discard(&file);
	return result;
}

/* ---- all logs ------------------------------------------------------------------------ */

/* A page of HTML is made by a filter of its own. */
static struct filtering *new_filtering(const struct batch *b, const char *log)
{
	struct markup_options options = b->options->markup;
	struct filtering *f;

	options.title = log;
	if (!filtering_create(&options, b->from, 1, b->options->complaints, b->tally, &f))
		return f;
	cmd_error("out of memory");
	return NULL;
}

static void end_filtering(struct batch *b, struct filtering **f)
{
	if (!*f)
		return;
	if (markup_tally_add(b->tally, filtering_filter(*f)))
		cmd_error("out of memory");
	filtering_destroy(*f);
	*f = NULL;
}

static void work(void *ctx, unsigned worker, size_t i)
{
	struct batch *b = ctx;
	struct filtering **f = &b->filterings[worker];
	const struct symlog_file *log = &b->logs->logs[i];
	char *output = b->outputs[i];
	enum filtering_result result = FILTERING_OK;
	bool skip;

	if (!output || b->broken)
		return;
	skip = !symlog_same_file(log->path, output) && finished(log->path, output);
	pthread_mutex_lock(&b->lock);
	progress_update(&b->progress, b->done, b->size, log->path);
	pthread_mutex_unlock(&b->lock);
	if (!skip && !*f)
		*f = new_filtering(b, log->path);
	if (!skip)
		result = *f ? filter_log(*f, log->path, output) : FILTERING_FAILED;
	if (b->options->markup.format == MARKUP_HTML)
		end_filtering(b, f);
	pthread_mutex_lock(&b->lock);
	b->done += log->size;
	b->skipped += skip;
	b->filtered += !skip && !result;
	b->failed += result != FILTERING_OK;
	b->broken |= result == FILTERING_FAILED;
	pthread_mutex_unlock(&b->lock);
}

int filter_batch(struct symlog_list *logs, const struct batch_options *options,
		 const struct symlog_sources *from, struct markup_tally *tally)
{
	struct batch b = { .logs = logs, .options = options, .from = from,
			   .tally = tally, .lock = PTHREAD_MUTEX_INITIALIZER };

	progress_init(&b.progress, "filtering", options->quiet);
	b.progress.bytes = true;
	if (symlog_outputs(logs, options->output_dir, options->markup.format, &b.outputs, &b.failed,
			   NULL))
		must(NULL);
	for (size_t i = 0; i < logs->num; i++)
		b.size += logs->logs[i].size;
	b.filterings = must_calloc(options->jobs, sizeof(struct filtering *));
	sc_parallel(options->jobs, logs->num, work, &b);
	for (unsigned i = 0; i < options->jobs; i++)
		end_filtering(&b, &b.filterings[i]);
	free(b.filterings);
	progress_erase(&b.progress);
	free(b.outputs);
	if (!options->quiet)
		cmd_error("%zu log%s filtered, %zu finished before, %zu failed", b.filtered,
			  b.filtered == 1 ? "" : "s", b.skipped, b.failed);
	if (!options->quiet && b.skipped && !b.filtered && !b.failed)
		cmd_error("nothing to do: the outputs in %s are newer than their logs",
			  options->output_dir);
	return b.broken ? STATUS_ERROR : b.failed || logs->failed ? STATUS_PARTLY : STATUS_OK;
}
