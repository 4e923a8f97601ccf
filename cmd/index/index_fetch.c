/* index --debuginfod: build IDs → files that are indexed like all others: see index.h. */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/index/fetch.h"
#include "cmd/index/index.h"
#include "symcache/build_id.h"

int index_fetch(struct symcache_debuginfod *fetcher, const char *build_id, struct symstore *store,
		const struct index_options *options, struct scan *scan,
		struct index_job **known, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_reader *reader;
	struct symstore_entry entry;
	size_t nibbles, len;
	bool missed, there;
	char *path;
	int rc = symcache_build_id_parse(build_id, id, &nibbles, err);

	*known = NULL;
	if (rc)
		return rc;
	len = nibbles / 2;
	if (nibbles % 2)
		return sc_error_set(err, SC_EINVAL, "not a whole build ID");
	rc = symstore_read_begin(store, &reader, err);
	if (rc)
		return rc;
	there = !options->again && !symstore_entry(reader, id, len, &entry, NULL) &&
		entry.sources & SYMCACHE_FROM_DWARF && !strcmp(entry.transforms, options->transforms);
	missed = !there && symcache_debuginfod_missed(fetcher, reader, id, len);
	symstore_read_end(reader);
	if (there) {
		*known = must_calloc(1, sizeof(**known));
		(*known)->result = INDEX_UNCHANGED;
		(*known)->entry.build_id_len = len;
		memcpy((*known)->entry.build_id, id, len);
		(*known)->entry.tags = options->tags;
		return 0;
	}
	if (missed)
		return sc_error_set(err, SC_ENOTFOUND, "no server had it");
	rc = symcache_debuginfod_get(fetcher, id, len, &path, err);
	if (rc == SC_ENOTFOUND)
		fetch_store_miss(store, id, len, NULL);
	if (!rc)
		scan_path(scan, path);
	free(path);
	return rc;
}
