/* What several tests need; included by tests and fuzz targets only. */
#ifndef SC_TESTING_H
#define SC_TESTING_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* A number in [0, n) that depends on the seed alone; the seed moves on. */
static inline uint32_t testing_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

/* With SEEDS=DIRECTORY in the environment, writes the bytes there: what tests make are seeds for
 * fuzzing. */
static inline void testing_seed(const void *data, size_t size)
{
	static unsigned number;
	const char *seeds = getenv("SEEDS");
	char name[512];
	FILE *out;

	if (!seeds)
		return;
	snprintf(name, sizeof(name), "%s/%s-%u", seeds, program_invocation_short_name, number++);
	out = fopen(name, "wb");
	if (!out || fwrite(data, 1, size, out) != size || fclose(out))
		abort();
}

/* A file in memory with these bytes, which are a seed, too: its descriptor; *path, by which it can
 * be opened, holds 32 bytes. */
static inline int testing_memfd(const void *data, size_t size, char path[32])
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	testing_seed(data, size);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static inline unsigned testing_open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Runs a shell command; its exit status, or −1. */
__attribute__((format(printf, 1, 2))) static inline int testing_run(const char *fmt, ...)
{
	char command[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

/* A scratch folder for a group of tests that look into the compiled programs: set up and
 * torn down as cmocka wants it. */
static char testing_dir[] = "/tmp/symcache_test.XXXXXX";

static inline int testing_set_up(void **state)
{
	(void)state;
	return mkdtemp(testing_dir) && !testing_run("scripts/testprogs.sh build/testprogs") ? 0 :
											      -1;
}

static inline int testing_tear_down(void **state)
{
	(void)state;
	return testing_run("rm -rf %s", testing_dir);
}

#endif
