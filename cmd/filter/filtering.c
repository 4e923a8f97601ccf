/*
 * One log through the filter: see filtering.h. Reads and writes large blocks; a
 * live input that has no more to give for the moment sees everything flushed,
 * and after a second's pause the caches are settled.
 */
#include "cmd/filter/filtering.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#if !defined(SC_PORTABLE) && __x86_64__ && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* AVX2: the output of a task is hashed as it is written */
#endif

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/text.h"
#include "cmd/filter/log_input.h"
#include "cmd/filter/resolver.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/utf8.h"
#include "symcache/error.h"
#include "symcache/markup.h"

enum {
	PAUSE_MS = 1000,
	GATHERED = 16 << 10, /* bytes of complaints, before they are written */
};

struct filtering {
	struct symcache_caches *caches;
	struct symcache_names *names, *line_names;
	struct resolver **resolvers; /* one for each thread */
	unsigned threads;
	struct markup_filter *filter;
	bool named;                  /* complaints begin with the name of the command */
	bool raw;                    /* and stay as they are, byte for byte */
	filtering_say_fn *say;       /* NULL: to standard error */
	void *say_ctx;
	struct text said;            /* what is being said */
	XXH3_state_t *hash;          /* of the output, or NULL */
	struct markup_groups *groups; /* NULL: logs are written as they are filtered */
	enum markup_format format;
	int fd;
	const char *output;          /* its name */
	int write_error;             /* errno */
	char *complaints;
	size_t num_complaints;       /* bytes */
};

/* ---- output -------------------------------------------------------------------- */

static int write_output(void *ctx, const char *data, size_t len)
{
	struct filtering *f = ctx;

	if (f->hash)
		XXH3_128bits_update(f->hash, data, len);
	if (!sc_write_all(f->fd, data, len))
		return 0;
	f->write_error = errno;
	return 1;
}

static int take_output(void *ctx, const char *data, size_t len)
{
	struct filtering *f = ctx;

	return f->groups ? markup_groups_take(f->groups, data, len) : write_output(f, data, len);
}

/* Complaints of one log stay together. */
static pthread_mutex_t stderr_lock = PTHREAD_MUTEX_INITIALIZER;

static void flush_complaints(struct filtering *f)
{
	pthread_mutex_lock(&stderr_lock);
	sc_write_all(STDERR_FILENO, f->complaints, f->num_complaints);
	pthread_mutex_unlock(&stderr_lock);
	f->num_complaints = 0;
}

static void add_complaint(struct filtering *f, const char *text, size_t len)
{
	if (f->say) {
		text_put(&f->said, text, len);
		return;
	}
	while (len) {
		size_t n = GATHERED - f->num_complaints;
		if (n > len)
			n = len;
		memcpy(f->complaints + f->num_complaints, text, n);
		f->num_complaints += n;
		text += n;
		len -= n;
		if (f->num_complaints == GATHERED)
			flush_complaints(f);
	}
}

/* What was added is complete. */
static void end_complaint(struct filtering *f, const struct markup_module *warns_of)
{
	if (f->say)
		f->say(f->say_ctx, warns_of, f->said.bytes, f->said.len);
	f->said.len = 0;
}

static void add_printable(struct filtering *f, const char *text, size_t len)
{
	char *shown = sc_printable(text, len) ? NULL : must_calloc(4, len);

	add_complaint(f, shown ? shown : text, shown ? sc_make_printable(text, len, shown) : len);
	free(shown);
}

static void warn(void *ctx, const struct markup_module *m, const char *data, size_t len)
{
	struct filtering *f = ctx;

	if (f->named) {
		add_complaint(f, cmd_name, strlen(cmd_name));
		add_complaint(f, ": ", 2);
	}
	if (f->raw)
		add_complaint(f, data, len);
	while (!f->raw && len) { /* LLVM's have several lines */
		const char *newline = f->named ? NULL : memchr(data, '\n', len);
		const size_t n = newline ? (size_t)(newline - data) : len - 1;

		add_printable(f, data, n);
		add_complaint(f, "\n", 1);
		data += n + 1;
		len -= n + 1;
	}
	end_complaint(f, m);
}

static void complain(void *ctx, const char *data, size_t len)
{
	warn(ctx, NULL, data, len);
}

/* What is wrong with the log as a whole comes where it is found, and is always said. */
static void complain_of_log(struct filtering *f, const char *fmt, const char *what)
{
	char *line = must(cmd_message(fmt, what));

	add_complaint(f, line, strlen(line));
	end_complaint(f, NULL);
	free(line);
}

void filtering_report_to(struct filtering *f, filtering_say_fn *say, void *ctx)
{
	f->say = say;
	f->say_ctx = ctx;
	f->raw |= say && !f->named; /* LLVM's are to the byte, but on terminals */
}

void filtering_begin(struct filtering *f, XXH3_state_t *hash)
{
	markup_filter_forget(f->filter);
	f->hash = hash;
}

/* ---- creation ------------------------------------------------------------------- */

int filtering_create(const struct markup_options *options, const struct filtering_sources *from,
		     unsigned threads, enum complaints complaints, struct markup_tally *tally,
		     struct filtering **ret)
{
	const enum symcache_bytes bytes =
		options->format == MARKUP_JSON || options->group ? SYMCACHE_BYTES_CACHED :
		from->raw ? SYMCACHE_BYTES_ORIGINAL : SYMCACHE_BYTES_PRINTABLE;
	const struct symcache_names_options names = symcache_markup_names(options, bytes);
	const struct symcache_names_options line_names = symcache_markup_line_names(bytes);
	struct filtering *f = must_calloc(1, sizeof(*f));
	const struct markup_sink sink = {
		f, take_output, complaints == COMPLAINTS_NONE ? NULL : complain, warn, tally,
	};
	struct markup_resolver *functions = must_calloc(threads, sizeof(*functions));
	int rc;

	f->caches = from->caches;
	f->threads = threads;
	f->named = complaints == COMPLAINTS_NAMED;
	f->raw = from->raw || (complaints == COMPLAINTS_LLVM && !isatty(STDERR_FILENO));
	f->complaints = must_realloc(NULL, GATHERED);
	f->names = must(symcache_names_create(&names));
	f->line_names = must(symcache_names_create(&line_names));
	f->resolvers = must_calloc(threads, sizeof(struct resolver *));
	const struct resolver_options resolving = {
		.caches = from->caches, .names = f->names, .line_names = f->line_names, .llvm = names.llvm,
		.modules = from->modules, .num_modules = from->num_modules,
		.no_files = from->no_files, .store_name = from->store_name,
	};
	for (unsigned i = 0; i < threads; i++) {
		f->resolvers[i] = resolver_create(&resolving);
		functions[i] = resolver_functions(f->resolvers[i]);
	}
	f->format = options->format;
	rc = options->group ? markup_groups_create(&f->groups) : 0;
	if (!rc)
		rc = markup_filter_create(options, functions, threads, &sink, &f->filter);
	free(functions);
	*ret = f;
	if (rc) {
		filtering_destroy(f);
		*ret = NULL;
	}
	return rc;
}

void filtering_destroy(struct filtering *f)
{
	if (!f)
		return;
	markup_filter_destroy(f->filter);
	markup_groups_destroy(f->groups);
	for (unsigned i = 0; i < f->threads; i++)
		resolver_destroy(f->resolvers[i]);
	symcache_names_destroy(f->names);
	symcache_names_destroy(f->line_names);
	free(f->resolvers);
	free(f->complaints);
	free(f->said.bytes);
	free(f);
}

struct markup_filter *filtering_filter(const struct filtering *f)
{
	return f->filter;
}

/* ---- one log --------------------------------------------------------------------- */

/* Feeds all of an input; nonzero: of markup_filter_added(). log->error: not all of it could
 * be read. */
static int feed(struct filtering *f, struct log_input *in, struct filtering_log *log)
{
	struct log_input_again again = { .first = in };
	struct sc_error err;
	bool rereadable = !in->live;
	size_t room, len;
	int rc = 0;

	markup_filter_input(f->filter, in->name);
	if (rereadable)
		markup_filter_again(f->filter, log_input_read_again, &again);
	if (log->saved)
		rc = markup_filter_resume(f->filter, log->lines, log->saved, log->saved_len);
	while (!rc) {
		char *to = markup_filter_room(f->filter, &room);
		log->error = log_input_read(in, to, room, &len, &err);
		if (!log->read && in->misnamed)
			complain_of_log(f, LOG_INPUT_MISNAMED, in->name);
		if (log->error || !len)
			break;
		if (!log->read && !rereadable && log_input_hold(in, to, len)) {
			rereadable = true;
			markup_filter_again(f->filter, log_input_read_again, &again);
			continue;
		}
		log->read += len;
		rc = markup_filter_added(f->filter, len);
		if (rc || log_input_wait(in, 0))
			continue;
		rc = markup_filter_flush(f->filter);
		flush_complaints(f);
		if (log->alone && !rc && !log_input_wait(in, PAUSE_MS))
			symcache_caches_settle(f->caches);
	}
	if (!rc)
		rc = log->goes_on ? markup_filter_flush(f->filter) : markup_filter_finish(f->filter);
	log_input_again_close(&again);
	if (log->error)
		complain_of_log(f, "%s", err.msg);
	return rc;
}

static enum filtering_result failed(struct filtering *f, int rc)
{
	if (rc == -EIO && f->write_error)
		cmd_error("cannot write to %s: %s", f->output ? f->output : "standard output", strerror(f->write_error));
	else if (rc == -EINVAL)
		cmd_error("%s: what is known where its part begins is damaged", f->output);
	else
		cmd_error("out of memory");
	return FILTERING_FAILED;
}

enum filtering_result filtering_run(struct filtering *f, struct filtering_log *log, int fd,
				    const char *name)
{
	struct log_input in;
	struct sc_error err;
	int rc;

	log->read = 0;
	log->error = log_input_open(&in, log->path, &err);
	if (!log->error && log->part)
		log->error = log_input_range(&in, log->from, log->to, &err);
	if (log->error) {
		complain_of_log(f, "%s", err.msg);
		flush_complaints(f);
		return FILTERING_NO_INPUT;
	}
	in.name = log->shown && !in.live ? log->shown : in.name;
	f->fd = fd;
	f->output = name;
	rc = feed(f, &in, log);
	log_input_close(&in);
	flush_complaints(f);
	if (rc)
		return failed(f, rc);
	return log->error ? FILTERING_CUT : FILTERING_OK;
}

enum filtering_result filtering_end(struct filtering *f)
{
	int rc = markup_filter_end(f->filter);

	if (!rc && f->groups)
		rc = markup_groups_write(f->groups, f->format, write_output, f);
	return rc ? failed(f, rc) : FILTERING_OK;
}
