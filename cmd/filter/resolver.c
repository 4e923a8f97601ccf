/* What libmarkup asks, put to a symbolizer: see resolver.h. Its handles are modules. */
#include "cmd/filter/resolver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"

struct resolver {
	struct resolver_options options;
	struct symcache_caches *caches;
	struct symcache_symbolizer *symbolizer, *line_symbolizer;
	struct markup_frame *frames;
	size_t cap_frames;
	struct sc_error why;
	char advice[sizeof(((struct sc_error *)0)->msg) + 64];
};

struct resolver *resolver_create(const struct resolver_options *options)
{
	struct resolver *r = must_calloc(1, sizeof(*r));

	r->options = *options;
	r->caches = options->caches;
	r->symbolizer = must(symcache_symbolizer_create(options->caches, options->names));
	r->line_symbolizer = must(symcache_symbolizer_create(options->caches, options->line_names));
	return r;
}

void resolver_destroy(struct resolver *r)
{
	if (!r)
		return;
	symcache_symbolizer_destroy(r->symbolizer);
	symcache_symbolizer_destroy(r->line_symbolizer);
	free(r->frames);
	free(r);
}

static struct markup_str str(struct symcache_str s)
{
	return (struct markup_str){ s.ptr, s.len };
}

/* Has the module symbols? Else *why. */
static void *usable(struct resolver *r, struct symcache_module *m, const char **why)
{
	const struct symcache *cache;

	if (!m || !symcache_module_cache(m, &cache, NULL, &r->why))
		return m;
	if (r->why.code != SC_ENOTFOUND)
		*why = r->why.msg;
	return NULL;
}

static void *find_module(void *ctx, const uint8_t *build_id, size_t len, const char **why)
{
	struct resolver *r = ctx;

	return usable(r, symcache_caches_module_of_id(r->caches, build_id, len), why);
}

/* What an option binds a name to, behind "NAME=", or NULL. */
static const char *bound_to(const struct resolver *r, const char *name)
{
	const size_t len = strlen(name);

	for (size_t i = 0; i < r->options.num_modules; i++) {
		const char *text = r->options.modules[i];
		if (!strncmp(text, name, len) && text[len] == '=')
			return text + len + 1;
	}
	return NULL;
}

/* The only entry of the store that is called `name`, and has `tag`, if it is not NULL. */
static void *find_entry(struct resolver *r, const char *name, const char *tag, const char **why)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	if (!symcache_caches_find_name(r->caches, name, tag, id, &len, &r->why))
		return usable(r, symcache_caches_module_of_id(r->caches, id, len), why);
	snprintf(r->advice, sizeof(r->advice), "%s%s", r->why.msg, r->why.code != SC_EINVAL ? "" :
		 "; choose one with --module NAME=BUILDID");
	if (r->why.code != SC_ENOTFOUND || tag)
		*why = r->advice;
	return NULL;
}

static void *find_named(void *ctx, struct markup_str path, const char **why)
{
	struct resolver *r = ctx;
	const char *slash = memrchr(path.ptr, '/', path.len), *bound;
	const char *base = slash ? slash + 1 : path.ptr;
	const size_t len = (size_t)(path.ptr + path.len - base);
	char name[256];

	if (!len || len >= sizeof(name))
		return NULL;
	memcpy(name, base, len);
	name[len] = 0;
	bound = bound_to(r, name);
	if (!bound)
		return find_entry(r, name, NULL, why);
	if (!r->options.no_files && !access(bound, F_OK))
		return usable(r, symcache_caches_module(r->caches, SYMCACHE_MODULE_FILE, bound), why);
	if (!bound[strspn(bound, "0123456789abcdefABCDEF")])
		return usable(r, symcache_caches_module(r->caches, SYMCACHE_MODULE_BUILD_ID, bound),
			      why);
	return find_entry(r, name, bound, why);
}

static bool find_place(void *ctx, void *module, const struct markup_place *place, uint64_t *vaddr)
{
	const struct resolver *r = ctx;
	const struct symcache_str symbol = { place->symbol.ptr, place->symbol.len };
	const struct symcache *cache;
	uint64_t base;

	if (place->origin == MARKUP_FROM_SYMBOL)
		return symcache_symbolize_offset(r->symbolizer, module, symbol, place->offset,
						 place->symbol_size, vaddr);
	if (symcache_module_cache(module, &cache, NULL, NULL))
		return false;
	base = symcache_load_base(cache);
	*vaddr = place->offset;
	switch (place->origin) {
	case MARKUP_FROM_FILE:
		return symcache_vaddr_of_offset(cache, place->offset, vaddr);
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
	const struct resolver *r = ctx;

	symcache_symbolize_ahead(r->symbolizer, (struct symcache_module *const *)modules, vaddrs,
				 n);
}

static void reserve_frames(struct resolver *r, size_t n)
{
	if (n <= r->cap_frames)
		return;
	r->cap_frames = 2 * n;
	r->frames = must_realloc(r->frames, r->cap_frames * sizeof(*r->frames));
}

static bool data_at(const struct resolver *r, struct symcache_module *m, uint64_t vaddr,
		    struct symcache_shown_data *ret)
{
	/* LLVM tries the symbol that begins last before it alone, also where another covers it. */
	return symcache_symbolize_data(r->symbolizer, m, vaddr, ret) && (!r->options.llvm || ret->of_table);
}

/* Where someone jumped into a variable, that is the function. */
static size_t find_data_as_code(struct resolver *r, struct symcache_module *m, uint64_t vaddr)
{
	struct symcache_shown_data data;

	if (!data_at(r, m, vaddr, &data))
		return 0;
	reserve_frames(r, 1);
	r->frames[0] = (struct markup_frame){ .function = str(data.name) };
	return 1;
}

static size_t symbolize(struct resolver *r, struct symcache_symbolizer *symbolizer, void *module,
			uint64_t vaddr, const struct markup_frame **ret)
{
	struct symcache_answer a;
	const enum symcache_reason reason = symcache_symbolize(symbolizer, module, vaddr, &a);

	if (reason == SYMCACHE_OUTSIDE || reason == SYMCACHE_NO_CODE)
		a.num_frames = find_data_as_code(r, module, vaddr);
	reserve_frames(r, a.num_frames);
	for (size_t i = 0; a.frames && i < a.num_frames; i++) {
		const struct symcache_shown_frame *f = &a.frames[i];

		r->frames[i] = (struct markup_frame){
			.function = str(f->function), .file = str(f->file), .line = f->line,
			.column = f->column, .padded = f->padded,
		};
	}
	*ret = r->frames;
	return a.num_frames;
}

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct markup_frame **ret)
{
	struct resolver *r = ctx;

	return symbolize(r, r->symbolizer, module, vaddr, ret);
}

static size_t find_line_code(void *ctx, void *module, uint64_t vaddr,
			     const struct markup_frame **ret)
{
	struct resolver *r = ctx;
	const size_t n = symbolize(r, r->line_symbolizer, module, vaddr, ret);

	/* A version belongs to the symbol, not to the function. */
	for (size_t i = 0; i < n; i++) {
		struct markup_str *name = &r->frames[i].function;
		const char *version = name->ptr ? memchr(name->ptr, '@', name->len) : NULL;
		if (version && version > name->ptr)
			name->len = (size_t)(version - name->ptr);
	}
	return n;
}

static bool find_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	const struct resolver *r = ctx;
	struct symcache_shown_data data;

	if (!data_at(r, module, vaddr, &data) &&
	    (r->options.llvm || !symcache_symbolize_function(r->symbolizer, module, vaddr, &data)))
		return false;
	*ret = (struct markup_data){ .name = str(data.name) };
	if (data.of_table)
		return true;
	ret->offset = vaddr - data.vaddr;
	ret->file = str(data.file);
	ret->line = data.line;
	return true;
}

/* A symbol element; some write a further underscore in front of the name. */
static struct markup_str find_name(void *ctx, struct markup_str name)
{
	const struct resolver *r = ctx;
	const size_t extra = name.len > 2 && !memcmp(name.ptr, "__Z", 3);
	const struct symcache_str tail = { name.ptr + extra, name.len - extra };
	const struct symcache_str text = symcache_show_name(r->symbolizer, tail,
							    SYMCACHE_LANG_UNKNOWN);

	if (!text.ptr || (text.len == tail.len && !memcmp(text.ptr, tail.ptr, tail.len)))
		return name;
	return str(text);
}

_Static_assert(SYMCACHE_PADDED == MARKUP_PADDED, "texts are handed on as they are");
_Static_assert(SYMCACHE_BATCH == MARKUP_AHEAD, "and so are batches");

struct markup_resolver resolver_functions(struct resolver *r)
{
	return (struct markup_resolver){
		.ctx = r,
		.module = find_module,
		.prepare = prepare,
		.named = find_named,
		.place = find_place,
		.code = find_code,
		.line_code = find_line_code,
		.data = find_data,
		.demangle = find_name,
	};
}
