/*
 * data.c: a relative address → the data symbol around it.
 *
 * The symbols ascend by address and may nest or overlap, so the one that covers
 * an address need not be the last that starts before it: `table` may hold the
 * symbols of its fields, and the address lie behind the last of them. From the
 * last start the search therefore goes back until a symbol covers the address.
 *
 * Cost: a binary search, then a step for each symbol that starts between the
 * answer and the address, MAX_STEPS at most: an address that nothing covers must
 * not cost a step for each symbol below it. In vmlinux, where sets of numbers with
 * a symbol for each of them nest deepest, a symbol holds 244 others.
 */
#include "libsymcache/read/read.h"

enum { MAX_STEPS = 4096 };

/* Records of `size` bytes that start at or below `address`, of `n` that ascend by what
 * they begin with: their address. 0 if the bytes are damaged. */
static inline size_t count_starts(const struct symcache *cache, const void *records, size_t n,
				  size_t size, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const uint32_t *start = (const void *)((const char *)records + mid * size);

		if (!symcache_sound(cache, start, size))
			return 0;
		if (*start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool symcache_lookup_data(const struct symcache *cache, uint64_t rel_address,
			  struct symcache_data *ret)
{
	size_t n = count_starts(cache, cache->data_symbols, cache->num_data_symbols,
				sizeof(*cache->data_symbols), rel_address);
	/* A symbol of unknown size that no other follows ends with the image. */
	bool outside = n == cache->num_data_symbols && cache->image &&
		       rel_address >= cache->image->image_size;

	for (size_t i = n; i-- > 0 && n - i <= MAX_STEPS;) {
		const struct symcache_ext_data *s = &cache->data_symbols[i];
		bool covers;

		if (!symcache_sound(cache, s, sizeof(*s)))
			return false;
		covers = s->size ? rel_address - s->address < s->size :
			s->address == cache->data_symbols[n - 1].address && !outside;
		if (covers) {
			*ret = (struct symcache_data){
				.name = symcache_string(cache, s->name),
				.rel_address = s->address,
				.size = s->size,
				.file = symcache_file(cache, s->file_idx),
				.line = s->line,
			};
			return true;
		}
	}
	return false;
}

bool symcache_lookup_symbol(const struct symcache *cache, uint64_t rel_address,
			    struct symcache_symbol *ret)
{
	const size_t n = count_starts(cache, cache->symbols, cache->num_symbols,
				      sizeof(*cache->symbols), rel_address);
	const struct symcache_ext_symbol *s = n ? &cache->symbols[n - 1] : NULL;

	/* A symbol of unknown size reaches far, but not around the address space. */
	if (!s || rel_address > UINT32_MAX || (s->size && rel_address - s->address >= s->size))
		return false;
	*ret = (struct symcache_symbol){
		.name = symcache_string(cache, s->name),
		.rel_address = s->address,
		.size = s->size,
		.file = symcache_string(cache, s->file),
	};
	return true;
}
