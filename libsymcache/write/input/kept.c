/* Pieces of a section: see kept.h. */
#include "libsymcache/write/input/kept.h"

bool sc_keep(struct sc_kept *k, const struct dw_section *s, uint64_t start, uint64_t end)
{
	const size_t size = (size_t)(end - start);
	uint8_t *bytes = sc_big_alloc(size);
	struct sc_kept_piece *piece = bytes ? vec_push(&k->list) : NULL;

	if (!piece) {
		sc_big_free(bytes, size);
		return false;
	}
	memcpy(bytes, s->data + start, size);
	*piece = (struct sc_kept_piece){ start, size, bytes };
	return true;
}

void sc_kept_put_back(const struct sc_kept *k, const struct dw_section *s)
{
	uint8_t *to = (uint8_t *)(uintptr_t)s->data;

	if (s->size < SC_BIG_PAGE) /* so that a small section, too, shows what was forgotten */
		memset(to, 0, s->size);
	sc_big_drop(to, s->size);
	for (size_t i = 0; i < k->list.len; i++)
		memcpy(to + k->list.data[i].offset, k->list.data[i].bytes, k->list.data[i].size);
}

void sc_kept_deinit(struct sc_kept *k)
{
	for (size_t i = 0; i < k->list.len; i++)
		sc_big_free(k->list.data[i].bytes, k->list.data[i].size);
	vec_deinit(&k->list);
}
