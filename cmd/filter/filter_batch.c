/*
 * Many logs, each into a file of its own: see filtering.h.
 *
 * A log's output is written next to its place under another name and renamed when
 * it is whole; so what is there is finished, and is left alone next time unless
 * the log has changed since. That of a log that could not be read to its end is
 * kept, too, but dated before its log.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <libgen.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/filter/filtering.h"
#include "libsymcache/base/file.h"
#include "symcache/error.h"

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- which logs ---------------------------------------------------------------- */

static void add_log(struct log_list *l, const char *path, size_t skip)
{
	if (l->num == l->cap) {
		l->cap = 2 * l->cap + 16;
		l->logs = must_realloc(l->logs, l->cap * sizeof(*l->logs));
	}
	struct log_file *log = &l->logs[l->num++];
	log->path = must_asprintf("%s", path);
	log->rest = log->path + skip;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_folder(struct log_list *l, const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
	const FTSENT *e;

	while (fts && (e = fts_read(fts))) {
		switch (e->fts_info) {
		case FTS_D:
			if (l->except && same_file(e->fts_path, l->except))
				fts_set(fts, (FTSENT *)e, FTS_SKIP);
			break;
		case FTS_F: {
			size_t skip = strlen(path);
			while (e->fts_path[skip] == '/')
				skip++;
			add_log(l, e->fts_path, skip);
			break;
		}
		case FTS_DC:
			cmd_error("%s: leads back to a folder above it; left out", e->fts_path);
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			cmd_error("%s: %s", e->fts_path, strerror(e->fts_errno));
			l->failed = true;
		}
	}
	if (fts)
		fts_close(fts);
}

void log_list_add(struct log_list *l, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (strcmp(path, "-") && !stat(path, &st) && S_ISDIR(st.st_mode))
		add_folder(l, path);
	else
		add_log(l, path, slash ? (size_t)(slash + 1 - path) : 0);
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
	static const char *const packed[] = { ".gz", ".xz", ".zst" };
	size_t len = strlen(rest);

	for (size_t i = 0; i < sizeof(packed) / sizeof(packed[0]); i++) {
		size_t n = strlen(packed[i]);
		if (len > n && !strcmp(rest + len - n, packed[i]) && rest[len - n - 1] != '/') {
			len -= n;
			break;
		}
	}
	return must_asprintf("%s/%.*s%s", options->output_dir, (int)len, rest,
			     markup_format_suffixes[options->markup.format]);
}

struct batch {
	const struct log_list *logs;
	const struct batch_options *options;
	struct symcache_caches *caches;
	struct markup_tally *tally;
	char **outputs;     /* of each log; NULL: has none, which was reported */
	pthread_mutex_t lock;
	struct progress progress;
	size_t next, done, filtered, skipped, failed;
	bool broken;        /* nothing can be written any more */
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
		b->done++;
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
static enum filtering_result filter_log(struct filtering *f, const char *log, const char *output)
{
	char *copy = must_asprintf("%s", output), *folder = dirname(copy);
	char *part = must_asprintf("%s/.%s.part", folder, strrchr(output, '/') + 1);
	enum filtering_result result = FILTERING_NO_INPUT;
	struct sc_error err;
	int fd = -1;

	if (same_file(log, output)) {
		cmd_error("%s: its output would overwrite it", log);
	} else if (sc_make_parents(part, &err)) {
		cmd_error("%s", err.msg);
	} else if ((fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0) {
		cmd_error("cannot write %s: %s", part, strerror(errno));
	} else {
		result = filtering_run(f, log, fd, part, false);
		if (result <= FILTERING_CUT && filtering_end(f))
			result = FILTERING_FAILED;
		if (result == FILTERING_CUT)
			outdate(fd, log);
		if (close(fd) && result <= FILTERING_CUT) {
			cmd_error("cannot write %s: %s", part, strerror(errno));
			result = FILTERING_FAILED;
		}
		if (result <= FILTERING_CUT && rename(part, output)) {
			cmd_error("cannot rename %s: %s", part, strerror(errno));
			result = FILTERING_NO_INPUT;
		}
		if (result > FILTERING_CUT)
			unlink(part);
	}
	free(copy);
	free(part);
	return result;
}

/* ---- the threads ---------------------------------------------------------------------- */

/* The next log, or false. */
static bool take(struct batch *b, size_t *ret)
{
	bool there;

	pthread_mutex_lock(&b->lock);
	while (b->next < b->logs->num && !b->outputs[b->next])
		b->next++;
	there = b->next < b->logs->num && !b->broken;
	if (there) {
		*ret = b->next++;
		progress_update(&b->progress, b->done, b->logs->num, b->logs->logs[*ret].path);
	}
	pthread_mutex_unlock(&b->lock);
	return there;
}

/* A page of HTML is made by a filter of its own. */
static struct filtering *new_filtering(const struct batch *b, const char *log)
{
	struct markup_options options = b->options->markup;
	struct filtering *f;

	options.title = log;
	if (!filtering_create(&options, b->caches, 1, b->options->raw_complaints, b->tally,
			      &f))
		return f;
	cmd_error("out of memory");
	return NULL;
}

static void end_filtering(struct batch *b, struct filtering *f)
{
	if (markup_tally_add(b->tally, filtering_filter(f)))
		cmd_error("out of memory");
	filtering_destroy(f);
}

static void *work(void *ctx)
{
	struct batch *b = ctx;
	struct filtering *f = NULL;
	enum filtering_result result = FILTERING_OK;
	size_t i;

	while (result != FILTERING_FAILED && take(b, &i)) {
		const char *log = b->logs->logs[i].path;
		const bool skip = !same_file(log, b->outputs[i]) && finished(log, b->outputs[i]);

		if (!f && !skip)
			f = new_filtering(b, log);
		result = skip ? FILTERING_OK :
			 f ? filter_log(f, log, b->outputs[i]) : FILTERING_FAILED;
		if (f && b->options->markup.format == MARKUP_HTML) {
			end_filtering(b, f);
			f = NULL;
		}
		pthread_mutex_lock(&b->lock);
		b->done++;
		b->skipped += skip;
		b->filtered += !skip && !result;
		b->failed += result != FILTERING_OK;
		b->broken |= result == FILTERING_FAILED;
		pthread_mutex_unlock(&b->lock);
	}
	if (f)
		end_filtering(b, f);
	return NULL;
}

int filter_batch(const struct log_list *logs, const struct batch_options *options,
		 struct symcache_caches *caches, struct markup_tally *tally)
{
	struct batch b = { .logs = logs, .options = options, .caches = caches,
			   .tally = tally, .lock = PTHREAD_MUTEX_INITIALIZER };
	pthread_t threads[64];
	unsigned running = 0;

	progress_init(&b.progress, "filtering", options->quiet);
	choose_outputs(&b);
	while (running + 1 < options->jobs && running < 63 && running + 1 < logs->num &&
	       !pthread_create(&threads[running], NULL, work, &b))
		running++;
	work(&b);
	while (running)
		pthread_join(threads[--running], NULL);
	progress_erase(&b.progress);
	for (size_t i = 0; i < logs->num; i++)
		free(b.outputs[i]);
	free(b.outputs);
	if (!options->quiet)
		cmd_error("%zu logs filtered, %zu were finished already, %zu failed", b.filtered,
			  b.skipped, b.failed);
	return b.broken ? STATUS_ERROR : b.failed || logs->failed ? STATUS_PARTLY : STATUS_OK;
}
