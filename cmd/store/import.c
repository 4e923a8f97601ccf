/* symcache import: a bundle, a tree of SymCache files or another store → the store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/select.h"
#include "cmd/store/wanted.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/bundle/bundle.h"

static struct {
	const char *store, *verify_key;
	struct opt_list tags, ids, only;
	struct wanted_options by;
	bool no_replace, packed, pin, json, quiet;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "build-id", 0, OPT_LIST, &o.ids, "ID", "import only the entry of this build ID; may be repeated" },
	OPTS_WANTED(&o.by),
	{ "only-tag", 0, OPT_LIST, &o.only, "TAG",
	  "import only entries with this tag, or a tag with this key; may be repeated: any of them" },
	{ "verify-key", 0, OPT_STRING, &o.verify_key, "KEY",
	  "accept only what this Ed25519 public key (PEM) signed" },
	{ "tag", 0, OPT_LIST, &o.tags, "TAG",
	  "put this tag on what is imported, in addition to its own; may be repeated" },
	OPT_PIN(&o.pin),
	{ "no-replace", 0, OPT_FLAG, &o.no_replace, NULL,
	  "import only what the store does not have; replace nothing in it" },
	{ "packed", 0, OPT_FLAG, &o.packed, NULL,
	  "store what is imported packed, where that saves room (see symcache-compact(1))" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

static void on_conflict(void *ctx, const struct symstore_entry *entry, bool taken)
{
	(void)ctx;
	cmd_error("%s: differs from the store's cache, which is as good: %s was indexed later and is kept",
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

/* What is asked for; of each ID how many bundles lack it. */
struct asked {
	struct wanted wanted;
	unsigned *lacking;
};

static void asked_deinit(struct asked *a)
{
	wanted_deinit(&a->wanted);
	free(a->lacking);
}

static void on_missing(void *ctx, const struct symstore_id *id)
{
	struct asked *a = ctx;

	a->lacking[symstore_ids_find(a->wanted.ids.data, a->wanted.ids.len, id->bytes, id->len)]++;
}

/* Sets options->ids, unless all are asked for. */
static int ask(struct asked *a, struct symbundle_import_options *options, struct sc_error *err)
{
	static const struct symstore_id none;
	int rc = wanted_read(&a->wanted, &o.by, o.store, err);

	for (size_t i = 0; i < o.ids.len && !rc; i++) {
		struct symstore_id id = { 0 };

		if (!symcache_build_id_read(o.ids.items[i], id.bytes, &id.len))
			return sc_error_set(err, SC_EINVAL, "--build-id '%.140s': not a build ID", o.ids.items[i]);
		rc = symstore_ids_add(&a->wanted.ids, &id, err);
	}
	if (rc || (!o.ids.len && !wanted_asked(&o.by)))
		return rc;
	a->wanted.ids.len = symstore_ids_sort(a->wanted.ids.data, a->wanted.ids.len);
	a->lacking = must_calloc(a->wanted.ids.len + 1, sizeof(*a->lacking));
	options->num_ids = a->wanted.ids.len;
	options->ids = a->wanted.ids.len ? a->wanted.ids.data : &none;
	return 0;
}

/* What none of the bundles has. */
static void report_missing(struct asked *a, int bundles, char **paths)
{
	char *shown = must(symbundle_shown(paths[0]));
	char *one = must(sc_text("%.200s has no symbols of", shown));

	for (size_t i = 0; i < a->wanted.ids.len; i++)
		if (a->lacking[i] == (unsigned)bundles)
			wanted_missing(&a->wanted, bundles == 1 ? one : "none of the bundles has symbols of",
				       &a->wanted.ids.data[i]);
	free(one);
	free(shown);
}

/* Why nothing was imported, although no build ID that is asked for is missing. */
static void report_nothing(bool chosen, const struct wanted *w, int bundles, char **paths)
{
	char *shown __attribute__((cleanup(sc_free_text))) = must(symbundle_shown(paths[0]));

	if (chosen && !w->ids.len)
		cmd_error("nothing to import: the logs and core files name no module whose build ID is known");
	else
		cmd_error("nothing to import: no cache%s in %s%s", o.only.len ? " with such a tag" : "",
			  shown, bundles > 1 ? " or the others" : "");
}

static void summarise(const struct symbundle_imported *m, const struct wanted *w, bool chosen)
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
	if (chosen)
		wanted_missing_json(j, w);
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
	struct asked asked __attribute__((cleanup(asked_deinit))) = { .lacking = NULL };
	const struct symstore_selection choose = { SYMSTORE_ANY, .tags = o.only.items };
	struct symbundle_imported done = { 0 };
	struct symbundle_import_options options = {
		.open_store = on_first, .has_store = has_store, .verify_key = o.verify_key,
		.fault = on_fault, .conflict = on_conflict, .replaced = on_replaced,
		.no_replace = o.no_replace, .packed = o.packed, .progress = progress_update,
		.missing = on_missing, .web = web_limits(), .ctx = &asked,
		.choose = o.only.len ? &choose : NULL,
	};
	int rc;

	if (!argc)
		return sc_error_set(err, SC_EINVAL, "no bundle, tree or store given");
	progress_begin("importing", PROGRESS_ITEMS, o.quiet);
	rc = symstore_tags_make(o.tags.items, o.tags.len, o.pin, &tags, err);
	options.tags = tags;
	rc = rc ? rc : ask(&asked, &options, err);
	for (int i = 0; i < argc && !rc; i++)
		rc = symbundle_import(&store, argv[i], &options, &done, err);
	progress_erase();
	if (!rc)
		report_missing(&asked, argc, argv);
	summarise(&done, &asked.wanted, options.ids);
	if (!rc && !asked.wanted.missing.len &&
	    !(done.imported + done.unchanged + done.better_in_store + done.conflicts + done.kept +
	      done.bad)) {
		report_nothing(options.ids, &asked.wanted, argc, argv);
		return STATUS_PARTLY;
	}
	if (rc)
		return rc;
	return done.bad || asked.wanted.missing.len || asked.wanted.nameless ? STATUS_PARTLY :
									       STATUS_OK;
}

const struct command import_command = {
	.name = "import",
	.operands = "PATH|URL...",
	.summary = "merge bundles, trees and other stores into the store",
	.description =
		"Imports what 'symcache export' wrote, a folder or an archive of SymCache files "
		"(ab/cdef.symcache), or another store. Every cache is compared with the hashes in "
		"the manifest and checked first; a bad one is reported and left out. A cache with "
		"better symbols replaces one with worse symbols of the same build ID, never the "
		"reverse; of equally good ones that differ, the one indexed later is kept, and that "
		"is reported. Tags are merged.\n\n"
		"A URL, http:// or https://, is that of a tree on a web server ('symcache export "
		"--shape tree'). Only what the store does not have is fetched, and only what build "
		"IDs, logs, core files or tags select.\n\n"
		"The public key for --verify-key is made from the private key that signed: 'openssl "
		"pkey -in key.pem -pubout -out public.pem'.",
	.opts = opts,
	.essential = "store for-log build-id verify-key tag json",
	.examples =
		"  symcache import release.tar.zst\n"
		"  symcache import --verify-key public.pem /media/stick/bundle\n"
		"  symcache import other.store --tag from=other\n"
		"  symcache import https://symbols.example.org/ --for-log crash.log\n",
	.partly = "part of a bundle was bad, or it lacks what was asked for, or it has no cache",
	.failed = "a bundle could not be read, or is not signed by the key",
	.see_also = "symcache-export(1) symcache-verify(1)",
	.run = run,
};
