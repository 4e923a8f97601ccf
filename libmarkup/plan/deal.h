/* deal.h: which shards are done by which task. */
#ifndef MARKUP_DEAL_H
#define MARKUP_DEAL_H

#include "libmarkup/plan/plan_file.h"

/*
 * Sets the task of each shard, largest first to the task that has the least, at most `most`
 * tasks of about `task_size`. Tasks are numbered by falling cost, so that engines, which start
 * low numbers first, do not end with a long one. *ret: how many there are. False: no memory.
 */
bool mk_deal(struct mk_shards *shards, const struct markup_log *logs, uint64_t task_size,
	     uint64_t most, uint64_t *ret);

#endif
