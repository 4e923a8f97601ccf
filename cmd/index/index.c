/* symcache index: ELF files → the store. Options, words and exit status; the work is
 * libsymcache/index. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/index/index_report.h"
#include "cmd/index/transforms.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/packed/packed.h"
#include "cmd/store/select.h"

static struct {
	const char *store;
	struct opt_list debug_dirs, tags;
	struct transform_options transforms;
	struct fetch_options fetch;
	uint64_t threads, memory;
	bool follow, again, locals, packed, pin, quiet, json, stats;
} o;

static const struct opt opts[] = {
	OPT_SECTION("Store and files"),
	OPT_STORE(&o.store),
	OPT_DEBUG_DIRS(&o.debug_dirs),
	{ "follow", 'L', OPT_FLAG, &o.follow, NULL,
	  "follow links to folders (links to files are always followed)" },
	OPT_SECTION("Entries"),
	{ "tag", 0, OPT_LIST, &o.tags, "TAG",
	  "put this tag, KEY=VALUE or a word, on the entries, including unchanged ones; may be "
	  "repeated" },
	OPT_PIN(&o.pin),
	{ "locals", 0, OPT_FLAG, &o.locals, NULL,
	  "store local variables, too, for lookup's FRAME on machines without the debug file; "
	  "makes caches larger" },
	{ "packed", 0, OPT_FLAG, &o.packed, NULL,
	  "store caches packed, a tenth of their size, where that saves room; look-ups unpack them in "
	  "memory (see symcache-compact(1))" },
	{ "again", 0, OPT_FLAG, &o.again, NULL, "index unchanged files, too, and files with the "
	  "build ID of a different file" },
	OPT_SECTION("Names and paths"),
	OPT_TRANSFORMS(&o.transforms),
	OPT_SECTION("Servers"),
	OPT_FETCH(&o.fetch, "the arguments are build IDs: ask the servers in $DEBUGINFOD_URLS for their "
		  "debug files"),
	OPT_SECTION("Work and reports"),
	{ "threads", 'j', OPT_COUNT, &o.threads, "N", "use N threads (default: all cores)" },
	{ "memory", 0, OPT_NUMBER, &o.memory, "MIB",
	  "memory for the files that are indexed at the same time; a single file that needs more "
	  "fails (default: a quarter of the machine's)" },
	{ "stats", 0, OPT_FLAG, &o.stats, NULL, "show the time that each step took, and the memory used" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

static struct symcache_index_options make_options(const char *tags,
						  const struct symcache_transforms *transforms)
{
	/* For builds that shall give the same bytes every time. */
	const char *epoch = getenv("SOURCE_DATE_EPOCH");

	return (struct symcache_index_options){
		.build.debug_dirs = o.debug_dirs.items, .build.threads = (unsigned)o.threads,
		.build.locals = o.locals,
		.build.transforms = transforms->list, .build.num_transforms = transforms->n,
		.transforms = transforms->text, .tags = tags, .memory = o.memory << 20,
		.follow = o.follow, .again = o.again, .pack_level = o.packed ? PACKED_LEVEL : 0,
		.time = epoch ? strtoll(epoch, NULL, 10) : time(NULL),
	};
}

static bool found_nothing(const struct symcache_index_account *a)
{
	return !(a->indexed + a->better_in_store + a->other_in_store + a->unchanged +
		 a->without_symbols + a->failed + a->archives);
}

static int index_paths(struct symstore *store, char **paths, size_t n,
		       const struct symcache_index_options *options, struct sc_error *err)
{
	static struct index_report r;
	struct symcache_index_options with_events = *options;
	struct symcache_index_account a;
	int rc;

	r = (struct index_report){ .quiet = o.quiet, .json = o.json, .show_stats = o.stats,
				   .fetched = o.fetch.on };
	with_events.events = index_report_events(&r);
	rc = symcache_index(store, (const char *const *)paths, n, &with_events, &a, err);
	progress_erase();
	index_report_end(&r, &a);
	if (rc)
		cmd_error("%s; what was indexed before this is in the store", err->msg);
	else if (found_nothing(&a)) {
		cmd_error("nothing to index: no ELF file in %s%s", paths[0],
			  n > 1 ? " or the others" : "");
		return STATUS_PARTLY;
	}
	return rc ? STATUS_ERROR : a.failed || a.broken ? STATUS_PARTLY : STATUS_OK;
}

static void destroy_debuginfod(struct symcache_debuginfod **d)
{
	symcache_debuginfod_destroy(*d);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct symcache_transforms transforms
		__attribute__((cleanup(symcache_transforms_deinit))) = { 0 };
	struct symcache_debuginfod *debuginfod __attribute__((cleanup(destroy_debuginfod))) = NULL;
	struct symstore *store __attribute__((cleanup(close_store))) = NULL;
	char *tags __attribute__((cleanup(sc_free_text))) = NULL;
	struct symcache_index_options options;

	if (!argc)
		return sc_error_set(err, SC_EINVAL,
				    "no files or folders given: 'symcache index --help' shows how");
	if (symstore_tags_make(o.tags.items, o.tags.len, o.pin, &tags, err) ||
	    read_transforms(&o.transforms, &transforms, err) ||
	    fetch_create(&o.fetch, &debuginfod, err) || make_store(o.store, &store, err))
		return err->code;
	options = make_options(tags, &transforms);
	options.debuginfod = debuginfod;
	return index_paths(store, argv, (size_t)argc, &options, err);
}

const struct command index_command = {
	.name = "index",
	.operands = "PATH...|BUILDID...",
	.summary = "put the symbols of ELF files and packages into the store",
	.description =
		"Finds ELF files, whatever their names, and puts a cache of each into the store "
		"under its build ID. Folders are searched recursively. Files that were indexed "
		"before and have not changed are skipped, unless a debug file, a .dwo or dwz's file "
		"that was missing has been added. A file with better symbols replaces one with worse "
		"symbols of the same build ID, never the reverse: debug information is best, then "
		".symtab, .gnu_debugdata and .dynsym.\n\n"
		"Archives are read without unpacking them first: .deb, .rpm, .apk, .tar, .zip, .a, "
		"archives in these, and compressed files. An archive given as an argument is "
		"recognised by its first bytes; in folders, archives are recognised by their names, "
		"including .ko.xz, .ko.zst and .ko.gz, but not .a. Debug files and dwz's "
		"supplementary files are found within the archive; split DWARF is not. A member that "
		"is too large for memory goes through an unlinked file in $TMPDIR.\n\n"
		"With --debuginfod, debug files of the given build IDs are fetched from debuginfod "
		"servers by libdebuginfod, which keeps them in its own cache; symcache uses the "
		"network only if an option says so. What no server has is not requested again for a "
		"day. A server is not used for the rest of the run if it fails, sends nothing for 10 "
		"seconds ($DEBUGINFOD_TIMEOUT: other seconds), or takes more than 4 GiB or an hour "
		"for a file ($DEBUGINFOD_MAXSIZE, bytes; $DEBUGINFOD_MAXTIME, seconds).\n\n"
		"--map-path, --symbol-map and --line-map translate paths and names of code that was "
		"compiled elsewhere or obfuscated. Symbol maps apply first, then line maps, then "
		"path maps. Entries record them, and are made again when they change.\n\n"
		"Finished work is stored about every second: an interrupted run resumes when rerun.",
	.opts = opts,
	.essential = "store debug-file-directory tag threads stats json quiet debuginfod",
	.examples =
		"  symcache index /usr/bin /usr/lib\n"
		"  symcache index libc6-dbg_2.36-9_amd64.deb symbols.zip\n"
		"  symcache index --tag release=1.4.2 build/out\n"
		"  symcache index --map-path /builds/4711/app=/home/me/app build/out\n"
		"  symcache index --debuginfod 0f528190ac31cba901ba224cb5e3c7af313cdf18\n"
		"  symcache index --store release.store --debug-file-directory out/debug out/bin\n",
	.partly = "a file failed or has broken debug information, now or in an earlier run, and the rest "
		  "is done; or no ELF file was found",
	.failed = "error: the store cannot be used, or the disk is full",
	.see_also = "symcache-list(1) symcache-lookup(1) symcache-filter(1) debuginfod-find(1)",
	.run = run,
};
