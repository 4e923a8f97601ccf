/* Fuzz target: any bytes as perf.data, of a file or a pipe. */
#include "libsymcache/profile/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prof_fuzz(PROF_PERF, data, size, NULL);
	return 0;
}
