/* What a filter of logs asks, put to symbolizers: see markup.h. */
#include "libsymcache/logs/markup.h"

#include <string.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/logs/resolver.h"
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

static bool find_place(void *ctx, void *module, const struct markup_place *place, uint64_t *vaddr)
{
	const struct symcache_markup *r = ctx;
	const struct symcache *cache;
	uint64_t base, has;

	if (place->origin == MARKUP_FROM_SHOWN)
		return sc_symbolize_shown(r->symbolizer, module, place->symbol, place->address,
					  place->offset, vaddr);
	if (place->origin == MARKUP_FROM_SYMBOL)
		return symcache_symbolize_offset(r->symbolizer, module,
			&(struct symcache_named){ place->symbol, place->offset, place->symbol_size },
			vaddr, &has);
	cache = sc_module_cache(module);
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

static bool is_table_only(void *ctx, void *module)
{
	const struct symcache *cache = sc_module_cache(module);

	(void)ctx;
	return cache && cache->image && !(cache->image->sources & SYMCACHE_FROM_DWARF);
}

static void prepare(void *ctx, void *const modules[], const uint64_t vaddrs[], size_t n)
{
	const struct symcache_markup *r = ctx;

	symcache_symbolize_ahead(r->symbolizer, (struct symcache_module *const *)modules, vaddrs,
				 n);
}

static bool data_at(const struct symcache_markup *r, struct symcache_module *m, uint64_t vaddr,
		    struct symcache_shown_data *ret)
{
	/* LLVM tries the symbol that begins last before it alone, also where another covers it. */
	return symcache_symbolize_data(r->symbolizer, m, vaddr, ret) && (!r->llvm || ret->of_table);
}

/* Where someone jumped into a variable, that is the function. */
static size_t find_data_as_code(struct symcache_markup *r, struct symcache_module *m,
				uint64_t vaddr, const struct sc_frame **ret)
{
	struct symcache_shown_data data;

	if (!data_at(r, m, vaddr, &data))
		return 0;
	r->only = (struct sc_frame){ .function = data.name };
	*ret = &r->only;
	return 1;
}

static size_t symbolize(struct symcache_markup *r, struct symcache_symbolizer *symbolizer,
			void *module, uint64_t vaddr, const struct sc_frame **ret)
{
	struct symcache_answer a;
	const enum symcache_reason reason = symcache_symbolize(symbolizer, module, vaddr, &a);

	if (reason == SYMCACHE_OUTSIDE || reason == SYMCACHE_NO_CODE)
		return find_data_as_code(r, module, vaddr, ret);
	*ret = a.frames;
	return a.num_frames;
}

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct sc_frame **ret)
{
	struct symcache_markup *r = ctx;

	return symbolize(r, r->symbolizer, module, vaddr, ret);
}

/* Copies frames, to be changed. False: out of memory. */
static bool copy_frames(struct symcache_markup *r, size_t n, const struct sc_frame **frames)
{
	vec_clear(&r->frames);
	if (!vec_reserve(&r->frames, n))
		return false;
	memcpy(r->frames.data, *frames, n * sizeof(**frames));
	*frames = r->frames.data;
	return true;
}

static size_t find_line_code(void *ctx, void *module, uint64_t vaddr,
			     const struct sc_frame **ret)
{
	struct symcache_markup *r = ctx;
	const size_t n = symbolize(r, r->line_symbolizer, module, vaddr, ret);

	/* A version belongs to the symbol, not to the function. */
	for (size_t i = 0; i < n; i++) {
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
	const struct symcache_markup *r = ctx;
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

/* A symbol element; some write a further underscore in front of the name. */
static struct sc_str find_name(void *ctx, struct sc_str name)
{
	const struct symcache_markup *r = ctx;
	const size_t extra = name.len > 2 && !memcmp(name.ptr, "__Z", 3);
	const struct sc_str tail = { name.ptr + extra, name.len - extra };
	const struct sc_str text = symcache_show_name(r->symbolizer, tail,
						      SYMCACHE_LANG_UNKNOWN);

	if (!text.ptr || (text.len == tail.len && !memcmp(text.ptr, tail.ptr, tail.len)))
		return name;
	return text;
}

_Static_assert(SYMCACHE_BATCH == MARKUP_AHEAD, "batches are handed on as they are");

static const char *kind_of_symbols(void *ctx, void *module)
{
	static const struct { uint32_t source; const char *words; } kinds[] = {
		{ SYMCACHE_FROM_DWARF, "DWARF" }, { SYMCACHE_FROM_SYMTAB, "symbol table" },
		{ SYMCACHE_FROM_MINIDEBUGINFO, "MiniDebugInfo" },
		{ SYMCACHE_FROM_DYNSYM, "dynamic symbols" },
	};
	const struct symcache *cache = sc_module_cache(module);

	(void)ctx;
	for (size_t i = 0; cache && cache->image && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (cache->image->sources & kinds[i].source)
			return kinds[i].words;
	return cache ? "symbols" : NULL;
}

void symcache_markup_functions(struct markup_resolver *ret)
{
	ret->prepare = prepare;
	ret->place = find_place;
	ret->table_only = is_table_only;
	ret->symbols = kind_of_symbols;
	ret->code = find_code;
	ret->line_code = find_line_code;
	ret->data = find_data;
	ret->unwind = sc_markup_unwind;
	ret->demangle = find_name;
}

bool symcache_markup_init(struct symcache_markup *m, struct symcache_caches *caches,
			  struct symcache_names *names, struct symcache_names *line_names, bool llvm)
{
	m->llvm = llvm;
	m->symbolizer = symcache_symbolizer_create(caches, names);
	m->line_symbolizer = symcache_symbolizer_create(caches, line_names);
	return m->symbolizer && m->line_symbolizer;
}

void symcache_markup_deinit(struct symcache_markup *m)
{
	symcache_symbolizer_destroy(m->symbolizer);
	symcache_symbolizer_destroy(m->line_symbolizer);
	vec_deinit(&m->frames);
	vec_deinit(&m->callers);
}

bool symcache_markup_base(struct sc_str path, char name[256])
{
	const char *slash = memrchr(path.ptr, '/', path.len), *base = slash ? slash + 1 : path.ptr;
	const char *inner = memrchr(base, '!', (size_t)(path.ptr + path.len - base));
	size_t len;

	base = inner ? inner + 1 : base; /* of an archive: x.apk!libfoo.so */
	len = (size_t)(path.ptr + path.len - base);
	if (!len || len >= 256)
		return false;
	memcpy(name, base, len);
	name[len] = 0;
	return true;
}

struct symcache_names_options symcache_markup_names(const struct markup_options *options,
						    enum symcache_bytes bytes)
{
	const bool llvm = options->dialect == MARKUP_LLVM;

	return (struct symcache_names_options){
		.paths = llvm ? SYMCACHE_PATHS_RAW : SYMCACHE_PATHS_CLEAN,
		.table = llvm ? SYMCACHE_TABLE_OUTERMOST : SYMCACHE_TABLE_NEVER,
		.llvm = llvm,
		.bytes = bytes,
	};
}

struct symcache_names_options symcache_markup_line_names(enum symcache_bytes bytes)
{
	return (struct symcache_names_options){
		.paths = SYMCACHE_PATHS_CLEAN, .table = SYMCACHE_TABLE_OUTERMOST, .bytes = bytes,
	};
}
