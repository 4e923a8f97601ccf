/*
 * symcache filter: symbolizer markup and backtraces in logs → functions, files and lines.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/page.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/filter/filtering.h"
#include "cmd/filter/form.h"
#include "cmd/filter/group_pages.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/plan/plan.h"

enum { JOBS_MAX = 64 };

static struct {
	const char *store, *dumpfile_output, *missing, *output_dir, *plan, *input_root, *link;
	struct opt_list debug_dirs, path_maps, source_dirs, own;
	uint64_t source_lines;
	struct fetch_options fetch;
	struct sites_options sites;
	struct form form;
	bool summary, quiet, group;
	uint64_t jobs, task;
} o = { .task = UINT64_MAX };

static const struct opt opts[] = {
	OPT_SECTION("Symbols"),
	OPTS_STORE_READ(&o.store),
	OPT_DEBUG_DIRS_OF_LACKING(&o.debug_dirs),
	OPTS_SITES(&o.sites),
	OPT_FETCH_LACKING(&o.fetch),
	OPTS_FORM(&o.form),
	OPT_FORMAT_JSON(&o.form.format, markup_format_names),
	OPTS_SOURCE(&o.source_lines, &o.path_maps, &o.source_dirs),
	OPTS_PAGE(&o.link, &o.own),
	OPT_SECTION("Many logs"),
	{ "group", 0, OPT_FLAG, &o.group, NULL,
	  "write the groups of equal stacks in all logs, instead of the logs; stacks with the same "
	  "function names are equal, and a group has their number, the first and the last place, and "
	  "a signature that is the same on every machine; with --format html and --output-dir also a "
	  "page for each log, with links to them in DIR/groups.html" },
	{ "output-dir", 'o', OPT_STRING, &o.output_dir, "DIR",
	  "write the output of each log to a file of the same name under DIR; logs in a folder keep "
	  "their path below it, or their whole path if several folders or files are given; outputs that "
	  "this version already made of the same log are skipped (DIR/.symcache records them); links to "
	  "folders below DIR are not followed; a damaged log is written up to the damage, and tried again" },
	{ "plan", 0, OPT_STRING, &o.plan, "PLAN",
	  "do one task of this plan, made by 'symcache plan', with the plan's logs and options; exit "
	  "status 75 means: try again later or elsewhere" },
	{ "task", 0, OPT_NUMBER, &o.task, "N", "which task, counted from 0" },
	{ "input-root", 0, OPT_STRING, &o.input_root, "DIR",
	  "with --plan: the folder that relative paths of logs start from (default: the current one)" },
	{ "jobs", 'j', OPT_COUNT, &o.jobs, "N",
	  "use N threads for a large log, or with --output-dir for N logs; the output is the same "
	  "(default: one for each available processor)" },
	OPT_SECTION("Reports"),
	{ "summary", 0, OPT_FLAG, &o.summary, NULL,
	  "at the end, list on standard error the modules with unresolved addresses" },
	{ "missing", 0, OPT_STRING, &o.missing, "FILE",
	  "list the modules that the store lacks, a build ID and a name on each line; send it to "
	  "someone who has them ('symcache export', 'debuginfod-find')" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "print no warnings, and with --output-dir no progress and no summary" },
	{ "dumpfile-output", 0, OPT_STRING, &o.dumpfile_output, "FILE",
	  "write the dumpfile elements, with the modules they belong to, as a JSON array" },
	{ 0 },
};

/* ---- at the end ------------------------------------------------------------------ */

static int write_dumpfiles(const struct markup_filter *filter)
{
	struct sc_str json;
	struct sc_error err;
	char *array;
	int rc;

	markup_filter_dumpfiles(filter, &json);
	array = must_asprintf("[%.*s]\n", (int)json.len, json.ptr);
	rc = out_write(o.dumpfile_output, array, strlen(array), &err);
	free(array);
	if (rc)
		cmd_error("%s", err.msg);
	return rc ? STATUS_ERROR : STATUS_OK;
}

/* ---- the command ------------------------------------------------------------------ */

static enum markup_color choose_color(void)
{
	const enum markup_color chosen = form_color(&o.form);
	const char *no_color = getenv("NO_COLOR");

	if (o.form.color != COLOR_AUTO || o.output_dir || !isatty(STDOUT_FILENO))
		return chosen;
	return no_color && *no_color && o.form.dialect != MARKUP_LLVM ? chosen : MARKUP_COLOR_ON;
}

static unsigned choose_jobs(void)
{
	const uint64_t jobs = o.jobs ? o.jobs : sc_cores();

	return jobs < JOBS_MAX ? (unsigned)jobs : JOBS_MAX;
}

/* All logs to one output; quietly if `pages` of them were written before. */
static int filter_all(const struct symlog_list *logs, const struct markup_options *options,
		      const struct symlog_sources *from, struct markup_tally *tally,
		      const struct group_pages *pages, struct sc_error *err)
{
	struct symlog_filter_options how = filter_options(options, from, tally);
	const struct symlog_output to = { pages ? pages->file.fd : STDOUT_FILENO,
					  pages ? pages->file.path : "standard output" };
	const int lacking = pages ? STATUS_PARTLY : STATUS_ERROR; /* a log */
	int status = logs->failed ? lacking : STATUS_OK, rc;
	enum symlog_result result = SYMLOG_OK;
	uint64_t size = 0, done = 0;
	struct symlog_filter *f;

	how.threads = choose_jobs();
	how.quiet = o.quiet || pages;
	how.pages = pages ? pages->pages : NULL;
	rc = symlog_filter_create(&how, &f, err);
	if (rc)
		return rc;
	progress_begin("grouping", PROGRESS_BYTES, !options->group || o.quiet);
	for (size_t i = 0; i < logs->num; i++)
		size += logs->logs[i].size;
	for (size_t i = 0; i < logs->num && result != SYMLOG_FAILED; i++) {
		struct symlog log = { .path = logs->logs[i].path, .alone = true, .output = to };

		progress_update(NULL, done, size, log.path);
		done += logs->logs[i].size;
		result = symlog_filter_run(f, &log, err);
		if (result)
			status = lacking;
	}
	progress_erase();
	if (result == SYMLOG_FAILED || symlog_filter_end(f, err)) {
		cmd_error("%s", err->msg);
		result = SYMLOG_FAILED;
		status = STATUS_ERROR;
	}
	if (tally && markup_tally_add(tally, symlog_filter_markup(f)))
		sc_memory_refused();
	if (o.dumpfile_output && result != SYMLOG_FAILED &&
	    write_dumpfiles(symlog_filter_markup(f)))
		status = STATUS_ERROR;
	symlog_filter_destroy(f);
	return status;
}

/* Each log into a file of its own; those that are there already are left. */
static int filter_each(struct symlog_list *logs, const struct markup_options *options,
		       const struct symlog_sources *from, struct markup_tally *tally,
		       struct sc_error *err)
{
	struct symlog_filter_options how = filter_options(options, from, tally);
	const struct symlog_batch_options batch = {
		.output_dir = o.output_dir, .format = options->format, .jobs = choose_jobs(),
		.how = &how, .progress = progress_update, .fault = cmd_complain,
	};
	struct symlog_batch sum;
	int rc;

	how.quiet = o.quiet;
	progress_begin("filtering", PROGRESS_BYTES, o.quiet);
	rc = symlog_batch(logs, &batch, &sum, err);
	progress_erase();
	if (rc)
		return rc;
	if (!o.quiet)
		cmd_error("%zu log%s filtered, %zu already up to date, %zu failed", sum.filtered,
			  sum.filtered == 1 ? "" : "s", sum.skipped, sum.failed);
	if (!o.quiet && sum.skipped && !sum.filtered && !sum.failed)
		cmd_error("nothing to do: the outputs in %s are up to date", o.output_dir);
	return sum.broken ? STATUS_ERROR : sum.failed || logs->failed ? STATUS_PARTLY : STATUS_OK;
}

/* The page of each log, and that of the groups, with links to them. */
static int filter_groups(struct symlog_list *logs, const struct markup_options *options,
			 const struct symlog_sources *from, struct markup_tally *tally,
			 struct sc_error *err)
{
	struct markup_options each = *options;
	struct group_pages pages;
	int status = group_pages_open(&pages, logs, o.output_dir, options->format, err), rc;

	if (status)
		return status;
	each.group = false;
	status = filter_each(logs, &each, from, tally, err);
	if (status >= 0 && status != STATUS_ERROR) {
		rc = filter_all(logs, options, from, NULL, &pages, err);
		status = rc ? rc : status;
	}
	return group_pages_close(&pages, status);
}

/* Options that make no sense together. */
static int check_options(const struct symlog_list *logs, const struct markup_options *markup,
			 struct sc_error *err)
{
	struct markup_options log = *markup;

	log.group = false;
	if (o.group && o.form.dialect != MARKUP_DEFAULT)
		return sc_error_set(err, SC_EINVAL, "--group and --dialect are mutually exclusive");
	if (o.group && o.output_dir && !markup_form_of(&log)->whole_page)
		return sc_error_set(err, SC_EINVAL, "--group with --output-dir is for --format html");
	if (o.output_dir && o.dumpfile_output)
		return sc_error_set(err, SC_EINVAL, "--output-dir and --dumpfile-output are mutually exclusive");
	if (o.source_lines && !markup_form_of(o.output_dir ? &log : markup)->sources)
		return sc_error_set(err, SC_EINVAL, "--source is for logs of the default dialect");
	if ((o.link || o.own.len) && !markup_form_of(&log)->whole_page && !o.group)
		return sc_error_set(err, SC_EINVAL, "%s is for --format html",
				    o.link ? "--link" : "--own");
	if (o.link && page_link_check(o.link, err))
		return err->code;
	for (size_t i = 0; o.output_dir && i < logs->num; i++)
		if (!strcmp(logs->logs[i].path, "-"))
			return sc_error_set(err, SC_EINVAL,
					    "with --output-dir the logs must be files");
	return 0;
}

static void destroy_tally(struct markup_tally **t)
{
	markup_tally_destroy(*t);
}

/* ---- a task of a plan: the map step. Symbols are those of the store that was planned with ---- */

/* A plan that is damaged or wrongly used stays so; all else may be better elsewhere. */
static int status_of(int rc)
{
	return !rc							    ? STATUS_OK :
	       rc == SC_EFORMAT || rc == SC_EUNSUPPORTED || rc == SC_EINVAL ? STATUS_ERROR :
									      STATUS_AGAIN;
}

static int check_store(const struct markup_task_plan *p, struct sc_error *err)
{
	char identity[SC_HASH_TEXT];
	int rc = store_identity(o.store, identity, err);

	if (rc) /* none here, or a damaged one: there may be a good one elsewhere */
		return err->code = SC_ESYS;
	if (strcmp(identity, p->store))
		return sc_error_set(err, SC_ESYS, "this is not the store that the plan was made "
				    "with: its hash is %s, the plan has %s", identity, p->store);
	return 0;
}

static int run_shards(struct markup_task *t, const struct markup_task_plan *p,
		      struct markup_task_sums *sums, struct sc_error *err)
{
	struct cmd_caches c;
	struct symlog_task_options how = {
		.damaged = &c.failed, .name = cmd_name, .fault = cmd_complain,
	};
	int rc = check_store(p, err);

	if (rc)
		return rc;
	cmd_caches_init(&c, o.store, (struct symcache_caches_options){
		.store_name = p->store_name, .store_optional = true,
		.any_build_id = p->form->options.dialect == MARKUP_LLVM });
	how.caches = c.caches;
	rc = symlog_task(t, p, &how, sums, err);
	cmd_caches_deinit(&c);
	return rc;
}

static int run_task(struct sc_error *err)
{
	const unsigned long long number = o.task;
	const struct markup_task_options task = {
		o.plan, o.output_dir, o.task, o.input_root, choose_jobs(), progress_update, NULL,
	};
	struct markup_task_plan plan = { 0 };
	struct markup_task_sums sums;
	struct markup_task *t;
	int rc;

	store_frozen = true;
	status_no_memory = STATUS_AGAIN;
	progress_begin("filtering", PROGRESS_BYTES, o.quiet);
	rc = markup_task_open(&task, &t, &plan, err);
	if (!rc && !plan.done)
		rc = run_shards(t, &plan, &sums, err);
	progress_erase();
	if (rc)
		cmd_error("task %llu: %s", number, err->msg);
	else if (plan.done && !o.quiet)
		cmd_error("task %llu is already done", number);
	else if (!o.quiet)
		cmd_error("task %llu: %llu shard%s, %llu bytes read, %llu written, in %.1f s", number,
			  (unsigned long long)sums.shards, sums.shards == 1 ? "" : "s",
			  (unsigned long long)sums.read, (unsigned long long)sums.written,
			  sums.seconds);
	markup_task_close(t);
	return status_of(rc);
}

/* What is given in vain, and would be if it were silent: all that the plan says. */
static int filter_task(int argc, struct sc_error *err)
{
	static const struct form none;

	if (!o.output_dir || o.task == UINT64_MAX)
		return sc_error_set(err, SC_EINVAL, "--plan needs --task N and -o OUT");
	if (argc || memcmp(&o.form, &none, sizeof(none)) || o.dumpfile_output || o.debug_dirs.len ||
	    o.fetch.on || o.sites.urls.len || o.summary || o.group || o.source_lines || o.missing ||
	    o.link || o.own.len)
		return sc_error_set(err, SC_EINVAL, "--plan takes only --task, -o, --store, --input-root, -j "
				    "and -q: the plan has the logs and options, and symbols are those of "
				    "the store");
	return run_task(err);
}

/* What is said at the end; `ok`: all logs were filtered. */
static void report(const struct symlog_list *logs, struct markup_tally *tally, bool ok)
{
	const bool hints = !o.quiet && o.form.dialect == MARKUP_DEFAULT;
	const bool one = !o.output_dir && logs->num == 1 && strcmp(logs->logs[0].path, "-");

	if (hints && ok)
		hint_at_formats(tally);
	if (o.summary || (o.output_dir && !o.quiet))
		print_summary(tally);
	if (hints)
		hint_at_missing(tally, one ? shown(logs->logs[0].path) : NULL, o.missing);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	__attribute__((cleanup(symlog_list_deinit))) struct symlog_list logs = { 0 };
	__attribute__((cleanup(destroy_tally))) struct markup_tally *tally = NULL;
	struct symcache_caches_options from = {
		.store_optional = true,
		.debug_dirs = o.debug_dirs.items ? o.debug_dirs.items : symcache_debug_dirs,
		.search_debug_dirs = true,
		.any_build_id = o.form.dialect == MARKUP_LLVM,
	};
	const struct symcache_maps maps = { .path_maps = o.path_maps.items };
	struct symcache_source_search search = { .folders = o.source_dirs.items };
	struct cmd_caches c;
	struct markup_options markup = form_markup(&o.form);
	bool no_store;
	int status;

	if (o.plan)
		return filter_task(argc, err);
	markup.color = choose_color();
	markup.group = o.group;
	markup.link = o.link;
	markup.path_maps = o.path_maps.items;
	markup.own = o.own.items;
	markup.collect_dumpfiles = o.dumpfile_output;
	logs.except = o.output_dir;
	logs.fault = cmd_complain;
	for (int i = 0; i < argc || !i; i++)
		if (symlog_list_add(&logs, argc ? argv[i] : "-", argc <= 1, choose_jobs(), NULL))
			must(NULL);
	markup.name_inputs = !o.output_dir && logs.num > 1;
	if (logs.num == 1)
		markup.title = strcmp(logs.logs[0].path, "-") ? logs.logs[0].path : "standard input";
	if (!form_valid(&o.form))
		return STATUS_ERROR;
	if (check_options(&logs, &markup, err))
		return err->code;
	/* What comes through a pipe would be lost. */
	no_store = !sites_named(&o.sites) && named_store_missing(o.store);
	if (no_store && (logs.num != 1 || strcmp(logs.logs[0].path, "-")))
		return STATUS_ERROR;
	if (markup_tally_create(&tally))
		return sc_no_memory(err);
	if (symcache_transforms_init(&search.maps, &maps, err) ||
	    servers_create(&o.fetch, &o.sites, &from, err)) {
		symcache_transforms_deinit(&search.maps);
		return err->code;
	}
	cmd_caches_init(&c, o.store, from);
	c.brief = true;
	search.files = must(symcache_debug_files_create(from.debug_dirs, NULL));
	const struct symlog_sources from_where = {
		.find = {
			.caches = c.caches, .modules = o.form.modules.items,
			.num_modules = o.form.modules.len, .option = "--module",
		},
		.raw = o.form.raw, .search = &search, .source_lines = o.source_lines,
	};
	status = symcache_finder_check(&from_where.find, err);
	if (!status)
		status = o.output_dir && o.group ?
				 filter_groups(&logs, &markup, &from_where, tally, err) :
			 o.output_dir ? filter_each(&logs, &markup, &from_where, tally, err) :
					filter_all(&logs, &markup, &from_where, tally, NULL, err);
	symcache_debug_files_destroy(search.files);
	symcache_transforms_deinit(&search.maps);
	cmd_caches_deinit(&c);
	servers_destroy(&from);
	if (status < 0)
		return status;
	report(&logs, tally, status == STATUS_OK);
	if (o.missing && write_missing(tally, o.missing, err))
		return err->code;
	if (status == STATUS_OK && (no_store || c.failed || other_builds(tally)))
		status = STATUS_PARTLY;
	/* What was said may lack something. */
	return sc_memory_refusals() ? sc_no_memory(err) : status;
}

const struct command filter_command = {
	.name = "filter",
	.operands = "[FILE|FOLDER]...",
	.summary = "turn addresses in logs into functions, files and lines",
	.description =
		"Copies logs (standard input, files, or all files in folders; \"-\" is standard "
		"input; gzip, xz and zstd are unpacked) to standard output. In symbolizer markup "
		"({{{module:...}}}, {{{bt:...}}} and the like) and in backtraces of sanitizers, "
		"libraries, systems and tools ('--input help' lists them) it replaces addresses by "
		"functions, files and lines, inlined functions included. Everything else is copied "
		"byte for byte. Live input is shown line by line.\n\n"
		"Symbols are looked up in the store by the build IDs in the log, then in separate "
		"debug files, then in the module's own file if it is where the log says and has the "
		"same build ID. A frame without symbols still shows its module and the address in "
		"it, and one warning names the module. Neither that nor malformed markup changes the "
		"exit status.",
	.opts = opts,
	.essential = "store module debug-file-directory format source group output-dir jobs summary quiet",
	.examples =
		"  ./server 2>&1 | symcache filter\n"
		"  symcache filter --summary crash.log > crash.txt\n"
		"  symcache filter --debug-file-directory build/debug crash.log\n",
	.partly = "with --output-dir, some log failed; or --store is missing and standard input was "
		  "filtered without it; or the size of a symbol differs from the log",
	.failed = "an input could not be read, or the output could not be written",
	.see_also = "symcache-index(1) symcache-lookup(1) symcache-export(1) symcache-plan(1)",
	.run = run,
};
