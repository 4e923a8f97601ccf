/* An address → the local variables there, of a cache that has them: a search over their ranges. */
#include "libsymcache/read/parts.h"

uint32_t symcache_locals_of(const struct symcache *cache, uint64_t rel_pc, uint32_t *first)
{
	const struct symcache_local_tables *l = &cache->locals;
	const size_t n = sc_count_starts(cache, l->ranges, l->num_ranges, sizeof(*l->ranges),
					 rel_pc);
	const struct symcache_ext_local_range *range;

	if (!n || rel_pc > UINT32_MAX)
		return 0;
	range = &l->ranges[n - 1];
	if (range->first > l->num_order ||
	    range->count > l->num_order - range->first)
		return 0;
	*first = range->first;
	return range->count;
}

bool symcache_local(const struct symcache *cache, uint32_t i, struct symcache_local *ret)
{
	const struct symcache_local_tables *l = &cache->locals;
	const struct symcache_ext_local *from;

	if (i >= l->num_order || !symcache_valid(cache, &l->order[i], sizeof(*l->order)) ||
	    l->order[i] >= l->num)
		return false;
	from = &l->list[l->order[i]];
	if (!symcache_valid(cache, from, sizeof(*from)))
		return false;
	*ret = (struct symcache_local){
		.function = symcache_string(cache, from->function),
		.name = symcache_string(cache, from->name),
		.file = symcache_file(cache, from->file_idx),
		.line = from->line,
		.has_offset = from->flags & SYMCACHE_LOCAL_OFFSET,
		.has_size = from->flags & SYMCACHE_LOCAL_SIZE,
		.has_tag = from->flags & SYMCACHE_LOCAL_TAG,
		.offset = from->offset,
		.size = from->size,
		.tag = from->tag,
	};
	return true;
}
