/*
 * symcache remove: takes entries out of the store by their build IDs.
 *
 * All or nothing: if one of the build IDs is not there or means several entries,
 * nothing is removed.
 */
#include "cmd/cmd.h"
#include "cmd/store/removal.h"
#include "format/symcache_format.h"
#include "libsymcache/store/store.h"

static struct removal_options o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	OPTS_REMOVAL(&o),
	{ 0 },
};

static int gather(struct symstore *store, void *texts, struct symstore_removals *list,
		  struct sc_error *err)
{
	struct symstore_reader *reader;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_entry entry;
	size_t len;
	int rc = symstore_read_begin(store, &reader, err);

	for (char **text = texts; !rc && *text; text++) {
		rc = symstore_find_id(reader, *text, id, &len, err);
		if (!rc)
			rc = symstore_entry(reader, id, len, &entry, err);
		if (!rc)
			rc = symstore_removals_add(list, &entry, err);
	}
	symstore_read_end(reader);
	return rc;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	if (!argc)
		return sc_error_set(err, SC_EINVAL, "no build ID given: 'symcache list' shows them");
	return remove_entries(&o, gather, argv, err);
}

const struct command remove_command = {
	.name = "remove",
	.operands = "BUILDID...",
	.summary = "remove entries from the store",
	.description =
		"Removes the entries with these build IDs; a prefix is enough if it matches only "
		"one. If one is missing or ambiguous, nothing is removed. The file keeps its size, "
		"and later indexing reuses the space; 'symcache compact' gives it back to the disk. "
		"A file whose entry was removed counts as new when it is indexed again.",
	.opts = opts,
	.examples = "  symcache remove 8a3f 51bb\n",
	.partly = "a build ID is not in the store",
	.see_also = "symcache-list(1) symcache-prune(1) symcache-compact(1)",
	.run = run,
};
