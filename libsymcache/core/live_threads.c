/*
 * The threads of a process that runs: see live.c. They are stopped, some tens at a time by each of
 * ours, for as long as it takes to copy their registers and stacks: while one is read, those behind it
 * are on their way to a stop.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
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
	AT_ONCE = 32,            /* threads that are stopped by one of ours, a power of two */
	MOST_TRACERS = 4,        /* of ours */
	MAX_REGISTER_BYTES = 512,
	ROOM = 256 << 10,        /* for the stacks of many threads */
};

static long ms_since(struct timespec begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
}

/* Threads are taken by several of ours at a time. */
struct taking {
	struct symcache_core *core;
	VEC(uint32_t) tids;
	atomic_size_t next;        /* the first that none has taken */
	_Atomic uint64_t keep_left; /* bytes of stacks that may be kept yet */
	atomic_bool no_memory;
};

/* A thread that was made to stop. */
struct stopping {
	struct symcache_core_thread thread;
	struct timespec since;
};

/* One of ours, and what it took. */
struct tracer {
	struct taking *all;
	pthread_t thread;
	VEC(struct symcache_core_thread) threads;
	VEC(struct piece) pieces;
	VEC(uint8_t *) rooms;   /* that the pieces are in */
	uint8_t *room;          /* what is left of the last one */
	size_t left;
	long patience;          /* ms that threads are waited for in vain yet */
	int error;              /* why the last one could not be stopped */
};

/* Waits until a thread stands; *signal: one that it was about to get, or 0. False: it is gone, or does
 * not stop. */
static bool wait_for_stop(struct tracer *t, const struct stopping *of, int *signal)
{
	const struct timespec pause = { 0, 50000 };
	const long most = t->patience < LEAST_STOP_MS ? LEAST_STOP_MS :
			  t->patience < STOP_MS ? t->patience : STOP_MS;
	const pid_t tid = (pid_t)of->thread.tid;
	struct timespec begin;
	int status;
	pid_t rc;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 0; (rc = waitpid(tid, &status, __WALL | WNOHANG)) == 0; i++) {
		if (i < 20)
			sched_yield();
		else
			nanosleep(&pause, NULL);
		if (ms_since(of->since) > most) {
			t->patience -= ms_since(begin);
			return false;
		}
	}
	if (rc != tid || !WIFSTOPPED(status))
		return false;
	*signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	return true;
}

/* Room for `size` bytes, of which those that are used are taken away. NULL: out of memory. */
static uint8_t *room_for(struct tracer *t, size_t size)
{
	if (size > t->left) {
		const size_t room = size > ROOM / 4 ? size : ROOM;
		uint8_t **added = vec_push(&t->rooms);

		if (!added || !(*added = malloc(room)))
			return NULL;
		t->room = *added;
		t->left = room;
	}
	return t->room;
}

/* Of what may be kept of all stacks, `size` bytes or less. */
static size_t take_budget(struct taking *all, size_t size)
{
	uint64_t left = atomic_load(&all->keep_left), n;

	do
		n = size < left ? size : left;
	while (!atomic_compare_exchange_weak(&all->keep_left, &left, left - n));
	return (size_t)n;
}

/* Keeps the used part of the stack that the thread stands on. False: out of memory. */
static bool copy_stack(struct tracer *t, uint64_t pointer)
{
	struct symcache_core *core = t->all->core;
	const uint64_t from = pointer > RED_ZONE ? (pointer - RED_ZONE) & ~7ull : 0;
	const struct segment *s = sc_core_find(&core->private->memory, from);
	const size_t size = s && s->end - from < STACK_COPY ? (size_t)(s->end - from) : STACK_COPY;
	struct piece *piece;
	uint8_t *bytes;
	ssize_t n;

	if (!s)
		return true;
	bytes = room_for(t, size);
	piece = bytes ? vec_push(&t->pieces) : NULL;
	if (!piece)
		return false;
	n = process_vm_readv((pid_t)core->pid, &(struct iovec){ bytes, size }, 1,
			     &(struct iovec){ (void *)(uintptr_t)from, size }, 1, 0);
	*piece = (struct piece){ from, n > 0 ? take_budget(t->all, (size_t)n) : 0, bytes };
	if (!piece->size)
		t->pieces.len--;
	else
		t->room += piece->size, t->left -= piece->size;
	return true;
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
static bool read_thread(struct tracer *t, struct symcache_core_thread *thread)
{
	struct symcache_core *core = t->all->core;
	uint8_t bytes[MAX_REGISTER_BYTES];
	struct iovec registers = { bytes, sizeof(bytes) };
	const unsigned sp = sc_core_stack_register(core);

	return ptrace(PTRACE_GETREGSET, (pid_t)thread->tid, NT_PRSTATUS, &registers) ||
	       !sc_core_registers(core, bytes, registers.iov_len, &thread->registers) ||
	       copy_stack(t, thread->registers.value[sp]);
}

/* Makes a thread stop. 0, or why it cannot be made to: an errno. */
static int stop_thread(struct symcache_core *core, uint32_t tid, struct stopping *ret)
{
	if (!read_state(core, tid, &ret->thread))
		return EBUSY;
	if (ptrace(PTRACE_SEIZE, (pid_t)tid, NULL, NULL) ||
	    ptrace(PTRACE_INTERRUPT, (pid_t)tid, NULL, NULL))
		return errno;
	clock_gettime(CLOCK_MONOTONIC, &ret->since);
	return 0;
}

/* Reads a thread that was made to stop, and lets it go on. One that ends meanwhile, or does not
 * stop, is left out. False: out of memory. */
static bool take_thread(struct tracer *t, struct stopping *of)
{
	struct symcache_core_thread *added;
	int signal = 0;
	bool ok;

	if (!wait_for_stop(t, of, &signal))
		return true; /* it is let go when the thread ends that seized it */
	ok = read_thread(t, &of->thread);
	ptrace(PTRACE_DETACH, (pid_t)of->thread.tid, NULL, (void *)(intptr_t)signal);
	added = ok ? vec_push(&t->threads) : NULL;
	if (added)
		*added = of->thread;
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

/* A few are on their way to a stop, as each takes a while; the first of them is read. */
static void *take_threads(void *ctx)
{
	struct stopping ring[AT_ONCE];
	struct tracer *t = ctx;
	struct taking *all = t->all;
	size_t first = 0, end = 0, i;

	t->patience = ALL_STOP_MS;
	do {
		while (end - first < AT_ONCE && !all->no_memory &&
		       (i = atomic_fetch_add(&all->next, 1)) < all->tids.len) {
			const int error = stop_thread(all->core, all->tids.data[i], &ring[end % AT_ONCE]);

			t->error = error ? error : t->error;
			end += !error;
		}
		if (first < end && !take_thread(t, &ring[first++ % AT_ONCE]))
			all->no_memory = true; /* the others must go on, too */
	} while (first < end);
	return NULL;
}

/* What one of ours took becomes the core's. False: out of memory. */
static bool gather(struct symcache_core_private *p, struct tracer *t)
{
	const bool ok = vec_reserve(&p->threads, t->threads.len) && vec_reserve(&p->pieces, t->pieces.len) &&
			vec_reserve(&p->rooms, t->rooms.len);

	for (size_t i = 0; i < t->rooms.len; i++)
		if (ok)
			p->rooms.data[p->rooms.len++] = t->rooms.data[i];
		else
			free(t->rooms.data[i]);
	for (size_t i = 0; ok && i < t->threads.len; i++)
		p->threads.data[p->threads.len++] = t->threads.data[i];
	for (size_t i = 0; ok && i < t->pieces.len; i++)
		p->pieces.data[p->pieces.len++] = t->pieces.data[i];
	vec_deinit(&t->threads);
	vec_deinit(&t->pieces);
	vec_deinit(&t->rooms);
	return ok;
}

/* In threads of their own: what does not stop in time cannot be detached, but would stop later; the
 * kernel lets it go when the thread ends that seized it. */
int sc_core_live_threads(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct taking all = { .core = core, .keep_left = p->keep_left };
	const unsigned most = sc_cores() < MOST_TRACERS ? sc_cores() : MOST_TRACERS;
	struct tracer tracers[MOST_TRACERS] = { 0 };
	int rc = list_threads(&all, err), error = ESRCH;
	unsigned n = 0;

	for (; !rc && n < most && n * AT_ONCE < all.tids.len; n++) {
		tracers[n].all = &all;
		errno = pthread_create(&tracers[n].thread, NULL, take_threads, &tracers[n]);
		if (errno)
			break;
	}
	if (!rc && !n && all.tids.len)
		rc = sc_error_sys(err, "cannot start a thread");
	for (unsigned i = 0; i < n; i++)
		pthread_join(tracers[i].thread, NULL);
	for (unsigned i = 0; i < n; i++) {
		error = tracers[i].error ? tracers[i].error : error;
		if (!gather(p, &tracers[i]))
			all.no_memory = true;
	}
	vec_deinit(&all.tids);
	if (rc)
		return rc;
	if (all.no_memory)
		return sc_no_memory(err);
	if (!p->threads.len) {
		errno = error;
		return sc_error_sys(err, "cannot stop its threads");
	}
	p->num_sorted = p->pieces.len;
	return sort_threads(p->threads.data, p->threads.len) &&
	       sort_pieces(p->pieces.data, p->pieces.len) ? 0 : sc_no_memory(err);
}
