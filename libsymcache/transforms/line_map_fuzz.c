/* Fuzz target: any line map; whatever was taken answers for all lines or none. */
#include "libsymcache/transforms/maps.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool before = false;
	struct sc_map m;

	if (sc_line_map((const char *)data, size, &m, NULL))
		return 0;
	/* Once there is a line before, there is one for all that follow. */
	for (uint32_t line = 0; line < 40; line++) {
		struct symcache_place place = { NULL, NULL, "a", line };
		bool found = m.transform.place(m.transform.ctx, &place);

		if ((before && !found) || !place.name)
			abort();
		before = found;
	}
	m.destroy(m.transform.ctx);
	return 0;
}
