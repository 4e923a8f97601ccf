/* A merge: are all records there? And the order of its steps: see merge.h. */
#include <stdlib.h>

#include "libsymcache/plan/merge.h"

int markup_merge_open(const struct markup_merge_options *o, struct markup_merge **ret,
		      struct sc_error *err)
{
	struct markup_merge *m = *ret = calloc(1, sizeof(*m));
	int rc;

	if (!m)
		return sc_no_memory(err);
	m->options = *o;
	pthread_mutex_init(&m->lock, NULL);
	rc = mk_plan_open(o->plan, &m->plan, err);
	if (!rc) /* 0: no task has begun */
		rc = mk_read_claim(&m->plan, o->out, "", err);
	return rc < 0 ? rc : 0;
}

void markup_merge_close(struct markup_merge *m)
{
	if (!m)
		return;
	for (uint64_t i = 0; m->records && i < m->plan.tasks; i++)
		mk_record_deinit(&m->records[i]);
	free(m->records);
	free(m->results);
	free(m->complaints_at);
	markup_tally_destroy(m->tally);
	mk_logs_deinit(&m->logs);
	vec_deinit(&m->shards);
	mk_plan_close(&m->plan);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* ---- how far it is ------------------------------------------------------------------- */

/* Adds [from, end), if that is not empty, to the list. */
static void put_range(struct mk_out *o, uint64_t from, uint64_t end)
{
	if (from < end)
		mk_put(o, o->len ? "," : "", from);
	if (from + 1 < end)
		mk_put(o, "-", end - 1);
}

static void add_sums(struct markup_merge_status *s, const struct mk_record *r)
{
	s->done++;
	s->read += r->read;
	s->written += r->written;
	if (!s->begun || r->begun < s->begun)
		s->begun = r->begun;
	if (r->ended > s->ended)
		s->ended = r->ended;
}

int markup_merge_status(const struct markup_merge *m, struct markup_merge_status *ret,
			struct sc_error *err)
{
	uint64_t first = 0;
	struct mk_out o = { 0 };
	int rc = 0;

	*ret = (struct markup_merge_status){ .tasks = m->plan.tasks };
	for (uint64_t i = 0; i < m->plan.tasks && !rc; i++) {
		struct mk_record head;

		rc = mk_record_read(&m->plan, m->options.out, i, true, &head, err);
		if (rc == SC_ENOTFOUND) {
			rc = 0;
			continue;
		}
		put_range(&o, first, i);
		first = i + 1;
		if (!rc)
			add_sums(ret, &head);
	}
	put_range(&o, first, m->plan.tasks);
	ret->missing = mk_out_take(&o);
	return rc ? rc : ret->missing ? 0 : sc_no_memory(err);
}

/* ---- is all there? ------------------------------------------------------------------- */

/* Are the complaints of a task what they were? */
static int check_complaints(const struct markup_merge *m, const struct mk_record *r,
			    struct sc_error *err)
{
	const struct mk_path path = mk_complaints_path(m->options.out, r->task);
	const int fd = r->complaints ? sc_open_below(path.text, strlen(m->options.out)) : -1;
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char block[1 << 16], hash[SC_HASH_TEXT];
	XXH3_state_t state;
	uint64_t size = 0;
	size_t n;

	XXH3_128bits_reset(&state);
	while (f && (n = fread(block, 1, sizeof(block), f))) {
		XXH3_128bits_update(&state, block, n);
		size += n;
	}
	if (f)
		fclose(f);
	sc_hash_text(sc_hash_digest(&state), hash);
	return size == r->complaints && !strcmp(hash, r->complaints_hash) ? 0 :
	       sc_error_set(err, SC_EFORMAT, "%s is damaged", path.text);
}

/* The results of its shards, in the place of each. */
static int take_record(struct markup_merge *m, const struct mk_record *r, struct sc_error *err)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < r->results.len; i++) {
		const struct mk_result *s = &r->results.data[i];

		if (s->shard >= m->shards.len || m->shards.data[s->shard].task != r->task)
			return sc_error_set(err, SC_EFORMAT, "its record is of other shards");
		m->results[s->shard] = s;
		m->complaints_at[s->shard] = bytes;
		bytes += s->complaints;
	}
	return 0;
}

static int load_records(struct markup_merge *m, struct sc_error *err)
{
	m->records = calloc(m->plan.tasks + 1, sizeof(*m->records));
	m->results = calloc(m->shards.len + 1, sizeof(*m->results));
	m->complaints_at = calloc(m->shards.len + 1, sizeof(*m->complaints_at));
	if (!m->records || !m->results || !m->complaints_at)
		return sc_no_memory(err);
	for (uint64_t i = 0; i < m->plan.tasks; i++) {
		struct mk_record *r = &m->records[i];
		int rc = mk_record_read(&m->plan, m->options.out, i, false, r, err);

		if (!rc)
			rc = check_complaints(m, r, err);
		if (!rc)
			rc = take_record(m, r, err);
		if (rc == SC_ENOMEM)
			return rc;
		if (rc)
			mk_merge_fault(m, i, "%s", err->msg);
	}
	if (m->faults)
		return sc_error_set(err, SC_EFORMAT, "%llu of %llu tasks do not match their records",
				    (unsigned long long)m->faults, (unsigned long long)m->plan.tasks);
	for (size_t i = 0; i < m->shards.len; i++)
		if (!m->results[i])
			return sc_error_set(err, SC_EFORMAT,
					    "the record of task %llu lacks shard %zu",
					    (unsigned long long)m->shards.data[i].task, i);
	return 0;
}

/* Shards, logs and all records. SC_EFORMAT: something is missing or damaged, which was reported. */
static int load(struct markup_merge *m, struct sc_error *err)
{
	struct markup_merge_status s;
	int rc = markup_merge_status(m, &s, err);

	if (!rc && s.done < s.tasks)
		rc = sc_error_set(err, SC_EFORMAT, "%llu of %llu tasks are not done: %.150s",
				  (unsigned long long)(s.tasks - s.done),
				  (unsigned long long)s.tasks, s.missing);
	free(s.missing);
	if (!rc)
		rc = mk_plan_read_shards(&m->plan, MK_PLAN_ALL, &m->shards, err);
	if (!rc)
		rc = mk_plan_read_logs(&m->plan, NULL, &m->logs, err);
	return rc ? rc : load_records(m, err);
}

/* ---- all of it --------------------------------------------------------------------------- */

int markup_merge_run(struct markup_merge *m, struct markup_merged *ret, struct sc_error *err)
{
	static int (*const steps[])(struct markup_merge *m, struct sc_error *err) = {
		load, mk_merge_logs, mk_merge_complaints, mk_merge_summary, mk_merge_clean,
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !rc; i++)
		rc = steps[i](m, err);
	*ret = (struct markup_merged){ m->plan.logs, m->plan.left_out, m->damaged,
				       m->plan.form.options.dialect, m->tally };
	return rc;
}
