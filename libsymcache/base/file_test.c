/* Unit tests of output files: whole or not at all, whatever stands in their place. */
#include "libsymcache/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/folder_test.h"

static void test_replace(void **state)
{
	struct sc_error err;
	struct stat st;

	(void)state;
	umask(027);
	assert_int_equal(sc_replace_file(at("f"), "one", 3, &err), 0);
	assert_int_equal(stat(at("f"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(symlink("f", at("link")), 0);
	assert_int_equal(sc_replace_file(at("link"), "two", 3, &err), 0);
	assert_content(at("f"), "two");
	assert_int_equal(lstat(at("link"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

/* Writes a byte into a device of our own, where one can be made: nothing happens to the machine's. Says what
 * the write gave; 1: there is none. */
static int write_to_device(const char *like)
{
	char path[128];
	struct sc_error err;
	struct stat st;
	int rc = 1;

	strcpy(path, at("device"));
	if (!stat(like, &st) && !mknod(path, S_IFCHR | 0666, st.st_rdev) && !access(path, W_OK)) {
		rc = sc_replace_file(path, "x", 1, &err);
		assert_int_equal(stat(path, &st), 0);
		assert_true(S_ISCHR(st.st_mode));
	}
	unlink(path);
	return rc;
}

/* What is not a file is written into, and stays what it is. */
static void test_device(void **state)
{
	const int reader = mkfifo(at("fifo"), 0600) ? -1 : open(at("fifo"), O_RDWR),
		  null = write_to_device("/dev/null"), full = write_to_device("/dev/full");
	struct sc_error err;
	struct stat st;
	char got[10] = "";

	(void)state;
	assert_true(null == 0 || null == 1);
	assert_true(full == SC_EFULL || full == 1);
	assert_int_equal(sc_replace_file(at("fifo"), "xyz", 3, &err), 0);
	assert_int_equal(read(reader, got, sizeof(got)), 3);
	assert_string_equal(got, "xyz");
	close(reader);
	assert_int_equal(stat(at("fifo"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	unlink(at("fifo"));
}

/* Until it is committed the old file is there, and after discarding, too. */
static void test_unfinished(void **state)
{
	struct sc_new_file f, g;
	struct sc_error err;

	(void)state;
	assert_int_equal(sc_replace_file(at("f"), "old", 3, &err), 0);
	assert_int_equal(sc_new_file_open(at("f"), true, &f, &err), 0);
	assert_int_equal(sc_new_file_open(at("f"), true, &g, &err), 0);
	assert_int_equal(sc_write_all(f.fd, "new", 3), 0);
	assert_content(at("f"), "old");
	/* PATH.XXXXXXXX, which nobody mistakes for the file */
	assert_int_equal(strspn(f.temp->name + strlen(at("f")), ".0123456789abcdef"), 9);
	assert_int_equal(strlen(f.temp->name), strlen(at("f")) + 9);
	sc_new_file_discard(&g);
	sc_new_file_discard(&g);
	assert_int_equal(sc_new_file_commit(&f, &err), 0);
	assert_content(at("f"), "new");
	assert_int_equal(f.fd, -1);
}

/* As a signal handler does it; more files than are known are no harm. */
static void test_killed(void **state)
{
	struct sc_new_file f[134];
	struct sc_error err;
	size_t left = 0;

	(void)state;
	for (size_t i = 0; i < 134; i++)
		assert_int_equal(sc_new_file_open(at("f"), true, &f[i], &err), 0);
	sc_new_files_remove();
	for (size_t i = 0; i < 134; i++)
		left += !access(f[i].temp->name, F_OK);
	assert_int_equal(left, 6);
	for (size_t i = 0; i < 134; i++) {
		struct sc_unfinished *taken = i < 128 ? f[i].temp : NULL;

		sc_new_file_discard(&f[i]);
		free(taken);
	}
}

static void test_refused(void **state)
{
	struct sc_new_file f;
	struct sc_error err;
	char path[128];

	(void)state;
	assert_int_equal(sc_replace_file(at("none/f"), "x", 1, &err), SC_ESYS);
	assert_non_null(strstr(err.msg, "cannot write /tmp/file_test."));
	assert_int_equal(sc_new_file_open(at("none/f"), true, &f, &err), SC_ESYS);
	sc_new_file_discard(&f);
	assert_int_equal(sc_replace_file(at("f"), "x", 1, &err), 0);
	strcpy(path, at("f/deep/g"));
	assert_int_equal(sc_make_parents(path, &err), SC_ESYS);
	assert_string_equal(path, at("f/deep/g"));
}

/* Over a folder nothing is written, and nothing is left. */
static void test_over_a_folder(void **state)
{
	struct sc_new_file f;
	struct sc_error err;

	(void)state;
	assert_int_equal(mkdir(at("d"), 0775), 0);
	for (int first = 0; first < 2; first++) {
		char temporary[300];

		assert_int_equal(sc_new_file_open(at("d"), false, &f, &err), 0);
		strcpy(temporary, f.temp->name);
		assert_int_equal(access(temporary, F_OK), 0);
		/* The first one's stays, also where it is a folder. */
		assert_int_equal(first ? sc_new_file_commit_first(&f, &err) : sc_new_file_commit(&f, &err),
				 first ? 0 : SC_ESYS);
		assert_int_equal(access(temporary, F_OK), -1);
	}
	assert_non_null(strstr(err.msg, "cannot rename to /tmp/file_test."));
	assert_int_equal(sc_new_file_open(at("g"), false, &f, &err), 0);
	assert_int_equal(sc_new_file_end(&f, SC_ELIMIT, &err), SC_ELIMIT);
	assert_int_equal(access(at("g"), F_OK), -1);
	assert_int_equal(rmdir(at("d")), 0);
}

static void test_nameless(void **state)
{
	struct iovec pieces[] = { { "one ", 4 }, { "", 0 }, { "two", 3 } };
	char got[20] = "", *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
	struct stat st;
	const int fd = sc_nameless_file(folder);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(sc_write_pieces(fd, pieces, 3), 0);
	assert_int_equal(pread(fd, got, sizeof(got), 0), 7);
	assert_string_equal(got, "one two");
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(sc_write_pieces(-1, pieces, 3), -1);
	close(fd);
	assert_int_equal(sc_nameless_file(at("none")), -1);
	unsetenv("TMPDIR");
	assert_string_equal(sc_temp_folder(), "/var/tmp");
	setenv("TMPDIR", "/x", true);
	assert_string_equal(sc_temp_folder(), "/x");
	if (before)
		setenv("TMPDIR", before, true);
	else
		unsetenv("TMPDIR");
	free(before);
	assert_true(sc_same_file(folder, at(".")));
	assert_false(sc_same_file(folder, "/"));
	assert_false(sc_same_file(folder, at("none")));
	assert_false(sc_same_file(at("none"), at("none")));
}

/* Also a program without standard input writes, and discards, by a file of this number. */
static void test_without_input(void **state)
{
	const struct iovec piece = { (char *)"x", 1 };
	const int input = dup(0), reader = mkfifo(at("fifo"), 0600) ? -1 : open(at("fifo"), O_RDWR);
	struct sc_new_file f;

	(void)state;
	close(0);
	assert_int_equal(sc_replace_file_by(at("fifo"), &piece, 1, NULL), 0);
	assert_int_equal(sc_replace_file_by(at("f"), &piece, 1, NULL), 0);
	assert_content(at("f"), "x");
	unlink(at("f"));
	assert_int_equal(sc_new_file_open(at("f"), true, &f, NULL), 0);
	assert_int_equal(f.fd, 0);
	sc_new_file_discard(&f);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	close(reader);
	unlink(at("fifo"));
	if (input >= 0) {
		dup2(input, 0);
		close(input);
	}
}

static void *make_another(void *ctx)
{
	struct sc_new_file f;
	struct sc_error err;

	(void)ctx;
	sc_new_file_open(at("late"), true, &f, &err);
	return NULL;
}

/* A program that is about to end leaves no new file, and none of its threads makes one any more. */
static void test_ending(void **state)
{
	int status;
	pid_t child;

	(void)state;
	child = fork();
	if (!child) {
		struct sc_new_file f;
		struct sc_error err;
		pthread_t thread;

		if (sc_new_file_open(at("f"), true, &f, &err) || access(f.temp->name, F_OK))
			_exit(1);
		sc_new_files_end();
		if (!access(f.temp->name, F_OK) || pthread_create(&thread, NULL, make_another, NULL))
			_exit(2);
		usleep(20000); /* it waits for ever: also where it begins late, nothing fails */
		_exit(testing_run("ls %s/late.* 2>/dev/null", folder) ? 0 : 3);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void *drain(void *pipe)
{
	uint8_t bytes[4096];
	const int fd = *(int *)pipe;
	size_t n = 0;

	usleep(20000);
	for (ssize_t got; (got = read(fd, bytes, sizeof(bytes))) > 0;)
		for (ssize_t i = 0; i < got; i++)
			n += bytes[i] == n % 251; /* each in its place */
	return (void *)n;
}

/* All is written, also to a pipe that is full, and where signals come meanwhile. */
static void test_interrupted(void **state)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction interrupt = { .sa_handler = on_alarm }; /* without SA_RESTART */
	enum { SIZE = 300000 };
	uint8_t *bytes = calloc(1, SIZE);
	struct sigaction before;
	sigset_t alarms;
	pthread_t reader;
	int fds[2];
	void *got;

	(void)state;
	for (size_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(i % 251);
	assert_int_equal(pipe(fds), 0);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* of the reader, too */
	assert_int_equal(pthread_create(&reader, NULL, drain, &fds[0]), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	sigaction(SIGALRM, &interrupt, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(sc_write_all(fds[1], bytes, SIZE), 0);
	assert_int_equal(sc_write_all(fds[1], bytes + SIZE % 251, 1), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	close(fds[1]);
	pthread_join(reader, &got);
	assert_int_equal((size_t)got, SIZE + 1);
	close(fds[0]);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_input), cmocka_unit_test(test_replace), cmocka_unit_test(test_device),
		cmocka_unit_test(test_unfinished), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_over_a_folder),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_ending), cmocka_unit_test(test_interrupted),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
