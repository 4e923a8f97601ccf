/* symcache stats: how much is in the store, of what kinds, and how full it is. */
#include <stdio.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "libsymcache/store/upkeep.h"

static struct {
	const char *store;
	bool json;
} o;

static const struct opt opts[] = {
	OPTS_STORE_READ(&o.store),
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write it as a JSON object" },
	{ 0 },
};

static const char *kind_name(int kind)
{
	return kind < SYMSTORE_KINDS - 1 ? symstore_kinds[kind] : "none";
}

static void print_json(const struct symstore_info *info, const struct symstore_totals *t)
{
	struct mk_gen *j = out_json_open(true);
	char text[32];

	mk_gen_number(j, "entries", info->entries);
	mk_gen_number(j, "cache_bytes", t->bytes);
	mk_gen_open_map(j, "kinds");
	for (int i = 0; i < SYMSTORE_KINDS; i++) {
		mk_gen_open_map(j, kind_name(i));
		mk_gen_number(j, "entries", t->kinds[i].entries);
		mk_gen_number(j, "cache_bytes", t->kinds[i].bytes);
		mk_gen_close_map(j);
	}
	mk_gen_close_map(j);
	mk_gen_open_map(j, "packed");
	mk_gen_number(j, "entries", t->packed.entries);
	mk_gen_number(j, "cache_bytes", t->packed.bytes);
	mk_gen_number(j, "stored_bytes", t->packed.stored);
	mk_gen_close_map(j);
	mk_gen_number(j, "tagged", t->tagged);
	mk_gen_number(j, "broken_debug_info", t->broken);
	mk_gen_number(j, "seen_files", info->seen);
	if (info->entries) {
		mk_gen_text(j, "oldest", symstore_time_text(t->oldest, text));
		mk_gen_text(j, "newest", symstore_time_text(t->newest, text));
	}
	mk_gen_number(j, "file_size", info->file_size);
	mk_gen_number(j, "used_bytes", info->used_bytes - info->free_bytes);
	mk_gen_number(j, "free_bytes", info->free_bytes);
	mk_gen_number(j, "page_size", info->page_size);
	mk_gen_number(j, "map_size", info->map_size);
	mk_gen_number(j, "format", info->format);
	mk_gen_bool(j, "locked", info->locked);
	out_json_close(j);
}

static void print_text(const struct symstore_info *info, const struct symstore_totals *t)
{
	char oldest[32], newest[32];

	printf("entries      %12llu  %15llu bytes of caches\n", (unsigned long long)info->entries,
	       (unsigned long long)t->bytes);
	for (int i = 0; i < SYMSTORE_KINDS; i++)
		if (t->kinds[i].entries)
			printf("  %-13s%10llu  %15llu\n", kind_name(i),
			       (unsigned long long)t->kinds[i].entries,
			       (unsigned long long)t->kinds[i].bytes);
	if (t->packed.entries)
		printf("packed       %12llu  %15llu bytes of caches in %llu\n",
		       (unsigned long long)t->packed.entries, (unsigned long long)t->packed.bytes,
		       (unsigned long long)t->packed.stored);
	printf("tagged       %12llu\n", (unsigned long long)t->tagged);
	printf("broken       %12llu  with broken debug information\n",
	       (unsigned long long)t->broken);
	printf("files seen   %12llu\n", (unsigned long long)info->seen);
	if (info->entries)
		printf("indexed      %s to %s\n", symstore_time_text(t->oldest, oldest),
		       symstore_time_text(t->newest, newest));
	printf("file         %12llu bytes, %llu of them free pages of %u\n",
	       (unsigned long long)info->file_size, (unsigned long long)info->free_bytes,
	       info->page_size);
	printf("map          %12llu bytes, %.3g%% used\n", (unsigned long long)info->map_size,
	       100.0 * (double)info->used_bytes / (double)info->map_size);
	printf("format       %12u%s\n", info->format, info->locked ? "" : ", without a lock file");
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct symstore_totals totals;
	struct symstore_info info;
	SNAPSHOT s = { 0 };

	(void)argv;
	if (argc)
		return sc_error_set(err, SC_EINVAL, "stats takes no arguments: it describes the whole store");
	if (open_snapshot(o.store, SYMSTORE_READ, &s, err) || symstore_info(s.reader, &info, err) ||
	    symstore_count(s.reader, &totals, err))
		return err->code;
	(o.json ? print_json : print_text)(&info, &totals);
	return STATUS_OK;
}

const struct command stats_command = {
	.name = "stats",
	.operands = "",
	.summary = "show how much is in the store and how full it is",
	.description =
		"Counts the entries and the bytes of their caches by the best kind of symbols they "
		"have, and shows the size of the file, its free pages, and how much of the memory "
		"map is used (it grows when it needs to).",
	.opts = opts,
	.examples = "  symcache stats --json | jq .free_bytes\n",
	.see_also = "symcache-list(1) symcache-compact(1)",
	.run = run,
};
