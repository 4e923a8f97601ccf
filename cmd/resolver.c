/*
 * Address → frames with names and paths as they are shown: see resolver.h.
 *
 * A log of a million addresses has a few thousand names and files, so both are
 * made once and kept in one block of memory, found again by where they lie in
 * the cache. When the block is full, or the caches may have moved, all is
 * forgotten and begun anew: memory is bounded, and nothing has to be evicted.
 */
#include "cmd/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/demangle.h"

enum {
	TEXT_BYTES = 24 << 20, /* of names and paths that are kept */
	TEXT_BLOCK = 256 << 10,
	MIN_SLOTS = 1 << 10,   /* a power of two */
};

/* Where a text comes from: a name and its language, or the parts of a path. */
struct text_key {
	const void *a, *b, *c;
};

struct text {
	struct text_key key; /* a NULL: free */
	struct markup_str str;
};

struct block {
	struct block *older;
	size_t size;
	char bytes[];
};

struct resolver {
	struct symbols *symbols;
	bool llvm;
	struct demangler *demangler;
	struct markup_frame *frames;
	size_t num_frames, cap_frames;
	struct text *texts;     /* open addressing */
	size_t slots, num_texts;
	struct block *blocks;   /* the newest first */
	size_t block_left;      /* bytes of it */
	size_t block_bytes;     /* of all blocks */
	unsigned snapshot;      /* of the symbols, that the keys point into */
};

struct resolver *resolver_create(struct symbols *symbols, bool llvm)
{
	struct resolver *r = must_calloc(1, sizeof(*r));

	r->symbols = symbols;
	r->llvm = llvm;
	r->demangler = demangler_create();
	r->slots = MIN_SLOTS;
	r->texts = must_calloc(r->slots, sizeof(*r->texts));
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
	memset(r->texts, 0, r->slots * sizeof(*r->texts));
	r->num_texts = 0;
}

void resolver_destroy(struct resolver *r)
{
	if (!r)
		return;
	forget_texts(r);
	free(r->frames);
	free(r->texts);
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

static struct text *find_slot(struct text *texts, size_t slots, const struct text_key *key)
{
	uint64_t h = ((uintptr_t)key->a ^ (uintptr_t)key->b << 17 ^ (uintptr_t)key->c << 34) *
		     0x9e3779b97f4a7c15u;

	for (size_t i = (size_t)(h >> 32);; i++) {
		struct text *t = &texts[i & (slots - 1)];
		if (!t->key.a || (t->key.a == key->a && t->key.b == key->b && t->key.c == key->c))
			return t;
	}
}

static void grow_texts(struct resolver *r)
{
	size_t slots = 2 * r->slots;
	struct text *texts = must_calloc(slots, sizeof(*texts));

	for (size_t i = 0; i < r->slots; i++)
		if (r->texts[i].key.a)
			*find_slot(texts, slots, &r->texts[i].key) = r->texts[i];
	free(r->texts);
	r->texts = texts;
	r->slots = slots;
}

/* The slot of `key`; str.ptr NULL: it is new, and to be filled. */
static struct text *text_slot(struct resolver *r, const struct text_key *key)
{
	struct text *t = find_slot(r->texts, r->slots, key);

	if (t->key.a)
		return t;
	if (2 * ++r->num_texts > r->slots) {
		grow_texts(r);
		t = find_slot(r->texts, r->slots, key);
	}
	t->key = *key;
	return t;
}

static struct markup_str show_name(struct resolver *r, struct symcache_str name, uint32_t lang)
{
	struct text_key key = { name.ptr, (void *)(uintptr_t)lang, NULL };
	struct text *t;

	if (!name.len || (name.len == 1 && *name.ptr == '?'))
		return (struct markup_str){ NULL, 0 };
	t = text_slot(r, &key);
	if (!t->str.ptr) {
		/* LLVM takes Rust's older names for C++. */
		struct symcache_str shown = demangle(r->demangler, name,
						     r->llvm ? SYMCACHE_LANG_UNKNOWN : lang);
		char *copy = new_text(r, shown.len);
		memcpy(copy, shown.ptr, shown.len);
		t->str = (struct markup_str){ copy, shown.len };
	}
	return t->str;
}

static struct markup_str show_path(struct resolver *r, const struct symcache_file *file)
{
	struct text_key key = { file->name.ptr, file->directory.ptr, file->comp_dir.ptr };
	struct text *t;

	if (!file->name.ptr)
		return (struct markup_str){ NULL, 0 };
	t = text_slot(r, &key);
	if (!t->str.ptr) {
		size_t room = file->comp_dir.len + file->directory.len + file->name.len + 3;
		char *path = new_text(r, room);
		size_t len = symcache_path(file, r->llvm ? SYMCACHE_PATH_RAW : SYMCACHE_PATH_CLEAN,
					   path, room);
		t->str = (struct markup_str){ path, len };
	}
	return t->str;
}

/* The cache of a module, ready to be asked. */
static const struct symcache *begin(struct resolver *r, void *module)
{
	const struct symcache *cache = symbols_cache(r->symbols, module);

	if (r->snapshot != symbols_snapshot(r->symbols) || r->block_bytes > TEXT_BYTES)
		forget_texts(r);
	r->snapshot = symbols_snapshot(r->symbols);
	return cache;
}

/* ---- what libmarkup asks ------------------------------------------------------ */

static void *find_module(void *ctx, const uint8_t *build_id, size_t len, const char **why)
{
	struct resolver *r = ctx;
	struct symbols_module *m = symbols_find(r->symbols, build_id, len);

	if (!m || !m->why_not.code)
		return m;
	*why = m->why_not.msg[0] ? m->why_not.msg : NULL;
	return NULL;
}

static struct markup_frame *new_frame(struct resolver *r)
{
	if (r->num_frames == r->cap_frames) {
		r->cap_frames = 2 * r->cap_frames + 16;
		r->frames = must_realloc(r->frames, r->cap_frames * sizeof(*r->frames));
	}
	r->frames[r->num_frames] = (struct markup_frame){ 0 };
	return &r->frames[r->num_frames++];
}

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct markup_frame **ret)
{
	struct resolver *r = ctx;
	const struct symcache *cache = begin(r, module);
	const uint64_t rel = vaddr - ((struct symbols_module *)module)->load_base;
	struct symcache_frames frames;
	struct symcache_frame frame;
	struct symcache_data data;

	r->num_frames = 0;
	if (!cache)
		return 0;
	if (symcache_lookup(cache, rel, &frames)) {
		while (symcache_next_frame(&frames, &frame))
			*new_frame(r) = (struct markup_frame){
				.function = show_name(r, frame.function, frame.lang),
				.file = show_path(r, &frame.file),
				.line = frame.line,
				.column = frame.column,
			};
	} else if (symcache_lookup_data(cache, rel, &data)) {
		/* Somebody jumped into a variable. */
		new_frame(r)->function = show_name(r, data.name, SYMCACHE_LANG_UNKNOWN);
	}
	*ret = r->frames;
	return r->num_frames;
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
		.name = show_name(r, frame.function, frame.lang),
		.offset = rel - frame.entry_pc,
		.file = show_path(r, &frame.decl_file),
		.line = frame.decl_line,
	};
	return ret->name.ptr;
}

static bool find_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	struct resolver *r = ctx;
	const struct symcache *cache = begin(r, module);
	const uint64_t rel = vaddr - ((struct symbols_module *)module)->load_base;
	struct symcache_data data;

	if (!cache)
		return false;
	if (!symcache_lookup_data(cache, rel, &data))
		return find_function(r, cache, rel, ret);
	*ret = (struct markup_data){
		.name = show_name(r, data.name, SYMCACHE_LANG_UNKNOWN),
		.offset = rel - data.rel_address,
		.file = show_path(r, &data.file),
		.line = data.line,
	};
	return ret->name.ptr;
}

/* A symbol element; some write a further underscore in front of the name. */
static struct markup_str find_name(void *ctx, struct markup_str name)
{
	struct resolver *r = ctx;
	const size_t extra = name.len > 2 && !memcmp(name.ptr, "__Z", 3);
	const struct symcache_str tail = { name.ptr + extra, name.len - extra };
	struct symcache_str shown = demangle(r->demangler, tail, SYMCACHE_LANG_UNKNOWN);

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
