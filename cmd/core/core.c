/*
 * symcache core: the stacks of core files, from a store of caches: neither the programs
 * nor their debug files need to be there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/color.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/opt.h"
#include "cmd/cli/output.h"
#include "cmd/cli/page.h"
#include "cmd/cli/store.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/report/report.h"

static struct {
	const char *store;
	const char *link;
	struct opt_list debug_dirs, modules, threads, path_maps, source_dirs, own;
	uint64_t source_lines;
	struct fetch_options fetch;
	struct sites_options sites;
	bool all, registers, summary;
	int format, color;
	bool live; /* processes that run, not files */
} o;

static const char *const formats[] = { "text", "json", "html", NULL };

static const struct opt opts[] = {
	OPT_SECTION("Stacks"),
	{ "all", 0, OPT_FLAG, &o.all, NULL, "show each thread's stack, even if several are equal" },
	{ "thread", 0, OPT_LIST, &o.threads, "TID", "show the stack of this thread only; may be repeated" },
	{ "registers", 0, OPT_FLAG, &o.registers, NULL,
	  "show the registers of each frame that are known" },
	{ "summary", 0, OPT_FLAG, &o.summary, NULL,
	  "show the modules instead of the stacks: how many frames each has, and what it lacks" },
	OPT_SECTION("Output"),
	{ "format", 0, OPT_ENUM, &o.format, "FORM",
	  "text (default), json (an object for each thread, one a line) or html (one page to "
	  "read and search)",
	  formats },
	OPT_FORMAT_JSON(&o.format, formats),
	OPT_COLOR(&o.color),
	OPTS_PAGE(&o.link, &o.own),
	OPTS_SOURCE(&o.source_lines, &o.path_maps, &o.source_dirs),
	OPT_SECTION("Symbols"),
	OPTS_STORE_READ(&o.store),
	{ "module", 0, OPT_LIST, &o.modules, "PATH=ID|FILE",
	  "the build ID or ELF file of the core's module PATH (or its last part), if the core "
	  "does not have it; may be repeated" },
	OPT_DEBUG_DIRS(&o.debug_dirs),
	OPTS_SITES(&o.sites),
	OPT_FETCH(&o.fetch, "ask the servers in $DEBUGINFOD_URLS for what the store lacks, programs and "
		  "debug files"),
	{ 0 },
};

/* What the stacks needed and did not have, once for each module. Is anything missing? */
static bool report_missing(const struct symcache_core *core)
{
	const bool terminal = !o.summary && isatty(STDERR_FILENO);
	bool any = core->missing;
	char id[SYMCACHE_BUILD_ID_TEXT];

	for (size_t i = 0; i < core->num_modules; i++) {
		const struct symcache_image *m = core->modules[i];

		if (m->frames && m->cache && terminal && symcache_lacks_lines(m->cache))
			cmd_error("%s: no debug information (symbols: %s): index its debug file, too", m->name,
				  symcache_kind_of_symbols(m->cache));
		if (!m->frames || m->cache)
			continue;
		any = true;
		symcache_build_id_text(id, m->build_id, m->build_id_len);
		if (!o.summary)
			cmd_error("%s%s%s%s: %s", m->name, *id ? " (build ID " : "", id, *id ? ")" : "",
				  m->why.msg);
	}
	if (core->missing)
		cmd_error("the file is cut off: %s%" PRIu64 " byte%s of memory missing",
			  core->missing == 1 ? "at least " : "", core->missing,
			  core->missing == 1 ? "" : "s");
	return any;
}

/* What --module says of the modules. */
static bool bind_modules(struct symcache_core *core)
{
	struct sc_error err;

	for (size_t i = 0; i < o.modules.len; i++)
		if (symcache_core_bind(core, o.modules.items[i], &err)) {
			cmd_error("--module %s%s", err.msg, err.code == SC_ENOTFOUND ?
				  "; --summary lists them" : "");
			return false;
		}
	return true;
}

/* Says which threads of --thread the core lacks, and some that it has. */
static bool name_absent_threads(const struct symcache_core *core,
				const struct markup_core_options *options)
{
	const size_t some = core->num_threads < 8 ? core->num_threads : 8;
	char list[8 * 12 + 8] = "";
	size_t len = 0, absent = 0;

	for (size_t i = 0; i < some; i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%" PRIu32, i ? ", " : "",
					core->threads[i].tid);
	if (some < core->num_threads)
		snprintf(list + len, sizeof(list) - len, ", ...");
	for (size_t i = 0; i < options->num_threads; i++) {
		size_t at = 0;

		while (at < core->num_threads && core->threads[at].tid != options->threads[i])
			at++;
		if (at < core->num_threads)
			continue;
		absent++;
		cmd_error("no thread %" PRIu32 "; there %s %s", options->threads[i],
			  core->num_threads == 1 ? "is" : "are", list);
	}
	return absent;
}

static int show(const char *path, struct symcache_core *core,
		const struct markup_core_options *options)
{
	struct markup_cored shown;
	struct sc_error err;

	if (markup_core_report(path, core, options, &out_stdout, &shown, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	mk_out_flush(&out_stdout);
	if (name_absent_threads(core, options))
		return STATUS_PARTLY;
	return report_missing(core) || shown.cut ? STATUS_PARTLY : STATUS_OK;
}

/* A file, or by its ID a process. */
static int open_core(const char *operand, struct symcache_core **ret, struct sc_error *err)
{
	char *end;
	const unsigned long pid = o.live ? strtoul(operand, &end, 10) : 0;

	if (!o.live)
		return symcache_core_open(operand, ret, err);
	if (*end || !pid || pid > INT32_MAX)
		return sc_error_set(err, SC_EINVAL, "'%.60s': not a process ID", operand);
	return symcache_core_attach((uint32_t)pid, ret, err);
}

static int run_file(const char *path, const struct symcache_caches_options *from,
		    struct markup_core_options *options)
{
	struct symcache_core *core;
	struct cmd_caches caches;
	struct sc_error err;
	int status = STATUS_ERROR;

	if (open_core(path, &core, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	cmd_caches_init(&caches, o.store, *from);
	options->caches = caches.caches;
	symcache_core_use(core, caches.caches, "--module");
	if (bind_modules(core))
		status = show(path, core, options);
	cmd_caches_deinit(&caches);
	symcache_core_close(core);
	return status;
}

/* The IDs of --thread, on the heap. */
static int thread_ids(uint32_t **ret, struct sc_error *err)
{
	uint32_t *ids = must_calloc(o.threads.len + 1, sizeof(*ids));

	for (size_t i = 0; i < o.threads.len; i++) {
		char *end;
		const unsigned long n = strtoul(o.threads.items[i], &end, 10);

		if (!*o.threads.items[i] || *end || n > UINT32_MAX) {
			free(ids);
			return sc_error_set(err, SC_EINVAL, "--thread '%s': not a thread ID",
					    o.threads.items[i]);
		}
		ids[i] = (uint32_t)n;
	}
	*ret = ids;
	return 0;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct markup_core_options options = { .format = (enum markup_report_format)o.format,
		.all = o.all, .link = o.link, .path_maps = o.path_maps.items, .own = o.own.items,
		.registers = o.registers, .summary = o.summary, .num_threads = o.threads.len,
		.color = color_wanted(o.color), .brief = isatty(STDOUT_FILENO) };
	const struct symcache_maps maps = { .path_maps = o.path_maps.items };
	struct symcache_source_search search = { .folders = o.source_dirs.items };
	struct symcache_caches_options from = { .without_symbols = true };
	uint32_t *threads = NULL;
	int status = STATUS_OK, rc;

	if (!argc)
		return sc_error_set(err, SC_EINVAL, o.live ? "no process ID given" :
				    "no core file given");
	if (o.format == MARKUP_REPORT_HTML && (argc > 1 || o.summary))
		return sc_error_set(err, SC_EINVAL, o.summary ? "--summary is not for --format html: "
				    "the page lists the modules" :
				    o.live ? "--format html takes one process" : "--format html takes one core file");
	if ((o.link || o.own.len || o.path_maps.len || o.source_lines) &&
	    o.format != MARKUP_REPORT_HTML)
		return sc_error_set(err, SC_EINVAL, "--link, --map-path, --own and --source are for "
				    "--format html");
	if (o.link && page_link_check(o.link, err))
		return err->code;
	if (!sites_named(&o.sites) && named_store_missing(o.store))
		return STATUS_ERROR;
	if (thread_ids(&threads, err))
		return err->code;
	options.threads = threads;
	options.source_lines = o.source_lines;
	options.search = &search;
	rc = symcache_transforms_init(&search.maps, &maps, err);
	rc = rc ? rc : servers_create(&o.fetch, &o.sites, &from, err);
	from.debug_dirs = o.debug_dirs.items;
	if (o.source_lines)
		search.files = must(symcache_debug_files_create(o.debug_dirs.items, NULL));
	for (int i = 0; i < argc && !rc; i++) {
		const int of = run_file(argv[i], &from, &options);

		if (i + 1 < argc && o.format == MARKUP_REPORT_TEXT)
			putchar('\n');
		status = of > status ? of : status;
	}
	symcache_debug_files_destroy(search.files);
	symcache_transforms_deinit(&search.maps);
	servers_destroy(&from);
	free(threads);
	/* What was shown may lack something. */
	return rc ? rc : sc_memory_refusals() ? sc_no_memory(err) : status;
}

const struct command core_command = {
	.name = "core",
	.operands = "FILE...",
	.summary = "show the stacks of a core file or minidump",
	.description =
		"Shows the stacks of all threads of core files and minidumps, inlined functions "
		"included, beginning with the thread that died. The programs and libraries need not "
		"be there: their unwind information and symbols come from the store, by the build "
		"IDs in the core, or else from the files of this machine that the core names, if "
		"they have those build IDs. It reads core files of x86-64, i386, AArch64 and RISC-V, "
		"also compressed (zstd, xz, lz4, gzip, bzip2), truncated ones as far as they go; and "
		"minidumps of Linux and Android (Breakpad's and Crashpad's) of x86-64, i386 and "
		"AArch64.\n\n"
		"A frame that was found without unwind information is marked with '?' and how it was "
		"found: call (a call through a bad pointer), frame pointer, or scan (a word of the "
		"stack that looks like a return address). The last line says why the stack ends. "
		"Threads with equal stacks are shown together. On a terminal, paths of sources are "
		"shortened to their last folder.\n\n"
		"Unwind information is in stripped programs and libraries, not in their debug files: "
		"index both.",
	.opts = opts,
	.essential = "store thread all registers format module summary debug-file-directory",
	.examples =
		"  symcache index /usr/bin/server /usr/lib/debug\n"
		"  symcache core core.4242\n"
		"  symcache core 5f3c1a2e.dmp\n"
		"  symcache core --format json --thread 4242 core.server.zst\n",
	.partly = "a module is not in the store, the file is cut off, or a stack ends early",
	.see_also = "symcache-index(1) symcache-export(1) gdb(1) core(5)",
	.run = run,
};

static int run_live(int argc, char **argv, struct sc_error *err)
{
	o.live = true;
	return run(argc, argv, err);
}

const struct command proc_command = {
	.name = "proc",
	.operands = "PID...",
	.summary = "show the stacks of a process that is running",
	.description =
		"Shows the stacks of all threads of a running process, inlined functions included, "
		"as 'symcache core' does for a core file. Threads are stopped, some tens at a time, only "
		"while their registers and stacks are copied, so the stacks are not all of the same "
		"moment. Symbols and unwind information come from the store, by the build IDs of "
		"what is mapped, or else from the files of this machine.\n\n"
		"JIT-compiled code is named by /tmp/perf-PID.map, if the process's owner or root "
		"owns that file and no other user can write to it. Processes of x86-64, i386, "
		"AArch64 and RISC-V are read, by a symcache of the same machine. You need the "
		"permissions of a debugger: be the process's owner, or root.",
	.opts = opts,
	.essential = "store thread all registers format module summary debug-file-directory",
	.examples =
		"  symcache index /usr/bin/server /usr/lib/debug\n"
		"  symcache proc $(pidof server)\n"
		"  symcache proc --format json --thread 4243 4242\n",
	.partly = "a module is not in the store, or a stack ends early",
	.see_also = "symcache-core(1) symcache-index(1) gdb(1) eu-stack(1) proc(5)",
	.run = run_live,
};
