/* Fuzz target: any bytes as /tmp/perf-PID.map. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libsymcache/symbolize/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static volatile size_t sum; /* so that each name is read */
	struct symcache_perf_map m;

	if (symcache_perf_map_read((const char *)data, size, &m))
		for (size_t i = 0; i < m.list.len; i++) {
			const char *name = symcache_perf_map_name(&m, m.list.data[i].start);

			if (!name)
				continue;
			sum = sum + strlen(name);
		}
	symcache_perf_map_deinit(&m);
	return 0;
}
