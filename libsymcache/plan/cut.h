/*
 * cut.h: large plain logs → shards, and which task does which. The planner's only reading of logs:
 * one pass over each that is cut, which follows its modules and maps.
 */
#ifndef MARKUP_PLAN_CUT_H
#define MARKUP_PLAN_CUT_H

#include "libsymcache/plan/plan_file.h"

/* A log that is cut. */
struct mk_cut_log {
	uint64_t log;
	struct mk_shards shards;
	char tables_hash[SC_HASH_TEXT];
};

struct mk_cuts {
	VEC(struct mk_cut_log) logs; /* ascending */
	struct mk_shards shards;     /* of all logs, in their order; the task of each is open */
};

/* `dir`: of the plan, whose folder contexts/ is there. SC_ESYS: a log cannot be read, or contexts
 * not be written; SC_EFULL, SC_ENOMEM. */
int mk_cut(const struct markup_planning *p, const char *dir, struct mk_cuts *ret,
	   struct sc_error *err);
void mk_cuts_deinit(struct mk_cuts *c); /* all zero is fine */

/*
 * Sets the task of each shard, largest first to the task that has the least, at most `most`
 * tasks of about `task_size`. Tasks are numbered by falling cost, so that engines, which start
 * low numbers first, do not end with a long one. *ret: how many there are. False: no memory.
 */
bool mk_deal(struct mk_shards *shards, const struct markup_log *logs, uint64_t task_size,
	     uint64_t most, uint64_t *ret);

#endif
