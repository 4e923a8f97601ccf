/*
 * Many logs, each into a file of its own: see logs.h.
 *
 * An output is put in its place when it is whole, and then recorded, with size, date and hash of
 * its log; what is recorded is left alone next time, unless the log or the output has changed
 * since. That of a log that could not be read to its end is kept, too, but not recorded.
 *
 * An output is synced before it gets its name, which is a wait for the disk of a millisecond or more,
 * but of many at once hardly longer: so that is done by threads of its own, SYNCERS of them.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include <xxhash.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/text.h"
#include "libsymcache/logs/input.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/plan/plan.h"

enum { SYNCERS = 16, WRITTEN = 16 };

/* An output that is whole, and goes to its place. */
struct written {
	struct sc_new_file file;
	const struct symlog_file *log;
	const char *output;
	enum symlog_result result;
	struct markup_finished_log made;
};

struct batch {
	const struct symlog_list *logs;
	const struct symlog_batch_options *options;
	char **outputs;       /* of each log; NULL: has none, which was reported */
	struct symlog_filter **filters; /* of each thread, made when it first needs one */
	struct markup_finished *finished;
	size_t dir;           /* length of the output folder's name */
	pthread_mutex_t lock; /* of what follows */
	uint64_t size, done;  /* bytes of logs */
	struct symlog_batch sum;
	struct written written[WRITTEN]; /* the next of them, from first_written on, around the end */
	size_t first_written, num_written;
	bool no_more;         /* are written */
	pthread_cond_t came, went; /* one of them */
	unsigned syncers;     /* constant; 0: there are none */
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
				     const struct symlog_file *log,
				     const struct sc_new_file *file, XXH3_state_t *hash,
				     uint64_t *size)
{
	struct symlog_filter **f = &b->filters[worker];
	struct markup_options markup = *b->options->how->markup;
	struct symlog_filter_options how = *b->options->how;
	struct symlog of = { .path = log->path, .output = { file->fd, file->path },
			     .hash = hash };
	enum symlog_result result = SYMLOG_FAILED;
	struct sc_error err;

	markup.title = log->path;
	how.markup = &markup;
	if (*f || !symlog_filter_create(&how, f, &err))
		result = symlog_filter_run(*f, &of, &err);
	*size = of.taken;
	if (result <= SYMLOG_CUT && symlog_filter_end(*f, &err))
		result = SYMLOG_FAILED;
	if (result == SYMLOG_FAILED)
		b->options->fault(b->options->ctx, err.msg);
	if (markup_form_of(&markup)->whole_page)
		end_filter(b, f);
	return result;
}

/* The hash of the whole log, and its size. False: it cannot be read. */
static bool hash_log(const char *path, char ret[SC_HASH_TEXT], uint64_t *size)
{
	__attribute__((cleanup(sc_close_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[1 << 16];
	XXH3_state_t state;
	ssize_t n = -1;

	XXH3_128bits_reset(&state);
	*size = 0;
	while (fd >= 0 && (n = read(fd, block, sizeof(block))) > 0) {
		XXH3_128bits_update(&state, block, (size_t)n);
		*size += (uint64_t)n;
	}
	sc_hash_text(sc_hash_digest(&state), ret);
	return !n;
}

/* Adds to the record that the output is made of the log as it was when logs were listed. */
static int record(struct batch *b, struct markup_finished_log *of, const struct symlog_file *log,
		  const char *output, struct sc_error *err)
{
	of->output = output + b->dir + 1;
	of->size = log->size;
	of->mtime = log->mtime;
	return markup_finished_add(b->finished, of, err);
}

/* Is the output what was made of this log? Of one that has another date only, its hash is
 * compared. */
static bool finished(struct batch *b, const struct symlog_file *log, const char *output)
{
	struct markup_finished_log made;
	char hash[SC_HASH_TEXT];
	uint64_t size;

	if (!markup_finished_find(b->finished, output + b->dir + 1, &made) ||
	    made.size != log->size)
		return false;
	if (made.mtime == log->mtime)
		return true;
	return hash_log(log->path, hash, &size) && size == log->size && !strcmp(hash, made.hash) &&
	       !record(b, &made, log, output, NULL);
}

/* Filters into the open file; *of gets the hash. SYMLOG_OK without a hash: it changed meanwhile. */
static enum symlog_result filter_into(struct batch *b, unsigned worker,
				      const struct symlog_file *log,
				      const struct sc_new_file *file,
				      struct markup_finished_log *of)
{
	const struct symlog_batch_options *o = b->options;
	enum symlog_result result;
	XXH3_state_t state;
	uint64_t size;

	XXH3_128bits_reset(&state);
	if (!o->filter) {
		result = run_filter(b, worker, log, file, &state, &size);
		sc_hash_text(sc_hash_digest(&state), of->hash);
	} else {
		result = o->filter(o->ctx, worker, log, file->fd, file->path);
		if (result == SYMLOG_OK && !hash_log(log->path, of->hash, &size))
			size = UINT64_MAX;
	}
	if (result == SYMLOG_OK && size != log->size)
		of->hash[0] = 0;
	return result;
}

/* ---- outputs in their places ---------------------------------------------------------- */

/* Counts a log that is done. */
static void count(struct batch *b, const struct symlog_file *log, bool skip,
		  enum symlog_result result)
{
	pthread_mutex_lock(&b->lock);
	b->done += log->size;
	b->sum.skipped += skip;
	b->sum.filtered += !skip && !result;
	b->sum.failed += result != SYMLOG_OK;
	b->broken |= result == SYMLOG_FAILED;
	pthread_mutex_unlock(&b->lock);
}

static void put_in_place(struct batch *b, struct written *w)
{
	const struct symlog_batch_options *o = b->options;
	struct sc_error err;

	if (sc_new_file_commit(&w->file, &err) ||
	    (w->result != SYMLOG_CUT && w->made.hash[0] &&
	     record(b, &w->made, w->log, w->output, &err))) {
		o->fault(o->ctx, err.msg);
		w->result = SYMLOG_FAILED;
	}
	count(b, w->log, false, w->result);
}

static void *sync_outputs(void *arg)
{
	struct batch *b = arg;

	pthread_mutex_lock(&b->lock);
	while (1) {
		struct written w;

		while (!b->num_written && !b->no_more)
			pthread_cond_wait(&b->came, &b->lock);
		if (!b->num_written)
			break;
		w = b->written[b->first_written];
		b->first_written = (b->first_written + 1) % WRITTEN;
		b->num_written--;
		pthread_cond_signal(&b->went);
		pthread_mutex_unlock(&b->lock);
		put_in_place(b, &w);
		pthread_mutex_lock(&b->lock);
	}
	pthread_mutex_unlock(&b->lock);
	return NULL;
}

/* Has another thread put it in its place, if there is one. */
static void hand_over(struct batch *b, struct written *w)
{
	if (!b->syncers) {
		put_in_place(b, w);
		return;
	}
	pthread_mutex_lock(&b->lock);
	while (b->num_written == WRITTEN)
		pthread_cond_wait(&b->went, &b->lock);
	b->written[(b->first_written + b->num_written++) % WRITTEN] = *w;
	pthread_cond_signal(&b->came);
	pthread_mutex_unlock(&b->lock);
}

/* ---- all logs ------------------------------------------------------------------------ */

/* SYMLOG_OK: the output is written, and handed over. SYMLOG_NO_INPUT also if it cannot be made. */
static enum symlog_result filter_log(struct batch *b, unsigned worker,
				     const struct symlog_file *log, const char *output)
{
	const struct symlog_batch_options *o = b->options;
	struct written w = { .file = { .fd = -1 }, .log = log, .output = output };
	struct sc_error err;

	if (sc_same_file(log->path, output)) {
		char *text __attribute__((cleanup(sc_free_text))) =
			sc_text("%s: its output would overwrite it", log->path);

		o->fault(o->ctx, text ? text : "out of memory");
		return SYMLOG_NO_INPUT;
	}
	if (sc_new_file_below(output, b->dir, &w.file, &err)) {
		o->fault(o->ctx, err.msg);
		return SYMLOG_NO_INPUT;
	}
	w.result = filter_into(b, worker, log, &w.file, &w.made);
	if (w.result > SYMLOG_CUT) {
		sc_new_file_discard(&w.file);
		return w.result;
	}
	hand_over(b, &w);
	return SYMLOG_OK;
}

static void work(void *ctx, unsigned worker, size_t i)
{
	struct batch *b = ctx;
	const struct symlog_file *log = &b->logs->logs[i];
	const char *output = b->outputs[i];
	enum symlog_result result = SYMLOG_OK;
	bool skip;

	if (!output || b->broken)
		return;
	skip = !sc_same_file(log->path, output) && finished(b, log, output);
	pthread_mutex_lock(&b->lock);
	b->options->progress(b->options->ctx, b->done, b->size, log->path);
	pthread_mutex_unlock(&b->lock);
	if (!skip)
		result = filter_log(b, worker, log, output);
	if (skip || result)
		count(b, log, skip, result);
}

/* Filters all, and has their outputs put in their places. */
static void run(struct batch *b)
{
	const size_t most = b->logs->num < SYNCERS ? b->logs->num : SYNCERS;
	pthread_t syncers[SYNCERS];

	while (b->syncers < most && sc_thread_start(&syncers[b->syncers], sync_outputs, b))
		b->syncers++;
	sc_parallel(b->options->jobs, b->logs->num, work, b);
	pthread_mutex_lock(&b->lock);
	b->no_more = true;
	pthread_cond_broadcast(&b->came);
	pthread_mutex_unlock(&b->lock);
	for (unsigned i = 0; i < b->syncers; i++)
		pthread_join(syncers[i], NULL);
}

int symlog_batch(struct symlog_list *logs, const struct symlog_batch_options *options,
		 struct symlog_batch *ret, struct sc_error *err)
{
	struct batch b = { .logs = logs, .options = options, .lock = PTHREAD_MUTEX_INITIALIZER,
			   .came = PTHREAD_COND_INITIALIZER, .went = PTHREAD_COND_INITIALIZER };
	int rc = symlog_outputs(logs, options->output_dir, options->format, &b.outputs,
				&b.sum.failed, err);

	*ret = (struct symlog_batch){ 0 };
	if (!rc && logs->num)
		rc = markup_finished_open(options->output_dir, &b.finished, err);
	if (rc) {
		free(b.outputs);
		return rc;
	}
	b.dir = strlen(options->output_dir);
	for (size_t i = 0; i < logs->num; i++)
		b.size += logs->logs[i].size;
	b.filters = calloc(options->jobs, sizeof(struct symlog_filter *));
	if (b.filters)
		run(&b);
	for (unsigned i = 0; b.filters && i < options->jobs; i++)
		end_filter(&b, &b.filters[i]);
	*ret = b.sum;
	ret->broken = b.broken;
	rc = b.filters && !b.no_memory ? 0 : sc_no_memory(err);
	markup_finished_close(b.finished);
	free(b.filters);
	free(b.outputs);
	return rc;
}
