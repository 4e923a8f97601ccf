/* shard.h: the shards of a task, each filtered into its file. */
#ifndef MARKUP_SHARD_H
#define MARKUP_SHARD_H

#include "libmarkup/plan/record.h"

/* What is to be said of a shard, as mk_complaint_put() writes it: in memory, and from some size
 * on in a file without a name in OUT. */
struct mk_said {
	const char *out;
	struct mk_out text;
	int fd;           /* 0: none */
	uint64_t bytes;   /* in both */
	int error;        /* errno */
	struct mk_misses missed;
	uint64_t shard;
};

/* Writes all of it to `fd`, and adds it to the hash. -1: see errno. */
int mk_said_copy(struct mk_said *s, int fd, XXH3_state_t *hash);

struct markup_task {
	struct markup_task_options options;
	struct mk_plan plan;
	struct mk_shards shards;
	struct mk_logs logs;        /* of these shards */
	struct mk_record record;    /* a result for each shard */
	struct mk_said *said;       /* of each shard */
	unsigned workers;           /* shards at once */
};

typedef int mk_filter_fn(void *ctx, struct markup_shard *s, struct sc_error *err);

/* All shards, several at once. SC_ESYS, SC_EFULL, SC_ENOMEM: again, maybe elsewhere;
 * SC_EFORMAT: what is known where a shard begins is damaged. */
int mk_run_shards(struct markup_task *t, mk_filter_fn *filter, void *ctx, struct sc_error *err);

#endif
