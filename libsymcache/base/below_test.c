/* Unit tests of files below a folder: no link leads out of it, whoever makes one. */
#include "libsymcache/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/folder_test.h"

/* The number of the next file that is opened: it tells of files that were left open. */
static int next_descriptor(void)
{
	const int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
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
	const int next = next_descriptor();
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
	assert_int_equal(sc_folder_below(at("out/../f"), below, false, &name, &err), -1);
	assert_int_equal(err.code, SC_EINVAL);
	assert_non_null(strstr(err.msg, "out/../f leads outside its folder"));
	assert_int_equal(sc_folder_below(at("out/none/f"), below, false, &name, &err), -1);
	assert_string_equal(strchr(err.msg, ':') + 2, strerror(ENOENT));
	assert_int_equal(strncmp(err.msg, "cannot open /tmp/", 17), 0);
	assert_int_equal(sc_folder_below("/proc/none/f", 5, true, &name, &err), -1);
	assert_int_equal(strncmp(err.msg, "cannot make the directory /proc/none: ", 38), 0);
	/* The folder itself may be a link, but one that leads somewhere. */
	assert_int_equal(symlink("link", at("real/link2")) | rename(at("real/link2"), at("link")), 0);
	assert_int_equal(sc_folder_below(at("link/f"), strlen(at("link")), false, &name, &err), -1);
	assert_int_equal(err.code, SC_ESYS);
	assert_int_equal(unlink(at("link")), 0);
	assert_int_equal(sc_stat_below(at("out/link"), below, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(sc_remove_below(at("out/link"), below), 0);
	assert_int_equal(sc_remove_below(at("out/a/b/f"), below), 0);
	assert_int_equal(rmdir(at("real/a/b")) | rmdir(at("real/a")), 0);
	assert_int_equal(rmdir(at("real")) | unlink(at("out")), 0);
	assert_int_equal(next_descriptor(), next);
}

/* What a folder has; errno says why nothing is to be had. */
static void test_entries(void **state)
{
	const int next = next_descriptor();
	const struct dirent *e;
	unsigned found = 0;
	DIR *d = sc_folder_entries(sc_open_below(at(""), strlen(folder)));

	(void)state;
	assert_non_null(d);
	assert_int_equal(sc_replace_file(at("f"), "x", 1, NULL), 0);
	while ((e = readdir(d)))
		found += !strcmp(e->d_name, "f");
	assert_int_equal(found, 1);
	assert_int_equal(closedir(d), 0);
	errno = EXDEV;
	assert_null(sc_folder_entries(-1));
	assert_int_equal(errno, EXDEV);
	assert_null(sc_folder_entries(open(at("f"), O_RDONLY)));
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(next_descriptor(), next);
}

static pthread_barrier_t together;
enum { AT_ONCE = 4, FOLDERS = 200 };

static void *make_folders(void *failed)
{
	for (int i = 0; i < FOLDERS; i++) {
		const char *name;
		char path[150];
		int fd;

		snprintf(path, sizeof(path), "%s/many/%d/a/b/f", folder, i);
		pthread_barrier_wait(&together);
		fd = sc_folder_below(path, strlen(folder), true, &name, NULL);
		__atomic_fetch_add((int *)failed, fd < 0, __ATOMIC_SEQ_CST);
		close(fd);
	}
	return NULL;
}

/* Several may make the same folder at once. */
static void test_same_folder(void **state)
{
	pthread_t threads[AT_ONCE];
	int failed = 0;

	(void)state;
	pthread_barrier_init(&together, NULL, AT_ONCE);
	for (int i = 0; i < AT_ONCE; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_folders, &failed), 0);
	for (int i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&together);
	assert_int_equal(failed, 0);
	assert_int_equal(testing_run("rm -r %s/many", folder), 0);
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
		cmocka_unit_test(test_names),	     cmocka_unit_test(test_below),   cmocka_unit_test(test_entries),
		cmocka_unit_test(test_same_folder),  cmocka_unit_test(test_make_parents),
		cmocka_unit_test(test_longest),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
