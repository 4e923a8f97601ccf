/* The tables of a cache under construction: see tables.h. */
#include "libsymcache/build/tables.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

void sc_tables_deinit(struct sc_tables *t)
{
	for (size_t i = 0; i < t->copies.len; i++)
		free(t->copies.data[i]);
	vec_deinit(&t->copies);
	vec_deinit(&t->strings);
	vec_deinit(&t->files);
	vec_deinit(&t->functions);
	vec_deinit(&t->calls);
	sc_intern_deinit(&t->string_set);
	sc_intern_deinit(&t->file_set);
	sc_intern_deinit(&t->function_set);
	sc_intern_deinit(&t->call_set);
}

struct string_key {
	const struct sc_tables *t;
	struct sc_string s;
};

static bool same_string(const void *ctx, uint32_t i)
{
	const struct string_key *k = ctx;
	const struct sc_string *s = &k->t->strings.data[i];

	return s->len == k->s.len && !memcmp(s->ptr, k->s.ptr, s->len);
}

#define COPY_BLOCK 65536

/* A copy of the string that lasts as long as the tables. NULL: out of memory. */
static const char *copy(struct sc_tables *t, const char *s, size_t len)
{
	char **block;

	if (t->copies_left < len + 1) {
		size_t size = len + 1 > COPY_BLOCK ? len + 1 : COPY_BLOCK;

		block = vec_push(&t->copies);
		if (!block)
			return NULL;
		*block = malloc(size);
		if (!*block)
			return NULL;
		t->copies_left = size;
		t->copies_end = *block + size;
	}
	s = memcpy(t->copies_end - t->copies_left, s, len + 1);
	t->copies_left -= len + 1;
	return s;
}

/* `s` is not empty. */
static inline __attribute__((always_inline)) bool
intern_string(struct sc_tables *t, const char *s, bool passing, uint32_t *ret)
{
	struct string_key key = { .t = t };
	struct sc_string *added;
	uint32_t *slot;
	size_t len;

	if (t->string_bytes > UINT32_MAX)
		return true;
	len = strlen(s);
	if (len >= UINT32_MAX)
		return false;
	key.s = (struct sc_string){ s, (uint32_t)len };
	slot = sc_intern_find(&t->string_set, XXH3_64bits(s, len), same_string, &key);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		added = vec_push(&t->strings);
		if (!added)
			return false;
		if (passing || (size_t)(s - t->transient) < t->transient_size)
			key.s.ptr = copy(t, s, len);
		if (!key.s.ptr)
			return false;
		*added = key.s;
		*slot = (uint32_t)t->strings.len - 1;
		t->string_bytes += len;
	}
	*ret = *slot;
	return true;
}

bool sc_table_string(struct sc_tables *t, const char *s, uint32_t *ret)
{
	size_t place = ((uintptr_t)s ^ (uintptr_t)s >> 12) % 4096;

	*ret = SC_NONE;
	if (!s || !*s)
		return true;
	if (t->recent[place].ptr == s) {
		*ret = t->recent[place].number;
		return true;
	}
	if (!intern_string(t, s, false, ret))
		return false;
	if (*ret != SC_NONE) {
		t->recent[place].ptr = s;
		t->recent[place].number = *ret;
	}
	return true;
}

bool sc_table_passing_string(struct sc_tables *t, const char *s, uint32_t *ret)
{
	*ret = SC_NONE;
	return !s || !*s || intern_string(t, s, true, ret);
}

/* Records without padding are equal if their bytes are. */
#define TABLE_OF_RECORDS(name, type, vec, set)                                        \
	struct name##_key {                                                            \
		const struct sc_tables *t;                                             \
		const struct type *r;                                                  \
	};                                                                             \
	static bool same_##name(const void *ctx, uint32_t i)                           \
	{                                                                              \
		const struct name##_key *k = ctx;                                      \
		return !memcmp(&k->t->vec.data[i], k->r, sizeof(*k->r));               \
	}                                                                              \
	bool sc_table_##name(struct sc_tables *t, const struct type *r, uint32_t *ret) \
	{                                                                              \
		struct name##_key key = { t, r };                                      \
		uint32_t *slot = sc_intern_find(&t->set, XXH3_64bits(r, sizeof(*r)),   \
						same_##name, &key);                    \
		struct type *added;                                                    \
		if (!slot)                                                             \
			return false;                                                  \
		if (*slot == SC_INTERN_NEW) {                                          \
			added = vec_push(&t->vec);                                     \
			if (!added)                                                    \
				return false;                                          \
			*added = *r;                                                   \
			*slot = (uint32_t)t->vec.len - 1;                              \
		}                                                                      \
		*ret = *slot;                                                          \
		return true;                                                           \
	}

TABLE_OF_RECORDS(function, sc_function, functions, function_set)
TABLE_OF_RECORDS(call, sc_location, calls, call_set)

void sc_table_calls_new_unit(struct sc_tables *t)
{
	sc_intern_clear(&t->call_set);
}

TABLE_OF_RECORDS(file_record, sc_file, files, file_set)

bool sc_table_file(struct sc_tables *t, const char *comp_dir, const char *dir,
		   const char *name, uint32_t *ret)
{
	struct sc_file f;

	*ret = SC_NONE;
	if (!name || !*name)
		return true;
	return sc_table_string(t, comp_dir, &f.comp_dir) && sc_table_string(t, dir, &f.dir) &&
	       sc_table_string(t, name, &f.name) && sc_table_file_record(t, &f, ret);
}

/* ---- tables to tables ------------------------------------------------------------- */

static uint32_t *new_map(size_t n)
{
	return malloc((n ? n : 1) * sizeof(uint32_t));
}

void sc_maps_deinit(struct sc_maps *m)
{
	free(m->strings);
	free(m->files);
	free(m->functions);
}

static bool take_copies(struct sc_tables *to, struct sc_tables *from)
{
	if (!vec_reserve(&to->copies, from->copies.len))
		return false;
	for (size_t i = 0; i < from->copies.len; i++)
		to->copies.data[to->copies.len++] = from->copies.data[i];
	from->copies.len = from->copies_left = 0;
	return true;
}

bool sc_tables_add(struct sc_tables *to, struct sc_tables *from, struct sc_maps *m)
{
	bool ok = (m->strings = new_map(from->strings.len)) &&
		  (m->files = new_map(from->files.len)) &&
		  (m->functions = new_map(from->functions.len));

	ok = ok && take_copies(to, from);
	for (size_t i = 0; ok && i < from->strings.len; i++)
		ok = sc_table_string(to, from->strings.data[i].ptr, &m->strings[i]);
	for (size_t i = 0; ok && i < from->files.len; i++) {
		struct sc_file f = from->files.data[i];
		f.comp_dir = sc_moved(m->strings, f.comp_dir);
		f.dir = sc_moved(m->strings, f.dir);
		f.name = sc_moved(m->strings, f.name);
		ok = sc_table_file_record(to, &f, &m->files[i]);
	}
	for (size_t i = 0; ok && i < from->functions.len; i++) {
		struct sc_function f = from->functions.data[i];
		f.name = sc_moved(m->strings, f.name);
		f.decl_file = sc_moved(m->files, f.decl_file);
		ok = sc_table_function(to, &f, &m->functions[i]);
	}
	m->first_call = (uint32_t)to->calls.len;
	ok = ok && vec_reserve(&to->calls, from->calls.len);
	for (size_t i = 0; ok && i < from->calls.len; i++) {
		struct sc_location *l = &to->calls.data[to->calls.len++];
		*l = from->calls.data[i];
		sc_location_move(l, m);
	}
	return ok;
}
