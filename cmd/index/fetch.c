/* --debuginfod: see fetch.h. */
#include "cmd/index/fetch.h"

#include <stdlib.h>
#include <time.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "cmd/store/select.h"
#include "libsymcache/index/content.h"
#include "libsymcache/index/entry.h"

int fetch_create(const struct fetch_options *options, struct symcache_debuginfod **ret,
		 struct sc_error *err)
{
	int64_t retry = 0;
	int rc;

	*ret = NULL;
	if (!options->on)
		return 0;
	rc = parse_age(options->retry ? options->retry : "1d", &retry, err);
	if (rc)
		return rc;
	rc = symcache_debuginfod_create(retry, ret, err);
	if (rc)
		sc_error_prefix(err, "--");
	return rc;
}

static void fill(void *ctx, void *dst)
{
	symcache_build_write(ctx, dst);
}

static int put(struct symstore_writer *writer, struct symcache_build *build, const char *path,
	       const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symstore_entry entry = sc_entry_of_build(build, id, len, time(NULL));

	entry.source_path = path;
	entry.debug_path = symcache_build_info(build)->debug_path;
	sc_content_hash_file(path, &entry.source_hash, &entry.source_size);
	return symstore_put(writer, &entry, fill, build, NULL, err);
}

/* A cache, or if `build` is NULL, that there is none to be had. */
static int commit(struct symstore *store, struct symcache_build *build, const char *path,
		  const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symstore_writer *writer;
	int rc = symstore_write_begin(store, &writer, err);

	if (rc)
		return rc;
	rc = build ? put(writer, build, path, id, len, err) :
		     symcache_debuginfod_remember(writer, id, len, err);
	if (rc)
		symstore_abort(writer);
	return rc ? rc : symstore_commit(writer, err);
}

static int store_fetched(const char *store_option, struct symcache_build *build, const char *path,
			 const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symstore *store;
	int rc = open_store(store_option, SYMSTORE_WRITE, &store, err);

	if (rc)
		return rc;
	rc = commit(store, build, path, id, len, err);
	symstore_close(store);
	return rc;
}

int fetch_into_store(struct symcache_debuginfod *d, const char *store_option, const uint8_t *id,
		     size_t len, struct sc_error *err)
{
	struct symcache_files files = symcache_debuginfod_files(d);
	const struct symcache_build_options options = { .files = &files };
	struct symcache_build *build = NULL;
	struct sc_error ignored;
	char *path;
	int rc = symcache_debuginfod_get(d, id, len, &path, err);

	if (rc == SC_ENOTFOUND)
		store_fetched(store_option, NULL, NULL, id, len, &ignored);
	if (rc)
		return rc;
	rc = symcache_build_create(path, &options, &build, err);
	if (!rc) {
		warn_of_gaps(path, symcache_build_info(build));
		rc = store_fetched(store_option, build, path, id, len, err);
	}
	symcache_build_destroy(build);
	free(path);
	return rc;
}
