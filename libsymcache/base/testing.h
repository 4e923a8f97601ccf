/* What several tests need; included by tests and fuzz targets only. */
#ifndef SC_TESTING_H
#define SC_TESTING_H

#include <stdint.h>

/* A number in [0, n) that depends on the seed alone; the seed moves on. */
static inline uint32_t testing_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

#endif
