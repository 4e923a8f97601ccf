/* What is read of each seed of the fuzz target, and of damaged ones: files of plans, and records.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/plan/testing.h"

/* The folder has another name each time. */
static void put_error(FILE *to, int rc, const struct sc_error *err)
{
	const char *at = strstr(err->msg, plan_dir);

	fprintf(to, "%d %.*s%s\n", rc, (int)(at ? at - err->msg : 0), err->msg,
		at ? at + strlen(plan_dir) : err->msg);
}

static void plan_of(const uint8_t *bytes, size_t size, FILE *to)
{
	char hash[SC_HASH_TEXT];
	struct sc_error err;
	struct mk_plan p;
	int rc;

	plan_write_plan(bytes, size, hash);
	rc = mk_plan_open(plan_dir, &p, &err);
	if (rc) {
		put_error(to, rc, &err);
	} else {
		fprintf(to,
			"version %" PRIu64 " by %s, %s|%s %s, size %" PRIu64 ", %" PRIu64
			" logs, %" PRIu64 " shards, %" PRIu64 " tasks, %" PRIu64 " bytes, %" PRIu64
			" left out, demuxed %d, %s %s\n",
			p.version, p.made_by, p.module_lines ? p.module_lines : "", p.store_name,
			p.store, p.task_size, p.logs, p.shards, p.tasks, p.bytes, p.left_out,
			p.demuxed, p.logs_hash, p.shards_hash);
		assert_string_equal(p.hash, hash);
	}
	mk_plan_close(&p);
}

static void shards_of(struct mk_plan *p, const uint8_t *bytes, size_t size, FILE *to)
{
	for (uint64_t task = 0; task < 4; task++) {
		struct mk_shards s = { 0 };
		struct sc_error err;
		int rc;

		plan_write_rows("shards.jsonl", bytes, size, p->shards_hash);
		rc = mk_plan_read_shards(p, task == 3 ? MK_PLAN_ALL : task, &s, &err);
		if (rc)
			put_error(to, rc, &err);
		for (size_t i = 0; !rc && i < s.len; i++)
			fprintf(to,
				"task %" PRIu64 ": %" PRIu64 " %" PRIu64 " of %" PRIu64 " [%" PRIu64
				" %" PRIu64 ") line %" PRIu64 " last %d whole %d %s\n",
				task, s.data[i].number, s.data[i].task, s.data[i].log,
				s.data[i].from, s.data[i].to, s.data[i].line, s.data[i].last,
				mk_shard_is_whole(&s.data[i]), s.data[i].contexts_hash);
		vec_deinit(&s);
	}
}

static void logs_of(struct mk_plan *p, const uint8_t *bytes, size_t size, FILE *to)
{
	struct mk_shard of = { .log = 1 };
	const struct mk_shards shards = { &of, 1, 1 };

	for (int all = 0; all < 2; all++) {
		struct mk_logs l = { 0 };
		struct sc_error err;
		int rc;

		p->logs = 2;
		plan_write_rows("inputs.jsonl", bytes, size, p->logs_hash);
		rc = mk_plan_read_logs(p, all ? NULL : &shards, &l, &err);
		if (rc)
			put_error(to, rc, &err);
		for (size_t i = 0; !rc && i < l.len; i++)
			fprintf(to, "log %" PRIu64 " %s → %s, %" PRIu64 " bytes, kind %d, %s\n",
				l.data[i].number, l.data[i].log.path, l.data[i].log.output,
				l.data[i].log.size, l.data[i].log.kind, l.data[i].tables_hash);
		mk_logs_deinit(&l);
	}
}

static void finished_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct markup_finished_log made;
	struct markup_finished *f;
	struct sc_error err;
	struct mk_out o;
	int rc;

	plan_text(&o, bytes, size);
	plan_write(".symcache/finished.jsonl", &o);
	rc = markup_finished_open(plan_dir, &f, &err);
	if (rc) {
		put_error(to, rc, &err);
		return;
	}
	for (unsigned i = 0; i < 2; i++) {
		const bool found =
			markup_finished_find(f, i ? "../../etc/passwd" : "plan.json", &made);

		fprintf(to, "%d %s\n", found, found ? made.hash : "");
	}
	markup_finished_close(f);
}

static void record_of(const struct mk_plan *p, const uint8_t *bytes, size_t size, FILE *to)
{
	char hash[SC_HASH_TEXT];

	plan_write_rows(".symcache/done/0.json", bytes, size, hash);
	for (int head = 0; head < 2; head++) {
		struct mk_record r;
		struct sc_error err;
		int rc = mk_record_read(p, plan_dir, 0, head, &r, &err);

		if (rc)
			put_error(to, rc, &err);
		else
			fprintf(to,
				"task %" PRIu64 ", %" PRId64 " to %" PRId64 ", %" PRIu64
				" shards, read %" PRIu64 ", written %" PRIu64
				", complaints %" PRIu64 " %s\n",
				r.task, r.begun, r.ended, r.shards, r.read, r.written, r.complaints,
				r.complaints_hash);
		for (size_t i = 0; !rc && i < r.results.len; i++) {
			const struct mk_result *x = &r.results.data[i];

			fprintf(to,
				"shard %" PRIu64 " status %d, %" PRIu64 " %" PRIu64
				" %s, complaints %" PRIu64 ", stats ",
				x->shard, x->status, x->read, x->written, x->hash, x->complaints);
			put_digest(to, &x->stats, sizeof(x->stats));
			fputc('\n', to);
		}
		for (size_t i = 0; !rc && i < r.missed.len; i++)
			fprintf(to, "missed %" PRIu64 " %.*s %zu\n", r.missed.data[i].shard,
				(int)r.missed.data[i].module.name.len,
				r.missed.data[i].module.name.ptr,
				r.missed.data[i].module.build_id_len);
		mk_record_deinit(&r);
	}
}

static void complaints_of(const uint8_t *bytes, size_t size, FILE *to)
{
	const char *p = (const char *)bytes, *end = p + size;
	struct markup_module m;
	struct sc_str text;

	while (mk_complaint_next(&p, end, &m, &text))
		fprintf(to, "%.*s of %.*s, %zu\n", (int)text.len, text.ptr, (int)m.name.len,
			m.name.ptr, m.build_id_len);
	fprintf(to, "%td left\n", end - p);
}

/* As plan_file_fuzz.c: the first byte says which file it is. */
static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	struct mk_plan p = { .dir = plan_dir, .tasks = 3, .shards = 4, .logs = 3 };

	if (!size)
		return;
	assert_true(plan_folders());
	memset(p.hash, 'a', SC_HASH_TEXT - 1);
	switch (bytes[0]) {
	case 'p':
		plan_of(bytes + 1, size - 1, to);
		break;
	case 'f':
		finished_of(bytes + 1, size - 1, to);
		break;
	case 's':
		shards_of(&p, bytes + 1, size - 1, to);
		break;
	case 'i':
		logs_of(&p, bytes + 1, size - 1, to);
		break;
	case 'r':
		record_of(&p, bytes + 1, size - 1, to);
		break;
	default:
		complaints_of(bytes + 1, size - 1, to);
	}
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "plan_file", NULL };

	(void)state;
	expect_answers("plan_file", seeds, 64, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
