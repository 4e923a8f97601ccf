/*
 * What is said of all logs, as one run of `symcache filter` says it: see merging.h. Complaints
 * come in the order of logs and parts; that a module has no symbols is said once.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/plan/merging.h"
#include "libsymcache/base/cleanup.h"
#include "symcache/build_id.h"

enum { GATHERED = 1 << 16, ROOM = 1 << 16 };

struct said_to {
	struct sc_new_file file;
	struct text text;
	bool quiet;
};

static int flush(struct said_to *to, struct sc_error *err)
{
	if (!to->quiet)
		sc_write_all(STDERR_FILENO, to->text.bytes, to->text.len);
	if (sc_write_all(to->file.fd, to->text.bytes, to->text.len))
		return sc_error_sys(err, "cannot write %s", to->file.path);
	to->text.len = 0;
	return 0;
}

/* Says what is whole in [p, end), and returns where the rest begins. */
static const char *say(struct merging *m, const char *p, const char *end, struct said_to *to)
{
	struct markup_module warns_of;
	struct markup_str text;

	while (complaint_next(&p, end, &warns_of, &text))
		if (!(warns_of.build_id_len || warns_of.name.len) ||
		    markup_tally_warns(m->tally, &warns_of))
			text_put(&to->text, text.ptr, text.len);
	return p;
}

/* The complaints of a shard, in pieces. */
static int say_shard(struct merging *m, size_t shard, struct said_to *to, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path =
		out_complaints_path(m->out, m->shards.data[shard].task);
	uint64_t left = m->results[shard]->complaints;
	struct text t = { 0 };
	FILE *f = fopen(path, "re");
	int rc = 0;

	if (!f || fseeko(f, (off_t)m->said_at[shard], SEEK_SET))
		rc = sc_error_sys(err, "%s", path);
	while (left && !rc) {
		const size_t want = left < ROOM ? left : ROOM;
		const size_t n = fread(text_room(&t, want), 1, want, f);

		if (!n)
			rc = sc_error_set(err, SC_EFORMAT, "%s is cut off", path);
		t.len += n;
		left -= n;
		const size_t taken = (size_t)(say(m, t.bytes, t.bytes + t.len, to) - t.bytes);
		memmove(t.bytes, t.bytes + taken, t.len -= taken);
		if (!rc && to->text.len > GATHERED)
			rc = flush(to, err);
	}
	if (!rc && t.len)
		rc = sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
	if (f)
		fclose(f);
	free(t.bytes);
	return rc;
}

/* Counts of all shards, and modules in the order in which one run meets them. */
static void count(struct merging *m)
{
	size_t *next = must_calloc(m->plan.tasks + 1, sizeof(*next));

	for (size_t i = 0; i < m->shards.len; i++) {
		const uint64_t task = m->shards.data[i].task;
		const struct misses *missed = &m->records[task].missed;

		markup_tally_count(m->tally, &m->results[i]->stats);
		for (; next[task] < missed->len && missed->data[next[task]].shard == i; next[task]++)
			markup_tally_miss(m->tally, &missed->data[next[task]].module);
		/* A log that is cut is plain, and read to its end. */
		m->damaged += m->results[i]->cut_off;
	}
	free(next);
}

int merging_said(struct merging *m, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = out_path(m->out, "complaints");
	struct said_to to = { .quiet = m->quiet };
	int rc = sc_new_file_open(path, false, &to.file, err);

	if (!rc && markup_tally_create(&m->tally))
		must(NULL);
	for (size_t i = 0; i < m->shards.len && !rc; i++)
		if (m->results[i]->complaints)
			rc = say_shard(m, i, &to, err);
	if (!rc)
		rc = flush(&to, err);
	if (!rc)
		rc = sc_new_file_commit(&to.file, err);
	sc_new_file_discard(&to.file);
	free(to.text.bytes);
	if (!rc)
		count(m);
	return rc;
}

/* ---- summary.json -------------------------------------------------------------------- */

static void put_module(void *ctx, const struct markup_module *m)
{
	char *hex = must_calloc(2, m->build_id_len + 1);

	symcache_build_id_text(hex, m->build_id, m->build_id_len);
	json_gen_open_map(ctx, NULL);
	json_gen_text(ctx, "build_id", hex);
	json_gen_bytes(ctx, "name", m->name.ptr, m->name.len);
	json_gen_number(ctx, "missed", m->frames);
	json_gen_number(ctx, "unplaced", m->unplaced);
	json_gen_bool(ctx, "no_symbols", m->no_symbols);
	json_gen_bool(ctx, "table_only", m->table_only);
	json_gen_close_map(ctx);
	free(hex);
}

int merging_write_summary(const struct merging *m, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = out_path(m->out, "summary.json");
	const struct markup_stats *stats = markup_tally_stats(m->tally);
	struct text t = { 0 };
	struct json_gen *j = json_gen_create_text(false, &t);
	uint64_t read = 0, written = 0;
	int rc;

	for (uint64_t i = 0; i < m->plan.tasks; i++) {
		read += m->records[i].read;
		written += m->records[i].written;
	}
	json_gen_open_map(j, NULL);
	json_gen_text(j, "plan", m->plan.hash);
	json_gen_number(j, "logs", m->plan.logs);
	json_gen_number(j, "left_out", m->plan.left_out);
	json_gen_open_array(j, "damaged");
	for (size_t i = 0; i < m->shards.len; i++) {
		const char *log = plan_log_of(&m->logs, &m->shards.data[i])->path;

		if (m->results[i]->cut_off)
			json_gen_text(j, NULL, log);
	}
	json_gen_close_array(j);
	json_gen_number(j, "read", read);
	json_gen_number(j, "written", written);
	json_gen_number(j, "addresses", stats->frames);
	json_gen_number(j, "resolved", stats->frames_resolved);
	json_gen_number(j, "in_no_module", stats->frames_outside);
	json_gen_open_array(j, "modules");
	if (markup_tally_missing(m->tally, put_module, j))
		must(NULL);
	json_gen_close_array(j);
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
	rc = sc_replace_file(path, t.bytes, t.len, err);
	free(t.bytes);
	return rc;
}
