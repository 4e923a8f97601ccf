/*
 * Files of plans and records whose lines are valid, but whose numbers make no sense: written by
 * another version, or by someone who computes the hash as well. What is not refused would be read
 * past an end, or put into the output of another log.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/plan/record.h"

#define HASH "0123456789abcdef0123456789abcdef"

static char dir[] = "/tmp/plan_files.XXXXXX";
static struct sc_error err;

/* The C library's call below getline(), which fails here in the middle of a file when lines_left is 0. */
static int lines_left = -1;

ssize_t __getdelim(char **line, size_t *cap, int end, FILE *file)
{
	if (lines_left > 0)
		lines_left--;
	if (lines_left)
		return getdelim(line, cap, end, file);
	errno = EIO;
	return -1;
}

static const char *in_dir(const char *name)
{
	static char path[100];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(dir) || mkdir(in_dir(MARKUP_FOLDER), 0777) || mkdir(in_dir(MARKUP_FOLDER "/done"), 0777);
}

static int tear_down(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

/* ---- shards.jsonl: a plan of 2 tasks, 3 shards, 2 logs ------------------------------------- */

#define A { .number = 0, .task = 0, .log = 0, .from = 0, .to = 9 }
#define B { .number = 1, .task = 1, .log = 0, .from = 9, .to = 20, .last = true, .contexts_hash = HASH }
#define C { .number = 2, .task = 0, .log = 1, .from = 0, .to = 5, .last = true }

static void test_shards(void **state)
{
	static const struct {
		const char *what;
		size_t n;
		struct mk_shard shards[4];
		bool good, good_for_task_0;
	} cases[] = {
		{ "in order", 3, { A, B, C }, true, true },
		{ "by task, as plans are written", 3, { A, C, B }, true, true },
		{ "one is missing", 2, { A, B }, false, true },
		{ "one twice", 4, { A, B, C, B }, false, true },
		{ "one of task 0 twice", 4, { A, B, C, A }, false, false },
		{ "shard 3 of 3", 3, { A, B, { .number = 3, .log = 1, .to = 5 } }, false, false },
		{ "task 2 of 2", 3, { A, B, { .number = 2, .task = 2, .log = 1, .to = 5 } }, false, true },
		{ "log 2 of 2", 3, { A, B, { .number = 2, .log = 2, .to = 5 } }, false, false },
		{ "it ends before it begins", 3, { A, B, { .number = 2, .log = 1, .from = 6, .to = 5, .contexts_hash = HASH } },
		  false, false },
		{ "empty", 3, { A, B, { .number = 2, .log = 1, .last = true } }, true, true },
		{ "what is known where nothing is before it", 3, { A, B, { .number = 2, .log = 1, .to = 5, .contexts_hash = HASH } },
		  false, false },
		{ "nothing known inside of a log", 3, { A, B, { .number = 2, .log = 1, .from = 1, .to = 5 } },
		  false, false },
		{ "an earlier log behind a later one", 3, { { .number = 0, .log = 1, .to = 9 }, B, C }, false, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_plan plan = { .dir = dir, .tasks = 2, .shards = 3, .logs = 2 };
		struct mk_rows_out w;

		assert_int_equal(mk_rows_create(&w, in_dir("shards.jsonl"), 0, &err), 0);
		for (size_t k = 0; k < cases[i].n; k++)
			mk_rows_put(&w, mk_shard_columns, &cases[i].shards[k]);
		assert_int_equal(mk_rows_commit(&w, plan.shards_hash, &err), 0);
		for (int all = 0; all < 2; all++) {
			struct mk_shards s = { 0 };
			const int rc = mk_plan_read_shards(&plan, all ? MK_PLAN_ALL : 0, &s, &err);

			if (rc != ((all ? cases[i].good : cases[i].good_for_task_0) ? 0 : SC_EFORMAT))
				fail_msg("%s: %d: %s", cases[i].what, rc, rc ? err.msg : "");
			if (!rc)
				assert_int_equal(s.len, all ? 3 : cases[i].n == 2 ? 1 : s.len);
			vec_deinit(&s);
		}
		plan.shards_hash[0] ^= 1; /* of another plan */
		struct mk_shards s = { 0 };
		assert_int_equal(mk_plan_read_shards(&plan, MK_PLAN_ALL, &s, &err), SC_EFORMAT);
		vec_deinit(&s);
	}
}

/* ---- records of tasks ------------------------------------------------------------------------ */

#define RESULT(n, bytes) { .shard = n, .read = 10, .written = 20, .hash = HASH, .complaints = bytes }

static void test_records(void **state)
{
	static const struct {
		const char *what;
		size_t n;
		struct mk_result results[3];
		uint64_t missed_of; /* a shard; UINT64_MAX: nothing was missed */
		uint64_t task, complaints;
		const char *plan;
		bool good;
	} cases[] = {
		{ "in order", 2, { RESULT(1, 3), RESULT(4, 5) }, UINT64_MAX, 7, 8, HASH, true },
		{ "with a module that is missing", 2, { RESULT(1, 3), RESULT(4, 5) }, 4, 7, 8, HASH, true },
		{ "no shards", 0, { { 0 } }, UINT64_MAX, 7, 0, HASH, true },
		{ "they do not ascend", 2, { RESULT(4, 3), RESULT(1, 5) }, UINT64_MAX, 7, 8, HASH, false },
		{ "one twice", 2, { RESULT(4, 3), RESULT(4, 5) }, UINT64_MAX, 7, 8, HASH, false },
		{ "more complaints than it says", 2, { RESULT(1, 3), RESULT(4, 6) }, UINT64_MAX, 7, 8, HASH, false },
		{ "of another task", 1, { RESULT(1, 0) }, UINT64_MAX, 8, 0, HASH, false },
		{ "of another plan", 1, { RESULT(1, 0) }, UINT64_MAX, 7, 0, "f" "123456789abcdef0123456789abcdef", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct mk_plan plan = { .dir = dir, .hash = HASH };
		const struct markup_module missing = {
			.name = sc_str_of("libx.so"), .build_id = (const uint8_t *)"\1\2", .build_id_len = 2, .frames = 9,
		};
		struct mk_record r = { .task = cases[i].task, .complaints = cases[i].complaints, .complaints_hash = HASH };
		struct mk_path from = mk_record_path(dir, cases[i].task), to = mk_record_path(dir, 7);
		struct mk_record back;
		int rc;

		strcpy(r.plan, cases[i].plan);
		for (size_t k = 0; k < cases[i].n; k++)
			*vec_push(&r.results) = cases[i].results[k];
		if (cases[i].missed_of != UINT64_MAX)
			assert_true(mk_misses_add(&r.missed, cases[i].missed_of, &missing));
		assert_int_equal(mk_record_write(&r, dir, &err), 0);
		mk_record_deinit(&r);
		rename(from.text, to.text);
		rc = mk_record_read(&plan, dir, 7, false, &back, &err);
		if (rc != (cases[i].good ? 0 : SC_EFORMAT))
			fail_msg("%s: %d: %s", cases[i].what, rc, rc ? err.msg : "");
		if (cases[i].good) {
			assert_int_equal(back.results.len, cases[i].n);
			assert_int_equal(back.missed.len, cases[i].missed_of != UINT64_MAX);
		}
		if (back.missed.len) {
			assert_int_equal(back.missed.data[0].shard, cases[i].missed_of);
			assert_memory_equal(back.missed.data[0].module.name.ptr, "libx.so", 7);
			assert_memory_equal(back.missed.data[0].module.build_id, "\1\2", 2);
			assert_int_equal(back.missed.data[0].module.frames, 9);
		}
		mk_record_deinit(&back);
	}
}

/* A module that is missing belongs to the result in front of it, and to no other; records of other
 * versions are not guessed at. */
static void test_misplaced(void **state)
{
	static const struct mk_column head[] = {
		{ "record", MK_NUMBER, offsetof(struct mk_record, version), NULL },
		{ "plan", MK_HASH, offsetof(struct mk_record, plan), NULL },
		{ "task", MK_NUMBER, offsetof(struct mk_record, task), NULL },
		{ "host", MK_TEXT, offsetof(struct mk_record, host), NULL },
		{ "begun", MK_SIGNED, offsetof(struct mk_record, begun), NULL },
		{ "ended", MK_SIGNED, offsetof(struct mk_record, ended), NULL },
		{ "shards", MK_NUMBER, offsetof(struct mk_record, shards), NULL },
		{ "read", MK_NUMBER, offsetof(struct mk_record, read), NULL },
		{ "written", MK_NUMBER, offsetof(struct mk_record, written), NULL },
		{ "complaints", MK_NUMBER, offsetof(struct mk_record, complaints), NULL },
		{ "complaints_xxh128", MK_HASH, offsetof(struct mk_record, complaints_hash), NULL },
		{ 0 },
	};
	static const struct mk_column row[] = { { "shard", MK_NUMBER, 0, NULL }, { "build_id", MK_HEX, 8, NULL }, { 0 } };
	const struct { uint64_t shard; struct sc_str id; } missed = { 1, { "\1", 1 } };
	const struct mk_plan plan = { .dir = dir, .hash = HASH };

	(void)state;
	for (uint64_t version = 1; version < 4; version++) {
		const struct mk_record r = { .version = version, .plan = HASH, .task = 7, .complaints_hash = HASH };
		const struct mk_path path = mk_record_path(dir, 7);
		struct mk_record back;
		struct mk_rows_out w;

		assert_int_equal(mk_rows_create(&w, path.text, 0, &err), 0);
		mk_rows_put(&w, head, &r);
		if (version == 1)
			mk_rows_put(&w, row, &missed);
		assert_int_equal(mk_rows_commit(&w, NULL, &err), 0);
		assert_int_equal(mk_record_read(&plan, dir, 7, false, &back, &err), SC_EFORMAT);
		mk_record_deinit(&back);
	}
}

/* ---- complaints ---------------------------------------------------------------------------------- */

static void test_complaints(void **state)
{
	const struct markup_module of = { .name = sc_str_of("libx.so"), .build_id = (const uint8_t *)"\1\2\3",
					  .build_id_len = 3 };
	struct markup_module got = { 0 };
	struct mk_out o;
	struct sc_str text;
	char bytes[200];
	size_t len;

	(void)state;
	assert_int_equal(mk_out_init(&o, 256, NULL, NULL), 0);
	mk_complaint_put(&o, &of, "not there", 9);
	mk_complaint_put(&o, NULL, "plain", 5);
	len = o.len;
	assert_true(len < sizeof(bytes));
	memcpy(bytes, o.buf, len);
	for (size_t cut = 0; cut <= len; cut++) {
		const char *p = bytes, *end = bytes + len - cut;

		if (!mk_complaint_next(&p, end, &got, &text)) {
			assert_true(len - cut < 8 + 3 + 7 + 9);
			continue;
		}
		assert_true(sc_str_is(text, "not there") && sc_str_is(got.name, "libx.so"));
		assert_memory_equal(got.build_id, "\1\2\3", 3);
		assert_int_equal(mk_complaint_next(&p, end, &got, &text), !cut);
		if (!cut) {
			assert_true(sc_str_is(text, "plain") && !got.name.len && !got.build_id_len);
			assert_false(mk_complaint_next(&p, end, &got, &text));
		}
	}
	mk_out_deinit(&o);
}

/* Of several rows of one output the last one counts, if the output is as it was then: else a log that
 * has changed would be taken for done. */
static void test_finished(void **state)
{
	static const char hashes[3][SC_HASH_TEXT] = {
		"00000000000000000000000000000001", "00000000000000000000000000000002",
		"00000000000000000000000000000003",
	};
	static const char *const outputs[] = { "a", "b", "a" };
	struct markup_finished_log log = { 0 };
	struct markup_finished *f;
	struct stat st;

	(void)state;
	for (int i = 0; i < 2; i++) {
		FILE *out = fopen(in_dir(outputs[i]), "w");

		fprintf(out, "output %d", i);
		fclose(out);
	}
	assert_int_equal(markup_finished_open(dir, &f, &err), 0);
	for (int i = 0; i < 3; i++) {
		log.output = outputs[i];
		log.size = (uint64_t)i;
		memcpy(log.hash, hashes[i], SC_HASH_TEXT);
		assert_int_equal(markup_finished_add(f, &log, &err), 0);
		assert_false(markup_finished_find(f, outputs[i], &log)); /* before the next opening */
	}
	log.output = "gone";
	assert_int_equal(markup_finished_add(f, &log, &err), SC_ESYS);
	markup_finished_close(f);
	assert_int_equal(markup_finished_open(dir, &f, &err), 0);
	assert_true(markup_finished_find(f, "a", &log));
	assert_string_equal(log.hash, hashes[2]);
	assert_int_equal(log.size, 2);
	assert_true(markup_finished_find(f, "b", &log));
	assert_string_equal(log.hash, hashes[1]);
	assert_false(markup_finished_find(f, "c", &log));
	/* Of the same size, but written since; and of another size with the same date. */
	assert_int_equal(utimensat(AT_FDCWD, in_dir("a"), (struct timespec[]){ { 1, 0 }, { 1, 0 } }, 0), 0);
	assert_false(markup_finished_find(f, "a", &log));
	assert_int_equal(stat(in_dir("b"), &st), 0);
	assert_int_equal(truncate(in_dir("b"), 3), 0);
	assert_int_equal(utimensat(AT_FDCWD, in_dir("b"), (struct timespec[]){ st.st_atim, st.st_mtim }, 0), 0);
	assert_false(markup_finished_find(f, "b", &log));
	unlink(in_dir("b"));
	assert_false(markup_finished_find(f, "b", &log));
	markup_finished_close(f);
	/* What cannot be read to its end would be done again. */
	lines_left = 2;
	assert_int_equal(markup_finished_open(dir, &f, &err), SC_ESYS);
	assert_non_null(strstr(err.msg, "finished.jsonl: Input/output error"));
	lines_left = -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shards), cmocka_unit_test(test_records),
		cmocka_unit_test(test_misplaced), cmocka_unit_test(test_complaints),
		cmocka_unit_test(test_finished),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
