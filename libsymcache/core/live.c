/*
 * A process that runs, as a core: see core.h. Its file is /proc/PID/mem, in which an offset is an
 * address; its notes are what /proc says.
 *
 * Threads are stopped, 16 at a time, for as long as it takes to copy their registers and stacks;
 * what is not on stacks (unwind information of code made at run time, the headers of modules) is
 * read while the process runs.
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libmarkup/input/maps.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

enum {
	RED_ZONE = 128,          /* bytes below the stack pointer that are in use */
	STACK_COPY = 1 << 20,    /* of a thread, while it is stopped */
	STOP_MS = 1000,          /* that a thread is waited for */
	ALL_STOP_MS = 3000,      /* that all threads together are waited for in vain */
	LEAST_STOP_MS = 1,       /* and each few of them when that is over */
	AT_ONCE = 16,            /* threads that are stopped */
	MAX_REGISTER_BYTES = 512,
	MAX_TEXT = 4096, MAX_AUXV = 64 << 10, MAX_MAPS = 1 << 30,
};

/* The text of /proc/PID/NAME, on the heap, with a NUL, not much more of it than `most`: a process makes
 * its command line as long as it likes. NULL: it cannot be read, errno says why. */
static char *read_proc(uint32_t pid, const char *name, size_t most, size_t *len)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	VEC(char) text = { 0 };
	char path[64], *ret = NULL;
	ssize_t n = 1;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (n > 0 && text.len < most && vec_reserve(&text, (16 << 10) + 1)) {
		n = read(fd, text.data + text.len, 16 << 10);
		text.len += n > 0 ? (size_t)n : 0;
	}
	if (!n || (n > 0 && text.len >= most))
		ret = malloc(text.len + 1); /* what is large in a list is not malloc()'s */
	if (n >= 0 && !ret)
		sc_memory_refused();
	if (ret) {
		memcpy(ret, text.data, text.len);
		ret[text.len] = 0;
		*len = text.len;
	}
	vec_deinit(&text);
	return ret;
}

/* ---- what it is ----------------------------------------------------------------------------- */

/* Machine and word, by the program's file. SC_ESYS, SC_EUNSUPPORTED. */
static int read_program(struct symcache_core *core, struct sc_error *err)
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	uint8_t header[20] = { 0 };
	char path[40];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/exe", core->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, header, sizeof(header)) < 0)
		return sc_error_sys(err, "cannot read its program");
	core->private->is_64 = header[EI_CLASS] == ELFCLASS64;
	core->word = core->private->is_64 ? 8 : 4;
	core->machine = (uint16_t)get_number(header + 18, 2);
	return sc_core_stack_register(core) ? 0 :
	       sc_error_set(err, SC_EUNSUPPORTED, "a process of machine %u", core->machine);
}

static void read_texts(struct symcache_core *core)
{
	size_t len;
	char *text = read_proc(core->pid, "comm", MAX_TEXT, &len);

	if (text && len)
		memcpy(core->command, text, len - 1 < sizeof(core->command) - 1 ?
					    len - 1 : sizeof(core->command) - 1);
	free(text);
	text = read_proc(core->pid, "cmdline", sizeof(core->arguments), &len);
	len = text && len < sizeof(core->arguments) ? len : sizeof(core->arguments) - 1;
	for (size_t i = 0; text && i + 1 < len; i++)
		core->arguments[i] = text[i] ? text[i] : ' ';
	free(text);
}

static void read_auxv(struct symcache_core *core)
{
	struct symcache_core_private *p = core->private;
	const unsigned w = core->word;
	size_t len;
	char *pairs = read_proc(core->pid, "auxv", MAX_AUXV, &len);

	for (size_t at = 0; pairs && at + 2 * w <= len; at += 2 * w) {
		const uint64_t type = get_number((uint8_t *)pairs + at, w);

		if (type < sizeof(p->auxv) / sizeof(*p->auxv))
			p->auxv[type] = get_number((uint8_t *)pairs + at + w, w);
	}
	free(pairs);
}

/* False: out of memory. */
static bool add_row(struct symcache_core *core, char *line, char *end)
{
	struct symcache_core_private *p = core->private;
	struct mk_row row = { 0 };
	struct mapping *m;

	if (!mk_read_maps_row(line, end, &row) || row.start > INT64_MAX)
		return true;
	if (!sc_core_add_memory(core, (struct segment){ row.start, row.end, row.start,
			row.end - row.start, row.code ? PF_R | PF_X : PF_R }))
		return false;
	if (!row.path)
		return true;
	m = vec_push(&p->mappings);
	if (!m)
		return false;
	((char *)row.name.ptr)[row.name.len] = 0; /* of " (deleted)", or of the line's end */
	*m = (struct mapping){ row.start, row.end, row.offset, row.name.ptr };
	return true;
}

static int read_maps(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	size_t len;
	bool ok = true;

	p->file_note = read_proc(core->pid, "maps", MAX_MAPS, &len);
	if (!p->file_note)
		return sc_error_sys(err, "cannot read its maps");
	for (char *line = p->file_note, *newline; ok && line < p->file_note + len;
	     line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(p->file_note + len - line));
		newline = newline ? newline : p->file_note + len;
		ok = add_row(core, line, newline);
	}
	return ok && sc_core_order(&p->memory) ? 0 : sc_no_memory(err);
}

/* ---- threads -------------------------------------------------------------------------------- */

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

/* Keeps the used part of the stack that the thread stands on. False: out of memory. */
static bool copy_stack(struct symcache_core *core, uint64_t pointer)
{
	struct symcache_core_private *p = core->private;
	const uint64_t from = pointer > RED_ZONE ? (pointer - RED_ZONE) & ~7ull : 0;
	const struct segment *s = sc_core_find(&p->memory, from);
	size_t size = s && s->end - from < STACK_COPY ? (size_t)(s->end - from) : STACK_COPY;
	struct piece *piece;
	uint8_t *bytes;
	ssize_t n;

	size = size < p->keep_left ? size : (size_t)p->keep_left;
	if (!s || !size)
		return true;
	if (!(bytes = malloc(size)))
		return false;
	n = process_vm_readv((pid_t)core->pid, &(struct iovec){ bytes, size }, 1,
			     &(struct iovec){ (void *)(uintptr_t)from, size }, 1, 0);
	piece = n > 0 ? vec_push(&p->pieces) : NULL;
	if (!piece) {
		free(bytes);
		return n <= 0;
	}
	*piece = (struct piece){ from, (size_t)n, bytes };
	p->keep_left -= (size_t)n;
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
static bool read_thread(struct symcache_core *core, struct symcache_core_thread *t)
{
	uint8_t bytes[MAX_REGISTER_BYTES];
	struct iovec registers = { bytes, sizeof(bytes) };
	const unsigned sp = sc_core_stack_register(core);

	return ptrace(PTRACE_GETREGSET, (pid_t)t->tid, NT_PRSTATUS, &registers) ||
	       !sc_core_registers(core, bytes, registers.iov_len, &t->registers) ||
	       copy_stack(core, t->registers.value[sp]);
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
static bool take_thread(struct symcache_core *core, struct symcache_core_thread *t,
			struct patience *patience)
{
	struct symcache_core_thread *added;
	int signal = 0;
	bool ok;

	if (!wait_for_stop((pid_t)t->tid, patience, &signal))
		return true; /* it is let go when the thread ends that seized it */
	ok = read_thread(core, t);
	ptrace(PTRACE_DETACH, (pid_t)t->tid, NULL, (void *)(intptr_t)signal);
	added = ok ? vec_push(&core->private->threads) : NULL;
	if (!added)
		return false;
	*added = *t;
	return true;
}

struct tids {
	VEC(uint32_t) list;
};

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
static int list_threads(const struct symcache_core *core, struct tids *ret, struct sc_error *err)
{
	const struct dirent *entry;
	uint32_t *tid = NULL;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task", core->pid);
	dir = opendir(path);
	if (!dir)
		return sc_error_sys(err, "cannot list its threads");
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.') {
			if (!(tid = vec_push(&ret->list)))
				break;
			*tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		}
	closedir(dir);
	return entry && !tid ? sc_no_memory(err) : 0;
}

/* A few are made to stop together, as each takes a while. */
static bool take_threads(struct symcache_core *core, const struct tids *tids, int *error)
{
	struct symcache_core_thread threads[AT_ONCE];
	long left = ALL_STOP_MS;
	int failed[AT_ONCE];
	bool ok = true;

	for (size_t i = 0; ok && i < tids->list.len; i += AT_ONCE) {
		const size_t n = tids->list.len - i < AT_ONCE ? tids->list.len - i : AT_ONCE;
		struct patience patience = {
			.ms = left < LEAST_STOP_MS ? LEAST_STOP_MS : left < STOP_MS ? left : STOP_MS };

		for (size_t k = 0; k < n; k++) {
			failed[k] = stop_thread(core, tids->list.data[i + k], &threads[k]);
			*error = failed[k] ? failed[k] : *error;
		}
		clock_gettime(CLOCK_MONOTONIC, &patience.begin);
		for (size_t k = 0; k < n; k++)
			if (!failed[k] && !take_thread(core, &threads[k], &patience))
				ok = false; /* the others must go on, too */
		left -= patience.in_vain ? ms_since(patience.begin) : 0;
	}
	return ok;
}

struct taking {
	struct symcache_core *core;
	struct tids tids;
	int error;
	bool ok;
};

static void *run_taking(void *ctx)
{
	struct taking *t = ctx;

	t->ok = take_threads(t->core, &t->tids, &t->error);
	return NULL;
}

/* In a thread of its own: what does not stop in time cannot be detached, but would stop later; the
 * kernel lets it go when the thread ends that seized it. */
static int read_threads(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	struct taking t = { .core = core, .error = ESRCH };
	int rc = list_threads(core, &t.tids, err);
	pthread_t tracer;

	if (!rc && !pthread_create(&tracer, NULL, run_taking, &t))
		pthread_join(tracer, NULL);
	if (!rc && !t.ok)
		rc = sc_no_memory(err);
	vec_deinit(&t.tids.list);
	if (rc)
		return rc;
	if (!p->threads.len) {
		errno = t.error;
		return sc_error_sys(err, "cannot stop its threads");
	}
	p->num_sorted = p->pieces.len;
	return sort_threads(p->threads.data, p->threads.len) &&
	       sort_pieces(p->pieces.data, p->pieces.len) ? 0 : sc_no_memory(err);
}

/* ---- all ------------------------------------------------------------------------------------ */

static int read_process(struct symcache_core *core, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	char path[32];
	int rc;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/mem", core->pid);
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p->fd < 0)
		return sc_error_sys(err, "cannot read its memory");
	if ((rc = read_program(core, err)))
		return rc;
	read_texts(core);
	read_auxv(core);
	rc = read_threads(core, err);
	if (!rc)
		rc = sc_core_modules(core, err);
	if (!rc && !symcache_perf_map_of(core->pid, &p->jitted))
		rc = sc_no_memory(err);
	return rc;
}

int symcache_core_attach(uint32_t pid, struct symcache_core **ret, struct sc_error *err)
{
	struct symcache_core *core = sc_core_create(err);
	int rc = SC_ENOMEM;

	*ret = core;
	if (core) {
		core->pid = pid;
		core->private->file_size = UINT64_MAX;
		rc = read_maps(core, err);
		if (!rc)
			rc = read_process(core, err);
	}
	if (rc) {
		sc_error_prefix(err, "process %" PRIu32 ": ", pid);
		symcache_core_close(core);
		*ret = NULL;
	} else {
		sc_core_publish(core);
	}
	return rc;
}

const char *symcache_core_jitted(const struct symcache_core *core, uint64_t address)
{
	return symcache_perf_map_name(&core->private->jitted, address);
}
