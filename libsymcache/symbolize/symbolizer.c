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

#include "libsymcache/symbolize/symbolizer.h"

enum { TEXT_LINES = 3 }; /* cache lines of a name that are fetched ahead */

struct symcache_symbolizer *symcache_symbolizer_create(struct symcache_caches *caches,
						       struct symcache_names *names)
{
	struct symcache_symbolizer *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->caches = caches;
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
	vec_deinit(&s->locations);
	for (size_t i = 0; i < s->seen.len; i++)
		sc_name_index_destroy(s->seen.data[i].index);
	vec_deinit(&s->seen);
	free(s);
}

/* ---- modules ---------------------------------------------------------------------- */

static struct sc_seen *add_seen(struct symcache_symbolizer *s, uint32_t number)
{
	s->num_ahead = 0; /* as they move */
	while (s->seen.len <= number)
		if (!vec_push(&s->seen))
			return NULL;
	return &s->seen.data[number];
}

/* The module with its cache and texts, ready to be asked, in s->book; NULL: there is no
 * cache, or no memory. What was returned before may move. */
static inline struct sc_seen *begin_module(struct symcache_symbolizer *s, struct symcache_module *m)
{
	const struct symcache *cache = sc_module_cache(m);
	struct sc_seen *seen;

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
		seen->module = m;
		seen->own = m->own;
		seen->load_base = symcache_load_base(cache);
		seen->generation = m->generation;
		seen->book = s->book;
	}
	return seen;
}

struct sc_seen *sc_symbolizer_begin(struct symcache_symbolizer *s, struct symcache_module *m)
{
	s->book = sc_names_book(s->names);
	return begin_module(s, m);
}

/* ---- ahead -------------------------------------------------------------------------- */

static void fetch_text_pointers(const struct sc_seen *m, const struct symcache_frame_ids *ids)
{
	if (ids->function != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->functions[ids->function]);
	if (ids->file != SYMCACHE_NONE)
		__builtin_prefetch(&m->texts->files[ids->file]);
}

/* The beginnings of the names; those of files are few. */
static void fetch_name(const struct sc_seen *m, const struct symcache_frame_ids *ids)
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
	    void (*fetch)(const struct sc_seen *m, const struct symcache_frame_ids *ids))
{
	for (size_t i = 0; i < s->num_ahead; i++)
		for (uint32_t k = 0; k < s->ahead[i].num_frames; k++)
			fetch(s->ahead_seen[i], &s->ahead_ids[i][k]);
}

/* The symbols of n addresses, and the beginnings of their names. */
static void look_up_symbols(struct symcache_symbolizer *s, size_t n)
{
	symcache_symbols_batch(s->ahead, n, s->ahead_symbols);
	for (size_t i = 0; i < n; i++)
		if (s->ahead_symbols[i] != SYMCACHE_NONE)
			__builtin_prefetch(&s->ahead_seen[i]->texts->symbols[s->ahead_symbols[i]]);
}

static void fetch_discriminators(const struct symcache_symbolizer *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const uint8_t *numbers = s->ahead[i].cache->discriminators.numbers;

		if (numbers && s->ahead[i].frames.location != SYMCACHE_NONE)
			__builtin_prefetch(numbers + s->ahead[i].frames.location);
	}
}

void symcache_symbolize_ahead(struct symcache_symbolizer *s, struct symcache_module *const m[],
			      const uint64_t vaddrs[], size_t n)
{
	const struct sc_seen *seen = NULL;
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
		s->ahead[i].rel_pc = sc_relative(seen, vaddrs[i]);
	}
	symcache_lookup_batch(s->ahead, n);
	if (s->discriminators)
		fetch_discriminators(s, n);
	symcache_ids_batch(s->ahead, n, s->ahead_ids[0], SC_AHEAD_FRAMES);
	if (s->options->table != SYMCACHE_TABLE_NEVER)
		look_up_symbols(s, n);
	s->num_ahead = n;
	s->ahead_book = s->book;
	s->ahead_snapshot = s->caches->snapshot;
	fetch_ahead(s, fetch_text_pointers);
	fetch_ahead(s, fetch_name);
}

/* The number of this address among those that were looked up ahead, whose modules are ready
 * as they are; SYMCACHE_BATCH: it was not. */
static inline size_t take_ahead(struct symcache_symbolizer *s, const struct symcache_module *m,
				uint64_t vaddr)
{
	if (s->next_ahead >= s->num_ahead || s->ahead_book != s->book ||
	    s->ahead_snapshot != s->caches->snapshot || m->number >= s->seen.len)
		return SYMCACHE_BATCH;
	for (size_t i = s->next_ahead; i < s->num_ahead; i++) {
		if (s->ahead_seen[i] == &s->seen.data[m->number] &&
		    s->ahead[i].rel_pc == sc_relative(s->ahead_seen[i], vaddr)) {
			s->next_ahead = i + 1;
			return i;
		}
	}
	return SYMCACHE_BATCH;
}

/* ---- frames -------------------------------------------------------------------------- */

/* False: out of memory. */
static inline bool add_frame(struct symcache_symbolizer *s, const struct sc_seen *m,
			     const struct symcache_frame_ids *ids)
{
	struct symcache_shown_frame *f;

	if (__builtin_expect(!vec_reserve(&s->frames, 1), 0))
		return false;
	f = &s->frames.data[s->frames.len++];
	*f = (struct symcache_shown_frame){ .line = ids->line, .column = ids->column,
					    .padded = true, .function_idx = ids->function };
	if (ids->function != SYMCACHE_NONE)
		f->function = sc_text_str(sc_names_function(s->names, m->texts, ids->function));
	if (ids->file != SYMCACHE_NONE)
		f->file = sc_text_str(sc_names_file(s->names, m->texts, ids->file));
	return true;
}

/* The frames of an address, `ahead` of those that were looked up. False: out of memory. */
static inline bool add_frames(struct symcache_symbolizer *s, const struct sc_seen *m, uint64_t rel,
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

/* Leaves out a name of the symbol table: where the file's own table names nothing, its debug
 * file's, which is in the cache, does not either; nor does any where LLVM shows short names. */
static void forget_symbol(const struct sc_seen *m, struct symcache_shown_frame *f)
{
	const struct symcache *c = m->cache;

	if (f->function_idx != SYMCACHE_NONE &&
	    symcache_sound(c, &c->functions[f->function_idx], sizeof(*c->functions)) &&
	    c->functions[f->function_idx].lang == SYMCACHE_LANG_SYMTAB)
		f->function = (struct symcache_str){ NULL, 0 };
}

/* A symbol as it is shown. */
struct shown_symbol {
	struct symcache_str name, file;
	uint64_t vaddr;
};

/* The symbol at an address, of which the file is filled in if `with_file`. */
static bool find_symbol(struct symcache_symbolizer *s, const struct sc_seen *m, uint64_t rel,
			size_t ahead, bool with_file, struct shown_symbol *ret)
{
	struct symcache_symbol symbol;
	uint32_t idx;

	if (m->own) {
		if (!sc_find_symbol(m, rel, &symbol))
			return false;
		ret->name = sc_names_show(s->names, symbol.name, SYMCACHE_LANG_SYMTAB);
		ret->file = symbol.file;
		ret->vaddr = m->load_base + symbol.rel_address;
		return true;
	}
	idx = ahead < SYMCACHE_BATCH && s->options->table != SYMCACHE_TABLE_NEVER ?
		s->ahead_symbols[ahead] : symcache_symbol_at(m->cache, rel);
	if (idx == SYMCACHE_NONE)
		return false;
	ret->name = sc_text_str(sc_names_symbol(s->names, m->texts, idx));
	ret->vaddr = m->load_base + m->cache->symbols[idx].address;
	if (with_file && symcache_symbol(m->cache, idx, &symbol))
		ret->file = symbol.file;
	return true;
}

/* What the symbol table adds, as LLVM has it: the name of the function that has the code
 * (foo.cold, the alias that is last), and the source file of a local symbol where the DWARF
 * names none: both for the outermost frame. False: out of memory. */
static bool add_symbol(struct symcache_symbolizer *s, const struct sc_seen *m, uint64_t rel,
		       size_t ahead, bool dwarf_first, struct symcache_answer *a)
{
	const size_t n = s->frames.len;
	struct symcache_shown_frame *f = n ? &s->frames.data[n - 1] : NULL;
	struct shown_symbol symbol = { .vaddr = 0 };

	a->has_symbol = find_symbol(s, m, rel, ahead, !f || !f->file.ptr, &symbol);
	if (f && ((m->own && !a->has_symbol) ||
		  (s->options->llvm && s->options->functions == SYMCACHE_FUNCTIONS_SHORT)))
		forget_symbol(m, f);
	if (!a->has_symbol || s->options->functions != SYMCACHE_FUNCTIONS_WHOLE ||
	    (dwarf_first && f))
		return true;
	if (!f) {
		f = vec_push(&s->frames);
		if (!f)
			return false;
		f->function_idx = SYMCACHE_NONE;
	}
	a->symbol_vaddr = symbol.vaddr;
	f->function = sc_names_printable(s->names, symbol.name, SC_SHOWN_NAME);
	f->of_table = true;
	f->padded = false;
	if (!f->file.ptr && symbol.file.len)
		f->file = sc_names_printable(s->names, s->options->paths == SYMCACHE_PATHS_BASENAME ?
					     sc_basename(symbol.file) : symbol.file, SC_SHOWN_PATH);
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

static enum symcache_reason why_none(const struct sc_seen *m, uint64_t rel)
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
	const struct sc_seen *seen = ahead < SYMCACHE_BATCH ? s->ahead_seen[ahead] :
		sc_symbolizer_begin(s, m);
	uint64_t rel;
	bool inlined;

	if (!seen)
		return SYMCACHE_NO_CACHE;
	ret->cache = seen->cache;
	s->answered = seen;
	s->answered_rel = rel = sc_relative(seen, vaddr);
	s->located = false;
	if (!add_frames(s, seen, rel, ahead))
		return SYMCACHE_NO_MEMORY;
	if (s->frames.len)
		ret->code_idx = s->frames.data[s->frames.len - 1].function_idx;
	inlined = s->frames.len > 1;
	if (s->frames.len && inlines != SYMCACHE_INLINES)
		reduce(s, inlines, ret);
	if (table != SYMCACHE_TABLE_NEVER &&
	    !add_symbol(s, seen, rel, ahead, table == SYMCACHE_TABLE_FALLBACK ||
			(inlines == SYMCACHE_INNERMOST && inlined), ret))
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
