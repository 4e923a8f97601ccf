/*
 * symcache merge: the last step of a plan: one result, as a single run gives it. See merging.h
 * for its parts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/messages.h"
#include "cmd/cmd.h"
#include "cmd/filter/filtering.h"
#include "cmd/plan/merging.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

static struct {
	bool status, missing, json, keep_parts, quiet;
	uint64_t jobs;
} o;

static const struct opt opts[] = {
	{ "missing", 0, OPT_FLAG, &o.missing, NULL,
	  "print the tasks that have no record, as 3,7,12-15, and end; exit status 1 if there are any" },
	{ "status", 0, OPT_FLAG, &o.status, NULL, "print how far the tasks are, and end" },
	{ "keep-parts", 0, OPT_FLAG, &o.keep_parts, NULL, "do not remove the parts of logs that were cut" },
	{ "jobs", 'j', OPT_NUMBER, &o.jobs, "N",
	  "logs that are put together at once (default: one for each processor that it may use)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the status, or what was merged, as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no complaints, no progress and no summary" },
	{ 0 },
};

/* ---- how far it is ---------------------------------------------------------------- */

struct so_far {
	uint64_t read, written;
	int64_t begun, ended; /* by the clocks of the machines */
};

static void add_head(void *ctx, const struct record *r)
{
	struct so_far *s = ctx;

	s->read += r->read;
	s->written += r->written;
	if (!s->begun || r->begun < s->begun)
		s->begun = r->begun;
	if (r->ended > s->ended)
		s->ended = r->ended;
}

static void print_status(const struct merging *m, const struct so_far *s, const char *missing,
			 uint64_t num)
{
	const double seconds = (double)(s->ended - s->begun) / 1000;
	const uint64_t done = m->plan.tasks - num;
	struct json_gen *j;

	if (o.json) {
		j = json_gen_begin_report(false);
		json_gen_number(j, "tasks", m->plan.tasks);
		json_gen_number(j, "done", done);
		json_gen_text(j, "missing", missing);
		json_gen_number(j, "read", s->read);
		json_gen_number(j, "written", s->written);
		json_gen_signed(j, "begun_ms", s->begun);
		json_gen_signed(j, "ended_ms", s->ended);
		json_gen_end_report(j);
		return;
	}
	printf("%" PRIu64 " of %" PRIu64 " tasks are done%s%s\n", done, m->plan.tasks,
	       num ? ", missing: " : "", missing);
	if (done)
		printf("%" PRIu64 " bytes read, %" PRIu64 " written, in %.1f s: %.1f MB/s\n", s->read,
		       s->written, seconds, seconds > 0 ? (double)s->read / 1e6 / seconds : 0);
}

/* --missing and --status */
static int report(const struct merging *m, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *missing = NULL;
	struct so_far s = { 0 };
	uint64_t num;
	int rc = merging_missing(m, add_head, &s, &missing, &num, err);

	if (rc)
		return rc;
	if (o.status)
		print_status(m, &s, missing, num);
	else if (num)
		puts(missing);
	return o.missing && num ? STATUS_PARTLY : STATUS_OK;
}

/* ---- the merge -------------------------------------------------------------------------- */

/* As `symcache filter --output-dir` ends. */
static void summarise(const struct merging *m)
{
	const uint64_t failed = m->damaged + m->plan.left_out, all = m->plan.logs - m->damaged;
	const char *own = cmd_name;
	struct json_gen *j;

	if (o.json) {
		j = json_gen_begin_report(false);
		json_gen_number(j, "logs", m->plan.logs);
		json_gen_number(j, "failed", failed);
		json_gen_end_report(j);
	}
	if (o.quiet)
		return;
	cmd_name = "symcache filter";
	cmd_error("%" PRIu64 " log%s filtered, 0 finished before, %" PRIu64 " failed", all,
		  all == 1 ? "" : "s", failed);
	if (!failed && m->plan.form.dialect == MARKUP_DEFAULT)
		hint_at_formats(m->tally);
	print_summary(m->tally);
	cmd_name = own;
}

static int merge(struct merging *m, struct sc_error *err)
{
	int rc = merging_load(m, err);

	if (!rc)
		rc = merging_logs(m, err);
	if (!rc)
		rc = merging_said(m, err);
	if (!rc)
		rc = merging_write_summary(m, err);
	if (rc)
		return rc;
	merging_clean(m);
	summarise(m);
	return m->damaged || m->plan.left_out ? STATUS_PARTLY : STATUS_OK;
}

static int run(int argc, char **argv)
{
	struct merging m = {
		.jobs = o.jobs ? (unsigned)o.jobs : sc_cores(), .keep_parts = o.keep_parts,
		.quiet = o.quiet, .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct sc_error err;
	int status;

	if (argc != 2 || (o.missing && o.status)) {
		cmd_error(argc != 2 ? "name the plan and the folder of its outputs: PLAN OUT"
				    : "--missing and --status exclude each other");
		return STATUS_ERROR;
	}
	m.out = argv[1];
	status = merging_open(&m, argv[0], &err);
	if (!status)
		status = o.missing || o.status ? report(&m, &err) : merge(&m, &err);
	merging_close(&m);
	if (status >= 0)
		return status;
	cmd_error("%s", err.msg);
	return STATUS_ERROR;
}

const struct command merge_command = {
	.name = "merge",
	.operands = "PLAN OUT",
	.summary = "complete what the tasks of a plan wrote",
	.description =
		"When all tasks of a plan are done, puts the logs that were cut together, compares hashes, "
		"and says what one 'symcache filter --output-dir OUT' would have said: complaints, each "
		"warning once, and counts; they are in OUT/.symcache/complaints and summary.json, too. "
		"It may be killed and run again.",
	.opts = opts,
	.examples =
		"  symcache merge plan out\n"
		"  sbatch --array=$(symcache merge --missing plan out) scripts/batch/slurm.sh plan out\n",
	.partly = "some logs are damaged, or were left out; with --missing: tasks are missing",
	.failed = "a record or a part is missing or damaged: it is named, with the task to run again",
	.see_also = "symcache-plan(1) symcache-filter(1)",
	.run = run,
};
