/*
 * Addresses that will be asked for next: see symcache/symbolize.h.
 *
 * An address costs a chain of loads, each of which has to wait for the one before
 * it: bucket, range, location, the next location, function, name. Of a large
 * program all of them come from memory. So addresses that are announced are looked
 * up together, a step of all of them after another: then the waits overlap.
 * What is found is kept as numbers, which become texts when they are asked for.
 */
#include "libsymcache/base/prefetch.h"
#include "libsymcache/symbolize/symbolizer.h"

enum { TEXT_LINES = 3 }; /* cache lines of a name that are fetched ahead */

/* The symbols of n addresses: mostly that of the last address in the same function. */
static void look_up_symbols(struct symcache_symbolizer *s, size_t n)
{
	_Atomic uint32_t *of[SYMCACHE_BATCH];

	for (size_t i = 0; i < n; i++) {
		const struct symcache *c = s->ahead[i].cache;
		const uint32_t frames = s->ahead[i].num_frames;
		const uint32_t function = !frames ? SYMCACHE_NONE :
			c->locations[s->ahead_locations[i][frames - 1]].function_idx;

		of[i] = function < c->header->num_functions ?
			&s->ahead_seen[i]->texts->symbol_of[function] : NULL;
		if (of[i])
			sc_prefetch((const void *)of[i]);
	}
	for (size_t i = 0; i < n; i++)
		s->ahead_symbols[i] = of[i] ? *of[i] : SYMCACHE_NONE;
	symcache_symbols_batch(s->ahead, n, s->ahead_symbols);
	for (size_t i = 0; i < n; i++) {
		const uint32_t symbol = s->ahead_symbols[i];

		if (symbol == SYMCACHE_NONE)
			continue;
		if (of[i] && *of[i] != symbol)
			*of[i] = symbol;
		sc_prefetch((const void *)&s->ahead_seen[i]->texts->symbols[symbol]);
	}
}

/* The function of a frame that was looked up ahead, if its name in the DWARF is wanted; else
 * SYMCACHE_NONE. */
static inline uint32_t named_function(const struct symcache_symbolizer *s, size_t i, uint32_t k)
{
	const struct symcache *c = s->ahead[i].cache;
	const uint32_t function = c->locations[s->ahead_locations[i][k]].function_idx;

	return function < c->header->num_functions &&
	       !(s->options->table == SYMCACHE_TABLE_OUTERMOST && k + 1 == s->ahead[i].num_frames &&
		 sc_named_by_table(s, s->ahead_seen[i], s->ahead_symbols[i])) ? function : SYMCACHE_NONE;
}

static void fetch_text_pointers(const struct symcache_symbolizer *s, size_t i, uint32_t k)
{
	const struct symcache *c = s->ahead[i].cache;
	const uint32_t function = named_function(s, i, k);
	const uint32_t file = c->locations[s->ahead_locations[i][k]].file_idx;

	if (function != SYMCACHE_NONE)
		sc_prefetch((const void *)&s->ahead_seen[i]->texts->functions[function]);
	if (file < c->header->num_files)
		sc_prefetch((const void *)&s->ahead_seen[i]->texts->files[file]);
}

static inline void fetch_lines(const void *text)
{
	for (int line = 0; text && line < TEXT_LINES; line++)
		sc_prefetch((const char *)text + 64 * line);
}

/* The beginnings of the names; those of files are few. */
static void fetch_name(const struct symcache_symbolizer *s, size_t i, uint32_t k)
{
	const uint32_t function = named_function(s, i, k);

	if (function != SYMCACHE_NONE)
		fetch_lines(s->ahead_seen[i]->texts->functions[function]);
	else if (s->options->table != SYMCACHE_TABLE_NEVER && s->ahead_symbols[i] != SYMCACHE_NONE)
		fetch_lines(s->ahead_seen[i]->texts->symbols[s->ahead_symbols[i]]);
}

/* What symcache_symbolize_start() and symcache_symbolize_discriminator() read. */
static void fetch_details(const struct symcache_symbolizer *s, size_t i, uint32_t k)
{
	const struct symcache *c = s->ahead[i].cache;
	const uint32_t location = s->ahead_locations[i][k];
	const struct symcache_source_location *l = &c->locations[location];

	if (c->discriminators.numbers)
		sc_prefetch((const uint8_t *)c->discriminators.numbers + location);
	if (l->function_idx < c->header->num_functions) {
		sc_prefetch(&c->functions[l->function_idx]);
		if (c->decls)
			sc_prefetch(&c->decls[l->function_idx]);
	}
	if (c->starts.numbers && l->inlined_into_idx < c->range_location)
		sc_prefetch((const uint32_t *)c->starts.numbers + l->inlined_into_idx);
}

/* Calls `fetch` for all frames that were looked up ahead. */
static inline __attribute__((always_inline)) void
fetch_ahead(const struct symcache_symbolizer *s,
	    void (*fetch)(const struct symcache_symbolizer *s, size_t i, uint32_t k))
{
	for (size_t i = 0; i < s->num_ahead; i++)
		for (uint32_t k = 0; k < s->ahead[i].num_frames; k++)
			fetch(s, i, k);
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
	if (n && last >= s->seen.len &&
	    !sc_symbolizer_add(s, last)) /* all now, so that none moves */
		return;
	for (size_t i = 0; i < n; i++) {
		if (!i || m[i] != m[i - 1])
			seen = sc_symbolizer_begin_in_book(s, m[i]);
		if (!seen)
			return;
		s->ahead_seen[i] = seen;
		s->ahead[i].cache = seen->cache;
		s->ahead[i].rel_pc = sc_relative(seen, vaddrs[i]);
	}
	symcache_lookup_batch(s->ahead, n);
	symcache_locations_batch(s->ahead, n, s->ahead_locations[0], SC_AHEAD_FRAMES);
	s->num_ahead = n;
	if (s->details)
		fetch_ahead(s, fetch_details);
	if (s->options->table != SYMCACHE_TABLE_NEVER)
		look_up_symbols(s, n);
	s->ahead_book = s->book;
	s->ahead_snapshot = s->caches->snapshot;
	fetch_ahead(s, fetch_text_pointers);
	fetch_ahead(s, fetch_name);
}
