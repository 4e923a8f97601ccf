/*
 * An archive as a bundle, read as a stream: one member is in memory at a time, nothing
 * goes to disk, and a member's name is used for its build ID alone.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/archive/archive.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/packed/packed.h"

/* The current file as a whole. */
static int read_member(struct symarchive *a, struct bundle_file *m, size_t max,
		       struct sc_error *err)
{
	size_t n;
	int rc;

	vec_clear(m);
	do {
		if (!vec_reserve(m, 1))
			return sc_no_memory(err);
		if ((rc = symarchive_read(a, m->data + m->len, m->cap - m->len, &n, err)))
			return rc;
		m->len += n;
		if (m->len > max)
			return sc_error_set(err, SC_EFORMAT, "a file in it is larger than %zu bytes",
					    max);
	} while (n);
	return 0;
}

/* Those who need nothing of a file that is what changed need not have the old entry either: it may
 * be the one that this replaced. */
static bool is_needed(struct bundle_reading *b, const struct manifest_entry *e)
{
	return !e->old.len || (bundle_wanted(b, &e->entry) && !bundle_is_had(b, &e->entry));
}

static int give_member(struct bundle_reading *b, const char *name, struct bundle_file *m,
		       struct sc_error *err)
{
	const bool packed = packed_begins(m->data, m->len);
	const struct manifest_entry *e = NULL;
	struct symstore_id id;

	if (!b->has_manifest)
		return packed ? groups_give(b, name, m, NULL, err) :
				bundle_give_unlisted(b, name, m->data, m->len, err);
	if (bundle_id_of_name(name, &id))
		e = manifest_find(&b->manifest, id.bytes, id.len);
	if (e && packed && !b->seen[e - b->manifest.data] &&
	    groups_at(&b->manifest, (size_t)(e - b->manifest.data))) {
		b->seen[e - b->manifest.data] = true;
		return is_needed(b, e) ? groups_give(b, name, m, e, err) : 0;
	}
	if (!e || packed) {
		bundle_fault(b, name, "the manifest does not have it");
		return 0;
	}
	b->seen[e - b->manifest.data] = true;
	return bundle_give(b, e, &e->entry, name, (struct bundle_bytes){ m->data, m->len }, err);
}

/* The manifest and its signature come first, before the caches, or not at all. */
static int read_members(struct bundle_reading *b, struct symarchive *a,
			struct bundle_file *manifest, struct bundle_file *m, struct sc_error *err)
{
	bool begun = false;
	const char *name;
	int rc;

	while (!(rc = symarchive_next(a, &name, err))) {
		bool is_signature = !begun && !strcmp(name, SIGNATURE_NAME);

		if (!begun && !manifest->data && !strcmp(name, SYMBUNDLE_MANIFEST)) {
			if ((rc = read_member(a, manifest, MANIFEST_MAX, err)))
				return rc;
			continue;
		}
		if ((rc = read_member(a, m, MAX_CACHE, err)))
			return rc;
		if (!begun && (rc = bundle_begin(b, manifest->data, manifest->len,
						 is_signature ? m->data : NULL, m->len, err)))
			return rc;
		begun = true;
		if (!is_signature && (rc = give_member(b, name, m, err)))
			return rc;
	}
	if (rc != SC_ENOTFOUND)
		return rc;
	if (!begun && (rc = bundle_begin(b, manifest->data, manifest->len, NULL, 0, err)))
		return rc;
	bundle_name_missing(b);
	return 0;
}

static int open_archive(int fd, uint64_t *budget, struct symarchive **ret, struct sc_error *err)
{
	struct stat st;
	int rc;

	*ret = NULL;
	if (fstat(fd, &st))
		return sc_error_sys(err, "cannot read");
	/* What comes through a pipe has no size to be measured by. */
	*budget = symarchive_budget(S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0);
	rc = symarchive_open(fd, S_ISREG(st.st_mode) ? budget : NULL, ret, err);
	return rc == SC_EUNSUPPORTED ? sc_error_set(err, SC_EFORMAT, "not a bundle") : rc;
}

int bundle_manifest_of_archive(int fd, struct bundle_file *f, struct sc_error *err)
{
	struct symarchive *a;
	uint64_t budget;
	const char *name;
	int rc = open_archive(fd, &budget, &a, err);

	if (!rc)
		rc = symarchive_next(a, &name, err);
	if (!rc && strcmp(name, SYMBUNDLE_MANIFEST))
		rc = sc_error_set(err, SC_EFORMAT, "it has no manifest");
	if (!rc)
		rc = read_member(a, f, MANIFEST_MAX, err);
	symarchive_close(a);
	return rc;
}

int bundle_read_archive(struct bundle_reading *b, int fd, struct sc_error *err)
{
	struct bundle_file manifest = { 0 }, m = { 0 };
	struct symarchive *a;
	uint64_t budget;
	int rc = open_archive(fd, &budget, &a, err);

	if (!rc)
		rc = read_members(b, a, &manifest, &m, err);
	symarchive_close(a);
	vec_deinit(&manifest);
	vec_deinit(&m);
	return rc;
}
