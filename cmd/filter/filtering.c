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

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/filter/log_input.h"
#include "cmd/filter/resolver.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/utf8.h"
#include "symcache/error.h"

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

	if (!sc_write_all(f->fd, data, len))
		return 0;
	f->write_error = errno;
	return 1;
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

static void add_printable(struct filtering *f, const char *text, size_t len)
{
	char *shown = sc_printable(text, len) ? NULL : must_calloc(4, len);

	add_complaint(f, shown ? shown : text, shown ? sc_make_printable(text, len, shown) : len);
	free(shown);
}

static void complain(void *ctx, const char *data, size_t len)
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
}

/* ---- creation ------------------------------------------------------------------- */

int filtering_create(const struct markup_options *options, const struct filtering_sources *from,
		     unsigned threads, enum complaints complaints, struct markup_tally *tally,
		     struct filtering **ret)
{
	const bool llvm = options->dialect == MARKUP_LLVM;
	const enum symcache_bytes bytes = options->format == MARKUP_JSON ? SYMCACHE_BYTES_CACHED :
		from->raw ? SYMCACHE_BYTES_ORIGINAL : SYMCACHE_BYTES_PRINTABLE;
	const struct symcache_names_options names = {
		.paths = llvm ? SYMCACHE_PATHS_RAW : SYMCACHE_PATHS_CLEAN,
		.table = llvm ? SYMCACHE_TABLE_OUTERMOST : SYMCACHE_TABLE_NEVER,
		.llvm = llvm,
		.bytes = bytes,
	};
	const struct symcache_names_options line_names = {
		.paths = SYMCACHE_PATHS_CLEAN,
		.table = SYMCACHE_TABLE_OUTERMOST,
		.bytes = bytes,
	};
	struct filtering *f = must_calloc(1, sizeof(*f));
	const struct markup_sink sink = {
		f, write_output, complaints == COMPLAINTS_NONE ? NULL : complain, .tally = tally,
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
		.caches = from->caches, .names = f->names, .line_names = f->line_names, .llvm = llvm,
		.modules = from->modules, .num_modules = from->num_modules,
	};
	for (unsigned i = 0; i < threads; i++) {
		f->resolvers[i] = resolver_create(&resolving);
		functions[i] = resolver_functions(f->resolvers[i]);
	}
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
	for (unsigned i = 0; i < f->threads; i++)
		resolver_destroy(f->resolvers[i]);
	symcache_names_destroy(f->names);
	symcache_names_destroy(f->line_names);
	free(f->resolvers);
	free(f->complaints);
	free(f);
}

const struct markup_filter *filtering_filter(const struct filtering *f)
{
	return f->filter;
}

/* ---- one log --------------------------------------------------------------------- */

/* Feeds all of an input; nonzero: of markup_filter_added(). *read: all of it could
 * be read. */
static int feed(struct filtering *f, struct log_input *in, bool alone, bool *read)
{
	struct sc_error err;
	size_t room, len;
	int rc = 0;

	markup_filter_input(f->filter, in->name);
	while (!rc) {
		char *to = markup_filter_room(f->filter, &room);
		*read = !log_input_read(in, to, room, &len, &err);
		if (!*read)
			cmd_error("%s", err.msg);
		if (!*read || !len)
			break;
		rc = markup_filter_added(f->filter, len);
		if (rc || log_input_wait(in, 0))
			continue;
		rc = markup_filter_flush(f->filter);
		flush_complaints(f);
		if (alone && !rc && !log_input_wait(in, PAUSE_MS))
			symcache_caches_settle(f->caches);
	}
	return rc ? rc : markup_filter_finish(f->filter);
}

static enum filtering_result failed(struct filtering *f, int rc)
{
	if (rc == -EIO)
		cmd_error("cannot write to %s: %s", f->output ? f->output : "standard output", strerror(f->write_error));
	else
		cmd_error("out of memory");
	return FILTERING_FAILED;
}

enum filtering_result filtering_run(struct filtering *f, const char *path, int fd,
				    const char *name, bool alone)
{
	struct log_input in;
	struct sc_error err;
	bool read = true;
	int rc;

	if (log_input_open(&in, path, &err)) {
		cmd_error("%s", err.msg);
		return FILTERING_NO_INPUT;
	}
	f->fd = fd;
	f->output = name;
	rc = feed(f, &in, alone, &read);
	log_input_close(&in);
	flush_complaints(f);
	if (rc)
		return failed(f, rc);
	return read ? FILTERING_OK : FILTERING_CUT;
}

enum filtering_result filtering_end(struct filtering *f)
{
	int rc = markup_filter_end(f->filter);
	return rc ? failed(f, rc) : FILTERING_OK;
}
