/* The same work on many cores: see parallel.h. */
#include "libsymcache/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "libsymcache/base/account.h"

#define MAX_THREADS 64

struct team {
	sc_job_fn *fn;
	void *ctx;
	size_t jobs;
	atomic_size_t next;
	atomic_uint workers;
	struct sc_account *account;
};

static void *work(void *arg)
{
	struct team *t = arg;
	unsigned worker = atomic_fetch_add(&t->workers, 1);

	sc_account = t->account;
	for (;;) {
		size_t job = atomic_fetch_add(&t->next, 1);
		if (job >= t->jobs)
			return NULL;
		t->fn(t->ctx, worker, job);
	}
}

void sc_parallel(unsigned threads, size_t jobs, sc_job_fn *fn, void *ctx)
{
	struct team team = { .fn = fn, .ctx = ctx, .jobs = jobs, .account = sc_account };
	pthread_t others[MAX_THREADS];
	unsigned n = 0;

	if (threads > MAX_THREADS)
		threads = MAX_THREADS;
	if (threads > jobs)
		threads = (unsigned)jobs;
	while (n + 1 < threads && !pthread_create(&others[n], NULL, work, &team))
		n++;
	work(&team);
	while (n)
		pthread_join(others[--n], NULL);
}

unsigned sc_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 1;
	return (unsigned)CPU_COUNT(&set);
}
