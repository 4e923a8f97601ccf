/*
 * symcache profile: functions, files and lines for profiles that have addresses alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/page.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/profile/summary.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/logs/logs.h"

enum { JOBS_MAX = 64 };

static struct {
	const char *store, *output, *output_dir, *value, *link, *jit_dir;
	struct opt_list debug_dirs, modules, path_maps, own;
	struct fetch_options fetch;
	struct sites_options sites;
	int form, names;
	bool force, return_addresses, summary, json, quiet;
	uint64_t jobs;
} o;

static const char *const forms[] = { "own", "pprof", "folded", "jeprof", "html", NULL };
static const char *const suffixes[] = { "", ".pprof", ".folded", ".jeprof", ".html" };
static const char *const name_kinds[] = { "full", "short", "linkage", NULL };

static const struct opt opts[] = {
	OPT_SECTION("Output"),
	{ "output", 'o', OPT_STRING, &o.output, "FILE",
	  "write to this file, completely or not at all (default: -, standard output)" },
	{ "output-dir", 0, OPT_STRING, &o.output_dir, "DIR",
	  "write the output of each profile to a file of the same name under DIR; profiles in a folder "
	  "keep their path below it; --format appends its name; outputs that this version already made "
	  "of the same profile are skipped" },
	{ "jobs", 'j', OPT_COUNT, &o.jobs, "N",
	  "with --output-dir: symbolize N profiles at the same time (default: two for each available "
	  "processor)" },
	{ "format", 0, OPT_ENUM, &o.form, "NAME",
	  "own (default), pprof, folded, jeprof or html; own is the input's format, or pprof if that "
	  "has no place for names; folded is one stack a line, for flame graphs; jeprof is for jeprof, of "
	  "heap texts of jemalloc, and for google-pprof, of CPU profiles; html is one page with a flame "
	  "graph", .choices = forms },
	{ "value", 0, OPT_STRING, &o.value, "TYPE",
	  "with --format folded and html: the sample type to count, or to show first, such as "
	  "inuse_space (default: the profile's own choice, else its last one)" },
	OPTS_PAGE(&o.link, &o.own),
	{ "map-path", 0, OPT_LIST, &o.path_maps, "FROM=TO",
	  "with --link: files of the folder FROM are in TO; may be repeated, the first match counts" },
	OPT_SECTION("Names"),
	{ "names", 0, OPT_ENUM, &o.names, "KIND",
	  "names of functions: full (default), short, without scope and arguments, or linkage",
	  .choices = name_kinds },
	{ "force", 0, OPT_FLAG, &o.force, NULL,
	  "symbolize again what already has functions and lines, where the module is known" },
	{ "return-addresses", 0, OPT_FLAG, &o.return_addresses, NULL,
	  "for pprof and OTLP: callers are plain return addresses, from which the writer did not "
	  "subtract 1" },
	OPT_SECTION("Symbols"),
	{ "perf-map-directory", 0, OPT_STRING, &o.jit_dir, "DIR",
	  "for perf.data: name JIT-compiled code by DIR/perf-PID.map (JITs write them to /tmp), if "
	  "you or root own that file and no other user can write to it" },
	{ "module", 0, OPT_LIST, &o.modules, "NAME=BUILDID|FILE|TAG",
	  "resolve a module of which the profile has only the name: to a build ID, a file, or the only "
	  "entry of that name with this tag; may be repeated" },
	OPTS_STORE_READ(&o.store),
	OPT_DEBUG_DIRS_OF_LACKING(&o.debug_dirs),
	OPTS_SITES(&o.sites),
	OPT_FETCH_LACKING(&o.fetch),
	OPT_SECTION("Reports"),
	{ "summary", 0, OPT_FLAG, &o.summary, NULL,
	  "at the end, print to standard error what was found, and the modules that the store "
	  "lacks, by the number of samples in them" },
	{ "json", 0, OPT_FLAG, &o.json, NULL,
	  "write the summary to standard output as a JSON object; needs --output or "
	  "--output-dir" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL,
	  "print no warnings, and with --output-dir no progress and no count" },
	{ 0 },
};

/* ---- bytes ----------------------------------------------------------------------------- */

/* The bytes of a file; what is in it serves for the next one. */
struct content {
	VEC(char) bytes;
	void *map;      /* of the file instead; NULL: there is none */
	size_t map_size;
};

static void content_deinit(struct content *c)
{
	if (c->map)
		munmap(c->map, c->map_size);
	vec_deinit(&c->bytes);
}

enum { MAP_FROM = 1 << 20 }; /* smaller files are read */

/* Maps it, if it is a large file. */
static bool map_file(int fd, const struct stat *st, struct content *ret)
{
	if (!S_ISREG(st->st_mode) || st->st_size < MAP_FROM)
		return false;
	ret->map_size = (size_t)st->st_size;
	ret->map = mmap(NULL, ret->map_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (ret->map == MAP_FAILED)
		ret->map = NULL;
	return ret->map;
}

static int read_all(int fd, const struct stat *st, const char *name, struct content *ret,
		    struct sc_error *err)
{
	ssize_t n = 1;

	if (S_ISREG(st->st_mode) && st->st_size > 0 &&
	    !vec_reserve(&ret->bytes, (size_t)st->st_size + 1))
		return sc_no_memory(err);
	while (n) {
		if (!vec_reserve(&ret->bytes, 1))
			return sc_no_memory(err);
		n = read(fd, ret->bytes.data + ret->bytes.len, ret->bytes.cap - ret->bytes.len);
		if (n < 0 && errno != EINTR)
			return sc_error_sys(err, "%s", name);
		ret->bytes.len += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* `alone`: it is the only one, so that the process may end if it is cut short meanwhile, which is
 * what happens to a map. SC_ESYS; SC_EINVAL: a directory; SC_ENOMEM. The message begins with the
 * name. */
static int read_file(const char *path, bool alone, struct content *ret, struct sc_error *err)
{
	const bool standard = !strcmp(path, "-");
	const char *name = standard ? "standard input" : path;
	const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int rc = 0;

	vec_clear(&ret->bytes);
	if (fd < 0 || fstat(fd, &st))
		rc = sc_error_sys(err, "%s", name);
	else if (S_ISDIR(st.st_mode))
		rc = sc_error_set(err, SC_EINVAL, "%s: is a directory", name);
	else if (!alone || standard || !map_file(fd, &st, ret))
		rc = read_all(fd, &st, name, ret, err);
	if (fd >= 0 && !standard)
		close(fd);
	return rc;
}

/* To standard output; nothing that a terminal would obey reaches one. */
static int print(const struct symprofile_output *out, struct sc_error *err)
{
	const bool terminal = isatty(STDOUT_FILENO);

	if (terminal && !out->text)
		return sc_error_set(err, SC_EINVAL, "a profile is binary: write it to a "
				    "file with -o FILE, or take --format folded");
	for (size_t i = 0; i < out->num; i++) {
		const char *p = out->pieces[i].iov_base, *end = p + out->pieces[i].iov_len;

		while (terminal && p < end) {
			const char *newline = memchr(p, '\n', (size_t)(end - p));
			const size_t len = (size_t)((newline ? newline : end) - p);
			char *line = must(malloc(4 * len + 1));

			fwrite(line, 1, sc_make_printable(p, len, line), stdout);
			free(line);
			if (newline)
				putchar('\n');
			p += len + (newline != NULL);
		}
		fwrite(p, 1, (size_t)(end - p), stdout);
	}
	return 0; /* out_flush() checks it */
}

/* ---- one profile ------------------------------------------------------------------------- */

static int run_one(const char *path, const struct symprofile_options *options, struct sc_error *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	struct symprofile_output out;
	struct content in = { 0 };
	struct symprofiler *p;
	int rc = symprofiler_create(options, &p, err);

	if (rc)
		return rc;
	symprofiler_name(p, name);
	rc = read_file(path, true, &in, err);
	if (!rc && symprofiler_run(p, in.map ? in.map : in.bytes.data,
				   in.map ? in.map_size : in.bytes.len, &out, err))
		rc = sc_error_prefix(err, "%s: ", name);
	if (!rc)
		rc = o.output && strcmp(o.output, "-") ?
			sc_replace_file_by(o.output, out.pieces, out.num, err) : print(&out, err);
	if (!rc && options->count)
		print_profile_summary(&p, 1, o.json);
	symprofiler_destroy(p);
	content_deinit(&in);
	return rc;
}

/* ---- many profiles, each into a file of its own -------------------------------------------- */

struct workers {
	const struct symprofile_options *options;
	struct symprofiler **profilers; /* of each worker, made when it first needs one */
	struct content *contents;
};

static enum symlog_result run_file(void *ctx, unsigned worker, const struct symlog_file *file,
				   int fd, const char *output)
{
	struct workers *w = ctx;
	struct symprofiler **p = &w->profilers[worker];
	struct content *in = &w->contents[worker];
	struct symprofile_output out;
	struct sc_error err;

	if (!*p && symprofiler_create(w->options, p, &err))
		must(NULL);
	if (read_file(file->path, false, in, &err)) {
		cmd_error("%s", err.msg);
		return SYMLOG_NO_INPUT;
	}
	symprofiler_name(*p, file->path);
	if (symprofiler_run(*p, in->bytes.data, in->bytes.len, &out, &err)) {
		cmd_error("%s: %s", file->path, err.msg);
		return err.code == SC_ENOMEM ? SYMLOG_FAILED : SYMLOG_NO_INPUT;
	}
	if (sc_write_pieces(fd, out.pieces, out.num)) {
		cmd_error("cannot write %s: %s", output, strerror(errno));
		return SYMLOG_FAILED;
	}
	return SYMLOG_OK;
}

static int run_batch(struct symlog_list *files, struct workers *w, unsigned jobs,
		     struct sc_error *err)
{
	const struct symlog_batch_options batch = {
		.output_dir = o.output_dir, .jobs = jobs, .filter = run_file, .ctx = w,
		.progress = progress_update, .fault = cmd_complain,
	};
	struct symlog_batch sum;
	int rc;

	progress_begin("symbolizing", PROGRESS_BYTES, o.quiet);
	rc = symlog_batch(files, &batch, &sum, err);
	progress_erase();
	if (rc)
		return rc;
	if (!o.quiet)
		cmd_error("%zu profile%s symbolized, %zu already up to date, %zu failed", sum.filtered,
			  sum.filtered == 1 ? "" : "s", sum.skipped, sum.failed);
	if (o.summary || o.json)
		print_profile_summary(w->profilers, jobs, o.json);
	return sum.broken ? STATUS_ERROR : sum.failed || files->failed ? STATUS_PARTLY : STATUS_OK;
}

static int run_all(int argc, char **argv, const struct symprofile_options *options,
		   struct sc_error *err)
{
	__attribute__((cleanup(symlog_list_deinit))) struct symlog_list files = {
		.except = o.output_dir, .fault = cmd_complain, .suffix = suffixes[o.form] };
	/* One of them may wait for a file, or for the threads that bring outputs to the disk. */
	const uint64_t wanted = o.jobs ? o.jobs : 2 * sc_cores();
	const unsigned jobs = wanted < JOBS_MAX ? (unsigned)wanted : JOBS_MAX;
	struct workers w = { options, must_calloc(jobs, sizeof(*w.profilers)),
			     must_calloc(jobs, sizeof(*w.contents)) };
	int rc = 0;

	for (int i = 0; i < argc; i++)
		if (symlog_list_add(&files, argv[i], argc == 1, jobs, NULL))
			must(NULL);
	rc = run_batch(&files, &w, jobs, err);
	for (unsigned i = 0; i < jobs; i++) {
		symprofiler_destroy(w.profilers[i]);
		content_deinit(&w.contents[i]);
	}
	free(w.profilers);
	free(w.contents);
	return rc;
}

/* ---- the command --------------------------------------------------------------------------- */

static int check_options(int argc, char **argv, struct sc_error *err)
{
	if (o.output && o.output_dir)
		return sc_error_set(err, SC_EINVAL, "--output and --output-dir are mutually exclusive");
	if (o.json && !o.output_dir && (!o.output || !strcmp(o.output, "-")))
		return sc_error_set(err, SC_EINVAL, "--json needs --output or --output-dir: the profile "
				    "goes to standard output");
	if (!o.output_dir && argc != 1)
		return sc_error_set(err, SC_EINVAL, "%s", argc ?
				    "several profiles need --output-dir DIR" :
				    "no profile given (\"-\" is standard input)");
	if (o.output_dir && !argc)
		return sc_error_set(err, SC_EINVAL, "no profiles given, nor folders of profiles");
	if (o.value && o.form != SYMPROFILE_FOLDED && o.form != SYMPROFILE_HTML)
		return sc_error_set(err, SC_EINVAL, "--value is for --format folded and html");
	if ((o.link || o.own.len || o.path_maps.len) && o.form != SYMPROFILE_HTML)
		return sc_error_set(err, SC_EINVAL, "--link, --map-path and --own are for --format html");
	if (o.link && page_link_check(o.link, err))
		return err->code;
	for (int i = 0; o.output_dir && i < argc; i++)
		if (!strcmp(argv[i], "-"))
			return sc_error_set(err, SC_EINVAL,
					    "with --output-dir the profiles must be files");
	return 0;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	const struct symcache_names_options how = symprofile_names_options();
	struct symcache_caches_options from = {
		.store_optional = true, .search_debug_dirs = true,
		.debug_dirs = o.debug_dirs.items ? o.debug_dirs.items : symcache_debug_dirs,
	};
	struct symprofile_options options = {
		.modules = o.modules.items, .num_modules = o.modules.len,
		.form = (enum symprofile_form)o.form, .how = (enum symprofile_names)o.names,
		.two_threads = !o.output_dir && sc_cores() > 1, .count = o.summary || o.json,
		.force = o.force, .return_addresses = o.return_addresses,
		.value = o.value, .jit_dir = o.jit_dir, .link = o.link,
		.path_maps = o.path_maps.items, .own = o.own.items,
	};
	struct cmd_caches c;
	int rc = check_options(argc, argv, err);

	if (rc)
		return rc;
	if (!sites_named(&o.sites) && named_store_missing(o.store))
		return STATUS_ERROR;
	rc = servers_create(&o.fetch, &o.sites, &from, err);
	if (rc)
		return rc;
	cmd_caches_init(&c, o.store, from);
	c.brief = true;
	c.quiet = o.quiet;
	options.caches = c.caches;
	options.names = must(symcache_names_create(&how));
	rc = symcache_finder_check(&(struct symcache_finder){
			.caches = c.caches, .modules = o.modules.items,
			.num_modules = o.modules.len, .option = "--module" }, err);
	if (!rc)
		rc = o.output_dir ? run_all(argc, argv, &options, err) :
				    run_one(*argv, &options, err);
	symcache_names_destroy(options.names);
	cmd_caches_deinit(&c);
	servers_destroy(&from);
	return rc;
}

const struct command profile_command = {
	.name = "profile",
	.operands = "FILE|FOLDER...",
	.summary = "turn addresses in profiles into functions, files and lines",
	.description =
		"Symbolizes a profile that was taken without symbols: pprof's protobuf, OTLP, heap "
		"texts of gperftools and jemalloc, CPU profiles of gperftools, perf.data, folded "
		"stacks. Functions, files, lines and inlined functions come from the store, by the "
		"build IDs in the profile; neither the programs nor their debug files need to be "
		"there. Stacks of perf record --call-graph dwarf are unwound from the store, too. "
		"The usual viewers open the output. Everything else in it stays as it was, byte for "
		"byte; what already has names keeps them.\n\n"
		"The kind of profile is recognised by its bytes, also in gzip, xz and zstd. For a "
		"damaged profile there is an error with its place, and no output.",
	.opts = opts,
	.essential = "output output-dir format value module store debug-file-directory summary quiet",
	.examples =
		"  symcache profile heap.pb.gz -o heap.named.pb.gz\n"
		"  symcache profile --format html perf.data -o perf.html\n"
		"  symcache profile --format folded cpu.pb.gz | flamegraph.pl > cpu.svg\n"
		"  symcache profile --summary --output-dir named profiles/\n",
	.partly = "with --output-dir, some profile failed",
	.failed = "a profile could not be read, or the output could not be written",
	.see_also = "symcache-index(1) symcache-filter(1)",
	.run = run,
};
