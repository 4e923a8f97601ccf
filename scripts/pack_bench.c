/*
 * pack_bench.c: how large a cache is when it is packed, and how fast that goes.
 *
 *   pack_bench CACHE LEVEL
 *
 * One line: bytes, packed bytes, MB of cache per second of packing (which unpacks and compares),
 * of unpacking into memory that was used before, and into fresh memory. One thread, its processor
 * time; of unpacking the best of five.
 */
#include "libsymcache/packed/packed.h"
#include "scripts/bench.h"

#include <malloc.h>

static double unpack(const void *packed, size_t size)
{
	double best = 1e9;

	for (int i = 0; i < 5; i++) {
		struct packed_caches caches;
		double time = bench_seconds();

		if (packed_unpack(packed, size, &caches, NULL))
			exit(2);
		time = bench_seconds() - time;
		best = time < best ? time : best;
		packed_caches_deinit(&caches);
	}
	return best;
}

int main(int argc, char **argv)
{
	struct packed_bytes cache;
	size_t size;
	double pack, warm, cold, mb;
	void *packed;

	if (argc != 3)
		return 2;
	cache.data = bench_read_file(argv[1], &cache.size);
	pack = bench_seconds();
	if (packed_pack(&cache, 1, atoi(argv[2]), &packed, &size, NULL))
		return 2;
	pack = bench_seconds() - pack;
	cold = unpack(packed, size);
	/* From here on malloc() keeps what it is given back. */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	warm = unpack(packed, size);
	mb = (double)cache.size / 1e6;
	printf("%zu %zu %.0f %.0f %.0f\n", cache.size, size, mb / pack, mb / warm, mb / cold);
	return 0;
}
