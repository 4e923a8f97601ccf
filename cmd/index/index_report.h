/* index_report.h: what symcache index says: progress, faults and the summary. */
#ifndef CMD_INDEX_REPORT_H
#define CMD_INDEX_REPORT_H

#include "cmd/cli/memory.h"
#include "cmd/cli/output.h"
#include "libsymcache/index/index.h"

struct index_failure {
	char *path, *reason;
};

struct index_report {
	bool quiet, json;
	bool show_stats;        /* what it took, */
	struct index_stats {    /* the sums of what the builds say */
		struct symcache_build_info sum;
		uint64_t source_bytes, cache_bytes;
	} stats;
	bool fetched;           /* --debuginfod */
	VEC(struct index_failure) failures;
	VEC(char *) without;    /* symbols: paths */
};

/* The events go to `r`, which lives as long as the program: faults and progress to standard
 * error. */
struct symcache_index_events index_report_events(struct index_report *r);

/* The summary, to standard output. */
void index_report_end(const struct index_report *r, const struct symcache_index_account *a);

#endif
