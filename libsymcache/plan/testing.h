/* For tests: files of a plan that may be anything, with hashes that are right, so that what is
 * behind them is reached. */
#ifndef MARKUP_PLAN_TESTING_H
#define MARKUP_PLAN_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/plan/record.h"

/* The folder of the plan, and of what it makes. */
static char plan_dir[] = "/tmp/plan_test.XXXXXX";

static inline void plan_remove(void)
{
	static const char *const made[] = {
		"plan.json",	  "shards.jsonl",
		"inputs.jsonl",	  ".symcache/done/0.json",
		".symcache/done", ".symcache/finished.jsonl",
		".symcache",	  "",
	};

	for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		const struct mk_path path = mk_path("%s/%s", plan_dir, made[i]);

		remove(path.text);
	}
}

/* Makes them, once; they go with the process. */
static inline bool plan_folders(void)
{
	static bool made;
	struct mk_path record;

	if (made)
		return true;
	made = mkdtemp(plan_dir);
	record = mk_record_path(plan_dir, 0);
	return made && !sc_make_parents(record.text, NULL) && !atexit(plan_remove);
}

static inline void plan_text(struct mk_out *o, const uint8_t *data, size_t size)
{
	if (mk_out_init(o, size + 256, NULL, NULL))
		abort();
	mk_out_put(o, (const char *)data, size);
}

static inline void plan_write(const char *name, struct mk_out *o)
{
	const struct mk_path path = mk_path("%s/%s", plan_dir, name);
	FILE *f = fopen(path.text, "w");

	if (!f || fwrite(o->buf, 1, o->len, f) != o->len || fclose(f))
		abort();
	mk_out_deinit(o);
}

/* plan.json, with its hash. */
static inline void plan_write_plan(const uint8_t *data, size_t size, char hash[SC_HASH_TEXT])
{
	struct mk_out o;

	plan_text(&o, data, size);
	sc_hash_text(sc_hash_of(data, size), hash);
	mk_out_lit(&o, ",\"xxh128\":\"");
	mk_out_put(&o, hash, strlen(hash));
	mk_out_lit(&o, "\"}\n");
	plan_write("plan.json", &o);
}

/* Lines, with the last one that they must have. */
static inline void plan_write_rows(const char *name, const uint8_t *data, size_t size,
				   char hash[SC_HASH_TEXT])
{
	struct mk_out o;
	char last[128];
	size_t lines = 0;

	plan_text(&o, data, size);
	if (size && data[size - 1] != '\n')
		mk_out_char(&o, '\n');
	for (size_t i = 0; i < o.len; i++)
		lines += o.buf[i] == '\n';
	sc_hash_text(sc_hash_of(o.buf, o.len), hash);
	snprintf(last, sizeof(last), "{\"lines\":%zu,\"xxh128\":\"%s\"}\n", lines, hash);
	mk_out_put(&o, last, strlen(last));
	plan_write(name, &o);
}

#endif
