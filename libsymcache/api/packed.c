/* Packing and unpacking: see <symcache.h>. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/api.h"
#include "libsymcache/packed/packed.h"

int symcache_pack(const void *data, size_t size, int level, void **ret, size_t *ret_size,
		  struct symcache_error *err)
{
	struct packed_bytes cache = { data, size };
	void *copy = NULL;
	struct sc_error e;
	int rc;

	*ret = NULL;
	if ((uintptr_t)data % 8) {
		if (!(copy = malloc(size + 1)))
			return api_error(err, SC_ENOMEM, "out of memory");
		cache.data = memcpy(copy, data, size);
	}
	rc = packed_pack(&cache, 1, level ? level : PACKED_LEVEL, ret, ret_size, &e);
	free(copy);
	return rc ? api_fail(err, &e) : 0;
}

int symcache_unpack(const void *data, size_t size, void **ret, size_t *ret_size,
		    struct symcache_error *err)
{
	struct packed_caches caches;
	struct sc_error e;

	*ret = NULL;
	if (packed_unpack(data, size, &caches, &e))
		return api_fail(err, &e);
	if (caches.num > 1) {
		packed_caches_deinit(&caches);
		return api_error(err, SC_EUNSUPPORTED, "several caches");
	}
	*ret = caches.bytes;
	*ret_size = caches.caches[0].size;
	caches.bytes = NULL;
	packed_caches_deinit(&caches);
	return 0;
}
