/*
 * Addresses that will be asked for next: see symbolize.h.
 *
 * An address costs a chain of loads, each of which has to wait for the one before
 * it: bucket, range, location, the next location, function, name. Of a large
 * program all of them come from memory. So addresses that are announced are looked
 * up together, a step of all of them after another: then the waits overlap.
 * What is found is kept as numbers, which become texts when they are asked for.
 */
#include "libsymcache/base/prefetch.h"
#include "libsymcache/symbolize/symbolizer.h"

enum {
	TEXT_LINES = 3, /* cache lines of a name that are fetched ahead */
	STEPS = 16,     /* source locations of an address that are walked together */
};

/* The source locations of the addresses; of longer chains the rest is in s->ahead[i].frames. */
struct walked {
	uint32_t of[SYMCACHE_BATCH][STEPS];
};

/* The symbols of n addresses: mostly that of the last address in the same function. */
static void look_up_symbols(struct symcache_symbolizer *s, const struct walked *w, size_t n)
{
	_Atomic uint32_t *of[SYMCACHE_BATCH];

	for (size_t i = 0; i < n; i++) {
		const struct symcache *c = s->ahead[i].cache;
		const uint32_t frames = s->ahead[i].num_frames;
		const uint32_t function = !frames ? SYMCACHE_NONE :
			c->locations[w->of[i][frames - 1]].function_idx;

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

static void fetch_text_pointers(const struct sc_seen *m, uint32_t location)
{
	const struct symcache *c = m->cache;
	const struct symcache_source_location *l = &c->locations[location];

	if (l->function_idx < c->header->num_functions)
		sc_prefetch((const void *)&m->texts->functions[l->function_idx]);
	if (l->file_idx < c->header->num_files)
		sc_prefetch((const void *)&m->texts->files[l->file_idx]);
}

static inline void fetch_lines(const void *text)
{
	for (int line = 0; text && line < TEXT_LINES; line++)
		sc_prefetch((const char *)text + 64 * line);
}

/* What symcache_symbolize_start() and symcache_symbolize_discriminator() read. */
static void fetch_details(const struct sc_seen *m, uint32_t location)
{
	const struct symcache *c = m->cache;
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

/* Makes the frames of address `i`, and fetches the beginnings of their names; those of files
 * are few. False: out of memory. */
static bool add_frames(struct symcache_symbolizer *s, const struct walked *w, size_t i)
{
	const struct sc_seen *m = s->ahead_seen[i];
	struct symcache_query *q = &s->ahead[i];
	const bool by_table = s->options->table == SYMCACHE_TABLE_OUTERMOST &&
			      sc_named_by_table(s, m, s->ahead_symbols[i]);
	const struct sc_frame *f;
	uint32_t location, k;

	s->ahead_first[i] = s->frames.len;
	for (k = 0; k < q->num_frames ||
	     (q->frames.location != SYMCACHE_NONE && k < SYMCACHE_FRAMES_MAX); k++) {
		location = k < q->num_frames ? w->of[i][k] : symcache_next_location(&q->frames);
		if (location == SYMCACHE_NONE)
			break;
		f = sc_add_frame(s, m, location, !by_table || k + 1 < q->num_frames ||
				 q->frames.location != SYMCACHE_NONE);
		if (!f)
			return false;
		fetch_lines(f->function.ptr);
	}
	if (by_table)
		fetch_lines(m->texts->symbols[s->ahead_symbols[i]]);
	q->num_frames = k;
	return true;
}

void symcache_symbolize_ahead(struct symcache_symbolizer *s, struct symcache_module *const m[],
			      const uint64_t vaddrs[], size_t n)
{
	const struct sc_seen *seen = NULL;
	struct walked w;
	uint32_t last = 0;

	s->num_ahead = s->next_ahead = s->ahead_frames = s->frames.len = 0;
	s->epoch = sc_names_epoch(s->names);
	n = n < SYMCACHE_BATCH ? n : SYMCACHE_BATCH;
	for (size_t i = 0; i < n; i++)
		last = m[i]->number > last ? m[i]->number : last;
	if (n && last >= s->seen.len &&
	    !sc_symbolizer_add(s, last)) /* all now, so that none moves */
		return;
	for (size_t i = 0; i < n; i++) {
		if (!i || m[i] != m[i - 1])
			seen = sc_symbolizer_begin_in_epoch(s, m[i]);
		if (!seen)
			return;
		s->ahead_seen[i] = seen;
		s->ahead[i].cache = seen->cache;
		s->ahead[i].rel_pc = sc_relative(seen, vaddrs[i]);
	}
	symcache_locations_batch(s->ahead, n, w.of[0], STEPS);
	if (s->options->table != SYMCACHE_TABLE_NEVER)
		look_up_symbols(s, &w, n);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < s->ahead[i].num_frames; k++) {
			fetch_text_pointers(s->ahead_seen[i], w.of[i][k]);
			if (s->details)
				fetch_details(s->ahead_seen[i], w.of[i][k]);
		}
	}
	s->ahead_epoch = s->epoch;
	s->ahead_snapshot = s->caches->snapshot;
	while (s->num_ahead < n && !sc_names_full(s->names) && add_frames(s, &w, s->num_ahead))
		s->num_ahead++;
	s->ahead_frames = s->frames.len;
}
