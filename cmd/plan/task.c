/*
 * The map step: see task.h. The plan's engine is libmarkup's; here its shards are filtered, with
 * symbols of the store. Nothing of the machine shows in what is written: symbols are those of the
 * store that was planned with, or there are none.
 */
#include "cmd/plan/task.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/filter/form.h"
#include "libmarkup/plan.h"

struct job {
	const struct markup_task_plan *plan;
	struct cmd_caches caches;
	struct symlog_sources from;
	struct filtering **spare;    /* of each worker, for whole logs; NULL: none yet */
};

/* A plan that is damaged or wrongly used stays so; all else may be better elsewhere. */
static int status_of(int rc)
{
	return !rc							    ? STATUS_OK :
	       rc == SC_EFORMAT || rc == SC_EUNSUPPORTED || rc == SC_EINVAL ? STATUS_ERROR :
									      STATUS_AGAIN;
}

static int check_store(const struct markup_task_plan *p, const char *store, struct sc_error *err)
{
	char identity[MARKUP_HASH_TEXT];
	int rc = store_identity(store, identity, err);

	if (rc) /* none here, or a damaged one: there may be a good one elsewhere */
		return err->code = SC_ESYS;
	if (strcmp(identity, p->store))
		return sc_error_set(err, SC_ESYS, "the store is another one than was planned with: its "
				    "hash is %s, that of the plan %s", identity, p->store);
	return 0;
}

static struct filtering *new_filtering(const struct job *job, const char *title)
{
	struct markup_options options = job->plan->form->options;
	struct filtering *f;

	options.title = title;
	if (filtering_create(&options, &job->from, job->plan->threads,
			     form_complaints(options.dialect), NULL, &f))
		must(NULL);
	return f;
}

/* What came of it; 0: it may be kept. */
static int take_result(struct job *job, enum symlog_result result,
		       const struct symlog *log, struct filtering *f, struct markup_shard *s,
		       struct sc_error *err)
{
	if (result == SYMLOG_NO_INPUT || (result == SYMLOG_CUT && log->error != SC_EFORMAT))
		return sc_error_set(err, SC_ESYS, "%s cannot be read", log->path);
	if (result == SYMLOG_FAILED)
		return sc_error_set(err, SC_ESYS, "%s is not complete", s->output);
	if (job->caches.failed)
		return sc_error_set(err, SC_ESYS, "the store is damaged here");
	s->cut_off = result == SYMLOG_CUT;
	s->read = log->read;
	s->stats = *markup_filter_stats(filtering_filter(f));
	return markup_filter_missing(filtering_filter(f), markup_shard_miss, s->said) ?
		sc_error_set(err, SC_ENOMEM, "out of memory") : 0;
}

static int filter_shard(void *ctx, struct markup_shard *s, struct sc_error *err)
{
	struct job *job = ctx;
	const bool reuses = !s->part && job->plan->form->options.format != MARKUP_HTML;
	struct filtering **spare = &job->spare[s->worker];
	struct symlog log = {
		.path = s->path, .shown = s->shown, .part = s->part, .goes_on = s->goes_on,
		.from = s->from, .to = s->to, .lines = s->lines,
		.saved = s->saved, .saved_len = s->saved_len,
		.tables = s->tables, .tables_len = s->tables_len,
	};
	struct filtering *f = reuses && *spare ? *spare : new_filtering(job, s->shown);
	enum symlog_result result;
	int rc;

	if (reuses)
		*spare = f;
	filtering_report_to(f, markup_shard_say, s->said);
	filtering_begin(f, s->hash);
	result = filtering_run(f, &log, s->fd, s->output);
	if (result <= SYMLOG_CUT && !s->part && filtering_end(f))
		result = SYMLOG_FAILED;
	rc = take_result(job, result, &log, f, s, err);
	if (!reuses)
		filtering_destroy(f);
	return rc;
}

static int run_shards(struct markup_task *t, const struct markup_task_plan *p,
		      const struct task_options *options, struct markup_task_sums *sums,
		      struct sc_error *err)
{
	const struct markup_plan_form *form = p->form;
	struct job job = { .plan = p, .spare = must_calloc(p->workers, sizeof(struct filtering *)) };
	int rc;

	cmd_caches_init(&job.caches, options->store, (struct symcache_caches_options){
		.store_optional = true, .any_build_id = form->options.dialect == MARKUP_LLVM });
	job.from = (struct symlog_sources){
		job.caches.caches, form->modules, form->num_modules, form->raw, .no_files = true,
		.store_name = p->store_name,
	};
	rc = markup_task_run(t, filter_shard, &job, sums, err);
	for (unsigned i = 0; i < p->workers; i++)
		filtering_destroy(job.spare[i]);
	free(job.spare);
	cmd_caches_deinit(&job.caches);
	return rc;
}

int run_task(const struct task_options *options)
{
	struct markup_task_plan plan = { 0 };
	struct markup_task_sums sums;
	struct markup_task *t;
	struct sc_error err;
	const struct markup_task_options task = {
		options->plan, options->out, options->task, options->input_root, options->jobs,
		progress_update, NULL,
	};
	int rc;

	store_frozen = true;
	status_no_memory = STATUS_AGAIN;
	progress_begin("filtering", PROGRESS_BYTES, options->quiet);
	rc = markup_task_open(&task, &t, &plan, &err);
	if (!rc && !plan.done) {
		rc = check_store(&plan, options->store, &err);
		if (!rc)
			rc = run_shards(t, &plan, options, &sums, &err);
		progress_erase();
		if (!rc && !options->quiet)
			cmd_error("task %llu: %llu shard%s, %llu bytes read, %llu written, in %.1f s",
				  (unsigned long long)options->task, (unsigned long long)sums.shards,
				  sums.shards == 1 ? "" : "s", (unsigned long long)sums.read,
				  (unsigned long long)sums.written, sums.seconds);
	} else if (!rc && !options->quiet)
		cmd_error("task %llu was done before", (unsigned long long)options->task);
	if (rc)
		cmd_error("task %llu: %s", (unsigned long long)options->task, err.msg);
	markup_task_close(t);
	return status_of(rc);
}
