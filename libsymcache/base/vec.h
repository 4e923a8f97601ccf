/*
 * A typed growing array: VEC(struct row) rows = {0};
 *
 *   struct row *r = vec_push(&rows);       one more, zeroed; NULL: out of memory
 *   for (size_t i = 0; i < rows.len; i++)  rows.data[i] …
 *   vec_deinit(&rows);
 *
 * Elements move when it grows: keep indices, not pointers. A large one is on huge pages,
 * which move without being copied.
 */
#ifndef SC_VEC_H
#define SC_VEC_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/bigmem.h"

#define VEC(T) struct { T *data; size_t len, cap; }

/* Room for `more` further elements. True on success. */
#define vec_reserve(v, more) \
	vec_reserve_((void **)&(v)->data, &(v)->cap, (v)->len, (more), sizeof(*(v)->data))

#define vec_push(v) \
	((__typeof__((v)->data))(vec_reserve(v, 1) ? \
		memset((v)->data + (v)->len++, 0, sizeof(*(v)->data)) : NULL))

#define vec_clear(v) ((void)((v)->len = 0))

/* Behind the last element; NULL of a list that never had one, to which C adds nothing. */
#define vec_end(v) ((v)->len ? (v)->data + (v)->len : (v)->data)

#define vec_deinit(v) \
	(sc_big_free((v)->data, (v)->cap * sizeof(*(v)->data)), \
	 (void)((v)->data = NULL, (v)->len = (v)->cap = 0))

static inline int vec_reserve_(void **data, size_t *cap, size_t len, size_t more, size_t elem)
{
	size_t want, max = (size_t)-1 / 2 / elem;
	void *p;

	if (more <= *cap - len)
		return 1;
	if (len > max || more > max - len)
		return 0;
	want = *cap + (*cap < SC_BIG_PAGE / elem ? *cap : *cap / 2) + 16; /* what is small is copied */
	if (want < len + more)
		want = len + more;
	p = sc_big_grow(*data, *cap * elem, want * elem);
	if (!p)
		return 0;
	*data = p;
	*cap = want;
	return 1;
}

#endif
