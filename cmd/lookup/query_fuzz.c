/* Fuzz target: any line, with and without a module on the command line. */
#include "cmd/lookup/query.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct symcache_str s, const char *line)
{
	if (s.len && (s.ptr < line || s.ptr + s.len > line + strlen(line)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);

	memcpy(line, data, size);
	line[size] = 0;
	for (int has_module = 0; has_module < 2; has_module++) {
		struct query q;

		query_parse(line, has_module, &q);
		check_inside(q.module, line);
		check_inside(q.symbol, line);
	}
	free(line);
	return 0;
}
