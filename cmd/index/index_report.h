/* index_report.h: what symcache index says: progress, faults and the summary. */
#ifndef CMD_INDEX_REPORT_H
#define CMD_INDEX_REPORT_H

#include "cmd/cli/output.h"
#include "symcache/index.h"

/* What it took: the sums of what the builds say. */
struct index_stats {
	struct symcache_build_info sum;
	uint64_t source_bytes, cache_bytes;
};

void index_stats_add(struct index_stats *s, const struct symcache_index_file *file);
void index_stats_print(const struct index_stats *s, double store_seconds);

struct index_report {
	bool quiet;
	struct index_stats stats;
	struct { char *path, *reason; } *failures;
	size_t num_failures, cap_failures;
	char **without_symbols;       /* paths */
	size_t num_without, cap_without;
};

/* The events go to `r`: faults and progress to standard error. */
struct symcache_index_events index_report_events(struct index_report *r);
void index_report_deinit(struct index_report *r);

void index_summary_print(const struct index_report *r, const struct symcache_index_account *a);
/* `fetched`: with --debuginfod. `stats`: with what it took. */
void index_summary_json(const struct index_report *r, const struct symcache_index_account *a,
			bool fetched, bool stats);

#endif
