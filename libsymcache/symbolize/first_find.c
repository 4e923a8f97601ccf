/* Looks into first answers: see first.h. By itself, as libsymcache.so looks up and makes none. */
#include "libsymcache/symbolize/first.h"

const struct symcache *sc_first_find(const struct sc_first *f, uint64_t vaddr)
{
	const size_t n = f ? atomic_load_explicit(&f->num, memory_order_acquire) : 0;

	for (size_t i = 0; i < n; i++)
		if (f->answers[i].vaddr == vaddr)
			return f->answers[i].cache;
	return NULL;
}
