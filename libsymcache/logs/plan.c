/*
 * The logs of a plan (libsymcache/plan/plan.h), and the shards of its tasks, filtered: see
 * logs.h. Nothing of the machine shows in what a task writes: symbols are those of the
 * caches, or there are none.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/logs/input.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/plan/plan.h"

/* ---- the logs ---------------------------------------------------------------------------- */

static int packing_of(const char *path, enum symcache_packing *ret, struct sc_error *err)
{
	__attribute__((cleanup(sc_close_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char begin[6];
	const ssize_t len = fd < 0 ? -1 : pread(fd, begin, sizeof(begin), 0);

	if (len < 0)
		return sc_error_sys(err, "%s", path);
	*ret = symcache_packing_of(begin, (size_t)len);
	return 0;
}

int symlog_plan_logs(struct symlog_list *list, struct markup_planning *p, struct markup_log **ret,
		     struct sc_error *err)
{
	struct markup_log *logs = *ret = calloc(list->num + 1, sizeof(*logs));
	size_t left_out;
	char **outputs;
	int rc = !logs ? sc_no_memory(err) :
		 symlog_outputs(list, NULL, p->form.options.format, &outputs, &left_out, err);

	if (rc)
		return rc;
	p->left_out = left_out;
	p->logs = logs;
	for (size_t i = 0; i < list->num && !rc; i++) {
		const struct symlog_file *from = &list->logs[i];
		static const enum markup_log_kind kinds[] = {
			[SYMCACHE_PLAIN] = MARKUP_LOG_PLAIN, [SYMCACHE_GZIP] = MARKUP_LOG_GZIP,
			[SYMCACHE_XZ] = MARKUP_LOG_XZ, [SYMCACHE_ZSTD] = MARKUP_LOG_ZSTD,
		};
		enum symcache_packing packing;

		if (!outputs[i])
			continue;
		symlog_packed_suffix(from->path, &packing);
		if (from->size > p->task_size / 8) /* the name of a small one will do */
			rc = packing_of(from->path, &packing, err);
		logs[p->num_logs++] = (struct markup_log){ from->path, outputs[i], from->size,
							   from->mtime, kinds[packing] };
	}
	free(outputs);
	return rc;
}

/* ---- a task ---------------------------------------------------------------------------- */

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
	if (result == SYMLOG_NO_INPUT || (result == SYMLOG_CUT && log->error.code != SC_EFORMAT)) {
		*err = log->error;
		return err->code == SC_ENOMEM ? SC_ENOMEM : SC_ESYS;
	}
	if (result == SYMLOG_FAILED) {
		job->options->fault(job->options->ctx, err->msg);
		return sc_error_set(err, SC_ESYS, "%s is not complete", s->output);
	}
	if (*job->options->damaged)
		return sc_error_set(err, SC_ESYS, "an entry of the store cannot be used here");
	s->cut_off = result == SYMLOG_CUT;
	s->read = log->read;
	s->stats = *markup_filter_stats(f);
	return markup_filter_missing(f, markup_shard_miss, s->complaints) ? sc_no_memory(err) : 0;
}

static int filter_shard(void *ctx, struct markup_shard *s, struct sc_error *err)
{
	const struct job *job = ctx;
	const bool reuses = !s->part && !markup_form_of(&job->plan->form->options)->whole_page;
	struct symlog_filter *own = NULL, **f = reuses ? &job->spare[s->worker] : &own;
	struct symlog log = {
		.path = s->path, .output = { s->fd, s->output, s->hash, s->complaints },
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
			.find = {
				.caches = options->caches, .modules = form->modules,
				.num_modules = form->num_modules, .option = "--module",
				.no_files = true,
			},
			.raw = form->raw,
		},
		.spare = calloc(plan->workers, sizeof(struct symlog_filter *)),
	};
	int rc = job.spare ? markup_task_run(t, filter_shard, &job, sums, err) : sc_no_memory(err);

	for (unsigned i = 0; job.spare && i < plan->workers; i++)
		symlog_filter_destroy(job.spare[i]);
	free(job.spare);
	return rc;
}
