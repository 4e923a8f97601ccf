/* Where logs are cut, and where they stay whole: shards cover each log from its beginning to its end,
 * and begin at lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/plan/cut.h"

enum { LINE = 16, MB = 1 << 20 };

static char dir[] = "/tmp/plan_cut.XXXXXX";
static char path[100];

static int set_up(void **state)
{
	char contexts[100];

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/log", dir);
	snprintf(contexts, sizeof(contexts), "%s/contexts", dir);
	return mkdir(contexts, 0777);
}

static int tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* So many bytes, of lines of 16. */
static void write_log(size_t size)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	for (size_t i = 0; i < size; i++)
		fputc(i % LINE == LINE - 1 ? '\n' : 'a' + (int)(i / LINE % 26), f);
	fclose(f);
}

static void test_places(void **state)
{
	static const struct {
		size_t size;
		uint64_t task_size;
		enum markup_log_kind kind;
		const char *ends; /* of the shards, in units of a quarter of 1 MiB; "~": somewhere behind */
	} cases[] = {
		/* Where a line ends at a target, it is cut there. */
		{ 4 * MB, MB, MARKUP_LOG_PLAIN, "4 8 12 16" }, { 4 * MB, 2 * MB, MARKUP_LOG_PLAIN, "8 16" },
		/* Targets divide the log evenly. */
		{ 4 * MB, 4 * MB - 1, MARKUP_LOG_PLAIN, "8 16" }, { 4 * MB, 3 * MB, MARKUP_LOG_PLAIN, "8 16" },
		{ 4 * MB, 4 * MB, MARKUP_LOG_PLAIN, "16" }, { 4 * MB, 5 * MB, MARKUP_LOG_PLAIN, "16" },
		{ 4 * MB, MB, MARKUP_LOG_GZIP, "16" }, { LINE, 1, MARKUP_LOG_PLAIN, "~" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct markup_log log = { path, "o", cases[i].size, 0, cases[i].kind };
		const struct markup_planning p = { .logs = &log, .num_logs = 1, .task_size = cases[i].task_size, .threads = 1 };
		struct mk_cuts cuts = { 0 };
		struct sc_error err;
		char got[200] = "";
		uint64_t from = 0;

		write_log(cases[i].size);
		if (mk_cut(&p, dir, &cuts, &err))
			fail_msg("%s", err.msg);
		for (size_t k = 0; k < cuts.shards.len; k++) {
			const struct mk_shard *s = &cuts.shards.data[k];

			assert_true(s->number == k && s->log == 0 && s->from == from && s->to > from);
			assert_int_equal(s->line, s->from / LINE);
			assert_int_equal(s->last, k + 1 == cuts.shards.len);
			assert_int_equal(!*s->contexts_hash, !k);
			snprintf(got + strlen(got), sizeof(got) - strlen(got), s->to % (MB / 4) ? "%s~" : "%s%llu", k ? " " : "",
				 (unsigned long long)(s->to / (MB / 4)));
			from = s->to;
		}
		assert_int_equal(from, cases[i].size);
		if (strcmp(got, cases[i].ends))
			fail_msg("%zu in tasks of %llu: %s", cases[i].size, (unsigned long long)cases[i].task_size, got);
		mk_cuts_deinit(&cuts);
	}
}

/* Of several logs, in their order; a log that is not there, or cannot be read, ends it. */
static void test_several(void **state)
{
	struct markup_log logs[] = {
		{ path, "a", 4 * MB, 0, MARKUP_LOG_PLAIN }, { "/nonexistent", "b", 5, 0, MARKUP_LOG_PLAIN },
		{ path, "c", 4 * MB, 0, MARKUP_LOG_PLAIN }, { path, "d", MB, 0, MARKUP_LOG_ZSTD },
	};
	struct markup_planning p = { .logs = logs, .num_logs = 4, .task_size = 2 * MB, .threads = 2 };
	struct mk_cuts cuts = { 0 };
	struct sc_error err;
	char got[200] = "";

	(void)state;
	snprintf(got, sizeof(got), "rm -f %s/contexts/*", dir);
	assert_int_equal(system(got), 0);
	*got = 0;
	write_log(4 * MB);
	assert_int_equal(mk_cut(&p, dir, &cuts, &err), 0);
	for (size_t k = 0; k < cuts.shards.len; k++) {
		const struct mk_shard *s = &cuts.shards.data[k];
		char context[100];

		snprintf(got + strlen(got), sizeof(got) - strlen(got), "%llu:%llu-%llu%s ", (unsigned long long)s->log,
			 (unsigned long long)s->from, (unsigned long long)s->to, s->last ? "." : "");
		snprintf(context, sizeof(context), "%s/contexts/%06zu", dir, k);
		assert_int_equal(access(context, F_OK), s->from ? 0 : -1);
	}
	assert_string_equal(got, "0:0-2097152 0:2097152-4194304. 1:0-5. 2:0-2097152 2:2097152-4194304. 3:0-1048576. ");
	mk_cuts_deinit(&cuts);
	cuts = (struct mk_cuts){ 0 };
	logs[1].size = 3 * MB; /* which is to be read now */
	assert_int_equal(mk_cut(&p, dir, &cuts, &err), SC_ESYS);
	assert_string_equal(err.msg, "/nonexistent: No such file or directory");
	mk_cuts_deinit(&cuts);
	cuts = (struct mk_cuts){ 0 };
	logs[1].path = "/"; /* which read() refuses */
	assert_int_equal(mk_cut(&p, dir, &cuts, &err), SC_ESYS);
	assert_string_equal(err.msg, "/: Is a directory");
	mk_cuts_deinit(&cuts);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_places), cmocka_unit_test(test_several) };

	return cmocka_run_group_tests_name("cut", tests, set_up, tear_down);
}
