/* Fuzz target: any symbol map; names are found in it, and places change. */
#include "cmd/index/transforms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_map *m;
	char name[32];

	if (symbol_map_create((const char *)data, size, &m, NULL))
		return 0;
	for (int i = 0; i < 20; i++) {
		struct symcache_place place = { name, NULL, "a", 1 };

		snprintf(name, sizeof(name), i < 10 ? "__hidden#%d_" : "%c", i < 10 ? i : 'a' + i);
		if (!*symbol_map_name(m, name))
			abort();
		symbol_map_place(m, &place);
		if (!place.comp_dir || !place.name)
			abort();
	}
	symbol_map_destroy(m);
	return 0;
}
