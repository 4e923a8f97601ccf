/*
 * symcache remove: takes entries out of the store by their build IDs.
 *
 * All or nothing: if one of the build IDs is not there or means several entries,
 * nothing is removed.
 */

#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/entry.h"
#include "format/symcache_format.h"
#include "symcache/store.h"

static struct {
	const char *store;
	bool json, quiet, dry_run;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "dry-run", 'n', OPT_FLAG, &o.dry_run, NULL, "only say what would be removed" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write what was removed as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "do not say what was removed" },
	{ 0 },
};

static int gather(struct symstore *store, char **texts, struct symstore_removals *list,
		  struct sc_error *err)
{
	struct symstore_reader *reader;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_entry entry;
	size_t len;
	int rc = symstore_read_begin(store, &reader, err);

	for (; !rc && *texts; texts++) {
		rc = symstore_find_id(reader, *texts, id, &len, err);
		if (!rc)
			rc = symstore_entry(reader, id, len, &entry, err);
		if (!rc)
			rc = symstore_removals_add(list, &entry, err);
	}
	symstore_read_end(reader);
	return rc;
}

static int run(int argc, char **argv)
{
	struct symstore_removals list __attribute__((cleanup(symstore_removals_deinit))) = { 0 };
	struct symstore *store;
	struct sc_error err;
	bool found;
	int rc;

	if (!argc) {
		cmd_error("name build IDs: 'symcache list' shows them");
		return STATUS_ERROR;
	}
	rc = open_store(o.store, o.dry_run ? SYMSTORE_READ : SYMSTORE_WRITE, &store, &err);
	found = !rc;
	if (!rc)
		rc = gather(store, argv, &list, &err);
	if (!rc && !o.dry_run)
		rc = symstore_remove_all(store, &list, &err);
	if (!rc)
		print_removals(&list, o.dry_run, o.json, o.quiet);
	else
		cmd_error("%s", err.msg);
	symstore_close(store);
	return !rc ? STATUS_OK : rc == SC_ENOTFOUND && found ? STATUS_PARTLY : STATUS_ERROR;
}

const struct command remove_command = {
	.name = "remove",
	.operands = "BUILDID...",
	.summary = "take entries out of the store",
	.description =
		"Removes the entries with these build IDs; the beginning of one is enough if only "
		"one begins so. All of them or, if one is missing or not clear, none. The file "
		"keeps its size, and what is indexed next uses the room; 'symcache compact' gives "
		"it back. A file whose entry was removed counts as new when it is indexed again.",
	.opts = opts,
	.examples = "  symcache remove 8a3f 51bb\n",
	.partly = "the store has no such entry",
	.see_also = "symcache-list(1) symcache-prune(1) symcache-compact(1)",
	.run = run,
};
