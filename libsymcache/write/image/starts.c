/* Where inlined functions begin: see starts.h. */
#include "libsymcache/write/image/starts.h"

void sc_starts_deinit(struct sc_starts *s)
{
	vec_deinit(&s->first);
	vec_deinit(&s->list);
}

bool sc_starts_make(struct sc_flat *flat, size_t num_calls, struct sc_starts *ret)
{
	const size_t n = flat->inlined.len;
	uint32_t at = 0;

	if (n > UINT32_MAX || !vec_reserve(&ret->first, num_calls + 1))
		return false;
	ret->list.data = flat->inlined.data;
	ret->list.len = n;
	ret->list.cap = flat->inlined.cap;
	memset(&flat->inlined, 0, sizeof(flat->inlined));
	for (size_t k = 0; k <= num_calls; k++) {
		ret->first.data[ret->first.len++] = at;
		while (at < n && ret->list.data[at].call == k)
			at++;
	}
	return true;
}
