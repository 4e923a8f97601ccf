/* texts.h: texts by numbers; equal ones have the same. */
#ifndef SC_PROFILE_TEXTS_H
#define SC_PROFILE_TEXTS_H

#include "libsymcache/base/intern.h"
#include "libsymcache/base/str.h"
#include "libsymcache/base/vec.h"

#define PROF_NONE 0xffffffffu

struct prof_text_at {
	size_t at, len;
};

/* All zero: none. */
struct prof_texts {
	VEC(struct prof_text_at) list;
	VEC(char) bytes;
	struct sc_intern set;
};

void prof_texts_clear(struct prof_texts *t);
void prof_texts_deinit(struct prof_texts *t);

/* The number of a text, which is copied; PROF_NONE: out of memory. */
uint32_t prof_texts_add(struct prof_texts *t, const char *text, size_t len);

/* The number of a text that is there, or PROF_NONE. */
uint32_t prof_texts_find(const struct prof_texts *t, struct sc_str text);

/* Of numbers that a profile chooses: no one can choose them so that all meet in one slot. What
 * comes out does not depend on it. */
uint64_t prof_hash(const void *bytes, size_t len);

/* A text, until the next one is added. */
static inline struct sc_str prof_texts_at(const struct prof_texts *t, uint32_t text)
{
	return (struct sc_str){ t->bytes.data + t->list.data[text].at, t->list.data[text].len };
}

#endif
