/* Modules with addresses that found nothing: see missing.h. */
#include "libmarkup/missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void mk_missing_deinit(struct missing_table *t)
{
	for (uint32_t i = 0; i < t->len; i++)
		free(t->entries[i]);
	free(t->entries);
	free(t->index);
	*t = (struct missing_table){ 0 };
}

static uint32_t hash_id(const uint8_t *id, size_t len)
{
	uint64_t h = len;
	for (size_t i = 0; i < len; i++)
		h = (h ^ id[i]) * 0x100000001b3u;
	return (uint32_t)(h ^ h >> 32);
}

/* The slot of this build ID: its own, or the free one it would take. */
static uint32_t *find_slot(const struct missing_table *t, const uint8_t *id, size_t len)
{
	uint32_t at = hash_id(id, len);

	for (;; at++) {
		uint32_t *slot = &t->index[at & (t->slots - 1)];
		if (!*slot)
			return slot;
		const struct markup_missing *e = t->entries[*slot - 1];
		if (e->build_id_len == len && !memcmp(e->build_id, id, len))
			return slot;
	}
}

/* Makes room for one more. */
static bool grow(struct missing_table *t)
{
	if (t->len < t->cap)
		return true;
	uint32_t cap = t->cap ? t->cap * 2 : 32;
	struct markup_missing **entries = realloc(t->entries, cap * sizeof(*entries));
	if (!entries)
		return false;
	t->entries = entries;
	uint32_t *index = calloc(2 * cap, sizeof(*index));
	if (!index)
		return false;
	free(t->index);
	t->index = index;
	t->slots = 2 * cap;
	t->cap = cap;
	for (uint32_t i = 0; i < t->len; i++)
		*find_slot(t, entries[i]->build_id, entries[i]->build_id_len) = i + 1;
	return true;
}

struct markup_missing *mk_missing_entry(struct missing_table *t, const struct markup_module *m,
					bool *added)
{
	uint32_t *slot = t->slots ? find_slot(t, m->build_id, m->build_id_len) : NULL;

	*added = false;
	if (slot && *slot)
		return t->entries[*slot - 1];
	if (t->len == MISSING_MAX || m->build_id_len > MISSING_ID_MAX || !grow(t))
		return NULL;
	size_t name_len = m->name.len < MISSING_NAME_MAX ? m->name.len : MISSING_NAME_MAX;
	struct markup_missing *e = malloc(sizeof(*e) + m->build_id_len + name_len);
	if (!e)
		return NULL;
	char *bytes = (char *)(e + 1);
	*e = (struct markup_missing){
		.name = { bytes + m->build_id_len, name_len },
		.build_id = (const uint8_t *)bytes,
		.build_id_len = m->build_id_len,
	};
	memcpy(bytes, m->build_id, m->build_id_len);
	memcpy(bytes + m->build_id_len, m->name.ptr, name_len);
	t->entries[t->len++] = e;
	*find_slot(t, e->build_id, e->build_id_len) = t->len;
	*added = true;
	return e;
}
