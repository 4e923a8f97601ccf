/*
 * fail_at.c: the n-th call of a kind fails, for programs that are run with it in LD_PRELOAD.
 *
 *   FAIL=KIND       what is counted, while main() runs:
 *                   alloc   malloc(), calloc(), realloc(), posix_memalign(), mmap()
 *                   writes  write(), pwrite(), writev(), pwritev(), fallocate(), to regular files
 *                   syncs   fsync(), fdatasync(), msync()
 *                   or the name of one of these, or of close(), ftruncate(), pread(), read(),
 *                   rename()
 *   FAIL_AT=N       the call that fails, from 1
 *   FAIL_ON=1       all behind it fail as well: a disk that is full
 *   FAIL_SHORT=1    the N-th is a write that is cut short instead, if it makes the file longer,
 *                   as a disk does that fills up
 *   FAIL_ERRNO=E    default: ENOMEM for alloc, ENOSPC for writes, EIO
 *   FAIL_SEEN=FILE  is made by the call that fails: without it, N was too large
 *
 *   cc -shared -fPIC -D_GNU_SOURCE -o fail_at.so fail_at.c -ldl
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static const char *kind, *seen;
static long at;
static int error;
static bool on, cut_short;
static atomic_long count;
static _Thread_local bool spared;

typedef int main_fn(int, char **, char **);
static main_fn *its_main;

/* What runs behind main() is not the program's: it may write what gcov has counted. */
void exit(int status)
{
	void (*real)(int) __attribute__((noreturn)) = (__typeof__(real))dlsym(RTLD_NEXT, "exit");

	at = 0;
	real(status);
}

static int run_main(int argc, char **argv, char **env)
{
	exit(its_main(argc, argv, env));
}

/* Counting begins here: constructors of libraries are not ours. */
int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack)
{
	int (*real)(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void),
		    void *) = (__typeof__(real))dlsym(RTLD_NEXT, "__libc_start_main");
	const char *e = getenv("FAIL_ERRNO"), *n = getenv("FAIL_AT");

	kind = getenv("FAIL");
	seen = getenv("FAIL_SEEN");
	on = getenv("FAIL_ON");
	cut_short = getenv("FAIL_SHORT");
	at = kind && n ? atol(n) : 0;
	error = e ? atoi(e) : !at ? 0 : !strcmp(kind, "alloc") ? ENOMEM :
		!strcmp(kind, "writes") ? ENOSPC : EIO;
	its_main = main;
	return real(run_main, argc, argv, init, fini, rtld_fini, stack);
}

static bool fails(const char *group, const char *name)
{
	long n;

	if (!at || spared || (strcmp(kind, group) && strcmp(kind, name)))
		return false;
	n = ++count;
	if (n == at && seen)
		syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, seen, O_CREAT | O_WRONLY, 0600));
	if (n == at || (on && n > at))
		errno = error;
	return n == at || (on && n > at);
}

/* ---- memory ------------------------------------------------------------------------------ */

void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
	return fails("alloc", "malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails("alloc", "calloc") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails("alloc", "realloc") ? NULL : __libc_realloc(p, size);
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p = fails("alloc", "posix_memalign") ? NULL : __libc_memalign(alignment, size);

	if (!p)
		return ENOMEM;
	*ret = p;
	return 0;
}

void *mmap(void *where, size_t size, int prot, int flags, int fd, off_t offset)
{
	return fails("alloc", "mmap") ? MAP_FAILED :
		(void *)syscall(SYS_mmap, where, size, prot, flags, fd, offset);
}

/* glibc's fts_open() uses what it did not get: that is not ours to mend. */
FTS *fts_open(char *const *paths, int options, int (*compare)(const FTSENT **, const FTSENT **))
{
	REAL(fts_open);
	FTS *ret;

	spared = true;
	ret = real(paths, options, compare);
	spared = false;
	return ret;
}

/* ---- writes ------------------------------------------------------------------------------ */

/* How much of `size` bytes is written at offset `to`: none, if it fails. */
static size_t room(const char *name, int fd, size_t size, off_t to)
{
	struct stat st;

	if (!at || fstat(fd, &st) || !S_ISREG(st.st_mode) || !fails("writes", name))
		return size;
	return count == at && cut_short && to >= st.st_size ? size / 2 : 0;
}

ssize_t write(int fd, const void *data, size_t size)
{
	REAL(write);

	return size && !(size = room("write", fd, size, lseek(fd, 0, SEEK_CUR))) ? -1 :
		real(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t to)
{
	REAL(pwrite);

	return size && !(size = room("pwrite", fd, size, to)) ? -1 : real(fd, data, size, to);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t to)
{
	REAL(pwrite64);

	return size && !(size = room("pwrite", fd, size, to)) ? -1 : real(fd, data, size, to);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	REAL(writev);

	return room("writev", fd, 2, -1) < 2 ? -1 : real(fd, parts, n);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t to)
{
	REAL(pwritev);

	return room("pwritev", fd, 2, -1) < 2 ? -1 : real(fd, parts, n, to);
}

int fallocate(int fd, int mode, off_t to, off_t size)
{
	REAL(fallocate);

	return room("fallocate", fd, 2, -1) < 2 ? -1 : real(fd, mode, to, size);
}

/* ---- others ------------------------------------------------------------------------------ */

#define WRAPPED(type, name, group, parameters, ...) \
	type name parameters \
	{ \
		REAL(name); \
		return fails(group, #name) ? -1 : real(__VA_ARGS__); \
	}

WRAPPED(int, fsync, "syncs", (int fd), fd)
WRAPPED(int, fdatasync, "syncs", (int fd), fd)
WRAPPED(int, msync, "syncs", (void *p, size_t size, int flags), p, size, flags)
WRAPPED(int, close, "", (int fd), fd)
WRAPPED(int, ftruncate, "", (int fd, off_t size), fd, size)
WRAPPED(int, rename, "", (const char *from, const char *to), from, to)
WRAPPED(ssize_t, read, "", (int fd, void *to, size_t size), fd, to, size)
WRAPPED(ssize_t, pread, "", (int fd, void *to, size_t size, off_t from), fd, to, size, from)
WRAPPED(ssize_t, pread64, "", (int fd, void *to, size_t size, off64_t from), fd, to, size, from)
