/* Fuzz target: any bytes as a profile in pprof's protobuf. What comes out, less what was added,
 * is what came in. */
#include "libsymcache/profile/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size)
{
	if (!prof_only_added(&prof_pprof_changes, prof_wire_of(in, in_size), prof_wire_of(out, out_size)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prof_fuzz(PROF_PPROF, data, size, check);
	return 0;
}
