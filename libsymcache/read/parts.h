/*
 * parts.h: what the files of libsymcache/read/ share.
 *
 * Everything here trusts the section pointers that symcache_open() checked and
 * nothing else: indices and offsets out of the file are tested at each use.
 */
#ifndef SC_READ_PARTS_H
#define SC_READ_PARTS_H

#include <string.h>

#include "libsymcache/read/read.h"

/* Where a section begins that follows `offset` bytes. */
static inline size_t sc_align8(size_t offset)
{
	return (offset + 7) & ~(size_t)7;
}

/* Records of the file table are 3 or 6 string offsets; the first three are the
 * same in all versions. NULL: no such record. */
static inline const uint32_t *sc_file_record(const struct symcache *cache, uint32_t idx)
{
	if (idx >= cache->header->num_files)
		return NULL;
	return (const uint32_t *)(cache->files + (size_t)idx * cache->file_size);
}

/* Must what is read of the cache be tested? */
static inline bool sc_is_guarded(const struct symcache *cache)
{
	return cache->guard &&
	       !atomic_load_explicit(&cache->guard->whole, memory_order_relaxed);
}

/*
 * The bytes of the string at `offset`: decodes the length prefix, checks that
 * the string ends inside the section. On success *next is the offset behind it.
 * `guarded`: sc_is_guarded(); a constant, so that what is trusted is read without a test.
 */
static inline __attribute__((always_inline)) struct sc_str
sc_read_string(const struct symcache *cache, uint32_t offset, bool guarded, uint32_t *next)
{
	const struct sc_str none = { 0 };
	uint32_t bytes = cache->header->string_bytes, len = 0, pos = offset;
	const uint8_t *s = cache->strings;

	if (offset >= bytes ||
	    (guarded &&
	     !symcache_valid(cache, s + offset, bytes - offset < 5 ? bytes - offset : 5)))
		return none;
	if (cache->header->version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS) {
		if (bytes - pos < sizeof(len))
			return none;
		__builtin_memcpy(&len, s + pos, sizeof(len));
		pos += sizeof(len);
	} else if (s[pos] < 0x80) {
		len = s[pos++];
	} else {
		uint64_t value = 0;
		unsigned shift = 0;

		do {
			if (pos == bytes || shift > 28)
				return none;
			value |= (uint64_t)(s[pos] & 0x7f) << shift;
			shift += 7;
		} while (s[pos++] & 0x80);
		if (value > UINT32_MAX)
			return none;
		len = (uint32_t)value;
	}
	if (len > bytes - pos || (guarded && !symcache_valid(cache, s + pos, len)))
		return none;
	*next = pos + len;
	return (struct sc_str){ (const char *)s + pos, len };
}

static inline struct sc_str sc_string_at(const struct symcache *cache, uint32_t offset,
					 uint32_t *next)
{
	return sc_read_string(cache, offset, true, next);
}

/* SYMCACHE_NONE in all four fields: the end of a covered area. */
static inline bool sc_is_gap(const struct symcache_source_location *loc)
{
	return (loc->file_idx & loc->line & loc->function_idx & loc->inlined_into_idx) ==
	       SYMCACHE_NONE;
}

/* Is location `idx`, which exists, some code's? Not if it is damaged. */
static inline bool sc_is_code(const struct symcache *cache, uint32_t idx)
{
	const struct symcache_source_location *location = &cache->locations[idx];

	return symcache_valid(cache, location, sizeof(*location)) && !sc_is_gap(location);
}

/* Records of `size` bytes that start at or below `address`, of `n` that ascend by what
 * they begin with: their address. 0 if the bytes are damaged. */
static inline size_t sc_count_starts(const struct symcache *cache, const void *records, size_t n,
				     size_t size, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const uint32_t *start = (const void *)((const char *)records + mid * size);

		if (!symcache_valid(cache, start, size))
			return 0;
		if (*start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static inline void sc_fetch_location(const struct symcache *cache, uint32_t idx)
{
	__builtin_prefetch(&cache->locations[idx]);
	if (cache->columns)
		__builtin_prefetch(&cache->columns[idx]);
}

/* symcache_lookup_batch() of at most SYMCACHE_BATCH queries, whose locations are not tested yet:
 * they may be gaps, or damaged. */
void sc_find_batch(struct symcache_query q[], size_t n);

/*
 * Finds the extension area and fills the cache's pointers into it. Returns 1
 * if there is a valid one, 0 if there is none, SC_EFORMAT if there is one that
 * must not be used; the cache is then left without.
 */
int sc_ext_open(struct symcache *cache, struct sc_error *err);

#endif
