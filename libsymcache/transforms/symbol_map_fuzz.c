/* Fuzz target: any symbol map; names are found in it, and places change. */
#include "libsymcache/transforms/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sc_map m;
	char name[32];

	if (sc_symbol_map((const char *)data, size, &m, NULL))
		return 0;
	for (int i = 0; i < 20; i++) {
		struct symcache_place place = { name, NULL, "a", 1 };

		snprintf(name, sizeof(name), i < 10 ? "__hidden#%d_" : "%c", i < 10 ? i : 'a' + i);
		if (!*m.transform.name(m.transform.ctx, name))
			abort();
		m.transform.place(m.transform.ctx, &place);
		if (!place.comp_dir || !place.name)
			abort();
	}
	m.destroy(m.transform.ctx);
	return 0;
}
