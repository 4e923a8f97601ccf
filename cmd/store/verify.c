/*
 * symcache verify: reads everything and says what is wrong.
 *
 * First the structure of the store's file, then each entry's cache. Or bundles: their
 * manifests, and each cache against them. What is bad is named on standard output, in
 * the order of the build IDs.
 */
#include <limits.h>
#include <stdio.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/store/upkeep.h"

static struct {
	const char *store, *verify_key;
	struct opt_list caches;
	uint64_t jobs;
	bool json, quiet, repair;
} o;

static const struct opt opts[] = {
	{ "cache", 0, OPT_LIST, &o.caches, "FILE", "verify this SymCache file; may be repeated" },
	OPT_STORE(&o.store),
	{ "repair", 0, OPT_FLAG, &o.repair, NULL,
	  "remove the bad entries from the store, so that indexing their files brings them back" },
	{ "verify-key", 0, OPT_STRING, &o.verify_key, "KEY",
	  "bundles must be signed by this Ed25519 public key (PEM)" },
	{ "jobs", 'j', OPT_COUNT, &o.jobs, "N", "use N threads (default: one for each core)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the result as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, and no output if all is well" },
	{ 0 },
};

struct verification {
	struct mk_gen *json;   /* NULL: text */
	uint64_t verified, bad;
	struct symstore *store; /* that bundles are against */
	bool looked;            /* for it */
	struct symstore_removals removals; /* the bad entries, if they are to be removed */
	struct sc_error *err;
	int rc;
};

/* Says what is wrong with `name`, if anything. */
static void report(struct verification *v, const char *name, const struct symstore_faults *f)
{
	if (!f->num)
		return;
	v->bad++;
	progress_erase();
	if (v->json) {
		mk_gen_open_map(v->json, NULL);
		mk_gen_text(v->json, "name", name);
		mk_gen_open_array(v->json, "faults");
	}
	for (size_t i = 0; i < f->num_texts; i++)
		if (v->json)
			mk_gen_text(v->json, NULL, f->texts[i]);
		else
			printf("%s: %s\n", shown(name), shown(f->texts[i]));
	if (v->json) {
		mk_gen_close_array(v->json);
		mk_gen_number(v->json, "num_faults", f->num);
		mk_gen_close_map(v->json);
	} else if (f->num > f->num_texts) {
		printf("%s: %llu more\n", shown(name), (unsigned long long)(f->num - f->num_texts));
	}
}

static void report_one(struct verification *v, const char *name, const char *text)
{
	report(v, name, &(struct symstore_faults){ 1, 1, { (char *)text } });
}

/* ---- the store --------------------------------------------------------------- */

static void on_verified(void *ctx, const struct symstore_entry *entry,
			const struct symstore_faults *faults, uint64_t done, uint64_t total)
{
	struct verification *v = ctx;

	v->verified = done;
	progress_update(NULL, done - 1, total, entry->source_path);
	report(v, shown_id(entry->build_id, entry->build_id_len), faults);
	if (faults->num && o.repair && !v->rc)
		v->rc = symstore_removals_add(&v->removals, entry, v->err);
}

static int verify_entries(struct verification *v, struct symstore_reader *reader, const char *path)
{
	struct symstore_faults faults = { 0 };
	int rc = symstore_check(reader, symstore_faults_add, &faults);

	if (rc >= 0 || rc == SC_ESYS)
		report(v, path, &faults);
	symstore_faults_deinit(&faults);
	if (rc == SC_ENOMEM)
		return sc_no_memory(v->err);
	if (v->bad)
		return 0;
	rc = symstore_verify(reader, o.jobs < UINT_MAX ? (unsigned)o.jobs : UINT_MAX, on_verified,
			     v, v->err);
	return rc ? rc : v->rc;
}

static int verify_store(struct verification *v)
{
	char *path __attribute__((cleanup(sc_free_text))) = NULL;
	SNAPSHOT s = { 0 };
	int rc = open_snapshot(o.store, o.repair ? SYMSTORE_WRITE : SYMSTORE_READ, &s, v->err);

	if (!rc)
		rc = store_path(o.store, &path, v->err);
	if (!rc)
		rc = verify_entries(v, s.reader, path);
	symstore_read_end(s.reader);
	s.reader = NULL;
	return !rc && v->removals.len ? symstore_remove_all(s.store, &v->removals, v->err) : rc;
}

/* ---- files and bundles -------------------------------------------------------- */

static int verify_file(struct verification *v, const char *path)
{
	struct symstore_faults faults = { 0 };
	struct symcache_map file;
	struct sc_error err;
	int rc = symcache_map_open(path, &file, &err);

	v->verified++;
	if (rc && rc != SC_ENOMEM)
		symstore_faults_add(&faults, sc_error_behind(err.msg, path));
	else if (rc || symcache_verify(&file.cache, symstore_faults_add, &faults) < 0)
		rc = sc_no_memory(v->err);
	if (rc != SC_ENOMEM)
		report(v, path, &faults);
	symstore_faults_deinit(&faults);
	symcache_map_close(&file);
	return rc == SC_ENOMEM ? rc : 0;
}

static int valid_member(void *ctx, const struct symstore_entry *entry, const void *cache,
			size_t size, struct sc_error *err)
{
	struct verification *v = ctx;

	(void)entry, (void)cache, (void)size, (void)err;
	v->verified++;
	return 0;
}

static void bad_member(void *ctx, const char *name, const char *why)
{
	struct verification *v = ctx;

	v->verified++;
	report_one(v, name, why);
}

/* Of bundles with what changed since entries of the store. */
static struct symstore *old_store(void *ctx)
{
	struct verification *v = ctx;

	if (!v->store && !v->looked)
		open_store(o.store, SYMSTORE_READ, &v->store, NULL);
	v->looked = true;
	return v->store;
}

static int verify_bundle(struct verification *v, const char *path)
{
	const struct symbundle_reader reader = {
		.verify_key = o.verify_key, .web = web_limits(), .old_store = old_store,
		.entry = valid_member, .fault = bad_member,
		.progress = progress_update, .ctx = v,
	};
	struct sc_error err;
	const int rc = symbundle_read(path, &reader, &err);

	if (rc == SC_ENOMEM)
		return sc_no_memory(v->err);
	if (rc)
		report_one(v, path, sc_error_behind(err.msg, path));
	return 0;
}

static void summarise(const struct verification *v, int rc)
{
	if (v->json) {
		mk_gen_close_array(v->json);
		mk_gen_number(v->json, "verified", v->verified);
		if (o.repair)
			mk_gen_number(v->json, "removed", rc ? 0 : v->removals.len);
		out_json_close(v->json);
	} else if (!rc && (!o.quiet || v->bad)) {
		printf("%llu verified, %llu bad", (unsigned long long)v->verified,
		       (unsigned long long)v->bad);
		if (v->removals.len)
			printf(", %zu removed", v->removals.len);
		putchar('\n');
	}
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct verification v = { .err = err };
	int rc = 0;

	if (o.repair && (o.caches.len || argc))
		return sc_error_set(err, SC_EINVAL,
				    "--repair is for the store, not for bundles and --cache FILE");
	if (o.verify_key && !argc)
		return sc_error_set(err, SC_EINVAL, "--verify-key is for bundles: give one");
	progress_begin("verifying", PROGRESS_ITEMS, o.quiet);
	if (o.json) {
		v.json = out_json_open(true);
		mk_gen_open_array(v.json, "bad");
	}
	if (!o.caches.len && !argc)
		rc = verify_store(&v);
	for (int i = 0; i < argc && !rc; i++)
		rc = verify_bundle(&v, argv[i]);
	for (size_t i = 0; i < o.caches.len && !rc; i++)
		rc = verify_file(&v, o.caches.items[i]);
	progress_erase();
	summarise(&v, rc);
	symstore_removals_deinit(&v.removals);
	symstore_close(v.store);
	return rc ? rc : v.bad ? STATUS_PARTLY : STATUS_OK;
}

const struct command verify_command = {
	.name = "verify",
	.operands = "[BUNDLE...]",
	.summary = "read the whole store, or bundles, and name what is damaged",
	.description =
		"Checks the structure of the store's file, the hash of each cache, and each cache by "
		"the rules of its format. With arguments it checks bundles instead, each cache "
		"against the manifest, or SymCache files (--cache). Each fault is a line: the build "
		"ID or file, and what is wrong with it. A bad entry is repaired by indexing its file "
		"with --again, or removed by --repair. A store whose index pages are damaged is only "
		"reported.",
	.opts = opts,
	.examples =
		"  symcache verify\n"
		"  symcache verify --repair; symcache index /usr/bin\n"
		"  symcache verify release.tar.zst --verify-key public.pem\n"
		"  symcache verify --cache python.symcache\n",
	.partly = "something is damaged",
	.see_also = "symcache-index(1) symcache-stats(1)",
	.run = run,
};
