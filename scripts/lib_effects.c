/*
 * What the libraries do to the process that uses them: nothing. Indexes, looks up and filters,
 * and compares signals, limits, environment and the rest of before and after.
 *
 *   lib_effects STORE ELF-FILE LOG
 *
 * No thread may be started that was not asked for, and none may take the process's signals.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-build.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int threads, with_signals;

/* In the place of libc's, also for the libraries. */
int pthread_create(pthread_t *ret, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	static const int of_process[] = { SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGCHLD, SIGUSR1, SIGPROF };
	sigset_t mask;

	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	__atomic_fetch_add(&threads, 1, __ATOMIC_SEQ_CST);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	for (size_t i = 0; i < sizeof(of_process) / sizeof(*of_process); i++)
		with_signals += !sigismember(&mask, of_process[i]);
	return real(ret, attr, fn, arg);
}

struct state {
	void (*handlers[65])(int);
	sigset_t mask;
	struct rlimit limits[RLIM_NLIMITS];
	char environment[65536], locale[256], folder[4096];
	mode_t umask;
};

/* What of it is another; NULL: nothing. */
static const char *differs(const struct state *a, const struct state *b)
{
#define DIFFERS(what) if (memcmp(&a->what, &b->what, sizeof(a->what))) return #what
	DIFFERS(handlers);
	DIFFERS(mask);
	DIFFERS(limits);
	DIFFERS(environment);
	DIFFERS(locale);
	DIFFERS(folder);
	DIFFERS(umask);
	return NULL;
}

static void look(struct state *s)
{
	memset(s, 0, sizeof(*s));
	for (int i = 1; i < 65; i++) {
		struct sigaction action = { .sa_handler = NULL };

		sigaction(i, NULL, &action);
		s->handlers[i] = action.sa_handler;
	}
	pthread_sigmask(SIG_BLOCK, NULL, &s->mask);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit(i, &s->limits[i]);
	for (char **e = environ; *e; e++)
		strncat(s->environment, *e, sizeof(s->environment) - strlen(s->environment) - 1);
	strncpy(s->locale, setlocale(LC_ALL, NULL), sizeof(s->locale) - 1);
	if (!getcwd(s->folder, sizeof(s->folder)))
		exit(2);
	s->umask = umask(0);
	umask(s->umask);
}

static size_t written;

static int count(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data;
	written += len;
	return 0;
}

static void check(int rc, const struct symcache_error *err)
{
	if (rc) {
		printf("%s\n", err->msg);
		exit(2);
	}
}

static void work(const char *path, const char *elf, const char *log, uint32_t n)
{
	struct symcache_filter_options filtering = { sizeof(filtering), 0, n, count, NULL, NULL };
	struct symcache_make_options making = { .size = sizeof(making), .threads = n,
						.flags = SYMCACHE_MAKE_AGAIN };
	struct symcache_put_options putting = { sizeof(putting), (const uint8_t *)"\1", 1, NULL, NULL, 1 };
	struct symcache_resolver *resolver;
	const struct symcache_frame *frames;
	struct symcache_cache *made;
	struct symcache_error err;
	struct symcache_filter *filter;
	struct symcache_store *store;
	static char buf[1 << 16];
	FILE *f = fopen(log, "r");

	check(symcache_store_open(path, SYMCACHE_STORE_WRITE, &store, &err), &err);
	check(symcache_store_index(store, &elf, 1, &making, NULL, &err), &err);
	check(symcache_make(elf, &making, &made, &err), &err);
	check(symcache_store_put(store, made, &putting, &err) < 0, &err);
	check(symcache_resolver_create(NULL, &resolver, &err), &err);
	symcache_frames(resolver, made, 0x1234, &frames);
	check(symcache_filter_create(store, &filtering, &filter, &err), &err);
	for (size_t k; f && (k = fread(buf, 1, sizeof(buf), f)); )
		check(symcache_filter_feed(filter, buf, k, &err), &err);
	check(symcache_filter_finish(filter, &err) || symcache_filter_end(filter, &err), &err);
	symcache_filter_destroy(filter);
	symcache_resolver_destroy(resolver);
	symcache_cache_unref(made);
	symcache_store_close(store);
	fclose(f);
}

int main(int argc, char **argv)
{
	static struct state before, after;
	int alone;

	if (argc != 4)
		return 2;
	look(&before);
	work(argv[1], argv[2], argv[3], 0);
	alone = threads;
	work(argv[1], argv[2], argv[3], 3);
	look(&after);
	if (alone || !threads || with_signals || !written || differs(&before, &after))
		printf("%d threads unasked, %d asked for, %d signals for them, %zu bytes; changed: %s\n", alone,
		       threads, with_signals, written, differs(&before, &after) ? : "nothing");
	return 0;
}
