/* Where inlined functions begin: see starts.h. Two passes, as there are few of each call. */
#include "libsymcache/write/image/starts.h"

#include "libsymcache/base/sort.h"

static inline bool stands_before(const struct sc_inlined *a, const struct sc_inlined *b)
{
	return a->from != b->from ? a->from < b->from : a->start < b->start;
}

SC_SORT(sort_by_range, struct sc_inlined, stands_before)

void sc_starts_deinit(struct sc_starts *s)
{
	vec_deinit(&s->first);
	vec_deinit(&s->list);
}

/* Records by their calls: afterwards first[k + 1] is where those of call k end. */
static bool by_call(const struct sc_flat *flat, size_t num_calls, struct sc_starts *ret)
{
	const size_t n = flat->inlined.len;
	uint32_t *first, before = 0;

	if (n > UINT32_MAX || !vec_reserve(&ret->first, num_calls + 2) ||
	    !vec_reserve(&ret->list, n))
		return false;
	first = ret->first.data;
	memset(first, 0, (num_calls + 2) * sizeof(*first));
	for (size_t i = 0; i < n; i++)
		first[flat->inlined.data[i].call + 2]++;
	for (size_t k = 2; k < num_calls + 2; k++)
		before = first[k] += before;
	for (size_t i = 0; i < n; i++)
		ret->list.data[first[flat->inlined.data[i].call + 1]++] = flat->inlined.data[i];
	ret->first.len = num_calls + 1;
	ret->list.len = n;
	return true;
}

bool sc_starts_make(const struct sc_flat *flat, size_t num_calls, struct sc_starts *ret)
{
	struct sc_inlined *list;
	uint32_t *first, n = 0;

	if (!by_call(flat, num_calls, ret))
		return false;
	list = ret->list.data;
	first = ret->first.data;
	for (size_t k = 0; k < num_calls; k++) {
		const uint32_t begin = first[k], end = first[k + 1];

		if (end - begin > 1 && !sort_by_range(list + begin, end - begin))
			return false;
		first[k] = n;
		for (uint32_t i = begin; i < end; i++)
			if (n == first[k] || list[n - 1].start != list[i].start)
				list[n++] = list[i];
	}
	first[num_calls] = n;
	ret->list.len = n;
	return true;
}
