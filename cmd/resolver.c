/*
 * Address → frames with names and paths as they are shown: see resolver.h.
 *
 * An address costs a chain of loads, each of which has to wait for the one before
 * it: bucket, range, location, the next location, function, name. Of a large
 * program all of them come from memory. So addresses that are announced are looked
 * up together, a step of all of them after another: then the waits overlap.
 * What is found is kept as numbers; code() turns them into texts.
 */
#include "cmd/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/names.h"

enum {
	FRAMES_MAX = 4096, /* of one address; the others are left out */
	CHAINS = 1 << 10,
	LANE_FRAMES = 16,  /* that are looked up ahead */
	TEXT_LINES = 3,    /* cache lines of a name that are fetched ahead */
};

/* A module as this thread sees it: libmarkup's handle. */
struct seen_module {
	struct symbols_module *module;
	struct names_module *texts;
	uint64_t book;            /* that they are in; 0: none yet */
	struct seen_module *next; /* in its hash chain */
};

/* An address that was looked up ahead. */
struct lane {
	const struct seen_module *module;
	uint64_t vaddr;
	bool found;
	uint32_t num;
	struct symcache_frame_ids ids[LANE_FRAMES];
	struct symcache_frames rest; /* frames still to come */
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
	struct lane lanes[MARKUP_AHEAD];
	size_t num_lanes, next_lane;
	uint64_t book;       /* names_book() when it was asked last */
	uint64_t lanes_book; /* and when they were filled */
	unsigned lanes_snapshot;
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

static void fetch_texts(const struct seen_module *m, const struct symcache_frame_ids *ids)
{
	if (ids->function != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->functions[ids->function]);
	if (ids->file != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->files[ids->file]);
}

/* Takes a frame of each lane at a time, so that they wait for memory together. */
static void walk_lanes(struct resolver *r)
{
	uint32_t live = 0;

	for (size_t i = 0; i < r->num_lanes; i++)
		live |= (uint32_t)r->lanes[i].found << i;
	for (uint32_t frame = 0; live && frame < LANE_FRAMES; frame++) {
		for (uint32_t todo = live; todo; todo &= todo - 1) {
			const int i = __builtin_ctz(todo);
			struct lane *l = &r->lanes[i];
			if (symcache_next_ids(&l->rest, &l->ids[l->num]))
				fetch_texts(l->module, &l->ids[l->num++]);
			live &= ~((uint32_t)(l->rest.location == SYMCACHE_NONE) << i);
		}
	}
}

/* The beginnings of the names; those of files are few. */
static void fetch_lane_texts(const struct resolver *r)
{
	for (size_t i = 0; i < r->num_lanes; i++) {
		const struct lane *l = &r->lanes[i];
		for (uint32_t k = 0; k < l->num; k++) {
			const char *text = NULL;
			if (l->ids[k].function != SYMCACHE_NONE)
				text = (const char *)l->module->texts
					->functions[l->ids[k].function];
			for (int line = 0; text && line < TEXT_LINES; line++)
				__builtin_prefetch(text + 64 * line);
		}
	}
}

static void prepare(void *ctx, void *const modules[], const uint64_t vaddrs[], size_t n)
{
	struct resolver *r = ctx;
	struct symcache_query queries[MARKUP_AHEAD];
	const struct symcache *cache = NULL;

	r->num_lanes = r->next_lane = 0;
	r->book = names_book(r->names);
	for (size_t i = 0; i < n; i++) {
		struct seen_module *m = modules[i];
		if (!i || m != modules[i - 1])
			cache = begin_module(r, m);
		if (!cache)
			return;
		queries[i].cache = cache;
		queries[i].rel_pc = vaddrs[i] - m->module->load_base;
	}
	symcache_lookup_batch(queries, n);
	for (size_t i = 0; i < n; i++) {
		struct lane *l = &r->lanes[i];
		l->module = modules[i];
		l->vaddr = vaddrs[i];
		l->num = 0;
		l->rest = queries[i].frames;
		l->found = l->rest.location != SYMCACHE_NONE;
	}
	r->num_lanes = n;
	r->lanes_book = r->book;
	r->lanes_snapshot = symbols_snapshot(r->symbols);
	walk_lanes(r);
	fetch_lane_texts(r);
}

/* The lane of this address, if it was announced; then its module is ready as it is. */
static struct lane *take_lane(struct resolver *r, const struct seen_module *m, uint64_t vaddr)
{
	if (r->lanes_book != r->book || r->lanes_snapshot != symbols_snapshot(r->symbols))
		return NULL;
	for (size_t i = r->next_lane; i < r->num_lanes; i++) {
		if (r->lanes[i].vaddr == vaddr && r->lanes[i].module == m) {
			r->next_lane = i + 1;
			return &r->lanes[i];
		}
	}
	return NULL;
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

static size_t find_code(void *ctx, void *module, uint64_t vaddr,
			const struct markup_frame **ret)
{
	struct resolver *r = ctx;
	struct seen_module *m = module;
	const struct lane *lane = take_lane(r, m, vaddr);
	const struct symcache *cache = lane ? &m->module->cache : begin(r, m);
	const uint64_t rel = vaddr - m->module->load_base;
	struct symcache_frames frames;
	struct symcache_frame_ids ids;
	struct symcache_data data;

	r->num_frames = 0;
	if (!cache)
		return 0;
	if (lane ? lane->found : symcache_lookup(cache, rel, &frames)) {
		for (uint32_t i = 0; lane && i < lane->num; i++)
			add_frame(r, m, &lane->ids[i]);
		if (lane)
			frames = lane->rest;
		while (frames.location != SYMCACHE_NONE && r->num_frames < FRAMES_MAX && symcache_next_ids(&frames, &ids))
			add_frame(r, m, &ids);
	} else if (symcache_lookup_data(cache, rel, &data)) {
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
