/*
 * Request + symbolizer → answer: see parts.h.
 *
 * Costs one look-up and, for each frame, the copy of its texts into the output.
 */
#include "libsymcache/answers/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const struct mk_answer_form *const forms[] = {
	[MARKUP_STYLE_LLVM] = &mk_plain_form,
	[MARKUP_STYLE_GNU] = &mk_plain_form,
	[MARKUP_STYLE_JSON] = &mk_json_form,
};

bool mk_worker_init(struct mk_worker *w, const struct symcache_answerer *d, bool list)
{
	*w = (struct mk_worker){
		.answerer = d,
		.form = forms[d->options.style],
		.symbolizer = symcache_symbolizer_create(d->caches, d->names),
		.sources.search = &d->options.search,
		.json = { .to = &w->out, .pretty = d->options.pretty },
		.list = list && d->options.style == MARKUP_STYLE_JSON,
	};
	if (w->list)
		mk_gen_open_array(&w->json, NULL);
	return w->symbolizer;
}

void mk_worker_finish(struct mk_worker *w)
{
	if (!w->list)
		return;
	mk_gen_close_array(&w->json);
	mk_gen_end(&w->json);
}

void mk_worker_deinit(struct mk_worker *w)
{
	symcache_symbolizer_destroy(w->symbolizer);
	symcache_source_files_deinit(&w->sources);
	mk_out_deinit(&w->out);
	mk_out_deinit(&w->messages);
	mk_out_deinit(&w->path);
}

/* A message: the tool's name and a text. */
#define report(w, ...) \
	(mk_put(&(w)->messages, (w)->answerer->options.tool, ": "), \
	 mk_put(&(w)->messages, __VA_ARGS__, "\n"))

static enum markup_protocol protocol_of(const struct mk_worker *w)
{
	return w->answerer->options.protocol;
}

/* ---- no answers ---------------------------------------------------------------------- */

static const struct symcache_shown_data no_data;

const char *mk_llvm_reason(bool build_id, const char *name)
{
	const char *ret = "The file was not recognized as a valid object file";
	char magic[4] = "";
	ssize_t n;
	int fd;

	if (build_id)
		return "could not find build ID";
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return strerror(errno);
	n = read(fd, magic, 4);
	if (n < 0) /* of a folder, too */
		ret = strerror(errno);
	else if (n == 4 && !memcmp(magic, "\177ELF", 4))
		ret = NULL;
	close(fd);
	return ret;
}

static void answer_nothing(struct mk_worker *w, const struct mk_request *r, bool unknown)
{
	w->form->begin(w, r);
	if (r->query.kind == QUERY_DATA)
		w->form->data(w, &no_data);
	else
		w->form->nothing(w, r, unknown);
	w->form->end(w, r);
}

/* The module has no cache. */
static void no_cache(struct mk_worker *w, const struct mk_request *r, bool reported,
		     const struct sc_error *err)
{
	const struct symcache_answer_options *o = &w->answerer->options;
	const bool ours = o->protocol == MARKUP_PROTOCOL_LOOKUP,
		   llvm = o->protocol == MARKUP_PROTOCOL_LLVM,
		   build_id = r->query.module_kind == SYMCACHE_MODULE_BUILD_ID;
	const char *why = llvm ? mk_llvm_reason(build_id, r->name ? r->name : o->name) : err->msg;

	w->partly = true;
	if (llvm && build_id)
		reported = false; /* LLVM says it of each address */
	if (w->form->fault && why && (!reported || ours)) {
		w->form->begin(w, r);
		w->form->fault(w, why);
		w->form->end(w, r);
		return;
	}
	if (why && !reported && llvm)
		report(w, "error: '", mk_shown_module(w, r), "': ", why);
	else if (!reported && ours)
		report(w, why);
	answer_nothing(w, r, !why);
}

/* The line is not understood. */
static void not_understood(struct mk_worker *w, const struct mk_request *r)
{
	const char *advice = strstr(r->wrong, " (");
	const char *which = "which file? use --file, --module or --build-id";

	w->partly = true;
	if (protocol_of(w) == MARKUP_PROTOCOL_LOOKUP)
		report(w, "'", r->line, "': ",
		       r->wrong == mk_no_address && !w->answerer->options.name ? which : r->wrong);
	else /* LLVM has none */
		report(w, "error: '", r->line, "': ",
		       ((struct sc_str){ r->wrong, advice ? (size_t)(advice - r->wrong) :
								strlen(r->wrong) }));
	answer_nothing(w, r, true);
}

/* The symbol is smaller than the line says, or has another size: that is in bytes. */
static void report_other_build(struct mk_worker *w, const struct mk_request *r, uint64_t size)
{
	report(w, r->line, ": another build: ", r->query.symbol, " has ", mk_hex(size), " bytes here");
}

/* ---- answers ------------------------------------------------------------------------- */

static uint64_t address_of(const struct mk_worker *w, const struct mk_query *q)
{
	return q->offset - w->answerer->options.adjust_vma + w->base;
}

/* The frames of an address. Without options.inlines it has one: file, line and column of the
 * innermost one, under the name of the function that has the code, or of its own. */
static enum symcache_reason find_frames(struct mk_worker *w, const struct mk_request *r,
					uint64_t vaddr, enum symcache_inlines inlines,
					struct symcache_answer *ret)
{
	return symcache_symbolize_as(w->symbolizer, r->module, vaddr, inlines,
				     protocol_of(w) == MARKUP_PROTOCOL_BINUTILS ?
					     SYMCACHE_TABLE_NEVER : SYMCACHE_TABLE_OUTERMOST, ret);
}

/* Says what the module lacks, if a place is unknown for that; once for those in a row. */
static void say_reason(struct mk_worker *w, const struct mk_request *r,
		       const struct symcache_answer *a)
{
	if (!w->answerer->options.reasons || w->lacking == r->module || !a->cache ||
	    (a->num_frames && a->frames->file.ptr) || !symcache_lacks_lines(a->cache))
		return;
	w->lacking = r->module;
	report(w, mk_shown_module(w, r), ": no debug information (symbols: ", symcache_kind_of_symbols(a->cache),
	       "): index its debug file, too");
}

static void put_frames(struct mk_worker *w, const struct mk_request *r,
		       const struct symcache_answer *a)
{
	say_reason(w, r, a);
	for (size_t i = 0; i < a->num_frames; i++)
		w->form->frame(w, r, a, i);
}

/* False: the cache is damaged, nothing is written. */
static bool answer_code(struct mk_worker *w, const struct mk_request *r)
{
	const struct symcache_answer_options *o = &w->answerer->options;
	const uint64_t vaddr = address_of(w, &r->query);
	struct sc_frame named;
	struct symcache_answer a;

	if (find_frames(w, r, vaddr, o->inlines ? SYMCACHE_INLINES :
			o->style == MARKUP_STYLE_GNU || o->functions == MARKUP_FUNCTIONS_SHORT ?
			SYMCACHE_INNERMOST : SYMCACHE_ONE_FRAME, &a) == SYMCACHE_DAMAGED)
		return false;
	w->form->begin(w, r);
	if (o->protocol == MARKUP_PROTOCOL_BINUTILS)
		mk_binutils_complete(w, r, vaddr, &a, &named);
	put_frames(w, r, &a);
	if (!a.num_frames) {
		w->form->nothing(w, r, true);
		w->partly = true;
	}
	w->form->end(w, r);
	return true;
}

/* A location for each function of this name. */
static bool answer_symbol(struct mk_worker *w, const struct mk_request *r)
{
	const struct symcache_answer_options *o = &w->answerer->options;
	const struct symcache_named named = { r->query.symbol, r->query.offset, r->query.size };
	const bool ours = o->protocol == MARKUP_PROTOCOL_LOOKUP;
	struct symcache_answer a;
	bool any = false;
	uint32_t at = 0;
	uint64_t vaddr, size, other = 0;

	w->form->begin(w, r);
	while (symcache_symbolize_name(w->symbolizer, r->module, named.name, &at, &vaddr)) {
		if (ours && !symcache_symbolize_fits(w->symbolizer, r->module, vaddr, &named, &size)) {
			other = size;
			continue;
		}
		find_frames(w, r, vaddr + r->query.offset, o->functions == MARKUP_FUNCTIONS_SHORT ?
			    SYMCACHE_INNERMOST : SYMCACHE_ONE_FRAME, &a);
		if (o->protocol == MARKUP_PROTOCOL_LLVM && a.num_frames && !a.frames->file.ptr)
			continue; /* LLVM wants a place for it */
		if (any && a.num_frames && w->form->next)
			w->form->next(w);
		put_frames(w, r, &a);
		any |= a.num_frames;
	}
	if (!any) {
		if (other)
			report_other_build(w, r, other);
		w->form->nothing(w, r, true);
		w->partly = true;
	}
	w->form->end(w, r);
	return true;
}

static bool answer_data(struct mk_worker *w, const struct mk_request *r,
			const struct symcache *cache)
{
	const struct symcache_answer_options *o = &w->answerer->options;
	struct symcache_shown_data data;
	bool found = symcache_symbolize_data(w->symbolizer, r->module,
					     address_of(w, &r->query), &data);

	found = found && !(o->keep_tags &&
			   symcache_debug_files_tagged(o->search.files, r->module, data.vaddr));
	if (!found && !symcache_module_valid(r->module, cache))
		return false;
	w->partly |= !found;
	w->form->begin(w, r);
	w->form->data(w, found ? &data : &no_data);
	w->form->end(w, r);
	return true;
}

/* Local variables: from the cache, if that has some, else from the debug file. */
static bool answer_locals(struct mk_worker *w, const struct mk_request *r,
			  const struct symcache *cache)
{
	struct symcache_debug_files *files = w->answerer->options.search.files;
	const uint64_t vaddr = address_of(w, &r->query);
	const bool cached = cache->locals.ranges;
	const struct symcache_local *list = NULL;
	struct symcache_locals *locals;
	struct symcache_local local;
	struct sc_error why;
	uint32_t first = 0;
	size_t n = 0;

	if (cached) {
		n = symcache_locals_of(cache, vaddr - symcache_load_base(cache), &first);
		for (uint32_t i = 0; i < n; i++) /* are they valid? */
			symcache_local(cache, first + i, &local);
		if (!symcache_module_valid(r->module, cache))
			return false;
	} else {
		locals = symcache_debug_files_locals(files, r->module, &why);
		if (!locals && protocol_of(w) == MARKUP_PROTOCOL_LOOKUP)
			report(w, mk_shown_module(w, r), ": local variables are in its debug file, which ",
			       why.code ? "cannot be read: " : "is not here", why.code ? why.msg : "");
		if (locals && symcache_locals_at(locals, vaddr, &list, &n, NULL))
			n = 0;
	}
	w->form->begin(w, r);
	for (uint32_t i = 0; i < n; i++)
		if (!cached)
			w->form->local(w, r, &list[i]);
		else if (symcache_local(cache, first + i, &local))
			w->form->local(w, r, &local);
	if (!n)
		w->form->nothing(w, r, false);
	w->form->end(w, r);
	if (!cached)
		symcache_debug_files_end(files);
	w->partly |= !n;
	return true;
}

/* Explains an address of code instead of answering. */
static bool explain(struct mk_worker *w, const struct mk_request *r, const struct symcache *cache)
{
	const struct symcache_named named = { r->query.symbol, r->query.offset, r->query.size };
	struct mk_explained e = { cache, address_of(w, &r->query) };
	const char *files[3];
	bool found, valid;
	uint64_t has;

	if (named.name.ptr &&
	    !symcache_symbolize_offset(w->symbolizer, r->module, &named, &e.vaddr, &has)) {
		if (has)
			report_other_build(w, r, has);
		else
			report(w, r->line, ": not one function's name");
		w->partly = true;
		return true;
	}
	symcache_module_files(r->module, files);
	found = symcache_why(&(struct symcache_why_request){
			cache, files, w->answerer->options.debug_dirs, e.vaddr }, &e.why);
	valid = symcache_module_valid(r->module, cache);
	if (valid)
		w->form->explained(w, r, &e);
	w->partly |= valid && !found;
	symcache_why_deinit(&e.why);
	return valid;
}

static bool ask(struct mk_worker *w, const struct mk_request *r, const struct symcache *cache)
{
	if (w->answerer->options.explain)
		return explain(w, r, cache);
	if (r->query.kind == QUERY_CODE)
		return r->query.symbol.ptr ? answer_symbol(w, r) : answer_code(w, r);
	if (!r->query.symbol.ptr)
		return r->query.kind == QUERY_DATA ? answer_data(w, r, cache) :
						     answer_locals(w, r, cache);
	w->partly = true;
	answer_nothing(w, r, true);
	return true;
}

/* Is it about an address of code, which the whole cache is not needed for? */
static bool is_plain(const struct mk_worker *w, const struct mk_request *r)
{
	const struct symcache_answer_options *o = &w->answerer->options;

	return !o->explain && !o->relative_address && *r->line && !r->wrong &&
	       r->query.kind == QUERY_CODE && !r->query.symbol.ptr;
}

/* The cache for the first of n requests, and if it has to be made, for those behind it. */
static int open_cache(struct mk_worker *w, const struct mk_request *r, size_t n,
		      const struct symcache **ret, bool *reported, struct sc_error *err)
{
	uint64_t vaddrs[SYMCACHE_BATCH];
	size_t num = 0;

	if (!is_plain(w, r))
		return symcache_module_cache(r->module, ret, reported, err);
	w->base = 0;
	for (size_t i = 0; i < n && num < SYMCACHE_BATCH; i++)
		if (r[i].module == r->module && is_plain(w, &r[i]))
			vaddrs[num++] = address_of(w, &r[i].query);
	if (num == SYMCACHE_BATCH) /* most likely there are many more */
		return symcache_module_cache(r->module, ret, reported, err);
	return symcache_module_cache_at(r->module, vaddrs, num, ret, reported, err);
}

/* The first of n requests. */
static void answer(struct mk_worker *w, const struct mk_request *r, size_t n)
{
	const struct symcache_answer_options *o = &w->answerer->options;
	struct sc_error err = { .msg = "out of memory" };
	const struct symcache *cache;
	bool reported = false;

	if (!*r->line) { /* it asks whether anyone is there */
		answer_nothing(w, r, true);
		return;
	}
	if (r->wrong) {
		not_understood(w, r);
		return;
	}
	if (o->explain && r->query.kind != QUERY_CODE) {
		report(w, "--explain is for addresses of code");
		w->partly = true;
		answer_nothing(w, r, false);
		return;
	}
	/* Once more if the cache turns out damaged: there may be another one. */
	for (int tries = 0; tries < 2; tries++) {
		if (!r->module || open_cache(w, r, n, &cache, &reported, &err))
			break;
		w->opened = symcache_module_is_open(r->module) ? r->module : NULL;
		w->base = o->relative_address ? symcache_load_base(cache) : 0;
		if (ask(w, r, cache))
			return;
	}
	no_cache(w, r, reported, &err);
}

/* Announces the requests from the first one on that are for code of its module, which is
 * open; returns how many they are, at least 1. */
static size_t announce(struct mk_worker *w, const struct mk_request *r, size_t n)
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

void mk_answer_requests(struct mk_worker *w, const struct mk_request *r, size_t n)
{
	for (size_t i = 0, known = 0; i < n; i++) {
		if (i >= known && n > 1 && r[i].module && r[i].module == w->opened)
			known = i + announce(w, &r[i], n - i);
		answer(w, &r[i], n - i);
	}
}
