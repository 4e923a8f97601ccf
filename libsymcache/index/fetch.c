/* Build IDs → debug files from servers: see run.h. */
#include "libsymcache/index/content.h"
#include "libsymcache/index/run.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"

/* In a transaction of its own; whether that works does not matter. */
static void remember_miss(struct symcache_debuginfod *d, struct symstore *store, const uint8_t *id,
			  size_t len)
{
	struct symstore_writer *writer;

	if (!symstore_write_begin(store, &writer, NULL))
		symstore_end(writer, symcache_debuginfod_remember(d, writer, id, len, NULL), NULL);
}

/* What the store says. *there: it has DWARF of it, in *entry. SC_ENOTFOUND: no server had
 * it a while ago. */
static int ask_store(const struct sc_work *work, const uint8_t *id, size_t len, bool *there,
		     struct symstore_entry *entry, struct sc_error *err)
{
	const struct symcache_index_options *o = work->options;
	struct symstore_reader *reader;
	bool missed;
	int rc = symstore_read_begin(work->store, &reader, err);

	if (rc)
		return rc;
	*there = !o->again && !symstore_entry(reader, id, len, entry, NULL) &&
		 entry->sources & SYMCACHE_FROM_DWARF &&
		 !sc_entry_differs(entry, &work->build, work->transforms);
	missed = !*there && symcache_debuginfod_missed(o->debuginfod, reader, id, len);
	symstore_read_end(reader);
	return missed ? sc_error_set(err, SC_ENOTFOUND, "no server had it") : 0;
}

/* The path of the file, or NULL: the store has *entry, of which the strings are gone. */
static int fetch(const struct sc_work *work, const char *build_id, char **path,
		 struct symstore_entry *entry, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t nibbles;
	bool there = false;
	int rc = symcache_build_id_parse(build_id, id, &nibbles, err);

	*path = NULL;
	if (rc)
		return rc;
	if (nibbles % 2)
		return sc_error_set(err, SC_EINVAL, "not a whole build ID");
	rc = ask_store(work, id, nibbles / 2, &there, entry, err);
	if (rc || there)
		return rc;
	rc = symcache_debuginfod_get(work->options->debuginfod, id, nibbles / 2, false, path, err);
	if (rc == SC_ENOTFOUND)
		remember_miss(work->options->debuginfod, work->store, id, nibbles / 2);
	return rc;
}

int sc_fetch(struct sc_run *run, const char *build_id, struct sc_walk *walk, struct sc_error *err)
{
	const struct sc_found known = { .path = (char *)build_id };
	struct symstore_entry entry;
	struct sc_error why;
	char *path;
	int rc = fetch(&run->work, build_id, &path, &entry, &why);

	if (rc) {
		sc_run_failed(run, build_id, why.msg);
		run->account->not_on_servers +=
			rc == SC_ENOTFOUND &&
			!symcache_debuginfod_failed(run->work.options->debuginfod);
		return 0;
	}
	if (!path)
		return sc_run_take(run, sc_job_known(&known, run->work.options->tags, &entry), err);
	rc = sc_walk_path(walk, path, err);
	free(path);
	return rc;
}
