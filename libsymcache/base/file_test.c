/* Unit tests of output files: whole or not at all, whatever stands in their place. */
#include "libsymcache/base/below.h"
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

#include "libsymcache/base/testing.h"

static char folder[] = "/tmp/file_test.XXXXXX";

static const char *at(const char *name)
{
	static char path[4][128];
	static size_t next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static void assert_content(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	got[fread(got, 1, sizeof(got) - 1, f)] = 0;
	fclose(f);
	assert_string_equal(got, text);
}

static int make_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder);
}

/* No test leaves an unfinished file behind: the folder is empty after it. */
static int remove_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		unlink(at((const char *[]){ "f", "link", "fifo" }[i]));
	return rmdir(folder);
}

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

static void test_device(void **state)
{
	struct sc_error err;
	struct stat st;

	(void)state;
	assert_int_equal(sc_replace_file("/dev/null", "x", 1, &err), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	if (!access("/dev/full", W_OK))
		assert_int_equal(sc_replace_file("/dev/full", "x", 1, &err), SC_EFULL);
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

/* Names that are too long for a file system, or lead nowhere. */
static void test_names(void **state)
{
	char path[PATH_MAX + 200];
	const size_t below = strlen(folder);
	const char *name;
	struct sc_error err;

	(void)state;
	strcpy(path, folder);
	memset(path + below, 'a', PATH_MAX);
	path[below] = '/';
	strcpy(path + below + PATH_MAX, "/f");
	assert_int_equal(sc_folder_below(path, below, true, &name, &err), -1);
	assert_int_equal(err.code, SC_ESYS);
	assert_int_equal(errno, ENAMETOOLONG);
	errno = 0;
	assert_int_equal(sc_folder_below(path, below + PATH_MAX, true, &name, &err), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	/* In the folder itself: a name that ends with a slash is the folder. */
	assert_int_equal(close(sc_open_below(at("/"), below)), 0);
	assert_int_equal(sc_open_below(at(".."), below), -1);
	assert_int_equal(sc_open_below(at("..."), below), -1);
	assert_int_equal(sc_open_below(at("none"), below), -1);
	assert_int_equal(sc_remove_below(at("none"), below), -1);
	/* Missing folders in front of it are made, too. */
	assert_int_equal(close(sc_folder_below(at("a/b/c/f"), strlen(at("a/b")), true, &name, &err)), 0);
	assert_string_equal(name, "f");
	assert_int_equal(rmdir(at("a/b/c")) | rmdir(at("a/b")) | rmdir(at("a")), 0);
}

/* Below a folder no link is followed, to that folder they are. */
static void test_below(void **state)
{
	const size_t below = strlen(at("out"));
	const char *name;
	struct sc_new_file f;
	struct sc_error err;
	struct stat st;

	(void)state;
	assert_int_equal(mkdir(at("real"), 0775) | symlink("real", at("out")), 0);
	assert_int_equal(sc_new_file_below(at("out/a/b/f"), below, &f, &err), 0);
	assert_int_equal(sc_write_all(f.fd, "new", 3), 0);
	assert_int_equal(sc_new_file_commit(&f, &err), 0);
	assert_content(at("real/a/b/f"), "new");
	assert_int_equal(sc_stat_below(at("out/a/b/f"), below, &st), 0);
	/* The first one's stays. */
	assert_int_equal(sc_new_file_below(at("out/a/b/f"), below, &f, &err), 0);
	assert_int_equal(sc_new_file_commit_first(&f, &err), 0);
	assert_content(at("real/a/b/f"), "new");
	/* A folder that is a link: to one that others have, or within. */
	assert_int_equal(symlink("a", at("real/link")), 0);
	assert_int_equal(sc_new_file_below(at("out/link/b/f"), below, &f, &err), SC_EINVAL);
	assert_non_null(strstr(err.msg, "/out/link is a link, which is not followed"));
	assert_int_equal(sc_new_file_below(at("out/link/f"), below, &f, &err), SC_EINVAL);
	assert_int_equal(sc_open_below(at("out/link/b/f"), below), -1);
	assert_int_equal(sc_open_below(at("out/link/"), below), -1);
	assert_int_equal(sc_stat_below(at("out/link/b/f"), below, &st), -1);
	assert_int_equal(sc_remove_below(at("out/link/b/f"), below), -1);
	assert_int_equal(sc_new_file_below(at("out/a/../../g"), below, &f, &err), SC_EINVAL);
	assert_int_equal(sc_folder_below(at("out/none/f"), below, false, &name, &err), -1);
	assert_int_equal(sc_stat_below(at("out/link"), below, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(sc_remove_below(at("out/link"), below), 0);
	assert_int_equal(sc_remove_below(at("out/a/b/f"), below), 0);
	assert_int_equal(rmdir(at("real/a/b")) | rmdir(at("real/a")), 0);
	assert_int_equal(rmdir(at("real")) | unlink(at("out")), 0);
}

static void test_make_parents(void **state)
{
	struct sc_error err;
	char path[128];

	(void)state;
	strcpy(path, at("a/b/c"));
	assert_int_equal(sc_make_parents(path, &err), 0);
	assert_int_equal(sc_make_parents(path, &err), 0);
	assert_int_equal(rmdir(at("a/b")), 0);
	assert_int_equal(rmdir(at("a")), 0);
}

/* Also a program without standard input writes, by a file of this number. */
static void test_without_input(void **state)
{
	const struct iovec piece = { (char *)"x", 1 };
	const int input = dup(0);

	(void)state;
	close(0);
	assert_int_equal(sc_replace_file_by("/dev/null", &piece, 1, NULL), 0);
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
	char bytes[4096];
	const int fd = *(int *)pipe;
	size_t n = 0;

	usleep(20000);
	for (ssize_t got; (got = read(fd, bytes, sizeof(bytes))) > 0;)
		n += (size_t)got;
	return (void *)n;
}

/* All is written, also to a pipe that is full, and where signals come meanwhile. */
static void test_interrupted(void **state)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0, 0 }, { 0, 0 } };
	const struct sigaction interrupt = { .sa_handler = on_alarm }; /* without SA_RESTART */
	enum { SIZE = 300000 };
	char *bytes = calloc(1, SIZE);
	struct sigaction before;
	sigset_t alarms;
	pthread_t reader;
	int fds[2];
	void *got;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* of the reader, too */
	assert_int_equal(pthread_create(&reader, NULL, drain, &fds[0]), 0);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	sigaction(SIGALRM, &interrupt, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(sc_write_all(fds[1], bytes, SIZE), 0);
	assert_int_equal(sc_write_all(fds[1], bytes, 1), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	close(fds[1]);
	pthread_join(reader, &got);
	assert_int_equal((size_t)got, SIZE + 1);
	close(fds[0]);
	free(bytes);
}

/* The longest path of a folder that is read, and one that is a byte longer. */
static void test_longest(void **state)
{
	char path[PATH_MAX + 10] = "/";
	const char *name;
	struct sc_error err;

	(void)state;
	while (strlen(path) + 2 < PATH_MAX)
		strcat(path, "./");
	if (strlen(path) < PATH_MAX - 1)
		strcat(path, "/");
	assert_int_equal(strlen(path), PATH_MAX - 1);
	strcat(path, "/etc");
	assert_int_equal(close(sc_folder_below(path, PATH_MAX - 2, false, &name, &err)), 0);
	assert_int_equal(sc_folder_below(path, PATH_MAX - 1, false, &name, &err), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_input), cmocka_unit_test(test_replace), cmocka_unit_test(test_device),
		cmocka_unit_test(test_unfinished), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_make_parents),
		cmocka_unit_test(test_below), cmocka_unit_test(test_over_a_folder),
		cmocka_unit_test(test_nameless), cmocka_unit_test(test_names),
		cmocka_unit_test(test_ending), cmocka_unit_test(test_interrupted), cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
