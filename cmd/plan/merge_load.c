/* Plan and records of a merge: see merging.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/messages.h"
#include "cmd/plan/merging.h"
#include "libsymcache/base/cleanup.h"

int merging_open(struct merging *m, const char *plan, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = out_path(m->out, "plan");
	char have[HASH_TEXT] = "";
	FILE *f;
	int rc = plan_open(plan, &m->plan, err);

	if (rc)
		return rc;
	f = fopen(path, "re");
	if (!f && errno == ENOENT)
		return 0; /* no task has begun */
	if (!f)
		return sc_error_sys(err, "%s", path);
	(void)!fread(have, 1, HASH_TEXT - 1, f);
	fclose(f);
	return !strcmp(have, m->plan.hash) ? 0 :
	       sc_error_set(err, SC_EINVAL, "%s is the output of another plan", m->out);
}

void merging_close(struct merging *m)
{
	for (uint64_t i = 0; m->records && i < m->plan.tasks; i++)
		record_deinit(&m->records[i]);
	free(m->records);
	free(m->results);
	free(m->said_at);
	markup_tally_destroy(m->tally);
	plan_logs_deinit(&m->logs);
	free(m->shards.data);
	plan_close(&m->plan);
}

/* Adds [from, to] to the list. */
static void put_range(struct text *t, uint64_t from, uint64_t to)
{
	if (t->len)
		text_char(t, ',');
	text_number(t, from, 10);
	if (to > from) {
		text_char(t, '-');
		text_number(t, to, 10);
	}
}

int merging_missing(const struct merging *m, void (*fn)(void *ctx, const struct record *head),
		    void *ctx, char **ret, uint64_t *num, struct sc_error *err)
{
	struct text t = { 0 };
	uint64_t first = 0;
	bool open = false;
	int rc = 0;

	*num = 0;
	for (uint64_t i = 0; i < m->plan.tasks && !rc; i++) {
		struct record head;
		bool missing;

		rc = record_read(&m->plan, m->out, i, true, &head, err);
		missing = rc == SC_ENOTFOUND;
		rc = missing ? 0 : rc;
		*num += missing;
		if (!missing && !rc && fn)
			fn(ctx, &head);
		if (missing && !open)
			first = i;
		if (!missing && open)
			put_range(&t, first, i - 1);
		open = missing;
	}
	if (open)
		put_range(&t, first, m->plan.tasks - 1);
	text_char(&t, 0);
	*ret = t.bytes;
	return rc;
}

size_t merging_first_shard(const struct merging *m, size_t i)
{
	while (i && m->shards.data[i - 1].log == m->shards.data[i].log)
		i--;
	return i;
}

size_t merging_end_of_log(const struct merging *m, size_t i)
{
	const uint64_t log = m->shards.data[i].log;

	while (i < m->shards.len && m->shards.data[i].log == log)
		i++;
	return i;
}

void merging_fault(struct merging *m, const char *path, size_t shard)
{
	const unsigned long long task = m->shards.data[shard].task;

	pthread_mutex_lock(&m->lock);
	progress_erase(&m->progress);
	cmd_error("%s is not there, or not what its record says: remove %s/" PLAN_FOLDER "/done/%llu.json "
		  "and run task %llu again", path, m->out, task, task);
	m->faults++;
	pthread_mutex_unlock(&m->lock);
}

/* Are the complaints of a task what they were? */
static int check_complaints(const struct merging *m, const struct record *r, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = out_complaints_path(m->out, r->task);
	XXH3_state_t *state = must(XXH3_createState());
	char block[1 << 16], hash[HASH_TEXT];
	FILE *f = r->complaints ? fopen(path, "re") : NULL;
	uint64_t size = 0;
	size_t n;

	XXH3_128bits_reset(state);
	while (f && (n = fread(block, 1, sizeof(block), f))) {
		XXH3_128bits_update(state, block, n);
		size += n;
	}
	if (f)
		fclose(f);
	hash_text(XXH3_128bits_digest(state), hash);
	XXH3_freeState(state);
	return size == r->complaints && !strcmp(hash, r->complaints_hash) ? 0 :
	       sc_error_set(err, SC_EFORMAT, "%s is damaged", path);
}

/* The results of its shards, in the place of each. */
static int take_record(struct merging *m, const struct record *r)
{
	uint64_t said = 0;

	for (size_t i = 0; i < r->results.len; i++) {
		const struct result *s = &r->results.data[i];

		if (s->shard >= m->shards.len || m->shards.data[s->shard].task != r->task)
			return SC_EFORMAT;
		m->results[s->shard] = s;
		m->said_at[s->shard] = said;
		said += s->complaints;
	}
	return 0;
}

static int load_records(struct merging *m, struct sc_error *err)
{
	int rc;

	m->records = must_calloc(m->plan.tasks + 1, sizeof(*m->records));
	m->results = must_calloc(m->shards.len + 1, sizeof(*m->results));
	m->said_at = must_calloc(m->shards.len + 1, sizeof(*m->said_at));
	for (uint64_t i = 0; i < m->plan.tasks; i++) {
		struct record *r = &m->records[i];

		rc = record_read(&m->plan, m->out, i, false, r, err);
		if (!rc)
			rc = check_complaints(m, r, err);
		if (!rc && take_record(m, r))
			rc = sc_error_set(err, SC_EFORMAT, "its record is of other shards");
		if (!rc)
			continue;
		pthread_mutex_lock(&m->lock);
		cmd_error("%s: remove %s/" PLAN_FOLDER "/done/%llu.json and run task %llu again", err->msg,
			  m->out, (unsigned long long)i, (unsigned long long)i);
		m->faults++;
		pthread_mutex_unlock(&m->lock);
	}
	if (m->faults)
		return sc_error_set(err, SC_EFORMAT, "%llu of %llu tasks are not as they were recorded",
				    (unsigned long long)m->faults, (unsigned long long)m->plan.tasks);
	for (size_t i = 0; i < m->shards.len; i++)
		if (!m->results[i])
			return sc_error_set(err, SC_EFORMAT, "the record of task %llu lacks shard %zu",
					    (unsigned long long)m->shards.data[i].task, i);
	return 0;
}

int merging_load(struct merging *m, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *missing = NULL;
	uint64_t num;
	int rc = merging_missing(m, NULL, NULL, &missing, &num, err);

	if (!rc && num)
		rc = sc_error_set(err, SC_EFORMAT, "%llu of %llu tasks are not done: %.150s",
				  (unsigned long long)num, (unsigned long long)m->plan.tasks, missing);
	if (!rc)
		rc = plan_read_shards(&m->plan, PLAN_ALL, &m->shards, err);
	if (!rc)
		rc = plan_read_logs(&m->plan, NULL, &m->logs, err);
	return rc ? rc : load_records(m, err);
}
