/*
 * Plans, tasks and merges at the room's face, with a filter that copies: a table of what may happen to
 * a plan, its logs and its outputs, and what each step then says. The logs are in/a, which is short,
 * in/b, which is cut into two parts, one for each of two tasks, and has a table of modules at its end,
 * and in/c.gz.
 */
#include "libsymcache/plan/plan.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cmocka.h>

#include "libsymcache/base/file.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/plan/cases_test.h"

static char top[] = "/tmp/plan_cases.XXXXXX";
static VEC(char) said;

static void add_said(const char *text, size_t len)
{
	assert_true(vec_reserve(&said, len + 1));
	memcpy(said.data + said.len, text, len);
	said.len += len;
	said.data[said.len] = 0;
}

static void add(const char *before, const char *text, const char *behind)
{
	add_said(before, strlen(before));
	for (const char *at; (at = strstr(text, top)); text = at + strlen(top) + 1)
		add_said(text, (size_t)(at - text));
	add_said(text, strlen(text));
	add_said(behind, strlen(behind));
}

static void run(const char *command)
{
	char *text = sc_text("cd %s; %s", top, command);

	assert_int_equal(system(text), 0);
	free(text);
}

/* ---- the steps ---------------------------------------------------------------------------- */

static const char *const names[] = { "a", "b", "c.gz" };

/* What progress was last: all of it, once a step is done. */
static struct { uint64_t done, size; } shown;

static void on_progress(void *ctx, uint64_t done, uint64_t size, const char *path)
{
	(void)ctx, (void)path;
	shown.done = done;
	shown.size = size;
	assert_true(done <= size);
}

static void check_progress(uint64_t size)
{
	assert_int_equal(shown.done, size);
	assert_int_equal(shown.size, size);
}

/* The outputs are called so. */
static void make_plan(const char *const outputs[3], struct sc_error *err)
{
	struct markup_log logs[3];
	struct markup_planning p = { .store_name = "s", .store = STORE, .logs = logs, .num_logs = 3,
				     .task_size = 400000, .tasks = 9, .threads = 2 };
	struct markup_planned made;
	char command[100];
	struct stat st;

	for (size_t i = 0; i < 3; i++) {
		char *path = sc_text("in/%s", names[i]);

		assert_int_equal(stat(path, &st), 0);
		logs[i] = (struct markup_log){ path, outputs[i], (uint64_t)st.st_size,
			st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec,
			i == 2 ? MARKUP_LOG_GZIP : MARKUP_LOG_PLAIN };
	}
	if (markup_plan_make("plan", &p, &made, err))
		fail_msg("%s", err->msg);
	assert_int_equal(made.shards, 4);
	assert_int_equal(made.tasks, 2);
	assert_int_equal(made.bytes, logs[0].size + logs[1].size + logs[2].size);
	run((snprintf(command, sizeof(command), "grep -q '%s' plan/plan.json", made.hash), command));
	for (size_t i = 0; i < 3; i++)
		free((char *)logs[i].path);
}

/* Copies; says something of what is cut, and of the gzipped log; misses a module each time. */
static int copy(void *ctx, struct markup_shard *s, struct sc_error *err)
{
	const struct markup_module m = { .name = { "m", 1 }, .build_id = (const uint8_t *)"id",
					 .build_id_len = 2, .frames = 1, .no_symbols = true };
	const struct markup_module other = { .name = { "n", 1 }, .build_id = (const uint8_t *)"i2",
					     .build_id_len = 2, .frames = 2, .unplaced = 3, .table_only = true };
	static char blocks[4][1000000];
	char *block = blocks[s->worker], *text = sc_text("%d in %s said ", s->part, s->shown);
	const int fd = open(s->path, O_RDONLY);
	const ssize_t before = pread(fd, block, s->from, 0);
	uint64_t lines = 0;
	ssize_t n;

	(void)ctx;
	for (ssize_t i = 0; i < before; i++)
		lines += block[i] == '\n';
	assert_int_equal(s->lines, lines);
	n = pread(fd, block, s->to - s->from, (off_t)s->from);
	close(fd);
	assert_int_equal(n, s->to - s->from);
	assert_int_equal(s->saved_len > 0, s->from > 0);
	/* A part gets the tables of the whole log. */
	assert_int_equal(s->tables_len > 0, s->part);
	assert_true(!s->part || memmem(s->tables, s->tables_len, "/opt/m", 6));
	XXH3_128bits_update(s->hash, block, (size_t)n);
	if (sc_write_all(s->fd, block, (size_t)n))
		return sc_error_sys(err, "%s", s->output);
	if (strcmp(s->shown, "in/a"))
		markup_shard_say(s->complaints, s->from ? &m : NULL, text, strlen(text));
	markup_shard_say(s->complaints, &m, "! ", 2);
	/* More than is kept in memory, and than is read of it at once. */
	for (int i = 0; i < MUCH && !strcmp(s->shown, "in/c.gz"); i++)
		markup_shard_say(s->complaints, NULL, "a complaint of 20 b ", 20);
	markup_shard_miss(s->complaints, &m);
	if (s->part)
		markup_shard_miss(s->complaints, &other);
	s->read = (uint64_t)n;
	s->stats = (struct markup_stats){ .frames = 3, .frames_resolved = 2, .frames_outside = 5,
					  .understood = 7, .guessed = 11 };
	s->cut_off = !s->part;
	free(text);
	return 0;
}

/* Task 0 has a part of in/b, task 1 the other logs and the rest. */
static void check_sums(uint64_t number, unsigned threads, const struct markup_task_plan *plan,
		       const struct markup_task_sums *sums)
{
	/* Few shards come one after the other. */
	const unsigned workers = threads > (number ? 3 : 1) ? 1 : threads;

	assert_string_equal(plan->store_name, "s");
	assert_string_equal(plan->store, STORE);
	assert_int_equal(plan->workers, workers);
	assert_int_equal(plan->threads, threads / workers);
	check_progress(sums->read);
	assert_int_equal(sums->shards, number ? 3 : 1);
	assert_int_equal(sums->read, sums->written);
	assert_true(sums->seconds >= 0 && sums->seconds < 1000);
}

static void run_task(uint64_t number, unsigned threads, struct sc_error *err)
{
	const struct markup_task_options o = { .plan = "plan", .out = "out", .task = number,
					       .threads = threads, .progress = on_progress };
	struct markup_task_plan plan;
	struct markup_task_sums sums;
	struct markup_task *t;
	int rc = markup_task_open(&o, &t, &plan, err);

	if (!rc && plan.done)
		add(" [", (char[]){ (char)('0' + number), 0 }, " done]");
	else if (!rc)
		rc = markup_task_run(t, copy, NULL, &sums, err);
	if (rc)
		add(" [", err->msg, "]");
	else if (!plan.done)
		check_sums(number, threads, &plan, &sums);
	markup_task_close(t);
}

static void on_fault(void *ctx, const char *message)
{
	(void)ctx;
	add(" {", message, "}");
}

static void on_said(void *ctx, const char *text, size_t len)
{
	char **all = ctx;
	const size_t before = strlen(*all);

	*all = realloc(*all, before + len + 1);
	memcpy(*all + before, text, len);
	(*all)[before + len] = 0;
}

static int64_t bytes_of_logs(void)
{
	struct stat a, b, c;

	assert_int_equal(stat("in/a", &a) | stat("in/b", &b) | stat("in/c.gz", &c), 0);
	return a.st_size + b.st_size + c.st_size;
}

/* What is done, and between when, once all tasks are. */
static void check_status(const struct markup_merge *m, struct sc_error *err)
{
	struct markup_merge_status s;
	struct stat a;
	long times[4];
	FILE *f;

	assert_int_equal(stat("in/a", &a), 0);
	assert_int_equal(markup_merge_status(m, &s, err), 0);
	assert_int_equal(s.done, s.tasks);
	assert_int_equal(s.read, bytes_of_logs());
	assert_int_equal(s.written, s.read);
	assert_in_range(s.ended / 1000, a.st_mtime, a.st_mtime + 1000);
	assert_in_range(s.begun / 1000, a.st_mtime, s.ended / 1000);
	run("sed 's/.*\"begun\":\\([0-9]*\\).*\"ended\":\\([0-9]*\\).*/\\1 \\2/;q' out/.symcache/done/0.json > x;"
	    "sed 's/.*\"begun\":\\([0-9]*\\).*\"ended\":\\([0-9]*\\).*/\\1 \\2/;q' out/.symcache/done/1.json >> x");
	assert_true((f = fopen("x", "re")) && fscanf(f, "%ld %ld %ld %ld", &times[0], &times[1], &times[2], &times[3]) == 4);
	fclose(f);
	assert_int_equal(s.begun, times[0] < times[2] ? times[0] : times[2]);
	assert_int_equal(s.ended, times[1] > times[3] ? times[1] : times[3]);
	assert_string_equal(s.missing, "");
	free(s.missing);
}

/* Before all are done the status has the numbers that the merge says. */
static void check_missing(const struct markup_merge *m, const char *said_of_tasks)
{
	static const char are[] = "tasks are not done: ";
	const char *numbers = strstr(said_of_tasks, are);
	struct markup_merge_status s;
	struct sc_error err;

	if (!numbers)
		return;
	assert_int_equal(markup_merge_status(m, &s, &err), 0);
	assert_string_equal(s.missing, numbers + strlen(are));
	free(s.missing);
}

/* Of a module that has no symbols the first warning counts. */
static void check_said(const char *all)
{
	static const char begin[] = "! 1 in in/b said 0 in in/c.gz said ", one[] = "a complaint of 20 b ";
	const size_t len = sizeof(begin) - 1;

	assert_int_equal(strncmp(all, begin, len), 0);
	assert_int_equal(strlen(all + len), 20 * MUCH);
	for (size_t i = 0; i < 20 * MUCH; i += 20)
		if (memcmp(all + len + i, one, 20))
			fail_msg("at %zu: %.30s", i, all + len + i);
}

/* All of the summary, but for the plan's hash. */
static void check_summary(void)
{
	char got[1000] = "", want[1000];
	const unsigned long long bytes = (unsigned long long)bytes_of_logs();
	FILE *f = popen("sed 's/\"plan\":\"[0-9a-f]\\{32\\}\"/\"plan\":HASH/' out/.symcache/summary.json", "re");

	assert_true(f && fread(got, 1, sizeof(got) - 1, f) && !pclose(f));
	snprintf(want, sizeof(want), "{\"plan\":HASH,\"logs\":3,\"left_out\":0,\"damaged\":[\"in/a\",\"in/c.gz\"],"
		 "\"read\":%llu,\"written\":%llu,\"addresses\":12,\"resolved\":8,\"in_no_module\":20,\"modules\":["
		 "{\"build_id\":\"6932\",\"name\":\"n\",\"missed\":4,\"unplaced\":6,\"no_symbols\":false,"
		 "\"table_only\":true,\"other_build\":false},"
		 "{\"build_id\":\"6964\",\"name\":\"m\",\"missed\":4,\"unplaced\":0,\"no_symbols\":true,"
		 "\"table_only\":false,\"other_build\":false}]}\n", bytes, bytes);
	assert_string_equal(got, want);
}

static void merge(int options, struct sc_error *err)
{
	char *all = strdup("");
	const struct markup_merge_options o = {
		.plan = "plan", .out = "out", .threads = options & ONE_BY_ONE ? 1 : 2,
		.keep_parts = options & KEEP, .fault = on_fault, .say = on_said, .ctx = &all,
		.progress = on_progress,
	};
	struct markup_merged merged;
	struct markup_merge *m;
	int rc = markup_merge_open(&o, &m, err);

	shown.done = shown.size = 0;
	if (!rc)
		rc = markup_merge_run(m, &merged, err);
	if (rc) {
		add(" ", err->msg, "");
		check_missing(m, err->msg);
	} else {
		const struct markup_stats *stats = markup_tally_stats(merged.tally);

		assert_true(shown.size <= (uint64_t)bytes_of_logs());
		add(" ", (char[]){ (char)('0' + merged.logs), 0 }, " logs; ");
		add("", system("cmp -s in/a out/a && cmp -s in/b out/b && cmp -s in/c.gz out/c.gz") ?
		    "other" : "same", "");
		check_said(all);
		assert_int_equal(merged.damaged, 2);
		assert_int_equal(stats->frames, 12);
		assert_int_equal(stats->frames_resolved, 8);
		assert_int_equal(stats->frames_outside, 20);
		assert_int_equal(stats->understood, 28);
		assert_int_equal(stats->guessed, 44);
		assert_int_equal(stats->bytes, bytes_of_logs());
		assert_int_equal(system("ls out/.symcache/parts/* > list 2> list"), options & KEEP ? 0 : 512);
		check_summary();
		assert_int_not_equal(access("out/b.0123abcd", F_OK), 0);
		check_status(m, err);
	}
	markup_merge_close(m);
	free(all);
}

static void make_logs(void)
{
	run("rm -rf in out plan else x; mkdir in; seq 1 50 > in/a; (seq 60000 | sed 's|^|line |'; echo '10000-20000 r-xp 00000000 fe:00 7 /opt/m') > in/b; seq 60 | gzip -n > in/c.gz");
}

static void test_cases(void **state)
{
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		vec_clear(&said);
		make_logs();
		make_plan(names, &err);
		run(cases[i].tasks);
		for (uint64_t t = 0; t < (cases[i].options & TWICE ? 4 : 2); t++)
			run_task(t % 2, cases[i].options & ONE_BY_ONE ? 1 : t % 2 ? 3 : 4, &err);
		run(cases[i].merge);
		merge(cases[i].options, &err);
		if (strcmp(said.data, cases[i].result))
			fail_msg("%s:\n %s\nwanted\n %s\n", cases[i].what, said.data, cases[i].result);
	}
	assert_int_equal(access("out/x.0123abcd", F_OK), 0);
}

/* A plan has the tasks that it has. */
static void test_numbers(void **state)
{
	static const struct { uint64_t task; int rc; } tasks[] = {
		{ 1, 0 }, { 2, SC_EINVAL }, { 3, SC_EINVAL }, { UINT64_MAX, SC_EINVAL },
	};
	struct sc_error err;

	(void)state;
	make_logs();
	make_plan(names, &err);
	for (size_t i = 0; i < sizeof(tasks) / sizeof(*tasks); i++) {
		const struct markup_task_options o = { .plan = "plan", .out = "out", .task = tasks[i].task, .threads = 1 };
		struct markup_task_plan plan;
		struct markup_task *t;

		assert_int_equal(markup_task_open(&o, &t, &plan, &err), tasks[i].rc);
		if (tasks[i].rc)
			assert_string_equal(err.msg, "plan has the tasks 0 to 1");
		markup_task_close(t);
	}
	assert_int_not_equal(fcntl(0, F_GETFD), -1); /* standard input is not ours to close */
}

/* Outputs in folders: what others left of them goes, in each folder. */
static void test_folders(void **state)
{
	static const char *const outputs[] = { "d/e/x", "d/y", "z" };
	char *all = strdup("");
	const struct markup_merge_options o = { .plan = "plan", .out = "out", .threads = 1, .fault = on_fault,
						.say = on_said, .ctx = &all };
	struct markup_merged merged;
	struct markup_merge *m;
	struct sc_error err;

	(void)state;
	make_logs();
	make_plan(outputs, &err);
	for (uint64_t t = 0; t < 2; t++)
		run_task(t, 1, &err);
	run("touch out/d/e/x.0123abcd out/d/y.0123abcd out/d/e/y.0123abcd out/z.0123abcd");
	assert_int_equal(markup_merge_open(&o, &m, &err), 0);
	assert_int_equal(markup_merge_run(m, &merged, &err), 0);
	markup_merge_close(m);
	free(all);
	run("cmp in/a out/d/e/x; cmp in/b out/d/y; cmp in/c.gz out/z; [ \"$(cd out; echo d/* d/e/* z*)\" = 'd/e d/y d/e/x d/e/y.0123abcd z' ]");
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(top) || chdir(top);
}

static int tear_down(void **state)
{
	(void)state;
	vec_deinit(&said);
	run("rm -rf ../$(basename \"$PWD\")");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases), cmocka_unit_test(test_numbers), cmocka_unit_test(test_folders) };

	return cmocka_run_group_tests_name("plan cases", tests, set_up, tear_down);
}
