/*
 * What is said of all logs, as one run of `symcache filter` says it: see merge.h. Complaints
 * come in the order of logs and parts; that a module has no symbols is said once.
 */
#include <errno.h>
#include <stdlib.h>

#include "libsymcache/plan/merge.h"

enum { GATHERED = 1 << 16, ROOM = 1 << 16 };

struct said_to {
	const struct markup_merge_options *options;
	struct sc_new_file file;
	struct mk_out out;
	int error; /* errno */
};

static int write_out(void *ctx, const char *data, size_t len)
{
	struct said_to *to = ctx;

	to->options->say(to->options->ctx, data, len);
	if (!sc_write_all(to->file.fd, data, len))
		return 0;
	to->error = errno;
	return 1;
}

/* Says what is whole in [p, end), and returns where the rest begins. */
static const char *say(struct markup_merge *m, const char *p, const char *end, struct mk_out *to)
{
	struct markup_module warns_of;
	struct sc_str text;

	while (mk_complaint_next(&p, end, &warns_of, &text))
		if (!(warns_of.build_id_len || warns_of.name.len) ||
		    markup_tally_warns(m->tally, &warns_of))
			mk_out_str(to, text);
	return p;
}

/* The complaints of a shard, in pieces, by way of `t`. */
static int say_shard(struct markup_merge *m, size_t shard, struct mk_out *t, struct mk_out *to,
		     struct sc_error *err)
{
	const struct mk_path path = mk_complaints_path(m->options.out, m->shards.data[shard].task);
	uint64_t left = m->results[shard]->complaints;
	FILE *f = fopen(path.text, "re");
	int rc = 0;

	if (!f || fseeko(f, (off_t)m->complaints_at[shard], SEEK_SET))
		rc = sc_error_sys(err, "%s", path.text);
	t->len = 0;
	while (left && !rc) {
		const size_t want = left < ROOM ? left : ROOM;
		char *room = mk_out_room(t, want);
		const size_t n = room ? fread(room, 1, want, f) : 0;

		if (!n)
			rc = room ? sc_error_set(err, SC_EFORMAT, "%s is cut off", path.text) :
			     sc_no_memory(err);
		t->len += n;
		left -= n;
		const size_t taken = (size_t)(say(m, t->buf, t->buf + t->len, to) - t->buf);
		memmove(t->buf, t->buf + taken, t->len -= taken);
	}
	if (!rc && t->len)
		rc = sc_error_set(err, SC_EFORMAT, "%s is damaged", path.text);
	if (f)
		fclose(f);
	return rc;
}

/* Counts of all shards, and modules in the order in which one run meets them. False: no
 * memory. */
static bool count(struct markup_merge *m)
{
	size_t *next = calloc(m->plan.tasks + 1, sizeof(*next));

	for (size_t i = 0; i < m->shards.len && next; i++) {
		const uint64_t task = m->shards.data[i].task;
		const struct mk_misses *missed = &m->records[task].missed;

		markup_tally_count(m->tally, &m->results[i]->stats);
		for (; next[task] < missed->len && missed->data[next[task]].shard == i;
		     next[task]++)
			markup_tally_miss(m->tally, &missed->data[next[task]].module);
		/* A log that is cut is plain, and read to its end. */
		m->damaged += m->results[i]->status == MK_CUT_OFF;
	}
	free(next);
	return next;
}

static int say_all(struct markup_merge *m, struct said_to *to, struct sc_error *err)
{
	struct mk_out t = { 0 };
	int rc = 0;

	for (size_t i = 0; i < m->shards.len && !rc; i++)
		if (m->results[i]->complaints)
			rc = say_shard(m, i, &t, &to->out, err);
	mk_out_deinit(&t);
	mk_out_flush(&to->out);
	if (!rc && to->out.error) {
		errno = to->error;
		rc = sc_error_sys(err, "cannot write %s", to->file.path);
	}
	return rc;
}

int mk_merge_complaints(struct markup_merge *m, struct sc_error *err)
{
	const struct mk_path path = mk_out_path(m->options.out, "complaints");
	struct said_to to = { .options = &m->options, .file.fd = -1 };
	int rc;

	if (markup_tally_create(&m->tally) || mk_out_init(&to.out, GATHERED, write_out, &to))
		return sc_no_memory(err);
	rc = sc_new_file_below(path.text, strlen(m->options.out), &to.file, err);
	if (!rc)
		rc = say_all(m, &to, err);
	rc = sc_new_file_end(&to.file, rc, err);
	mk_out_deinit(&to.out);
	return rc ? rc : count(m) ? 0 : sc_no_memory(err);
}

/* ---- summary.json -------------------------------------------------------------------- */

static void put_comma(struct mk_out *o, char open)
{
	if (o->len && o->buf[o->len - 1] != open)
		mk_out_char(o, ',');
}

static void put_module(void *ctx, const struct markup_module *m)
{
	static const struct mk_column columns[] = {
		{ "build_id", MK_HEX, offsetof(struct markup_module, build_id), NULL },
		{ "name", MK_BYTES, offsetof(struct markup_module, name), NULL },
		{ "missed", MK_NUMBER, offsetof(struct markup_module, frames), NULL },
		{ "unplaced", MK_NUMBER, offsetof(struct markup_module, unplaced), NULL },
		{ "no_symbols", MK_BOOL, offsetof(struct markup_module, no_symbols), NULL },
		{ "table_only", MK_BOOL, offsetof(struct markup_module, table_only), NULL },
		{ "other_build", MK_BOOL, offsetof(struct markup_module, other_build), NULL },
		{ 0 },
	};
	struct mk_out *o = ctx;

	put_comma(o, '[');
	mk_put_columns(o, columns, m);
	mk_out_char(o, '}');
}

static void put_summary(const struct markup_merge *m, struct mk_out *o)
{
	const struct markup_stats *stats = markup_tally_stats(m->tally);
	uint64_t read = 0, written = 0;

	for (uint64_t i = 0; i < m->plan.tasks; i++) {
		read += m->records[i].read;
		written += m->records[i].written;
	}
	mk_out_lit(o, "{\"plan\":\"");
	mk_out_put(o, m->plan.hash, strlen(m->plan.hash));
	mk_out_char(o, '"');
	mk_json_number(o, "logs", m->plan.logs);
	mk_json_number(o, "left_out", m->plan.left_out);
	mk_json_key(o, "damaged");
	mk_out_char(o, '[');
	for (size_t i = 0; i < m->shards.len; i++) {
		const char *log = mk_log_of(&m->logs, &m->shards.data[i])->log.path;

		if (m->results[i]->status == MK_WHOLE)
			continue;
		put_comma(o, '[');
		mk_json_string(o, sc_str_of(log));
	}
	mk_out_char(o, ']');
	mk_json_number(o, "read", read);
	mk_json_number(o, "written", written);
	mk_json_number(o, "addresses", stats->frames);
	mk_json_number(o, "resolved", stats->frames_resolved);
	mk_json_number(o, "in_no_module", stats->frames_outside);
	mk_json_key(o, "modules");
	mk_out_char(o, '[');
}

int mk_merge_summary(struct markup_merge *m, struct sc_error *err)
{
	const struct mk_path path = mk_out_path(m->options.out, "summary.json");
	struct sc_new_file file = { .fd = -1 };
	struct mk_out o = { 0 };
	int rc;

	put_summary(m, &o);
	rc = markup_tally_missing(m->tally, put_module, &o);
	mk_out_lit(&o, "]}\n");
	rc = rc || o.error ? sc_no_memory(err) :
	     sc_new_file_below(path.text, strlen(m->options.out), &file, err);
	if (!rc && sc_write_all(file.fd, o.buf, o.len))
		rc = sc_error_sys(err, "cannot write %s", path.text);
	rc = sc_new_file_end(&file, rc, err);
	mk_out_deinit(&o);
	return rc;
}
