/* Work on many threads: each job once, on no more threads than were asked for; they take no signals
 * of the process, and share the account. */
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/account.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/process.h"
#include "libsymcache/base/testing.h"

enum { MOST = 200, WORKERS = 64 };

static struct {
	atomic_uint done[MOST], busy[WORKERS], overlaps, foreign;
	unsigned threads;
} seen;

static void job(void *ctx, unsigned worker, size_t number)
{
	seen.foreign += ctx != &seen || worker >= seen.threads || !sc_account;
	seen.overlaps += atomic_exchange(&seen.busy[worker % WORKERS], 1);
	seen.done[number]++;
	atomic_store(&seen.busy[worker % WORKERS], 0);
}

static void test_jobs(void **state)
{
	static const struct {
		unsigned threads;
		size_t jobs;
	} cases[] = {
		{ 1, 0 }, { 1, 1 }, { 1, 9 }, { 4, 0 }, { 4, 1 }, { 4, 3 }, { 4, MOST }, { 0, 5 }, { 1000, MOST },
	};
	struct sc_account account = { .limit = 1 };

	(void)state;
	sc_account = &account;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t k = 0; k < MOST; k++)
			seen.done[k] = 0;
		seen.threads = cases[i].threads ? cases[i].threads : 1;
		sc_parallel(cases[i].threads, cases[i].jobs, job, &seen);
		for (size_t k = 0; k < MOST; k++)
			assert_int_equal(seen.done[k], k < cases[i].jobs);
		assert_int_equal(seen.overlaps, 0);
		assert_int_equal(seen.foreign, 0);
	}
	sc_account = NULL;
	assert_true(sc_cores() >= 1);
}

static atomic_uint highest, arrived;

/* The first `*most` jobs wait for each other, up to ten seconds: so that many threads have one. More
 * threads would have one of the others, which take their time, too. */
static void meet(void *most, unsigned worker, size_t number)
{
	unsigned before = highest;
	int ms = 0;

	while (worker > before && !atomic_compare_exchange_weak(&highest, &before, worker))
		;
	arrived++;
	do
		usleep(1000);
	while (number < *(unsigned *)most && arrived < *(unsigned *)most && ms++ < 10000);
}

/* As many threads as were asked for have jobs, or the most. */
static void test_threads(void **state)
{
	static const struct {
		unsigned threads, most;
	} cases[] = { { 1, 1 }, { 2, 2 }, { 5, 5 }, { WORKERS, WORKERS }, { WORKERS + 1, WORKERS }, { 1000, WORKERS } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned most = cases[i].most;

		highest = arrived = 0;
		sc_parallel(cases[i].threads, 4 * most, meet, &most);
		assert_int_equal(highest + 1, most);
	}
}

static void *own_mask(void *ret)
{
	pthread_sigmask(SIG_SETMASK, NULL, ret);
	return NULL;
}

/* The signals of the process are for the thread that started them; those that a thread raises by
 * itself are its own. */
static void test_signals(void **state)
{
	static const int of_process[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGALRM, SIGUSR1 };
	static const int own[] = { SIGBUS,  SIGSEGV, SIGILL,  SIGFPE,
				  SIGTRAP, SIGSYS,  SIGABRT, SIGPIPE };
	sigset_t mask, before, after;
	pthread_t thread;

	(void)state;
	sigemptyset(&before);
	pthread_sigmask(SIG_SETMASK, &before, NULL); /* whatever other tests left */
	assert_true(sc_thread_start(&thread, own_mask, &mask));
	pthread_join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (size_t i = 0; i < sizeof(of_process) / sizeof(*of_process); i++) {
		assert_true(sigismember(&mask, of_process[i]));
		assert_int_equal(sigismember(&after, of_process[i]),
				 sigismember(&before, of_process[i]));
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		assert_false(sigismember(&mask, own[i]));
	/* In a process of others there are none but those that were asked for. */
	assert_int_equal(sc_thread_help(&thread, own_mask, &mask), sc_process_is_ours());
}

/* As many threads as this program may use processors. */
static void test_few_cores(void **state)
{
	cpu_set_t all, one;
	int cpu = 0;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_int_equal(sc_cores(), 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void put_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* The quota of the group that a container is in: as many cores as it is worth, the last one in part,
 * of the eight that there are. */
static void test_quota(void **state)
{
	static const struct { const char *groups, *quota; unsigned cores; } cases[] = {
		{ "0::/\n", "200000 100000\n", 2 }, { "0::/\n", "200001 100000\n", 3 }, { "0::/\n", "199999 100000\n", 2 },
		{ "0::/\n", "1 100000\n", 1 }, { "0::/\n", "1600000 50000\n", 8 }, { "0::/\n", "max 100000\n", 8 },
		{ "0::/\n", "800000 100000\n", 8 }, { "0::/\n", "600001 100000\n", 7 }, { "0::/\n", "429496729700000 100000\n", 8 },
		{ "0::/\n", "0 100000\n", 8 }, { "0::/\n", "200000\n", 8 }, { "0::/\n", "200000 0\n", 8 }, { "0::/\n", "", 8 },
		{ "0::/g\n", "300000 100000\n", 3 }, { "0::/g", "300000 100000\n", 3 }, { "0::/h\n", "300000 100000\n", 8 },
		{ "9:cpu:/g\n1:name=systemd:/\n0::/g\n", "300000 100000\n", 3 }, { "9:cpu:/g\n", "300000 100000\n", 8 },
		{ "", "300000 100000\n", 8 },
	};
	char dir[] = "/tmp/quota.XXXXXX", groups[64], quotas[2][64];
	unsigned cores;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(groups, sizeof(groups), "%s/groups", dir);
	snprintf(quotas[0], sizeof(quotas[0]), "%s/cpu.max", dir);
	snprintf(quotas[1], sizeof(quotas[1]), "%s/g/cpu.max", dir);
	assert_int_equal(testing_run("mkdir %s/g", dir), 0);
	assert_int_equal(sc_cores_in_quota(8, groups, dir), 8);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool nested = strchr(cases[i].groups, 'g') || strchr(cases[i].groups, 'h');

		put_text(groups, cases[i].groups);
		put_text(quotas[nested], cases[i].quota);
		cores = sc_cores_in_quota(8, groups, dir);
		if (cores != cases[i].cores)
			fail_msg("%s%s: %u", cases[i].groups, cases[i].quota, cores);
		unlink(quotas[nested]);
	}
	assert_int_equal(testing_run("rm -r %s", dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_few_cores), cmocka_unit_test(test_quota), cmocka_unit_test(test_jobs),
					   cmocka_unit_test(test_threads),
					   cmocka_unit_test(test_signals) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
