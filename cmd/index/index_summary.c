/* What came of all files, as text or JSON: see index_report.h. */
#include <stdio.h>

#include "cmd/index/index_report.h"

static void count(const char *what, uint64_t n)
{
	if (n)
		printf(", %llu %s", (unsigned long long)n, what);
}

enum { NAMED = 10 }; /* files without symbols, in text */

void index_summary_print(const struct index_report *r, const struct symcache_index_account *a)
{
	printf("%llu indexed, %llu unchanged, %llu without symbols, %llu failed",
	       (unsigned long long)a->indexed, (unsigned long long)a->unchanged,
	       (unsigned long long)a->without_symbols, (unsigned long long)a->failed);
	count("with better symbols in the store", a->better_in_store);
	count("with the build ID of another file", a->other_in_store);
	count("with broken debug information", a->broken);
	count("object files not linked yet", a->unsupported);
	count("links to folders not followed", a->links);
	count("archives", a->archives);
	count("of them unchanged", a->archives_unchanged);
	count("of them on no server", a->not_on_servers);
	count("folder loops", a->loops);
	count("pipes, sockets and devices left out", a->special);
	putchar('\n');
	for (size_t i = 0; i < r->num_without && i < NAMED; i++)
		printf("without symbols: %s\n", r->without_symbols[i]);
	if (r->num_without > NAMED)
		printf("without symbols: %zu more, named with --json\n", r->num_without - NAMED);
}

void index_summary_json(const struct index_report *r, const struct symcache_index_account *a,
			bool fetched, bool stats)
{
	struct json_gen *j = json_gen_begin_report(false);

	json_gen_number(j, "indexed", a->indexed);
	json_gen_number(j, "unchanged", a->unchanged);
	json_gen_number(j, "without_symbols", a->without_symbols);
	json_gen_number(j, "better_in_store", a->better_in_store);
	json_gen_number(j, "other_in_store", a->other_in_store);
	json_gen_number(j, "broken_debug_info", a->broken);
	json_gen_number(j, "unsupported", a->unsupported);
	json_gen_number(j, "not_elf", a->other);
	json_gen_number(j, "special_files", a->special);
	json_gen_number(j, "links_not_followed", a->links);
	json_gen_number(j, "folder_loops", a->loops);
	json_gen_number(j, "archives", a->archives);
	json_gen_number(j, "archives_unchanged", a->archives_unchanged);
	if (fetched)
		json_gen_number(j, "not_on_servers", a->not_on_servers);
	json_gen_open_array(j, "failed");
	for (size_t i = 0; i < r->num_failures; i++) {
		json_gen_open_map(j, NULL);
		json_gen_text(j, "file", r->failures[i].path);
		json_gen_text(j, "reason", r->failures[i].reason);
		json_gen_close_map(j);
	}
	json_gen_close_array(j);
	json_gen_open_array(j, "files_without_symbols");
	for (size_t i = 0; i < r->num_without; i++)
		json_gen_text(j, NULL, r->without_symbols[i]);
	json_gen_close_array(j);
	if (stats)
		index_stats_json(&r->stats, a->store_seconds, j);
	json_gen_end_report(j);
}
