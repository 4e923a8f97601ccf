/*
 * What a filter of logs says and writes: see filtering.h. Complaints gather, so that those of
 * one log stay together.
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

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "libmarkup/bytes/out.h"
#include "libsymcache/base/file.h"

enum { GATHERED = 16 << 10 }; /* bytes of complaints, before they are written */

struct filtering {
	struct symlog_filter *filter;
	bool named;                  /* complaints begin with the name of the command */
	bool raw;                    /* and stay as they are, byte for byte */
	filtering_say_fn *say;       /* NULL: to standard error */
	void *say_ctx;
	struct mk_out said;          /* what is being said */
	struct mk_out complaints;    /* to be written */
	XXH3_state_t *hash;          /* of the output, or NULL */
	int fd;
	const char *output;          /* its name */
	int write_error;             /* errno */
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

static pthread_mutex_t stderr_lock = PTHREAD_MUTEX_INITIALIZER;

static void show_complaints(void *ctx)
{
	struct mk_out *t = &((struct filtering *)ctx)->complaints;

	must(t->error ? NULL : t);
	pthread_mutex_lock(&stderr_lock);
	sc_write_all(STDERR_FILENO, t->buf, t->len);
	pthread_mutex_unlock(&stderr_lock);
	t->len = 0;
}

/* What was put into `said` is complete. */
static void end_complaint(struct filtering *f, const struct markup_module *warns_of)
{
	must(f->said.error ? NULL : f);
	if (f->say)
		f->say(f->say_ctx, warns_of, f->said.buf, f->said.len);
	else
		mk_out_put(&f->complaints, f->said.buf, f->said.len);
	f->said.len = 0;
	if (f->complaints.len >= GATHERED)
		show_complaints(f);
}

static void complain(void *ctx, const struct markup_module *m, const char *data, size_t len)
{
	struct filtering *f = ctx;

	if (f->named)
		mk_put(&f->said, cmd_name, ": ");
	if (f->raw)
		mk_out_put(&f->said, data, len);
	while (!f->raw && len) { /* LLVM's have several lines */
		const char *newline = f->named ? NULL : memchr(data, '\n', len);
		const size_t n = newline ? (size_t)(newline - data) : len - 1;

		mk_put(&f->said, mk_as(mk_out_shown, ((struct markup_str){ data, n })), "\n");
		data += n + 1;
		len -= n + 1;
	}
	end_complaint(f, m);
}

/* What is wrong with the log as a whole comes where it is found, and is always said. */
static void say_fault(void *ctx, const char *message)
{
	struct filtering *f = ctx;
	char *line = must(cmd_message("%s", message));

	mk_put(&f->said, line);
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
	markup_filter_forget(filtering_filter(f));
	f->hash = hash;
}

/* ---- the filter ------------------------------------------------------------------- */

int filtering_create(const struct markup_options *options, const struct symlog_sources *from,
		     unsigned threads, enum complaints complaints, struct markup_tally *tally,
		     struct filtering **ret)
{
	struct filtering *f = must_calloc(1, sizeof(*f));
	const struct symlog_filter_options how = {
		.markup = options, .from = *from, .threads = threads, .tally = tally,
		.quiet = complaints == COMPLAINTS_NONE, .write = write_output, .complain = complain,
		.fault = say_fault, .show = show_complaints, .ctx = f,
	};
	int rc = symlog_filter_create(&how, &f->filter, NULL);

	f->named = complaints == COMPLAINTS_NAMED;
	f->raw = from->raw || (complaints == COMPLAINTS_LLVM && !isatty(STDERR_FILENO));
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
	symlog_filter_destroy(f->filter);
	mk_out_deinit(&f->complaints);
	mk_out_deinit(&f->said);
	free(f);
}

struct markup_filter *filtering_filter(const struct filtering *f)
{
	return symlog_filter_markup(f->filter);
}

static enum symlog_result result_of(struct filtering *f, int rc, const struct sc_error *err)
{
	if (!rc)
		return SYMLOG_OK;
	if (rc == SC_ESYS && f->write_error)
		cmd_error("cannot write to %s: %s", f->output ? f->output : "standard output",
			  strerror(f->write_error));
	else if (rc == SC_EFORMAT)
		cmd_error("%s: %s", f->output, err->msg);
	else
		cmd_error("out of memory");
	return SYMLOG_FAILED;
}

enum symlog_result filtering_run(struct filtering *f, struct symlog *log, int fd,
				    const char *name)
{
	struct sc_error err;
	int rc;

	f->fd = fd;
	f->output = name;
	rc = symlog_filter_run(f->filter, log, &err);
	return rc ? result_of(f, rc, &err) : !log->error ? SYMLOG_OK :
	       log->opened ? SYMLOG_CUT : SYMLOG_NO_INPUT;
}

enum symlog_result filtering_end(struct filtering *f)
{
	struct sc_error err;

	return result_of(f, symlog_filter_end(f->filter, &err), &err);
}
