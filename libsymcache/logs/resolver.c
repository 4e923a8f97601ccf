/* What a filter of logs asks, put to symbolizers: see resolver.h. Its handles are modules. */
#include "libsymcache/logs/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/process.h"
#include "libsymcache/symbolize/symbolizer.h"

/* A call that does not return may be the last instruction of its segment. */
static bool find_offset(const struct symcache *cache, uint64_t offset, uint64_t *vaddr)
{
	if (symcache_vaddr_from(cache, SYMCACHE_FROM_FILE, offset, vaddr))
		return true;
	if (!offset || !symcache_vaddr_from(cache, SYMCACHE_FROM_FILE, offset - 1, vaddr))
		return false;
	++*vaddr;
	return true;
}

static bool find_place(void *ctx, void *module, struct markup_place *place, uint64_t *vaddr)
{
	const struct sc_log_resolver *r = ctx;
	const struct symcache *cache;
	uint64_t base;

	if (place->origin == MARKUP_FROM_SHOWN)
		return sc_symbolize_shown(r->symbolizer, module, place->symbol, place->address,
					  place->offset, vaddr);
	if (place->origin == MARKUP_FROM_SYMBOL)
		return symcache_symbolize_offset(r->symbolizer, module,
			&(struct symcache_named){ place->symbol, place->offset, place->symbol_size },
			vaddr, &place->size_here);
	cache = symcache_module_outline(module);
	if (!cache)
		return false;
	base = symcache_load_base(cache);
	*vaddr = place->offset;
	switch (place->origin) {
	case MARKUP_FROM_CODE:
		return symcache_vaddr_of_code(cache, place->offset, vaddr);
	case MARKUP_INSIDE:
		return symcache_may_be_code(cache, place->offset);
	case MARKUP_FIXED:
		return base && symcache_may_be_code(cache, place->offset);
	case MARKUP_FROM_FILE:
		return place->has_page && !symcache_has_offsets(cache) ?
			symcache_vaddr_from(cache, SYMCACHE_FROM_PAGE, place->from_page, vaddr) :
			find_offset(cache, place->offset, vaddr);
	case MARKUP_FROM_LOAD_BASE:
		*vaddr += base;
		return true;
	case MARKUP_FROM_VALGRIND:
		/* Libraries lie from 0x4000000 on. */
		*vaddr -= base ? 0 : 0x108000;
		return base || (place->offset >= 0x108000 && place->offset < 0x4000000);
	default:
		return true;
	}
}

static void prepare(void *ctx, void *const modules[], const uint64_t vaddrs[], size_t n)
{
	const struct sc_log_resolver *r = ctx;

	for (size_t i = 0; i < n; i++) /* those are announced otherwise */
		if (symcache_module_is_first(modules[i]))
			return;
	symcache_symbolize_ahead(r->symbolizer, (struct symcache_module *const *)modules, vaddrs,
				 n);
}

static bool data_at(const struct sc_log_resolver *r, struct symcache_module *m, uint64_t vaddr,
		    struct symcache_shown_data *ret)
{
	/* LLVM tries the symbol that begins last before it alone, also where another covers it. */
	return symcache_symbolize_data(r->symbolizer, m, vaddr, ret) && (!r->llvm || ret->of_table);
}

/* Where someone jumped into a variable, that is the function. */
static size_t find_data_as_code(struct sc_log_resolver *r, struct symcache_module *m,
				uint64_t vaddr, const struct sc_frame **ret)
{
	struct symcache_shown_data data;

	if (!data_at(r, m, vaddr, &data))
		return 0;
	r->only = (struct sc_frame){ .function = data.name };
	*ret = &r->only;
	return 1;
}

static size_t symbolize(struct sc_log_resolver *r, struct symcache_symbolizer *symbolizer,
			void *module, uint64_t vaddr, const struct sc_frame **ret)
{
	struct symcache_answer a;
	const enum symcache_reason reason = symcache_symbolize(symbolizer, module, vaddr, &a);

	if ((reason == SYMCACHE_OUTSIDE || reason == SYMCACHE_NO_CODE) && r->whole)
		return find_data_as_code(r, module, vaddr, ret);
	*ret = a.frames;
	return a.num_frames;
}

/* Copies frames, to be changed. False: out of memory. */
static bool copy_frames(struct sc_log_resolver *r, size_t n, const struct sc_frame **frames)
{
	vec_clear(&r->frames);
	if (!vec_reserve(&r->frames, n))
		return false;
	memcpy(r->frames.data, *frames, n * sizeof(**frames));
	*frames = r->frames.data;
	return true;
}

static size_t find_code(void *ctx, void *module, uint64_t vaddr, bool named,
			const struct sc_frame **ret)
{
	struct sc_log_resolver *r = ctx;
	size_t n;

	if (symcache_module_is_first(module) && r->options->announce)
		r->options->announce(r->options->ctx, r->thread, module);
	n = symbolize(r, named ? r->line_symbolizer : r->symbolizer, module, vaddr, ret);
	/* A version belongs to the symbol, not to the function. */
	for (size_t i = 0; named && i < n; i++) {
		const struct sc_str name = (*ret)[i].function;
		const char *version = name.ptr ? memchr(name.ptr, '@', name.len) : NULL;

		if (!version || version == name.ptr)
			continue;
		if (*ret != r->frames.data && !copy_frames(r, n, ret))
			return 0;
		r->frames.data[i].function.len = (size_t)(version - name.ptr);
	}
	return n;
}

static bool find_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	const struct sc_log_resolver *r = ctx;
	struct symcache_shown_data data;

	if (!data_at(r, module, vaddr, &data) &&
	    (r->llvm || !symcache_symbolize_function(r->symbolizer, module, vaddr, &data)))
		return false;
	*ret = (struct markup_data){ .name = data.name };
	if (data.of_table)
		return true;
	ret->offset = vaddr - data.vaddr;
	ret->file = data.file;
	ret->line = data.line;
	return true;
}

/* A symbol element, whose name is always shown whole; some write a further underscore in front of
 * it. */
static struct sc_str find_name(void *ctx, struct sc_str name)
{
	const struct sc_log_resolver *r = ctx;
	const size_t extra = name.len > 2 && !memcmp(name.ptr, "__Z", 3);
	const struct sc_str tail = { name.ptr + extra, name.len - extra };
	const struct sc_str text = symcache_show_name(r->line_symbolizer, tail,
						      SYMCACHE_LANG_UNKNOWN);

	if (!text.ptr || sc_str_same(text, tail))
		return name;
	return text;
}

_Static_assert(SYMCACHE_BATCH == MARKUP_AHEAD, "batches are handed on as they are");

/* ---- modules --------------------------------------------------------------------------- */

static void *find_module(void *ctx, struct markup_module *of, const char **why)
{
	struct sc_log_resolver *r = ctx;
	const struct symcache_file_id id = {
		.path = of->name, .build_id = of->build_id, .build_id_len = of->build_id_len,
		.kernel = of->kernel, .release = of->release,
	};
	const struct symcache *cache;
	struct symcache_module *found;

	if (r->options->find(r->options->ctx, &id, &found, &r->why)) {
		*why = *r->why.msg ? r->why.msg : NULL;
		return NULL;
	}
	cache = symcache_module_outline(found);
	of->symbols = cache ? symcache_kind_of_symbols(cache) : NULL;
	of->table_only = cache && symcache_lacks_lines(cache);
	return found;
}

static struct sc_str find_source(void *ctx, void *module, const struct sc_frame *frame)
{
	const struct sc_log_resolver *r = ctx;

	return r->options->source(r->options->ctx, r->thread, module, frame);
}

/* ---- all of them ----------------------------------------------------------------------- */

struct sc_log_resolvers {
	struct sc_log_resolver_options options;
	struct symcache_names *names, *line_names;
	struct sc_log_resolver *list;       /* options.threads of them */
	struct markup_resolver *functions; /* theirs */
};

static struct markup_resolver functions_of(struct sc_log_resolver *r)
{
	return (struct markup_resolver){
		.ctx = r, .module = find_module, .place = find_place, .code = find_code,
		.source = r->options->source ? find_source : NULL, .prepare = prepare,
		.data = find_data, .unwind = sc_log_unwind, .demangle = find_name,
	};
}

/* The names that filters show, and those of frames whose module is named on their line. False: out
 * of memory. */
static bool make_names(struct sc_log_resolvers *all, bool llvm)
{
	struct symcache_names_options names = {
		.paths = llvm ? SYMCACHE_PATHS_RAW : SYMCACHE_PATHS_CLEAN,
		.table = llvm ? SYMCACHE_TABLE_OUTERMOST : SYMCACHE_TABLE_NEVER,
		.llvm = llvm,
	}, line_names = {
		.paths = SYMCACHE_PATHS_CLEAN, .table = SYMCACHE_TABLE_OUTERMOST,
		.llvm = llvm,
	};

	if (all->options.names)
		names = *all->options.names;
	names.bytes = line_names.bytes = all->options.bytes;
	all->names = symcache_names_create(&names);
	all->line_names = symcache_names_create(&line_names);
	return all->names && all->line_names;
}

/* False: out of memory. */
static bool make(struct sc_log_resolvers *all)
{
	const struct sc_log_resolver_options *o = &all->options;
	const bool llvm = o->markup->dialect == MARKUP_LLVM;

	all->list = calloc(o->threads, sizeof(*all->list));
	all->functions = calloc(o->threads, sizeof(*all->functions));
	if (!all->list || !all->functions || !make_names(all, llvm))
		return false;
	for (unsigned i = 0; i < o->threads; i++) {
		struct sc_log_resolver *r = &all->list[i];

		r->options = o;
		r->thread = i;
		r->llvm = llvm;
		r->whole = !o->names || o->names->functions == SYMCACHE_FUNCTIONS_WHOLE;
		r->symbolizer = symcache_symbolizer_create(o->caches, all->names);
		r->line_symbolizer = symcache_symbolizer_create(o->caches, all->line_names);
		if (!r->symbolizer || !r->line_symbolizer)
			return false;
		all->functions[i] = functions_of(r);
	}
	return true;
}

struct sc_log_resolvers *sc_log_resolvers_create(const struct sc_log_resolver_options *options)
{
	struct sc_log_resolvers *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->options = *options;
	if (make(all)) {
		all->options.markup = NULL;
		all->options.names = NULL;
		return all;
	}
	sc_log_resolvers_destroy(all);
	return NULL;
}

void sc_log_resolvers_destroy(struct sc_log_resolvers *all)
{
	if (!all)
		return;
	for (unsigned i = 0; all->list && i < all->options.threads; i++) {
		struct sc_log_resolver *r = &all->list[i];

		symcache_symbolizer_destroy(r->symbolizer);
		symcache_symbolizer_destroy(r->line_symbolizer);
		vec_deinit(&r->frames);
		vec_deinit(&r->callers);
	}
	symcache_names_destroy(all->names);
	symcache_names_destroy(all->line_names);
	free(all->list);
	free(all->functions);
	free(all);
}

const struct markup_resolver *sc_log_resolvers_functions(const struct sc_log_resolvers *all)
{
	return all->functions;
}
