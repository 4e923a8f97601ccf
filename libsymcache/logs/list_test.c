/*
 * Which logs there are and where their outputs go: a log that is left out, or written over
 * another's output, is lost without a word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
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
			   "mkfifo in/pipe && cp in/b in/c.zst && cp in/b in/c.txt");
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
		{ { "." }, true, "o", NULL, "in", "./other/a ./out/made ", "o/other/a.json o/out/made.json ", "" },
		/* The outputs' own folder has no logs. */
		{ { "." }, true, "out", ".x", "out", "./in/a ./in/a.gz ./in/b ./in/c.txt ./in/c.zst ./in/sub/a ./other/a ",
		  "out/in/a.x out/in/a.gz.x out/in/b.x out/in/c.txt.x out/in/c.zst.x out/in/sub/a.x out/other/a.x ",
		  ".: 2 symbolic links left out; " },
		/* One file: its last name. Several: their paths, but for what leads above. */
		{ { "in/sub/a" }, true, "out", NULL, NULL, "in/sub/a ", "out/a.json ", "" },
		{ { "in/sub/a", "other/a" }, false, "out", NULL, NULL, "in/sub/a other/a ", "out/in/sub/a.json out/other/a.json ", "" },
		{ { "in/../in/b", "./other/a", "A/in/b" }, false, "out", NULL, NULL, "in/../in/b ./other/a DIR/in/b ",
		  "out/in/b.json out/other/a.json outDIR/in/b.json ", "" },
		{ { "in/b", "in/b" }, false, "out", NULL, NULL, "in/b in/b ", "out/in/b.json - ",
		  "in/b and in/b would both become out/in/b.json: the second is left out; " },
		{ { "in/sub", "other" }, false, "out", NULL, NULL, "in/sub/a other/a ", "out/in/sub/a.json out/other/a.json ", "" },
		/* What is not there is found out when it is opened. */
		{ { "none" }, true, NULL, NULL, NULL, "none ", "none.json ", "" },
		{ { "-" }, true, NULL, NULL, NULL, "- ", "-.json ", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symlog_list l = { .except = cases[i].except, .suffix = cases[i].suffix, .fault = fault };
		char absolute[100], logs[2000] = "", outputs[2000] = "", **made;
		struct sc_error err;
		size_t left_out, none = 0;

		*said = '\0';
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outputs), cmocka_unit_test(test_two_file_systems),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
