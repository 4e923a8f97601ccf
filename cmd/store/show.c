/*
 * symcache show: one cache, of the store or a file: its facts, or its tables.
 */
#include <stdio.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/read/read.h"
#include "libsymcache/report/report.h"
#include "libsymcache/store/store.h"

static struct {
	const char *store, *cache;
	bool files, functions, ranges, data, locals, unwind, raw, json;
} o;

static const struct opt opts[] = {
	{ "cache", 0, OPT_STRING, &o.cache, "FILE", "show this SymCache file" },
	OPTS_STORE_READ(&o.store),
	{ "files", 0, OPT_FLAG, &o.files, NULL, "list the source files" },
	{ "functions", 0, OPT_FLAG, &o.functions, NULL,
	  "list the functions: entry address, language, linkage name, declaration" },
	{ "ranges", 0, OPT_FLAG, &o.ranges, NULL,
	  "list the ranges of addresses: start, and its frames, innermost first" },
	{ "data", 0, OPT_FLAG, &o.data, NULL, "list the data symbols: address, size, name" },
	{ "locals", 0, OPT_FLAG, &o.locals, NULL,
	  "list the local variables by ranges of addresses: start, functions and names, offsets "
	  "from the frame base" },
	{ "unwind", 0, OPT_FLAG, &o.unwind, NULL,
	  "list the unwind information: start, and where the caller's registers are" },
	OPT_RAW(&o.raw),
	{ "json", 0, OPT_FLAG, &o.json, NULL, "one JSON object: the facts, and the lists asked for" },
	{ 0 },
};

static int show(const struct symstore_entry *entry, int64_t used, const struct symcache *cache,
		struct sc_error *err)
{
	const struct markup_cache_options options = {
		.json = o.json,
		.raw = o.raw,
		.lists = (o.files ? MARKUP_CACHE_FILES : 0u) |
			 (o.functions ? MARKUP_CACHE_FUNCTIONS : 0u) |
			 (o.ranges ? MARKUP_CACHE_RANGES : 0u) |
			 (o.data ? MARKUP_CACHE_DATA : 0u) |
			 (o.locals ? MARKUP_CACHE_LOCALS : 0u) |
			 (o.unwind ? MARKUP_CACHE_UNWIND : 0u),
		.entry = entry,
		.used = used,
	};

	return markup_cache_report(cache, &options, &out_stdout, err);
}

static int show_file(const char *path, struct sc_error *err)
{
	struct symcache_map file;
	int rc = symcache_map_open(path, &file, err);

	if (!rc)
		rc = show(NULL, 0, &file.cache, err);
	symcache_map_close(&file);
	return rc;
}

static bool candidate(void *ctx, const struct symstore_entry *entry)
{
	unsigned *left = ctx;

	if (*left)
		fprintf(stderr, "  %s %s\n", shown_id(entry->build_id, entry->build_id_len),
			entry->source_path);
	else
		fprintf(stderr, "  ...\n");
	return (*left)-- > 0;
}

/* Several build IDs begin so: which? */
static void show_candidates(struct symstore_reader *reader, const char *text)
{
	uint8_t prefix[SYMCACHE_BUILD_ID_MAX];
	unsigned left = 20;
	size_t nibbles;

	if (!symcache_build_id_parse(text, prefix, &nibbles, NULL))
		symstore_each(reader, prefix, nibbles, candidate, &left, NULL);
}

static int show_entry(const struct symstore *store, struct symstore_reader *reader,
		      const char *text, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_entry entry;
	struct symcache cache;
	struct symcache_guard guard = { 0 };
	size_t len;
	int rc = symstore_find_id(reader, text, id, &len, err);

	if (!rc)
		rc = symstore_entry(reader, id, len, &entry, err);
	if (!rc)
		rc = symstore_get_guarded(reader, id, len, &guard, &cache, err);
	/* The tables are read as they lie there. */
	if (!rc && !symcache_valid(&cache, cache.data, cache.size))
		rc = symstore_damaged(id, len, err);
	if (!rc)
		rc = show(&entry, symstore_last_used(store, id, len), &cache, err);
	symcache_guard_deinit(&guard);
	return rc;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	SNAPSHOT s = { 0 };
	int rc;

	if (argc + (o.cache != NULL) != 1)
		return sc_error_set(err, SC_EINVAL, "give one build ID, or one file with --cache FILE");
	if (o.cache)
		return show_file(o.cache, err);
	rc = open_snapshot(o.store, SYMSTORE_READ, &s, err);
	if (rc)
		return rc;
	rc = show_entry(s.store, s.reader, argv[0], err);
	if (rc == SC_EINVAL) {
		cmd_error("%s", err->msg);
		show_candidates(s.reader, argv[0]);
		return STATUS_ERROR;
	}
	return rc == SC_ENOTFOUND ? cmd_absent(err) : rc;
}

const struct command show_command = {
	.name = "show",
	.operands = "[BUILDID]",
	.summary = "show what is in a cache",
	.description =
		"Shows an entry of the store or a SymCache file: its image, its origin and the "
		"sizes of its tables; or, if asked for, the tables themselves. A prefix of a "
		"build ID is enough if it matches only one.",
	.opts = opts,
	.examples =
		"  symcache show 8a3f\n"
		"  symcache show 8a3f --functions | grep main\n"
		"  symcache show --cache python.symcache --json --files\n",
	.partly = "the entry is not in the store",
	.see_also = "symcache-list(1) symcache-lookup(1)",
	.run = run,
};
