/*
 * What the store remembers of archives: see run.h. The outcome of each ELF file in one
 * stands under the archive's hash and the file's number; behind the last one is a row
 * that ends them.
 */

#include "libsymcache/index/run.h"
#include "libsymcache/index/content.h"

static bool still_known(struct symstore_reader *reader, const struct sc_work *work,
			const struct symstore_outcome *seen)
{
	struct symstore_entry entry = { 0 };

	if (seen->code == SC_EUNSUPPORTED)
		return true;
	if (seen->code ? seen->code != SC_ENOSYMBOLS :
	    symstore_entry(reader, seen->build_id, seen->build_id_len, &entry, NULL) ||
	    sc_entry_differs(&entry, &work->build, work->transforms))
		return false;
	return entry.sources & SYMCACHE_FROM_DWARF || entry.build_id_derived ||
	       !sc_debug_file_there(seen->build_id, seen->build_id_len, work->build.debug_dirs);
}

/* The outcome of ELF file `i`. SC_ENOTFOUND: it is not known. *end: there is none. */
static int outcome_of(struct symstore_reader *reader, const struct sc_hash *archive,
		      uint64_t i, struct symstore_outcome *ret, bool *end)
{
	struct sc_hash key = sc_member_key(archive, i);
	int rc = symstore_seen(reader, &key, symcache_version, ret, NULL);

	*end = !rc && ret->code == SC_ENOTFOUND;
	return rc;
}

bool sc_archive_known(const struct sc_work *work, const struct sc_hash *archive)
{
	struct symstore_outcome seen;
	struct symstore_reader *reader;
	bool known = true, end = false;

	if (symstore_read_begin(work->store, &reader, NULL))
		return false;
	for (uint64_t i = 0; known && !end; i++)
		known = !outcome_of(reader, archive, i, &seen, &end) &&
			(end || still_known(reader, work, &seen));
	symstore_read_end(reader);
	return known;
}

/* `reader` gives the entry, if there is one. */
static struct sc_job *known_job(struct symstore_reader *reader, const struct sc_found *file,
				const char *tags, const struct symstore_outcome *seen)
{
	struct symstore_entry entry = { 0 };
	struct sc_job *job;

	if (!seen->code)
		symstore_entry(reader, seen->build_id, seen->build_id_len, &entry, NULL);
	job = sc_job_known(file, tags, &entry);
	if (job && seen->code)
		job->result = seen->code == SC_ENOSYMBOLS ? SYMCACHE_INDEX_NO_SYMBOLS :
							    SYMCACHE_INDEX_UNSUPPORTED;
	return job;
}

int sc_archive_recall(struct sc_run *run, const struct sc_found *file,
		      const struct sc_hash *archive, struct sc_error *err)
{
	struct symstore_outcome seen;
	struct symstore_reader *reader;
	struct sc_job *job = NULL;
	bool end = false;
	int rc = 0;

	/* Not while it is read: taking a job may write, which no reader of ours may outlive. */
	for (uint64_t i = 0; !rc && !end; i++) {
		rc = symstore_read_begin(run->work.store, &reader, err);
		if (rc)
			return rc;
		end = outcome_of(reader, archive, i, &seen, &end) || end;
		if (!end)
			job = known_job(reader, file, run->work.options->tags, &seen);
		symstore_read_end(reader);
		if (!end)
			rc = sc_run_take(run, job, err);
	}
	return rc;
}
