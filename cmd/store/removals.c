/* What was removed: see removals.h. */
#include "cmd/store/removals.h"

#include <stdio.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/shown.h"
#include "symcache/build_id.h"

void print_removals(const struct symstore_removals *list, bool planned, bool json, bool quiet)
{
	struct json_gen *j = json ? json_gen_begin_report(false) : NULL;
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	unsigned long long count = 0, bytes = 0;

	if (j) {
		json_gen_bool(j, "dry_run", planned);
		json_gen_open_array(j, "removed");
	}
	for (size_t i = 0; i < list->len; i++) {
		const struct symstore_removal *e = &list->data[i];

		if (!e->removed && !planned)
			continue;
		count++;
		bytes += e->cache_size;
		symcache_build_id_text(id, e->id.bytes, e->id.len);
		if (j) {
			json_gen_open_map(j, NULL);
			json_gen_text(j, "build_id", id);
			json_gen_number(j, "cache_size", e->cache_size);
			json_gen_text(j, "source", e->source_path);
			json_gen_close_map(j);
		} else if (!quiet) {
			printf("%-40s %10llu %s\n", id, (unsigned long long)e->cache_size,
			       shown(e->source_path));
		}
	}
	if (j) {
		json_gen_close_array(j);
		json_gen_number(j, "entries", count);
		json_gen_number(j, "bytes", bytes);
		json_gen_end_report(j);
	} else if (!quiet) {
		printf("%llu %s, %llu bytes\n", count, planned ? "would be removed" : "removed", bytes);
	}
}
