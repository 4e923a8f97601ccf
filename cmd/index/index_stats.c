/* What indexing took: the sums of what the builds say, as text or JSON. */
#include <stdio.h>
#include <sys/resource.h>

#include "cmd/index/index_report.h"

static const char *const stages[SYMCACHE_STAGES] = {
	[SYMCACHE_STAGE_OPEN] = "open",
	[SYMCACHE_STAGE_INFLATE] = "inflate",
	[SYMCACHE_STAGE_HEADERS] = "headers",
	[SYMCACHE_STAGE_UNITS] = "units",
	[SYMCACHE_STAGE_ASSEMBLE] = "assemble",
	[SYMCACHE_STAGE_LAYOUT] = "layout",
};

/* The sums, in the order they are printed. */
#define FOR_EACH_SUM(X) \
	X(units) \
	X(entries) \
	X(rows) \
	X(functions) \
	X(files) \
	X(ranges) \
	X(merged_ranges) \
	X(source_locations) \
	X(data_symbols) \
	X(string_bytes) \
	X(section_bytes)

void index_stats_add(struct index_stats *s, const struct symcache_index_file *file)
{
	for (int i = 0; i < SYMCACHE_STAGES; i++)
		s->sum.seconds[i] += file->info->seconds[i];
#define ADD(name) s->sum.name += file->info->name;
	FOR_EACH_SUM(ADD)
#undef ADD
	s->source_bytes += file->size;
	s->cache_bytes += file->cache_size;
}

static uint64_t peak_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

void index_stats_print(const struct index_stats *s, double store_seconds)
{
	printf("seconds by stage (of all files):");
	for (int i = 0; i < SYMCACHE_STAGES; i++)
		printf(" %s %.3f", stages[i], s->sum.seconds[i]);
	printf(" store %.3f\n", store_seconds);
	printf("bytes: files %llu, sections %llu, caches %llu, peak memory %llu\n",
	       (unsigned long long)s->source_bytes, (unsigned long long)s->sum.section_bytes,
	       (unsigned long long)s->cache_bytes, (unsigned long long)peak_memory());
#define PRINT(name) printf("%s %llu\n", #name, (unsigned long long)s->sum.name);
	FOR_EACH_SUM(PRINT)
#undef PRINT
}

void index_stats_json(const struct index_stats *s, double store_seconds, struct json_gen *j)
{
	json_gen_open_map(j, "stats");
	json_gen_open_map(j, "milliseconds");
	for (int i = 0; i < SYMCACHE_STAGES; i++)
		json_gen_number(j, stages[i], (uint64_t)(s->sum.seconds[i] * 1e3));
	json_gen_number(j, "store", (uint64_t)(store_seconds * 1e3));
	json_gen_close_map(j);
#define FIELD(name) json_gen_number(j, #name, s->sum.name);
	FOR_EACH_SUM(FIELD)
#undef FIELD
	json_gen_number(j, "source_bytes", s->source_bytes);
	json_gen_number(j, "cache_bytes", s->cache_bytes);
	json_gen_number(j, "peak_memory", peak_memory());
	json_gen_close_map(j);
}
