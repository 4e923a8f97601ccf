/* deal.h: which shards are done by which task. */
#ifndef CMD_DEAL_H
#define CMD_DEAL_H

#include "cmd/plan/plan_file.h"

/* About how long one takes, in bytes of text: packed logs hold eight times their size. */
uint64_t plan_cost(const struct plan_log *log, const struct plan_shard *s);

/*
 * Sets the task of each shard, largest first to the task that has the least, at most `most`
 * tasks of about `task_size`. Tasks are numbered by falling cost, so that engines, which start
 * low numbers first, do not end with a long one. Returns how many there are.
 */
uint64_t plan_deal(struct plan_shards *shards, const struct plan_logs *logs, uint64_t task_size,
		   uint64_t most);

#endif
