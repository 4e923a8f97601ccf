/*
 * Fuzz target: a cache and another file. The file as what changed since that cache, whatever it is;
 * and as the cache of a later build, which comes back.
 *
 * The input is how many bytes the cache has (2 bytes, lowest first), these, and the file.
 */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "libsymcache/packed/packed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OLD_AT = 28 };

/* Says in a file that it is against `old`, so that more of it is read than the header. */
static void say(uint8_t *file, size_t size, struct packed_bytes old)
{
	const uint64_t words[2] = { old.size, XXH3_64bits(old.data, old.size) };
	struct packed_old wanted;

	if (packed_is_delta(file, size, &wanted))
		memcpy(file + OLD_AT, words, sizeof(words));
}

static void must_come_back(struct packed_bytes cache, struct packed_bytes old)
{
	struct packed_caches back;
	struct sc_error err;
	void *packed;
	size_t size;

	if (packed_pack_delta(cache, old, 1, &packed, &size, &err) ||
	    packed_unpack_delta(packed, size, old, &back, &err) || back.num != 1 ||
	    back.caches[0].size != cache.size ||
	    (cache.size && memcmp(back.caches[0].data, cache.data, cache.size)))
		abort();
	packed_caches_deinit(&back);
	free(packed);
}

/* A copy, so that it is aligned, and reads past it are seen. */
static uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t said = size < 2 ? 0 : data[0] | (size_t)data[1] << 8;
	const size_t left = size < 2 ? 0 : size - 2, first = said < left ? said : left;
	uint8_t *old = copy_of(data + size - left, first),
		*file = copy_of(data + size - left + first, left - first);
	const struct packed_bytes a = { old, first }, b = { file, left - first };
	struct packed_caches caches;
	struct sc_error err = { 0 };

	must_come_back(b, a);
	say(file, b.size, a);
	if (!packed_unpack_delta(b.data, b.size, a, &caches, &err)) {
		must_come_back(caches.caches[0], a);
		packed_caches_deinit(&caches);
	} else if (!err.code || !*err.msg || caches.num) {
		abort();
	}
	free(old);
	free(file);
	return 0;
}
