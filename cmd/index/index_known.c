/*
 * What the store remembers of archives: see index.h. The outcome of each ELF file in one
 * stands under the archive's hash and the file's number; behind the last one is a row
 * that ends them.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "cmd/index/index.h"

struct symstore_hash index_member_key(const struct symstore_hash *archive, uint64_t index)
{
	uint64_t words[3] = { archive->low64, archive->high64, index };
	XXH128_hash_t hash;

	for (int i = 0; i < 3; i++)
		words[i] = htole64(words[i]);
	hash = XXH3_128bits(words, sizeof(words));
	return (struct symstore_hash){ hash.low64, hash.high64 };
}

static bool still_known(struct symstore_reader *reader, const struct index_options *options,
			const struct symstore_outcome *seen)
{
	struct symstore_entry entry;

	if (seen->code)
		return seen->code == SC_ENOSYMBOLS || seen->code == SC_EUNSUPPORTED;
	return !symstore_entry(reader, seen->build_id, seen->build_id_len, &entry, NULL) &&
	       !strcmp(entry.transforms, options->transforms) &&
	       (entry.sources & SYMCACHE_FROM_DWARF || entry.build_id_derived ||
		!index_new_debug_file(seen->build_id, seen->build_id_len,
				      options->build.debug_dirs, seen->time));
}

/* The outcome of ELF file `i`. SC_ENOTFOUND: it is not known. *end: there is none. */
static int outcome_of(struct symstore_reader *reader, const struct symstore_hash *archive,
		      uint64_t i, struct symstore_outcome *ret, bool *end)
{
	struct symstore_hash key = index_member_key(archive, i);
	int rc = symstore_seen(reader, &key, symcache_version, ret, NULL);

	*end = !rc && ret->code == SC_ENOTFOUND;
	return rc;
}

bool index_archive_known(struct symstore *store, const struct index_options *options,
			 const struct symstore_hash *archive)
{
	struct symstore_outcome seen;
	struct symstore_reader *reader;
	bool known = true, end = false;

	if (symstore_read_begin(store, &reader, NULL))
		return false;
	for (uint64_t i = 0; known && !end; i++)
		known = !outcome_of(reader, archive, i, &seen, &end) &&
			(end || still_known(reader, options, &seen));
	symstore_read_end(reader);
	return known;
}

static struct index_job *known_job(const struct scan_file *file, const char *tags,
				   const struct symstore_outcome *seen)
{
	struct index_job *job = must_calloc(1, sizeof(*job));

	job->file = file;
	job->known = true;
	job->result = !seen->code ? INDEX_UNCHANGED :
		seen->code == SC_ENOSYMBOLS ? INDEX_NO_SYMBOLS : INDEX_UNSUPPORTED;
	job->entry.build_id_len = seen->build_id_len;
	memcpy(job->entry.build_id, seen->build_id, sizeof(seen->build_id));
	job->entry.tags = tags;
	return job;
}

int index_archive_recall(const struct scan_file *file, struct symstore *store,
			 const struct index_options *options, const struct symstore_hash *archive,
			 const struct index_sink *sink, struct sc_error *err)
{
	struct symstore_outcome seen;
	struct symstore_reader *reader;
	bool end = false;
	int rc = 0;

	/* Not while it is read: take() may write, which no reader of ours may outlive. */
	for (uint64_t i = 0; !rc && !end; i++) {
		rc = symstore_read_begin(store, &reader, err);
		if (rc)
			return rc;
		end = outcome_of(reader, archive, i, &seen, &end) || end;
		symstore_read_end(reader);
		if (!end)
			rc = sink->take(sink->ctx, known_job(file, options->tags, &seen), err);
	}
	return rc;
}
