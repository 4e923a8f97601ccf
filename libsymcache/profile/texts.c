/* Texts by numbers: see texts.h. */
#include "libsymcache/profile/texts.h"

#include <xxhash.h>

uint64_t prof_hash(const void *bytes, size_t len)
{
	static const char somewhere; /* in each process */

	return XXH3_64bits_withSeed(bytes, len, (uintptr_t)&somewhere);
}

void prof_texts_clear(struct prof_texts *t)
{
	vec_clear(&t->list);
	vec_clear(&t->bytes);
	sc_intern_clear(&t->set);
}

void prof_texts_deinit(struct prof_texts *t)
{
	vec_deinit(&t->list);
	vec_deinit(&t->bytes);
	sc_intern_deinit(&t->set);
}

struct text_key {
	const struct prof_texts *t;
	struct sc_str text;
};

static bool text_equal(const void *ctx, uint32_t i)
{
	const struct text_key *k = ctx;

	return sc_str_same(prof_texts_at(k->t, i), k->text);
}

uint32_t prof_texts_add(struct prof_texts *t, const char *text, size_t len)
{
	const struct text_key key = { t, { text, len } };
	uint32_t *slot = sc_intern_find(&t->set, prof_hash(len ? text : "", len), text_equal,
					&key);
	struct prof_text_at *added;

	if (!slot || *slot != SC_INTERN_NEW)
		return slot ? *slot : PROF_NONE;
	/* A NUL behind each, so that none has no address. */
	if (t->list.len >= PROF_NONE || !vec_reserve(&t->bytes, len + 1) ||
	    !(added = vec_push(&t->list)))
		return PROF_NONE;
	added->at = t->bytes.len;
	added->len = len;
	if (len)
		memcpy(t->bytes.data + t->bytes.len, text, len);
	t->bytes.data[t->bytes.len + len] = 0;
	t->bytes.len += len + 1;
	return *slot = (uint32_t)(t->list.len - 1);
}

uint32_t prof_texts_find(const struct prof_texts *t, struct sc_str text)
{
	const struct text_key key = { t, text };

	return sc_intern_get(&t->set, prof_hash(text.len ? text.ptr : "", text.len), text_equal,
			     &key);
}
