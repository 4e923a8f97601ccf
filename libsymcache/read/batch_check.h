/*
 * batch_check.h: look-ups in batches against look-ups one by one: both must find the
 * same, whatever the bytes. For the tests and the fuzz target of the reader.
 */
#ifndef BATCH_CHECK_H
#define BATCH_CHECK_H

#include <string.h>

#include "libsymcache/read/read.h"

enum { BATCH_CHECK_MAX = 2 * SYMCACHE_BATCH + 5, BATCH_CHECK_FRAMES = 20 };

static inline bool same_string(struct sc_str a, struct sc_str b)
{
	return a.ptr == b.ptr && a.len == b.len;
}

static inline bool same_frame(const struct symcache_raw_frame *a,
			      const struct symcache_raw_frame *b)
{
	return (same_string(a->function, b->function) ||
		(a->function.len == 1 && b->function.len == 1 && *a->function.ptr == '?' &&
		 *b->function.ptr == '?')) &&
	       a->lang == b->lang && a->entry_pc == b->entry_pc &&
	       same_string(a->file.comp_dir, b->file.comp_dir) &&
	       same_string(a->file.directory, b->file.directory) &&
	       same_string(a->file.name, b->file.name) && a->line == b->line &&
	       a->column == b->column && a->decl_file_idx == b->decl_file_idx &&
	       a->decl_line == b->decl_line;
}

/* The frames of one query, `most` of which came in a batch, or fewer; the rest is taken
 * one by one, up to `limit` frames. */
static inline bool same_chain(struct symcache_query *q, const struct symcache_raw_frame batch[],
			      const struct symcache_frame_ids ids[], uint32_t most, uint32_t limit)
{
	struct symcache_frames frames, by_ids;
	struct symcache_raw_frame want, got;
	struct symcache_frame_ids want_ids;
	uint32_t n = 0;

	if (q->num_frames > most)
		return false;
	symcache_lookup(q->cache, q->rel_pc, &frames);
	by_ids = frames;
	while (n < limit && symcache_next_frame(&frames, &want)) {
		symcache_next_ids(&by_ids, &want_ids);
		if (n < q->num_frames) {
			if (!same_frame(&want, &batch[n]) ||
			    memcmp(&want_ids, &ids[n], sizeof(want_ids)))
				return false;
		} else if (n < most || !symcache_next_frame(&q->frames, &got) ||
			   !same_frame(&want, &got)) {
			return false;
		}
		n++;
	}
	return n == limit || (n >= q->num_frames && !symcache_next_frame(&q->frames, &got));
}

/* Do batches of n ≤ BATCH_CHECK_MAX addresses, with `most` ≤ BATCH_CHECK_FRAMES frames of
 * each, find what single look-ups find? The first `limit` frames are compared. */
static inline bool batch_is_same(const struct symcache *cache, const uint64_t rel_pcs[], size_t n,
				 uint32_t most, uint32_t limit)
{
	static __thread struct symcache_raw_frame frames[BATCH_CHECK_MAX * BATCH_CHECK_FRAMES];
	static __thread struct symcache_frame_ids ids[BATCH_CHECK_MAX * BATCH_CHECK_FRAMES];
	struct symcache_query q[BATCH_CHECK_MAX], twin[BATCH_CHECK_MAX];
	uint32_t symbols[BATCH_CHECK_MAX]; /* what they may be, first */

	for (size_t i = 0; i < n; i++)
		q[i] = (struct symcache_query){ .cache = cache, .rel_pc = rel_pcs[i] };
	for (size_t i = 0; i < n; i++)
		symbols[i] = i % 3 ? SYMCACHE_NONE : (uint32_t)(i * 5);
	symcache_symbols_batch(q, n, symbols);
	for (size_t i = 0; i < n; i++)
		if (symbols[i] != symcache_symbol_at(cache, rel_pcs[i]))
			return false;
	symcache_lookup_batch(q, n);
	memcpy(twin, q, n * sizeof(*q));
	symcache_frames_batch(q, n, frames, most);
	symcache_ids_batch(twin, n, ids, most);
	for (size_t i = 0; i < n; i++)
		if (q[i].num_frames != twin[i].num_frames ||
		    q[i].frames.location != twin[i].frames.location ||
		    !same_chain(&q[i], &frames[i * most], &ids[i * most], most, limit))
			return false;
	return true;
}

#endif
