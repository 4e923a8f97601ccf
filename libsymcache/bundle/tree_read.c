/* Reading a tree in parts, from wherever its files come: see tree.h. In memory is one part. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/bundle/tree.h"
#include "libsymcache/packed/packed.h"

int tree_read_file(void *folder, const char *name, size_t max, struct bundle_file *f,
		   struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = sc_text("%s/%s", (const char *)folder, name);
	int rc;

	if (!path)
		return sc_no_memory(err);
	rc = bundle_read_file(path, max, f, err);
	return rc == SC_ESYS && errno == ENOENT ? sc_error_set(err, SC_ENOTFOUND, "it is not there") : rc;
}

int tree_top_take(const struct tree_source *from, const char *verify_key, const char *text,
		  size_t len, struct tree_top *ret, struct sc_error *err)
{
	struct bundle_file signature = { 0 };
	char name[TREE_NAME];
	int rc = 0;

	*ret = (struct tree_top){ 0 };
	if (verify_key)
		rc = from->read(from->ctx, tree_signature_name(text, len, name), MAX_SIGNATURE,
				&signature, err);
	if (!rc || rc == SC_ENOTFOUND)
		rc = bundle_verify(verify_key, text, len, rc ? NULL : signature.data, signature.len,
				   err);
	vec_deinit(&signature);
	return rc ? rc : tree_top_read(ret, text, len, err);
}

int tree_read_part(const struct tree_source *from, const struct tree_part *part,
		   struct bundle_file *f, struct sc_error *err)
{
	char name[TREE_NAME];
	int rc = from->read(from->ctx, tree_part_name(part, name), MANIFEST_MAX, f, err);

	return rc ? rc : tree_part_check(part, f->data, f->len, err);
}

/* An error that is of this file alone. */
static bool is_local(int rc)
{
	return rc == SC_ENOTFOUND || rc == SC_EFORMAT || rc == SC_EUNSUPPORTED;
}

static int give_entry(struct bundle_reading *b, const struct manifest_entry *e,
		      const struct tree_source *from, struct sc_error *err)
{
	struct bundle_file f = { 0 };
	char name[BUNDLE_NAME];
	struct sc_error why;
	int rc = from->read(from->ctx, bundle_hashed_name(e, name), tree_cache_max(e), &f, &why);

	if (rc && !is_local(rc)) {
		*err = why;
	} else if (rc) {
		rc = bundle_unread(b, name, &why, err);
	} else if (!packed_begins(f.data, f.len) ||
		   packed_total(f.data, f.len) != e->entry.cache_size) {
		bundle_fault(b, name, "not the packed cache of which the manifest speaks");
	} else {
		rc = groups_give(b, name, &f, e, err);
	}
	vec_deinit(&f);
	return rc;
}

static int give_part(struct bundle_reading *b, const struct tree_part *part,
		     const struct tree_source *from, struct sc_error *err)
{
	struct bundle_file f = { 0 };
	char name[TREE_NAME], file[BUNDLE_NAME];
	struct sc_error why;
	int rc = tree_read_part(from, part, &f, &why);

	if (!rc)
		rc = bundle_list(b, f.data, f.len, &why);
	vec_deinit(&f);
	if (is_local(rc))
		return bundle_unread(b, tree_part_name(part, name), &why, err);
	if (rc) {
		*err = why;
		return rc;
	}
	for (size_t i = 0, n; i < b->manifest.len && !rc; i += n ? n : 1) {
		const struct manifest_entry *e = &b->manifest.data[i];

		n = groups_at(&b->manifest, i);
		if (!tree_part_fits(part, e->entry.build_id, e->entry.build_id_len))
			bundle_fault(b, bundle_hashed_name(e, file), "listed in a part of other build IDs");
		else if (!bundle_wanted(b, &e->entry) || bundle_is_had(b, &e->entry))
			continue;
		else if (n == 1)
			rc = give_entry(b, e, from, err);
		else
			bundle_fault(b, bundle_hashed_name(e, file), "the manifest does not have it alone in its file");
	}
	return rc ? rc : groups_flush(b, err);
}

/* Does any of the build IDs that are asked for belong here? */
static bool part_wanted(const struct symbundle_reader *r, const struct tree_part *part)
{
	struct symstore_id first = { 0 };
	size_t at;

	if (!r->ids)
		return true;
	for (size_t i = 0; part->prefix[i]; i++)
		first.bytes[i / 2] |= (uint8_t)(sc_hex_digit(part->prefix[i]) << (i % 2 ? 0 : 4));
	at = symstore_ids_from(r->ids, r->num_ids, &first);
	return at < r->num_ids && tree_part_fits(part, r->ids[at].bytes, r->ids[at].len);
}

int tree_give(struct bundle_reading *b, const struct tree_source *from,
	      const struct bundle_file *manifest, struct sc_error *err)
{
	struct tree_top top;
	int rc = tree_top_take(from, b->r->verify_key, manifest->data, manifest->len, &top, err);

	b->has_manifest = true;
	b->total = b->r->ids ? b->r->num_ids : top.entries;
	for (size_t i = 0; i < top.len && !rc; i++)
		if (part_wanted(b->r, &top.data[i]))
			rc = give_part(b, &top.data[i], from, err);
	tree_top_deinit(&top);
	return rc;
}

struct part_read {
	struct manifest manifest;
	struct sc_error err;
};

struct parts_read {
	const struct tree_top *top;
	const struct tree_source *from;
	struct part_read *list;
};

static void read_part(void *ctx, unsigned worker, size_t i)
{
	struct parts_read *p = ctx;
	struct part_read *part = &p->list[i];
	struct bundle_file f = { 0 };

	(void)worker;
	if (!tree_read_part(p->from, &p->top->data[i], &f, &part->err))
		manifest_read(&part->manifest, f.data, f.len, &part->err);
	vec_deinit(&f);
}

/* Moves the entries of a part behind those of `m`. */
static int join(struct manifest *m, struct part_read *part, const struct tree_part *named,
		struct sc_error *err)
{
	char name[TREE_NAME];

	if (part->err.code)
		return sc_error_set(err, part->err.code, "%s: %s", tree_part_name(named, name), part->err.msg);
	if (!vec_reserve(m, part->manifest.len))
		return sc_no_memory(err);
	if (part->manifest.len)
		memcpy(m->data + m->len, part->manifest.data,
		       part->manifest.len * sizeof(*m->data));
	m->len += part->manifest.len;
	vec_deinit(&part->manifest); /* its strings are those of *m now */
	return 0;
}

int tree_read_manifest(const struct tree_top *top, const char *folder, struct manifest *m,
		       struct sc_error *err)
{
	const struct tree_source from = { tree_read_file, (void *)folder };
	struct parts_read p = { top, &from, calloc(top->len + 1, sizeof(*p.list)) };
	int rc = p.list ? 0 : sc_no_memory(err);

	if (!rc)
		sc_parallel(sc_cores(), top->len, read_part, &p);
	for (size_t i = 0; i < top->len && !rc; i++)
		rc = join(m, &p.list[i], &top->data[i], err);
	for (size_t i = 0; i < top->len && p.list; i++)
		manifest_deinit(&p.list[i].manifest);
	free(p.list);
	m->packed = true;
	manifest_sort(m);
	return rc;
}
