/*
 * symcache trace: GDB trace files, symbolized out of the store: options and messages.
 *
 * Exit status: 1 where a file breaks off or a frame is damaged (all that can be
 * read is shown) and where no frame is selected; 2 where there is nothing to show.
 */
#include <inttypes.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "libsymcache/report/report.h"

static struct {
	struct opt_list images;
	const char *store;
	int order, json;
	bool registers, hexdump, backtrace, summary, demangle;
	struct opt_list by[SYMTRACE_BYS];
} o = { .demangle = true };

static const char *const orders[] = { "auto", "little", "big", NULL };
static const char *const formats[] = { "text", "json", NULL };

static const struct opt opts[] = {
	OPT_SECTION("Program and symbols"),
	{ "module", 'm', OPT_LIST, &o.images, "FILE|BUILDID[@BIAS]",
	  "an ELF file or build ID that was loaded, and its bias (hex); may be repeated",
	  NULL, NULL },
	OPTS_STORE_READ(&o.store),
	{ "byte-order", 0, OPT_ENUM, &o.order, "auto|little|big",
	  "byte order of the target (auto: from the modules, the target description or the frames)",
	  orders, NULL },
	OPT_SECTION("Output"),
	{ "format", 0, OPT_ENUM, &o.json, "text|json",
	  "text (default) or json, one object a line for each definition and frame", formats, NULL },
	OPT_FORMAT_JSON(&o.json, formats),
	{ "registers", 'r', OPT_FLAG, &o.registers, NULL, "show all registers", NULL, NULL },
	{ "backtrace", 'b', OPT_FLAG, &o.backtrace, NULL,
	  "show the stack of each frame, as far as registers and stack memory were collected", NULL, NULL },
	{ "hexdump", 'x', OPT_FLAG, &o.hexdump, NULL, "show the bytes of memory", NULL, NULL },
	{ "summary", 's', OPT_FLAG, &o.summary, NULL,
	  "count the frames by tracepoint and by source line", NULL, NULL },
	{ "demangle", 0, OPT_BOOL, &o.demangle, NULL, "show names demangled (the default)",
	  NULL, NULL },
	OPT_SECTION("Which frames"),
	{ "tracepoint", 't', OPT_LIST, &o.by[SYMTRACE_BY_TRACEPOINT], "N",
	  "only frames of this tracepoint", NULL, NULL },
	{ "frame", 'f', OPT_LIST, &o.by[SYMTRACE_BY_FRAME], "N", "only this frame", NULL, NULL },
	{ "pc", 0, OPT_LIST, &o.by[SYMTRACE_BY_PC], "ADDR", "only frames at this address", NULL, NULL },
	{ "range", 0, OPT_LIST, &o.by[SYMTRACE_BY_RANGE], "A,B",
	  "only frames at addresses from A to B", NULL, NULL },
	{ "line", 'l', OPT_LIST, &o.by[SYMTRACE_BY_LINE], "FILE:LINE",
	  "only frames in this source line", NULL, NULL },
	{ 0 },
};

/* Behind what is on standard output so far. */
static void complain(void *ctx, const char *message)
{
	(void)ctx;
	mk_out_flush(&out_stdout);
	cmd_error("%s", message);
}

static int trace_one(const char *path, const struct markup_trace_options *options)
{
	struct markup_traced traced;
	struct sc_error err;
	int status = STATUS_OK;

	if (markup_trace_report(path, options, &out_stdout, &traced, &err)) {
		cmd_error("%s: %s", path, err.msg);
		return STATUS_ERROR;
	}
	mk_out_flush(&out_stdout);
	if (!traced.frames && symtrace_select_any(options->select)) {
		cmd_error("%s: No trace frame found", path);
		status = STATUS_PARTLY;
	}
	if (traced.unplaced)
		cmd_error("%s: no frame lies in %s (the first one is at 0x%" PRIx64 "): it can be "
			  "loaded anywhere; say how far from its own addresses with --module %s@%s",
			  path,
			  symcache_process_image_at(options->images, traced.unplaced - 1)->name,
			  traced.first_pc, o.images.items[traced.unplaced - 1],
			  traced.by_gdb ? "555555554000" : "BIAS");
	if (traced.faults > MARKUP_TRACE_FAULTS)
		cmd_error("%s: %u more errors", path, traced.faults - MARKUP_TRACE_FAULTS);
	return traced.faults ? STATUS_PARTLY : status;
}

/* Modules and selection from the options; reports what is wrong with them. */
static bool set_up(struct symcache_process *images, struct symtrace_select *select)
{
	static const char *const names[] = { "tracepoint", "frame", "pc", "range", "line" };
	struct sc_error err;

	for (size_t i = 0; i < o.images.len; i++)
		if (symcache_process_load(images, o.images.items[i], &err)) {
			cmd_error("--module %s: %s", o.images.items[i], err.msg);
			return false;
		}
	if (o.backtrace && !o.images.len) {
		cmd_error("--backtrace needs the program, for its unwind information: give it with --module");
		return false;
	}
	for (enum symtrace_by by = 0; by < SYMTRACE_BYS; by++)
		for (size_t i = 0; i < o.by[by].len; i++)
			if (symtrace_select_add(select, by, o.by[by].items[i], &err)) {
				cmd_error("--%s %s", names[by], err.msg);
				return false;
			}
	return true;
}

static int run_trace(int argc, char **argv, struct sc_error *err)
{
	const struct symcache_names_options how = { .mangled = !o.demangle };
	struct symcache_names *names = must(symcache_names_create(&how));
	struct symtrace_select select = { 0 };
	struct symcache_process *images;
	struct cmd_caches caches;
	int status = STATUS_ERROR;

	cmd_caches_init(&caches, o.store, (struct symcache_caches_options){ 0 });
	images = must(symcache_process_create(&(struct symcache_finder){
			.find = symcache_find_module, .caches = caches.caches }));
	if (argc == 0) {
		status = sc_error_set(err, SC_EINVAL, "no trace file given");
	} else if (!named_store_missing(o.store) && set_up(images, &select)) {
		const struct markup_trace_options options = {
			.json = o.json, .named = argc > 1, .registers = o.registers,
			.hexdump = o.hexdump, .backtrace = o.backtrace, .summary = o.summary,
			.order = (enum symtrace_order)o.order, .select = &select,
			.images = images, .caches = caches.caches, .names = names,
			.complain = complain,
		};

		status = STATUS_OK;
		for (int i = 0; i < argc; i++) {
			const int one = trace_one(argv[i], &options);

			status = one > status ? one : status;
		}
	}
	symtrace_select_deinit(&select);
	symcache_process_destroy(images);
	symcache_names_destroy(names);
	cmd_caches_deinit(&caches);
	return status;
}

const struct command trace_command = {
	.name = "trace",
	.operands = "FILE...",
	.summary = "symbolize GDB trace files",
	.description =
		"Reads a trace file of GDB's tsave: shows how the trace run ended, its tracepoints "
		"and variables, and for each frame where the program was (functions with inlined "
		"ones, files and lines) and what was collected. Neither the program nor its sources "
		"nor GDB need to be there: symbols come from the store.\n\n"
		"A trace file does not say which ELF files were loaded, nor where. Give each with "
		"--module: the program itself, and shared libraries and position-independent "
		"programs with the bias that was added to their addresses (GDB's 'info proc "
		"mappings', or /proc/PID/maps). What the store lacks is indexed in memory from the "
		"file.\n\n"
		"With --backtrace the stack of each frame is shown, also without the program, if "
		"registers and stack memory were collected; 'collect $regs, *(unsigned char "
		"*)$rsp@4096' is enough for most stacks. A frame that was found without unwind "
		"information is marked with '?' and how it was found.\n\n"
		"Options that select frames show nothing else. A repeated option selects any of its "
		"values; different options must all match. Addresses are hex, with or without 0x.",
	.opts = opts,
	.essential = "module store format registers backtrace tracepoint frame line summary",
	.examples =
		"  symcache trace --module ./server run.tf\n"
		"  symcache trace --module ./server@555555554000 --module libx.so@7ffff7fbb000 "
		"run.tf\n"
		"  symcache trace --module ./server --line server.c:120 --registers run.tf\n"
		"  symcache trace --module ./server --backtrace --frame 7 run.tf\n"
		"  symcache trace --module 4f1a... --summary long-run.tf\n",
	.partly = "a file is truncated or a frame is damaged (what can be read is shown), or no "
		  "frame is selected",
	.failed = "there is nothing to show",
	.see_also = "symcache-index(1) gdb(1) gdbserver(1)",
	.run = run_trace,
};
