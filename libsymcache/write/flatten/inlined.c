/* Where the inlined functions of a unit begin: see flatten.h. */
#include "libsymcache/write/flatten/flatten.h"

#include "libsymcache/base/sort.h"

static inline bool stands_before(const struct sc_inlined *a, const struct sc_inlined *b)
{
	return a->call != b->call ? a->call < b->call :
	       a->from != b->from ? a->from < b->from : a->start < b->start;
}

SC_SORT(sort_by_call, struct sc_inlined, stands_before)

bool sc_inlined_of_unit(struct sc_flat *flat, size_t first)
{
	struct sc_inlined *list = flat->inlined.data;
	size_t n = first;

	if (n == flat->inlined.len)
		return true;
	if (!sort_by_call(list + first, flat->inlined.len - first))
		return false;
	for (size_t i = first; i < flat->inlined.len; i++)
		if (n == first || list[n - 1].call != list[i].call || list[n - 1].start != list[i].start)
			list[n++] = list[i];
	flat->inlined.len = n;
	return true;
}
