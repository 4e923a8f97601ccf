/* task.h: one task of a plan: the map step, `symcache filter --plan`. */
#ifndef CMD_TASK_H
#define CMD_TASK_H

#include <stdbool.h>
#include <stdint.h>

struct task_options {
	const char *plan, *out;
	uint64_t task;
	const char *store;      /* the option --store or NULL */
	const char *input_root; /* what paths of the plan are relative to; NULL: here */
	unsigned jobs;
	bool quiet;             /* no progress, no summary */
};

/*
 * Filters the shards of the task into `out` and records it. Returns the exit status:
 * STATUS_OK: it is recorded, by this run or an earlier one; STATUS_AGAIN: not now or not here;
 * STATUS_ERROR: never.
 */
int run_task(const struct task_options *options);

#endif
