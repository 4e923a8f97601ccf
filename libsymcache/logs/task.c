/*
 * The task of a plan (libmarkup/plan.h), its shards filtered: see symcache/logs.h. Nothing of the
 * machine shows in what is written: symbols are those of the caches, or there are none.
 */
#include <stdlib.h>

#include "libmarkup/plan.h"
#include "symcache/logs.h"

struct job {
	const struct markup_task_plan *plan;
	struct symlog_sources from;
	const struct symlog_task_options *options;
	struct symlog_filter **spare; /* of each worker, for whole logs; NULL: none yet */
};

static int make_filter(const struct job *job, const char *title, struct symlog_filter **ret,
		       struct sc_error *err)
{
	struct markup_options markup = job->plan->form->options;
	const struct symlog_filter_options how = {
		.markup = &markup, .from = job->from, .threads = job->plan->threads,
		.name = job->options->name, .each = true, .say = markup_shard_say,
	};

	markup.title = title;
	return symlog_filter_create(&how, ret, err);
}

/* What came of it; 0: it may be kept. */
static int take_result(const struct job *job, enum symlog_result result, const struct symlog *log,
		       struct markup_filter *f, struct markup_shard *s, struct sc_error *err)
{
	if (result == SYMLOG_NO_INPUT || (result == SYMLOG_CUT && log->error != SC_EFORMAT))
		return sc_error_set(err, SC_ESYS, "%s cannot be read", log->path);
	if (result == SYMLOG_FAILED) {
		job->options->fault(job->options->ctx, err->msg);
		return sc_error_set(err, SC_ESYS, "%s is not complete", s->output);
	}
	if (*job->options->damaged)
		return sc_error_set(err, SC_ESYS, "the store is damaged here");
	s->cut_off = result == SYMLOG_CUT;
	s->read = log->read;
	s->stats = *markup_filter_stats(f);
	return markup_filter_missing(f, markup_shard_miss, s->said) ? sc_no_memory(err) : 0;
}

static int filter_shard(void *ctx, struct markup_shard *s, struct sc_error *err)
{
	const struct job *job = ctx;
	const bool reuses = !s->part && job->plan->form->options.format != MARKUP_HTML;
	struct symlog_filter *own = NULL, **f = reuses ? &job->spare[s->worker] : &own;
	struct symlog log = {
		.path = s->path, .output = { s->fd, s->output, s->hash, s->said },
		.shown = s->shown, .part = s->part, .goes_on = s->goes_on,
		.from = s->from, .to = s->to, .lines = s->lines,
		.saved = s->saved, .saved_len = s->saved_len,
		.tables = s->tables, .tables_len = s->tables_len,
	};
	enum symlog_result result;
	int rc;

	if (!*f && make_filter(job, s->shown, f, err))
		return err->code;
	markup_filter_forget(symlog_filter_markup(*f));
	result = symlog_filter_run(*f, &log, err);
	if (result <= SYMLOG_CUT && !s->part && symlog_filter_end(*f, err))
		result = SYMLOG_FAILED;
	rc = take_result(job, result, &log, symlog_filter_markup(*f), s, err);
	symlog_filter_destroy(own);
	return rc;
}

int symlog_task(struct markup_task *t, const struct markup_task_plan *plan,
		const struct symlog_task_options *options, struct markup_task_sums *sums,
		struct sc_error *err)
{
	const struct markup_plan_form *form = plan->form;
	struct job job = {
		.plan = plan, .options = options,
		.from = {
			options->caches, form->modules, form->num_modules, form->raw,
			.no_files = true, .store_name = plan->store_name,
		},
		.spare = calloc(plan->workers, sizeof(struct symlog_filter *)),
	};
	int rc = job.spare ? markup_task_run(t, filter_shard, &job, sums, err) : sc_no_memory(err);

	for (unsigned i = 0; job.spare && i < plan->workers; i++)
		symlog_filter_destroy(job.spare[i]);
	free(job.spare);
	return rc;
}
