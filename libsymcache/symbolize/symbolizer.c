/*
 * Address → frames with names and paths as they are shown: see symcache/symbolize.h.
 *
 * An address costs a chain of loads, each of which has to wait for the one before
 * it: bucket, range, location, the next location, function, name. Of a large
 * program all of them come from memory. So addresses that are announced are looked
 * up together, a step of all of them after another: then the waits overlap.
 * What is found is kept as numbers, which become texts when they are asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/symbolize/module.h"
#include "libsymcache/symbolize/names.h"

enum {
	AHEAD_FRAMES = 16, /* of an address that is looked up ahead */
	TEXT_LINES = 3,    /* cache lines of a name that are fetched ahead */
};

/* A module as this thread sees it. */
struct seen {
	const struct symcache *cache;
	uint64_t load_base;
	struct sc_texts *texts;
	uint64_t book;       /* that they are in; 0: none yet */
	unsigned generation; /* of the module then */
};

struct symcache_symbolizer {
	struct symcache_caches *source;
	struct sc_names_reader *names;
	const struct symcache_names_options *options;
	VEC(struct symcache_shown_frame) frames;
	VEC(char) path;   /* of what is no frame */
	VEC(struct seen) seen; /* by the module's number */
	uint64_t book;    /* sc_names_book() when it was asked last */
	/* Addresses that were looked up ahead, with their first frames. */
	struct symcache_query ahead[SYMCACHE_BATCH];
	const struct seen *ahead_seen[SYMCACHE_BATCH];
	struct symcache_frame_ids ahead_ids[SYMCACHE_BATCH][AHEAD_FRAMES];
	size_t num_ahead, next_ahead;
	uint64_t ahead_book, ahead_snapshot;
};

struct symcache_symbolizer *symcache_symbolizer_create(struct symcache_caches *source,
						       struct symcache_names *names)
{
	struct symcache_symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->source = source;
	s->names = sc_names_reader_create(names);
	if (!s->names) {
		free(s);
		return NULL;
	}
	s->options = sc_names_options(s->names);
	return s;
}

void symcache_symbolizer_destroy(struct symcache_symbolizer *s)
{
	if (!s)
		return;
	sc_names_reader_destroy(s->names);
	vec_deinit(&s->frames);
	vec_deinit(&s->path);
	vec_deinit(&s->seen);
	free(s);
}

/* ---- modules ---------------------------------------------------------------------- */

static struct seen *add_seen(struct symcache_symbolizer *s, uint32_t number)
{
	s->num_ahead = 0; /* as they move */
	while (s->seen.len <= number)
		if (!vec_push(&s->seen))
			return NULL;
	return &s->seen.data[number];
}

/* The module with its cache and texts, ready to be asked, in s->book; NULL: there is no
 * cache, or no memory. What was returned before may move. */
static inline struct seen *begin_module(struct symcache_symbolizer *s, struct symcache_module *m)
{
	const struct symcache *cache = sc_module_cache(m);
	struct seen *seen;

	if (!cache)
		return NULL;
	seen = m->number < s->seen.len ? &s->seen.data[m->number] : add_seen(s, m->number);
	if (!seen)
		return NULL;
	if (__builtin_expect(seen->book != s->book || seen->cache != cache ||
			     seen->generation != m->generation, 0)) {
		seen->texts = sc_names_texts(s->names, cache, m->generation);
		if (!seen->texts)
			return NULL;
		seen->cache = cache;
		seen->load_base = symcache_load_base(cache);
		seen->generation = m->generation;
		seen->book = s->book;
	}
	return seen;
}

/* The same for a single look-up: what was found before may be gone. */
static struct seen *begin(struct symcache_symbolizer *s, struct symcache_module *m)
{
	s->book = sc_names_book(s->names);
	return begin_module(s, m);
}

/* What lies below the base is not in the cache: it must not wrap around. */
static inline uint64_t relative(const struct seen *seen, uint64_t vaddr)
{
	return vaddr < seen->load_base ? UINT64_MAX : vaddr - seen->load_base;
}

/* ---- ahead -------------------------------------------------------------------------- */

static void fetch_text_pointers(const struct seen *m, const struct symcache_frame_ids *ids)
{
	if (ids->function != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->functions[ids->function]);
	if (ids->file != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->files[ids->file]);
}

/* The beginnings of the names; those of files are few. */
static void fetch_name(const struct seen *m, const struct symcache_frame_ids *ids)
{
	const char *text = NULL;

	if (ids->function != SYMCACHE_NONE)
		text = (const char *)m->texts->functions[ids->function];
	for (int line = 0; text && line < TEXT_LINES; line++)
		__builtin_prefetch(text + 64 * line);
}

/* Calls `fetch` for all frames that were looked up ahead. */
static inline __attribute__((always_inline)) void
fetch_ahead(const struct symcache_symbolizer *s,
	    void (*fetch)(const struct seen *m, const struct symcache_frame_ids *ids))
{
	for (size_t i = 0; i < s->num_ahead; i++)
		for (uint32_t k = 0; k < s->ahead[i].num_frames; k++)
			fetch(s->ahead_seen[i], &s->ahead_ids[i][k]);
}

void symcache_symbolize_ahead(struct symcache_symbolizer *s, struct symcache_module *const m[],
			      const uint64_t vaddrs[], size_t n)
{
	const struct seen *seen = NULL;
	uint32_t last = 0;

	s->num_ahead = s->next_ahead = 0;
	s->book = sc_names_book(s->names);
	n = n < SYMCACHE_BATCH ? n : SYMCACHE_BATCH;
	for (size_t i = 0; i < n; i++)
		last = m[i]->number > last ? m[i]->number : last;
	if (n && last >= s->seen.len && !add_seen(s, last)) /* all now, so that none moves */
		return;
	for (size_t i = 0; i < n; i++) {
		if (!i || m[i] != m[i - 1])
			seen = begin_module(s, m[i]);
		if (!seen)
			return;
		s->ahead_seen[i] = seen;
		s->ahead[i].cache = seen->cache;
		s->ahead[i].rel_pc = relative(seen, vaddrs[i]);
	}
	symcache_lookup_batch(s->ahead, n);
	symcache_ids_batch(s->ahead, n, s->ahead_ids[0], AHEAD_FRAMES);
	s->num_ahead = n;
	s->ahead_book = s->book;
	s->ahead_snapshot = s->source->snapshot;
	fetch_ahead(s, fetch_text_pointers);
	fetch_ahead(s, fetch_name);
}

/* The number of this address among those that were looked up ahead, whose modules are ready
 * as they are; SYMCACHE_BATCH: it was not. */
static inline size_t take_ahead(struct symcache_symbolizer *s, const struct symcache_module *m,
				uint64_t vaddr)
{
	if (s->next_ahead >= s->num_ahead || s->ahead_book != s->book ||
	    s->ahead_snapshot != s->source->snapshot || m->number >= s->seen.len)
		return SYMCACHE_BATCH;
	for (size_t i = s->next_ahead; i < s->num_ahead; i++) {
		if (s->ahead_seen[i] == &s->seen.data[m->number] &&
		    s->ahead[i].rel_pc == relative(s->ahead_seen[i], vaddr)) {
			s->next_ahead = i + 1;
			return i;
		}
	}
	return SYMCACHE_BATCH;
}

/* ---- frames -------------------------------------------------------------------------- */

static inline struct symcache_str shown(const struct sc_text *t)
{
	if (t->len == SC_ABSENT)
		return (struct symcache_str){ NULL, 0 };
	return (struct symcache_str){ t->bytes, t->len };
}

/* False: out of memory. */
static inline bool add_frame(struct symcache_symbolizer *s, const struct seen *m,
			     const struct symcache_frame_ids *ids)
{
	struct symcache_shown_frame *f;

	if (__builtin_expect(!vec_reserve(&s->frames, 1), 0))
		return false;
	f = &s->frames.data[s->frames.len++];
	*f = (struct symcache_shown_frame){ .line = ids->line, .column = ids->column,
					    .padded = true, .function_idx = ids->function };
	if (ids->function != SYMCACHE_NONE)
		f->function = shown(sc_names_function(s->names, m->texts, ids->function));
	if (ids->file != SYMCACHE_NONE)
		f->file = shown(sc_names_file(s->names, m->texts, ids->file));
	return true;
}

/* The frames of an address, `ahead` of those that were looked up. False: out of memory. */
static inline bool add_frames(struct symcache_symbolizer *s, const struct seen *m, uint64_t rel,
			      size_t ahead)
{
	struct symcache_frames single, *rest = &single;
	struct symcache_frame_ids ids;

	s->frames.len = 0;
	if (ahead < SYMCACHE_BATCH) {
		const uint32_t n = s->ahead[ahead].num_frames;
		rest = &s->ahead[ahead].frames;
		for (uint32_t i = 0; i < n; i++)
			if (!add_frame(s, m, &s->ahead_ids[ahead][i]))
				return false;
	} else if (!symcache_lookup(m->cache, rel, rest)) {
		return true;
	}
	while (s->frames.len < SYMCACHE_FRAMES_MAX && symcache_next_ids(rest, &ids))
		if (!add_frame(s, m, &ids))
			return false;
	return true;
}

/* What the symbol table adds, as LLVM has it: the name of the function that has the code
 * (foo.cold, the alias that is last), and the source file of a local symbol where the DWARF
 * names none: both for the outermost frame. False: out of memory. */
static bool add_symbol(struct symcache_symbolizer *s, const struct seen *m, uint64_t rel,
		       bool dwarf_first, struct symcache_answer *a)
{
	struct symcache_shown_frame *f;

	a->has_symbol = symcache_lookup_symbol(m->cache, rel, &a->symbol);
	if (!a->has_symbol || s->options->functions != SYMCACHE_FUNCTIONS_WHOLE ||
	    (dwarf_first && s->frames.len))
		return true;
	if (!s->frames.len) {
		f = vec_push(&s->frames);
		if (!f)
			return false;
		f->function_idx = SYMCACHE_NONE;
	}
	f = &s->frames.data[s->frames.len - 1];
	f->function = sc_names_show(s->names, a->symbol.name, SYMCACHE_LANG_SYMTAB);
	f->of_table = true;
	f->padded = false;
	if (!f->file.ptr && a->symbol.file.len)
		f->file = s->options->paths == SYMCACHE_PATHS_BASENAME ?
			sc_basename(a->symbol.file) : a->symbol.file;
	return true;
}

/* Leaves one frame of a chain. */
static void reduce(struct symcache_symbolizer *s, enum symcache_inlines inlines,
		   struct symcache_answer *a)
{
	struct symcache_shown_frame *frames = s->frames.data;

	if (inlines == SYMCACHE_ONE_FRAME) {
		a->one_frame = true;
		frames[0].function = frames[s->frames.len - 1].function;
	}
	s->frames.len = 1;
}

static enum symcache_reason why_none(const struct seen *m, uint64_t rel)
{
	const uint32_t range = symcache_range_of(m->cache, rel);

	return range == SYMCACHE_NONE || range + 1 == m->cache->header->num_ranges ?
		SYMCACHE_OUTSIDE : SYMCACHE_NO_CODE;
}

static inline enum symcache_reason
answer(struct symcache_symbolizer *s, struct symcache_module *m, uint64_t vaddr,
       enum symcache_inlines inlines, enum symcache_table_rule table, struct symcache_answer *ret)
{
	const size_t ahead = take_ahead(s, m, vaddr);
	const struct seen *seen = ahead < SYMCACHE_BATCH ? s->ahead_seen[ahead] : begin(s, m);
	uint64_t rel;

	if (!seen)
		return SYMCACHE_NO_CACHE;
	ret->cache = seen->cache;
	rel = relative(seen, vaddr);
	if (!add_frames(s, seen, rel, ahead))
		return SYMCACHE_NO_MEMORY;
	if (s->frames.len)
		ret->code_idx = s->frames.data[s->frames.len - 1].function_idx;
	if (s->frames.len && inlines != SYMCACHE_INLINES)
		reduce(s, inlines, ret);
	if (table != SYMCACHE_TABLE_NEVER &&
	    !add_symbol(s, seen, rel, table == SYMCACHE_TABLE_FALLBACK ||
			inlines == SYMCACHE_INNERMOST, ret))
		return SYMCACHE_NO_MEMORY;
	if (__builtin_expect(!symcache_module_sound(m, seen->cache), 0))
		return SYMCACHE_DAMAGED;
	if (!s->frames.len)
		return why_none(seen, rel);
	ret->frames = s->frames.data;
	ret->num_frames = s->frames.len;
	return SYMCACHE_FOUND;
}

enum symcache_reason symcache_symbolize_as(struct symcache_symbolizer *s, struct symcache_module *m,
					   uint64_t vaddr, enum symcache_inlines inlines,
					   enum symcache_table_rule table,
					   struct symcache_answer *ret)
{
	ret->frames = NULL;
	ret->num_frames = 0;
	ret->cache = NULL;
	ret->has_symbol = ret->one_frame = false;
	ret->code_idx = SYMCACHE_NONE;
	ret->reason = answer(s, m, vaddr, inlines, table, ret);
	return ret->reason;
}

enum symcache_reason symcache_symbolize(struct symcache_symbolizer *s, struct symcache_module *m,
					uint64_t vaddr, struct symcache_answer *ret)
{
	return symcache_symbolize_as(s, m, vaddr, SYMCACHE_INLINES, s->options->table, ret);
}

/* ---- declarations and data ---------------------------------------------------------------- */

/* The path of a file, valid until the next one; ptr NULL: unknown, or out of memory. */
static struct symcache_str path_of(struct symcache_symbolizer *s, const struct symcache_file *file,
				   enum symcache_paths paths)
{
	const size_t room = sc_path_room(file);

	vec_clear(&s->path);
	if (!file->name.ptr || !vec_reserve(&s->path, room))
		return (struct symcache_str){ NULL, 0 };
	return (struct symcache_str){ s->path.data,
				      sc_write_path(file, paths, s->path.data, room) };
}

/* Where function `idx` begins, relative; SYMCACHE_NONE: it is inlined, or there is none. */
static uint32_t entry_of(const struct symcache *c, uint32_t idx)
{
	return idx != SYMCACHE_NONE &&
	       symcache_sound(c, &c->functions[idx], sizeof(*c->functions)) ?
		c->functions[idx].entry_pc : SYMCACHE_NONE;
}

struct symcache_start symcache_symbolize_start(struct symcache_symbolizer *s,
					       const struct symcache_answer *a, size_t frame)
{
	const struct symcache_shown_frame *f = &a->frames[frame];
	const struct symcache *c = a->cache;
	const struct symcache_ext_decl *d = c->decls && f->function_idx != SYMCACHE_NONE ?
		&c->decls[f->function_idx] : NULL;
	const uint32_t entry = entry_of(c, a->one_frame ? a->code_idx : f->function_idx);
	struct symcache_start ret = { .known = f->of_table || entry != SYMCACHE_NONE };

	if (ret.known)
		ret.vaddr = symcache_load_base(c) +
			    (f->of_table ? a->symbol.rel_address : entry);
	if (d && symcache_sound(c, d, sizeof(*d))) {
		const struct symcache_file file = symcache_file(c, d->file_idx);

		ret.file = path_of(s, &file, s->options->paths);
		ret.line = d->line;
	}
	return ret;
}

/* A whole path. */
static struct symcache_str whole_path_of(struct symcache_symbolizer *s,
					 const struct symcache_file *file)
{
	return path_of(s, file, s->options->paths == SYMCACHE_PATHS_CLEAN ?
			SYMCACHE_PATHS_CLEAN : SYMCACHE_PATHS_RAW);
}

bool symcache_symbolize_data(struct symcache_symbolizer *s, struct symcache_module *m,
			     uint64_t vaddr, struct symcache_shown_data *ret)
{
	const struct seen *seen = begin(s, m);
	struct symcache_data data = { 0 };
	struct symcache_symbol symbol;
	bool of_table;
	uint64_t rel;

	if (!seen)
		return false;
	rel = relative(seen, vaddr);
	symcache_lookup_data(seen->cache, rel, &data);
	of_table = s->options->table != SYMCACHE_TABLE_NEVER &&
		   symcache_lookup_symbol(seen->cache, rel, &symbol);
	if (of_table) {
		/* The table's view of what is where; the DWARF says whence. */
		data.name = symbol.name;
		data.rel_address = symbol.rel_address;
		data.size = symbol.size;
		if (!data.line)
			data.file = (struct symcache_file){ .name = symbol.file };
	}
	if (!data.name.ptr || !symcache_module_sound(m, seen->cache))
		return false;
	*ret = (struct symcache_shown_data){
		.name = sc_names_show(s->names, data.name, SYMCACHE_LANG_SYMTAB),
		.vaddr = seen->load_base + data.rel_address,
		.size = data.size,
		.file = whole_path_of(s, &data.file),
		.line = data.line,
		.of_table = of_table,
	};
	return ret->name.ptr;
}

bool symcache_symbolize_function(struct symcache_symbolizer *s, struct symcache_module *m,
				 uint64_t vaddr, struct symcache_shown_data *ret)
{
	const struct seen *seen = begin(s, m);
	struct symcache_frames frames;
	struct symcache_frame frame = { .entry_pc = SYMCACHE_NONE };
	struct symcache_file file;

	if (!seen || !symcache_lookup(seen->cache, relative(seen, vaddr), &frames))
		return false;
	while (symcache_next_frame(&frames, &frame))
		;
	if (frame.entry_pc == SYMCACHE_NONE)
		return false;
	file = symcache_file(seen->cache, frame.decl_file_idx);
	*ret = (struct symcache_shown_data){
		.name = sc_names_show(s->names, frame.function, frame.lang),
		.vaddr = seen->load_base + frame.entry_pc,
		.file = whole_path_of(s, &file),
		.line = frame.decl_line,
	};
	return ret->name.ptr && symcache_module_sound(m, seen->cache);
}

bool symcache_symbolize_name(struct symcache_symbolizer *s, struct symcache_module *m,
			     struct symcache_str name, uint32_t *at, uint64_t *vaddr)
{
	const struct seen *seen = begin(s, m);
	const struct symcache *c = seen ? seen->cache : NULL;

	while (c && *at < c->header->num_functions) {
		const struct symcache_function *f = &c->functions[(*at)++];
		struct symcache_str its;

		if (!symcache_sound(c, f, sizeof(*f)))
			return false;
		if (f->entry_pc == SYMCACHE_NONE)
			continue;
		its = symcache_string(c, f->name);
		if (its.len == name.len && !memcmp(its.ptr, name.ptr, name.len)) {
			*vaddr = seen->load_base + f->entry_pc;
			return symcache_module_sound(m, c);
		}
	}
	return false;
}

struct symcache_str symcache_show_name(struct symcache_symbolizer *s, struct symcache_str name,
				       uint32_t lang)
{
	return sc_names_show(s->names, name, lang);
}
