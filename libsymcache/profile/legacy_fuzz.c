/* Fuzz target: any bytes as a heap text or a CPU profile. In jeprof's form the profile is the end
 * of what comes out. */
#include "libsymcache/profile/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size)
{
	if (out_size < in_size || memcmp(out + out_size - in_size, in, in_size))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prof_fuzz(PROF_HEAP, data, size, check);
	prof_fuzz(PROF_CPU, data, size, check);
	return 0;
}
