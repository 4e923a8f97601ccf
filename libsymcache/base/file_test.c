/* Unit tests of output files: whole or not at all, whatever stands in their place. */
#include "libsymcache/base/below.h"
#include "libsymcache/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replace), cmocka_unit_test(test_device),
		cmocka_unit_test(test_unfinished), cmocka_unit_test(test_killed),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_make_parents),
		cmocka_unit_test(test_below),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
