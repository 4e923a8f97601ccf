/* Fuzz target: any bytes as a packed file. What they give can be packed again. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/packed/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packed_caches caches;
	struct sc_error err = { 0 };
	void *packed;
	size_t packed_size;

	if (packed_unpack(data, size, &caches, &err)) {
		if (!err.code || !*err.msg || caches.num)
			abort();
		return 0;
	}
	if (packed_pack(caches.caches, caches.num, 1, &packed, &packed_size, &err))
		abort();
	free(packed);
	packed_caches_deinit(&caches);
	return 0;
}
