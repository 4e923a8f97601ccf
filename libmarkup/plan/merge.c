/* A merge, and the order of its steps: see merge.h. */
#include <stdlib.h>

#include "libmarkup/plan/merge.h"

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
	free(m->said_at);
	markup_tally_destroy(m->tally);
	mk_logs_deinit(&m->logs);
	vec_deinit(&m->shards);
	mk_plan_close(&m->plan);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

int markup_merge_run(struct markup_merge *m, struct markup_merged *ret, struct sc_error *err)
{
	int rc = mk_merge_load(m, err);

	if (!rc)
		rc = mk_merge_logs(m, err);
	if (!rc)
		rc = mk_merge_said(m, err);
	if (!rc)
		rc = mk_merge_summary(m, err);
	if (!rc)
		rc = mk_merge_clean(m, err);
	*ret = (struct markup_merged){ m->plan.logs, m->plan.left_out, m->damaged,
				       m->plan.form.options.dialect, m->tally };
	return rc;
}
