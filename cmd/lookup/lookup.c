/*
 * symcache lookup: addresses → functions, files and lines, as llvm-symbolizer
 * reads and writes them. Lines of input are answered and flushed before more is
 * waited for, so that another program can hold a dialogue with it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/lookup/answer.h"
#include "cmd/lookup/demangle.h"
#include "cmd/lookup/explain.h"
#include "cmd/lookup/modules.h"
#include "cmd/lookup/query.h"
#include "symcache/build.h"
#include "symcache/symcache.h"

enum { MAX_LINE = 1 << 16 };

static struct {
	const char *build_id, *file, *cache, *store;
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
	const char *module;
	char *shown;             /* how answers call it */
	struct modules *modules;
	struct symcache_debuginfod *fetcher;
	struct demangler *demangler;
	struct answer_options options;
	struct style_options style;
	struct json *json;       /* NULL: a plain style */
	struct answer answer;
	bool explained;          /* the answer at hand is out already */
	bool partly;             /* something was not found */
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

/* Explains an address of code instead of answering. */
static bool explain(struct lookup *l, const struct symcache *cache, const struct query *q,
		    enum module_kind kind, const char *name)
{
	const char *sources[3];
	struct explain_request request = {
		.cache = cache,
		.module = l->answer.module,
		.elf_files = sources,
		.debug_dirs = o.debug_dirs.items,
		.vaddr = q->offset - o.adjust_vma +
			 (o.relative_address ? symcache_load_base(cache) : 0),
		.demangle = o.demangle,
		.demangler = l->demangler,
	};
	struct explained e;
	bool found;

	modules_sources(l->modules, kind, name, sources);
	found = explain_find(&request, &e);
	if (modules_sound(cache)) {
		if (l->json)
			style_json_explain(l->json, &e);
		else
			explain_text(&e);
		l->explained = true;
	}
	explain_deinit(&e);
	return found;
}

/* Asks the module and fills in the answer. */
static void ask(struct lookup *l, const struct query *q, enum module_kind kind, const char *name)
{
	const bool was_partly = l->partly;
	const struct symcache *cache;
	struct sc_error err;
	bool again, found;

	l->partly = true;
	if (o.explain && (q->kind != QUERY_CODE || q->symbol.ptr)) {
		cmd_error("--explain is for addresses of code");
		return;
	}
	if (q->kind == QUERY_FRAME) {
		cmd_error("%s: SymCaches hold no local variables: ask with CODE or DATA", name);
		return;
	}
	/* Once more if the cache turns out damaged: another may be had. */
	for (int tries = 0; tries < 2; tries++) {
		if (modules_get(l->modules, kind, name, &cache, &again, &err)) {
			if (l->json)
				l->answer.error = must_asprintf("%s", err.msg);
			else if (!again)
				cmd_error("%s", err.msg);
			return;
		}
		found = o.explain ? explain(l, cache, q, kind, name) :
			answer_query(&l->answer, cache, q, &l->options, l->demangler);
		if (modules_sound(cache)) {
			l->partly = was_partly || !found;
			return;
		}
		answer_forget(&l->answer);
	}
}

static void lookup_line(struct lookup *l, const char *line)
{
	struct answer *a = &l->answer;
	struct query q;
	const char *wrong;
	char *name, *shown;

	answer_begin(a, "");
	l->explained = false;
	/* An empty line asks whether anybody is there. */
	if (!*line) {
		print_answer(l);
		return;
	}
	wrong = query_parse(line, l->kind != MODULE_NONE, &q);
	name = must_asprintf("%.*s", (int)q.module.len, q.module.len ? q.module.ptr : "");
	shown = q.module_kind == MODULE_BUILD_ID ? upper_case(name) : must_asprintf("%s", name);
	a->module = l->shown ? l->shown : shown;
	if (wrong) {
		cmd_error("'%s': %s", line, wrong);
		l->partly = true;
	} else {
		a->kind = q.kind;
		a->symbol = q.symbol;
		a->has_address = !q.symbol.ptr;
		a->address = q.offset;
		if (q.module_kind == MODULE_NONE)
			ask(l, &q, l->kind, l->module);
		else
			ask(l, &q, q.module_kind, name);
	}
	if (!l->explained)
		print_answer(l);
	free((char *)a->error);
	free(name);
	free(shown);
}

/* Standard input, by lines. */
struct lines {
	char buf[MAX_LINE];
	size_t at, len;  /* what is still to be taken, and its end */
	bool too_long;   /* the line at hand; its beginning is gone */
	bool end;
};

/* The next line, without its end; NULL: no more. Whoever asks may wait for the answer
 * before going on: so before more is waited for, what is known is out, and nothing
 * of the store is held. */
static char *next_line(struct lines *in, struct lookup *l)
{
	char *line, *newline;
	ssize_t n;

	while (!(newline = memchr(in->buf + in->at, '\n', in->len - in->at)) && !in->end) {
		memmove(in->buf, in->buf + in->at, in->len -= in->at);
		in->at = 0;
		if (in->len == MAX_LINE - 1) {
			in->too_long = true;
			in->len = 0;
		}
		out_flush();
		modules_release(l->modules);
		while ((n = read(STDIN_FILENO, in->buf + in->len, MAX_LINE - 1 - in->len)) < 0 &&
		       errno == EINTR)
			;
		if (n < 0) {
			cmd_error("cannot read standard input: %s", strerror(errno));
			l->partly = true;
		}
		in->end = n <= 0;
		in->len += n > 0 ? (size_t)n : 0;
	}
	if (!newline && in->at == in->len && !in->too_long)
		return NULL;
	line = in->buf + in->at;
	in->at = newline ? (size_t)(newline + 1 - in->buf) : in->len;
	*(newline ? newline : in->buf + in->len) = 0;
	if (in->too_long) {
		cmd_error("a line of input is longer than %d bytes", MAX_LINE);
		l->partly = true;
		*line = 0;
	}
	in->too_long = false;
	line[strcspn(line, "\r")] = 0;
	return line;
}

static void lookup_stdin(struct lookup *l)
{
	struct lines *in = must_calloc(1, sizeof(*in));

	for (char *line; (line = next_line(in, l));)
		lookup_line(l, line);
	out_flush();
	free(in);
}

/* The command line's module: find out at once whether it can be had. */
static int open_default(struct lookup *l)
{
	const struct symcache *cache;
	struct sc_error err;
	bool again;

	if (!!o.build_id + !!o.file + !!o.cache > 1) {
		cmd_error("--build-id, --file and --cache exclude each other");
		return STATUS_ERROR;
	}
	l->kind = o.build_id ? MODULE_BUILD_ID : o.file ? MODULE_FILE :
		  o.cache ? MODULE_CACHE : MODULE_NONE;
	if (l->kind == MODULE_NONE)
		return STATUS_OK;
	l->module = o.build_id ? o.build_id : o.file ? o.file : o.cache;
	l->shown = o.build_id ? upper_case(l->module) : must_asprintf("%s", l->module);
	if (!modules_get(l->modules, l->kind, l->module, &cache, &again, &err))
		return STATUS_OK;
	cmd_error("%s", err.msg);
	return err.code == SC_ENOTFOUND ? STATUS_PARTLY : STATUS_ERROR;
}

static void lookup_deinit(struct lookup *l)
{
	modules_destroy(l->modules);
	symcache_debuginfod_destroy(l->fetcher);
	demangler_destroy(l->demangler);
	answer_deinit(&l->answer);
	free(l->shown);
	free(o.debug_dirs.items);
}

static int run(int argc, char **argv)
{
	__attribute__((cleanup(lookup_deinit))) struct lookup l = {
		.options = {
			.functions = (enum function_style)o.functions,
			.paths = o.basenames ? PATHS_BASENAME :
				 o.relative_names ? PATHS_RELATIVE : PATHS_WHOLE,
			.demangle = o.demangle,
			.inlines = o.inlines,
			.name_of_location = o.style == STYLE_GNU || o.functions == FUNCTIONS_SHORT,
			.adjust_vma = o.adjust_vma,
			.relative_address = o.relative_address,
		},
		.style = {
			.style = (enum output_style)o.style,
			.functions = o.functions != FUNCTIONS_NONE,
			.addresses = o.addresses,
			.pretty = o.pretty,
			.verbose = o.verbose,
		},
	};
	struct sc_error err;
	int status;

	if (o.version) {
		puts(symcache_version);
		return STATUS_OK;
	}
	if (fetch_create(&o.fetch, &l.fetcher, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	l.modules = modules_create(o.store, o.debug_dirs.items);
	modules_fetch(l.modules, l.fetcher);
	l.demangler = demangler_create();
	status = open_default(&l);
	if (status)
		return status;
	if (o.style == STYLE_JSON || o.json)
		l.json = style_json_begin(o.pretty, argc > 0);
	for (int i = 0; i < argc; i++)
		lookup_line(&l, argv[i]);
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
		"decimal or as 0x...; SYMBOL or SYMBOL+OFFSET will do too. They come from the "
		"arguments or, if there are none, line by line from standard input, each answered "
		"at once. Input and output are llvm-symbolizer's.\n\n"
		"The module is named once by --build-id, --file or --cache, or in front of each "
		"address. With --explain, the answer is why: what stands in the cache, and what in "
		"the debug information that it was made of, if that file is still there. Exit "
		"status: 1 if something was not found.",
	.opts = opts,
	.examples =
		"  symcache lookup --file /usr/bin/python3 0x1234\n"
		"  symcache lookup --build-id 8a3f --output-style=JSON < addresses\n"
		"  echo 'CODE \"/usr/lib/my lib.so\" 0x1234' | symcache lookup\n",
	.run = run,
};
