/*
 * Which logs there are and where their outputs go: a log that is left out, or written over
 * another's output, is lost without a word.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/logs/logs.h"

static char said[2000];

static void fault(void *ctx, const char *message)
{
	(void)ctx;
	strcat(strcat(said, message), "; ");
}

static bool untyped; /* like a file system that does not say of what type an entry is */

struct dirent *readdir(DIR *d)
{
	struct dirent *(*of_libc)(DIR *), *e;

	*(void **)&of_libc = dlsym(RTLD_NEXT, "readdir");
	e = of_libc(d);
	if (e && untyped)
		e->d_type = DT_UNKNOWN;
	return e;
}

/* Replaces the scratch folder by "DIR". */
static const char *plain(char *text)
{
	const size_t len = strlen(testing_dir);

	for (char *at; (at = strstr(text, testing_dir));) {
		memcpy(at, "DIR", 3);
		memmove(at + 3, at + len, strlen(at + len) + 1);
	}
	return text;
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(testing_dir) || chdir(testing_dir) ||
	       testing_run("mkdir -p in/sub in/.symcache in/sub/.symcache out other && echo 12345 > in/b && : > in/a && "
			   "cp in/b in/a.gz && cp in/b in/sub/a && cp in/b in/.symcache/x && cp in/b in/sub/.symcache/y && "
			   "cp in/b out/made && cp in/b other/a && ln -s b in/link && ln -s sub in/folder && "
			   "mkfifo in/pipe && cp in/b in/c.zst && cp in/b in/c.txt && mkdir third && cp in/b third/.symcache");
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || testing_run("rm -r %s", testing_dir);
}

static void test_outputs(void **state)
{
	static const struct {
		const char *paths[3]; /* "A" in front: an absolute one */
		bool alone;
		const char *dir, *suffix, *except;
		const char *logs, *outputs, *said;
	} cases[] = {
		/* A folder by itself: outputs have its inner folders. Links and .symcache are none. */
		{ { "in" }, true, "out", NULL, NULL, "in/a in/a.gz in/b in/c.txt in/c.zst in/sub/a ",
		  "out/a.json - out/b.json out/c.txt.json out/c.json out/sub/a.json ",
		  "in: 2 symbolic links left out; in/a and in/a.gz would both become out/a.json: the second is left out; " },
		{ { "in/" }, true, "out", ".new", NULL, "in/a in/a.gz in/b in/c.txt in/c.zst in/sub/a ",
		  "out/a.new out/a.gz.new out/b.new out/c.txt.new out/c.zst.new out/sub/a.new ", "in/: 2 symbolic links left out; " },
		{ { "in//sub" }, true, NULL, NULL, NULL, "in//sub/a ", "a.json ", "" },
		/* A link to a folder is followed where it is asked for. */
		{ { "in/folder" }, true, NULL, NULL, NULL, "in/folder/a ", "a.json ", "" },
		{ { "in/folder", "other" }, false, "out", NULL, NULL, "in/folder/a other/a ", "out/in/folder/a.json out/other/a.json ", "" },
		{ { "." }, true, "o", NULL, "in", "./other/a ./out/made ./third/.symcache ",
		  "o/other/a.json o/out/made.json o/third/.symcache.json ", "" },
		/* The outputs' own folder has no logs. */
		{ { "." }, true, "out", ".x", "out", "./in/a ./in/a.gz ./in/b ./in/c.txt ./in/c.zst ./in/sub/a ./other/a ./third/.symcache ",
		  "out/in/a.x out/in/a.gz.x out/in/b.x out/in/c.txt.x out/in/c.zst.x out/in/sub/a.x out/other/a.x out/third/.symcache.x ",
		  ".: 2 symbolic links left out; " },
		/* One file: its last name. Several: their paths, but for what leads above. */
		{ { "in/sub/a" }, true, "out", NULL, NULL, "in/sub/a ", "out/a.json ", "" },
		{ { "in/sub/a", "other/a" }, false, "out", NULL, NULL, "in/sub/a other/a ", "out/in/sub/a.json out/other/a.json ", "" },
		{ { "in/../in/b", "./other/a", "A/in/b" }, false, "out", NULL, NULL, "in/../in/b ./other/a DIR/in/b ",
		  "out/in/b.json out/other/a.json outDIR/in/b.json ", "" },
		{ { "in/b", "in/b" }, false, "out", NULL, NULL, "in/b in/b ", "out/in/b.json - ",
		  "in/b and in/b would both become out/in/b.json: the second is left out; " },
		{ { "in/b", "./in/b", "in/../in/b" }, false, "out", NULL, NULL, "in/b ./in/b in/../in/b ", "out/in/b.json - - ",
		  "in/b and ./in/b would both become out/in/b.json: the second is left out; "
		  "in/b and in/../in/b would both become out/in/b.json: the second is left out; " },
		{ { "in/sub", "other" }, false, "out", NULL, NULL, "in/sub/a other/a ", "out/in/sub/a.json out/other/a.json ", "" },
		/* What is not there is found out when it is opened. */
		{ { "none" }, true, NULL, NULL, NULL, "none ", "none.json ", "" },
		{ { "-" }, true, NULL, NULL, NULL, "- ", "-.json ", "" },
	};

	(void)state;
	for (size_t n = 0; n < 2 * (sizeof(cases) / sizeof(*cases)); n++) {
		const size_t i = n / 2;
		struct symlog_list l = { .except = cases[i].except, .suffix = cases[i].suffix, .fault = fault };
		char absolute[100], logs[2000] = "", outputs[2000] = "", **made;
		struct sc_error err;
		size_t left_out, none = 0;

		*said = '\0';
		untyped = n % 2;
		for (size_t k = 0; k < 3 && cases[i].paths[k]; k++) {
			const char *path = cases[i].paths[k];

			snprintf(absolute, sizeof(absolute), "%s%s", testing_dir, path + 1);
			assert_int_equal(symlog_list_add(&l, *path == 'A' ? absolute : path, cases[i].alone, 2, &err), 0);
		}
		assert_int_equal(symlog_outputs(&l, cases[i].dir, MARKUP_JSON, &made, &left_out, &err), 0);
		for (size_t k = 0; k < l.num; k++) {
			const char *base = strrchr(l.logs[k].path, '/');

			strcat(strcat(logs, l.logs[k].path), " ");
			strcat(strcat(outputs, made[k] ? made[k] : "-"), " ");
			none += !made[k];
			if (base)
				assert_int_equal(l.logs[k].size, strcmp(base, "/a") || base[-1] != 'n' ? 6 : 0);
			assert_int_equal(l.logs[k].mtime > 0, base != NULL);
		}
		assert_int_equal(left_out, none);
		if (strcmp(plain(logs), cases[i].logs) || strcmp(plain(outputs), cases[i].outputs) ||
		    strcmp(plain(said), cases[i].said))
			fail_msg("case %zu: %s; %s; %s", i, logs, outputs, said);
		assert_false(l.failed);
		free(made);
		symlog_list_deinit(&l);
	}
	untyped = false;
}

/* The folder that is left out is known by its device, too: roots of file systems have the same number. */
static void test_two_file_systems(void **state)
{
	struct symlog_list l = { .except = "/dev/pts", .fault = fault };
	char path[] = "/dev/shm/symcache_list.XXXXXX";
	struct stat a, b;
	struct sc_error err;
	size_t found = 0;
	int fd = -1;

	(void)state;
	if (stat("/dev/pts", &a) || stat("/dev/shm", &b) || a.st_ino != b.st_ino || a.st_dev == b.st_dev ||
	    (fd = mkstemp(path)) < 0) {
		printf("skipped: /dev/pts and /dev/shm are no two roots of file systems\n");
		skip();
	}
	assert_int_equal(symlog_list_add(&l, "/dev/shm", true, 1, &err), 0);
	for (size_t i = 0; i < l.num; i++)
		found += !strcmp(l.logs[i].path, path);
	symlog_list_deinit(&l);
	close(fd);
	unlink(path);
	assert_int_equal(found, 1);
}

/* More logs than a thread takes at a time, with more bytes of names than are kept together: all of them, in
 * their order, each with its own size. */
static void test_many(void **state)
{
	enum { LOGS = 2200, LONG = 150 };
	struct symlog_list l = { .fault = fault };
	struct sc_error err;
	char name[200], **outputs;
	size_t left_out;

	(void)state;
	*said = '\0';
	assert_int_equal(mkdir("many", 0777), 0);
	for (int i = 0; i < LOGS; i++) {
		const int n = snprintf(name, sizeof(name), "many/%04d%0*d", i, LONG, 0);
		FILE *f = fopen(name, "we");

		assert_true(f && n < (int)sizeof(name) && fwrite(name, 1, (size_t)i % 7, f) == (size_t)i % 7 && !fclose(f));
	}
	assert_int_equal(symlog_list_add(&l, "many", true, 3, &err), 0);
	assert_int_equal(l.num, LOGS);
	assert_int_equal(symlog_outputs(&l, "o", MARKUP_JSON, &outputs, &left_out, &err), 0);
	for (int i = 0; i < LOGS; i++) {
		snprintf(name, sizeof(name), "many/%04d%0*d", i, LONG, 0);
		assert_string_equal(l.logs[i].path, name);
		assert_int_equal(l.logs[i].size, i % 7);
		snprintf(name, sizeof(name), "o/%04d%0*d.json", i, LONG, 0);
		assert_string_equal(outputs[i], name);
	}
	assert_string_equal(said, "");
	free(outputs);
	symlog_list_deinit(&l);
}

/* A folder that cannot be read is said, and so are the logs that are missing because of it. */
static void test_unreadable(void **state)
{
	struct symlog_list l = { .fault = fault };
	struct rlimit before, none;
	struct sc_error err;
	int rc;

	(void)state;
	*said = '\0';
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 3, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	rc = symlog_list_add(&l, "in", true, 1, &err);
	setrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(rc, 0);
	assert_int_equal(l.num, 0);
	assert_true(l.failed);
	assert_string_equal(said, "in: Too many open files; ");
	symlog_list_deinit(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs), cmocka_unit_test(test_many), cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_two_file_systems),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
