/*
 * cut.h: large plain logs → shards. The planner's only reading of logs: one pass over each that
 * is cut, which follows its modules and maps.
 */
#ifndef CMD_CUT_H
#define CMD_CUT_H

#include "cmd/plan/plan_file.h"

struct cutting {
	const struct markup_options *options;
	const struct plan_logs *logs;
	const char *dir;     /* of the plan, whose folder contexts/ is there */
	uint64_t task_size;
	unsigned threads;    /* logs at once */
	bool quiet;          /* no progress */
};

/* The shards of all logs, in their order; the task of each is still open. SC_ESYS: a log
 * cannot be read, or contexts not be written. */
int plan_cut(const struct cutting *c, struct plan_shards *ret, struct sc_error *err);

#endif
