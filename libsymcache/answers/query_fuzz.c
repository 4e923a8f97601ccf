/* Fuzz target: any line, with and without a module on the command line. */
#include "libsymcache/answers/query.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct sc_str s, const char *line)
{
	if (s.len && (s.ptr < line || s.ptr + s.len > line + strlen(line)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);

	memcpy(line, data, size);
	line[size] = 0;
	for (int way = 0; way < 7; way++) {
		struct mk_query q;
		uint64_t number;

		if (way < 6)
			mk_query_parse(line, way & 1, (enum mk_query_numbers)(way / 2), &q);
		else
			mk_query_parse_hex(line, &q, &number);
		check_inside(q.module, line);
		check_inside(q.symbol, line);
	}
	free(line);
	return 0;
}
