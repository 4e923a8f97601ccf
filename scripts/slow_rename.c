/*
 * slow_rename.c: pauses before files get their names, for programs that are run with it in
 * LD_PRELOAD: so a test can kill them there, or have two at work at once.
 *
 *   SYMCACHE_TEST_SLOW=SECONDS   how long
 *   SLOW_NAME=TEXT               if the new name has it in it (default: every one)
 *   SLOW_LOG=FILE                "PID NAME" goes there when a pause begins
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void pause_for(const char *to)
{
	const char *seconds = getenv("SYMCACHE_TEST_SLOW"), *name = getenv("SLOW_NAME");
	const char *log = getenv("SLOW_LOG");

	if (seconds && (!name || strstr(to, name))) {
		const double s = atof(seconds);
		struct timespec left = { (time_t)s, (long)((s - (double)(time_t)s) * 1e9) };
		char line[9000];
		const int len = snprintf(line, sizeof(line), "%d %s\n", (int)getpid(), to);
		const int fd = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) :
				     -1;

		if (fd >= 0) {
			(void)!write(fd, line, (size_t)len);
			close(fd);
		}
		while (nanosleep(&left, &left))
			;
	}
}

int rename(const char *from, const char *to)
{
	__typeof__(&rename) real = (__typeof__(&rename))dlsym(RTLD_NEXT, "rename");

	pause_for(to);
	return real(from, to);
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	__typeof__(&renameat) real = (__typeof__(&renameat))dlsym(RTLD_NEXT, "renameat");
	char dir[40], path[8200];
	ssize_t len;

	snprintf(dir, sizeof(dir), "/proc/self/fd/%d", to_dir);
	len = readlink(dir, path, 4096);
	if (len < 0)
		len = 0;
	snprintf(path + len, sizeof(path) - (size_t)len, "/%s", to);
	pause_for(path);
	return real(from_dir, from, to_dir, to);
}
