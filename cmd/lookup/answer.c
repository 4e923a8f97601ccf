/*
 * Request + symbolizer → answer: see answer.h.
 *
 * Costs one look-up and, for each frame, the copy of its texts into the output.
 */
#include "cmd/lookup/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/output.h"
#include "cmd/lookup/binutils.h"
#include "cmd/lookup/explain.h"
#include "cmd/lookup/locals.h"

void worker_init(struct worker *w, const struct answer_options *options,
		 struct symcache_caches *caches, struct symcache_names *names)
{
	*w = (struct worker){ .options = options, .symbolizer = must(symcache_symbolizer_create(caches, names)) };
	w->sources.search = &options->search;
	if (options->style != STYLE_JSON)
		return;
	w->gen = (struct mk_gen){ .to = &w->out, .pretty = options->pretty };
	w->json = &w->gen;
	if (options->list)
		mk_gen_open_array(w->json, NULL);
}

void worker_finish(struct worker *w)
{
	if (!w->json || !w->options->list)
		return;
	mk_gen_close_array(w->json);
	mk_gen_end(w->json);
}

void worker_deinit(struct worker *w)
{
	symcache_symbolizer_destroy(w->symbolizer);
	symcache_source_files_deinit(&w->sources);
	mk_out_deinit(&w->out);
	mk_out_deinit(&w->messages);
}

void worker_report(struct worker *w, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	text = must(len < 0 ? NULL : text);
	mk_put(&w->messages, w->options->tool, ": ", text, "\n");
	free(text);
}

/* ---- faults ------------------------------------------------------------------------ */

const char *llvm_reason(bool build_id, const char *name)
{
	const char *ret = "The file was not recognized as a valid object file";
	char magic[4] = "";
	struct stat st;
	int fd;

	if (build_id)
		return "could not find build ID";
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return strerror(errno);
	if (!fstat(fd, &st) && S_ISDIR(st.st_mode))
		ret = strerror(EISDIR);
	else if (read(fd, magic, 4) == 4 && !memcmp(magic, "\177ELF", 4))
		ret = NULL;
	close(fd);
	return ret;
}

/* The module has no cache. */
static void no_cache(struct worker *w, const struct request *r, bool reported,
		     const struct sc_error *err)
{
	const struct answer_options *o = w->options;
	const bool build_id = r->name ? r->query.module_kind == MODULE_BUILD_ID : o->build_id;
	const char *why = o->protocol == PROTOCOL_LLVM ?
		llvm_reason(build_id, r->name ? r->name : o->name) : err->msg;

	w->partly = true;
	if (o->protocol == PROTOCOL_LLVM && build_id)
		reported = false; /* LLVM says it of each address */
	if (w->json && why && (!reported || o->protocol == PROTOCOL_LOOKUP)) {
		style_fault(w, why);
		return;
	}
	if (why && !reported && o->protocol == PROTOCOL_LLVM)
		worker_report(w, "error: '%s': %s", style_module(w, r), why);
	else if (!reported && o->protocol == PROTOCOL_LOOKUP)
		worker_report(w, "%s", why);
	if (r->query.kind == QUERY_DATA)
		style_data(w, NULL);
	else
		style_nothing(w, r, !why);
}

/* The line is not understood. */
static void not_understood(struct worker *w, const struct request *r)
{
	const char *advice = strstr(r->wrong, " (");

	w->partly = true;
	if (w->options->protocol == PROTOCOL_LOOKUP)
		worker_report(w, "'%s': %s", r->line, r->wrong);
	else /* LLVM has none */
		worker_report(w, "error: '%s': %.*s", r->line,
			      (int)(advice ? (size_t)(advice - r->wrong) : strlen(r->wrong)),
			      r->wrong);
	style_nothing(w, r, true);
}

/* ---- answers ------------------------------------------------------------------------ */

static uint64_t address_of(const struct worker *w, const struct query *q)
{
	return q->offset - w->options->adjust_vma + w->base;
}

static enum symcache_inlines inlines_of(const struct answer_options *o)
{
	return o->inlines ? SYMCACHE_INLINES :
	       o->name_of_location ? SYMCACHE_INNERMOST : SYMCACHE_ONE_FRAME;
}

static void put_frames(struct worker *w, const struct request *r, const struct symcache_answer *a)
{
	for (size_t i = 0; i < a->num_frames; i++)
		style_frame(w, r, a, i);
}

/* False: the cache is damaged, nothing is written. */
static bool answer_code(struct worker *w, const struct request *r)
{
	struct symcache_shown_frame named;
	struct symcache_answer a;
	const enum symcache_reason reason =
		symcache_symbolize_as(w->symbolizer, r->module, address_of(w, &r->query),
				      inlines_of(w->options), w->options->table, &a);

	if (reason == SYMCACHE_DAMAGED)
		return false;
	style_begin(w, r);
	if (w->options->style == STYLE_BINUTILS)
		binutils_complete(w, r, address_of(w, &r->query), &a, &named);
	put_frames(w, r, &a);
	if (!a.num_frames) {
		style_nothing(w, r, true);
		w->partly = true;
	}
	style_end(w, r);
	return true;
}

/* A location for each function of this name. */
static bool answer_symbol(struct worker *w, const struct request *r)
{
	const struct answer_options *o = w->options;
	struct symcache_answer a;
	bool any = false;
	uint32_t at = 0;
	uint64_t vaddr;

	style_begin(w, r);
	while (symcache_symbolize_name(w->symbolizer, r->module, r->query.symbol, &at, &vaddr)) {
		symcache_symbolize_as(w->symbolizer, r->module, vaddr + r->query.offset,
				      o->short_names ? SYMCACHE_INNERMOST : SYMCACHE_ONE_FRAME,
				      o->table, &a);
		if (o->protocol == PROTOCOL_LLVM && a.num_frames && !a.frames->file.ptr)
			continue; /* LLVM wants a place for it */
		if (any && a.num_frames)
			style_next_location(w);
		put_frames(w, r, &a);
		any |= a.num_frames;
	}
	if (!any) {
		style_nothing(w, r, true);
		w->partly = true;
	}
	style_end(w, r);
	return true;
}

static bool answer_data(struct worker *w, const struct request *r, const struct symcache *cache)
{
	struct symcache_shown_data data;
	bool found = symcache_symbolize_data(w->symbolizer, r->module,
					     address_of(w, &r->query), &data);

	found = found && !(w->options->keep_tags &&
			   symcache_debug_files_tagged(w->options->files, r->module, data.vaddr));
	if (!found && !symcache_module_sound(r->module, cache))
		return false;
	w->partly |= !found;
	style_begin(w, r);
	style_data(w, found ? &data : NULL);
	style_end(w, r);
	return true;
}

/* Explains an address of code instead of answering. */
static bool explain(struct worker *w, const struct request *r, const struct symcache *cache)
{
	const char *files[3];
	const struct symcache_why_request request = {
		cache, files, w->options->debug_dirs, address_of(w, &r->query),
	};
	struct explained e = { cache, request.vaddr, style_module(w, r), w->symbolizer, { 0 } };
	bool found, sound;

	symcache_module_files(r->module, files);
	found = symcache_why(&request, &e.why);
	sound = symcache_module_sound(r->module, cache);
	if (sound && w->json) {
		explain_json(&e, w->json);
		if (!w->options->list)
			mk_gen_end(w->json);
	} else if (sound) {
		out_put(&w->out, stdout);
		explain_text(&e);
	}
	w->partly |= sound && !found;
	symcache_why_deinit(&e.why);
	return sound;
}

static bool ask_locals(struct worker *w, const struct request *r, const struct symcache *cache)
{
	bool nowhere, ok = answer_locals(w, r, cache, address_of(w, &r->query), &nowhere);

	if (nowhere && w->options->protocol == PROTOCOL_LOOKUP)
		worker_report(w, "%s: local variables are in its debug file, which is not here",
			      style_module(w, r));
	return ok;
}

static bool ask(struct worker *w, const struct request *r, const struct symcache *cache)
{
	if (w->options->explain)
		return explain(w, r, cache);
	if (r->query.kind == QUERY_DATA && !r->query.symbol.ptr)
		return answer_data(w, r, cache);
	if (r->query.kind == QUERY_CODE)
		return r->query.symbol.ptr ? answer_symbol(w, r) : answer_code(w, r);
	if (r->query.kind == QUERY_FRAME && !r->query.symbol.ptr)
		return ask_locals(w, r, cache);
	w->partly = true;
	style_begin(w, r);
	if (r->query.kind == QUERY_DATA)
		style_data(w, NULL);
	else
		style_nothing(w, r, true);
	style_end(w, r);
	return true;
}

/* What --explain cannot answer; true: that was said. */
static bool refused(struct worker *w, const struct request *r)
{
	const struct query *q = &r->query;

	if (!w->options->explain || (q->kind == QUERY_CODE && !q->symbol.ptr))
		return false;
	worker_report(w, "--explain is for addresses of code");
	w->partly = true;
	style_begin(w, r);
	if (q->kind == QUERY_DATA)
		style_data(w, NULL);
	else
		style_nothing(w, r, false);
	style_end(w, r);
	return true;
}

void answer_request(struct worker *w, const struct request *r)
{
	const struct symcache *cache;
	struct sc_error err = { .msg = "out of memory" };
	bool reported = false;

	if (!*r->line || r->wrong) {
		style_begin(w, r);
		if (*r->line)
			not_understood(w, r);
		else /* it asks whether anyone is there */
			style_nothing(w, r, true);
		style_end(w, r);
		return;
	}
	if (refused(w, r))
		return;
	/* Once more if the cache turns out damaged: there may be another one. */
	for (int tries = 0; tries < 2; tries++) {
		if (!r->module || symcache_module_cache(r->module, &cache, &reported, &err))
			break;
		w->opened = r->module;
		w->base = w->options->relative_address ? symcache_load_base(cache) : 0;
		if (ask(w, r, cache))
			return;
	}
	style_begin(w, r);
	no_cache(w, r, reported, &err);
	style_end(w, r);
}

/* Announces the requests from the first one on that are for code of its module, which is
 * open; returns how many they are, at least 1. */
static size_t announce(struct worker *w, const struct request *r, size_t n)
{
	struct symcache_module *modules[SYMCACHE_BATCH];
	uint64_t vaddrs[SYMCACHE_BATCH];
	size_t i = 0;

	for (; i < n && i < SYMCACHE_BATCH && r[i].module == r->module &&
	       r[i].query.kind == QUERY_CODE && !r[i].query.symbol.ptr; i++) {
		modules[i] = r->module;
		vaddrs[i] = address_of(w, &r[i].query);
	}
	symcache_symbolize_ahead(w->symbolizer, modules, vaddrs, i);
	return i + !i;
}

void answer_requests(struct worker *w, const struct request *r, size_t n)
{
	for (size_t i = 0, known = 0; i < n; i++) {
		if (i >= known && n > 1 && r[i].module && r[i].module == w->opened)
			known = i + announce(w, &r[i], n - i);
		answer_request(w, &r[i]);
	}
}

/* ---- choices ------------------------------------------------------------------------- */

const char *const choices_of_style[] = { "LLVM", "GNU", "JSON", NULL };
const char *const choices_of_functions[] = { "none", "short", "linkage", NULL };

void choices_apply(const struct choices *c, struct answer_options *answers,
		   struct symcache_names_options *names)
{
	answers->style = (enum output_style)c->style;
	answers->functions = c->functions != FUNCTIONS_NONE;
	answers->addresses = c->addresses;
	answers->pretty = c->pretty;
	answers->verbose = c->verbose;
	answers->inlines = c->inlines;
	answers->name_of_location = c->style == STYLE_GNU || c->functions == FUNCTIONS_SHORT;
	answers->short_names = c->functions == FUNCTIONS_SHORT;
	answers->table = names->table = SYMCACHE_TABLE_OUTERMOST;
	answers->source_lines = c->source_lines;
	answers->adjust_vma = c->adjust_vma;
	answers->relative_address = c->relative_address;
	names->functions = c->functions == FUNCTIONS_NONE  ? SYMCACHE_FUNCTIONS_NONE :
			   c->functions == FUNCTIONS_SHORT ? SYMCACHE_FUNCTIONS_SHORT :
							     SYMCACHE_FUNCTIONS_WHOLE;
	names->mangled = !c->demangle;
	names->paths = c->basenames ? SYMCACHE_PATHS_BASENAME :
		       c->relative_names ? SYMCACHE_PATHS_RELATIVE : SYMCACHE_PATHS_RAW;
}
