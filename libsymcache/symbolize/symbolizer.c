/* Address → frames with names and paths as they are shown: see symbolize.h. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/symbolize/symbolizer.h"

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
	for (size_t i = 0; i < s->seen.len; i++) {
		sc_name_index_destroy(s->seen.data[i].index);
		sc_line_index_destroy(s->seen.data[i].lines);
	}
	vec_deinit(&s->seen);
	free(s->starts);
	free(s);
}

/* ---- modules ---------------------------------------------------------------------- */

struct sc_seen *sc_symbolizer_add(struct symcache_symbolizer *s, uint32_t number)
{
	s->num_ahead = 0; /* as they move */
	while (s->seen.len <= number)
		if (!vec_push(&s->seen))
			return NULL;
	return &s->seen.data[number];
}

/* With its cache, or a first answer instead. */
static struct sc_seen *see(struct symcache_symbolizer *s, struct symcache_module *m,
			   const struct symcache *cache)
{
	struct sc_seen *seen;

	if (!cache)
		return NULL;
	seen = m->number < s->seen.len ? &s->seen.data[m->number] : sc_symbolizer_add(s, m->number);
	if (!seen)
		return NULL;
	if (__builtin_expect(seen->epoch != s->epoch || seen->cache != cache ||
			     seen->generation != m->generation, 0)) {
		s->num_ahead = 0; /* it was looked up in another cache, as one that is damaged */
		seen->texts = sc_names_texts(s->names, cache, m->generation);
		if (!seen->texts)
			return NULL;
		seen->cache = cache;
		seen->module = m;
		seen->own = m->own;
		seen->load_base = symcache_load_base(cache);
		seen->generation = m->generation;
		seen->epoch = s->epoch;
	}
	return seen;
}

struct sc_seen *sc_symbolizer_begin_in_epoch(struct symcache_symbolizer *s,
					    struct symcache_module *m)
{
	return see(s, m, sc_module_cache(m));
}

struct sc_seen *sc_symbolizer_begin(struct symcache_symbolizer *s, struct symcache_module *m)
{
	s->epoch = sc_names_epoch(s->names);
	return sc_symbolizer_begin_in_epoch(s, m);
}

/* The same, to be asked for code at `vaddr` alone. */
static struct sc_seen *begin_at(struct symcache_symbolizer *s, struct symcache_module *m,
				uint64_t vaddr)
{
	s->epoch = sc_names_epoch(s->names);
	return see(s, m, sc_module_cache_at(m, vaddr));
}

/* ---- frames -------------------------------------------------------------------------- */

/* The number of this address among those that were looked up ahead, whose modules are ready
 * as they are; SYMCACHE_BATCH: it was not. */
static inline size_t take_ahead(struct symcache_symbolizer *s, const struct symcache_module *m,
				uint64_t vaddr)
{
	if (s->next_ahead >= s->num_ahead || s->ahead_epoch != s->epoch ||
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

/* Adds the frames of an address; the outermost one without a name if that is not wanted. False:
 * out of memory. */
static __attribute__((noinline)) bool
add_frames(struct symcache_symbolizer *s, const struct sc_seen *m, uint64_t rel,
	   bool outermost_named)
{
	const size_t most = s->frames.len + SYMCACHE_FRAMES_MAX;
	struct symcache_frames rest;
	uint32_t location;

	if (!symcache_lookup(m->cache, rel, &rest))
		return true;
	while (s->frames.len < most && (location = symcache_next_location(&rest)) != SYMCACHE_NONE)
		if (!sc_add_frame(s, m, location, outermost_named || rest.location != SYMCACHE_NONE))
			return false;
	return true;
}

/* Reads the texts of frames. */
static inline void read_texts(struct sc_frame frames[], size_t n)
{
	for (size_t i = 0; i < n; i++) { /* of none there may be no list */
		struct sc_frame *f = &frames[i];

		if (f->function.ptr) {
			const struct sc_text *text = (const void *)f->function.ptr;

			f->function = sc_text_str(text);
			f->scopes = text->scopes;
		}
		if (f->file.ptr)
			f->file = sc_text_str((const void *)f->file.ptr);
	}
}

/* Leaves out a name of the symbol table: where the file's own table names nothing, its debug
 * file's, which is in the cache, does not either; nor does any where LLVM shows short names. */
static void forget_symbol(const struct sc_seen *m, struct sc_frame *f)
{
	const struct symcache *c = m->cache;

	if (f->function_idx != SYMCACHE_NONE &&
	    symcache_valid(c, &c->functions[f->function_idx], sizeof(*c->functions)) &&
	    c->functions[f->function_idx].lang == SYMCACHE_LANG_SYMTAB)
		f->function = (struct sc_str){ NULL, 0 };
}

/* A symbol as it is shown. */
struct shown_symbol {
	struct sc_str name, file;
	uint64_t vaddr;
};

/* The symbol at an address, which is `idx` of the cache if the module has none of its own; the
 * file is filled in if `with_file`. */
static bool find_symbol(struct symcache_symbolizer *s, const struct sc_seen *m, uint64_t rel,
			uint32_t idx, bool with_file, struct shown_symbol *ret)
{
	struct symcache_symbol symbol;

	if (m->own) {
		if (!sc_find_symbol(m, rel, &symbol))
			return false;
		ret->name = sc_names_printable(s->names, sc_names_show(s->names, symbol.name,
					       SYMCACHE_LANG_SYMTAB), SC_SHOWN_NAME);
		ret->file = symbol.file;
		ret->vaddr = m->load_base + symbol.rel_address;
		return true;
	}
	if (idx == SYMCACHE_NONE)
		return false;
	ret->name = sc_text_str(sc_names_symbol(s->names, m->texts, idx));
	ret->vaddr = m->load_base + m->cache->symbols[idx].address;
	if (with_file && symcache_symbol(m->cache, idx, &symbol))
		ret->file = symbol.file;
	return true;
}

/* What is asked for. */
struct asked {
	const struct sc_seen *m;
	uint64_t rel;  /* in its cache */
	size_t ahead;  /* as take_ahead() has it */
	enum symcache_inlines inlines;
	enum symcache_table_rule table;
};

/* What the symbol table adds, as LLVM has it: the name of the function that has the code
 * (foo.cold, the alias that is last), and the source file of a local symbol where the DWARF
 * names none: both for the outermost frame, which *outermost is; NULL: there is none yet. False:
 * out of memory. */
static bool add_symbol(struct symcache_symbolizer *s, const struct asked *q, uint32_t idx,
		       bool dwarf_first, struct sc_frame **outermost, struct symcache_answer *a)
{
	const struct sc_seen *m = q->m;
	struct sc_frame *f = *outermost;
	struct shown_symbol symbol = { .vaddr = 0 };

	a->has_symbol = find_symbol(s, m, q->rel, idx, !f || !f->file.ptr, &symbol);
	if (f && ((m->own && !a->has_symbol) ||
		  (s->options->llvm && s->options->functions == SYMCACHE_FUNCTIONS_SHORT)))
		forget_symbol(m, f);
	if (!a->has_symbol || s->options->functions != SYMCACHE_FUNCTIONS_WHOLE ||
	    (dwarf_first && f))
		return true;
	if (!f) {
		*outermost = f = vec_push(&s->frames);
		if (!f)
			return false;
		*f = (struct sc_frame){ .padded = true, .function_idx = SYMCACHE_NONE,
						    .location_idx = SYMCACHE_NONE };
	}
	a->symbol_vaddr = symbol.vaddr;
	f->function = symbol.name;
	f->scopes = 0;
	f->of_table = true;
	f->padded &= !m->own;
	if (f->file.ptr || !symbol.file.len)
		return true;
	f->padded = false;
	f->file = sc_names_printable(s->names, s->options->paths == SYMCACHE_PATHS_BASENAME ?
				     sc_basename(symbol.file) : symbol.file, SC_SHOWN_PATH);
	return true;
}

static enum symcache_reason why_none(const struct sc_seen *m, uint64_t rel)
{
	const uint32_t range = symcache_range_of(m->cache, rel);

	return range == SYMCACHE_NONE || range + 1 == m->cache->header->num_ranges ?
		SYMCACHE_OUTSIDE : SYMCACHE_NO_CODE;
}

/* Names the outermost of the frames by the symbol table, and leaves one of a chain, as far as it
 * is asked for. False: out of memory. */
static __attribute__((noinline)) bool
shape(struct symcache_symbolizer *s, const struct asked *q, struct sc_frame *frames,
      struct symcache_answer *a)
{
	const enum symcache_table_rule table = q->table;
	const enum symcache_inlines inlines = q->inlines;
	const struct sc_seen *m = q->m;
	const bool inlined = a->num_frames > 1;
	struct sc_frame *outermost = a->num_frames ? &frames[a->num_frames - 1] : NULL;
	bool dwarf_first = table == SYMCACHE_TABLE_FALLBACK;
	uint32_t symbol = SYMCACHE_NONE;

	if (table != SYMCACHE_TABLE_NEVER && !m->own)
		symbol = q->ahead < SYMCACHE_BATCH && s->options->table != SYMCACHE_TABLE_NEVER ?
			s->ahead_symbols[q->ahead] : symcache_symbol_at(m->cache, q->rel);
	a->symbol_idx = symbol;
	if (outermost && !outermost->function.ptr && a->code_idx != SYMCACHE_NONE &&
	    (dwarf_first || inlines == SYMCACHE_INNERMOST || !sc_named_by_table(s, m, symbol)))
		outermost->function = sc_text_str(sc_names_function(s->names, m->texts,
								    a->code_idx));
	if (outermost && inlines != SYMCACHE_INLINES) {
		a->one_frame = inlines == SYMCACHE_ONE_FRAME;
		if (a->one_frame) {
			frames->function = outermost->function;
			frames->scopes = outermost->scopes;
		}
		outermost = frames;
		a->num_frames = 1;
	}
	dwarf_first |= inlines == SYMCACHE_INNERMOST && inlined;
	if (table != SYMCACHE_TABLE_NEVER &&
	    !add_symbol(s, q, symbol, dwarf_first, &outermost, a))
		return false;
	if (outermost && !a->num_frames) {
		a->frames = outermost;
		a->num_frames = 1;
	}
	return true;
}

static inline enum symcache_reason
answer(struct symcache_symbolizer *s, struct symcache_module *m, uint64_t vaddr,
       enum symcache_inlines inlines, enum symcache_table_rule table, struct symcache_answer *ret)
{
	const bool plain = inlines == SYMCACHE_INLINES && table == SYMCACHE_TABLE_NEVER;
	const size_t ahead = take_ahead(s, m, vaddr);
	const struct sc_seen *seen = ahead < SYMCACHE_BATCH ? s->ahead_seen[ahead] :
		begin_at(s, m, vaddr);
	struct sc_frame *frames;
	size_t first = s->ahead_frames, n;
	uint64_t rel;

	if (!seen)
		return SYMCACHE_NO_CACHE;
	ret->cache = seen->cache;
	s->answered = seen;
	s->answered_rel = rel = sc_relative(seen, vaddr);
	s->frames.len = first;
	if (ahead < SYMCACHE_BATCH) {
		first = s->ahead_first[ahead];
		n = s->ahead[ahead].num_frames;
	} else {
		if (!add_frames(s, seen, rel, plain))
			return SYMCACHE_NO_MEMORY;
		n = s->frames.len - first;
	}
	frames = first ? s->frames.data + first : s->frames.data;
	read_texts(frames, n);
	if (n)
		ret->code_idx = frames[n - 1].function_idx;
	ret->frames = frames;
	ret->num_frames = n;
	if (!plain && !shape(s, &(struct asked){ seen, rel, ahead, inlines, table },
					frames, ret))
		return SYMCACHE_NO_MEMORY;
	if (__builtin_expect(symcache_damaged(seen->cache) &&
			     !symcache_module_valid(m, seen->cache), 0))
		return SYMCACHE_DAMAGED;
	return ret->num_frames ? SYMCACHE_FOUND : why_none(seen, rel);
}

enum symcache_reason symcache_symbolize_as(struct symcache_symbolizer *s, struct symcache_module *m,
					   uint64_t vaddr, enum symcache_inlines inlines,
					   enum symcache_table_rule table,
					   struct symcache_answer *ret)
{
	*ret = (struct symcache_answer){ .code_idx = SYMCACHE_NONE, .symbol_idx = SYMCACHE_NONE };
	ret->reason = answer(s, m, vaddr, inlines, table, ret);
	if (ret->reason != SYMCACHE_FOUND) {
		ret->frames = NULL;
		ret->num_frames = 0;
	}
	return ret->reason;
}

enum symcache_reason symcache_symbolize(struct symcache_symbolizer *s, struct symcache_module *m,
					uint64_t vaddr, struct symcache_answer *ret)
{
	return symcache_symbolize_as(s, m, vaddr, SYMCACHE_INLINES, s->options->table, ret);
}
