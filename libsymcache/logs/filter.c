/*
 * Logs through the filter: see logs.h. Reads and writes large blocks; of a live input
 * that has no more to give for the moment all is written, and after a second's pause the
 * caches are updated.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmarkup/bytes/out.h"
#include "libsymcache/base/file.h"
#include "libsymcache/logs/input.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/logs/resolver.h"
#include "libsymcache/logs/scout.h"

enum {
	PAUSE_MS = 1000,
	GATHERED = 16 << 10, /* bytes of complaints, before they are said */
};

struct symlog_filter {
	struct symlog_filter_options options;
	struct sc_log_resolvers *resolvers;
	struct symcache_source_files *sources; /* one for each thread; NULL: none are wanted */
	struct sc_log_scout *scout;
	struct markup_filter *filter;
	struct markup_groups *groups; /* NULL: logs are written as they are filtered */
	enum markup_format format;
	bool llvm, raw;               /* complaints are LLVM's; as they are, byte for byte */
	struct mk_out complaints;     /* that are not handed on yet */
	struct symlog_output output;  /* of the last log */
	int write_error;              /* errno */
	unsigned long refusals;       /* of memory, when it began */
};

/* ---- output and complaints ------------------------------------------------------------ */

/* What is written then would say that something is not there, for which there was no memory. */
static bool short_of_memory(const struct symlog_filter *f)
{
	return sc_memory_refusals() != f->refusals;
}

static int write_output(void *ctx, const char *data, size_t len)
{
	struct symlog_filter *f = ctx;

	if (short_of_memory(f))
		return 1;
	if (f->output.hash)
		XXH3_128bits_update(f->output.hash, data, len);
	if (!sc_write_all(f->output.fd, data, len))
		return 0;
	f->write_error = errno;
	return 1;
}

static int take_output(void *ctx, const char *data, size_t len)
{
	struct symlog_filter *f = ctx;

	return f->groups ? markup_groups_take(f->groups, data, len) : write_output(f, data, len);
}

static void say(struct symlog_filter *f, const struct markup_module *warns_of)
{
	if (f->complaints.len && !f->complaints.error && !short_of_memory(f))
		f->options.say(f->output.say_ctx, warns_of, f->complaints.buf, f->complaints.len);
	f->complaints.len = 0;
}

static void begin_complaint(struct symlog_filter *f)
{
	if (f->options.name)
		mk_put(&f->complaints, f->options.name, ": ");
}

static void end_complaint(struct symlog_filter *f, const struct markup_module *warns_of)
{
	if (f->options.each || f->complaints.len >= GATHERED)
		say(f, warns_of);
}

static void warn(void *ctx, const struct markup_module *m, const char *data, size_t len)
{
	struct symlog_filter *f = ctx;

	if (!f->llvm)
		begin_complaint(f);
	if (f->raw)
		mk_out_put(&f->complaints, data, len);
	while (!f->raw && len) { /* LLVM's have several lines */
		const char *newline = f->llvm ? memchr(data, '\n', len) : NULL;
		const size_t n = newline ? (size_t)(newline - data) : len - 1;

		mk_put(&f->complaints, mk_as(mk_out_shown, ((struct sc_str){ data, n })), "\n");
		data += n + 1;
		len -= n + 1;
	}
	end_complaint(f, m);
}

static void complain(void *ctx, const char *data, size_t len)
{
	warn(ctx, NULL, data, len);
}

/* What is wrong with the log as a whole is said where it is found, and always. */
static void say_fault(struct symlog_filter *f, const char *message, const char *more)
{
	begin_complaint(f);
	mk_put(&f->complaints, mk_shown(message), more, "\n");
	end_complaint(f, NULL);
}

/* ---- creation ------------------------------------------------------------------- */

static int find_module(void *ctx, const struct symcache_file_id *of, struct symcache_module **ret,
		       struct sc_error *err)
{
	const struct symlog_filter *f = ctx;

	return symcache_find_module(&f->options.from.find, of, ret, err);
}

static struct sc_str find_source(void *ctx, unsigned thread, struct symcache_module *m,
				 const struct sc_frame *frame)
{
	const struct symlog_filter *f = ctx;

	return symcache_source_lines(&f->sources[thread], m, frame->file, frame->line,
				     f->options.from.source_lines);
}

static void announce(void *ctx, unsigned thread, struct symcache_module *m)
{
	const struct symlog_filter *f = ctx;

	sc_log_scout_announce(f->scout, &sc_log_resolvers_functions(f->resolvers)[thread], m);
}

/* False: out of memory. */
static bool make_resolvers(struct symlog_filter *f)
{
	const struct symlog_filter_options *o = &f->options;
	const bool sources = o->from.search && o->from.source_lines;
	const struct sc_log_resolver_options how = {
		.markup = o->markup, .threads = o->threads, .caches = o->from.find.caches,
		.names = o->from.names,
		.bytes = markup_form_of(o->markup)->escapes ? SYMCACHE_BYTES_CACHED :
			 o->from.raw ? SYMCACHE_BYTES_ORIGINAL : SYMCACHE_BYTES_PRINTABLE,
		.find = find_module, .source = sources ? find_source : NULL,
		.announce = announce, .ctx = f,
	};

	f->resolvers = sc_log_resolvers_create(&how);
	if (sources)
		f->sources = calloc(o->threads, sizeof(*f->sources));
	for (unsigned i = 0; f->sources && i < o->threads; i++)
		f->sources[i].search = o->from.search;
	f->scout = sc_log_scout_create(o->markup);
	return f->resolvers && f->scout && (f->sources || !sources);
}

/* 0, -ENOMEM, or -EINVAL for the prefix. */
static int make(struct symlog_filter *f)
{
	const struct symlog_filter_options *o = &f->options;
	const struct markup_sink sink = {
		f, o->no_output ? NULL : take_output, o->quiet ? NULL : complain,
		o->quiet ? NULL : warn, o->tally,
	};
	int rc = make_resolvers(f) ? 0 : -ENOMEM;

	if (!rc && o->markup->group)
		rc = markup_groups_create(&f->groups);
	if (!rc && f->groups)
		markup_groups_pages(f->groups, f->options.pages);
	return rc ? rc : markup_filter_create(o->markup, sc_log_resolvers_functions(f->resolvers),
					      o->threads, &sink, &f->filter);
}

static int failed(const struct symlog_filter *f, int rc, struct sc_error *err)
{
	if (short_of_memory(f))
		return sc_no_memory(err);
	if (rc == -EIO && f->write_error)
		return sc_error_set(err, SC_ESYS, "cannot write to %s: %s", f->output.name,
				    strerror(f->write_error));
	if (rc == -EINVAL)
		return sc_error_set(err, SC_EFORMAT,
				    "%s: the saved state at the beginning of its part is damaged",
				    f->output.name);
	return rc || f->complaints.error ? sc_no_memory(err) : 0;
}

int symlog_filter_create(const struct symlog_filter_options *options, struct symlog_filter **ret,
			 struct sc_error *err)
{
	struct symlog_filter *f = calloc(1, sizeof(*f));
	int rc = -ENOMEM;

	*ret = NULL;
	if (f) {
		f->options = *options;
		f->refusals = sc_memory_refusals();
		f->format = options->markup->format;
		f->llvm = options->markup->dialect == MARKUP_LLVM;
		f->raw = options->from.raw || (f->llvm && !options->terminal);
		rc = make(f);
	}
	if (rc) {
		symlog_filter_destroy(f);
		return rc == -EINVAL ? sc_error_set(err, SC_EINVAL,
						    "the regular expression cannot be used") :
				       sc_no_memory(err);
	}
	*ret = f;
	return 0;
}

void symlog_filter_destroy(struct symlog_filter *f)
{
	if (!f)
		return;
	markup_filter_destroy(f->filter);
	markup_groups_destroy(f->groups);
	sc_log_resolvers_destroy(f->resolvers);
	sc_log_scout_destroy(f->scout);
	for (unsigned i = 0; f->sources && i < f->options.threads; i++)
		symcache_source_files_deinit(&f->sources[i]);
	mk_out_deinit(&f->complaints);
	free(f->sources);
	free(f);
}

struct markup_filter *symlog_filter_markup(const struct symlog_filter *f)
{
	return f->filter;
}

/* ---- one log --------------------------------------------------------------------- */

/* Feeds all of an input; nonzero: of markup_filter_added(). log->error: not all of it could
 * be read. */
static int feed(struct symlog_filter *f, struct symlog_input *in, struct symlog *log)
{
	struct symlog_again again = { .first = in };
	bool rereadable = !in->live;
	size_t room, len;
	int rc = 0;

	markup_filter_input(f->filter, in->name);
	if (log->part)
		markup_filter_give_tables(f->filter, log->tables, log->tables_len);
	else if (rereadable)
		markup_filter_again(f->filter, symlog_read_again, &again);
	if (log->saved)
		rc = markup_filter_resume(f->filter, log->lines, log->saved, log->saved_len);
	while (!rc) {
		char *to = markup_filter_room(f->filter, &room);

		symlog_read(in, to, room, &len, &log->error);
		if (!log->read && in->misnamed)
			say_fault(f, in->name,
				  ": not compressed, in spite of its name; read as it is");
		if (log->error.code || !len)
			break;
		if (!log->read && !rereadable && symlog_hold(in, to, len)) {
			rereadable = true;
			markup_filter_again(f->filter, symlog_read_again, &again);
			continue;
		}
		if (f->options.from.find.first)
			sc_log_scout_text(f->scout, to, log->read ? 0 : len);
		log->read += len;
		rc = markup_filter_added(f->filter, len);
		if (rc || symlog_wait(in, 0))
			continue;
		rc = markup_filter_flush(f->filter);
		say(f, NULL);
		if (log->alone && !rc && !symlog_wait(in, PAUSE_MS))
			symcache_caches_update(f->options.from.find.caches);
	}
	if (!rc)
		rc = log->goes_on ? markup_filter_flush(f->filter) :
				    markup_filter_finish(f->filter);
	symlog_again_close(&again);
	if (log->error.code)
		say_fault(f, log->error.msg, "");
	return rc;
}

enum symlog_result symlog_filter_run(struct symlog_filter *f, struct symlog *log,
				     struct sc_error *err)
{
	struct symlog_input in;
	int rc = 0;

	f->output = log->output;
	f->options.from.find.first = log->alone;
	log->read = 0;
	log->error.code = 0;
	log->opened = !symlog_open(&in, log->path, &log->error);
	in.threads = f->options.threads;
	if (log->opened && log->part && symlog_range(&in, log->from, log->to, &log->error)) {
		symlog_close(&in);
		log->opened = false;
	}
	if (!log->opened) {
		say_fault(f, log->error.msg, "");
	} else {
		in.name = log->shown && !in.live ? log->shown : in.name;
		in.hash = log->hash;
		rc = feed(f, &in, log);
		symlog_close(&in); /* it is no longer unpacked */
		log->taken = in.taken;
	}
	say(f, NULL);
	if (failed(f, rc, err))
		return SYMLOG_FAILED;
	return !log->error.code ? SYMLOG_OK : log->opened ? SYMLOG_CUT : SYMLOG_NO_INPUT;
}

int symlog_filter_end(struct symlog_filter *f, struct sc_error *err)
{
	int rc = markup_filter_end(f->filter);

	if (!rc && f->groups)
		rc = markup_groups_write(f->groups, f->format,
					 f->options.markup->color == MARKUP_COLOR_ON, write_output, f);
	return failed(f, rc, err);
}
