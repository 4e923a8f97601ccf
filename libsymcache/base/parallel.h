/*
 * The same work on many cores: jobs 0 … n−1, handed out in order.
 *
 * Threads live as long as one call; jobs should last a millisecond at least.
 */
#ifndef SC_PARALLEL_H
#define SC_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

/* `worker` is 0 … threads−1: two jobs with the same number never overlap. */
typedef void sc_job_fn(void *ctx, unsigned worker, size_t job);

/* Runs all jobs on up to `threads` threads (the caller's is one of them) and
 * returns when all are done. If threads cannot be had, fewer do the work. */
void sc_parallel(unsigned threads, size_t jobs, sc_job_fn *fn, void *ctx);

/* Starts a thread that takes no signals of the process, only those that it raises by itself.
 * False: there is none. */
bool sc_thread_start(pthread_t *ret, void *(*fn)(void *arg), void *arg);

/* The same for one that no number of threads counts: only if the process is ours
 * (bigmem.h). */
bool sc_thread_help(pthread_t *ret, void *(*fn)(void *arg), void *arg);

/* `cores`, or as many as the quota of a control group (version 2) is worth, rounded up, if that is
 * less. `groups` says in which group below `mounted` the process is: /proc/self/cgroup. */
unsigned sc_cores_in_quota(unsigned cores, const char *groups, const char *mounted);

/* The number of cores this process may use. */
unsigned sc_cores(void);

#endif
