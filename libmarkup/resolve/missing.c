/* Modules with addresses that found nothing: see missing.h. */
#include "libmarkup/resolve/missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/error.h"

void mk_modules_deinit(struct mk_modules *t)
{
	for (uint32_t i = 0; i < t->len; i++)
		free(t->entries[i]);
	free(t->entries);
	free(t->index);
	*t = (struct mk_modules){ 0 };
}

static uint32_t hash_bytes(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t h = len;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

static struct sc_str cut_off(struct sc_str name)
{
	if (name.len > MISSING_NAME_MAX)
		name.len = MISSING_NAME_MAX;
	return name;
}

/* The slot of this build ID, or of this name if there is none: its own, or the free one it
 * would take. */
static uint32_t *find_slot(const struct mk_modules *t, struct sc_str name,
			   const uint8_t *id, size_t len)
{
	uint32_t at;

	name = cut_off(name);
	for (at = len ? hash_bytes(id, len) : hash_bytes(name.ptr, name.len);; at++) {
		uint32_t *slot = &t->index[at & (t->slots - 1)];
		if (!*slot)
			return slot;
		const struct markup_module *e = t->entries[*slot - 1];
		if (e->build_id_len == len &&
		    (len ? !memcmp(e->build_id, id, len) :
			   e->name.len == name.len && !memcmp(e->name.ptr, name.ptr, name.len)))
			return slot;
	}
}

/* Makes room for one more. */
static bool grow(struct mk_modules *t)
{
	if (t->len < t->cap)
		return true;
	uint32_t cap = t->cap ? t->cap * 2 : 32;
	struct markup_module **entries = realloc(t->entries, cap * sizeof(*entries));
	uint32_t *index = calloc(2 * cap, sizeof(*index));
	t->entries = entries ? entries : t->entries;
	if (!entries || !index) {
		free(index);
		sc_memory_refused();
		return false;
	}
	free(t->index);
	t->index = index;
	t->slots = 2 * cap;
	t->cap = cap;
	for (uint32_t i = 0; i < t->len; i++)
		*find_slot(t, entries[i]->name, entries[i]->build_id,
			   entries[i]->build_id_len) = i + 1;
	return true;
}

struct markup_module *mk_modules_entry(struct mk_modules *t, struct sc_str name,
					const uint8_t *build_id, size_t build_id_len)
{
	uint32_t *slot = t->slots ? find_slot(t, name, build_id, build_id_len) : NULL;

	if (slot && *slot)
		return t->entries[*slot - 1];
	if (t->len == MISSING_MAX || build_id_len > MISSING_ID_MAX || !grow(t))
		return NULL;
	name = cut_off(name);
	struct markup_module *e = malloc(sizeof(*e) + build_id_len + name.len);
	if (!e) {
		sc_memory_refused();
		return NULL;
	}
	char *bytes = (char *)(e + 1);
	*e = (struct markup_module){
		.name = { bytes + build_id_len, name.len },
		.build_id = (const uint8_t *)bytes,
		.build_id_len = build_id_len,
	};
	if (build_id_len)
		memcpy(bytes, build_id, build_id_len);
	if (name.len)
		memcpy(bytes + build_id_len, name.ptr, name.len);
	t->entries[t->len++] = e;
	*find_slot(t, e->name, e->build_id, e->build_id_len) = t->len;
	return e;
}

void mk_modules_list(struct mk_modules *t, const struct markup_module *m)
{
	struct markup_module *e = mk_modules_entry(t, m->name, m->build_id, m->build_id_len);

	if (e && m->symbols)
		e->symbols = m->symbols;
}

void mk_modules_add(struct mk_modules *t, const struct markup_module *m)
{
	struct markup_module *e = mk_modules_entry(t, m->name, m->build_id, m->build_id_len);

	if (!e)
		return;
	e->frames += m->frames;
	e->unplaced += m->unplaced;
	e->no_symbols |= m->no_symbols;
	e->other_build |= m->other_build;
	e->table_only |= m->table_only;
}

const struct markup_module *mk_modules_find(const struct mk_modules *t, struct sc_str name,
					    const uint8_t *build_id, size_t build_id_len)
{
	const uint32_t *slot = t->slots ? find_slot(t, name, build_id, build_id_len) : NULL;
	return slot && *slot ? t->entries[*slot - 1] : NULL;
}

static int by_frames(const void *a, const void *b)
{
	const struct markup_module *x = *(struct markup_module *const *)a;
	const struct markup_module *y = *(struct markup_module *const *)b;
	size_t len = x->build_id_len < y->build_id_len ? x->build_id_len : y->build_id_len;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	int order = memcmp(x->build_id, y->build_id, len);
	if (order || x->build_id_len != y->build_id_len)
		return order ? order : x->build_id_len > y->build_id_len ? 1 : -1;
	len = x->name.len < y->name.len ? x->name.len : y->name.len;
	order = memcmp(x->name.ptr, y->name.ptr, len);
	return order ? order : (x->name.len > y->name.len) - (x->name.len < y->name.len);
}

int mk_modules_each(const struct mk_modules *t,
		    void (*fn)(void *ctx, const struct markup_module *m), void *ctx)
{
	size_t size = t->len * sizeof(*t->entries);
	struct markup_module **sorted;

	if (!size)
		return 0;
	sorted = malloc(size);
	if (!sorted) {
		sc_memory_refused();
		return -ENOMEM;
	}
	memcpy(sorted, t->entries, size);
	qsort(sorted, t->len, sizeof(*sorted), by_frames);
	for (uint32_t i = 0; i < t->len; i++)
		fn(ctx, sorted[i]);
	free(sorted);
	return 0;
}
