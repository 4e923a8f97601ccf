/* shard.h: the shards of a task, each filtered into its file. */
#ifndef CMD_SHARD_H
#define CMD_SHARD_H

#include "cmd/plan/record.h"
#include "cmd/plan/task.h"

/* What is to be said of a shard, as complaint_put() writes it: in memory, and from SAID_MAX
 * bytes on in a file without a name in OUT. */
struct said {
	struct text text;
	int fd;           /* 0: none */
	uint64_t bytes;   /* in both */
	int error;        /* errno */
};

/* Writes all of it to `fd`, and adds it to the hash. -1: see errno. */
int said_copy(struct said *s, int fd, XXH3_state_t *hash);
void said_deinit(struct said *s);

struct task {
	const struct task_options *options;
	struct plan plan;
	struct plan_shards shards;
	struct plan_logs logs;      /* of these shards */
	struct record record;       /* a result for each shard */
	struct said *said;          /* of each shard */
	struct misses *missed;      /* the same */
};

/* All shards, several at once. SC_ESYS, SC_EFULL, SC_ENOMEM: again, maybe elsewhere;
 * SC_EFORMAT: what is known where a shard begins is damaged. */
int run_shards(struct task *t, struct sc_error *err);

#endif
