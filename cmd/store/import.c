/* symcache import: a bundle, a tree of SymCache files or another store → the store. */
#include <stdio.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/select.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/bundle/bundle.h"

static struct {
	const char *store, *verify_key;
	struct opt_list tags;
	bool no_replace, packed, pin, json, quiet;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "verify-key", 0, OPT_STRING, &o.verify_key, "KEY",
	  "take only what is signed by this Ed25519 public key (PEM)" },
	{ "tag", 0, OPT_LIST, &o.tags, "TAG",
	  "put this tag on what is imported, in addition to its own; may be repeated" },
	OPT_PIN(&o.pin),
	{ "no-replace", 0, OPT_FLAG, &o.no_replace, NULL,
	  "take only what the store does not have; nothing in it is replaced" },
	{ "packed", 0, OPT_FLAG, &o.packed, NULL,
	  "store what is imported packed, where that saves room (see symcache-compact(1))" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

static void on_conflict(void *ctx, const struct symstore_entry *entry, bool taken)
{
	(void)ctx;
	cmd_error("%s: other bytes than the store has, equally good: %s was indexed later and stays",
		  shown_id(entry->build_id, entry->build_id_len), taken ? "the one imported" : "the store's");
}

static void on_replaced(void *ctx, const struct symstore_entry *entry,
			const struct symstore_entry *old)
{
	(void)ctx;
	cmd_error("%s: the better symbols of %s replace those of %s",
		  shown_id(entry->build_id, entry->build_id_len), entry->source_path,
		  old->source_path);
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	(void)ctx;
	cmd_error("%s: %s: left out", name, why);
}

static void summarise(const struct symbundle_imported *m)
{
	struct mk_gen *j;

	if (!o.json && o.quiet)
		return;
	if (!o.json) {
		printf("%llu imported, %llu the same, %llu with better symbols in the store, "
		       "%llu conflicts", (unsigned long long)m->imported,
		       (unsigned long long)m->unchanged, (unsigned long long)m->better_in_store,
		       (unsigned long long)m->conflicts);
		if (m->kept)
			printf(", %llu kept", (unsigned long long)m->kept);
		printf(", %llu bad\n", (unsigned long long)m->bad);
		return;
	}
	j = out_json_open(false);
	mk_gen_number(j, "imported", m->imported);
	mk_gen_number(j, "unchanged", m->unchanged);
	mk_gen_number(j, "better_in_store", m->better_in_store);
	mk_gen_number(j, "conflicts", m->conflicts);
	mk_gen_number(j, "kept", m->kept);
	mk_gen_number(j, "bad", m->bad);
	mk_gen_bool(j, "signature_checked", o.verify_key);
	out_json_close(j);
}

static int on_first(void *ctx, struct symstore **ret, struct sc_error *err)
{
	(void)ctx;
	return make_store(o.store, ret, err);
}

static bool has_store(void *ctx)
{
	char *path __attribute__((cleanup(sc_free_text))) = NULL;

	(void)ctx;
	return !store_path(o.store, &path, NULL) && !access(path, F_OK);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct symstore *store __attribute__((cleanup(close_store))) = NULL;
	char *tags __attribute__((cleanup(sc_free_text))) = NULL;
	struct symbundle_imported done = { 0 };
	struct symbundle_import_options options = {
		.open_store = on_first, .has_store = has_store, .verify_key = o.verify_key, .fault = on_fault,
		.conflict = on_conflict, .replaced = on_replaced, .no_replace = o.no_replace, .packed = o.packed,
		.progress = progress_update,
	};
	int rc;

	if (!argc)
		return sc_error_set(err, SC_EINVAL, "name bundles, trees or stores");
	progress_begin("importing", PROGRESS_ITEMS, o.quiet);
	rc = symstore_tags_make(o.tags.items, o.tags.len, o.pin, &tags, err);
	options.tags = tags;
	for (int i = 0; i < argc && !rc; i++)
		rc = symbundle_import(&store, argv[i], &options, &done, err);
	progress_erase();
	summarise(&done);
	if (!rc && !(done.imported + done.unchanged + done.better_in_store + done.conflicts +
		     done.kept + done.bad)) {
		cmd_error("nothing to import: no cache in %s%s", argv[0],
			  argc > 1 ? " or the others" : "");
		return STATUS_PARTLY;
	}
	return rc ? rc : done.bad ? STATUS_PARTLY : STATUS_OK;
}

const struct command import_command = {
	.name = "import",
	.operands = "PATH...",
	.summary = "merge bundles, trees and other stores into the store",
	.description =
		"Takes what 'symcache export' wrote, a folder of SymCache files "
		"(ab/cdef.symcache), an archive of such, or another store. Every cache is "
		"compared with the manifest's hashes and checked before it is taken; a bad one is "
		"named and left out. A cache with better symbols replaces one with worse of the "
		"same build ID, never the other way round; of equally good ones that differ, the "
		"one indexed later stays, and that is reported. Tags are united.\n\n"
		"The public key of --verify-key is derived from the private key that signed: "
		"'openssl pkey "
		"-in key.pem -pubout -out public.pem'.",
	.opts = opts,
	.essential = "store verify-key tag json",
	.examples =
		"  symcache import release.tar.zst\n"
		"  symcache import --verify-key public.pem /media/stick/bundle\n"
		"  symcache import other.store --tag from=other\n",
	.partly = "something in a bundle was bad, or it has no cache",
	.failed = "a bundle could not be read, or is not signed by the key",
	.see_also = "symcache-export(1) symcache-verify(1)",
	.run = run,
};
