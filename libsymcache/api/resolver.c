/*
 * Frames as texts: see <symcache.h>. A resolver is a symbolizer with names of its own; its texts
 * end with a NUL, as those that the names keep do, or are copied.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/api.h"

#define ALL_FLAGS (SYMCACHE_MANGLED | SYMCACHE_SHORT_NAMES | SYMCACHE_RAW_PATHS | \
		   SYMCACHE_RAW_BYTES | SYMCACHE_SYMBOL_NAMES)

static const struct symcache_frame no_frame;

static struct symcache_names_options names_options(uint32_t flags)
{
	return (struct symcache_names_options){
		.functions = flags & SYMCACHE_SHORT_NAMES ? SYMCACHE_FUNCTIONS_SHORT :
			SYMCACHE_FUNCTIONS_WHOLE,
		.mangled = flags & SYMCACHE_MANGLED,
		.paths = flags & SYMCACHE_RAW_PATHS ? SYMCACHE_PATHS_RAW : SYMCACHE_PATHS_CLEAN,
		.table = flags & SYMCACHE_SYMBOL_NAMES ? SYMCACHE_TABLE_OUTERMOST : SYMCACHE_TABLE_NEVER,
		.bytes = flags & SYMCACHE_RAW_BYTES ? SYMCACHE_BYTES_ORIGINAL : SYMCACHE_BYTES_PRINTABLE,
	};
}

int symcache_resolver_create(const struct symcache_resolver_options *options,
			     struct symcache_resolver **ret, struct symcache_error *err)
{
	const uint32_t flags = options ? options->flags : 0;
	const struct symcache_names_options names = names_options(flags);
	struct symcache_resolver *r;

	*ret = NULL;
	if ((options && !api_fits(options)) || flags & ~ALL_FLAGS)
		return api_error(err, SC_EINVAL, "unknown options");
	r = calloc(1, sizeof(*r));
	if (r && (r->names = symcache_names_create(&names)))
		r->symbolizer = symcache_symbolizer_create(&api_no_caches, r->names);
	if (!r || !r->symbolizer) {
		symcache_resolver_destroy(r);
		return api_error(err, SC_ENOMEM, "out of memory");
	}
	if (options && options->store)
		r->store = symcache_store_ref(options->store);
	*ret = r;
	return 0;
}

void symcache_resolver_destroy(struct symcache_resolver *r)
{
	if (!r)
		return;
	symcache_symbolizer_destroy(r->symbolizer);
	symcache_names_destroy(r->names);
	symcache_store_close(r->store);
	for (size_t i = 0; i < r->more.len; i++)
		symcache_store_close(r->more.data[i]);
	vec_deinit(&r->more);
	vec_deinit(&r->frames);
	vec_deinit(&r->text);
	free(r);
}

int symcache_resolver_add_store(struct symcache_resolver *r, struct symcache_store *store,
				struct symcache_error *err)
{
	struct symcache_store **to = vec_push(&r->more);

	if (!to)
		return api_error(err, SC_ENOMEM, "out of memory");
	*to = symcache_store_ref(store);
	return 0;
}

void symcache_frames_ahead(struct symcache_resolver *r, struct symcache_cache *c,
			   const uint64_t vaddr[], size_t n)
{
	struct symcache_module *modules[SYMCACHE_BATCH];

	for (size_t i = 0; i < SYMCACHE_BATCH; i++)
		modules[i] = &c->module;
	r->ahead_generation = c->module.generation;
	symcache_symbolize_ahead(r->symbolizer, modules, vaddr, n);
}

static const char *known(const char *s)
{
	return s ? s : api_unknown;
}

const char *api_copy_text(struct symcache_resolver *r, struct sc_str s)
{
	char *to = r->text.data + r->text.len;

	if (!s.ptr)
		return api_unknown;
	memcpy(to, s.ptr, s.len);
	to[s.len] = 0;
	r->text.len += s.len + 1;
	return to;
}

bool api_reserve_texts(struct symcache_resolver *r, size_t bytes)
{
	vec_clear(&r->text);
	return vec_reserve(&r->text, bytes);
}

/* Room for copies of both. */
static bool reserve_texts(struct symcache_resolver *r, struct sc_str a, struct sc_str b)
{
	return api_reserve_texts(r, a.len + b.len + 2);
}

int api_reason_of(enum symcache_reason reason)
{
	switch (reason) {
	case SYMCACHE_FOUND: return SYMCACHE_REASON_FOUND;
	case SYMCACHE_OUTSIDE: return SYMCACHE_REASON_OUTSIDE;
	case SYMCACHE_NO_CODE: return SYMCACHE_REASON_NO_CODE;
	case SYMCACHE_DAMAGED: return SYMCACHE_REASON_DAMAGED;
	case SYMCACHE_NO_CACHE: return SYMCACHE_REASON_NO_CACHE;
	case SYMCACHE_NO_IMAGE: return SYMCACHE_REASON_NO_IMAGE;
	case SYMCACHE_NO_MEMORY: break;
	}
	return SYMCACHE_REASON_NO_MEMORY;
}

/* Which of its texts are unknown. */
static uint32_t text_flags(struct sc_str function, struct sc_str file)
{
	return (function.ptr ? 0 : SYMCACHE_FRAME_NO_FUNCTION) |
	       (file.ptr ? 0 : SYMCACHE_FRAME_NO_FILE);
}

bool api_take_frames(struct symcache_resolver *r, const struct symcache_answer *a)
{
	vec_clear(&r->frames);
	if (!vec_reserve(&r->frames, a->num_frames + 1))
		return false;
	for (size_t i = 0; i < a->num_frames; i++) {
		const struct sc_frame *f = &a->frames[i];
		/* Of one frame at most, the outermost one, texts are not kept by the names. */
		const bool kept = f->padded;

		if (!kept && !reserve_texts(r, f->function, f->file))
			return false;
		r->frames.data[i] = (struct symcache_frame){
			.function = kept ? known(f->function.ptr) : api_copy_text(r, f->function),
			.file = kept ? known(f->file.ptr) : api_copy_text(r, f->file),
			.line = f->line, .column = f->column, .function_id = f->function_idx,
			.flags = (i + 1 < a->num_frames ? SYMCACHE_FRAME_INLINED : 0) |
				 (f->of_table ? SYMCACHE_FRAME_SYMBOL : 0) |
				 text_flags(f->function, f->file),
		};
	}
	r->frames.data[a->num_frames] = no_frame;
	return true;
}

size_t symcache_frames(struct symcache_resolver *r, struct symcache_cache *c, uint64_t vaddr,
		       const struct symcache_frame **ret)
{
	struct symcache_answer a;

	api_forget_others(r, c);
	*ret = &no_frame;
	r->reason = api_reason_of(symcache_symbolize(r->symbolizer, &c->module, vaddr, &a));
	if (r->reason == SYMCACHE_REASON_NO_CACHE) /* it was damaged before */
		r->reason = SYMCACHE_REASON_DAMAGED;
	if (!a.num_frames)
		return 0;
	if (!api_take_frames(r, &a)) {
		r->reason = SYMCACHE_REASON_NO_MEMORY;
		return 0;
	}
	*ret = r->frames.data;
	return a.num_frames;
}

/* Why there is no frame, as an error about `text`. */
static int no_frames(const struct symcache_resolver *r, const char *text, uint64_t vaddr,
		     struct symcache_error *err)
{
	switch (r->reason) {
	case SYMCACHE_REASON_OUTSIDE:
		return api_error(err, SC_ENOTFOUND, "%s: 0x%llx is outside of its code", text,
				 (unsigned long long)vaddr);
	case SYMCACHE_REASON_NO_CODE:
		return api_error(err, SC_ENOTFOUND, "%s: 0x%llx is in no function", text,
				 (unsigned long long)vaddr);
	case SYMCACHE_REASON_DAMAGED:
		return api_error(err, SC_EFORMAT, "%s: its entry in the store is damaged", text);
	}
	return api_error(err, SC_ENOMEM, "out of memory");
}

struct question {
	enum api_by by;
	const char *text;
	uint64_t vaddr;
};

/* The cache in the first store that has it. A default store that is not there is no reason not to ask
 * the others. */
static int find_cache(struct symcache_resolver *r, const struct question *q,
		      struct symcache_cache **ret, struct symcache_error *err)
{
	int rc = r->store ? 0 : symcache_store_open(NULL, 0, &r->store, err);

	if (!rc)
		rc = api_store_find(r->store, q->by, q->text, ret, err);
	for (size_t i = 0; rc == SC_ENOTFOUND && i < r->more.len; i++)
		rc = api_store_find(r->more.data[i], q->by, q->text, ret, err);
	return rc;
}

static int resolve(struct symcache_resolver *r, const struct question *q,
		   const struct symcache_frame **ret, struct symcache_error *err)
{
	struct symcache_cache *c;
	size_t n;
	int rc;

	*ret = &no_frame;
	rc = find_cache(r, q, &c, err);
	if (rc)
		return rc;
	n = symcache_frames(r, c, q->vaddr, ret);
	symcache_cache_unref(c);
	return n ? (int)n : no_frames(r, q->text, q->vaddr, err);
}

int symcache_resolve(struct symcache_resolver *r, const char *text, uint64_t vaddr,
		     const struct symcache_frame **ret, struct symcache_error *err)
{
	return resolve(r, &(struct question){ API_BY_EITHER, text, vaddr }, ret, err);
}

int symcache_resolve_build_id(struct symcache_resolver *r, const char *hex, uint64_t vaddr,
			      const struct symcache_frame **ret, struct symcache_error *err)
{
	return resolve(r, &(struct question){ API_BY_BUILD_ID, hex, vaddr }, ret, err);
}

int symcache_resolve_name(struct symcache_resolver *r, const char *name, uint64_t vaddr,
			  const struct symcache_frame **ret, struct symcache_error *err)
{
	return resolve(r, &(struct question){ API_BY_NAME, name, vaddr }, ret, err);
}

int symcache_reason(const struct symcache_resolver *r)
{
	return r->reason;
}

int symcache_variable_at(struct symcache_resolver *r, struct symcache_cache *c, uint64_t vaddr,
			 struct symcache_variable *ret)
{
	struct symcache_shown_data data;

	memset(ret, 0, sizeof(*ret));
	api_forget_others(r, c);
	if (!symcache_symbolize_data(r->symbolizer, &c->module, vaddr, &data))
		return SC_ENOTFOUND;
	if (!reserve_texts(r, data.name, data.file))
		return SC_ENOMEM;
	ret->name = api_copy_text(r, data.name);
	ret->file = api_copy_text(r, data.file);
	ret->vaddr = data.vaddr;
	ret->size = data.size;
	ret->line = data.line;
	ret->flags = (data.of_table ? SYMCACHE_FRAME_SYMBOL : 0) | text_flags(data.name, data.file);
	return 0;
}

size_t symcache_addresses_of(struct symcache_resolver *r, struct symcache_cache *c,
			     const char *name, uint64_t ret[], size_t max)
{
	const struct sc_str text = { name, name ? strlen(name) : 0 };
	uint64_t vaddr;
	uint32_t at = 0;
	size_t n = 0;

	api_forget_others(r, c);
	for (; name && symcache_symbolize_name(r->symbolizer, &c->module, text, &at, &vaddr); n++)
		if (n < max)
			ret[n] = vaddr;
	return n;
}

/* The cache's texts; NULL: it is damaged, or out of memory. */
static const struct sc_seen *texts(struct symcache_resolver *r, struct symcache_cache *c)
{
	api_forget_others(r, c);
	return sc_symbolizer_begin(r->symbolizer, &c->module);
}

const char *symcache_function_name(struct symcache_resolver *r, struct symcache_cache *c,
				   uint32_t function)
{
	const struct sc_seen *seen = texts(r, c);

	return !seen || function >= c->cache.header->num_functions ? NULL :
		sc_text_str(sc_names_function(r->symbolizer->names, seen->texts, function)).ptr;
}

const char *symcache_file_path(struct symcache_resolver *r, struct symcache_cache *c, uint32_t file)
{
	const struct sc_seen *seen = texts(r, c);

	return !seen || file >= c->cache.header->num_files ? NULL :
		sc_text_str(sc_names_file(r->symbolizer->names, seen->texts, file)).ptr;
}

const char *symcache_demangled(struct symcache_resolver *r, const char *name)
{
	const struct sc_str s = { name, name ? strlen(name) : 0 };
	const struct sc_str text = symcache_show_name(r->symbolizer, s,
						      SYMCACHE_LANG_UNKNOWN);

	if (!text.ptr || text.ptr == name ||
	    !reserve_texts(r, text, (struct sc_str){ NULL, 0 }))
		return name;
	return api_copy_text(r, text);
}
