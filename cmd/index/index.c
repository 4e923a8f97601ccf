/*
 * symcache index: ELF files → the store.
 *
 *   scan (scan.c) → work (index_work.c), file by file → commit (index_commit.c)
 *
 * This file holds the options and the loop; index_account.c what came of each file.
 * A file that cannot be indexed is told and does not stop the rest; a store
 * that cannot be written does.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/index/fetch.h"
#include "cmd/index/index.h"
#include "cmd/index/scan.h"
#include "cmd/index/transforms.h"
#include "cmd/store/select.h"
#include "symcache/store.h"

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

static void found(void *ctx, uint64_t files, const char *path)
{
	struct index_account *a = ctx;

	progress_update(&a->progress, files, 0, path);
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
	struct index_account *a = ctx;

	progress_update(&a->progress, a->at, a->total, path);
}

/* Works on some of files[0, n), and returns in *done on how many. */
static int index_some(struct index_account *a, const struct scan_file *files, size_t n,
		      struct symstore *store, const struct index_options *options, size_t *done,
		      struct sc_error *err)
{
	const struct index_sink sink = { index_take, index_failed, at_member, a };
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
			rc = index_take(a, jobs[k], err);
	}
	return rc;
}

/* Finds or fetches what the operands name. */
static int gather_files(struct index_account *a, int argc, char **argv, struct symcache_debuginfod *fetcher,
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
			rc = index_take(a, known, err);
		else if (rc)
			index_failed(a, argv[i], why.msg);
		a->not_fetched += rc == SC_ENOTFOUND;
		if (!known)
			rc = 0;
	}
	progress_erase(&a->progress);
	return rc;
}

static int index_files(struct index_account *a, struct symstore *store,
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
	progress_erase(&a->progress);
	return rc;
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

static void destroy_fetcher(struct symcache_debuginfod **f)
{
	symcache_debuginfod_destroy(*f);
}

static int run(int argc, char **argv)
{
	struct index_account a __attribute__((cleanup(index_account_deinit))) = { .scan = { .follow = o.follow, .failed = index_failed, .found = found } };
	struct transforms transforms __attribute__((cleanup(transforms_deinit))) = { 0 };
	char *tags __attribute__((cleanup(free_text))) = NULL;
	struct index_options options;
	struct symcache_files files;
	struct symcache_debuginfod *fetcher __attribute__((cleanup(destroy_fetcher))) = NULL;
	struct symstore *store;
	struct sc_error err;
	int rc;

	if (!argc) {
		cmd_error("name files or folders: 'symcache index --help' tells how");
		return STATUS_ERROR;
	}
	a.scan.ctx = &a;
	a.fetched = o.fetch.on;
	if (parse_tags(&o.tags, &tags, &err) || transforms_init(&transforms, &o.transforms, &err) ||
	    fetch_create(&o.fetch, &fetcher, &err) ||
	    open_store(o.store, SYMSTORE_WRITE, &store, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	leave_out_store(&a.scan);
	a.batch = (struct index_batch){ .store = store, .done = index_committed, .ctx = &a };
	options = make_options(tags, &transforms);
	if (fetcher) {
		files = symcache_debuginfod_files(fetcher);
		options.build.files = &files;
	}
	rc = gather_files(&a, argc, argv, fetcher, &options, &err);
	options.one_file = a.scan.num_files == 1 && !a.scan.files->archive;
	if (!rc)
		rc = index_files(&a, store, &options, &err);
	if (rc)
		cmd_error("%s; what was indexed before this is in the store", err.msg);
	if (o.json)
		index_summary_json(&a, o.stats);
	else if (!o.quiet)
		index_summary_print(&a);
	if (o.stats && !o.json)
		index_stats_print(&a.stats);
	rc = rc ? STATUS_ERROR : a.num_failures || a.broken ? STATUS_PARTLY : STATUS_OK;
	symstore_close(store);
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
		"Archives are read without being unpacked: .deb, .rpm, .apk, .tar, .zip, .a, those in "
		"them, and compressed files. One that is named here is known by its first bytes; in "
		"folders, those with such a name are read, but no .a. Debug files and dwz's supplementary "
		"files are found within the archive, split DWARF is not. A member that is too large for "
		"memory goes through an unlinked file in $TMPDIR."
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
		"  symcache index --debuginfod 0f528190ac31cba901ba224cb5e3c7af313cdf18\n"
		"  symcache index --store release.store --debug-file-directory out/debug out/bin\n",
	.run = run,
};
