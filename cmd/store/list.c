/*
 * symcache list: what is in the store, a line for each entry, as it is read.
 */
#include <stdio.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/select.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/report/report.h"
#include "libsymcache/store/store.h"

static struct {
	const char *store;
	bool json, raw;
	struct selection sel;
} o = { .sel = SELECTION_ALL };

static const struct opt opts[] = {
	OPTS_STORE_READ(&o.store),
	OPTS_SELECTION(&o.sel),
	OPT_RAW(&o.raw),
	{ "json", 0, OPT_FLAG, &o.json, NULL, "one JSON object a line" },
	{ 0 },
};

struct listing {
	struct mk_gen *json; /* NULL: text */
	const struct symstore_selection *chosen;
	uint64_t entries;
};

static bool list_entry(void *ctx, const struct symstore_entry *entry)
{
	char kinds[SYMSTORE_KINDS_TEXT], packed[48] = "";
	struct listing *l = ctx;

	l->entries++;
	if (!symstore_selected(l->chosen, entry))
		return true;
	if (l->json) {
		mk_gen_open_map(l->json, NULL);
		markup_entry_json(l->json, entry);
		mk_gen_close_map(l->json);
		mk_gen_end(l->json);
		return true;
	}
	if (entry->packed_size)
		snprintf(packed, sizeof(packed), " (packed: %llu bytes)",
			 (unsigned long long)entry->packed_size);
	printf("%-40s %-12s %10llu %s%s%s\n", shown_id(entry->build_id, entry->build_id_len),
	       symstore_kinds_text(entry->sources, kinds), (unsigned long long)entry->cache_size,
	       o.raw ? entry->source_path : shown(entry->source_path),
	       entry->build_id_derived ? " (no build ID: derived)" : "", packed);
	return true;
}

/* Lists what begins with each of the prefixes; all if there are none. Returns the exit status
 * or an error. */
static int list(struct symstore_reader *reader, char **prefixes, struct sc_error *err)
{
	struct listing l = { .chosen = selection_of(&o.sel),
			     .json = o.json ? out_json(false) : NULL };
	uint8_t prefix[SYMCACHE_BUILD_ID_MAX];
	int status = STATUS_OK, rc = 0;
	size_t nibbles;

	if (!*prefixes)
		rc = symstore_each(reader, NULL, 0, list_entry, &l, err);
	for (; *prefixes && !rc; prefixes++) {
		uint64_t before = l.entries;

		rc = symcache_build_id_parse(*prefixes, prefix, &nibbles, err);
		if (!rc)
			rc = symstore_each(reader, prefix, nibbles, list_entry, &l, err);
		if (!rc && l.entries == before) {
			cmd_error("not in the store: %s", *prefixes);
			status = STATUS_PARTLY;
		}
	}
	return rc ? rc : status;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	SNAPSHOT s = { 0 };
	int rc = open_snapshot(o.store, SYMSTORE_READ, &s, err);

	(void)argc;
	return rc ? rc : list(s.reader, argv, err);
}

const struct command list_command = {
	.name = "list",
	.operands = "[BUILDID...]",
	.summary = "list the entries of the store",
	.description =
		"Prints a line for each entry of the store: build ID, kinds of symbols, size of the "
		"cache in bytes, and the file it was made from; for a packed entry also how many "
		"bytes it takes in the store. Prefixes of build IDs select entries, and so do the "
		"options, which must all match.",
	.opts = opts,
	.essential = "store name tag json",
	.examples =
		"  symcache list\n"
		"  symcache list --tag release=1.4.2 --kind dwarf --larger 10M\n"
		"  symcache list --json | jq -r 'select(.symbols | index(\"dwarf\") | not) | "
		".source'\n",
	.partly = "no entry matches one of the build IDs",
	.see_also = "symcache-index(1) symcache-show(1) symcache-prune(1)",
	.run = run,
};
