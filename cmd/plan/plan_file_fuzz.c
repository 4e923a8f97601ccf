/*
 * Fuzzing of what a task and a merge read: the first byte chooses the file, the rest is what is
 * in it. Hashes are made right, so that what is behind them is reached.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/plan/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/plan_fuzz.XXXXXX";

static void remove_files(void)
{
	static const char *const made[] = {
		"plan.json", "shards.jsonl", "inputs.jsonl", ".symcache/done/0.json", ".symcache/done",
		".symcache", "",
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		char *path = plan_path(dir, made[i]);

		remove(path);
		free(path);
	}
}

static void make_folders(void)
{
	static bool made;
	char *record;

	if (made || !mkdtemp(dir))
		return;
	made = true;
	record = out_record_path(dir, 0);
	if (sc_make_parents(record, NULL))
		abort();
	free(record);
	atexit(remove_files);
}

static void write_file(const char *name, const struct text *t)
{
	char *path = plan_path(dir, name);
	FILE *f = fopen(path, "w");

	if (!f || fwrite(t->bytes, 1, t->len, f) != t->len || fclose(f))
		abort();
	free(path);
}

/* Lines, with the last one that they must have. */
static void write_rows(const char *name, const uint8_t *data, size_t size, char hash[HASH_TEXT])
{
	struct text t = { 0 };
	char last[128];
	size_t lines = 0;

	if (size)
		text_put(&t, data, size);
	if (size && data[size - 1] != '\n')
		text_char(&t, '\n');
	for (size_t i = 0; i < t.len; i++)
		lines += t.bytes[i] == '\n';
	hash_text(XXH3_128bits(t.bytes, t.len), hash);
	snprintf(last, sizeof(last), "{\"lines\":%zu,\"xxh128\":\"%s\"}\n", lines, hash);
	text_str(&t, last);
	write_file(name, &t);
	free(t.bytes);
}

static void try_plan(const uint8_t *data, size_t size)
{
	char hash[HASH_TEXT];
	struct text t = { 0 };
	struct plan p;

	if (size)
		text_put(&t, data, size);
	hash_text(XXH3_128bits(data, size), hash);
	text_str(&t, ",\"xxh128\":\"");
	text_str(&t, hash);
	text_str(&t, "\"}\n");
	write_file("plan.json", &t);
	free(t.bytes);
	if (!plan_open(dir, &p, NULL) && !strcmp(p.hash, hash))
		form_valid(&p.form);
	plan_close(&p);
}

static void try_shards(struct plan *p, const uint8_t *data, size_t size)
{
	for (uint64_t task = 0; task < 4; task++) {
		struct plan_shards s = { 0 };

		write_rows("shards.jsonl", data, size, p->shards_hash);
		if (!plan_read_shards(p, task == 3 ? PLAN_ALL : task, &s, NULL))
			for (size_t i = 0; i < s.len; i++)
				if (s.data[i].number >= p->shards || s.data[i].log >= p->logs)
					abort();
		free(s.data);
	}
}

static void try_logs(struct plan *p, const uint8_t *data, size_t size)
{
	struct plan_shard of = { .log = 1 };
	const struct plan_shards shards = { &of, 1, 1 };

	for (int all = 0; all < 2; all++) {
		struct plan_logs l = { 0 };

		p->logs = 2;
		write_rows("inputs.jsonl", data, size, p->logs_hash);
		if (!plan_read_logs(p, all ? NULL : &shards, &l, NULL))
			for (size_t i = 0; i < l.len; i++)
				if (!l.data[i].output[0] || l.data[i].output[0] == '/' ||
				    strstr(l.data[i].output, "/../"))
					abort();
		plan_logs_deinit(&l);
	}
}

static void try_complaints(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size;
	struct markup_module m;
	struct markup_str text;
	struct text again = { 0 };

	while (complaint_next(&p, end, &m, &text))
		complaint_put(&again, &m, text.ptr, text.len);
	if (memcmp(data, again.bytes ? again.bytes : "", again.len))
		abort();
	free(again.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct plan p = { .dir = dir, .tasks = 3, .shards = 4, .logs = 3 };
	char hash[HASH_TEXT];
	struct record r;

	make_folders();
	if (!size)
		return 0;
	memset(p.hash, 'a', HASH_TEXT - 1);
	switch (data[0]) {
	case 'p':
		try_plan(data + 1, size - 1);
		break;
	case 's':
		try_shards(&p, data + 1, size - 1);
		break;
	case 'i':
		try_logs(&p, data + 1, size - 1);
		break;
	case 'r':
		write_rows(".symcache/done/0.json", data + 1, size - 1, hash);
		record_read(&p, dir, 0, size % 2, &r, NULL);
		record_deinit(&r);
		break;
	default:
		try_complaints(data + 1, size - 1);
	}
	return 0;
}
