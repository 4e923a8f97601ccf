/* Complaints, and the summary of what was resolved, over all logs: see filtering.h. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/shown.h"
#include "cmd/filter/filtering.h"
#include "libmarkup/bytes/out.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/base/file.h"

static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)ctx, (void)warns_of;
	pthread_mutex_lock(&lock);
	sc_write_all(STDERR_FILENO, text, len);
	pthread_mutex_unlock(&lock);
}

struct symlog_filter_options filter_options(const struct markup_options *markup,
					    const struct symlog_sources *from,
					    struct markup_tally *tally)
{
	return (struct symlog_filter_options){
		.markup = markup, .from = *from, .threads = 1, .tally = tally, .name = cmd_name,
		.terminal = isatty(STDERR_FILENO), .say = say,
	};
}

/* Why addresses of it found nothing. */
static const char *reason(const struct markup_module *m)
{
	if (m->no_symbols)
		return m->build_id_len ? "not in the store" : "no build ID for this name";
	if (m->other_build)
		return "another build";
	return m->table_only ? "only a symbol table" : "outside all ranges";
}

static void print_module(void *ctx, const struct markup_module *m)
{
	struct mk_out o = { 0 };

	(void)ctx;
	if (!m->frames)
		return;
	mk_out_printf(&o, "%8llu  %-40s  ", (unsigned long long)m->frames,
		      shown_id(m->build_id, m->build_id_len));
	mk_put(&o, mk_shown_str(m->name), " (");
	if (m->unplaced && m->unplaced < m->frames)
		mk_put(&o, m->unplaced, " no such symbol or offset, ", m->frames - m->unplaced, " ");
	mk_put(&o, m->unplaced < m->frames || m->other_build ? reason(m) : "no such symbol or offset",
	       ")\n");
	if (o.error)
		sc_memory_refused();
	else
		fwrite(o.buf, 1, o.len, stderr);
	mk_out_deinit(&o);
}

void hint_at_formats(const struct markup_tally *tally)
{
	const struct markup_stats *s = markup_tally_stats(tally);

	if (s->bytes && !s->understood && !s->frames)
		cmd_error("no backtrace recognised "
			  "('symcache filter --input help' lists them)");
}

static void find_other(void *ctx, const struct markup_module *m)
{
	*(bool *)ctx |= m->other_build;
}

bool other_builds(const struct markup_tally *tally)
{
	bool any = false;

	markup_tally_missing(tally, find_other, &any);
	return any;
}

static bool is_missing(const struct markup_module *m)
{
	return m->no_symbols && m->build_id_len;
}

static void count_missing(void *ctx, const struct markup_module *m)
{
	*(size_t *)ctx += is_missing(m);
}

void hint_at_missing(const struct markup_tally *tally, const char *log, bool listed)
{
	size_t n = 0;

	markup_tally_missing(tally, count_missing, &n);
	if (n)
		cmd_error("%zu module%s not in the store: where %s indexed, 'symcache export --for-log %s "
			  "-o FIX.tar.zst' packs %s%s", n,
			  n == 1 ? " is" : "s are", n == 1 ? "it is" : "they are",
			  log ? log : "LOG", n == 1 ? "it" : "them",
			  listed ? "" : "; --missing FILE lists the build IDs");
}

static void put_missing(void *ctx, const struct markup_module *m)
{
	struct mk_out *o = ctx;

	if (is_missing(m))
		mk_put(o, shown_id(m->build_id, m->build_id_len), " ", mk_shown_str(m->name), "\n");
}

int write_missing(const struct markup_tally *tally, const char *path, struct sc_error *err)
{
	struct mk_out o = { 0 };
	int rc = markup_tally_missing(tally, put_missing, &o);

	rc = rc || o.error ? sc_no_memory(err) : out_write(path, o.buf ? o.buf : "", o.len, err);
	mk_out_deinit(&o);
	return rc;
}

void print_summary(const struct markup_tally *tally)
{
	const struct markup_stats *s = markup_tally_stats(tally);
	const uint64_t nothing = s->frames - s->frames_resolved - s->frames_outside;

	cmd_error("%llu address%s: %llu resolved, %llu in no module, %llu unresolved%s",
		  (unsigned long long)s->frames, s->frames == 1 ? "" : "es",
		  (unsigned long long)s->frames_resolved, (unsigned long long)s->frames_outside,
		  (unsigned long long)nothing, nothing ? ", by module:" : "");
	if (markup_tally_missing(tally, print_module, NULL))
		sc_memory_refused();
	if (s->guessed)
		cmd_error("%llu of them %s in lines of an unknown format ('--input any' reads them)",
			  (unsigned long long)s->guessed, s->guessed == 1 ? "is" : "are");
}
