/*
 * symcache index: ELF files → the store.
 *
 *   scan (scan.c) → work (index_work.c), file by file → commit (index_commit.c)
 *
 * This file holds the options, the loop, and the account of what came of each
 * file. A file that cannot be indexed is told and does not stop the rest; a store
 * that cannot be written does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/index.h"
#include "cmd/json_gen.h"
#include "cmd/scan.h"
#include "cmd/select.h"
#include "cmd/transforms.h"

static struct {
	const char *store;
	struct opt_list debug_dirs, tags;
	struct transform_options transforms;
	uint64_t threads, memory;
	bool follow, again, quiet, json, stats;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	OPT_DEBUG_DIRS(&o.debug_dirs),
	{ "follow", 'L', OPT_FLAG, &o.follow, NULL,
	  "go into folders that links lead to (links to files are always followed)" },
	{ "tag", 0, OPT_LIST, &o.tags, "TAG",
	  "put this tag, KEY=VALUE or a word, on the entries, also on those that are unchanged; may "
	  "be repeated" },
	OPT_TRANSFORMS(&o.transforms),
	{ "again", 0, OPT_FLAG, &o.again, NULL, "index also what is unchanged" },
	{ "threads", 'j', OPT_NUMBER, &o.threads, "N", "use N threads (default: all cores)" },
	{ "memory", 0, OPT_NUMBER, &o.memory, "MIB",
	  "work on several files at once as far as they take this much (default: a quarter "
	  "of the machine's)" },
	{ "stats", 0, OPT_FLAG, &o.stats, NULL, "tell what took how long, and how much" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

struct failure {
	char *path, *reason;
};

struct account {
	struct progress progress;
	struct scan scan;
	struct index_stats stats;
	uint64_t indexed, better_known, unchanged, no_symbols, unsupported, broken;
	struct failure *failures;
	size_t num_failures, cap_failures;
};

static void failed(void *ctx, const char *path, const char *reason)
{
	struct account *a = ctx;

	reason = without_path(reason, path);
	progress_erase(&a->progress);
	cmd_error("%s: %s", path, reason);
	a->failures = must_grow(a->failures, a->num_failures, &a->cap_failures,
				sizeof(*a->failures));
	a->failures[a->num_failures++] = (struct failure){
		must_asprintf("%s", path), must_asprintf("%s", reason)
	};
}

static void found(void *ctx, uint64_t files, const char *path)
{
	struct account *a = ctx;

	progress_update(&a->progress, files, 0, path);
}

static void committed(void *ctx, const struct index_job *job)
{
	struct account *a = ctx;

	if (job->result == INDEX_UNCHANGED)
		a->unchanged++;
	else if (job->result != INDEX_BUILT)
		a->no_symbols++;
	else if (job->stored)
		a->indexed++;
	else
		a->better_known++;
	a->broken += job->entry.bad_units > 0;
}

/* Takes the job. */
static int take(struct account *a, struct index_batch *batch, struct index_job *job,
		struct sc_error *err)
{
	switch (job->result) {
	case INDEX_NO_SYMBOLS:
		if (!job->known)
			return index_batch_add(batch, job, err);
		a->no_symbols++;
		break;
	case INDEX_BUILT:
		warn_of_gaps(job->file->path, &job->info);
		index_stats_add(&a->stats, job);
		return index_batch_add(batch, job, err);
	case INDEX_UNCHANGED:
		if (job->entry.tags)
			return index_batch_add(batch, job, err);
		a->unchanged++;
		break;
	case INDEX_UNSUPPORTED:
		a->unsupported++;
		break;
	case INDEX_FAILED:
		failed(a, job->file->path, job->err.msg);
		break;
	}
	index_job_destroy(job);
	return 0;
}

/* Files are read through maps: one that is cut short meanwhile is a signal. */
static void file_shrank(int sig)
{
	static const char why[] = ": it was cut short while it was read\n";
	const char *path = index_at_work ? index_at_work : "a file";

	(void)sig;
	if (write(STDERR_FILENO, path, strlen(path)) < 0 ||
	    write(STDERR_FILENO, why, sizeof(why) - 1) < 0)
		_exit(STATUS_ERROR);
	_exit(STATUS_ERROR);
}

static uint64_t memory_budget(void)
{
	return o.memory ? o.memory << 20 :
		(uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
}

static int index_files(struct account *a, struct symstore *store, const char *tags,
		       const struct transforms *transforms, struct sc_error *err)
{
	/* For builds that shall give the same bytes every time. */
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	struct index_options options = {
		.build.debug_dirs = o.debug_dirs.items, .again = o.again, .tags = tags,
		.build.transforms = transforms->list, .build.num_transforms = transforms->n,
		.transforms = transforms->text,
		.build.threads = o.threads ? (unsigned)o.threads : (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		.time = epoch ? strtoll(epoch, NULL, 10) : time(NULL),
	};
	struct index_batch batch = { .store = store, .done = committed, .ctx = a };
	struct index_job **jobs = NULL;
	size_t n = a->scan.num_files, group, cap = 0;
	int rc = 0;

	signal(SIGBUS, file_shrank);
	progress_init(&a->progress, "indexing", o.quiet);
	for (size_t i = 0; i < n && !rc; i += group) {
		const struct scan_file *files = &a->scan.files[i];

		group = index_group(files, n - i, memory_budget());
		while (cap < group)
			jobs = must_grow(jobs, cap, &cap, sizeof(*jobs));
		progress_update(&a->progress, i, n, files->path);
		index_jobs_create(files, group, store, &options, jobs);
		for (size_t k = 0; k < group; k++) {
			if (rc)
				index_job_destroy(jobs[k]);
			else
				rc = take(a, &batch, jobs[k], err);
		}
	}
	if (!rc)
		rc = index_batch_commit(&batch, err);
	a->stats.store_seconds = batch.seconds;
	index_batch_deinit(&batch);
	free(jobs);
	progress_erase(&a->progress);
	return rc;
}

/* ---- the summary ------------------------------------------------------------- */

static void count(const char *what, uint64_t n)
{
	if (n)
		printf(", %llu %s", (unsigned long long)n, what);
}

static void print_summary(const struct account *a)
{
	printf("%llu indexed, %llu unchanged, %llu without symbols, %llu failed",
	       (unsigned long long)a->indexed, (unsigned long long)a->unchanged,
	       (unsigned long long)a->no_symbols, (unsigned long long)a->num_failures);
	count("with better symbols in the store", a->better_known);
	count("with broken debug information", a->broken);
	count("object files not linked yet", a->unsupported);
	count("links to folders not followed", a->scan.links);
	count("folder loops", a->scan.loops);
	count("pipes, sockets and devices left out", a->scan.special);
	putchar('\n');
}

static void print_json(const struct account *a)
{
	struct json_gen *j = json_gen_create(false);

	json_gen_open_map(j, NULL);
	json_gen_number(j, "indexed", a->indexed);
	json_gen_number(j, "unchanged", a->unchanged);
	json_gen_number(j, "without_symbols", a->no_symbols);
	json_gen_number(j, "better_in_store", a->better_known);
	json_gen_number(j, "broken_debug_info", a->broken);
	json_gen_number(j, "unsupported", a->unsupported);
	json_gen_number(j, "not_elf", a->scan.other);
	json_gen_number(j, "special_files", a->scan.special);
	json_gen_number(j, "links_not_followed", a->scan.links);
	json_gen_number(j, "folder_loops", a->scan.loops);
	json_gen_open_array(j, "failed");
	for (size_t i = 0; i < a->num_failures; i++) {
		json_gen_open_map(j, NULL);
		json_gen_text(j, "file", a->failures[i].path);
		json_gen_text(j, "reason", a->failures[i].reason);
		json_gen_close_map(j);
	}
	json_gen_close_array(j);
	if (o.stats)
		index_stats_json(&a->stats, j);
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
}

/* The store may lie in a folder that is searched. Its lock file must not be
 * opened: closing it again would drop our locks. */
static void leave_out_store(struct scan *scan)
{
	char *path, *real, *lock;

	if (store_path(o.store, &path, NULL))
		return;
	real = realpath(path, NULL);
	lock = must_asprintf("%s-lock", real ? real : path);
	scan_leave_out(scan, path);
	scan_leave_out(scan, lock);
	free(lock);
	free(real);
	free(path);
}

static void free_text(char **text)
{
	free(*text);
}

static int run(int argc, char **argv)
{
	struct account a = { .scan = { .follow = o.follow, .failed = failed, .found = found } };
	struct transforms transforms __attribute__((cleanup(transforms_deinit))) = { 0 };
	char *tags __attribute__((cleanup(free_text))) = NULL;
	struct symstore *store;
	struct sc_error err;
	int rc;

	if (!argc) {
		cmd_error("name files or folders: 'symcache index --help' tells how");
		return STATUS_ERROR;
	}
	a.scan.ctx = &a;
	if (parse_tags(&o.tags, &tags, &err) || transforms_init(&transforms, &o.transforms, &err) ||
	    open_store(o.store, SYMSTORE_WRITE, &store, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	leave_out_store(&a.scan);
	progress_init(&a.progress, "looking for ELF files:", o.quiet);
	for (int i = 0; i < argc; i++)
		scan_path(&a.scan, argv[i]);
	progress_erase(&a.progress);
	rc = index_files(&a, store, tags, &transforms, &err);
	if (rc)
		cmd_error("%s; what was indexed before this is in the store", err.msg);
	if (o.json)
		print_json(&a);
	else if (!o.quiet)
		print_summary(&a);
	if (o.stats && !o.json)
		index_stats_print(&a.stats);
	rc = rc ? STATUS_ERROR : a.num_failures || a.broken ? STATUS_PARTLY : STATUS_OK;
	for (size_t i = 0; i < a.num_failures; i++) {
		free(a.failures[i].path);
		free(a.failures[i].reason);
	}
	free(a.failures);
	scan_deinit(&a.scan);
	symstore_close(store);
	return rc;
}

const struct command index_command = {
	.name = "index",
	.operands = "PATH...",
	.summary = "put the symbols of ELF files into the store",
	.description =
		"Looks for ELF files, whatever their names, and puts a cache of each into the store "
		"under its build ID. Folders are searched with all that is in them. What was indexed "
		"before and has not changed is left alone. A file with better symbols replaces one "
		"with worse symbols of the same build ID, never the other way round: debug information "
		"is better than .symtab, that is better than .gnu_debugdata, that than .dynsym."
		"\n\n"
		"What was compiled elsewhere, or obfuscated, can be named as people know it: --map-path, "
		"--symbol-map and --line-map. They apply in the order symbol maps, line maps, path maps; "
		"entries record them, and are made anew when they change."
		"\n\n"
		"What is done is in the store every second or so: a run that was interrupted goes on "
		"where it was when it is started again."
		"\n\n"
		"Exit status: 0 all is well; 1 something failed, and the rest is done; 2 error, the "
		"store cannot be used or the disk is full.",
	.opts = opts,
	.examples =
		"  symcache index /usr/bin /usr/lib\n"
		"  symcache index --tag release=1.4.2 build/out\n"
		"  symcache index --map-path /builds/4711/app=/home/me/app build/out\n"
		"  symcache index --store release.store --debug-file-directory out/debug out/bin\n",
	.run = run,
};
