/* What entries are written against: see deltas.h. */
#include "libsymcache/bundle/deltas.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/str.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/write.h"

enum { TRIES = 8 }; /* so many entries of a name are looked at for the machine that they are for */

/* ---- the store ------------------------------------------------------------------ */

struct opening {
	struct deltas *d;
	void (*fault)(void *ctx, const char *why);
	void *ctx;
};

/* A store for what is in the bundle. */
static int make_store(void *ctx, struct symstore **ret, struct sc_error *err)
{
	struct deltas *d = ((struct opening *)ctx)->d;
	char *path __attribute__((cleanup(sc_free_text))) = NULL;

	if (!(d->folder = sc_text("%s/symcache-XXXXXX", sc_temp_folder())))
		return sc_no_memory(err);
	if (!mkdtemp(d->folder)) {
		free(d->folder);
		d->folder = NULL;
		return sc_error_sys(err, "cannot make a directory in %s (TMPDIR)", sc_temp_folder());
	}
	path = sc_text("%s/old.store", d->folder);
	return path ? symstore_open(path, SYMSTORE_WRITE, ret, err) : sc_no_memory(err);
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	const struct opening *o = ctx;
	char *text __attribute__((cleanup(sc_free_text))) = sc_text("%s: %s", name, why);

	if (o->fault && text)
		o->fault(o->ctx, text);
}

int deltas_open(struct deltas *d, const char *path, struct symstore_reader *exported,
		void (*fault)(void *ctx, const char *why), void *ctx, struct sc_error *err)
{
	struct opening o = { d, fault, ctx };
	const struct symbundle_import_options how = {
		.open_store = make_store, .fault = on_fault, .ctx = &o,
	};
	struct symbundle_imported done = { 0 };
	enum symbundle_shape shape = SYMBUNDLE_TREE;
	int rc;

	*d = (struct deltas){ 0 };
	if (sc_same_file(path, symstore_path(symstore_of(exported)))) {
		d->reader = exported;
		d->same = true;
		return 0;
	}
	rc = symbundle_is_one(path, &shape) && shape == SYMBUNDLE_STORE ?
		symstore_open(path, SYMSTORE_READ, &d->store, err) :
		symbundle_import(&d->store, path, &how, &done, err);
	return rc || !d->store ? rc : symstore_read_begin(d->store, &d->reader, err);
}

void deltas_close(struct deltas *d)
{
	if (!d->same)
		symstore_read_end(d->reader);
	symstore_close(d->store);
	if (d->folder)
		bundle_remove_part(d->folder);
	free(d->folder);
	*d = (struct deltas){ 0 };
}

/* ---- choosing ------------------------------------------------------------------- */

struct name {
	uint64_t hash; /* of the name, runs of digits being alike */
	size_t entry;
};

struct choice {
	const struct deltas *d;
	const struct manifest *m, *there;
	VEC(struct symstore_entry) entries; /* strings are in the snapshot */
	VEC(struct name) names;
	bool no_memory;
};

static uint64_t hash_name(const char *name, size_t len)
{
	char plain[SYMSTORE_TAG_MAX + 1];
	size_t n = 0;

	for (size_t i = 0; i < len && n < sizeof(plain); i++)
		if (!isdigit((unsigned char)name[i]))
			plain[n++] = name[i];
		else if (!n || plain[n - 1] != '0')
			plain[n++] = '0';
	return XXH3_64bits(plain, n);
}

/* Calls for each name of the entry's files; of what was indexed before entries had them, that of
 * the file. */
static void each_name(const struct symstore_entry *e,
		      void (*fn)(void *ctx, const char *name, size_t len), void *ctx)
{
	const struct sc_str file = sc_name_without_debug(sc_str_of(e->source_path));
	const char *at = e->names, *one;
	size_t len;

	if (!at || !*at)
		fn(ctx, file.ptr, file.len);
	else
		while ((len = symstore_tags_next(&at, &one)))
			fn(ctx, one, len);
}

static void add_name(void *ctx, const char *name, size_t len)
{
	struct choice *c = ctx;
	struct name *added = len ? vec_push(&c->names) : NULL;

	c->no_memory |= len && !added;
	if (added)
		*added = (struct name){ hash_name(name, len), c->entries.len - 1 };
}

static bool add_entry(void *ctx, const struct symstore_entry *entry)
{
	struct choice *c = ctx;
	struct symstore_entry *added;

	if (c->d->same && manifest_find(c->m, entry->build_id, entry->build_id_len))
		return true;
	added = vec_push(&c->entries);
	c->no_memory |= !added;
	if (!added)
		return false;
	*added = *entry;
	each_name(entry, add_name, c);
	return !c->no_memory;
}

static int by_hash(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	return x->hash != y->hash ? (x->hash > y->hash ? 1 : -1) :
	       (x->entry > y->entry) - (x->entry < y->entry);
}

/* An entry that may do. */
struct candidate {
	size_t entry;
	bool same_id;
	unsigned names; /* that are the same */
	int64_t time;
};

struct search {
	struct choice *c;
	const struct symstore_entry *of;
	VEC(struct candidate) list;
};

struct counting {
	const char *in;
	unsigned n;
};

static void count_name(void *ctx, const char *name, size_t len)
{
	struct counting *counting = ctx;
	const char *at = counting->in, *one;
	size_t n;

	while ((n = symstore_tags_next(&at, &one)) && (n != len || memcmp(one, name, n)))
		;
	counting->n += n > 0;
}

static void add_candidates(void *ctx, const char *name, size_t len)
{
	struct search *s = ctx;
	const struct choice *c = s->c;
	const uint64_t hash = hash_name(name, len);
	size_t i = SC_SEARCH(k, c->names.len, c->names.data[k].hash < hash);

	for (; len && i < c->names.len && c->names.data[i].hash == hash; i++) {
		const struct symstore_entry *e = &c->entries.data[c->names.data[i].entry];
		struct counting same = { e->names ? e->names : "" };
		struct candidate *added;

		if ((e->sources ^ s->of->sources) & SYMCACHE_FROM_NAMES)
			continue;
		if (!(added = vec_push(&s->list))) {
			s->c->no_memory = true;
			return;
		}
		each_name(s->of, count_name, &same);
		*added = (struct candidate){
			c->names.data[i].entry, e->build_id_len == s->of->build_id_len &&
			!memcmp(e->build_id, s->of->build_id, e->build_id_len), same.n, e->time,
		};
	}
}

/* The best first; entries are in the order of their build IDs. */
static int by_fitness(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	return x->same_id != y->same_id ? (x->same_id ? -1 : 1) :
	       x->names != y->names ? (x->names > y->names ? -1 : 1) :
	       x->time != y->time ? (x->time > y->time ? -1 : 1) :
	       x->entry != y->entry ? (x->entry > y->entry ? -1 : 1) : 0;
}

/* The machine that an entry is for; *hash (if not NULL): of its bytes. False: it is damaged. */
static bool look_at(struct symstore_reader *reader, const struct symstore_entry *e, uint32_t *arch,
		    struct sc_hash *hash)
{
	struct bundle_cache cache;
	struct symcache opened;
	bool ok = !bundle_get_cache(reader, e, false, &cache, NULL) &&
		  !symcache_open(&opened, cache.data, cache.size, NULL) &&
		  (!hash || XXH3_64bits(cache.data, cache.size) == e->cache_hash);

	if (ok)
		*arch = opened.header->arch;
	if (ok && hash)
		*hash = sc_hash_of(cache.data, cache.size);
	free(cache.made);
	return ok;
}

/* Is another cache listed under its build ID? */
static bool is_other(const struct manifest *m, const struct symstore_entry *old)
{
	const struct manifest_entry *e = manifest_find(m, old->build_id, old->build_id_len);

	return e &&
	       (e->entry.cache_size != old->cache_size || e->entry.cache_hash != old->cache_hash);
}

/* Is it another cache after the import? Then it may be gone when it is needed. */
static bool is_replaced(const struct choice *c, const struct symstore_entry *old)
{
	return is_other(c->m, old) || is_other(c->there, old);
}

static void choose(struct choice *c, struct symstore_reader *exported, struct manifest_entry *e)
{
	struct search s = { .c = c, .of = &e->entry };
	size_t last = SIZE_MAX;
	uint32_t arch, its;
	struct sc_hash hash;
	int tries = 0;

	each_name(&e->entry, add_candidates, &s);
	if (s.list.len)
		qsort(s.list.data, s.list.len, sizeof(*s.list.data), by_fitness);
	if (s.list.len && !look_at(exported, &e->entry, &arch, NULL))
		s.list.len = 0;
	for (size_t i = 0; i < s.list.len && tries < TRIES && !e->old.len; i++) {
		const struct symstore_entry *old = &c->entries.data[s.list.data[i].entry];

		if (s.list.data[i].entry == last ||
		    (!s.list.data[i].same_id && is_replaced(c, old)))
			continue;
		last = s.list.data[i].entry;
		tries++;
		if (!look_at(c->d->reader, old, &its, &hash) || its != arch)
			continue;
		e->old.len = old->build_id_len;
		memcpy(e->old.bytes, old->build_id, old->build_id_len);
		e->old_hash = hash;
	}
	vec_deinit(&s.list);
	symstore_let_go(exported);
	symstore_let_go(c->d->reader);
}

int deltas_choose(const struct deltas *d, struct symstore_reader *exported, struct manifest *m,
		  const struct manifest *there, struct sc_error *err)
{
	struct choice c = { .d = d, .m = m, .there = there };
	int rc;

	if (!d->reader)
		return 0;
	manifest_sort(m);
	rc = symstore_each(d->reader, NULL, 0, add_entry, &c, err);
	if (c.names.len)
		qsort(c.names.data, c.names.len, sizeof(*c.names.data), by_hash);
	for (size_t i = 0; i < m->len && !rc && !c.no_memory; i++)
		choose(&c, exported, &m->data[i]);
	vec_deinit(&c.entries);
	vec_deinit(&c.names);
	return rc || !c.no_memory ? rc : sc_no_memory(err);
}
