/* Output files where the system cannot do what it was asked: what was written may not be there if close()
 * fails, and file systems without O_TMPFILE have nameless files, too. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/file.h"
#include "libsymcache/base/testing.h"

static bool no_close, no_sync, no_nameless;

/* These come before those of libc. */
int close(int fd)
{
	const int rc = (int)syscall(SYS_close, fd);

	if (!no_close)
		return rc;
	errno = EIO;
	return -1;
}

int fsync(int fd)
{
	if (!no_sync)
		return (int)syscall(SYS_fsync, fd);
	errno = EDQUOT;
	return -1;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (!no_nameless || (flags & O_TMPFILE) != O_TMPFILE)
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	errno = EOPNOTSUPP;
	return -1;
}

static const char *at(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", testing_dir, name);
	return path;
}

static void test_output(void **state)
{
	struct sc_error err;
	char want[300], pipe_name[200];
	int reader, rc;

	(void)state;
	strcpy(pipe_name, at("pipe"));
	assert_int_equal(mkfifo(pipe_name, 0600), 0);
	reader = open(pipe_name, O_RDWR);
	assert_int_equal(sc_replace_file(at("f"), "old", 3, &err), 0);
	for (int i = 0; i < 3; i++) {
		const char *path = i < 2 ? at("f") : pipe_name;

		no_close = i != 1;
		no_sync = i == 1;
		rc = sc_replace_file(path, "new", 3, &err);
		no_close = no_sync = false;
		assert_int_equal(rc, i == 1 ? SC_EFULL : SC_ESYS);
		snprintf(want, sizeof(want), "cannot write %s: %s", path, strerror(i == 1 ? EDQUOT : EIO));
		assert_string_equal(err.msg, want);
		/* The old one is there, and nothing else. */
		assert_int_equal(testing_run("cd %s && [ \"$(cat f)\" = old ] && [ \"$(echo *)\" = 'f pipe' ]", testing_dir), 0);
	}
	/* What was found first is said. */
	no_close = no_sync = true;
	assert_int_equal(sc_replace_file(at("f"), "new", 3, &err), SC_EFULL);
	no_close = no_sync = false;
	close(reader);
	unlink(pipe_name);
	unlink(at("f"));
}

static void test_nameless(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct stat st;
		char got[4] = "";
		int fd;

		no_nameless = i;
		fd = sc_nameless_file(testing_dir);
		assert_true(fd >= 0);
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(write(fd, "abc", 3), 3);
		assert_int_equal(pread(fd, got, 3, 0), 3);
		assert_string_equal(got, "abc");
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_nlink, 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		close(fd);
		assert_int_equal(sc_nameless_file("/nonexistent"), -1);
		assert_int_equal(errno, ENOENT);
	}
	no_nameless = false;
	assert_int_equal(testing_run("[ -z \"$(ls -A %s)\" ]", testing_dir), 0);
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(testing_dir) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_output), cmocka_unit_test(test_nameless) };

	return cmocka_run_group_tests(tests, make_folder, testing_tear_down);
}
