/* symcache compact: gives back the room of what was removed from the store. */
#include <stdio.h>

#include "cmd/cli/output.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/store/store.h"

static struct {
	const char *store;
	bool json, quiet;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the sizes as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "do not print the sizes" },
	{ 0 },
};

static void report(uint64_t before, uint64_t after)
{
	struct mk_gen *j;

	if (!o.json) {
		if (!o.quiet)
			printf("%llu bytes before, %llu bytes after\n", (unsigned long long)before,
			       (unsigned long long)after);
		return;
	}
	j = out_json_open(false);
	mk_gen_number(j, "bytes_before", before);
	mk_gen_number(j, "bytes_after", after);
	out_json_close(j);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = NULL;
	uint64_t before, after;
	int rc;

	(void)argv;
	if (argc)
		return sc_error_set(err, SC_EINVAL, "no arguments: it compacts the whole store");
	rc = store_path(o.store, &path, err);
	if (!rc)
		rc = symstore_compact(path, &before, &after, err);
	if (rc == SC_ENOTFOUND)
		return no_store_at(path, err);
	if (!rc)
		report(before, after);
	return rc;
}

const struct command compact_command = {
	.name = "compact",
	.operands = "",
	.summary = "give back the room of what was removed from the store",
	.description =
		"Writes a copy of the store without free pages next to it, and puts it in its "
		"place. Fails if another process has the store open; processes that open it "
		"meanwhile wait. It needs as much free disk space as the new store takes.",
	.opts = opts,
	.examples = "  symcache prune --older 90d && symcache compact\n",
	.see_also = "symcache-prune(1) symcache-stats(1)",
	.run = run,
};
