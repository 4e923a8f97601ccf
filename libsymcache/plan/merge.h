/*
 * merge.h: the reduce step: what its parts share.
 *
 *   merge.c             plan and records: is all there? The order of steps
 *   merge_logs.c        parts → logs; what died tasks left
 *   merge_complaints.c  complaints and counts, as one run gives them
 */
#ifndef MARKUP_MERGE_H
#define MARKUP_MERGE_H

#include <pthread.h>

#include "libsymcache/plan/record.h"

struct markup_merge {
	struct markup_merge_options options;
	struct mk_plan plan;
	struct mk_shards shards;
	struct mk_logs logs;
	struct mk_record *records;        /* of each task */
	const struct mk_result **results; /* of each shard */
	uint64_t *complaints_at;          /* of each shard: where its complaints begin */
	struct markup_tally *tally;
	uint64_t damaged;                 /* logs */

	pthread_mutex_t lock;             /* of what follows */
	uint64_t done, size;              /* bytes of logs that are put together */
	uint64_t faults;                  /* each was reported */
};

/* Reports what is wrong with a file or the record of a task, and what to do. */
void mk_merge_fault(struct markup_merge *m, uint64_t task, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts together the logs that were cut, and looks whether the others are there; what is wrong
 * is reported. */
int mk_merge_logs(struct markup_merge *m, struct sc_error *err);

/* Removes parts, and temporary files that tasks left. */
int mk_merge_clean(struct markup_merge *m, struct sc_error *err);

/* Complaints, to the caller and into a file of OUT, and counts, into m->tally. */
int mk_merge_complaints(struct markup_merge *m, struct sc_error *err);

/* OUT/.symcache/summary.json */
int mk_merge_summary(struct markup_merge *m, struct sc_error *err);

#endif
