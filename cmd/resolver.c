/*
 * Address → frames with names and paths as they are shown: see resolver.h.
 *
 * A log of a million addresses has a few thousand names and files. Each is made
 * once and found again by its index in the cache: an array of names and one of
 * paths for each module, which cost memory only where they are touched. Their
 * texts lie in blocks; when these are full, or the caches may have moved, all
 * is forgotten and begun anew: memory is bounded, and nothing has to be evicted.
 */
#include "cmd/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/demangle.h"

enum {
	TEXT_BYTES = 24 << 20, /* of names and paths that are kept */
	TEXT_BLOCK = 256 << 10,
	FRAMES_MAX = 4096,     /* of one address; the others are left out */
	CHAINS = 1 << 10,
};

/* A name or path that was made before; ptr NULL: not yet; len NONE: unknown. */
struct text {
	const char *ptr;
	size_t len;
};

/* A module as this thread sees it: libmarkup's handle. */
struct seen_module {
	struct symbols_module *module;
	struct text *names; /* by function; NULL before the first one */
	struct text *paths; /* by file */
	struct seen_module *next;      /* in its hash chain */
	struct seen_module *next_full; /* with arrays to forget */
};

struct block {
	struct block *older;
	size_t size;
	char bytes[];
};

struct resolver {
	struct symbols *symbols;
	bool llvm;
	struct demangler *demangler; /* NULL before the first name */
	struct markup_frame *frames;
	size_t num_frames, cap_frames;
	struct seen_module *chains[CHAINS];
	struct seen_module *full;
	struct block *blocks;   /* the newest first */
	size_t block_left;      /* bytes of it */
	size_t block_bytes;     /* of all blocks */
	unsigned snapshot;      /* of the symbols, that the texts come from */
};

struct resolver *resolver_create(struct symbols *symbols, bool llvm)
{
	struct resolver *r = must_calloc(1, sizeof(*r));

	r->symbols = symbols;
	r->llvm = llvm;
	return r;
}

static void forget_texts(struct resolver *r)
{
	for (struct block *b = r->blocks, *older; b; b = older) {
		older = b->older;
		free(b);
	}
	r->blocks = NULL;
	r->block_left = r->block_bytes = 0;
	for (; r->full; r->full = r->full->next_full) {
		free(r->full->names);
		free(r->full->paths);
		r->full->names = r->full->paths = NULL;
	}
}

void resolver_destroy(struct resolver *r)
{
	if (!r)
		return;
	forget_texts(r);
	for (size_t i = 0; i < CHAINS; i++) {
		for (struct seen_module *m = r->chains[i], *next; m; m = next) {
			next = m->next;
			free(m);
		}
	}
	free(r->frames);
	if (r->demangler)
		demangler_destroy(r->demangler);
	free(r);
}

/* ---- texts ------------------------------------------------------------------ */

static char *new_text(struct resolver *r, size_t len)
{
	if (!r->blocks || len > r->block_left) {
		size_t size = len > TEXT_BLOCK ? len : TEXT_BLOCK;
		struct block *b = must_realloc(NULL, sizeof(*b) + size);
		*b = (struct block){ .older = r->blocks, .size = size };
		r->blocks = b;
		r->block_left = size;
		r->block_bytes += size;
	}
	r->block_left -= len;
	return r->blocks->bytes + r->blocks->size - r->block_left - len;
}

static struct demangler *get_demangler(struct resolver *r)
{
	if (!r->demangler)
		r->demangler = demangler_create();
	return r->demangler;
}

static struct markup_str make_name(struct resolver *r, struct symcache_str name, uint32_t lang)
{
	struct symcache_str shown;
	char *copy;

	if (!name.len || (name.len == 1 && *name.ptr == '?'))
		return (struct markup_str){ NULL, 0 };
	/* LLVM takes Rust's older names for C++. */
	shown = demangle(get_demangler(r), name, r->llvm ? SYMCACHE_LANG_UNKNOWN : lang);
	copy = new_text(r, shown.len);
	memcpy(copy, shown.ptr, shown.len);
	return (struct markup_str){ copy, shown.len };
}

static struct markup_str make_path(struct resolver *r, const struct symcache_file *file)
{
	size_t room, len;
	char *path;

	if (!file->name.ptr)
		return (struct markup_str){ NULL, 0 };
	room = file->comp_dir.len + file->directory.len + file->name.len + 3;
	path = new_text(r, room);
	len = symcache_path(file, r->llvm ? SYMCACHE_PATH_RAW : SYMCACHE_PATH_CLEAN, path, room);
	return (struct markup_str){ path, len };
}

static const char nothing[1];

/* The name of function `idx`, which exists. */
static struct markup_str name_of(struct resolver *r, struct seen_module *m,
				 const struct symcache *cache, uint32_t idx)
{
	struct text *t = &m->names[idx];

	if (!t->ptr) {
		const struct symcache_function *f = &cache->functions[idx];
		struct markup_str name;

		if (!symcache_sound(cache, f, sizeof(*f)))
			return (struct markup_str){ NULL, 0 };
		name = make_name(r, symcache_string(cache, f->name), f->lang);
		*t = (struct text){ name.ptr ? name.ptr : nothing, name.len };
	}
	return (struct markup_str){ t->ptr == nothing ? NULL : t->ptr, t->len };
}

/* The path of file `idx`, which exists. */
static struct markup_str path_of(struct resolver *r, struct seen_module *m,
				 const struct symcache *cache, uint32_t idx)
{
	struct text *t = &m->paths[idx];

	if (!t->ptr) {
		struct symcache_file file = symcache_file(cache, idx);
		struct markup_str path = make_path(r, &file);
		*t = (struct text){ path.ptr ? path.ptr : nothing, path.len };
	}
	return (struct markup_str){ t->ptr == nothing ? NULL : t->ptr, t->len };
}

/* The cache of a module, ready to be asked; NULL: it is no more. */
static const struct symcache *begin(struct resolver *r, struct seen_module *m)
{
	const unsigned snapshot = symbols_snapshot(r->symbols);
	const struct symcache *cache = symbols_cache(r->symbols, m->module);

	if (r->snapshot != snapshot || r->block_bytes > TEXT_BYTES) {
		forget_texts(r);
		r->snapshot = snapshot;
	}
	if (cache && symcache_damaged(cache))
		return NULL;
	if (cache && !m->names) {
		m->names = must_calloc(cache->header->num_functions + 1, sizeof(*m->names));
		m->paths = must_calloc(cache->header->num_files + 1, sizeof(*m->paths));
		m->next_full = r->full;
		r->full = m;
	}
	return cache;
}

/* ---- what libmarkup asks ------------------------------------------------------ */

static void *find_module(void *ctx, const uint8_t *build_id, size_t len, const char **why)
{
	struct resolver *r = ctx;
	struct symbols_module *module = symbols_find(r->symbols, build_id, len);
	struct seen_module **chain, *m;

	if (!module)
		return NULL;
	if (module->why_not.code) {
		*why = module->why_not.msg[0] ? module->why_not.msg : NULL;
		return NULL;
	}
	chain = &r->chains[(uintptr_t)module / 64 % CHAINS];
	for (m = *chain; m && m->module != module; m = m->next)
		;
	if (!m) {
		m = must_calloc(1, sizeof(*m));
		m->module = module;
		m->next = *chain;
		*chain = m;
	}
	return m;
}

static struct markup_frame *new_frame(struct resolver *r)
{
	if (r->num_frames == r->cap_frames) {
		r->cap_frames = 2 * r->cap_frames + 16;
		r->frames = must_realloc(r->frames, r->cap_frames * sizeof(*r->frames));
	}
	return &r->frames[r->num_frames++];
}

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct markup_frame **ret)
{
	struct resolver *r = ctx;
	struct seen_module *m = module;
	const struct symcache *cache = begin(r, m);
	const uint64_t rel = vaddr - m->module->load_base;
	struct symcache_frames frames;
	struct symcache_frame_ids ids;
	struct symcache_data data;

	r->num_frames = 0;
	if (!cache)
		return 0;
	if (symcache_lookup(cache, rel, &frames)) {
		while (r->num_frames < FRAMES_MAX && symcache_next_ids(&frames, &ids)) {
			struct markup_frame *f = new_frame(r);
			*f = (struct markup_frame){ .line = ids.line, .column = ids.column };
			if (ids.function != SYMCACHE_NONE)
				f->function = name_of(r, m, cache, ids.function);
			if (ids.file != SYMCACHE_NONE)
				f->file = path_of(r, m, cache, ids.file);
		}
	} else if (symcache_lookup_data(cache, rel, &data)) {
		/* Somebody jumped into a variable. */
		*new_frame(r) = (struct markup_frame){
			.function = make_name(r, data.name, SYMCACHE_LANG_UNKNOWN),
		};
	}
	*ret = r->frames;
	return symbols_sound(r->symbols, m->module) ? r->num_frames : 0;
}

/* A pointer to a function: its name, as if it were data. */
static bool find_function(struct resolver *r, const struct symcache *cache, uint64_t rel,
			  struct markup_data *ret)
{
	struct symcache_frames frames;
	struct symcache_frame frame = { .entry_pc = SYMCACHE_NONE };

	if (!symcache_lookup(cache, rel, &frames))
		return false;
	while (symcache_next_frame(&frames, &frame))
		;
	if (frame.entry_pc == SYMCACHE_NONE)
		return false;
	*ret = (struct markup_data){
		.name = make_name(r, frame.function, frame.lang),
		.offset = rel - frame.entry_pc,
		.file = make_path(r, &frame.decl_file),
		.line = frame.decl_line,
	};
	return ret->name.ptr;
}

static bool find_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	struct resolver *r = ctx;
	struct seen_module *m = module;
	const struct symcache *cache = begin(r, m);
	const uint64_t rel = vaddr - m->module->load_base;
	struct symcache_data data;

	if (!cache)
		return false;
	if (!symcache_lookup_data(cache, rel, &data))
		return find_function(r, cache, rel, ret) && symbols_sound(r->symbols, m->module);
	*ret = (struct markup_data){
		.name = make_name(r, data.name, SYMCACHE_LANG_UNKNOWN),
		.offset = rel - data.rel_address,
		.file = make_path(r, &data.file),
		.line = data.line,
	};
	return ret->name.ptr && symbols_sound(r->symbols, m->module);
}

/* A symbol element; some write a further underscore in front of the name. */
static struct markup_str find_name(void *ctx, struct markup_str name)
{
	struct resolver *r = ctx;
	const size_t extra = name.len > 2 && !memcmp(name.ptr, "__Z", 3);
	const struct symcache_str tail = { name.ptr + extra, name.len - extra };
	struct symcache_str shown = demangle(get_demangler(r), tail, SYMCACHE_LANG_UNKNOWN);

	if (shown.len == tail.len && !memcmp(shown.ptr, tail.ptr, tail.len))
		return name;
	return (struct markup_str){ shown.ptr, shown.len };
}

struct markup_resolver resolver_functions(struct resolver *r)
{
	return (struct markup_resolver){
		.ctx = r,
		.module = find_module,
		.code = find_code,
		.data = find_data,
		.demangle = find_name,
	};
}
