/*
 * Fuzzing of what a task and a merge read: the first byte chooses the file, the rest is what is
 * in it. Hashes are made right, so that what is behind them is reached.
 */
#include "libsymcache/plan/testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_plan(const uint8_t *data, size_t size)
{
	char hash[SC_HASH_TEXT];
	struct mk_plan p;

	plan_write_plan(data, size, hash);
	if (!mk_plan_open(plan_dir, &p, NULL) && strcmp(p.hash, hash))
		abort();
	mk_plan_close(&p);
}

static void try_shards(struct mk_plan *p, const uint8_t *data, size_t size)
{
	for (uint64_t task = 0; task < 4; task++) {
		struct mk_shards s = { 0 };

		plan_write_rows("shards.jsonl", data, size, p->shards_hash);
		if (!mk_plan_read_shards(p, task == 3 ? MK_PLAN_ALL : task, &s, NULL))
			for (size_t i = 0; i < s.len; i++)
				if (s.data[i].number >= p->shards || s.data[i].log >= p->logs)
					abort();
		vec_deinit(&s);
	}
}

static void try_logs(struct mk_plan *p, const uint8_t *data, size_t size)
{
	struct mk_shard of = { .log = 1 };
	const struct mk_shards shards = { &of, 1, 1 };

	for (int all = 0; all < 2; all++) {
		struct mk_logs l = { 0 };

		p->logs = 2;
		plan_write_rows("inputs.jsonl", data, size, p->logs_hash);
		if (!mk_plan_read_logs(p, all ? NULL : &shards, &l, NULL))
			for (size_t i = 0; i < l.len; i++)
				if (!l.data[i].log.output[0] || l.data[i].log.output[0] == '/' ||
				    strstr(l.data[i].log.output, "/../"))
					abort();
		mk_logs_deinit(&l);
	}
}

static void try_complaints(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct markup_module m;
	struct sc_str text;
	struct mk_out again;

	plan_text(&again, data, 0);

	while (mk_complaint_next(&p, end, &m, &text))
		mk_complaint_put(&again, &m, text.ptr, text.len);
	if (memcmp(data, again.buf, again.len))
		abort();
	mk_out_deinit(&again);
}

/* What is found of an output is as it is there. */
static void try_finished(const uint8_t *data, size_t size)
{
	struct markup_finished_log made;
	struct markup_finished *f;
	struct mk_out o;

	plan_text(&o, data, size);
	plan_write(".symcache/finished.jsonl", &o);
	if (!markup_finished_open(plan_dir, &f, NULL)) {
		if (markup_finished_find(f, "plan.json", &made) && strlen(made.hash) != SC_HASH_TEXT - 1)
			abort();
		markup_finished_find(f, "../../etc/passwd", &made);
		markup_finished_close(f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mk_plan p = { .dir = plan_dir, .tasks = 3, .shards = 4, .logs = 3 };
	char hash[SC_HASH_TEXT];
	struct mk_record r;

	if (!plan_folders())
		abort();
	if (!size)
		return 0;
	memset(p.hash, 'a', SC_HASH_TEXT - 1);
	switch (data[0]) {
	case 'p':
		try_plan(data + 1, size - 1);
		break;
	case 'f':
		try_finished(data + 1, size - 1);
		break;
	case 's':
		try_shards(&p, data + 1, size - 1);
		break;
	case 'i':
		try_logs(&p, data + 1, size - 1);
		break;
	case 'r':
		plan_write_rows(".symcache/done/0.json", data + 1, size - 1, hash);
		mk_record_read(&p, plan_dir, 0, size % 2, &r, NULL);
		mk_record_deinit(&r);
		break;
	default:
		try_complaints(data + 1, size - 1);
	}
	return 0;
}
