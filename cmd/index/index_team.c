/*
 * Many files → their jobs, on all cores: see index.h.
 *
 * A large file is worked on alone and uses all cores itself; small ones, which
 * have too little to share out, are taken in groups, each file by one thread.
 * Jobs come back in the order of the files, so that what ends up in the store does
 * not depend on who was faster. Groups are bounded in bytes: a file at work takes
 * a few times its size of memory.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cmd/index/index.h"

enum {
	MAX_THREADS = 64,
	SMALL = 8 << 20,       /* bytes of a file that one thread takes */
	MEMORY_PER_BYTE = 8,   /* that a file at work takes, inflated and read */
};

size_t index_group(const struct scan_file *files, size_t n, uint64_t memory)
{
	uint64_t total = 0;
	size_t k = 0;

	while (k < n && k < INDEX_GROUP_MAX && files[k].size <= SMALL && !files[k].archive) {
		total += files[k].size * MEMORY_PER_BYTE;
		if (k && total > memory)
			break;
		k++;
	}
	return k ? k : 1;
}

struct team {
	const struct scan_file *files;
	size_t n;
	struct symstore *store;
	const struct index_options *options;
	struct index_job **jobs;
	atomic_size_t next;
};

static void *work(void *arg)
{
	struct team *t = arg;
	size_t i;

	while ((i = atomic_fetch_add(&t->next, 1)) < t->n)
		t->jobs[i] = index_job_create(&t->files[i], t->store, t->options);
	return NULL;
}

void index_jobs_create(const struct scan_file *files, size_t n, struct symstore *store,
		       const struct index_options *options, struct index_job **ret)
{
	struct index_options alone = *options;
	struct team team = { .files = files, .n = n, .store = store, .options = &alone, .jobs = ret };
	unsigned threads = options->build.threads < MAX_THREADS ? options->build.threads : MAX_THREADS;
	pthread_t others[MAX_THREADS];
	unsigned started = 0;

	if (n > 1)
		alone.build.threads = 1;
	if (threads > n)
		threads = (unsigned)n;
	while (started + 1 < threads && !pthread_create(&others[started], NULL, work, &team))
		started++;
	work(&team);
	while (started)
		pthread_join(others[--started], NULL);
}
