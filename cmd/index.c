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
#include "cmd/fetch.h"
#include "cmd/index.h"
#include "cmd/json_gen.h"
#include "cmd/scan.h"
#include "cmd/select.h"
#include "cmd/transforms.h"

static struct {
	const char *store;
	struct opt_list debug_dirs, tags;
	struct transform_options transforms;
	struct fetch_options fetch;
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
	OPT_FETCH(&o.fetch, "the operands are build IDs: ask the servers in $DEBUGINFOD_URLS for their "
		  "debug files"),
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
	uint64_t at, total;  /* files done, of all */
	struct index_batch batch;
	struct scan scan;
	struct index_stats stats;
	uint64_t indexed, better_known, unchanged, no_symbols, unsupported, broken;
	uint64_t archives, archives_unchanged, not_fetched;
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

	if (job->result == INDEX_ARCHIVE)
		return;
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
static int take(void *ctx, struct index_job *job, struct sc_error *err)
{
	struct account *a = ctx;
	struct index_batch *batch = &a->batch;

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
	case INDEX_ARCHIVE:
		return index_batch_add(batch, job, err);
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

static void at_member(void *ctx, const char *path)
{
	struct account *a = ctx;

	progress_update(&a->progress, a->at, a->total, path);
}

/* Works on some of files[0, n), and returns in *done on how many. */
static int index_some(struct account *a, const struct scan_file *files, size_t n,
		      struct symstore *store, const struct index_options *options, size_t *done,
		      struct sc_error *err)
{
	const struct index_sink sink = { take, failed, at_member, a };
	struct index_job *jobs[INDEX_GROUP_MAX];
	bool unchanged = false;
	int rc = 0;

	*done = 1;
	if (files->archive) {
		rc = index_archive(files, store, options, memory_budget(), &sink, &unchanged, err);
		a->archives++;
		a->archives_unchanged += unchanged;
		return rc;
	}
	*done = index_group(files, n, memory_budget());
	index_jobs_create(files, *done, store, options, jobs);
	for (size_t k = 0; k < *done; k++) {
		if (rc)
			index_job_destroy(jobs[k]);
		else
			rc = take(a, jobs[k], err);
	}
	return rc;
}

/* Finds or fetches what the operands name. */
static int gather_files(struct account *a, int argc, char **argv, struct fetcher *fetcher,
			const struct index_options *options, struct sc_error *err)
{
	struct sc_error why;
	struct index_job *known;
	int rc = 0;

	progress_init(&a->progress, fetcher ? "fetching" : "looking for ELF files:", o.quiet);
	for (int i = 0; i < argc && !rc; i++) {
		if (!fetcher) {
			scan_path(&a->scan, argv[i]);
			continue;
		}
		progress_update(&a->progress, (uint64_t)i, (uint64_t)argc, argv[i]);
		rc = index_fetch(fetcher, argv[i], a->batch.store, options, &a->scan, &known, &why);
		if (!rc && known)
			rc = take(a, known, err);
		else if (rc)
			failed(a, argv[i], why.msg);
		a->not_fetched += rc == SC_ENOTFOUND;
		if (!known)
			rc = 0;
	}
	progress_erase(&a->progress);
	return rc;
}

static int index_files(struct account *a, struct symstore *store,
		       const struct index_options *options, struct sc_error *err)
{
	size_t done;
	int rc = 0;

	a->total = a->scan.num_files;
	signal(SIGBUS, file_shrank);
	progress_init(&a->progress, "indexing", o.quiet);
	for (; a->at < a->total && !rc; a->at += done) {
		const struct scan_file *files = &a->scan.files[a->at];

		progress_update(&a->progress, a->at, a->total, files->path);
		rc = index_some(a, files, a->total - a->at, store, options, &done, err);
	}
	if (!rc)
		rc = index_batch_commit(&a->batch, err);
	a->stats.store_seconds = a->batch.seconds;
	index_batch_deinit(&a->batch);
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
	count("archives", a->archives);
	count("of them unchanged", a->archives_unchanged);
	count("of them on no server", a->not_fetched);
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
	json_gen_number(j, "archives", a->archives);
	json_gen_number(j, "archives_unchanged", a->archives_unchanged);
	if (o.fetch.on)
		json_gen_number(j, "not_on_servers", a->not_fetched);
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

static struct index_options make_options(const char *tags, const struct transforms *transforms)
{
	/* For builds that shall give the same bytes every time. */
	const char *epoch = getenv("SOURCE_DATE_EPOCH");

	return (struct index_options){
		.build.debug_dirs = o.debug_dirs.items, .again = o.again, .tags = tags,
		.build.transforms = transforms->list, .build.num_transforms = transforms->n,
		.transforms = transforms->text,
		.build.threads = o.threads ? (unsigned)o.threads : (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
		.time = epoch ? strtoll(epoch, NULL, 10) : time(NULL),
	};
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
	struct index_options options;
	struct symcache_files files;
	struct fetcher *fetcher;
	struct symstore *store;
	struct sc_error err;
	int rc;

	if (!argc) {
		cmd_error("name files or folders: 'symcache index --help' tells how");
		return STATUS_ERROR;
	}
	a.scan.ctx = &a;
	if (parse_tags(&o.tags, &tags, &err) || transforms_init(&transforms, &o.transforms, &err) ||
	    fetcher_create(&o.fetch, &fetcher, &err) ||
	    open_store(o.store, SYMSTORE_WRITE, &store, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	leave_out_store(&a.scan);
	a.batch = (struct index_batch){ .store = store, .done = committed, .ctx = &a };
	options = make_options(tags, &transforms);
	if (fetcher) {
		files = fetcher_files(fetcher);
		options.build.files = &files;
	}
	rc = gather_files(&a, argc, argv, fetcher, &options, &err);
	if (!rc)
		rc = index_files(&a, store, &options, &err);
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
	fetcher_destroy(fetcher);
	return rc;
}

const struct command index_command = {
	.name = "index",
	.operands = "PATH...|BUILDID...",
	.summary = "put the symbols of ELF files and packages into the store",
	.description =
		"Looks for ELF files, whatever their names, and puts a cache of each into the store "
		"under its build ID. Folders are searched with all that is in them. What was indexed "
		"before and has not changed is left alone. A file with better symbols replaces one "
		"with worse symbols of the same build ID, never the other way round: debug information "
		"is better than .symtab, that is better than .gnu_debugdata, that than .dynsym."
		"\n\n"
		"Archives are read without being unpacked: .deb, .rpm, .apk, .tar, .zip, .a and those in "
		"them, and compressed files; in a folder those with such a name, but for .a, and "
		"otherwise whatever begins like one. Debug files and dwz's supplementary files are found "
		"within the archive. A member that is too large for memory goes through an unlinked file "
		"in $TMPDIR."
		"\n\n"
		"With --debuginfod, build IDs are fetched from debuginfod's servers through libdebuginfod, "
		"which keeps the files in its own cache; nothing else of symcache asks a network, unless "
		"told to so. What no server has is not asked for again for a day."
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
		"  symcache index libc6-dbg_2.36-9_amd64.deb symbols.zip\n"
		"  symcache index --tag release=1.4.2 build/out\n"
		"  symcache index --map-path /builds/4711/app=/home/me/app build/out\n"
		"  symcache index --store release.store --debug-file-directory out/debug out/bin\n",
	.run = run,
};
