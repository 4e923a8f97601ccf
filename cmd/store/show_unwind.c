/* show --unwind: ranges of addresses and where the caller's registers are. See show.h. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "cmd/store/show.h"
#include "symcache/rows.h"

void show_unwind(const struct symcache *cache, struct json_gen *j)
{
	char text[2048];

	for (uint32_t i = 0; i < cache->unwind.num_starts; i++) {
		struct symcache_row row;
		uint32_t number;
		uint64_t start;

		if (!symcache_row_range(cache, i, &start, &number))
			break;
		if (symcache_get_row(cache, number, &row))
			symcache_row_text(cache, &row, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "-");
		if (j) {
			json_gen_open_map(j, NULL);
			json_gen_hex(j, "start", start);
			if (*text != '-')
				json_gen_text(j, "row", text);
			json_gen_close_map(j);
		} else {
			printf("0x%08" PRIx64 " %s\n", start, text);
		}
	}
}

const char *unwind_sources(const struct symcache *cache, char text[UNWIND_SOURCES_TEXT])
{
	const uint32_t s = cache->unwind.facts->sources;

	snprintf(text, UNWIND_SOURCES_TEXT, "%s%s%s%s%s",
		 s & SYMCACHE_UNWIND_EH_FRAME ? ".eh_frame" : "",
		 s & SYMCACHE_UNWIND_EH_FRAME && s & SYMCACHE_UNWIND_DEBUG_FRAME ? ", " : "",
		 s & SYMCACHE_UNWIND_DEBUG_FRAME ? ".debug_frame" : "",
		 s & ~SYMCACHE_UNWIND_CODE && s & SYMCACHE_UNWIND_CODE ? ", " : "",
		 s & SYMCACHE_UNWIND_CODE ? "signal trampolines" : "");
	return text;
}
