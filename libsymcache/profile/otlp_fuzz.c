/* Fuzz target: any bytes as profiles of OpenTelemetry. What comes out, less what was added, is what
 * came in. */
#include "libsymcache/profile/testing_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const uint8_t *in, size_t in_size, const uint8_t *out, size_t out_size)
{
	static const struct prof_changes changes = {
		.location = 2, .lines = 3, .functions = 3, .strings = 5,
	};
	struct prof_wire a = prof_wire_of(in, in_size), b = prof_wire_of(out, out_size);
	struct prof_field x, y;

	while (prof_wire_next(&a, &x)) {
		if (!prof_wire_next(&b, &y) || x.number != y.number || x.type != y.type)
			abort();
		if (x.number == 2 && x.type == PROF_BYTES) {
			if (!prof_only_added(&changes, prof_wire_in(&x), prof_wire_in(&y)))
				abort();
		} else if (a.at - x.from != b.at - y.from ||
			   memcmp(x.from, y.from, (size_t)(a.at - x.from))) {
			abort();
		}
	}
	if (prof_wire_next(&b, &y) || a.bad || b.bad)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	prof_fuzz(PROF_OTLP, data, size, check);
	return 0;
}
