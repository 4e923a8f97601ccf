/* The tables of a cache under construction: see tables.h. */
#include "libsymcache/write/flatten/tables.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/base/utf8.h"

void sc_tables_deinit(struct sc_tables *t)
{
	for (size_t i = 0; i < t->copies.len; i++)
		free(t->copies.data[i]);
	vec_deinit(&t->copies);
	vec_deinit(&t->strings);
	vec_deinit(&t->files);
	vec_deinit(&t->functions);
	vec_deinit(&t->calls);
	vec_deinit(&t->long_strings);
	sc_intern_deinit(&t->long_set);
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

static void lock(struct sc_tables *t)
{
	if (t->lock)
		pthread_mutex_lock(t->lock);
}

static void unlock(struct sc_tables *t)
{
	if (t->lock)
		pthread_mutex_unlock(t->lock);
}

/* What is added. */
enum string_kind {
	LASTING,
	PASSING, /* is copied if it is new */
	JOINED,  /* of another table, which knows whether it is UTF-8 */
};

static bool is_transient(const struct sc_tables *t, const char *s)
{
	for (size_t i = 0; i < sizeof(t->transient) / sizeof(*t->transient); i++)
		if ((size_t)(s - t->transient[i].ptr) < t->transient[i].len)
			return true;
	return false;
}

/* Adds a string of `len` bytes, if it is new. */
static inline __attribute__((always_inline)) bool
add_hashed(struct sc_tables *t, const char *s, size_t len, uint64_t hash, enum string_kind kind,
	   uint32_t *ret)
{
	const bool checked = kind == JOINED;
	struct string_key key = { t, { s, (uint32_t)len, sc_intern_hash_(hash) } };
	struct sc_string *added;
	uint32_t *slot;

	*ret = SC_NONE;
	if (sc_table_strings_refused(t))
		return true;
	if (len >= UINT32_MAX)
		return false;
	slot = sc_intern_find(&t->string_set, hash, same_string, &key);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		added = vec_push(&t->strings);
		if (!added)
			return false;
		if (kind == PASSING || is_transient(t, s))
			key.s.ptr = copy(t, s, len);
		if (!key.s.ptr)
			return false;
		*added = key.s;
		*slot = (uint32_t)t->strings.len - 1;
		t->string_bytes += len;
		if (!checked) /* now that its bytes are near */
			t->not_utf8 |= sc_utf8_valid(s, len) < len;
	}
	*ret = *slot;
	return true;
}

#define LONG 4096 /* bytes */

struct pointer_key {
	const struct sc_tables *t;
	const char *s;
};

static bool same_pointer(const void *ctx, uint32_t i)
{
	const struct pointer_key *k = ctx;

	return k->t->long_strings.data[i].ptr == k->s;
}

/* A string of LONG bytes at least, which is read only the first time. */
static bool add_long(struct sc_tables *t, const char *s, uint32_t *ret)
{
	struct pointer_key key = { t, s };
	struct sc_long_string *added;
	uint32_t *slot;
	size_t len;

	if (sc_table_strings_refused(t))
		return true;
	slot = sc_intern_find(&t->long_set, XXH3_64bits(&s, sizeof(s)), same_pointer, &key);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		added = vec_push(&t->long_strings);
		if (!added)
			return false;
		*slot = (uint32_t)t->long_strings.len - 1;
		len = strlen(s);
		added->ptr = s;
		if (!add_hashed(t, s, len, XXH3_64bits(s, len), LASTING, &added->number))
			return false;
	}
	*ret = t->long_strings.data[*slot].number;
	return true;
}

static bool add_string(struct sc_tables *t, const char *s, uint32_t *ret)
{
	size_t place = ((uintptr_t)s ^ (uintptr_t)s >> 12) % 4096, len;

	*ret = SC_NONE;
	if (!s || !*s)
		return true;
	if (t->recent[place].ptr == s) {
		*ret = t->recent[place].number;
		return true;
	}
	len = strnlen(s, LONG);
	if (len == LONG)
		return add_long(t, s, ret);
	if (!add_hashed(t, s, len, XXH3_64bits(s, len), LASTING, ret))
		return false;
	if (*ret != SC_NONE) {
		t->recent[place].ptr = s;
		t->recent[place].number = *ret;
	}
	return true;
}

#define BATCH 32

static bool add_batch(struct sc_tables *t, const char *const *s, size_t n, uint32_t *ret)
{
	struct { uint64_t hash; size_t len; } of[BATCH];
	const struct sc_intern *set = &t->string_set;

	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(s[i]);
	for (size_t i = 0; i < n; i++) {
		of[i].len = s[i] ? strnlen(s[i], LONG) : 0;
		of[i].hash = XXH3_64bits(s[i], of[i].len);
		__builtin_prefetch(sc_intern_likely(set, of[i].hash));
	}
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < n; i++) {
			const struct sc_intern_slot *slot = sc_intern_likely(set, of[i].hash);

			if (slot && slot->index != SC_INTERN_NEW)
				__builtin_prefetch(pass ? (const void *)t->strings.data[slot->index].ptr :
						   &t->strings.data[slot->index]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		ret[i] = SC_NONE;
		if (of[i].len && !(of[i].len == LONG ? add_long(t, s[i], &ret[i]) :
				   add_hashed(t, s[i], of[i].len, of[i].hash, LASTING, &ret[i])))
			return false;
	}
	return true;
}

bool sc_table_strings(struct sc_tables *t, const char *const *s, size_t n, uint32_t *ret)
{
	bool ok = true;

	for (size_t i = 0; i < n && ok; i += BATCH) {
		lock(t);
		ok = add_batch(t, s + i, n - i < BATCH ? n - i : BATCH, ret + i);
		unlock(t);
	}
	return ok;
}

bool sc_table_string(struct sc_tables *t, const char *s, uint32_t *ret)
{
	bool ok;

	lock(t);
	ok = add_string(t, s, ret);
	unlock(t);
	return ok;
}

bool sc_table_passing_string(struct sc_tables *t, const char *s, uint32_t *ret)
{
	size_t len = s ? strlen(s) : 0;
	bool ok = true;

	*ret = SC_NONE;
	lock(t);
	if (len)
		ok = add_hashed(t, s, len, XXH3_64bits(s, len), PASSING, ret);
	unlock(t);
	return ok;
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
	static bool add_##name(struct sc_tables *t, const struct type *r, uint32_t *ret) \
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
	}                                                                              \
	bool sc_table_##name(struct sc_tables *t, const struct type *r, uint32_t *ret) \
	{                                                                              \
		bool ok;                                                               \
		lock(t);                                                               \
		ok = add_##name(t, r, ret);                                            \
		unlock(t);                                                             \
		return ok;                                                             \
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

#define AHEAD 8 /* strings: between the steps in which what is looked at is fetched */

/* Fetches what the next ones are compared with: the slot, its record, that one's text. */
static inline void fetch_ahead(const struct sc_tables *t, const struct sc_string *s, size_t left)
{
	for (size_t step = 1; step <= 3 && step * AHEAD < left; step++) {
		const struct sc_intern_slot *slot = sc_intern_likely(&t->string_set,
								     s[step * AHEAD].hash);

		if (!slot || step == 3)
			__builtin_prefetch(slot);
		else if (slot->index < t->strings.len)
			__builtin_prefetch(step == 2 ? (const void *)&t->strings.data[slot->index] :
					   t->strings.data[slot->index].ptr);
	}
}

static bool join_strings(struct sc_tables *to, const struct sc_tables *from, uint32_t *map)
{
	const struct sc_string *s = from->strings.data;

	to->not_utf8 |= from->not_utf8;
	for (size_t i = 0; i < from->strings.len; i++) {
		fetch_ahead(to, &s[i], from->strings.len - i);
		if (!add_hashed(to, s[i].ptr, s[i].len, s[i].hash, JOINED, &map[i]))
			return false;
	}
	return true;
}

bool sc_tables_add(struct sc_tables *to, struct sc_tables *from, struct sc_maps *m)
{
	bool ok = (m->strings = new_map(from->strings.len)) &&
		  (m->files = new_map(from->files.len)) &&
		  (m->functions = new_map(from->functions.len));

	ok = ok && take_copies(to, from) && join_strings(to, from, m->strings);
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
		f.qualified = sc_moved(m->strings, f.qualified);
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
