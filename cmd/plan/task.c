/*
 * One task of a plan: see task.h. The shards are in shard.c.
 *
 *   OUT/LOG                     whole logs
 *   OUT/.symcache/parts/N       shard N of a log that is cut
 *   OUT/.symcache/done/N.json   the record of task N, when all of that is there
 *   OUT/.symcache/plan          which plan it is
 *
 * Every file has its name when it is whole, and each attempt writes the same bytes: so a task
 * may be done twice, at once, or be killed at any moment. Nothing of the machine shows in what
 * is written: symbols are those of the store that was planned with, or there are none.
 */
#include "cmd/plan/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "cmd/plan/identity.h"
#include "cmd/plan/shard.h"
#include "libsymcache/base/cleanup.h"

/* A plan that is damaged or wrongly used stays so; all else may be better elsewhere. */
static int status_of(int rc)
{
	return !rc ? STATUS_OK :
	       rc == SC_EFORMAT || rc == SC_EUNSUPPORTED || rc == SC_EINVAL ? STATUS_ERROR : STATUS_AGAIN;
}

static int64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* ---- before ------------------------------------------------------------------------- */

static int check_store(const struct task *t, struct sc_error *err)
{
	char identity[HASH_TEXT];
	int rc = store_identity(t->options->store, identity, err);

	if (rc) /* none here, or a damaged one: there may be a good one elsewhere */
		return err->code = SC_ESYS;
	if (strcmp(identity, t->plan.store))
		return sc_error_set(err, SC_ESYS, "the store is another one than was planned with: its "
				    "hash is %s, that of the plan %s", identity, t->plan.store);
	return 0;
}

/* OUT/.symcache/plan says whose folder it is: of two plans the first one that comes. */
static int claim_folder(const struct task *t, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = out_path(t->options->out, "plan");
	char have[HASH_TEXT] = "";
	struct sc_new_file file;
	int fd, rc;

	for (int tries = 0; tries < 2; tries++) {
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0) {
			const bool whole = read(fd, have, HASH_TEXT - 1) == HASH_TEXT - 1;

			close(fd);
			return whole && !strcmp(have, t->plan.hash) ? 0 :
			       sc_error_set(err, SC_EINVAL, "%s is the output of another plan: choose "
					    "another folder", t->options->out);
		}
		if (errno != ENOENT)
			break;
		rc = sc_new_file_open(path, false, &file, err);
		if (rc)
			return rc;
		rc = sc_write_all(file.fd, t->plan.hash, HASH_TEXT - 1) || fsync(file.fd);
		/* Whoever is second finds the first one's; a file system without links has no
		 * such order. */
		if (!rc && link(file.temp, path) && errno != EEXIST)
			rc = rename(file.temp, path);
		if (rc)
			rc = sc_error_sys(err, "cannot write %s", path);
		sc_new_file_discard(&file);
		if (rc)
			return rc;
	}
	return sc_error_sys(err, "%s", path);
}

/* Is it done? A record that cannot be read is made anew. */
static bool is_recorded(const struct task *t)
{
	struct record r;
	const bool done = !record_read(&t->plan, t->options->out, t->options->task, false, &r, NULL);

	record_deinit(&r);
	return done;
}

static int make_folders(const struct task *t, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *record = out_record_path(t->options->out, 0);
	__attribute__((cleanup(sc_free_text))) char *part = out_part_path(t->options->out, 0);
	int rc = sc_make_parents(record, err);

	return rc ? rc : sc_make_parents(part, err);
}

static int open_task(struct task *t, struct sc_error *err)
{
	const struct task_options *o = t->options;
	int rc = plan_open(o->plan, &t->plan, err);

	if (rc)
		return rc;
	if (o->task >= t->plan.tasks)
		return sc_error_set(err, SC_EINVAL, "%s has the tasks 0 to %llu", o->plan,
				    (unsigned long long)t->plan.tasks - 1);
	if (!form_valid(&t->plan.form))
		return sc_error_set(err, SC_EFORMAT, "%s: its options make no sense", o->plan);
	rc = plan_read_shards(&t->plan, o->task, &t->shards, err);
	if (!rc)
		rc = plan_read_logs(&t->plan, &t->shards, &t->logs, err);
	if (!rc && !t->shards.len)
		rc = sc_error_set(err, SC_EFORMAT, "%s: its shards.jsonl has none of task %llu", o->plan,
				  (unsigned long long)o->task);
	return rc;
}

/* ---- after ----------------------------------------------------------------------------- */

/* The complaints of all shards, in one file, if there are any. */
static int write_complaints(struct task *t, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path =
		out_complaints_path(t->options->out, t->options->task);
	XXH3_state_t *state = must(XXH3_createState());
	struct sc_new_file file = { .fd = -1 };
	int rc = 0;

	XXH3_128bits_reset(state);
	for (size_t i = 0; i < t->shards.len; i++)
		t->record.complaints += t->record.results.data[i].complaints;
	if (t->record.complaints)
		rc = sc_new_file_open(path, false, &file, err);
	for (size_t i = 0; i < t->shards.len && !rc && t->record.complaints; i++)
		if (said_copy(&t->said[i], file.fd, state))
			rc = sc_error_sys(err, "cannot write %s", path);
	hash_text(XXH3_128bits_digest(state), t->record.complaints_hash);
	XXH3_freeState(state);
	if (!rc && t->record.complaints)
		return sc_new_file_commit(&file, err);
	sc_new_file_discard(&file);
	return rc;
}

static int write_record(struct task *t, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path =
		out_record_path(t->options->out, t->options->task);
	struct record *r = &t->record;
	int rc = write_complaints(t, err);

	if (rc)
		return rc;
	memcpy(r->plan, t->plan.hash, HASH_TEXT);
	r->task = t->options->task;
	gethostname(r->host, sizeof(r->host) - 1);
	r->ended = now();
	for (size_t i = 0; i < r->results.len; i++) {
		r->read += r->results.data[i].read;
		r->written += r->results.data[i].written;
		misses_move(&r->missed, &t->missed[i]);
	}
	return record_write(r, path, err);
}

static void deinit(struct task *t)
{
	for (size_t i = 0; t->said && i < t->shards.len; i++)
		said_deinit(&t->said[i]);
	for (size_t i = 0; t->missed && i < t->shards.len; i++)
		misses_deinit(&t->missed[i]);
	free(t->said);
	free(t->missed);
	record_deinit(&t->record);
	plan_logs_deinit(&t->logs);
	free(t->shards.data);
	plan_close(&t->plan);
}

/* ---- all of it ---------------------------------------------------------------------------- */

static int work(struct task *t, bool *done_before, struct sc_error *err)
{
	int rc = open_task(t, err);

	if (!rc)
		rc = make_folders(t, err);
	if (!rc)
		rc = claim_folder(t, err);
	if (rc || (*done_before = is_recorded(t)))
		return rc;
	rc = check_store(t, err);
	if (rc)
		return rc;
	t->record.begun = now();
	t->said = must_calloc(t->shards.len, sizeof(*t->said));
	t->missed = must_calloc(t->shards.len, sizeof(*t->missed));
	t->record.results.data = must_calloc(t->shards.len, sizeof(*t->record.results.data));
	t->record.results.len = t->shards.len;
	rc = run_shards(t, err);
	return rc ? rc : write_record(t, err);
}

int run_task(const struct task_options *options)
{
	struct task t = { .options = options };
	bool done_before = false;
	struct sc_error err;
	int rc;

	store_frozen = true;
	status_no_memory = STATUS_AGAIN;
	rc = work(&t, &done_before, &err);
	if (rc)
		cmd_error("task %llu: %s", (unsigned long long)options->task, err.msg);
	else if (done_before && !options->quiet)
		cmd_error("task %llu was done before", (unsigned long long)options->task);
	else if (!options->quiet)
		cmd_error("task %llu: %zu shard%s, %llu bytes read, %llu written, in %.1f s",
			  (unsigned long long)options->task, t.shards.len, t.shards.len == 1 ? "" : "s",
			  (unsigned long long)t.record.read, (unsigned long long)t.record.written,
			  (double)(t.record.ended - t.record.begun) / 1000);
	deinit(&t);
	return status_of(rc);
}
