/*
 * symcache filter: symbolizer markup in logs → functions, files and lines.
 *
 * Reads in large blocks and writes in large blocks, but whenever a live input
 * has no more to give at the moment, everything that is complete is shown.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/log_input.h"
#include "cmd/resolver.h"
#include "cmd/symbols.h"
#include "libmarkup/markup.h"

enum {
	PAUSE_MS = 1000,     /* after this long without input we settle down */
	COMPLAINTS = 16 << 10,
};

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

static struct {
	const char *store, *dumpfile_output, *demux;
	struct opt_list debug_dirs;
	int dialect, format, color;
	bool summary, omit_module_lines;
	uint64_t jobs;
} o;

static const char *const dialects[] = { "default", "llvm", "fuchsia", NULL };
static const char *const formats[] = { "text", "json", NULL };
static const char *const colors[] = { "auto", "always", "never", NULL };

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "debug-file-directory", 0, OPT_LIST, &o.debug_dirs, "DIR",
	  "for what the store lacks: where .build-id/xx/rest.debug is looked for; it is indexed "
	  "on first use; may be repeated (default: /usr/lib/debug)" },
	{ "dialect", 0, OPT_ENUM, &o.dialect, "NAME",
	  "default; or llvm, the output of llvm-symbolizer --filter-markup to the byte; or "
	  "fuchsia, that of Fuchsia's symbolizer", .choices = dialects },
	{ "format", 0, OPT_ENUM, &o.format, "NAME",
	  "of the default dialect: text; or json, one object for each line of the log",
	  .choices = formats },
	{ "color", 0, OPT_ENUM, &o.color, "WHEN",
	  "highlight what was replaced: always, never (colours of the log are taken out, too) or "
	  "auto (default): on a terminal, unless NO_COLOR is set", .choices = colors,
	  .implied = "always" },
	{ "jobs", 'j', OPT_NUMBER, &o.jobs, "N",
	  "use up to N threads for a large log (default: one for each processor); the output "
	  "does not depend on it" },
	{ "summary", 0, OPT_FLAG, &o.summary, NULL,
	  "at the end, list on standard error the modules whose addresses found nothing" },
	{ "demux", 0, OPT_STRING, &o.demux, "REGEX",
	  "keep modules and maps of several processes apart: by Fuchsia's or syslog's prefixes, "
	  "or by what the first group of an extended regular expression matches in the text "
	  "before the markup", .implied = "" },
	{ "dumpfile-output", 0, OPT_STRING, &o.dumpfile_output, "FILE",
	  "write the dumpfile elements, with the modules they belong to, as a JSON array" },
	{ "omit-module-lines", 0, OPT_FLAG, &o.omit_module_lines, NULL,
	  "fuchsia: do not print lines for modules" },
	{ 0 },
};

struct run {
	struct symbols *symbols;
	struct resolver **resolvers; /* one for each thread */
	unsigned jobs;
	struct markup_pool *pool;
	char *complaints;      /* not written yet */
	size_t num_complaints; /* bytes */
	int write_error;       /* errno */
	int status;
};

/* ---- output ------------------------------------------------------------------ */

/* False: errno says why. */
static bool write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);
		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			p += n;
			len -= (size_t)n;
		}
	}
	return true;
}

static int write_stdout(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;

	if (write_all(STDOUT_FILENO, data, len))
		return 0;
	r->write_error = errno;
	return 1;
}

static void flush_complaints(struct run *r)
{
	write_all(STDERR_FILENO, r->complaints, r->num_complaints);
	r->num_complaints = 0;
}

static void add_complaint(struct run *r, const char *text, size_t len)
{
	if (len > COMPLAINTS - r->num_complaints)
		flush_complaints(r);
	if (len > COMPLAINTS) {
		write_all(STDERR_FILENO, text, len);
		return;
	}
	memcpy(r->complaints + r->num_complaints, text, len);
	r->num_complaints += len;
}

static void complain(void *ctx, const char *data, size_t len)
{
	struct run *r = ctx;

	if (o.dialect != MARKUP_LLVM) {
		add_complaint(r, cmd_name, strlen(cmd_name));
		add_complaint(r, ": ", 2);
	}
	add_complaint(r, data, len);
}

/* ---- one input ----------------------------------------------------------------- */

/* Feeds all of an input; nonzero: the output failed. */
static int feed(struct run *r, struct log_input *in)
{
	struct sc_error err;
	size_t len;
	int rc;

	markup_pool_input(r->pool, in->name);
	while (1) {
		size_t room;
		char *block = markup_pool_room(r->pool, &room);
		if (log_input_read(in, block, room, &len, &err)) {
			cmd_error("%s", err.msg);
			r->status = STATUS_ERROR;
			break;
		}
		if (!len)
			break;
		rc = markup_pool_added(r->pool, len);
		if (rc)
			return rc;
		if (log_input_wait(in, 0))
			continue;
		rc = markup_pool_flush(r->pool);
		if (rc)
			return rc;
		flush_complaints(r);
		if (!log_input_wait(in, PAUSE_MS))
			symbols_settle(r->symbols);
	}
	rc = markup_pool_finish(r->pool);
	flush_complaints(r);
	return rc;
}

static int filter_file(struct run *r, const char *path)
{
	struct log_input in;
	struct sc_error err;
	int rc;

	if (log_input_open(&in, path, &err)) {
		cmd_error("%s", err.msg);
		r->status = STATUS_ERROR;
		return 0;
	}
	rc = feed(r, &in);
	log_input_close(&in);
	return rc;
}

/* ---- at the end ------------------------------------------------------------------ */

static void print_missing(void *ctx, const struct markup_missing *m)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];

	(void)ctx;
	if (!m->frames)
		return;
	format_build_id(hex, m->build_id, m->build_id_len < SYMCACHE_BUILD_ID_MAX
						  ? m->build_id_len : SYMCACHE_BUILD_ID_MAX);
	fprintf(stderr, "%8llu  %-40s  %.*s%s\n", (unsigned long long)m->frames, hex,
		(int)m->name.len, m->name.ptr, m->no_symbols ? "" : " (has symbols)");
}

static void print_summary(struct run *r)
{
	const struct markup_stats *s = markup_pool_stats(r->pool);

	cmd_error("%llu addresses: %llu resolved, %llu in no module, %llu found nothing%s",
		  (unsigned long long)s->frames, (unsigned long long)s->frames_resolved,
		  (unsigned long long)s->frames_outside,
		  (unsigned long long)(s->frames - s->frames_resolved - s->frames_outside),
		  s->frames - s->frames_resolved - s->frames_outside ? " in these modules:" : "");
	markup_pool_missing(r->pool, print_missing, r);
}

static void write_dumpfiles(struct run *r)
{
	struct markup_str json;
	FILE *f = fopen(o.dumpfile_output, "w");

	markup_pool_dumpfiles(r->pool, &json);
	if (f && fprintf(f, "[") >= 0 && fwrite(json.ptr, 1, json.len, f) == json.len &&
	    fprintf(f, "]\n") >= 0 && !fflush(f)) {
		fclose(f);
		return;
	}
	cmd_error("cannot write %s: %s", o.dumpfile_output, strerror(errno));
	r->status = STATUS_ERROR;
	if (f)
		fclose(f);
}

/* ---- the command ------------------------------------------------------------------ */

static enum markup_color choose_color(void)
{
	const char *no_color = getenv("NO_COLOR");

	if (o.color == COLOR_ALWAYS)
		return MARKUP_COLOR_ON;
	if (o.color == COLOR_NEVER)
		return MARKUP_COLOR_STRIP;
	if (!isatty(STDOUT_FILENO))
		return MARKUP_COLOR_NONE;
	return no_color && *no_color && o.dialect != MARKUP_LLVM ? MARKUP_COLOR_NONE
								: MARKUP_COLOR_ON;
}

enum { JOBS_MAX = 64 };

static int make_pool(struct run *r, const struct markup_options *options)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);
	const uint64_t jobs = o.jobs ? o.jobs : processors > 0 ? (uint64_t)processors : 1;
	const struct markup_sink sink = { r, write_stdout, complain };
	struct markup_resolver functions[JOBS_MAX];

	r->jobs = jobs < JOBS_MAX ? (unsigned)jobs : JOBS_MAX;
	r->resolvers = must_calloc(r->jobs, sizeof(struct resolver *));
	for (unsigned i = 0; i < r->jobs; i++) {
		r->resolvers[i] = resolver_create(r->symbols, o.dialect == MARKUP_LLVM);
		functions[i] = resolver_functions(r->resolvers[i]);
	}
	return markup_pool_create(options, functions, r->jobs, &sink, &r->pool);
}

static void run_deinit(struct run *r)
{
	markup_pool_destroy(r->pool);
	for (unsigned i = 0; i < r->jobs; i++)
		resolver_destroy(r->resolvers[i]);
	free(r->resolvers);
	symbols_destroy(r->symbols);
	free(r->complaints);
	free(o.debug_dirs.items);
}

static int run(int argc, char **argv)
{
	static const char *const default_dirs[] = { "/usr/lib/debug", NULL };
	__attribute__((cleanup(run_deinit))) struct run r = { .status = STATUS_OK };
	const struct symbols_options symbols = {
		.store = o.store,
		.debug_dirs = o.debug_dirs.items ? o.debug_dirs.items : default_dirs,
		.any_build_id = o.dialect == MARKUP_LLVM,
	};
	const struct markup_options options = {
		.dialect = (enum markup_dialect)o.dialect,
		.format = (enum markup_format)o.format,
		.name_inputs = argc > 1,
		.color = choose_color(),
		.demux = o.demux,
		.omit_module_lines = o.omit_module_lines,
		.collect_dumpfiles = o.dumpfile_output,
	};
	int rc;

	if (o.format && o.dialect != MARKUP_DEFAULT) {
		cmd_error("--format and --dialect exclude each other");
		return STATUS_ERROR;
	}
	r.complaints = must_realloc(NULL, COMPLAINTS);
	r.symbols = symbols_create(&symbols);
	rc = make_pool(&r, &options);
	if (!rc && !argc)
		rc = filter_file(&r, "-");
	for (int i = 0; i < argc && !rc; i++)
		rc = filter_file(&r, argv[i]);
	flush_complaints(&r);
	if (rc == -EIO)
		cmd_error("cannot write to standard output: %s", strerror(r.write_error));
	else if (rc == -EINVAL)
		cmd_error("--demux: '%s' is no regular expression", o.demux);
	else if (rc)
		cmd_error("out of memory");
	if (rc)
		return STATUS_ERROR;
	if (o.summary)
		print_summary(&r);
	if (o.dumpfile_output)
		write_dumpfiles(&r);
	return r.status;
}

const struct command filter_command = {
	.name = "filter",
	.operands = "[FILE]...",
	.summary = "turn addresses in logs into functions, files and lines",
	.description =
		"Copies logs (standard input, or files; \"-\" is standard input) to standard "
		"output and replaces symbolizer markup, {{{module:...}}}, {{{bt:...}}} and the "
		"like, by what it stands for: modules, frames with inlined functions, files and "
		"lines, variables. Everything else comes out byte for byte. A live input is shown "
		"line by line.\n\n"
		"Symbols come from the store by the build IDs in the log; what the store lacks is "
		"looked for as a separate debug file. A frame without symbols still tells its "
		"module and the address in it, and a warning names the module once.\n\n"
		"Exit status: 2 if an input could not be read or the output not be written; "
		"missing symbols and malformed markup do not count.",
	.opts = opts,
	.examples =
		"  ./server 2>&1 | symcache filter\n"
		"  symcache filter --summary crash.log > crash.txt\n"
		"  symcache filter --debug-file-directory build/debug crash.log\n",
	.run = run,
};
