/* symcache compact: gives back the room of what was removed from the store, and packs what is not
 * needed. */
#include <stdio.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/select.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/packed/packed.h"

static struct {
	const char *store;
	struct opt_age pack;
	struct selection sel;
	uint64_t level;
	bool unpack, json, quiet;
} o = { .sel = SELECTION_ALL };

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "pack", 0, OPT_AGE, &o.pack, "AGE",
	  "first pack the entries that were neither indexed nor used in a look-up for this long: 30d, "
	  "26w (0: all); look-ups unpack them in memory" },
	{ "level", 0, OPT_COUNT, &o.level, "N",
	  "how hard --pack tries, 1 to 19 (default: 3; 19 is a fifth smaller, and twenty times as "
	  "slow)" },
	{ "unpack", 0, OPT_FLAG, &o.unpack, NULL, "first unpack the entries that are packed" },
	OPTS_SELECTION(&o.sel),
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the sizes as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, and do not print the sizes" },
	{ 0 },
};

static void report(const struct symstore_repacked *r, bool compacted, uint64_t before,
		   uint64_t after)
{
	struct mk_gen *j;

	if (!o.json) {
		if (!o.quiet && (o.pack.given || o.unpack))
			printf("%llu %s, %llu bytes of caches\n", (unsigned long long)r->entries,
			       o.unpack ? "unpacked" : "packed", (unsigned long long)r->bytes);
		if (!o.quiet && compacted)
			printf("%llu bytes before, %llu bytes after\n", (unsigned long long)before,
			       (unsigned long long)after);
		return;
	}
	j = out_json_open(false);
	if (o.pack.given || o.unpack) {
		mk_gen_number(j, o.unpack ? "unpacked" : "packed", r->entries);
		mk_gen_number(j, "cache_bytes", r->bytes);
		mk_gen_number(j, "damaged", r->damaged);
	}
	if (compacted) {
		mk_gen_number(j, "bytes_before", before);
		mk_gen_number(j, "bytes_after", after);
	}
	out_json_close(j);
}

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	(void)ctx;
	progress_update(NULL, done, total, o.unpack ? "unpacking" : "packing");
}

/* It must have the store for itself only after this. */
static int repack(struct symstore_repacked *ret, struct sc_error *err)
{
	struct symstore *store __attribute__((cleanup(close_store))) = NULL;
	const struct symstore_repack_options options = {
		.level = o.unpack ? 0 : o.level ? (int)o.level : PACKED_LEVEL,
		.used_before = o.pack.seconds ? time(NULL) - o.pack.seconds : INT64_MAX,
		.choose = selection_of(&o.sel), .progress = on_progress,
	};
	int rc = open_store(o.store, SYMSTORE_WRITE, &store, err);

	progress_begin("compacting", PROGRESS_ITEMS, o.quiet);
	if (!rc)
		rc = symstore_repack(store, &options, ret, err);
	progress_erase();
	if (!rc && ret->damaged)
		cmd_error("%llu damaged: 'symcache verify' says which", (unsigned long long)ret->damaged);
	return rc;
}

static int check_options(int argc, struct sc_error *err)
{
	if (argc)
		return sc_error_set(err, SC_EINVAL, "compact takes no arguments: it works on the whole store");
	if (o.pack.given && o.unpack)
		return sc_error_set(err, SC_EINVAL, "--pack or --unpack");
	if (o.level > PACKED_LEVEL_MAX || (o.level && !o.pack.given))
		return sc_error_set(err, SC_EINVAL, "--level is for --pack, from 1 to %d", PACKED_LEVEL_MAX);
	if (selection_given(&o.sel) && !o.pack.given && !o.unpack)
		return sc_error_set(err, SC_EINVAL, "options that choose entries need --pack AGE or --unpack");
	return 0;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = NULL;
	struct symstore_repacked repacked = { 0 };
	uint64_t before = 0, after = 0;
	bool waits;
	int rc = check_options(argc, err);

	(void)argv;
	if (!rc)
		rc = store_path(o.store, &path, err);
	if (!rc && (o.pack.given || o.unpack))
		rc = repack(&repacked, err);
	if (!rc)
		rc = symstore_compact(path, &before, &after, err);
	if (rc == SC_ENOTFOUND)
		return no_store_at(path, err);
	/* Others have it open: what was packed is, and only the room waits. */
	waits = rc == SC_EINVAL && repacked.entries;
	if (waits)
		cmd_error("%s: the next 'symcache compact' gives back the room", err->msg);
	if (!rc || waits)
		report(&repacked, !waits, before, after);
	return waits ? STATUS_PARTLY : rc ? rc : repacked.damaged ? STATUS_PARTLY : STATUS_OK;
}

const struct command compact_command = {
	.name = "compact",
	.operands = "",
	.summary = "give back the space of removed entries, and pack entries",
	.description =
		"Replaces the store by a copy without free pages. Fails if another process has the "
		"store open; processes that open it in the meantime wait. It needs as much free disk "
		"space as the new store takes.\n\n"
		"--pack stores entries in the packed form (see symcache-pack(1)), a tenth of their "
		"size. Look-ups work as before: the first one in a process unpacks the cache in "
		"memory, at some 400 MB a second. An entry stays packed until --unpack, or until "
		"another cache replaces it. Entries that would not become smaller are left unpacked. "
		"The options that choose entries say which are packed or unpacked. Versions of "
		"symcache that do not know packed entries can read the others, and can write to the "
		"store again once none is packed.",
	.opts = opts,
	.essential = "store pack unpack json",
	.examples =
		"  symcache prune --older 90d && symcache compact\n"
		"  symcache compact --pack 30d --level 19\n"
		"  symcache compact --unpack --tag release=1.4.2\n",
	.partly = "a damaged entry was left as it is, or what --pack or --unpack changed is done, and another "
		  "process has the store open",
	.see_also = "symcache-prune(1) symcache-stats(1) symcache-pack(1)",
	.run = run,
};
