/* Outputs of many logs: what is finished is left alone, what is cut off is made again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/logs/logs.h"

struct state {
	char dir[64];
	unsigned jobs;
	atomic_uint filtered, faults;
	enum symlog_result of_b; /* what comes of the log "b" */
	bool grows;              /* something is appended to each log while it is filtered */
};

static enum symlog_result filter(void *ctx, unsigned worker, const struct symlog_file *log, int fd,
				 const char *output)
{
	struct state *s = ctx;

	(void)worker, (void)output;
	s->filtered++;
	assert_int_equal(write(fd, "text\n", 5), 5);
	if (s->grows) {
		FILE *f = fopen(log->path, "a");

		assert_true(f && fputs("more\n", f) >= 0 && !fclose(f));
	}
	return strcmp(strrchr(log->path, '/'), "/b") ? SYMLOG_OK : s->of_b;
}

static void progress(void *ctx, uint64_t done, uint64_t total, const char *path)
{
	(void)ctx, (void)path;
	assert_true(done < total);
}

static void fault(void *ctx, const char *message)
{
	(void)message;
	((struct state *)ctx)->faults++;
}

static struct symlog_batch run(struct state *s, const char *output_dir)
{
	const struct symlog_batch_options options = {
		.output_dir = output_dir, .jobs = s->jobs, .filter = filter, .progress = progress,
		.fault = fault, .ctx = s,
	};
	struct symlog_list list = { 0 };
	struct symlog_batch ret;
	struct sc_error err;
	char in[80];

	snprintf(in, sizeof(in), "%s/in", s->dir);
	s->filtered = s->faults = 0;
	assert_int_equal(symlog_list_add(&list, in, true, 1, &err), 0);
	assert_int_equal(symlog_batch(&list, &options, &ret, &err), 0);
	symlog_list_deinit(&list);
	return ret;
}

static void test_batch(void **state)
{
	struct state s = { .dir = "/tmp/batch_test.XXXXXX", .jobs = 1, .of_b = SYMLOG_CUT };
	struct symlog_batch sum;
	char command[512], out[80], in[80];

	(void)state;
	assert_non_null(mkdtemp(s.dir));
	snprintf(out, sizeof(out), "%s/out", s.dir);
	snprintf(in, sizeof(in), "%s/in", s.dir);
	snprintf(command, sizeof(command), "mkdir %s && echo x > %s/a && echo x > %s/b", in, in,
		 in);
	assert_int_equal(system(command), 0);
	sum = run(&s, out);
	assert_true(sum.filtered == 1 && sum.failed == 1 && !sum.skipped && !sum.broken);
	/* What was cut off is there, but not finished. */
	assert_int_equal(testing_run("grep -q text %s/a && grep -q text %s/b", out, out), 0);
	s.of_b = SYMLOG_OK;
	sum = run(&s, out);
	assert_true(sum.filtered == 1 && sum.skipped == 1 && !sum.failed);
	sum = run(&s, out);
	assert_true(!s.filtered && sum.skipped == 2);
	/* One with another date is compared by its bytes; other bytes are filtered again. */
	assert_int_equal(testing_run("touch -d 2001-01-01 %s/a", in), 0);
	sum = run(&s, out);
	assert_true(!s.filtered && sum.skipped == 2);
	assert_int_equal(testing_run("echo z > %s/a && touch -d 2002-01-01 %s/b", in, in), 0);
	sum = run(&s, out);
	assert_true(s.filtered == 1 && sum.filtered == 1 && sum.skipped == 1);
	/* And so is one whose output is another by now. */
	assert_int_equal(testing_run("echo more >> %s/b", out), 0);
	sum = run(&s, out);
	assert_true(s.filtered == 1 && sum.filtered == 1 && sum.skipped == 1);
	/* A log that grew meanwhile is not finished: the rest would be missing for ever. */
	s.grows = true;
	assert_int_equal(system((snprintf(command, sizeof(command), "echo y >> %s/a", in), command)), 0);
	sum = run(&s, out);
	assert_true(s.filtered == 1 && sum.filtered == 1 && sum.skipped == 1);
	s.grows = false;
	sum = run(&s, out);
	assert_true(s.filtered == 1 && sum.skipped == 1);
	sum = run(&s, out);
	assert_true(!s.filtered && sum.skipped == 2);
	/* No log is overwritten. */
	sum = run(&s, in);
	assert_true(!s.filtered && sum.failed == 2 && s.faults == 2);
	/* Nothing is begun after an output failed, and nothing of it is left. */
	snprintf(out, sizeof(out), "%s/other", s.dir);
	s.of_b = SYMLOG_FAILED;
	sum = run(&s, out);
	assert_true(sum.broken && sum.filtered == 1 && sum.failed == 1);
	snprintf(command, sizeof(command), "[ -e %s/a ] && [ ! -e %s/b ] && rm -r %s", out, out,
		 s.dir);
	assert_int_equal(system(command), 0);
}

/* More outputs than are synced at a time: all are there and recorded when the call returns. */
static void test_many(void **state)
{
	struct state s = { .dir = "/tmp/batch_test.XXXXXX", .jobs = 4 };
	struct symlog_batch sum;
	char command[512], out[80];

	(void)state;
	assert_non_null(mkdtemp(s.dir));
	snprintf(out, sizeof(out), "%s/out", s.dir);
	snprintf(command, sizeof(command), "mkdir %s/in && cd %s/in && for i in $(seq 200); do echo x > $i; done",
		 s.dir, s.dir);
	assert_int_equal(system(command), 0);
	sum = run(&s, out);
	assert_true(sum.filtered == 200 && !sum.failed && !sum.skipped && s.filtered == 200);
	snprintf(command, sizeof(command), "[ $(cat %s/* | grep -c text) = 200 ] && [ $(ls %s | wc -l) = 200 ]",
		 out, out);
	assert_int_equal(system(command), 0);
	sum = run(&s, out);
	assert_true(!s.filtered && sum.skipped == 200);
	snprintf(command, sizeof(command), "rm -r %s", s.dir);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_batch), cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
