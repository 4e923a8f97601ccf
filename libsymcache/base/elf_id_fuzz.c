/* Build IDs of bytes: never past their end, and never for long. */
#include <string.h>

#include "libsymcache/base/elf_id.h"

struct bytes {
	const uint8_t *data;
	size_t size;
};

static bool read_bytes(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const struct bytes *b = ctx;

	if (at > b->size || bytes > b->size - at)
		return false;
	memcpy(to, b->data + at, bytes);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct bytes b = { data, size };

	if (sc_elf_build_id(read_bytes, &b, 0, id) > sizeof(id) ||
	    sc_notes_build_id(read_bytes, &b, 0, size, id) > sizeof(id))
		__builtin_trap();
	return 0;
}
