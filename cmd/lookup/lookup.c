/*
 * symcache lookup: addresses → functions, files and lines, as llvm-symbolizer
 * reads and writes them. Lines of input are answered and flushed before more is
 * waited for, so that another program can hold a dialogue with it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/index/fetch.h"
#include "cmd/lookup/answer.h"
#include "cmd/lookup/explain.h"
#include "cmd/lookup/lines.h"
#include "cmd/lookup/query.h"
#include "symcache/build.h"
#include "symcache/symcache.h"

enum { FUNCTIONS_NONE, FUNCTIONS_SHORT, FUNCTIONS_LINKAGE };

static struct {
	const char *build_id, *file, *cache, *named, *store;
	struct opt_list debug_dirs;
	struct fetch_options fetch;
	int style, functions;
	bool demangle, inlines, basenames, relative_names;
	bool addresses, pretty, verbose, relative_address, explain, json, version;
	uint64_t adjust_vma;
} o = { .functions = FUNCTIONS_LINKAGE, .demangle = true, .inlines = true };

static const char *const styles[] = { "LLVM", "GNU", "JSON", NULL };
static const char *const function_styles[] = { "none", "short", "linkage", NULL };

static const struct opt opts[] = {
	{ "build-id", 0, OPT_STRING, &o.build_id, "HEX",
	  "look into the store's cache of this build ID; a prefix that fits one is enough" },
	{ "file", 'e', OPT_STRING, &o.file, "FILE",
	  "look into this ELF file: the store's cache of its build ID, else one made on the spot" },
	{ "obj", 0, OPT_STRING, &o.file, "FILE", NULL },
	{ "exe", 0, OPT_STRING, &o.file, "FILE", NULL },
	{ "cache", 0, OPT_STRING, &o.cache, "FILE", "look into this SymCache file" },
	{ "module", 0, OPT_STRING, &o.named, "NAME",
	  "look into the one entry of the store with this file name: kvm for …/kvm.ko.xz, vmlinux" },
	OPT_STORE(&o.store),
	OPT_DEBUG_DIRS(&o.debug_dirs),
	OPT_FETCH(&o.fetch, "ask the servers in $DEBUGINFOD_URLS for what the store lacks, and "
		  "store it"),
	{ "output-style", 0, OPT_ENUM, &o.style, "STYLE", "LLVM (default), GNU or JSON",
	  .choices = styles },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "the same as --output-style=JSON" },
	{ "explain", 0, OPT_FLAG, &o.explain, NULL,
	  "say why: the range, unit, entries, line row and symbol that decide; reads the "
	  "debug file" },
	{ "functions", 'f', OPT_ENUM, &o.functions, "KIND",
	  "names of functions: none, short or linkage (default)", .choices = function_styles,
	  .implied = "linkage" },
	{ "demangle", 'C', OPT_BOOL, &o.demangle, NULL, "demangle names (default)" },
	{ "inlines", 'i', OPT_BOOL, &o.inlines, NULL,
	  "show all inlined frames of an address (default)" },
	{ "inlining", 0, OPT_BOOL, &o.inlines, NULL, NULL },
	{ "basenames", 's', OPT_FLAG, &o.basenames, NULL, "file names without directories" },
	{ "relativenames", 0, OPT_FLAG, &o.relative_names, NULL,
	  "file names without the compilation directory" },
	{ "addresses", 'a', OPT_FLAG, &o.addresses, NULL, "show the address before its answer" },
	{ "print-address", 0, OPT_FLAG, &o.addresses, NULL, NULL },
	{ "pretty-print", 'p', OPT_FLAG, &o.pretty, NULL, "one line for each frame; JSON indented" },
	{ "verbose", 0, OPT_FLAG, &o.verbose, NULL, "show where functions start" },
	{ "adjust-vma", 0, OPT_NUMBER, &o.adjust_vma, "OFFSET", "subtract this from each address" },
	{ "relative-address", 0, OPT_FLAG, &o.relative_address, NULL,
	  "addresses count from the image's load base, not from 0" },
	{ "version", 'v', OPT_FLAG, &o.version, NULL, NULL },
	{ 0 },
};

/* All that answering needs. */
struct lookup {
	enum module_kind kind;   /* the command line's module, or MODULE_NONE */
	const char *name;
	char *shown;             /* how answers call it */
	struct symcache_module *module;
	struct cmd_caches caches;
	struct symcache_debuginfod *debuginfod;
	struct symcache_names *names;
	struct symcache_symbolizer *symbolizer;
	const struct symcache_module *opened; /* the last one that was asked; or NULL */
	struct answer_options options;
	struct style_options style;
	struct json *json;       /* NULL: a plain style */
	struct answer answer;
	bool explained;          /* the current answer is out already */
	bool partly;             /* something was not found */
};

/* A line of input that is understood. */
struct request {
	const char *line;
	const char *wrong;       /* why it is not; or NULL */
	struct query query;
	char *name;              /* of its module, as it stands there; NULL: the command line's */
	struct symcache_module *module; /* NULL: there is none */
};

static void print_answer(struct lookup *l)
{
	if (l->json)
		style_json_print(l->json, &l->answer);
	else
		style_plain_print(&l->style, &l->answer);
}

/* A build ID as answers show it. */
static char *upper_case(const char *text)
{
	char *copy = must_asprintf("%s", text);

	for (char *c = copy; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

static struct symcache_module *find_module(struct lookup *l, enum module_kind kind,
					   const char *name)
{
	static const enum symcache_module_kind kinds[] = {
		[MODULE_FILE] = SYMCACHE_MODULE_FILE,
		[MODULE_BUILD_ID] = SYMCACHE_MODULE_BUILD_ID,
		[MODULE_CACHE] = SYMCACHE_MODULE_CACHE,
	};

	return symcache_caches_module(l->caches.caches, kinds[kind], name);
}

/* Explains an address of code instead of answering. */
static bool explain(struct lookup *l, const struct symcache *cache, const struct request *r)
{
	const char *files[3];
	struct explain_request request = {
		.cache = cache,
		.module = l->answer.module,
		.elf_files = files,
		.debug_dirs = o.debug_dirs.items,
		.vaddr = answer_address(&r->query, &l->options),
		.symbolizer = l->symbolizer,
	};
	struct explained e;
	bool found;

	symcache_module_files(r->module, files);
	found = explain_find(&request, &e);
	if (symcache_module_sound(r->module, cache)) {
		if (l->json)
			style_json_explain(l->json, &e);
		else
			explain_text(&e);
		l->explained = true;
	}
	explain_deinit(&e);
	return found;
}

/* Announces the requests from the first one on that are for code of its module, which is
 * open; returns how many they are, at least 1. */
static size_t announce(struct lookup *l, const struct request *r, size_t n)
{
	struct symcache_module *modules[SYMCACHE_BATCH];
	uint64_t vaddrs[SYMCACHE_BATCH];
	size_t i = 0;

	for (; i < n && r[i].module == r->module && r[i].query.kind == QUERY_CODE &&
	       !r[i].query.symbol.ptr; i++) {
		modules[i] = r->module;
		vaddrs[i] = answer_address(&r[i].query, &l->options);
	}
	symcache_symbolize_ahead(l->symbolizer, modules, vaddrs, i);
	return i + !i;
}

/* Asks the module and fills in the answer. */
static void ask(struct lookup *l, const struct request *r)
{
	const struct query *q = &r->query;
	const bool was_partly = l->partly;
	const struct symcache *cache;
	struct sc_error err = { .msg = "out of memory" };
	bool reported = false, found;

	l->partly = true;
	if (o.explain && (q->kind != QUERY_CODE || q->symbol.ptr)) {
		cmd_error("--explain is for addresses of code");
		return;
	}
	if (q->kind == QUERY_FRAME) {
		cmd_error("%s: SymCaches hold no local variables: ask with CODE or DATA",
			  r->name ? r->name : l->name);
		return;
	}
	/* Once more if the cache turns out damaged: another may be had. */
	for (int tries = 0; tries < 2; tries++) {
		if (!r->module || symcache_module_cache(r->module, &cache, &reported, &err)) {
			if (l->json)
				l->answer.error = must_asprintf("%s", err.msg);
			else if (!reported)
				cmd_error("%s", err.msg);
			return;
		}
		l->opened = r->module;
		if (o.relative_address)
			l->options.base = symcache_load_base(cache);
		found = o.explain ? explain(l, cache, r) :
			answer_query(&l->answer, l->symbolizer, r->module, q, &l->options);
		if (symcache_module_sound(r->module, cache)) {
			l->partly = was_partly || !found;
			return;
		}
		answer_forget(&l->answer);
	}
}

static struct request understand(struct lookup *l, const char *line)
{
	struct request r = { .line = line, .module = l->module };

	if (!*line)
		return r;
	r.wrong = query_parse(line, l->kind != MODULE_NONE, &r.query);
	if (l->kind == MODULE_NONE)
		r.name = must_asprintf("%.*s", (int)r.query.module.len,
				       r.query.module.len ? r.query.module.ptr : "");
	if (!r.wrong && r.name)
		r.module = find_module(l, r.query.module_kind, r.name);
	return r;
}

static void answer_request(struct lookup *l, const struct request *r)
{
	struct answer *a = &l->answer;
	char *shown = NULL;

	answer_begin(a, "");
	l->explained = false;
	/* An empty line asks whether anybody is there. */
	if (!*r->line) {
		print_answer(l);
		return;
	}
	if (r->name && r->query.module_kind == MODULE_BUILD_ID)
		shown = upper_case(r->name);
	a->module = l->shown ? l->shown : shown ? shown : r->name;
	if (r->wrong) {
		cmd_error("'%s': %s", r->line, r->wrong);
		l->partly = true;
	} else {
		a->kind = r->query.kind;
		a->symbol = r->query.symbol;
		a->has_address = !r->query.symbol.ptr;
		a->address = r->query.offset;
		ask(l, r);
	}
	if (!l->explained)
		print_answer(l);
	free((char *)a->error);
	free(shown);
}

/* Answers up to SYMCACHE_BATCH lines. */
static void answer_lines(struct lookup *l, char *const lines[], size_t n)
{
	struct request r[SYMCACHE_BATCH];

	for (size_t i = 0; i < n; i++)
		r[i] = understand(l, lines[i]);
	for (size_t i = 0, known = 0; i < n; i++) {
		if (i >= known && r[i].module && r[i].module == l->opened)
			known = i + announce(l, &r[i], n - i);
		answer_request(l, &r[i]);
		free(r[i].name);
	}
}

/* Someone may wait for an answer before they go on: so before more is waited for, what is
 * known is out, and nothing of the store is held. */
static void before_waiting(void *ctx)
{
	struct lookup *l = ctx;

	out_flush();
	symcache_caches_settle(l->caches.caches);
	l->opened = NULL;
}

static void lookup_stdin(struct lookup *l)
{
	struct lines *in = lines_create(STDIN_FILENO, before_waiting, l);
	char *lines[SYMCACHE_BATCH];
	size_t n;

	/* Nothing is waited for but the first line of a batch. */
	while ((lines[0] = lines_next(in))) {
		for (n = 1; n < SYMCACHE_BATCH && lines_ready(in); n++)
			lines[n] = lines_next(in);
		answer_lines(l, lines, n);
	}
	out_flush();
	l->partly |= lines_destroy(in);
}

/* The command line's module: find out at once whether it can be had. */
static int open_default(struct lookup *l)
{
	const struct symcache *cache;
	struct sc_error err = { .code = SC_ENOMEM, .msg = "out of memory" };
	bool reported = false;

	if (!!o.build_id + !!o.file + !!o.cache + !!o.named > 1) {
		cmd_error("--build-id, --file, --cache and --module exclude each other");
		return STATUS_ERROR;
	}
	if (o.named) {
		static char id[SYMCACHE_BUILD_ID_TEXT];
		int status = find_named(o.store, o.named, id);

		if (status)
			return status;
		o.build_id = id;
	}
	l->kind = o.build_id ? MODULE_BUILD_ID : o.file ? MODULE_FILE :
		  o.cache ? MODULE_CACHE : MODULE_NONE;
	if (l->kind == MODULE_NONE)
		return STATUS_OK;
	l->name = o.build_id ? o.build_id : o.file ? o.file : o.cache;
	l->shown = o.build_id ? upper_case(l->name) : must_asprintf("%s", l->name);
	l->module = find_module(l, l->kind, l->name);
	if (l->module && !symcache_module_cache(l->module, &cache, &reported, &err))
		return STATUS_OK;
	if (reported)
		return STATUS_PARTLY;
	cmd_error("%s", err.msg);
	return err.code == SC_ENOTFOUND ? STATUS_PARTLY : STATUS_ERROR;
}

static void lookup_deinit(struct lookup *l)
{
	symcache_symbolizer_destroy(l->symbolizer);
	symcache_names_destroy(l->names);
	cmd_caches_deinit(&l->caches);
	symcache_debuginfod_destroy(l->debuginfod);
	answer_deinit(&l->answer);
	free(l->shown);
	free(o.debug_dirs.items);
}

static int run(int argc, char **argv)
{
	__attribute__((cleanup(lookup_deinit))) struct lookup l = {
		.options = {
			.inlines = o.inlines,
			.name_of_location = o.style == STYLE_GNU || o.functions == FUNCTIONS_SHORT,
			.adjust_vma = o.adjust_vma,
		},
		.style = {
			.style = (enum output_style)o.style,
			.functions = o.functions != FUNCTIONS_NONE,
			.addresses = o.addresses,
			.pretty = o.pretty,
			.verbose = o.verbose,
		},
	};
	const struct symcache_names_options names = {
		.functions = o.functions == FUNCTIONS_NONE ? SYMCACHE_FUNCTIONS_NONE :
			     o.functions == FUNCTIONS_SHORT ? SYMCACHE_FUNCTIONS_SHORT :
							      SYMCACHE_FUNCTIONS_WHOLE,
		.mangled = !o.demangle,
		.paths = o.basenames ? SYMCACHE_PATHS_BASENAME :
			 o.relative_names ? SYMCACHE_PATHS_RELATIVE : SYMCACHE_PATHS_RAW,
		.table = SYMCACHE_TABLE_OUTERMOST,
	};
	struct sc_error err;
	size_t num_lines;
	int status;

	if (o.version) {
		puts(symcache_version);
		return STATUS_OK;
	}
	if (fetch_create(&o.fetch, &l.debuginfod, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	cmd_caches_init(&l.caches, o.store, (struct symcache_caches_options){
		.debug_dirs = o.debug_dirs.items, .debuginfod = l.debuginfod });
	l.names = must(symcache_names_create(&names));
	l.symbolizer = must(symcache_symbolizer_create(l.caches.caches, l.names));
	status = open_default(&l);
	if (status)
		return status;
	if (o.style == STYLE_JSON || o.json)
		l.json = style_json_begin(o.pretty, argc > 0);
	num_lines = lines_of_operands(argv, (size_t)argc);
	for (size_t i = 0; i < num_lines; i += SYMCACHE_BATCH)
		answer_lines(&l, argv + i, num_lines - i < SYMCACHE_BATCH ? num_lines - i : SYMCACHE_BATCH);
	if (!argc)
		lookup_stdin(&l);
	style_json_end(l.json);
	return l.partly ? STATUS_PARTLY : STATUS_OK;
}

const struct command lookup_command = {
	.name = "lookup",
	.operands = "[[CODE|DATA] [FILE:PATH|BUILDID:HEX] ADDRESS]...",
	.summary = "look addresses up: functions, files and lines",
	.description =
		"Says which functions (inlined ones first), files and lines belong to addresses, "
		"or with DATA which variable. Addresses are those of the ELF file (p_vaddr), in "
		"decimal or as 0x...; SYMBOL or SYMBOL+OFFSET will do too, also as a kernel prints "
		"them: vfs_read+0x9d/0x2d0, ffffffff812345f0. They come from the "
		"arguments or, if there are none, line by line from standard input, each answered "
		"at once. Input and output are llvm-symbolizer's.\n\n"
		"The module is named once by --build-id, --module, --file or --cache, or in front of each "
		"address. With --explain, the answer is why: what stands in the cache, and what in "
		"the debug information that it was made of, if that file is still there.",
	.opts = opts,
	.examples =
		"  symcache lookup --file /usr/bin/python3 0x1234\n"
		"  symcache lookup --build-id 8a3f --output-style=JSON < addresses\n"
		"  echo 'CODE \"/usr/lib/my lib.so\" 0x1234' | symcache lookup\n",
	.partly = "something was not found",
	.see_also = "symcache-index(1) symcache-filter(1) addr2line(1) llvm-symbolizer(1)",
	.run = run,
};
