/* symcache merge: the last step of a plan: one result, as a single run gives it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cmd.h"
#include "cmd/filter/filtering.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/plan/plan.h"

static struct {
	bool status, missing, json, keep_parts, quiet;
	uint64_t jobs;
} o;

static const struct opt opts[] = {
	{ "missing", 0, OPT_FLAG, &o.missing, NULL,
	  "print the tasks that are not done, as 3,7,12-15, and exit; status 1 if there are any" },
	{ "status", 0, OPT_FLAG, &o.status, NULL, "print how many tasks are done, and exit" },
	{ "keep-parts", 0, OPT_FLAG, &o.keep_parts, NULL, "keep the parts of logs that were split" },
	{ "jobs", 'j', OPT_COUNT, &o.jobs, "N",
	  "how many logs are joined at the same time (default: one for each available processor)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the status, or what was merged, as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no complaints, progress or summary" },
	{ 0 },
};

static void say(void *ctx, const char *text, size_t len)
{
	(void)ctx;
	progress_erase();
	if (!o.quiet)
		sc_write_all(STDERR_FILENO, text, len);
}

/* ---- how far it is ---------------------------------------------------------------- */

static void print_status(const struct markup_merge_status *s)
{
	const double seconds = (double)(s->ended - s->begun) / 1000;
	struct mk_gen *j;

	if (o.json) {
		j = out_json_open(false);
		mk_gen_number(j, "tasks", s->tasks);
		mk_gen_number(j, "done", s->done);
		mk_gen_text(j, "missing", s->missing);
		mk_gen_number(j, "read", s->read);
		mk_gen_number(j, "written", s->written);
		mk_gen_signed(j, "begun_ms", s->begun);
		mk_gen_signed(j, "ended_ms", s->ended);
		out_json_close(j);
		return;
	}
	printf("%" PRIu64 " of %" PRIu64 " tasks are done%s%s\n", s->done, s->tasks,
	       s->done < s->tasks ? ", missing: " : "", s->missing);
	if (s->done)
		printf("%" PRIu64 " bytes read, %" PRIu64 " written, in %.1f s: %.1f MB/s\n",
		       s->read, s->written, seconds,
		       seconds > 0 ? (double)s->read / 1e6 / seconds : 0);
}

/* --missing and --status */
static int report(const struct markup_merge *m, struct sc_error *err)
{
	struct markup_merge_status s;
	int rc = markup_merge_status(m, &s, err);

	if (!rc && o.status)
		print_status(&s);
	else if (!rc && s.done < s.tasks)
		puts(s.missing);
	free(s.missing);
	return rc ? rc : o.missing && s.done < s.tasks ? STATUS_PARTLY : STATUS_OK;
}

/* ---- the merge -------------------------------------------------------------------------- */

/* As `symcache filter --output-dir` ends. */
static void summarise(const struct markup_merged *m)
{
	const uint64_t failed = m->damaged + m->left_out, all = m->logs - m->damaged;
	const char *own = cmd_name;
	struct mk_gen *j;

	if (o.json) {
		j = out_json_open(false);
		mk_gen_number(j, "logs", m->logs);
		mk_gen_number(j, "failed", failed);
		out_json_close(j);
	}
	if (o.quiet)
		return;
	cmd_name = "symcache filter";
	cmd_error("%" PRIu64 " log%s filtered, 0 already up to date, %" PRIu64 " failed", all,
		  all == 1 ? "" : "s", failed);
	if (!failed && m->dialect == MARKUP_DEFAULT)
		hint_at_formats(m->tally);
	print_summary(m->tally);
	if (m->dialect == MARKUP_DEFAULT)
		hint_at_missing(m->tally, NULL, false);
	cmd_name = own;
}

static int merge(struct markup_merge *m, struct sc_error *err)
{
	struct markup_merged merged;
	int rc = markup_merge_run(m, &merged, err);

	progress_erase();
	if (rc)
		return rc;
	summarise(&merged);
	return merged.damaged || merged.left_out || other_builds(merged.tally) ? STATUS_PARTLY :
										 STATUS_OK;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct markup_merge_options options = {
		.threads = o.jobs ? (unsigned)o.jobs : sc_cores(), .keep_parts = o.keep_parts,
		.progress = progress_update, .fault = cmd_complain, .say = say,
	};
	struct markup_merge *m;
	int status;

	if (argc != 2)
		return sc_error_set(err, SC_EINVAL,
				    "give the plan and the folder of its outputs: PLAN OUT");
	if (o.missing && o.status)
		return sc_error_set(err, SC_EINVAL, "--missing and --status are mutually exclusive");
	options.plan = argv[0];
	options.out = argv[1];
	progress_begin("merging", PROGRESS_BYTES, o.quiet);
	status = markup_merge_open(&options, &m, err);
	if (!status)
		status = o.missing || o.status ? report(m, err) : merge(m, err);
	markup_merge_close(m);
	return status;
}

const struct command merge_command = {
	.name = "merge",
	.operands = "PLAN OUT",
	.summary = "complete what the tasks of a plan wrote",
	.description =
		"When all tasks of a plan are done, joins the logs that were split, compares hashes, "
		"and reports what one 'symcache filter --output-dir OUT' would have reported: "
		"complaints, each warning once, and counts. They are in OUT/.symcache/complaints and "
		"summary.json, too. It can be killed and run again.",
	.opts = opts,
	.examples =
		"  symcache merge plan out\n"
		"  sbatch --array=$(symcache merge --missing plan out) scripts/batch/slurm.sh plan out\n",
	.partly = "some logs are damaged, were left out, or are of another build; with --missing: tasks are missing",
	.failed = "a record or a part is missing or damaged: the message says which task to run again",
	.see_also = "symcache-plan(1) symcache-filter(1)",
	.run = run,
};
