/*
 * The logs of an archive as tasks of a plan: what their outputs and complaints are is what one run
 * gives for the whole logs, whatever was packed, cut, damaged or misnamed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/plan/plan.h"

#define STORE "0123456789abcdef0123456789abcdef"

static char said[4000];

static int set_up(void **state)
{
	FILE *f;

	(void)state;
	if (!mkdtemp(testing_dir) || chdir(testing_dir) || testing_run("mkdir in && ln -s . root"))
		return -1;
	f = fopen("in/long", "w");
	fprintf(f, "{{{module:0:prog:elf:aabb}}}\n{{{mmap:0x7f0000010000:0x1000:load:0:rx:0x10000}}"
		   "}\n");
	for (int i = 0; i < 20000; i++)
		fprintf(f, "line %d {{{pc:0x7f000001%04x}}}\n", i, i % 0x1000);
	fclose(f);
	return testing_run("cd in && echo '{{{pc:0x1}}} in none' > short && gzip -k long && xz -kc "
			   "short > packed.xz && "
			   "zstd -q short -o small.zst && cp long plain.gz && head -c 20000 "
			   "long.gz > cut.gz && "
			   "cp short same && gzip -k same");
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || testing_run("rm -r %s", testing_dir);
}

static void fault(void *ctx, const char *message)
{
	(void)ctx;
	strcat(strcat(said, message), "\n");
}

static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	(void)ctx, (void)warns_of;
	strncat(said, text, len);
}

static void say_merged(void *ctx, const char *text, size_t len)
{
	say(ctx, NULL, text, len);
}

static void no_progress(void *ctx, uint64_t done, uint64_t size, const char *path)
{
	(void)ctx, (void)path;
	assert_true(done <= size);
}

struct plan {
	struct symlog_list list;
	struct markup_planning p;
	struct markup_log *logs;
	struct markup_planned made;
};

static void make_plan(struct plan *plan, const char *dir, enum markup_format format)
{
	struct sc_error err;

	*plan = (struct plan){ .list.fault = fault,
			       .p = { .form.options.format = format,
				      .store_name = "none",
				      .store = STORE,
				      .task_size = 200000,
				      .tasks = 100,
				      .threads = 1,
				      .progress = no_progress } };
	assert_int_equal(symlog_list_add(&plan->list, "in", true, 1, &err), 0);
	assert_int_equal(symlog_plan_logs(&plan->list, &plan->p, &plan->logs, &err), 0);
	if (markup_plan_make(dir, &plan->p, &plan->made, &err))
		fail_msg("%s", err.msg);
}

static void free_plan(struct plan *plan)
{
	free(plan->logs);
	symlog_list_deinit(&plan->list);
}

/* Runs one task into out/. */
static int run_task(const char *dir, uint64_t number, bool damaged, struct sc_error *err)
{
	const struct symcache_caches_options none = { .store_optional = true };
	const atomic_bool bad = damaged;
	const struct symlog_task_options how = {
		.caches = symcache_caches_create(&none),
		.damaged = &bad,
		.name = "symcache filter",
		.fault = fault,
	};
	const struct markup_task_options task = { dir, "out", number, "root", 2, no_progress, NULL };
	struct markup_task_plan plan = { 0 };
	struct markup_task_sums sums;
	struct markup_task *t;
	int rc = markup_task_open(&task, &t, &plan, err);

	if (!rc)
		rc = symlog_task(t, &plan, &how, &sums, err);
	markup_task_close(t);
	symcache_caches_destroy(how.caches);
	return rc;
}

/* All of it in one run, into one/. */
static void run_at_once(struct plan *plan)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_filter_options how = {
		.markup = &plan->p.form.options,
		.threads = 1,
		.name = "symcache filter",
		.say = say,
		.from.find = { .caches = symcache_caches_create(&none), .no_files = true },
		.each = true,
	};
	const struct symlog_batch_options options = {
		.output_dir = "one", .format = plan->p.form.options.format, .jobs = 1, .how = &how, .progress = no_progress,
		.fault = fault,
	};
	struct symlog_batch sum;
	struct sc_error err;

	assert_int_equal(markup_tally_create(&how.tally), 0);
	assert_int_equal(symlog_batch(&plan->list, &options, &sum, &err), 0);
	assert_int_equal(sum.filtered, 6);
	assert_int_equal(sum.failed, 3); /* one was cut off, two have no output of their own */
	markup_tally_destroy(how.tally);
	symcache_caches_destroy(how.from.find.caches);
}

static void test_logs(void **state)
{
	static const struct { const char *path, *output; enum markup_log_kind kind; } logs[] = {
		{ "in/cut.gz", "cut.json", MARKUP_LOG_GZIP }, { "in/long", "long.json", MARKUP_LOG_PLAIN },
		{ "in/packed.xz", "packed.json", MARKUP_LOG_XZ },
		{ "in/plain.gz", "plain.json", MARKUP_LOG_PLAIN }, /* large ones are looked into */
		{ "in/same", "same.json", MARKUP_LOG_PLAIN }, { "in/short", "short.json", MARKUP_LOG_PLAIN },
		{ "in/small.zst", "small.json", MARKUP_LOG_ZSTD },
	};
	struct plan plan;

	(void)state;
	*said = '\0';
	make_plan(&plan, "kinds", MARKUP_JSON);
	assert_int_equal(plan.p.num_logs, sizeof(logs) / sizeof(*logs));
	assert_int_equal(plan.p.left_out, 2);
	for (size_t i = 0; i < plan.p.num_logs; i++) {
		const struct markup_log *log = &plan.p.logs[i];

		assert_string_equal(log->path, logs[i].path);
		assert_string_equal(log->output, logs[i].output);
		assert_int_equal(log->kind, logs[i].kind);
		assert_int_equal(testing_run("test $(stat -c %%s %s) = %llu", log->path,
					     (unsigned long long)log->size),
				 0);
		assert_true(log->mtime > 1000000000ll * 1000000000);
	}
	free_plan(&plan);
}

static void test_same(void **state)
{
	static const enum markup_format formats[] = { MARKUP_TEXT_OUT, MARKUP_JSON, MARKUP_HTML };

	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		char at_once[sizeof(said)], dir[] = "plan0";
		const struct markup_merge_options options = {
			.plan = dir,
			.out = "out",
			.threads = 1,
			.progress = no_progress,
			.fault = fault,
			.say = say_merged,
		};
		struct markup_merge *m;
		struct markup_merged merged;
		struct sc_error err;
		struct plan plan;

		dir[4] = (char)('0' + i);
		*said = '\0';
		make_plan(&plan, dir, formats[i]);
		plan.list.fault = NULL; /* it has said which logs are left out */
		*said = '\0';
		run_at_once(&plan);
		memcpy(at_once, said, sizeof(said));
		*said = '\0';
		for (uint64_t t = 0; t < plan.made.tasks; t++)
			if (run_task(dir, t, false, &err))
				fail_msg("%s", err.msg);
		assert_string_equal(said, "");
		assert_int_equal(markup_merge_open(&options, &m, &err), 0);
		if (markup_merge_run(m, &merged, &err))
			fail_msg("%s %s", err.msg, said);
		assert_int_equal(merged.logs, 7);
		assert_int_equal(merged.damaged, 1);
		markup_merge_close(m);
		assert_non_null(
			strstr(at_once, "cut.gz: after 20000 bytes: gzip: the file is cut off\n"));
		assert_non_null(strstr(at_once, "plain.gz: not compressed, in spite of its name"));
		assert_string_equal(at_once, said);
		assert_int_equal(testing_run("diff -r -x .symcache one out && rm -r one out"), 0);
		free_plan(&plan);
	}
}

/* A task whose output is not to be trusted has none, and says why. */
static void test_failures(void **state)
{
	struct sc_error err;
	struct plan plan;

	(void)state;
	make_plan(&plan, "failing", MARKUP_TEXT_OUT);
	assert_int_equal(run_task("failing", 0, true, &err), SC_ESYS);
	assert_string_equal(err.msg, "an entry of the store cannot be used here");
	assert_int_equal(testing_run("mv in moved"), 0);
	assert_int_equal(run_task("failing", 0, false, &err), SC_ESYS);
	assert_non_null(strstr(err.msg, ": No such file or directory"));
	assert_int_equal(testing_run("mv moved in && test ! -e out/.symcache/done/0.json"), 0);
	assert_int_equal(run_task("failing", 0, false, &err), 0);
	assert_int_equal(testing_run("test -e out/.symcache/done/0.json"), 0);
	free_plan(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_failures),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
