/* Fuzz target: any bytes as a cache, and as two that are packed together, come back. */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/packed/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_come_back(const struct packed_bytes caches[], size_t n, int level)
{
	struct packed_caches back;
	struct sc_error err;
	void *packed;
	size_t size;

	if (packed_pack(caches, n, level, &packed, &size, &err) ||
	    packed_unpack(packed, size, &back, &err) || back.num != n)
		abort();
	for (size_t i = 0; i < n; i++)
		if (back.caches[i].size != caches[i].size ||
		    memcmp(back.caches[i].data, caches[i].data, caches[i].size))
			abort();
	packed_caches_deinit(&back);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1); /* aligned, and reads past it are seen */
	struct packed_bytes caches[2] = { { copy, size }, { copy, size / 2 } };

	if (!copy)
		abort();
	memcpy(copy, data, size);
	must_come_back(caches, 1, 1);
	must_come_back(caches, 2, 0);
	free(copy);
	return 0;
}
