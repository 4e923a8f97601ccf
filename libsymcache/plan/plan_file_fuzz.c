/*
 * Fuzzing of what a task and a merge read: the first byte chooses the file, the rest is what is
 * in it. Hashes are made right, so that what is behind them is reached.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/plan/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/plan_fuzz.XXXXXX";

static void remove_files(void)
{
	static const char *const made[] = {
		"plan.json", "shards.jsonl", "inputs.jsonl", ".symcache/done/0.json", ".symcache/done",
		".symcache/finished.jsonl", ".symcache", "",
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		const struct mk_path path = mk_path("%s/%s", dir, made[i]);

		remove(path.text);
	}
}

static void make_folders(void)
{
	static bool made;
	struct mk_path record;

	if (made || !mkdtemp(dir))
		return;
	made = true;
	record = mk_record_path(dir, 0);
	if (sc_make_parents(record.text, NULL))
		abort();
	atexit(remove_files);
}

static void new_text(struct mk_out *o, const uint8_t *data, size_t size)
{
	if (mk_out_init(o, size + 256, NULL, NULL))
		abort();
	mk_out_put(o, (const char *)data, size);
}

static void write_file(const char *name, struct mk_out *o)
{
	const struct mk_path path = mk_path("%s/%s", dir, name);
	FILE *f = fopen(path.text, "w");

	if (!f || fwrite(o->buf, 1, o->len, f) != o->len || fclose(f))
		abort();
	mk_out_deinit(o);
}

/* Lines, with the last one that they must have. */
static void write_rows(const char *name, const uint8_t *data, size_t size,
		       char hash[SC_HASH_TEXT])
{
	struct mk_out o;
	char last[128];
	size_t lines = 0;

	new_text(&o, data, size);
	if (size && data[size - 1] != '\n')
		mk_out_char(&o, '\n');
	for (size_t i = 0; i < o.len; i++)
		lines += o.buf[i] == '\n';
	sc_hash_text(sc_hash_of(o.buf, o.len), hash);
	snprintf(last, sizeof(last), "{\"lines\":%zu,\"xxh128\":\"%s\"}\n", lines, hash);
	mk_out_put(&o, last, strlen(last));
	write_file(name, &o);
}

static void try_plan(const uint8_t *data, size_t size)
{
	char hash[SC_HASH_TEXT];
	struct mk_out o;
	struct mk_plan p;

	new_text(&o, data, size);
	sc_hash_text(sc_hash_of(data, size), hash);
	mk_out_lit(&o, ",\"xxh128\":\"");
	mk_out_put(&o, hash, strlen(hash));
	mk_out_lit(&o, "\"}\n");
	write_file("plan.json", &o);
	if (!mk_plan_open(dir, &p, NULL) && strcmp(p.hash, hash))
		abort();
	mk_plan_close(&p);
}

static void try_shards(struct mk_plan *p, const uint8_t *data, size_t size)
{
	for (uint64_t task = 0; task < 4; task++) {
		struct mk_shards s = { 0 };

		write_rows("shards.jsonl", data, size, p->shards_hash);
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
		write_rows("inputs.jsonl", data, size, p->logs_hash);
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

	new_text(&again, data, 0);

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

	new_text(&o, data, size);
	write_file(".symcache/finished.jsonl", &o);
	if (!markup_finished_open(dir, &f, NULL)) {
		if (markup_finished_find(f, "plan.json", &made) && strlen(made.hash) != SC_HASH_TEXT - 1)
			abort();
		markup_finished_find(f, "../../etc/passwd", &made);
		markup_finished_close(f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mk_plan p = { .dir = dir, .tasks = 3, .shards = 4, .logs = 3 };
	char hash[SC_HASH_TEXT];
	struct mk_record r;

	make_folders();
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
		write_rows(".symcache/done/0.json", data + 1, size - 1, hash);
		mk_record_read(&p, dir, 0, size % 2, &r, NULL);
		mk_record_deinit(&r);
		break;
	default:
		try_complaints(data + 1, size - 1);
	}
	return 0;
}
