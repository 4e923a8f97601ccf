/*
 * Fuzz target: an ELF file is indexed, whole and for single addresses; what the caches of these
 * say about them must be what the whole one says. With .debug_info, .debug_abbrev, .debug_line
 * and ranges that lie; as it is, and with sections compressed.
 */
#include "libsymcache/base/testing.h"
#include "libsymcache/write/first_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const char *path, const struct symcache_build_options *o,
		    const struct symcache *whole, const uint64_t *vaddrs, size_t n)
{
	char *fault = first_differs(path, o, whole, vaddrs, n);

	if (!fault)
		return;
	fprintf(stderr, "%s\n", fault);
	abort();
}

static void try(const uint8_t *data, size_t size)
{
	struct symcache_build_options o = { .no_debug_search = true, .threads = 1 + size % 2 };
	struct built whole;
	struct sc_error err;
	char path[32];
	int fd = testing_memfd(data, size, path);

	if (!first_build(path, &o, &whole, &err)) {
		const uint64_t base = symcache_load_base(&whole.cache);
		const uint32_t n = whole.cache.header->num_ranges;
		uint64_t some[3] = { base + 0x10, base + 0x1234, UINT64_MAX };

		for (uint32_t i = 0; i < n; i += n / 8 + 1) {
			const uint64_t edge = base + whole.cache.ranges[i], before = edge - 1;

			compare(path, &o, &whole.cache, &edge, 1);
			compare(path, &o, &whole.cache, &before, 1);
			some[0] = edge;
		}
		compare(path, &o, &whole.cache, some, 3);
		free(whole.bytes);
	}
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t len;
	uint8_t *compressed = first_compressed(data, size, &len);

	try(data, size);
	if (compressed)
		try(compressed, len);
	free(compressed);
	return 0;
}
