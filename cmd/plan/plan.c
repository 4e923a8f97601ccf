/*
 * symcache plan: an archive of logs → tasks that any machine can do, any number of times.
 *
 * Logs up to the task size are not read: their size and date are noted. Larger ones are cut,
 * in one pass over each (cut.h); then shards are dealt to tasks (deal.h). The plan appears
 * when it is complete; the same logs, options and store give the same bytes.
 */
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "symcache/logs.h"
#include "symcache/logs.h"
#include "cmd/plan/cut.h"
#include "cmd/plan/deal.h"
#include "cmd/plan/identity.h"
#include "cmd/store/select.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

enum {
	XZ_SLOWER = 4,    /* than text is from gzip and zstd */
	SKEWED = 10,      /* a packed log that takes as long as so many tasks */
	SMALLEST = 1 << 20,
};

static struct {
	const char *store, *output, *task_size;
	struct form form;
	uint64_t tasks, jobs;
	bool json, quiet;
} o = { .task_size = "32G", .tasks = 1000 };

static const struct opt opts[] = {
	{ "output", 'o', OPT_STRING, &o.output, "PLAN", "the folder of the plan, which is made" },
	OPTS_STORE_READ(&o.store),
	OPTS_FORM(&o.form),
	{ "task-size", 0, OPT_STRING, &o.task_size, "SIZE",
	  "bytes of text for a task, about: 200M, 32G (default); plain logs that are larger are cut" },
	{ "tasks", 0, OPT_NUMBER, &o.tasks, "MOST", "tasks, at most (default: 1000)" },
	{ "jobs", 'j', OPT_NUMBER, &o.jobs, "N",
	  "large logs that are read at once (default: one for each processor that it may use)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, no warnings and no summary" },
	{ 0 },
};

/* ---- the logs ------------------------------------------------------------------- */

static enum log_kind kind_by_name(const char *path)
{
	const size_t suffix = symlog_packed_suffix(path);
	const char *end = path + strlen(path) - suffix;

	return !suffix ? LOG_PLAIN : !strcmp(end, ".gz") ? LOG_GZIP :
	       !strcmp(end, ".xz") ? LOG_XZ : LOG_ZSTD;
}

static int kind_by_magic(const char *path, enum log_kind *ret, struct sc_error *err)
{
	static const struct { const char *magic; size_t len; enum log_kind kind; } magics[] = {
		{ "\x1f\x8b", 2, LOG_GZIP }, { "\xfd" "7zXZ\0", 6, LOG_XZ },
		{ "\x28\xb5\x2f\xfd", 4, LOG_ZSTD },
	};
	struct symlog_input in;
	char begin[6];
	ssize_t len;
	int rc = symlog_open(&in, path, err);

	if (rc)
		return rc;
	len = pread(in.fd, begin, sizeof(begin), 0);
	symlog_close(&in);
	if (len < 0)
		return sc_error_sys(err, "%s", path);
	*ret = LOG_PLAIN;
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if ((size_t)len >= magics[i].len && !memcmp(begin, magics[i].magic, magics[i].len))
			*ret = magics[i].kind;
	return 0;
}

static int add_operands(struct symlog_list *list, int argc, char **argv, struct sc_error *err)
{
	struct stat st;

	for (int i = 0; i < argc; i++) {
		if (stat(argv[i], &st))
			return sc_error_sys(err, "%s", argv[i]);
		if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
			return sc_error_set(err, SC_EINVAL, "%s: only regular files can be planned",
					    argv[i]);
		if (symlog_list_add(list, argv[i], argc == 1, err))
			return err->code;
	}
	return list->num ? 0 : sc_error_set(err, SC_EINVAL, "there are no logs in what was named");
}

/* Those that have an output of their own. */
static int take_logs(const struct symlog_list *list, uint64_t task_size, struct plan_logs *ret,
		     uint64_t *left_out, struct sc_error *err)
{
	char **outputs;
	int rc = symlog_outputs(list, NULL, (enum markup_format)o.form.format, &outputs, left_out, err);

	if (rc)
		return rc;
	ret->data = must_calloc(list->num, sizeof(*ret->data));
	for (size_t i = 0; i < list->num; i++) {
		const struct symlog_file *from = &list->logs[i];
		struct plan_log *l = &ret->data[ret->len];

		if (!outputs[i])
			continue;
		*l = (struct plan_log){ ret->len++, must_asprintf("%s", from->path), outputs[i],
					from->size, from->mtime, kind_by_name(from->path) };
		if (!rc && l->size > task_size / 8) /* the name of a small one will do */
			rc = kind_by_magic(l->path, &l->kind, err);
	}
	free(outputs);
	return rc;
}

/* What makes a task much longer than the others. */
static void warn_of_skew(const struct plan_logs *logs, uint64_t task_size)
{
	for (size_t i = 0; i < logs->len && !o.quiet; i++) {
		const struct plan_log *l = &logs->data[i];
		const struct plan_shard whole = { .to = l->size };
		const uint64_t cost = plan_cost(l, &whole) * (l->kind == LOG_XZ ? XZ_SLOWER : 1);

		if (l->kind != LOG_PLAIN && cost / SKEWED > task_size)
			cmd_error("%s: %s is not cut: its task takes about %llu times as long as others; "
				  "split it, or unpack it", l->path, log_kinds[l->kind],
				  (unsigned long long)(cost / task_size));
		else if (l->kind == LOG_PLAIN && o.form.format == MARKUP_HTML && l->size / 2 > task_size)
			cmd_error("%s: a page of HTML is not cut: its task takes about %llu times as long "
				  "as others", l->path, (unsigned long long)(l->size / task_size));
	}
}

/* ---- the plan ------------------------------------------------------------------------ */

static int write_logs(const char *dir, const struct plan_logs *logs, char hash[HASH_TEXT],
		      struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = plan_path(dir, "inputs.jsonl");
	__attribute__((cleanup(rows_discard))) struct rows_out w = { 0 };
	int rc = rows_create(&w, path, err);

	for (size_t i = 0; i < logs->len && !rc; i++) {
		plan_put_log(&w, &logs->data[i]);
		rc = rows_close(&w, err);
	}
	return rc ? rc : rows_commit(&w, hash, err);
}

static int by_task(const void *a, const void *b)
{
	const struct plan_shard *x = a, *y = b;

	return x->task != y->task ? (x->task > y->task) - (x->task < y->task) :
	       (x->number > y->number) - (x->number < y->number);
}

/* Ordered by task, which sorts them. */
static int write_shards(const char *dir, struct plan_shards *shards, char hash[HASH_TEXT],
			struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = plan_path(dir, "shards.jsonl");
	__attribute__((cleanup(rows_discard))) struct rows_out w = { 0 };
	int rc = rows_create(&w, path, err);

	qsort(shards->data, shards->len, sizeof(*shards->data), by_task);
	for (size_t i = 0; i < shards->len && !rc; i++) {
		plan_put_shard(&w, &shards->data[i]);
		rc = rows_close(&w, err);
	}
	return rc ? rc : rows_commit(&w, hash, err);
}

static int write_tasks(const char *dir, uint64_t tasks, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *path = plan_path(dir, "tasks");
	struct text t = { 0 };
	int rc;

	for (uint64_t i = 0; i < tasks; i++) {
		text_number(&t, i, 10);
		text_char(&t, '\n');
	}
	rc = sc_replace_file(path, t.bytes, t.len, err);
	free(t.bytes);
	return rc;
}

/* Fills the folder. */
static int make_plan(struct plan *p, const char *dir, const struct plan_logs *logs,
		     struct plan_shards *shards, struct sc_error *err)
{
	__attribute__((cleanup(sc_free_text))) char *contexts = plan_path(dir, "contexts");
	const struct markup_options options = form_markup(&p->form);
	const struct cutting cutting = {
		.options = &options, .logs = logs, .dir = dir, .task_size = p->task_size,
		.threads = o.jobs ? (unsigned)o.jobs : sc_cores(), .quiet = o.quiet,
	};
	int rc;

	if (mkdir(contexts, 0777))
		return sc_error_sys(err, "cannot make the directory %s", contexts);
	rc = plan_cut(&cutting, shards, err);
	if (rc)
		return rc;
	p->logs = logs->len;
	p->shards = shards->len;
	p->tasks = plan_deal(shards, logs, p->task_size, o.tasks);
	for (size_t i = 0; i < logs->len; i++)
		p->bytes += logs->data[i].size;
	rc = write_logs(dir, logs, p->logs_hash, err);
	if (!rc)
		rc = write_shards(dir, shards, p->shards_hash, err);
	if (!rc)
		rc = write_tasks(dir, p->tasks, err);
	return rc ? rc : plan_write(p, dir, err);
}

static void remove_folder(const char *path)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_D)
			remove(e->fts_accpath);
	if (fts)
		fts_close(fts);
}

/* Makes it next to its place. */
static int write_plan(struct plan *p, const struct plan_logs *logs, struct plan_shards *shards,
		      struct sc_error *err)
{
	size_t len = strlen(o.output);
	mode_t mask;
	int rc;

	while (len > 1 && o.output[len - 1] == '/')
		len--;
	__attribute__((cleanup(sc_free_text))) char *dir = must_asprintf("%.*s.XXXXXX", (int)len,
									   o.output);
	if (!access(o.output, F_OK))
		return sc_error_set(err, SC_EINVAL, "%s is there already: remove it, or choose another "
				    "name", o.output);
	if (!mkdtemp(dir))
		return sc_error_sys(err, "cannot make the directory %s", dir);
	mask = umask(0);
	umask(mask);
	chmod(dir, 0777 & ~mask);
	rc = make_plan(p, dir, logs, shards, err);
	if (!rc && rename(dir, o.output))
		rc = sc_error_sys(err, "cannot rename to %s", o.output);
	if (rc)
		remove_folder(dir);
	return rc;
}

/* ---- the command ----------------------------------------------------------------------- */

/* Bytes that a task needs: a program without a log, and a decompressor for each thread. */
static void put_memory(struct json_gen *j, const struct plan_logs *logs)
{
	static const uint64_t per_thread[] = { 1 << 20, 1 << 20, 512 << 20, 128 << 20 };
	uint64_t most = 0;

	for (size_t i = 0; i < logs->len; i++)
		if (per_thread[logs->data[i].kind] > most)
			most = per_thread[logs->data[i].kind];
	json_gen_number(j, "memory", 300 << 20);
	json_gen_number(j, "memory_per_thread", most);
}

static void summarise(const struct plan *p, const struct plan_logs *logs)
{
	struct json_gen *j;

	if (o.json) {
		j = json_gen_begin_report(false);
		json_gen_text(j, "plan", o.output);
		json_gen_text(j, "xxh128", p->hash);
		json_gen_number(j, "logs", p->logs);
		json_gen_number(j, "left_out", p->left_out);
		json_gen_number(j, "bytes", p->bytes);
		json_gen_number(j, "shards", p->shards);
		json_gen_number(j, "tasks", p->tasks);
		put_memory(j, logs);
		json_gen_end_report(j);
	} else if (!o.quiet) {
		printf("%llu log%s, %llu bytes, in %llu task%s: 0 to %llu\n", (unsigned long long)p->logs,
		       p->logs == 1 ? "" : "s", (unsigned long long)p->bytes,
		       (unsigned long long)p->tasks, p->tasks == 1 ? "" : "s",
		       (unsigned long long)p->tasks - 1);
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

static int plan_archive(int argc, char **argv, struct plan *p, bool *partly, struct sc_error *err)
{
	__attribute__((cleanup(symlog_list_deinit))) struct symlog_list list = { .fault = cmd_complain };
	__attribute__((cleanup(plan_logs_deinit))) struct plan_logs logs = { 0 };
	struct plan_shards shards = { 0 };
	int rc = parse_size(o.task_size, &p->task_size, err);

	if (!rc && p->task_size < SMALLEST)
		rc = sc_error_set(err, SC_EINVAL, "--task-size: at least 1M");
	if (!rc)
		rc = store_path(o.store, &p->store_name, err);
	if (!rc)
		rc = store_identity(o.store, p->store, err);
	if (!rc)
		rc = add_operands(&list, argc, argv, err);
	if (!rc)
		rc = take_logs(&list, p->task_size, &logs, &p->left_out, err);
	if (!rc)
		rc = write_plan(p, &logs, &shards, err);
	free(shards.data);
	if (rc)
		return rc;
	*partly = list.failed || p->left_out;
	warn_of_skew(&logs, p->task_size);
	summarise(p, &logs);
	return 0;
}

static int run(int argc, char **argv)
{
	struct plan p = { .form = o.form };
	struct sc_error err;
	bool partly = false;
	int rc;

	if (!o.output || !argc) {
		cmd_error(o.output ? "name the logs, or folders of them"
				   : "say where the plan goes: -o PLAN");
		return STATUS_ERROR;
	}
	if (!form_valid(&o.form) || names_file(&o.form))
		return STATUS_ERROR;
	if (!o.tasks || o.tasks > PLAN_TASKS_MAX) {
		cmd_error("--tasks: from 1 to %u", PLAN_TASKS_MAX);
		return STATUS_ERROR;
	}
	rc = plan_archive(argc, argv, &p, &partly, &err);
	free(p.store_name);
	free(o.form.modules.items);
	if (rc)
		cmd_error("%s", err.msg);
	return rc ? STATUS_ERROR : partly ? STATUS_PARTLY : STATUS_OK;
}

const struct command plan_command = {
	.name = "plan",
	.operands = "-o PLAN FILE|FOLDER...",
	.summary = "divide an archive of logs into tasks for many machines",
	.description =
		"Writes a plan by which any number of machines can filter an archive, with whatever "
		"starts programs there: Slurm, GNU parallel, Kubernetes, Dask. Each task is one run of "
		"'symcache filter --plan PLAN --task N -o OUT', anywhere, any number of times; "
		"'symcache merge PLAN OUT' then completes OUT. Its files are those of one 'symcache "
		"filter -j 1 --output-dir OUT', to the byte.\n\n"
		"Logs up to the task size are not read, larger plain ones are cut. Compressed logs and "
		"pages of HTML are not. The options decide what is written; the tasks take them from the "
		"plan.",
	.opts = opts,
	.examples =
		"  symcache plan -o plan --store all.store logs\n"
		"  sbatch --array=0-99 scripts/batch/slurm.sh plan out --store all.store\n"
		"  symcache merge plan out\n",
	.partly = "some logs are not in the plan",
	.see_also = "symcache-filter(1) symcache-merge(1) symcache-export(1)",
	.run = run,
};
