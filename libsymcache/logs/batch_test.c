/* Outputs of many logs: what is finished is left alone, what is cut off is made again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	struct stat st;

	(void)ctx;
	assert_true(done < total);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(total, st.st_size, 1000000); /* of all logs together */
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
	assert_int_equal(testing_run("cp %s/a %s/c", in, in), 0);
	sum = run(&s, out);
	assert_true(sum.broken && sum.filtered == 1 && sum.failed == 1 && s.filtered == 2);
	snprintf(command, sizeof(command), "[ -e %s/a ] && [ ! -e %s/b ] && [ ! -e %s/c ] && rm -r %s", out, out,
		 out, s.dir);
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

/* ---- with the filters of logs ---------------------------------------------------------------- */

static char faults[500];

static void keep_fault(void *ctx, const char *message)
{
	(void)ctx;
	snprintf(faults + strlen(faults), sizeof(faults) - strlen(faults), "%s; ", message);
}

static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	(void)warns_of;
	assert_null(ctx);
	snprintf(faults + strlen(faults), sizeof(faults) - strlen(faults), "%.*s", (int)len, text);
}

/* A log that is whole, one that is packed and cut off, one that cannot be opened; as text and as pages. */
static void test_filters(void **state)
{
	static const struct { enum markup_format format; const char *outputs, *title; } cases[] = {
		{ MARKUP_TEXT_OUT, "a b c.txt", NULL }, { MARKUP_HTML, "a.html b.html c.txt.html", "<title>a</title>" },
	};

	(void)state;
	assert_non_null(mkdtemp(testing_dir));
	assert_int_equal(chdir(testing_dir), 0);
	assert_int_equal(testing_run("mkdir in && printf 'one\n#0 0x7 (/opt/p+0x7)\n' > in/a && seq 20000 | gzip | head -c 9000 > in/b.gz && "
				     "echo three > in/c.txt"), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct markup_options markup = { .format = cases[i].format };
		struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){
			.store_optional = true });
		struct symlog_filter_options how = { .markup = &markup, .threads = 1, .say = say,
						     .from.find.caches = caches };
		const struct symlog_batch_options options = {
			.output_dir = "out", .format = cases[i].format, .jobs = 2, .how = &how, .progress = progress,
			.fault = keep_fault,
		};

		for (int again = 0; again < 2; again++) {
			struct symlog_list list = { 0 };
			struct symlog_batch sum;
			struct sc_error err;

			*faults = 0;
			assert_int_equal(markup_tally_create(&how.tally), 0);
			assert_int_equal(symlog_list_add(&list, "in", true, 1, &err), 0);
			assert_int_equal(symlog_batch(&list, &options, &sum, &err), 0);
			assert_true(sum.filtered == (again ? 0u : 2u) && sum.skipped == (again ? 2u : 0u));
			assert_true(sum.failed == 1 && !sum.broken);
			assert_non_null(strstr(faults, "in/b.gz: after 9000 bytes: "));
			assert_int_equal(markup_tally_stats(how.tally)->frames, !again);
			markup_tally_destroy(how.tally);
			symlog_list_deinit(&list);
		}
		assert_int_equal(testing_run("cd out && [ \"$(echo *)\" = '%s' ]", cases[i].outputs), 0);
		if (cases[i].title)
			assert_int_equal(testing_run("grep -q '%s' out/a.html && grep -q three out/c.txt.html", cases[i].title), 0);
		else
			assert_int_equal(testing_run("cmp -s out/a in/a && cmp -s out/c.txt in/c.txt && "
						     "seq 20000 | head -c $(stat -c %%s out/b) | cmp -s - out/b"), 0);
		symcache_caches_destroy(caches);
		assert_int_equal(testing_run("rm -r out"), 0);
	}
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(testing_run("rm -r %s", testing_dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_batch), cmocka_unit_test(test_many),
		cmocka_unit_test(test_filters) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
