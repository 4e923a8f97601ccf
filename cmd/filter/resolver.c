/* What libmarkup asks, put to a symbolizer: see resolver.h. Its handles are modules. */
#include "cmd/filter/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"

struct resolver {
	struct symcache_caches *caches;
	struct symcache_symbolizer *symbolizer;
	bool llvm;
	struct markup_frame *frames;
	size_t cap_frames;
	struct sc_error why;
};

struct resolver *resolver_create(struct symcache_caches *caches, struct symcache_names *names,
				 bool llvm)
{
	struct resolver *r = must_calloc(1, sizeof(*r));

	r->caches = caches;
	r->llvm = llvm;
	r->symbolizer = must(symcache_symbolizer_create(caches, names));
	return r;
}

void resolver_destroy(struct resolver *r)
{
	if (!r)
		return;
	symcache_symbolizer_destroy(r->symbolizer);
	free(r->frames);
	free(r);
}

static struct markup_str str(struct symcache_str s)
{
	return (struct markup_str){ s.ptr, s.len };
}

static void *find_module(void *ctx, const uint8_t *build_id, size_t len, const char **why)
{
	struct resolver *r = ctx;
	struct symcache_module *m = symcache_caches_module_of_id(r->caches, build_id, len);
	const struct symcache *cache;

	if (!m || !symcache_module_cache(m, &cache, NULL, &r->why))
		return m;
	if (r->why.code != SC_ENOTFOUND)
		*why = r->why.msg;
	return NULL;
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
	return symcache_symbolize_data(r->symbolizer, m, vaddr, ret) && (!r->llvm || ret->of_table);
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

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct markup_frame **ret)
{
	struct resolver *r = ctx;
	struct symcache_answer a;
	const enum symcache_reason reason = symcache_symbolize(r->symbolizer, module, vaddr, &a);

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

static bool find_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	const struct resolver *r = ctx;
	struct symcache_shown_data data;

	if (!data_at(r, module, vaddr, &data) &&
	    (r->llvm || !symcache_symbolize_function(r->symbolizer, module, vaddr, &data)))
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
		.code = find_code,
		.data = find_data,
		.demangle = find_name,
	};
}
