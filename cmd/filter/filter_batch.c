/*
 * Many logs, each into a file of its own: see filtering.h.
 *
 * An output is put in its place when it is whole; so what is there is finished, and is
 * left alone next time unless the log has changed since. That of a log that could not be
 * read to its end is kept, too, but dated before its log.
 */
#include <fts.h>
#include <inttypes.h>
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
#include "cmd/filter/log_input.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/parallel.h"
#include "symcache/error.h"

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- which logs ---------------------------------------------------------------- */

static void add_log(struct log_list *l, const char *path, size_t skip, uint64_t size)
{
	if (l->num == l->cap) {
		l->cap = 2 * l->cap + 16;
		l->logs = must_realloc(l->logs, l->cap * sizeof(*l->logs));
	}
	struct log_file *log = &l->logs[l->num++];

	*log = (struct log_file){ .path = must_asprintf("%s", path), .size = size };
	log->rest = log->path + skip;
}

/* Where the part of a path begins that its output keeps. */
static size_t kept_from(const char *path)
{
	size_t from = 0;

	for (const char *at = path; *at; at += *at == '/') {
		const size_t len = strcspn(at, "/");

		if (!len || (len == 1 && *at == '.') || (len == 2 && !memcmp(at, "..", 2)))
			from = (size_t)(at - path) + len + (at[len] == '/');
		at += len;
	}
	return from;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_folder(struct log_list *l, const char *path, bool alone)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	const FTSENT *e;
	uint64_t links = 0;

	while (fts && (e = fts_read(fts))) {
		switch (e->fts_info) {
		case FTS_D:
			if (l->except && same_file(e->fts_path, l->except))
				fts_set(fts, (FTSENT *)e, FTS_SKIP);
			break;
		case FTS_F: {
			size_t skip = alone ? strlen(path) : kept_from(e->fts_path);

			while (e->fts_path[skip] == '/')
				skip++;
			add_log(l, e->fts_path, skip, (uint64_t)e->fts_statp->st_size);
			break;
		}
		case FTS_SL:
		case FTS_SLNONE:
			links++;
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			cmd_error("%s: %s", e->fts_path, strerror(e->fts_errno));
			l->failed = true;
		}
	}
	if (links)
		cmd_error("%s: %" PRIu64 " symbolic link%s left out", path, links,
			  links == 1 ? "" : "s");
	if (fts)
		fts_close(fts);
}

void log_list_add(struct log_list *l, const char *path, bool alone)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st))
		st = (struct stat){ 0 };
	if (S_ISDIR(st.st_mode))
		add_folder(l, path, alone);
	else
		add_log(l, path, !alone ? kept_from(path) :
			slash ? (size_t)(slash + 1 - path) : 0, (uint64_t)st.st_size);
}

void log_list_deinit(struct log_list *l)
{
	for (size_t i = 0; i < l->num; i++)
		free(l->logs[i].path);
	free(l->logs);
}

/* ---- where to --------------------------------------------------------------------- */

/* The path of the output of a log, on the heap. */
static char *output_path(const struct batch_options *options, const char *rest)
{
	return must_asprintf("%s/%.*s%s", options->output_dir,
			     (int)(strlen(rest) - packed_suffix(rest)), rest,
			     markup_format_suffixes[options->markup.format]);
}

struct batch {
	const struct log_list *logs;
	const struct batch_options *options;
	const struct filtering_sources *from;
	struct markup_tally *tally;
	char **outputs;     /* of each log; NULL: has none, which was reported */
	struct filtering **filterings; /* of each thread, made when it first needs one */
	pthread_mutex_t lock; /* of what follows */
	struct progress progress;
	uint64_t size, done; /* bytes of logs */
	size_t filtered, skipped, failed;
	atomic_bool broken; /* nothing can be written any more */
};

static int by_text(const void *a, const void *b)
{
	return strcmp(**(char **const *)a, **(char **const *)b);
}

/* No two logs may go into one file. */
static void choose_outputs(struct batch *b)
{
	const size_t num = b->logs->num;
	char ***sorted = must_calloc(num + 1, sizeof(*sorted));

	b->outputs = must_calloc(num + 1, sizeof(*b->outputs));
	for (size_t i = 0; i < num; i++) {
		b->outputs[i] = output_path(b->options, b->logs->logs[i].rest);
		sorted[i] = &b->outputs[i];
	}
	if (num)
		qsort(sorted, num, sizeof(*sorted), by_text);
	for (size_t i = 1; i < num; i++) {
		if (strcmp(*sorted[i - 1], *sorted[i]))
			continue;
		/* The one that is left keeps its place in the comparison. */
		size_t first = (size_t)(sorted[i - 1] - b->outputs);
		size_t second = (size_t)(sorted[i] - b->outputs);
		size_t out = first > second ? first : second;
		cmd_error("%s and %s would both become %s: the second is left out",
			  b->logs->logs[first + second - out].path, b->logs->logs[out].path,
			  b->outputs[out]);
		sorted[i] = &b->outputs[first + second - out];
		free(b->outputs[out]);
		b->outputs[out] = NULL;
		b->failed++;
	}
	free(sorted);
}

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
	enum filtering_result result = FILTERING_NO_INPUT;
	struct sc_new_file file;
	struct sc_error err;

	if (same_file(log, output)) {
		cmd_error("%s: its output would overwrite it", log);
		return result;
	}
	if (sc_make_parents(output, &err) || sc_new_file_open(output, false, &file, &err)) {
		cmd_error("%s", err.msg);
		return result;
	}
	result = filtering_run(f, log, file.fd, output, false);
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
	const struct log_file *log = &b->logs->logs[i];
	char *output = b->outputs[i];
	enum filtering_result result = FILTERING_OK;
	bool skip;

	if (!output || b->broken)
		return;
	skip = !same_file(log->path, output) && finished(log->path, output);
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

int filter_batch(const struct log_list *logs, const struct batch_options *options,
		 const struct filtering_sources *from, struct markup_tally *tally)
{
	struct batch b = { .logs = logs, .options = options, .from = from,
			   .tally = tally, .lock = PTHREAD_MUTEX_INITIALIZER };

	progress_init(&b.progress, "filtering", options->quiet);
	b.progress.bytes = true;
	choose_outputs(&b);
	for (size_t i = 0; i < logs->num; i++)
		b.size += logs->logs[i].size;
	b.filterings = must_calloc(options->jobs, sizeof(struct filtering *));
	sc_parallel(options->jobs, logs->num, work, &b);
	for (unsigned i = 0; i < options->jobs; i++)
		end_filtering(&b, &b.filterings[i]);
	free(b.filterings);
	progress_erase(&b.progress);
	for (size_t i = 0; i < logs->num; i++)
		free(b.outputs[i]);
	free(b.outputs);
	if (!options->quiet)
		cmd_error("%zu log%s filtered, %zu finished before, %zu failed", b.filtered,
			  b.filtered == 1 ? "" : "s", b.skipped, b.failed);
	if (!options->quiet && b.skipped && !b.filtered && !b.failed)
		cmd_error("nothing to do: the outputs in %s are newer than their logs",
			  options->output_dir);
	return b.broken ? STATUS_ERROR : b.failed || logs->failed ? STATUS_PARTLY : STATUS_OK;
}
