/* Fuzz target: any text as folded stacks. Each line stays one, and keeps its number. */
#include "libsymcache/profile/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size)
{
	const uint8_t *p = in, *end = in + in_size, *q = out, *out_end = out + out_size;

	while (p < end) {
		const uint8_t *to = memchr(p, '\n', (size_t)(end - p));
		const uint8_t *out_to = q < out_end ? memchr(q, '\n', (size_t)(out_end - q)) : NULL;
		const uint8_t *blank;
		size_t behind;

		if (!to != !out_to)
			abort();
		to = to ? to : end;
		out_to = out_to ? out_to : out_end;
		blank = memrchr(p, ' ', (size_t)(to - p));
		behind = blank ? (size_t)(to - blank) : 0;
		if ((size_t)(out_to - q) < behind || memcmp(to - behind, out_to - behind, behind))
			abort();
		p = to + 1;
		q = out_to + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prof_fuzz(PROF_FOLDED, data, size, check);
	return 0;
}
