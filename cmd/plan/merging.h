/*
 * merging.h: the reduce step, `symcache merge`: what its parts share.
 *
 *   merge.c         the command: status, missing tasks, the order of steps
 *   merge_load.c    plan and records; is all there?
 *   merge_logs.c    parts → logs; what died tasks left
 *   merge_said.c    complaints and counts, as one run gives them
 */
#ifndef CMD_MERGING_H
#define CMD_MERGING_H

#include <pthread.h>

#include "cmd/cli/progress.h"
#include "cmd/plan/record.h"

struct merging {
	const char *out;
	unsigned jobs;
	bool keep_parts, quiet;
	struct plan plan;
	struct plan_shards shards;
	struct plan_logs logs;
	struct record *records;         /* of each task */
	const struct result **results;  /* of each shard */
	uint64_t *said_at;              /* of each shard: where its complaints begin */
	struct markup_tally *tally;
	uint64_t damaged;               /* logs */

	pthread_mutex_t lock;           /* of what follows */
	struct progress progress;
	uint64_t done, size;            /* bytes of logs that are put together */
	uint64_t faults;                /* each was reported */
};

/* The first shard of the log of shard `i`, and behind its last. */
size_t merging_first_shard(const struct merging *m, size_t i);
size_t merging_end_of_log(const struct merging *m, size_t i);

/* ---- merge_load.c ---- */

/* Plan, and which plan OUT is of. */
int merging_open(struct merging *m, const char *plan, struct sc_error *err);
void merging_close(struct merging *m);

/* The tasks without a record, "3,7,12-15", on the heap; *num: how many. `fn` gets the sums of
 * the others. */
int merging_missing(const struct merging *m, void (*fn)(void *ctx, const struct record *head),
		    void *ctx, char **ret, uint64_t *num, struct sc_error *err);

/* Shards, logs and all records. SC_EFORMAT: something is missing or damaged. */
int merging_load(struct merging *m, struct sc_error *err);

/* Reports that a file of a shard is not what its record says, and what to do. */
void merging_fault(struct merging *m, const char *path, size_t shard);

/* ---- merge_logs.c ---- */

/* Puts together the logs that were cut, and looks whether the others are there; what is wrong
 * is reported. */
int merging_logs(struct merging *m, struct sc_error *err);

/* Removes parts, and temporary files that tasks left. */
void merging_clean(const struct merging *m);

/* ---- merge_said.c ---- */

/* Complaints, to standard error and into a file of OUT, and counts, into m->tally. */
int merging_said(struct merging *m, struct sc_error *err);

/* OUT/.symcache/summary.json */
int merging_write_summary(const struct merging *m, struct sc_error *err);

#endif
