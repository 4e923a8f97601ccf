/*
 * symcache verify: reads everything and says what is wrong.
 *
 * First the structure of the store's file: LMDB would trust it. Then each
 * entry's cache: the hash that was stored when it was written, then the rules of
 * the format. Bad entries are named on standard output.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/doomed.h"
#include "cmd/json_gen.h"

static struct {
	const char *store;
	struct opt_list caches;
	bool json, quiet, repair;
} o;

static const struct opt opts[] = {
	{ "cache", 0, OPT_LIST, &o.caches, "FILE", "verify this SymCache file; may be repeated" },
	OPT_STORE(&o.store),
	{ "repair", 0, OPT_FLAG, &o.repair, NULL,
	  "remove the bad entries from the store, so that indexing their files brings them back" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the result as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, and nothing if all is well" },
	{ 0 },
};

enum { MAX_FAULTS = 10 }; /* told of each entry; counted: all */

struct verification {
	struct progress progress;
	struct json_gen *json;   /* NULL: text */
	const char *subject;     /* the build ID or file at hand */
	uint64_t faults;         /* of it */
	uint64_t entries, bad, total;
	struct symstore_reader *reader;
	struct doomed doomed;    /* the bad entries, if they are to be removed */
};

static void begin_subject(struct verification *v, const char *subject)
{
	v->subject = subject;
	v->faults = 0;
}

static bool fault(void *ctx, const char *text)
{
	struct verification *v = ctx;

	progress_erase(&v->progress);
	if (!v->faults++ && v->json) {
		json_gen_open_map(v->json, NULL);
		json_gen_text(v->json, "name", v->subject);
		json_gen_open_array(v->json, "faults");
	}
	if (v->faults > MAX_FAULTS)
		return true;
	if (v->json)
		json_gen_text(v->json, NULL, text);
	else
		printf("%s: %s\n", v->subject, text);
	return true;
}

static void end_subject(struct verification *v)
{
	if (!v->faults)
		return;
	v->bad++;
	if (v->json) {
		json_gen_close_array(v->json);
		json_gen_number(v->json, "num_faults", v->faults);
		json_gen_close_map(v->json);
	} else if (v->faults > MAX_FAULTS) {
		printf("%s: %llu more\n", v->subject, (unsigned long long)(v->faults - MAX_FAULTS));
	}
}

static bool verify_entry(void *ctx, const struct symstore_entry *entry)
{
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct verification *v = ctx;

	format_build_id(id, entry->build_id, entry->build_id_len);
	progress_update(&v->progress, v->entries++, v->total, entry->source_path);
	begin_subject(v, id);
	symstore_check_entry(v->reader, entry, fault, v);
	if (v->faults && o.repair)
		doomed_add(&v->doomed, entry);
	end_subject(v);
	return true;
}

static int verify_store(struct verification *v, struct sc_error *err)
{
	struct symstore_info info;
	struct symstore *store;
	char *path = NULL;
	int rc = open_store(o.store, o.repair ? SYMSTORE_WRITE : SYMSTORE_READ, &store, err);

	if (!rc)
		rc = symstore_read_begin(store, &v->reader, err);
	if (!rc)
		rc = store_path(o.store, &path, err);
	if (!rc) {
		begin_subject(v, path);
		symstore_check(v->reader, fault, v);
		end_subject(v);
		if (!v->bad && !(rc = symstore_info(v->reader, &info, err))) {
			v->total = info.entries;
			rc = symstore_each(v->reader, NULL, 0, verify_entry, v, err);
		}
	}
	free(path);
	symstore_read_end(v->reader);
	if (!rc && v->doomed.num)
		rc = doomed_remove(&v->doomed, store, err);
	symstore_close(store);
	return rc;
}

static void verify_file(struct verification *v, const char *path)
{
	struct cache_file file;
	struct sc_error err;

	v->entries++;
	begin_subject(v, path);
	if (cache_file_open(path, &file, &err))
		fault(v, without_path(err.msg, path));
	else
		symcache_verify(&file.cache, fault, v);
	end_subject(v);
	cache_file_close(&file);
}

static int run(int argc, char **argv)
{
	struct verification v = { .json = o.json ? json_gen_create(true) : NULL };
	struct sc_error err;
	int rc = 0;

	(void)argv;
	if (o.repair && o.caches.len) {
		cmd_error("--repair is for the store, not for --cache FILE");
		return STATUS_ERROR;
	}
	if (argc) {
		cmd_error("no arguments: it verifies the whole store, or --cache FILE");
		return STATUS_ERROR;
	}
	progress_init(&v.progress, "verifying", o.quiet);
	if (v.json) {
		json_gen_open_map(v.json, NULL);
		json_gen_open_array(v.json, "bad");
	}
	if (!o.caches.len)
		rc = verify_store(&v, &err);
	for (size_t i = 0; i < o.caches.len; i++)
		verify_file(&v, o.caches.items[i]);
	progress_erase(&v.progress);
	if (v.json) {
		json_gen_close_array(v.json);
		json_gen_number(v.json, "verified", v.entries);
		if (o.repair)
			json_gen_number(v.json, "removed", rc ? 0 : v.doomed.num);
		json_gen_close_map(v.json);
		json_gen_end(v.json);
		json_gen_destroy(v.json);
	} else if (!rc && (!o.quiet || v.bad)) {
		printf("%llu verified, %llu bad", (unsigned long long)v.entries,
		       (unsigned long long)v.bad);
		if (v.doomed.num)
			printf(", %zu removed", v.doomed.num);
		putchar('\n');
	}
	if (rc)
		cmd_error("%s", err.msg);
	doomed_deinit(&v.doomed);
	return rc ? STATUS_ERROR : v.bad ? STATUS_PARTLY : STATUS_OK;
}

const struct command verify_command = {
	.name = "verify",
	.operands = "",
	.summary = "read the whole store and name what is damaged",
	.description =
		"Checks the structure of the store's file, the hash of each cache and each cache by "
		"the rules of its format; or SymCache files alone. Each fault is a line: the build ID "
		"or file, and what is wrong with it. A bad entry is mended by indexing its file again "
		"with --again, or removed by --repair. A file whose index pages are damaged is only "
		"named."
		"\n\n"
		"Exit status: 1 if anything is bad.",
	.opts = opts,
	.examples =
		"  symcache verify\n"
		"  symcache verify --repair; symcache index /usr/bin\n"
		"  symcache verify --cache python.symcache\n",
	.run = run,
};
