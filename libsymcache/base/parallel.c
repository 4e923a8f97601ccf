/* The same work on many cores: see parallel.h. */
#include "libsymcache/base/parallel.h"

#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <stdatomic.h>

#include "libsymcache/base/account.h"
#include "libsymcache/base/process.h"

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

bool sc_thread_start(pthread_t *ret, void *(*fn)(void *arg), void *arg)
{
	static const int own[] = { SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT, SIGPIPE };
	sigset_t blocked, before;
	bool started;

	sigfillset(&blocked);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		sigdelset(&blocked, own[i]);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	started = !pthread_create(ret, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

bool sc_thread_help(pthread_t *ret, void *(*fn)(void *arg), void *arg)
{
	return sc_process_is_ours() && sc_thread_start(ret, fn, arg);
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
	while (n + 1 < threads && sc_thread_start(&others[n], work, &team))
		n++;
	work(&team);
	while (n)
		pthread_join(others[--n], NULL);
}

unsigned sc_cores_in_quota(unsigned cores, const char *groups, const char *mounted)
{
	char path[512], line[512];
	unsigned long long quota, period, worth;
	FILE *f = fopen(groups, "re");

	*path = 0;
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "0::", 3))
			snprintf(path, sizeof(path), "%s%.*s/cpu.max", mounted,
				 (int)strcspn(line + 3, "\n"), line + 3);
	if (f)
		fclose(f);
	f = *path ? fopen(path, "re") : NULL;
	if (f && fscanf(f, "%llu %llu", &quota, &period) == 2 && quota && period) {
		worth = (quota - 1) / period + 1;
		cores = worth < cores ? (unsigned)worth : cores;
	}
	if (f)
		fclose(f);
	return cores;
}

unsigned sc_cores(void)
{
	cpu_set_t set;
	unsigned cores = 1;

	if (!sched_getaffinity(0, sizeof(set), &set))
		cores = (unsigned)CPU_COUNT(&set);
	return sc_cores_in_quota(cores, "/proc/self/cgroup", "/sys/fs/cgroup");
}
