/* Bundles: see <symcache-build.h>. Of the other library, as build.c. */
#include <symcache-build.h>

#include "libsymcache/api/private.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/write/build.h"

/* The store of a handle; counts of `ret` are to be known. */
static int begin(struct symcache_store *s, const char *path, const struct symcache_counts *ret,
		 bool write, struct symstore **store, struct symcache_error *err)
{
	if (!path)
		return api_error(err, SC_EINVAL, "NULL in place of a path");
	if (ret && ret->size < sizeof(*ret))
		return api_error(err, SC_EINVAL, "unknown options");
	return symcache_private_store(s, symcache_version, write, store, err);
}

int symcache_store_export_bundle(struct symcache_store *s, const char *path,
				 const struct symcache_export_options *options,
				 struct symcache_counts *ret, struct symcache_error *err)
{
	static const struct symcache_export_options none = { .size = sizeof(none) };
	const struct symcache_export_options *o = options ? options : &none;
	const char *const tags[] = { o->tag, NULL };
	const struct symstore_selection tagged = { SYMSTORE_ANY, .tags = tags };
	const struct symbundle_export_options how = {
		.choose = o->tag ? &tagged : NULL, .delta_from = o->delta_from, .sign_key = o->sign_key,
		.names_only = o->flags & SYMCACHE_EXPORT_NAMES, .level = (int)o->level,
	};
	struct symbundle_exported done = { 0 };
	struct symstore_reader *reader;
	struct sc_error e;
	struct symstore *store;
	int rc;

	if (!api_fits(o) || o->flags & ~SYMCACHE_EXPORT_NAMES || o->level > PACKED_LEVEL_MAX)
		return api_error(err, SC_EINVAL, "unknown options");
	if ((rc = begin(s, path, ret, false, &store, err)))
		return rc;
	rc = symstore_read_begin(store, &reader, &e);
	if (!rc)
		rc = symbundle_export(reader, path, symbundle_shape_of(path), &how, &done, &e);
	symstore_read_end(reader);
	if (ret) {
		ret->done = done.exported;
		ret->stayed = done.as_before;
		ret->none = 0;
		ret->failed = done.damaged;
	}
	return rc ? api_fail(err, &e) : 0;
}

int symcache_store_export(struct symcache_store *s, const char *path, const char *tag,
			  struct symcache_counts *ret, struct symcache_error *err)
{
	const struct symcache_export_options o = { .size = sizeof(o), .tag = tag };

	return symcache_store_export_bundle(s, path, &o, ret, err);
}

/* Of two that are equally good the imported one may be taken: then it is counted as that. */
static void on_conflict(void *stayed, const struct symstore_entry *entry, bool taken)
{
	(void)entry;
	*(uint64_t *)stayed += !taken;
}

int symcache_store_import(struct symcache_store *s, const char *path, const char *verify_key,
			  struct symcache_counts *ret, struct symcache_error *err)
{
	uint64_t stayed = 0;
	const struct symbundle_import_options how = {
		.verify_key = verify_key, .conflict = on_conflict, .ctx = &stayed,
	};
	struct symbundle_imported done = { 0 };
	struct sc_error e;
	struct symstore *store;
	int rc = begin(s, path, ret, true, &store, err);

	if (rc)
		return rc;
	rc = symbundle_import(&store, path, &how, &done, &e);
	if (ret) {
		ret->done = done.imported;
		ret->stayed = stayed + done.unchanged + done.better_in_store + done.kept;
		ret->none = 0;
		ret->failed = done.bad;
	}
	return rc ? api_fail(err, &e) : 0;
}
