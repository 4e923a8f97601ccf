/*
 * The threads of a process that runs: see live.c. They are stopped, some tens at a time by each of
 * ours, for as long as it takes to copy their registers and stacks.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

enum {
	RED_ZONE = 128,          /* bytes below the stack pointer that are in use */
	STACK_COPY = 1 << 20,    /* of a thread, while it is stopped */
	STOP_MS = 1000,          /* that a thread is waited for */
	ALL_STOP_MS = 3000,      /* that all threads together are waited for in vain */
	LEAST_STOP_MS = 1,       /* and each few of them when that is over */
	AT_ONCE = 32,            /* threads that are stopped by one of ours */
	MOST_TRACERS = 4,        /* of ours */
	MAX_REGISTER_BYTES = 512,
};

static long ms_since(struct timespec begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
}

/* How long threads that were made to stop together are waited for. */
struct patience {
	struct timespec begin;
	long ms;
	bool in_vain; /* so long, as one of them did not stop */
};

/* Waits until a thread stands; *signal: one that it was about to get, or 0. False: it is gone, or does
 * not stop. */
static bool wait_for_stop(pid_t tid, struct patience *patience, int *signal)
{
	const struct timespec pause = { 0, 50000 };
	int status;
	pid_t rc;

	for (unsigned i = 0; (rc = waitpid(tid, &status, __WALL | WNOHANG)) == 0; i++) {
		if (i < 20)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		if (ms_since(patience->begin) > patience->ms) {
			patience->in_vain = true;
			return false;
		}
	}
	if (rc != tid || !WIFSTOPPED(status))
		return false;
	*signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return true;
}

/* Threads are taken by several of ours at a time. */
struct taking {
	struct symcache_core *core;
	VEC(uint32_t) tids;
	pthread_mutex_t lock; /* of what follows, and of what is added to core */
	size_t next;          /* the first that none has taken */
	int error;            /* why the last one could not be stopped */
	bool no_memory;
};

/* Keeps the used part of the stack that the thread stands on. False: out of memory. */
static bool copy_stack(struct taking *t, uint64_t pointer)
{
	struct symcache_core *core = t->core;
	struct symcache_core_private *p = core->private;
	const uint64_t from = pointer > RED_ZONE ? (pointer - RED_ZONE) & ~7ull : 0;
	const struct segment *s = sc_core_find(&p->memory, from);
	size_t size = s && s->end - from < STACK_COPY ? (size_t)(s->end - from) : STACK_COPY;
	struct piece *piece;
	uint8_t *bytes;
	ssize_t n;

	if (!s || !(bytes = malloc(size)))
		return !s;
	n = process_vm_readv((pid_t)core->pid, &(struct iovec){ bytes, size }, 1,
			     &(struct iovec){ (void *)(uintptr_t)from, size }, 1, 0);
	pthread_mutex_lock(&t->lock);
	n = n > 0 && (uint64_t)n > p->keep_left ? (ssize_t)p->keep_left : n;
	piece = n > 0 ? vec_push(&p->pieces) : NULL;
	if (piece) {
		*piece = (struct piece){ from, (size_t)n, bytes };
		p->keep_left -= (size_t)n;
	}
	pthread_mutex_unlock(&t->lock);
	if (!piece)
		free(bytes);
	return piece || n <= 0;
}

/* Name and state of a thread: "4242 (name) S …". False: it cannot be made to stop soon, as it waits for
 * a disk, or is gone. */
static bool read_state(struct symcache_core *core, uint32_t tid, struct symcache_core_thread *t)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	char text[512], *name, *end; /* one read gives all of it, of which the beginning is wanted */
	ssize_t len;

	*t = (struct symcache_core_thread){ .tid = tid };
	snprintf(text, sizeof(text), "/proc/%" PRIu32 "/task/%" PRIu32 "/stat", core->pid, tid);
	fd = open(text, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	text[len > 0 ? len : 0] = 0;
	name = strchr(text, '(');
	end = name ? strrchr(name, ')') : NULL;
	if (!end || end[1] != ' ' || (size_t)(end - name) > sizeof(t->name))
		return false;
	memcpy(t->name, name + 1, (size_t)(end - name) - 1);
	return !strchr("DZX", end[2]);
}

/* Registers and stack of a thread that stands. False: out of memory. */
static bool read_thread(struct taking *taking, struct symcache_core_thread *t)
{
	struct symcache_core *core = taking->core;
	uint8_t bytes[MAX_REGISTER_BYTES];
	struct iovec registers = { bytes, sizeof(bytes) };
	const unsigned sp = sc_core_stack_register(core);

	return ptrace(PTRACE_GETREGSET, (pid_t)t->tid, NT_PRSTATUS, &registers) ||
	       !sc_core_registers(core, bytes, registers.iov_len, &t->registers) ||
	       copy_stack(taking, t->registers.value[sp]);
}

/* Makes a thread stop. 0, or why it cannot be made to: an errno. */
static int stop_thread(struct symcache_core *core, uint32_t tid, struct symcache_core_thread *t)
{
	if (!read_state(core, tid, t))
		return EBUSY;
	return ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, NULL) ||
	       ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL) ? errno : 0;
}

/* Reads a thread that was made to stop, and lets it go on. One that ends meanwhile, or does not
 * stop, is left out. False: out of memory. */
static bool take_thread(struct taking *taking, struct symcache_core_thread *t,
			struct patience *patience)
{
	struct symcache_core_thread *added;
	int signal = 0;
	bool ok;

	if (!wait_for_stop((pid_t)t->tid, patience, &signal))
		return true; /* it is let go when the thread ends that seized it */
	ok = read_thread(taking, t);
	ptrace(PTRACE_DETACH, (pid_t)t->tid, NULL, (void *)(intptr_t)signal);
	pthread_mutex_lock(&taking->lock);
	added = ok ? vec_push(&taking->core->private->threads) : NULL;
	if (added)
		*added = *t;
	pthread_mutex_unlock(&taking->lock);
	return added;
}

static bool tid_before(const struct symcache_core_thread *a, const struct symcache_core_thread *b)
{
	return a->tid < b->tid;
}

SC_SORT(sort_threads, struct symcache_core_thread, tid_before)

static bool piece_before(const struct piece *a, const struct piece *b)
{
	return a->offset < b->offset;
}

SC_SORT(sort_pieces, struct piece, piece_before)

/* The IDs of its threads. */
static int list_threads(struct taking *t, struct sc_error *err)
{
	const struct dirent *entry;
	uint32_t *tid = NULL;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", t->core->pid);
	dir = opendir(path);
	if (!dir)
		return sc_error_sys(err, "cannot list its threads");
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.') {
			if (!(tid = vec_push(&t->tids)))
				break;
			*tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		}
	closedir(dir);
	return entry && !tid ? sc_no_memory(err) : 0;
}

/* The next ones, at most AT_ONCE. */
static size_t next_threads(struct taking *t, const uint32_t **ret)
{
	size_t n;

	pthread_mutex_lock(&t->lock);
	n = t->no_memory ? 0 : t->tids.len - t->next;
	n = n < AT_ONCE ? n : AT_ONCE;
	*ret = t->tids.data + t->next;
	t->next += n;
	pthread_mutex_unlock(&t->lock);
	return n;
}

/* A few are made to stop together, as each takes a while. */
static void *take_threads(void *ctx)
{
	struct symcache_core_thread threads[AT_ONCE];
	struct taking *t = ctx;
	long left = ALL_STOP_MS;
	const uint32_t *tids;
	int failed[AT_ONCE];

	for (size_t n; (n = next_threads(t, &tids)); ) {
		struct patience patience = {
			.ms = left < LEAST_STOP_MS ? LEAST_STOP_MS : left < STOP_MS ? left : STOP_MS };
		int error = 0;
		bool ok = true;

		for (size_t k = 0; k < n; k++) {
			failed[k] = stop_thread(t->core, tids[k], &threads[k]);
			error = failed[k] ? failed[k] : error;
		}
		clock_gettime(CLOCK_MONOTONIC, &patience.begin);
		for (size_t k = 0; k < n; k++)
			if (!failed[k] && !take_thread(t, &threads[k], &patience))
				ok = false; /* the others must go on, too */
		left -= patience.in_vain ? ms_since(patience.begin) : 0;
		pthread_mutex_lock(&t->lock);
		t->error = error ? error : t->error;
		t->no_memory |= !ok;
		pthread_mutex_unlock(&t->lock);
	}
	return NULL;
}

/* In threads of their own: what does not stop in time cannot be detached, but would stop later; the
 * kernel lets it go when the thread ends that seized it. */
int sc_core_live_threads(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct taking t = { .core = core, .lock = PTHREAD_MUTEX_INITIALIZER, .error = ESRCH };
	const unsigned most = sc_cores() < MOST_TRACERS ? sc_cores() : MOST_TRACERS;
	int rc = list_threads(&t, err);
	pthread_t tracers[MOST_TRACERS];
	unsigned n = 0;

	while (!rc && n < most && n * AT_ONCE < t.tids.len &&
	       !(errno = pthread_create(&tracers[n], NULL, take_threads, &t)))
		n++;
	if (!rc && !n && t.tids.len)
		rc = sc_error_sys(err, "cannot start a thread");
	while (n)
		pthread_join(tracers[--n], NULL);
	vec_deinit(&t.tids);
	if (rc)
		return rc;
	if (t.no_memory)
		return sc_no_memory(err);
	if (!p->threads.len) {
		errno = t.error;
		return sc_error_sys(err, "cannot stop its threads");
	}
	p->num_sorted = p->pieces.len;
	return sort_threads(p->threads.data, p->threads.len) &&
	       sort_pieces(p->pieces.data, p->pieces.len) ? 0 : sc_no_memory(err);
}
