/*
 * symcache plan: an archive of logs → tasks that any machine can do, any number of times: see
 * libsymcache/plan/plan.h. Here logs are found, and what is unusual about them is said; those below
 * an eighth of the task size are not opened.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/filter/form.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/plan/plan.h"

enum {
	XZ_SLOWER = 4,    /* than text is from gzip and zstd */
	SKEWED = 10,      /* a packed log that takes as long as so many tasks */
	SMALLEST = 1 << 20,
};

static struct {
	const char *store, *output;
	struct form form;
	uint64_t task_size, tasks, jobs;
	bool json, quiet;
} o = { .task_size = 32ull << 30, .tasks = 1000 };

static const struct opt opts[] = {
	OPT_SECTION("Plan"),
	{ "output", 'o', OPT_STRING, &o.output, "PLAN", "the folder for the plan, which is created" },
	OPT_SECTION("Symbols"),
	OPTS_STORE_READ(&o.store),
	OPTS_FORM(&o.form),
	OPT_SECTION("Tasks"),
	{ "task-size", 0, OPT_SIZE, &o.task_size, "SIZE",
	  "about how many bytes of text a task gets: 200M, 32G (default); larger plain logs are split" },
	{ "tasks", 0, OPT_NUMBER, &o.tasks, "MOST", "at most this many tasks (default: 1000)" },
	{ "jobs", 'j', OPT_COUNT, &o.jobs, "N",
	  "how many large logs are read at the same time (default: one for each available processor)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, no warnings and no summary" },
	{ 0 },
};

/* ---- the logs ------------------------------------------------------------------- */

static int add_operands(struct symlog_list *list, int argc, char **argv, unsigned threads,
			struct sc_error *err)
{
	struct stat st;

	for (int i = 0; i < argc; i++) {
		if (stat(argv[i], &st))
			return sc_error_sys(err, "%s", argv[i]);
		if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
			return sc_error_set(err, SC_EINVAL, "%s: only regular files can be planned",
					    argv[i]);
		if (symlog_list_add(list, argv[i], argc == 1, threads, err))
			return err->code;
	}
	return list->num ? 0 : sc_error_set(err, SC_EINVAL, "no logs in the files and folders given");
}

/* What makes a task much longer than the others. */
static void warn_of_skew(const struct markup_planning *p)
{
	for (size_t i = 0; i < p->num_logs && !o.quiet; i++) {
		const struct markup_log *l = &p->logs[i];
		const uint64_t cost = markup_log_cost(l->kind, l->size) *
				      (l->kind == MARKUP_LOG_XZ ? XZ_SLOWER : 1);

		if (l->kind != MARKUP_LOG_PLAIN && cost / SKEWED > p->task_size)
			cmd_error("%s: %s cannot be split: its task takes about %llu times as long as "
				  "the others; unpack it, or split it yourself", l->path, markup_log_kinds[l->kind],
				  (unsigned long long)(cost / p->task_size));
		else if (l->kind == MARKUP_LOG_PLAIN &&
			 markup_form_of(&p->form.options)->whole_page && l->size / 2 > p->task_size)
			cmd_error("%s: a page of HTML cannot be split: its task takes about %llu times as "
				  "long as the others", l->path, (unsigned long long)(l->size / p->task_size));
	}
}

/* ---- the command ----------------------------------------------------------------------- */

/* Bytes that a task needs: a program without a log, and a decompressor for each thread. */
static void put_memory(struct mk_gen *j, const struct markup_planning *p)
{
	static const uint64_t per_thread[] = { 1 << 20, 1 << 20, 512 << 20, 128 << 20 };
	uint64_t most = 0;

	for (size_t i = 0; i < p->num_logs; i++)
		if (per_thread[p->logs[i].kind] > most)
			most = per_thread[p->logs[i].kind];
	mk_gen_number(j, "memory", 300 << 20);
	mk_gen_number(j, "memory_per_thread", most);
}

static void summarise(const struct markup_planning *p, const struct markup_planned *made)
{
	struct mk_gen *j;

	if (o.json) {
		j = out_json_open(false);
		mk_gen_text(j, "plan", o.output);
		mk_gen_text(j, "xxh128", made->hash);
		mk_gen_number(j, "logs", p->num_logs);
		mk_gen_number(j, "left_out", p->left_out);
		mk_gen_number(j, "bytes", made->bytes);
		mk_gen_number(j, "shards", made->shards);
		mk_gen_number(j, "tasks", made->tasks);
		put_memory(j, p);
		out_json_close(j);
	} else if (!o.quiet) {
		printf("%zu log%s, %llu bytes, in %llu task%s: 0 to %llu\n", p->num_logs,
		       p->num_logs == 1 ? "" : "s", (unsigned long long)made->bytes,
		       (unsigned long long)made->tasks, made->tasks == 1 ? "" : "s",
		       (unsigned long long)made->tasks - 1);
	}
}

/* A plan is for other machines: a module is what the store says, not a file of this one. */
static bool names_file(const struct form *f)
{
	for (size_t i = 0; i < f->modules.len; i++) {
		if (access(strchr(f->modules.items[i], '=') + 1, F_OK))
			continue;
		cmd_error("--module: '%.100s' is a file of this machine: name a build ID or a tag of the "
			  "store", f->modules.items[i]);
		return true;
	}
	return false;
}

static int plan_archive(int argc, char **argv, bool *partly, struct sc_error *err)
{
	__attribute__((cleanup(symlog_list_deinit)))
	struct symlog_list list = { .fault = cmd_complain };
	__attribute__((cleanup(sc_free_text))) char *store_name = NULL;
	struct markup_log *logs = NULL;
	char store[SC_HASH_TEXT];
	struct markup_planning p = {
		.form = { form_markup(&o.form), o.form.modules.items, o.form.modules.len,
			  o.form.raw },
		.store = store, .task_size = o.task_size, .tasks = o.tasks,
		.threads = o.jobs ? (unsigned)o.jobs : sc_cores(),
		.progress = progress_update,
	};
	struct markup_planned made;
	int rc = 0;

	progress_begin("cutting", PROGRESS_BYTES, o.quiet);
	if (p.task_size < SMALLEST)
		rc = sc_error_set(err, SC_EINVAL, "--task-size: at least 1M");
	if (!rc)
		rc = store_path(o.store, &store_name, err);
	p.store_name = store_name;
	if (!rc)
		rc = store_identity(o.store, store, err);
	if (!rc)
		rc = add_operands(&list, argc, argv, p.threads, err);
	if (!rc)
		rc = symlog_plan_logs(&list, &p, &logs, err);
	if (!rc)
		rc = markup_plan_make(o.output, &p, &made, err);
	progress_erase();
	if (!rc) {
		*partly = list.failed || p.left_out;
		warn_of_skew(&p);
		summarise(&p, &made);
	}
	free(logs);
	return rc;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	bool partly = false;
	int rc;

	if (!o.output)
		return sc_error_set(err, SC_EINVAL, "no plan folder given: use -o PLAN");
	if (!argc)
		return sc_error_set(err, SC_EINVAL, "no logs given, nor folders of logs");
	if (!form_valid(&o.form) || names_file(&o.form))
		return STATUS_ERROR;
	if (!o.tasks || o.tasks > MARKUP_TASKS_MAX)
		return sc_error_set(err, SC_EINVAL, "--tasks: from 1 to %u", MARKUP_TASKS_MAX);
	rc = plan_archive(argc, argv, &partly, err);
	return rc ? rc : partly ? STATUS_PARTLY : STATUS_OK;
}

const struct command plan_command = {
	.name = "plan",
	.operands = "-o PLAN FILE|FOLDER...",
	.summary = "divide an archive of logs into tasks for many machines",
	.description =
		"Writes a plan with which any number of machines can filter an archive, started by "
		"Slurm, GNU parallel, Kubernetes, Dask or anything else. Each task is one run of "
		"'symcache filter --plan PLAN --task N -o OUT', on any machine, any number of times; "
		"'symcache merge PLAN OUT' then completes OUT. Its files are those of one 'symcache "
		"filter -j 1 --output-dir OUT', byte for byte.\n\n"
		"Logs up to the task size are not read; larger uncompressed ones are split. "
		"Compressed logs and pages of HTML are not. The options decide what is written; the "
		"tasks take them from the plan.",
	.opts = opts,
	.essential = "store output-dir tasks format jobs",
	.examples =
		"  symcache plan -o plan --store all.store logs\n"
		"  sbatch --array=0-99 scripts/batch/slurm.sh plan out --store all.store\n"
		"  symcache merge plan out\n",
	.partly = "some logs are not in the plan",
	.see_also = "symcache-filter(1) symcache-merge(1) symcache-export(1)",
	.run = run,
};
