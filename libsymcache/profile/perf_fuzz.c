/* Fuzz target: any bytes as perf.data, of a file or a pipe. */
#include "libsymcache/profile/testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is made of it is a profile that comes out as it came in. */
static void check(const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size)
{
	(void)in, (void)in_size;
	if (out_size < 18 || out[0] != 0x1f || out[1] != 0x8b)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prof_fuzz(PROF_PERF, data, size, check);
	return 0;
}
