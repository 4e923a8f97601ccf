/*
 * Address → frames with names and paths as they are shown: see resolver.h.
 *
 * An address costs a chain of loads, each of which has to wait for the one before
 * it: bucket, range, location, the next location, function, name. Of a large
 * program all of them come from memory. So addresses that are announced are looked
 * up together, a step of all of them after another: then the waits overlap.
 * What is found is kept as numbers; code() turns them into texts.
 */
#include "cmd/filter/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/filter/names.h"
#include "symcache/symcache.h"

enum {
	FRAMES_MAX = 4096, /* of one address; the others are left out */
	CHAINS = 1 << 10,
	AHEAD_FRAMES = 16, /* of an address that is looked up ahead */
	TEXT_LINES = 3,    /* cache lines of a name that are fetched ahead */
};

/* A module as this thread sees it: libmarkup's handle. */
struct seen_module {
	struct symbols_module *module;
	struct names_module *texts;
	uint64_t book;            /* that they are in; 0: none yet */
	struct seen_module *next; /* in its hash chain */
};

struct resolver {
	struct symbols *symbols;
	struct names_reader *names;
	bool llvm;
	struct markup_frame *frames;
	size_t num_frames, cap_frames;
	char *path; /* of what is no function */
	size_t cap_path;
	struct seen_module *chains[CHAINS];
	/* Addresses that were looked up ahead, with their first frames. */
	struct symcache_query ahead[MARKUP_AHEAD];
	const struct seen_module *ahead_modules[MARKUP_AHEAD];
	struct symcache_frame_ids ahead_ids[MARKUP_AHEAD][AHEAD_FRAMES];
	size_t num_ahead, next_ahead;
	uint64_t book;       /* names_book() when it was asked last */
	uint64_t ahead_book; /* and when these were */
	unsigned ahead_snapshot;
};

struct resolver *resolver_create(struct symbols *symbols, struct names *names, bool llvm)
{
	struct resolver *r = must_calloc(1, sizeof(*r));

	r->symbols = symbols;
	r->names = names_reader_create(names);
	r->llvm = llvm;
	return r;
}

void resolver_destroy(struct resolver *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < CHAINS; i++) {
		for (struct seen_module *m = r->chains[i], *next; m; m = next) {
			next = m->next;
			free(m);
		}
	}
	names_reader_destroy(r->names);
	free(r->frames);
	free(r->path);
	free(r);
}

/* The cache of a module, ready to be asked, with its texts in r->book; NULL: it is no
 * more. */
static const struct symcache *begin_module(struct resolver *r, struct seen_module *m)
{
	const struct symcache *cache = symbols_cache(r->symbols, m->module);

	if (cache && symcache_damaged(cache))
		return NULL;
	if (cache && m->book != r->book) {
		m->texts = names_module(r->names, m->module);
		m->book = r->book;
	}
	return cache;
}

/* The same for a single look-up: what was found before may be gone. */
static const struct symcache *begin(struct resolver *r, struct seen_module *m)
{
	r->book = names_book(r->names);
	return begin_module(r, m);
}

/* ---- ahead -------------------------------------------------------------------- */

static void fetch_text_pointers(const struct seen_module *m,
				const struct symcache_frame_ids *ids)
{
	if (ids->function != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->functions[ids->function]);
	if (ids->file != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->files[ids->file]);
}

/* The beginnings of the names; those of files are few. */
static void fetch_name(const struct seen_module *m, const struct symcache_frame_ids *ids)
{
	const char *text = NULL;

	if (ids->function != SYMCACHE_NONE)
		text = (const char *)m->texts->functions[ids->function];
	for (int line = 0; text && line < TEXT_LINES; line++)
		__builtin_prefetch(text + 64 * line);
}

/* Calls `fetch` for all frames that were looked up ahead. */
static inline __attribute__((always_inline)) void
fetch_ahead(const struct resolver *r, void (*fetch)(const struct seen_module *m,
						    const struct symcache_frame_ids *ids))
{
	for (size_t i = 0; i < r->num_ahead; i++)
		for (uint32_t k = 0; k < r->ahead[i].num_frames; k++)
			fetch(r->ahead_modules[i], &r->ahead_ids[i][k]);
}

static void prepare(void *ctx, void *const modules[], const uint64_t vaddrs[], size_t n)
{
	struct resolver *r = ctx;
	const struct symcache *cache = NULL;

	r->num_ahead = r->next_ahead = 0;
	r->book = names_book(r->names);
	for (size_t i = 0; i < n; i++) {
		struct seen_module *m = modules[i];
		if (!i || m != modules[i - 1])
			cache = begin_module(r, m);
		if (!cache)
			return;
		r->ahead_modules[i] = m;
		r->ahead[i].cache = cache;
		r->ahead[i].rel_pc = vaddrs[i] - m->module->load_base;
	}
	symcache_lookup_batch(r->ahead, n);
	symcache_ids_batch(r->ahead, n, r->ahead_ids[0], AHEAD_FRAMES);
	r->num_ahead = n;
	r->ahead_book = r->book;
	r->ahead_snapshot = symbols_snapshot(r->symbols);
	fetch_ahead(r, fetch_text_pointers);
	fetch_ahead(r, fetch_name);
}

/* Whether this address was looked up ahead, and as which; then its module is ready as it
 * is. */
static bool take_ahead(struct resolver *r, const struct seen_module *m, uint64_t rel, size_t *ret)
{
	if (r->ahead_book != r->book || r->ahead_snapshot != symbols_snapshot(r->symbols))
		return false;
	for (size_t i = r->next_ahead; i < r->num_ahead; i++) {
		if (r->ahead[i].rel_pc == rel && r->ahead_modules[i] == m) {
			r->next_ahead = i + 1;
			*ret = i;
			return true;
		}
	}
	return false;
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

static struct markup_str shown(const struct name_text *t)
{
	if (t->len == NAME_ABSENT)
		return (struct markup_str){ NULL, 0 };
	return (struct markup_str){ t->bytes, t->len };
}

static struct markup_frame *new_frame(struct resolver *r)
{
	if (r->num_frames == r->cap_frames) {
		r->cap_frames = 2 * r->cap_frames + 16;
		r->frames = must_realloc(r->frames, r->cap_frames * sizeof(*r->frames));
	}
	return &r->frames[r->num_frames++];
}

static void add_frame(struct resolver *r, const struct seen_module *m,
		      const struct symcache_frame_ids *ids)
{
	struct markup_frame *f = new_frame(r);

	*f = (struct markup_frame){ .line = ids->line, .column = ids->column, .padded = true };
	if (ids->function != SYMCACHE_NONE)
		f->function = shown(names_function(r->names, m->texts, ids->function));
	if (ids->file != SYMCACHE_NONE)
		f->file = shown(names_file(r->names, m->texts, ids->file));
}

static struct markup_str name_of(struct resolver *r, struct symcache_str name, uint32_t lang)
{
	const struct symcache_str text = names_demangle(r->names, name, lang);
	return (struct markup_str){ text.ptr, text.len };
}

/* The function that the symbol table names, as LLVM has it: foo.cold, the alias
 * that is last; and the source file of a local symbol where the DWARF names none. */
static void add_symbol(struct resolver *r, const struct symcache *cache, uint64_t rel)
{
	struct symcache_symbol symbol;

	if (!symcache_lookup_symbol(cache, rel, &symbol))
		return;
	if (!r->num_frames)
		*new_frame(r) = (struct markup_frame){ 0 };
	r->frames[r->num_frames - 1].function = name_of(r, symbol.name, SYMCACHE_LANG_SYMTAB);
	r->frames[r->num_frames - 1].padded = false;
	if (!r->frames[0].file.ptr && symbol.file.len) {
		r->frames[0].file = (struct markup_str){ symbol.file.ptr, symbol.file.len };
		r->frames[0].padded = false;
	}
}

_Static_assert(NAME_PADDED == MARKUP_PADDED, "texts are handed on as they are");

/* The frames still to come. */
static void add_rest(struct resolver *r, const struct seen_module *m,
		     struct symcache_frames *frames)
{
	struct symcache_frame_ids ids;

	while (r->num_frames < FRAMES_MAX && symcache_next_ids(frames, &ids))
		add_frame(r, m, &ids);
}

/* The frames of an address in a cache that is ready: false, it is no code's. */
static bool add_frames(struct resolver *r, const struct seen_module *m,
		       const struct symcache *cache, uint64_t rel)
{
	struct symcache_frames frames;

	if (!symcache_lookup(cache, rel, &frames))
		return false;
	add_rest(r, m, &frames);
	return true;
}

/* The same of one that was looked up ahead. */
static bool add_frames_ahead(struct resolver *r, const struct seen_module *m, size_t ahead)
{
	struct symcache_query *q = &r->ahead[ahead];

	for (uint32_t i = 0; i < q->num_frames; i++)
		add_frame(r, m, &r->ahead_ids[ahead][i]);
	add_rest(r, m, &q->frames);
	return r->num_frames;
}

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct markup_frame **ret)
{
	struct resolver *r = ctx;
	struct seen_module *m = module;
	const uint64_t rel = vaddr - m->module->load_base;
	size_t ahead;
	const bool known = take_ahead(r, m, rel, &ahead);
	const struct symcache *cache = known ? &m->module->cache : begin(r, m);
	struct symcache_data data;

	r->num_frames = 0;
	if (!cache)
		return 0;
	if (!(known ? add_frames_ahead(r, m, ahead) : add_frames(r, m, cache, rel)) &&
	    symcache_lookup_data(cache, rel, &data)) {
		/* Somebody jumped into a variable. */
		*new_frame(r) = (struct markup_frame){
			.function = name_of(r, data.name, SYMCACHE_LANG_UNKNOWN),
		};
	}
	if (r->llvm)
		add_symbol(r, cache, rel);
	*ret = r->frames;
	return symbols_sound(r->symbols, m->module) ? r->num_frames : 0;
}

/* Valid until the next one. */
static struct markup_str path_of(struct resolver *r, const struct symcache_file *file)
{
	const enum symcache_path_style style = r->llvm ? SYMCACHE_PATH_RAW : SYMCACHE_PATH_CLEAN;
	size_t room;

	if (!file->name.ptr)
		return (struct markup_str){ NULL, 0 };
	room = file->comp_dir.len + file->directory.len + file->name.len + 3;
	if (room > r->cap_path) {
		r->path = must_realloc(r->path, room);
		r->cap_path = room;
	}
	return (struct markup_str){ r->path, symcache_path(file, style, r->path, room) };
}

/* A pointer to a function: its name, as if it were data. */
static bool find_function(struct resolver *r, const struct symcache *cache, uint64_t rel,
			  struct markup_data *ret)
{
	struct symcache_frames frames;
	struct symcache_frame frame = { .entry_pc = SYMCACHE_NONE };
	struct symcache_file file;

	if (!symcache_lookup(cache, rel, &frames))
		return false;
	while (symcache_next_frame(&frames, &frame))
		;
	if (frame.entry_pc == SYMCACHE_NONE)
		return false;
	file = symcache_file(cache, frame.decl_file_idx);
	*ret = (struct markup_data){
		.name = name_of(r, frame.function, frame.lang),
		.offset = rel - frame.entry_pc,
		.file = path_of(r, &file),
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
	struct symcache_symbol symbol;
	struct symcache_data data;

	if (!cache)
		return false;
	if (r->llvm && symcache_lookup_symbol(cache, rel, &symbol)) {
		*ret = (struct markup_data){ .name = name_of(r, symbol.name, SYMCACHE_LANG_SYMTAB) };
		return ret->name.ptr && symbols_sound(r->symbols, m->module);
	}
	if (!symcache_lookup_data(cache, rel, &data))
		return find_function(r, cache, rel, ret) && symbols_sound(r->symbols, m->module);
	*ret = (struct markup_data){
		.name = name_of(r, data.name, SYMCACHE_LANG_UNKNOWN),
		.offset = rel - data.rel_address,
		.file = path_of(r, &data.file),
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
	const struct markup_str text = name_of(r, tail, SYMCACHE_LANG_UNKNOWN);

	if (!text.ptr || (text.len == tail.len && !memcmp(text.ptr, tail.ptr, tail.len)))
		return name;
	return text;
}

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
