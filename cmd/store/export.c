/* symcache export: entries of the store → a bundle that travels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/symbolize/symbolize.h"

static struct {
	const char *store, *output, *since, *delta_from, *sign;
	struct selection sel;
	struct wanted_options by;
	int shape, format;
	uint64_t level;
	bool names_only, name_hash, estimate, json, quiet;
} o = { .sel = SELECTION_ALL, .shape = -1 };

static const char *const shapes[] = { "store", "tree", "archive", NULL };
static const char *const formats[] = { "2", "1", NULL };

static const struct opt opts[] = {
	OPT_SECTION("Store and bundle"),
	OPTS_STORE_READ(&o.store),
	{ "output", 'o', OPT_STRING, &o.output, "PATH", "the bundle to write" },
	{ "shape", 0, OPT_ENUM, &o.shape, "SHAPE",
	  "store, tree or archive (default: by the name: NAME.store, NAME.tar.zst, else a tree); a "
	  "store is a file ready for use, a tree a folder of files for any web server, to which later "
	  "exports add, an archive one tar.zst",
	  .choices = shapes },
	OPT_SECTION("Which entries"),
	OPTS_WANTED(&o.by),
	OPTS_SELECTION(&o.sel),
	OPT_SECTION("Updates"),
	{ "since", 0, OPT_STRING, &o.since, "BUNDLE",
	  "leave out what an earlier bundle has with the same tags; its " SYMBUNDLE_MANIFEST
	  " is enough" },
	{ "delta-from", 0, OPT_STRING, &o.delta_from, "PATH",
	  "write of each entry only what differs from the entry of the same file in this bundle or "
	  "store; the importing store must have that entry, too" },
	OPT_SECTION("How they are written"),
	{ "names-only", 0, OPT_FLAG, &o.names_only, NULL,
	  "write only the functions of each entry and their addresses, without files, lines and "
	  "inlined calls: a fifteenth of the size, packed; an entry with all of the symbols replaces it" },
	{ "bundle-format", 0, OPT_ENUM, &o.format, "N",
	  "2 (default): packed caches in trees and archives; 1: unpacked ones, which older "
	  "versions can read, at three times the size",
	  .choices = formats },
	{ "level", 0, OPT_COUNT, &o.level, "N",
	  "zstd's level, from 1 (fast) to 19 (small); 3 by default" },
	{ "sign", 0, OPT_STRING, &o.sign, "KEY",
	  "sign the manifest with this Ed25519 private key (PEM)" },
	{ "name-hash", 0, OPT_FLAG, &o.name_hash, NULL,
	  "put the hash of the manifest into the name, NAME-HASH.store, so that the name "
	  "always means the same content, for stores that machines share" },
	OPT_SECTION("Reports"),
	{ "estimate", 0, OPT_FLAG, &o.estimate, NULL,
	  "write nothing, only print how large the bundle would be (default: an archive)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

static int gather_ids(struct symstore_reader *reader, char **texts, struct wanted *w,
		      struct sc_error *err)
{
	int rc = wanted_read(w, &o.by, o.store, err);

	for (; *texts && !rc; texts++) {
		struct symstore_id id = { 0 };

		rc = symstore_find_id(reader, *texts, id.bytes, &id.len, err);
		/* What is behind the ID would count in comparisons. */
		memset(id.bytes + id.len, 0, sizeof(id.bytes) - id.len);
		if (!rc)
			rc = symstore_ids_add(&w->ids, &id, err);
	}
	w->ids.len = symstore_ids_sort(w->ids.data, w->ids.len);
	return rc;
}

static void on_writing(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	progress_begin("exporting", PROGRESS_ITEMS, o.quiet);
	progress_update(ctx, done, total, item);
}

static void on_missing(void *ctx, const struct symstore_id *id)
{
	wanted_missing(ctx, "the store has no symbols of", id);
}

static enum symbundle_shape shape(void)
{
	return o.shape >= 0 ? (enum symbundle_shape)o.shape :
	       o.output ? symbundle_shape_of(o.output) : SYMBUNDLE_ARCHIVE;
}

static int export(struct symstore_reader *reader, char **texts, struct wanted *w,
		  struct symbundle_exported *done, struct sc_error *err)
{
	static const struct symstore_id none;
	const bool all = !wanted_asked(&o.by) && !*texts;
	struct symbundle_export_options options = {
		.choose = selection_of(&o.sel), .since = o.since, .delta_from = o.delta_from,
		.sign_key = o.sign,
		.format = o.format ? 1 : 2, .estimate = o.estimate, .level = (int)o.level,
		.names_only = o.names_only, .name_hash = o.name_hash,
		.missing = on_missing, .damaged = cmd_complain,
		.hashing = progress_update, .writing = on_writing, .ctx = w,
	};
	int rc = gather_ids(reader, texts, w, err);

	progress_begin("hashing", PROGRESS_ITEMS, o.quiet);
	options.ids = all ? NULL : w->ids.len ? w->ids.data : &none;
	options.num_ids = w->ids.len;
	if (rc)
		return rc == SC_ENOTFOUND ? SC_EINVAL : rc; /* a build ID that was named */
	return symbundle_export(reader, o.output, shape(), &options, done, err);
}

static void summarise(const struct symbundle_exported *done, const struct wanted *w)
{
	struct mk_gen *j;

	if (!o.json) {
		if (o.quiet)
			return;
		printf("%llu %s, %llu bytes of caches", (unsigned long long)done->exported,
		       o.estimate ? "to be exported" : "exported", (unsigned long long)done->bytes);
		if (o.estimate)
			printf(", %llu bytes as a bundle", (unsigned long long)done->bundle_bytes);
		if (o.delta_from)
			printf(", %llu of them as what changed", (unsigned long long)done->deltas);
		if (o.since || done->as_before)
			printf(", %llu as before", (unsigned long long)done->as_before);
		if (done->missing)
			printf(", %llu not in the store", (unsigned long long)done->missing);
		if (done->damaged)
			printf(", %llu damaged", (unsigned long long)done->damaged);
		if (o.name_hash)
			printf(", manifest %s", done->hash);
		putchar('\n');
		return;
	}
	j = out_json_open(false);
	mk_gen_number(j, "exported", done->exported);
	mk_gen_number(j, "bytes", done->bytes);
	if (o.estimate)
		mk_gen_number(j, "bundle_bytes", done->bundle_bytes);
	if (o.delta_from)
		mk_gen_number(j, "deltas", done->deltas);
	mk_gen_number(j, "as_before", done->as_before);
	mk_gen_number(j, "missing", done->missing);
	wanted_missing_json(j, w);
	mk_gen_number(j, "damaged", done->damaged);
	if (o.name_hash)
		mk_gen_text(j, "manifest_xxh128", done->hash);
	mk_gen_bool(j, "signed", o.sign);
	out_json_close(j);
}

/* Was an archive of another kind expected? By its name it would become a folder. */
static bool looks_like_archive(const char *path)
{
	static const char *const ends[] = { ".zip", ".tar", ".tgz", ".gz", ".xz", ".bz2", ".zst", ".lz4",
					    ".7z", ".symcache", ".db" };
	const size_t len = strlen(path);

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (len > strlen(ends[i]) && !strcasecmp(path + len - strlen(ends[i]), ends[i]))
			return symbundle_shape_of(path) == SYMBUNDLE_TREE;
	return false;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct wanted wanted __attribute__((cleanup(wanted_deinit))) = { 0 };
	struct symbundle_exported done = { 0 };
	SNAPSHOT s = { 0 };
	int rc;

	(void)argc;
	if (o.estimate && o.format && shape() == SYMBUNDLE_ARCHIVE)
		return sc_error_set(err, SC_EINVAL, "--estimate is not for archives of format 1");
	if (!o.output && !o.estimate)
		return sc_error_set(err, SC_EINVAL, "no bundle given: use -o PATH");
	if (o.level > PACKED_LEVEL_MAX)
		return sc_error_set(err, SC_EINVAL, "levels are 1 to %d", PACKED_LEVEL_MAX);
	if (o.shape < 0 && o.output && looks_like_archive(o.output))
		return sc_error_set(err, SC_EINVAL, "%s: a bundle is NAME.tar.zst, NAME.store or a "
				    "folder: name it so, or say --shape", o.output);
	if (open_snapshot(o.store, SYMSTORE_READ, &s, err))
		return err->code;
	rc = export(s.reader, argv, &wanted, &done, err);
	if (!rc || (rc == SC_ENOTFOUND && !done.exported))
		summarise(&done, &wanted);
	if (rc)
		return rc == SC_ENOTFOUND ? cmd_absent(err) : rc;
	return done.missing || done.damaged || wanted.nameless ? STATUS_PARTLY : STATUS_OK;
}

const struct command export_command = {
	.name = "export",
	.operands = "-o PATH [BUILDID...]",
	.summary = "write entries of the store as a bundle",
	.description =
		"Writes all entries, or those selected by build IDs, by the modules in a log or a "
		"core file, or by the other options, into a bundle for 'symcache import': a store "
		"file, a tree of files, or one archive. Caches in trees and archives are packed "
		"(see symcache-pack(1)), small ones in an archive together. A manifest lists build "
		"IDs, sizes and hashes, and can be signed. A store file is for machines of the same "
		"byte order and word size; trees and archives are for all machines. The bundle gets "
		"its name only when it is complete.\n\n"
		"If the tree exists, new entries are added, and what is there stays. Its files never "
		"change, except " SYMBUNDLE_MANIFEST ", which is replaced last; so a web server or "
		"an object store can serve it at any time. It can hold a million entries.\n\n"
		"Keys are made with openssl: 'openssl genpkey -algorithm ed25519 -out key.pem' makes "
		"the private one, 'openssl pkey -in key.pem -pubout -out public.pem' the public one, "
		"for 'symcache import --verify-key'.\n\n"
		"With --delta-from an update is small: of each entry it has only what differs from the "
		"entry of a file with the same name, ignoring numbers in the name. 'symcache "
		"import' needs those earlier entries in the store; it reports the ones that are "
		"missing, and imports the rest.\n\n"
		"The manifest of a store file or an archive is limited to 64 MB, some 100,000 "
		"entries. More of them are exported in parts: by --tag, by build IDs, or with "
		"--since.",
	.opts = opts,
	.essential = "store output for-log for-core tag since sign",
	.examples =
		"  symcache export -o all.tar.zst\n"
		"  symcache export --estimate --tag release=1.4.2\n"
		"  symcache export -o crash.store --for-log crash.log\n"
		"  symcache export -o /srv/www/symbols --sign key.pem\n"
		"  symcache export -o update.tar.zst --tag release=1.4.3 --delta-from release-1.4.2.tar.zst\n"
		"  symcache export -o new.tar.zst --tag release=1.4.2 --since old/" SYMBUNDLE_MANIFEST "\n",
	.partly = "the store lacks modules of a log or core file, or entries are damaged, and the bundle "
		  "has the others; or nothing was selected, and no bundle is written",
	.see_also = "symcache-import(1) symcache-verify(1) openssl(1)",
	.run = run,
};
