/*
 * The folder of a plan: see plan.h. It is made next to its place and renamed when it is
 * complete. Cost: that of cutting, and of two sequential files, side by side; memory: some
 * 100 bytes for each shard.
 */
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/plan/cut.h"

struct making {
	const struct markup_planning *p;
	struct mk_plan plan;
	struct mk_cuts cuts;
	size_t *by_task;          /* indices of shards */
	struct sc_error errs[2];
	int rcs[2];
};

/* ---- its files ------------------------------------------------------------------- */

/* Ascending by task, in each by number. */
static bool order_by_task(struct making *m)
{
	size_t *end = calloc(m->plan.tasks + 1, sizeof(*end)); /* of the task before */

	m->by_task = calloc(m->cuts.shards.len + 1, sizeof(*m->by_task));
	if (!end || !m->by_task) {
		free(end);
		return false;
	}
	for (size_t i = 0; i < m->cuts.shards.len; i++)
		end[m->cuts.shards.data[i].task + 1]++;
	for (uint64_t t = 0; t < m->plan.tasks; t++)
		end[t + 1] += end[t];
	for (size_t i = 0; i < m->cuts.shards.len; i++)
		m->by_task[end[m->cuts.shards.data[i].task]++] = i;
	free(end);
	return true;
}

static void put_logs(const struct making *m, struct mk_rows_out *w)
{
	size_t next = 0;

	for (size_t i = 0; i < m->p->num_logs; i++) {
		struct mk_log log = { .number = i, .log = m->p->logs[i] };

		if (next < m->cuts.logs.len && m->cuts.logs.data[next].log == i)
			memcpy(log.tables_hash, m->cuts.logs.data[next++].tables_hash,
			       SC_HASH_TEXT);
		mk_rows_put(w, mk_log_columns, &log);
	}
}

/* inputs.jsonl or shards.jsonl */
static void write_rows(void *ctx, unsigned worker, size_t which)
{
	struct making *m = ctx;
	const struct mk_path path = mk_path("%s/%s", m->plan.dir,
					    which ? "shards.jsonl" : "inputs.jsonl");
	struct mk_rows_out w;
	struct sc_error *err = &m->errs[which];
	int rc = mk_rows_create(&w, path.text, 0, err);

	(void)worker;
	if (!rc && which)
		for (size_t i = 0; i < m->cuts.shards.len; i++)
			mk_rows_put(&w, mk_shard_columns, &m->cuts.shards.data[m->by_task[i]]);
	else if (!rc)
		put_logs(m, &w);
	m->rcs[which] =
		rc ? rc : mk_rows_commit(&w, which ? m->plan.shards_hash : m->plan.logs_hash, err);
}

static int write_tasks(const struct making *m, struct sc_error *err)
{
	const struct mk_path path = mk_path("%s/tasks", m->plan.dir);
	struct mk_out o = { 0 };
	int rc;

	for (uint64_t i = 0; i < m->plan.tasks; i++)
		mk_put(&o, i, "\n");
	rc = o.error ? sc_no_memory(err) : sc_replace_file(path.text, o.buf, o.len, err);
	mk_out_deinit(&o);
	return rc;
}

/* Fills the folder. */
static int fill(struct making *m, struct sc_error *err)
{
	const struct mk_path contexts = mk_path("%s/contexts", m->plan.dir);
	int rc = mkdir(contexts.text, 0777) ?
		sc_error_sys(err, "cannot make the directory %s", contexts.text) :
		mk_cut(m->p, m->plan.dir, &m->cuts, err);

	if (rc)
		return rc;
	m->plan.shards = m->cuts.shards.len;
	if (!mk_deal(&m->cuts.shards, m->p->logs, m->p->task_size, m->p->tasks, &m->plan.tasks) ||
	    !order_by_task(m))
		return sc_no_memory(err);
	sc_parallel(m->p->threads, 2, write_rows, m);
	for (int i = 0; i < 2; i++) {
		if (m->rcs[i]) {
			*err = m->errs[i];
			return m->rcs[i];
		}
	}
	rc = write_tasks(m, err);
	return rc ? rc : mk_plan_write(&m->plan, m->plan.dir, err);
}

/* ---- the folder -------------------------------------------------------------------- */

static void remove_folder(char *path)
{
	char *const roots[] = { path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_D)
			remove(e->fts_accpath);
	if (fts)
		fts_close(fts);
}

static int make(struct making *m, const char *dir, struct sc_error *err)
{
	size_t len = strlen(dir);
	struct mk_path temp;
	mode_t mask;
	int rc;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	temp = mk_path("%.*s.XXXXXX", (int)len, dir);
	if (!access(dir, F_OK))
		return sc_error_set(err, SC_EINVAL, "%s already exists: remove it, or choose another "
				    "name", dir);
	if (!mkdtemp(temp.text))
		return sc_error_sys(err, "cannot make the directory %s", temp.text);
	mask = umask(0);
	umask(mask);
	chmod(temp.text, 0777 & ~mask);
	m->plan.dir = temp.text;
	rc = fill(m, err);
	if (!rc && rename(temp.text, dir))
		rc = sc_error_sys(err, "cannot rename to %s", dir);
	if (rc)
		remove_folder(temp.text);
	return rc;
}

int markup_plan_make(const char *dir, const struct markup_planning *p, struct markup_planned *ret,
		     struct sc_error *err)
{
	struct making m = { .p = p, .plan = {
		.form = p->form, .store_name = p->store_name, .task_size = p->task_size,
		.logs = p->num_logs, .left_out = p->left_out } };
	int rc;

	memcpy(m.plan.store, p->store, sizeof(m.plan.store));
	for (size_t i = 0; i < p->num_logs; i++)
		m.plan.bytes += p->logs[i].size;
	rc = make(&m, dir, err);
	*ret = (struct markup_planned){ .bytes = m.plan.bytes, .shards = m.plan.shards,
					.tasks = m.plan.tasks };
	memcpy(ret->hash, m.plan.hash, sizeof(ret->hash));
	mk_cuts_deinit(&m.cuts);
	free(m.by_task);
	return rc;
}
