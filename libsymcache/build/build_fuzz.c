/* Fuzz target: an ELF file is indexed; the cache must be sound. */
#include "libsymcache/base/testing.h"
#include "libsymcache/build/plain_cache.h"
#include "libsymcache/symcache_build.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symcache_build_options o = { .no_debug_search = true };
	struct symcache_build *b;
	struct plain_cache cache;
	struct sc_error err;
	const char *fault;
	char path[32];
	uint8_t *bytes;
	int fd;

	o.format_version = 7 + size % 3;
	fd = testing_memfd(data, size, path);
	if (!symcache_build_create(path, &o, &b, &err)) {
		bytes = malloc(symcache_build_size(b));
		symcache_build_write(b, bytes);
		fault = plain_open(&cache, bytes, symcache_build_size(b));
		if (fault) {
			fprintf(stderr, "not a sound cache: %s\n", fault);
			abort();
		}
		free(bytes);
		symcache_build_destroy(b);
	}
	close(fd);
	return 0;
}
