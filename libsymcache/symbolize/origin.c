/* Offsets in files → addresses in images: see process.h. By itself: logs need no more of an
 * address space, and libsymcache.so does not have what finds files. */
#include "libsymcache/symbolize/process.h"

enum { PAGE = 4096 };

bool symcache_vaddr_from(const struct symcache *cache, enum symcache_origin origin,
			 uint64_t offset, uint64_t *vaddr)
{
	const uint64_t base = symcache_load_base(cache);

	if (origin == SYMCACHE_FROM_FILE)
		return symcache_vaddr_of_offset(cache, offset, vaddr);
	*vaddr = offset + (origin == SYMCACHE_FROM_LOAD_BASE ? base :
			   origin == SYMCACHE_FROM_PAGE ? base - base % PAGE : 0);
	return true;
}
