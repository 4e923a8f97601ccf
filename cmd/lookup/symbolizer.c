/*
 * llvm-symbolizer and llvm-addr2line: their command line, defaults, messages and statuses.
 *
 * No line of the input ends the program; what cannot be found is "??". Nothing stands on
 * standard error that LLVM's tools would not say, but for faults of the store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/messages.h"
#include "cmd/filter/filtering.h"
#include "cmd/lookup/answering.h"
#include "cmd/lookup/dropin.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/write/build.h"

static struct {
	const char *obj, *build_id, *package, *unused;
	struct opt_list debug_dirs;
	struct symcache_answer_options how;
	uint64_t cache_size;
	int color;
	bool debuginfod, filter_markup, untag, dia, version, help, skip_line_zero;
	bool use_symbol_table, disable_gsym;
} o;

enum { COLOR_ALWAYS, COLOR_AUTO, COLOR_NEVER };
static const char *const colors[] = { "always", "auto", "never", NULL };

static const struct opt opts[] = {
	{ "addresses", 'a', OPT_FLAG, &o.how.addresses, NULL, "Show address before line information" },
	{ "print-address", 0, OPT_FLAG, &o.how.addresses, NULL, "Alias for --addresses" },
	{ "adjust-vma", 0, OPT_NUMBER, &o.how.adjust_vma, "<offset>",
	  "Add specified offset to object file addresses" },
	{ "basenames", 's', OPT_FLAG, &o.how.basenames, NULL, "Strip directory names from paths",
	  .instead = &o.how.relative_names },
	{ "build-id", 0, OPT_STRING, &o.build_id, "<value>",
	  "Build ID used to look up the object file" },
	{ "cache-size", 0, OPT_NUMBER, &o.cache_size, "<value>", "Accepted, without effect" },
	{ "color", 0, OPT_ENUM, &o.color, "<value>", "Use color when symbolizing log markup",
	  .choices = colors, .implied = "always" },
	{ "debug-file-directory", 0, OPT_LIST, &o.debug_dirs, "<dir>",
	  "Path to directory where to look for debug files" },
	{ "debuginfod", 0, OPT_BOOL, &o.debuginfod, NULL, "Use debuginfod to find debug binaries" },
	{ "default-arch", 0, OPT_STRING, &o.unused, "<value>", "Accepted, without effect" },
	{ "demangle", 'C', OPT_BOOL, &o.how.demangle, NULL, "Demangle function names" },
	{ "dia", 0, OPT_FLAG, &o.dia, NULL, "Accepted, without effect" },
	{ "disable-gsym", 0, OPT_FLAG, &o.disable_gsym, NULL, NULL },
	{ "dsym-hint", 0, OPT_STRING, &o.unused, "<dir>", "Accepted, without effect" },
	{ "dwp", 0, OPT_STRING, &o.package, "<file>", "Path to DWP file to be used for any split CUs" },
	{ "fallback-debug-path", 0, OPT_LIST, &o.debug_dirs, "<dir>",
	  "Fallback path for debug binaries" },
	{ "filter-markup", 0, OPT_FLAG, &o.filter_markup, NULL,
	  "Filter symbolizer markup from stdin" },
	{ "functions", 'f', OPT_ENUM, &o.how.functions, "<value>",
	  "Print function name for a given address", .choices = markup_functions,
	  .implied = "linkage" },
	{ "gsym-file-directory", 0, OPT_STRING, &o.unused, "<dir>", NULL },
	{ "help", 'h', OPT_FLAG, &o.help, NULL, "Display this help" },
	{ "inlines", 'i', OPT_BOOL, &o.how.inlines, NULL,
	  "Print all inlined frames for a given address" },
	{ "inlining", 0, OPT_BOOL, &o.how.inlines, NULL, "Alias for --inlines" },
	{ "obj", 'e', OPT_STRING, &o.obj, "<file>", "Path to object file to be symbolized (if not "
	  "provided, object file should be specified for each input line)" },
	{ "exe", 0, OPT_STRING, &o.obj, "<file>", "Alias for --obj" },
	{ "output-style", 0, OPT_ENUM, &o.how.style, "style",
	  "Specify print style. Supported styles: LLVM, GNU, JSON", .choices = markup_answer_styles },
	{ "pretty-print", 'p', OPT_FLAG, &o.how.pretty, NULL, "Make the output more human friendly" },
	{ "print-source-context-lines", 0, OPT_NUMBER, &o.how.source_lines, "<value>",
	  "Print N lines of source file context" },
	{ "relative-address", 0, OPT_FLAG, &o.how.relative_address, NULL,
	  "Interpret addresses as addresses relative to the image base" },
	{ "relativenames", 0, OPT_FLAG, &o.how.relative_names, NULL,
	  "Strip the compilation directory from paths", .instead = &o.how.basenames },
	{ "skip-line-zero", 0, OPT_FLAG, &o.skip_line_zero, NULL, NULL },
	{ "untag-addresses", 0, OPT_BOOL, &o.untag, NULL, "Ignore tags in the values of symbols "
	  "(default, except for llvm-addr2line)" },
	{ "use-native-pdb-reader", 0, OPT_FLAG, &o.dia, NULL, NULL },
	{ "use-symbol-table", 0, OPT_BOOL, &o.use_symbol_table, NULL, NULL },
	{ "verbose", 0, OPT_FLAG, &o.how.verbose, NULL, "Print verbose line info" },
	{ "version", 'v', OPT_FLAG, &o.version, NULL, "Display the version" },
	{ 0 },
};

/* debuginfod is asked if servers are named, as LLVM's tools do for build IDs. */
static struct symcache_debuginfod *find_servers(void)
{
	struct symcache_debuginfod *ret = NULL;
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct sc_error ignored;

	if (o.debuginfod && urls && *urls)
		symcache_debuginfod_create(24 * 3600, &ret, &ignored);
	return ret;
}

static void say_version(const char *tool)
{
	printf("%s\n  %s\n  compatible with LLVM version 19.1.7\n", tool, symcache_version);
}

/* --filter-markup */
static int filter_markup(struct symcache_caches *caches)
{
	const bool colored = o.color == COLOR_ALWAYS ||
			     (o.color == COLOR_AUTO && isatty(STDOUT_FILENO));
	const struct markup_options options = {
		.dialect = MARKUP_LLVM,
		.color = colored ? MARKUP_COLOR_ON : MARKUP_COLOR_NONE,
		.pc_innermost = o.how.functions != MARKUP_FUNCTIONS_LINKAGE,
	};
	const struct symcache_names_options names = symcache_answer_names(&o.how);
	const struct symlog_sources from = { .find.caches = caches, .names = &names };
	const struct symlog_filter_options how = filter_options(&options, &from, NULL);
	struct symlog log = { .path = "-", .alone = true,
			      .output = { STDOUT_FILENO, "standard output" } };
	enum symlog_result result = SYMLOG_FAILED;
	struct symlog_filter *f;
	struct sc_error err;

	if (!symlog_filter_create(&how, &f, &err))
		result = symlog_filter_run(f, &log, &err);
	if (!result && symlog_filter_end(f, &err))
		result = SYMLOG_FAILED;
	if (result == SYMLOG_FAILED)
		cmd_error("%s", err.msg);
	symlog_filter_destroy(f);
	return result ? 1 : 0;
}

static int symbolize(bool addr2line, const char *tool, int argc, char **argv)
{
	struct symcache_answer_options *how = &o.how;
	struct symcache_debuginfod *servers = find_servers();
	struct cmd_caches caches;
	int status;

	how->protocol = MARKUP_PROTOCOL_LLVM;
	how->hex = addr2line;
	how->keep_tags = !o.untag;
	how->debug_dirs = o.debug_dirs.items;
	how->package = o.package;
	how->tool = tool;
	how->kind = o.build_id ? SYMCACHE_MODULE_BUILD_ID : SYMCACHE_MODULE_FILE;
	how->name = o.build_id ? o.build_id : o.obj;
	cmd_caches_init(&caches, NULL, (struct symcache_caches_options){
		.debug_dirs = o.debug_dirs.items ? o.debug_dirs.items : symcache_debug_dirs,
		.search_debug_dirs = true, .store_optional = true, .package = o.package,
		.own_symbols = true, .memory_only = !may_store_answers(), .store_files = true,
		.debuginfod = servers,
	});
	caches.quiet = !getenv("SYMCACHE_VERBOSE");
	status = o.filter_markup ? filter_markup(caches.caches) :
				   answer_input(*how, caches.caches, argc, argv);
	cmd_caches_deinit(&caches);
	symcache_debuginfod_destroy(servers);
	return status;
}

static int tool_main(bool addr2line, int argc, char **argv)
{
	const char *name = addr2line ? "llvm-addr2line" : "llvm-symbolizer", *tool = argv[0];
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	o.how.functions = addr2line ? MARKUP_FUNCTIONS_NONE : MARKUP_FUNCTIONS_LINKAGE;
	o.how.style = addr2line ? MARKUP_STYLE_GNU : MARKUP_STYLE_LLVM;
	o.how.demangle = o.how.inlines = o.untag = !addr2line;
	o.debuginfod = true;
	o.color = COLOR_AUTO;
	argv = opt_expand(&argc, argv, getenv(addr2line ? "LLVM_ADDR2LINE_OPTS" :
							 "LLVM_SYMBOLIZER_OPTS"));
	argc = opt_parse_llvm(opts, argv);
	if (argc < 0)
		return 1;
	if (o.help) {
		opt_help_llvm(opts, name, "[options] addresses...");
		return 0;
	}
	if (o.version) {
		say_version(name);
		return 0;
	}
	if (o.build_id && o.obj) {
		fputs("error: cannot specify both --build-id and --obj\n", stderr);
		return 1;
	}
	if (o.build_id && !symcache_build_id_read(o.build_id, id, &len)) {
		fprintf(stderr, "--build-id=: expected a build ID, but got '%s'\n", o.build_id);
		return 1;
	}
	return symbolize(addr2line, tool, argc, argv);
}

int symbolizer_main(int argc, char **argv)
{
	return tool_main(false, argc, argv);
}

int llvm_addr2line_main(int argc, char **argv)
{
	return tool_main(true, argc, argv);
}
