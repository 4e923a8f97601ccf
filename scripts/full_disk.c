/*
 * full_disk.c: a disk that is full from the n-th write on, for programs that are run
 * with it in LD_PRELOAD.
 *
 *   FULL_AT=N     writes to regular files fail with ENOSPC from the N-th on (from 1)
 *   FULL_SHORT=1  the N-th is cut short instead, if it makes the file longer, as a disk
 *                 does that fills up
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* How much of `size` bytes there is room for at offset `to`. */
static size_t room(int fd, size_t size, off_t to)
{
	static long at, count;
	struct stat st;

	if (!at)
		at = getenv("FULL_AT") ? atol(getenv("FULL_AT")) : -1;
	if (at < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || ++count < at)
		return size;
	return count == at && getenv("FULL_SHORT") && to >= st.st_size ? size / 2 : 0;
}

static long full(void)
{
	errno = ENOSPC;
	return -1;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *data, size_t size)
{
	REAL(write);

	return size && !(size = room(fd, size, lseek(fd, 0, SEEK_CUR))) ? full() :
									  real(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	REAL(pwrite);

	return size && !(size = room(fd, size, at)) ? full() : real(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
	REAL(pwrite64);

	return size && !(size = room(fd, size, at)) ? full() : real(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int n)
{
	REAL(writev);

	return room(fd, 2, -1) < 2 ? full() : real(fd, parts, n);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t at)
{
	REAL(pwritev);

	return room(fd, 2, -1) < 2 ? full() : real(fd, parts, n, at);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
	REAL(fallocate);

	return room(fd, 2, -1) < 2 ? (int)full() : real(fd, mode, at, size);
}
