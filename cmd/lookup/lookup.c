/*
 * symcache lookup: addresses → functions, files and lines, as llvm-symbolizer
 * reads and writes them; with options, names and messages of our own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/color.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/lookup/answering.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/write/build.h"

static struct {
	const char *build_id, *file, *cache, *named, *store, *symbol, *where;
	struct opt_list debug_dirs, path_maps, source_dirs;
	struct fetch_options fetch;
	struct sites_options sites;
	struct symcache_answer_options how;
	int color;
	bool version;
} o = { .how = { .functions = MARKUP_FUNCTIONS_LINKAGE, .demangle = true, .inlines = true } };

static const struct opt opts[] = {
	OPT_SECTION("Module"),
	{ "build-id", 0, OPT_STRING, &o.build_id, "HEX",
	  "look in the store's cache of this build ID; a prefix that matches one entry is enough" },
	{ "file", 'e', OPT_STRING, &o.file, "FILE",
	  "look in this ELF file: in the store's cache of its build ID, or else in one made for "
	  "this run" },
	{ "obj", 0, OPT_STRING, &o.file, "FILE", NULL },
	{ "exe", 0, OPT_STRING, &o.file, "FILE", NULL },
	{ "cache", 0, OPT_STRING, &o.cache, "FILE", "look in this SymCache file" },
	{ "module", 0, OPT_STRING, &o.named, "NAME",
	  "look in the only entry of the store with this file name: kvm for kvm.ko.xz, vmlinux" },
	OPT_SECTION("Instead of addresses"),
	{ "symbol", 0, OPT_STRING, &o.symbol, "NAME",
	  "print where functions and variables of this name are: a linkage name, a name as it is "
	  "shown, with or without parameters, or a pattern with '*' and '?'" },
	{ "where", 0, OPT_STRING, &o.where, "FILE:LINE",
	  "print where the code of this line is, inlined or not; FILE is a path or its last "
	  "parts" },
	OPT_SECTION("Symbols"),
	OPTS_STORE_READ(&o.store),
	OPT_DEBUG_DIRS(&o.debug_dirs),
	OPTS_SITES(&o.sites),
	OPT_FETCH(&o.fetch, "ask the servers in $DEBUGINFOD_URLS for what the store lacks, and "
		  "store it"),
	OPT_SECTION("Answers"),
	{ "output-style", 0, OPT_ENUM, &o.how.style, "STYLE", "LLVM (default), GNU or JSON",
	  .choices = markup_answer_styles },
	OPT_RAW(&o.how.raw),
	{ "json", 0, OPT_ENUM, &o.how.style, NULL, "the same as --output-style=JSON",
	  markup_answer_styles, "JSON" },
	OPT_COLOR(&o.color),
	{ "explain", 0, OPT_FLAG, &o.how.explain, NULL,
	  "show where the answer comes from: the range, unit, entries, line row and symbol; reads "
	  "the debug file" },
	{ "also", 0, OPT_FLAG, &o.how.also, NULL,
	  "also list the other names of the code: aliases, and functions that the linker folded "
	  "into one" },
	{ "functions", 'f', OPT_ENUM, &o.how.functions, "KIND",
	  "names of functions: none, short or linkage (default)", .choices = markup_functions,
	  .implied = "linkage" },
	{ "demangle", 'C', OPT_BOOL, &o.how.demangle, NULL, "demangle names (default)" },
	{ "inlines", 'i', OPT_BOOL, &o.how.inlines, NULL,
	  "show all inlined frames of an address (default)" },
	{ "inlining", 0, OPT_BOOL, &o.how.inlines, NULL, NULL },
	{ "basenames", 's', OPT_FLAG, &o.how.basenames, NULL, "file names without directories",
	  .instead = &o.how.relative_names },
	{ "relativenames", 0, OPT_FLAG, &o.how.relative_names, NULL,
	  "file names without the compilation directory", .instead = &o.how.basenames },
	{ "addresses", 'a', OPT_FLAG, &o.how.addresses, NULL, "show the address before its answer" },
	{ "print-address", 0, OPT_FLAG, &o.how.addresses, NULL, NULL },
	{ "pretty-print", 'p', OPT_FLAG, &o.how.pretty, NULL, "one line for each frame; JSON indented" },
	{ "verbose", 0, OPT_FLAG, &o.how.verbose, NULL, "show where functions start" },
	OPTS_SOURCE(&o.how.source_lines, &o.path_maps, &o.source_dirs),
	{ "print-source-context-lines", 0, OPT_NUMBER, &o.how.source_lines, "N", NULL },
	OPT_SECTION("Addresses"),
	{ "adjust-vma", 0, OPT_NUMBER, &o.how.adjust_vma, "OFFSET", "subtract this from each address" },
	{ "relative-address", 0, OPT_FLAG, &o.how.relative_address, NULL,
	  "addresses count from the image's load base, not from 0" },
	{ "version", 'v', OPT_FLAG, &o.version, NULL, NULL },
	{ 0 },
};

/* Does this operand go on in the next one? */
static bool goes_on(const char *operand)
{
	return !strcmp(operand, "CODE") || !strcmp(operand, "DATA") || !strcmp(operand, "FRAME") ||
	       ((!strncmp(operand, "FILE:", 5) || !strncmp(operand, "BUILDID:", 8)) &&
		!strchr(operand, ' '));
}

/* Makes lines of operands, in place: "DATA", "FILE:x", "0x10" are one. Returns how many; they
 * live as long as the program. */
static int lines_of_operands(char **operands, int n)
{
	int lines = 0;

	for (int i = 0; i < n; i++) {
		char *line = operands[i], *shorter = NULL;

		while (i + 1 < n && (goes_on(operands[i]) || *operands[i + 1] == '[')) {
			line = must_asprintf("%s %s", line, operands[++i]);
			free(shorter);
			shorter = line;
		}
		operands[lines++] = line;
	}
	return lines;
}

static int look_up(const struct symcache_caches_options *from, int argc, char **argv)
{
	struct symcache_answer_options *how = &o.how;
	struct cmd_caches caches;
	int status;

	how->kind = o.build_id ? SYMCACHE_MODULE_BUILD_ID :
		    o.file ? SYMCACHE_MODULE_FILE : SYMCACHE_MODULE_CACHE;
	how->name = o.build_id ? o.build_id : o.file ? o.file : o.cache;
	how->tool = cmd_name;
	how->debug_dirs = o.debug_dirs.items;
	how->color = color_wanted(o.color);
	how->reasons = isatty(STDERR_FILENO);
	how->search.folders = o.source_dirs.items;
	cmd_caches_init(&caches, o.store, *from);
	if (o.where && how->style != MARKUP_STYLE_JSON)
		how->pretty = true;
	status = o.where ? answer_find(*how, caches.caches, SYMCACHE_FIND_LINE, o.where) :
		 o.symbol ? answer_find(*how, caches.caches, SYMCACHE_FIND_NAME, o.symbol) :
		 answer_input(*how, caches.caches, lines_of_operands(argv, argc), argv);
	cmd_caches_deinit(&caches);
	return status;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	static char id[SYMCACHE_BUILD_ID_TEXT];
	const struct symcache_maps maps = { .path_maps = o.path_maps.items };
	struct symcache_transforms *paths = &o.how.search.maps;
	struct symcache_caches_options from = { .debug_dirs = NULL };
	int status;

	if (o.version) {
		puts(symcache_version);
		return STATUS_OK;
	}
	if (!!o.build_id + !!o.file + !!o.cache + !!o.named > 1)
		return sc_error_set(err, SC_EINVAL,
				    "--build-id, --file, --cache and --module are mutually exclusive");
	if ((o.symbol || o.where) && (argc || (o.symbol && o.where) || o.how.explain ||
				      !(o.build_id || o.file || o.cache || o.named)))
		return sc_error_set(err, SC_EINVAL, "%s", "--symbol and --where cannot be combined with each "
				    "other, addresses or --explain, and need --file, --module, --build-id "
				    "or --cache");
	/* A file can do without one, unless it is asked for here. */
	if ((o.store || o.build_id || o.named) && !sites_named(&o.sites) &&
	    named_store_missing(o.store))
		return STATUS_ERROR;
	if (o.named) {
		status = find_named(o.store, o.named, id);
		if (status)
			return status;
		o.build_id = id;
	}
	if (symcache_transforms_init(paths, &maps, err) ||
	    servers_create(&o.fetch, &o.sites, &from, err)) {
		symcache_transforms_deinit(paths);
		return err->code;
	}
	from.debug_dirs = o.debug_dirs.items;
	status = look_up(&from, argc, argv);
	symcache_transforms_deinit(paths);
	servers_destroy(&from);
	return status;
}

const struct command lookup_command = {
	.name = "lookup",
	.operands = "[[CODE|DATA|FRAME] [FILE:PATH|BUILDID:HEX] ADDRESS]...",
	.summary = "look addresses up: functions, files and lines",
	.description =
		"Prints the functions (inlined ones first), files and lines of addresses; with DATA "
		"the variable at an address, with FRAME the local variables, if the debug file is "
		"there or was indexed with --locals. Addresses are those of the ELF file (p_vaddr), "
		"in decimal or as 0x..., or SYMBOL or SYMBOL+OFFSET, also as a kernel prints them: "
		"vfs_read+0x9d/0x2d0, ffffffff812345f0. They come from the arguments or, if there "
		"are none, line by line from standard input, each answered at once. Input and output "
		"are those of llvm-symbolizer, except that functions without a linkage name have "
		"their scopes: ns::Item::total (in JSON as QualifiedName).\n\n"
		"The module is given once by --build-id, --module, --file or --cache, or in front of "
		"each address. --explain shows where an answer comes from: what the cache says, and "
		"the debug information that it was made from, if that file is still there.\n\n"
		"In the other direction, --symbol lists address, size and name of functions and "
		"variables, and --where the code of a line: its address ranges, and the functions it "
		"was inlined into. If the line is a call that was inlined, that is the code of the "
		"function called.\n\n"
		"For a --file that is not in the store, the first addresses read only the "
		"compilation units that can contain them, as making a whole cache takes longer; "
		"units that were not read are not reported if they are broken.",
	.opts = opts,
	.essential = "store file module build-id cache symbol where output-style json source explain debug-file-directory",
	.examples =
		"  symcache lookup --file /usr/bin/python3 0x1234\n"
		"  symcache lookup --module libc.so.6 --symbol 'pthread_*'\n"
		"  symcache lookup --file ./a.out --where main.c:20\n"
		"  symcache lookup --build-id 8a3f --output-style=JSON < addresses\n"
		"  echo 'CODE \"/usr/lib/my lib.so\" 0x1234' | symcache lookup\n",
	.partly = "something was not found",
	.see_also = "symcache-index(1) symcache-filter(1) addr2line(1) llvm-symbolizer(1)",
	.run = run,
};
