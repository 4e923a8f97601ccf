/*
 * tables.h: the tables of a profile that new strings and functions are put behind: those of
 * pprof and of OTLP.
 */
#ifndef SC_PROFILE_TABLES_H
#define SC_PROFILE_TABLES_H

#include "libsymcache/profile/out.h"
#include "libsymcache/profile/places.h"

/* Where a profile is read: errors have the offset in it. */
struct prof_input {
	const uint8_t *bytes;
	size_t size;
};

struct prof_tables {
	VEC(struct sc_str) strings; /* of the input, borrowed */
	uint64_t next_function;           /* id of the first new one */
	VEC(uint64_t) string_of;          /* text → its index */
	VEC(uint32_t) added;              /* texts that are new strings, in order */
	struct sc_intern set;             /* of strings */
};

void prof_tables_clear(struct prof_tables *t);
void prof_tables_deinit(struct prof_tables *t);

/* Finds the texts of p among the strings; those that are not there are t->added. The first of
 * equal strings is taken. SC_ENOMEM. */
int prof_tables_match(struct prof_tables *t, const struct prof_places *p, struct sc_error *err);

/* Ids of any 64 bits → numbers from 0 on. All zero: none. */
struct prof_ids {
	VEC(uint64_t) ids;
	struct sc_intern set;
};

void prof_ids_clear(struct prof_ids *ids);
void prof_ids_deinit(struct prof_ids *ids);

/* One more thing, with this id; of two with one id the last counts. False: out of memory, or
 * there are too many. */
bool prof_ids_add(struct prof_ids *ids, uint64_t id);

/* The number of an id; PROF_NONE: it is unknown. */
uint32_t prof_ids_find(const struct prof_ids *ids, uint64_t id);

/* SC_EFORMAT: what is wrong with the message, and where. */
int prof_bad_wire(const struct prof_input *in, const struct prof_wire *w, struct sc_error *err);
int prof_bad(const struct prof_input *in, const uint8_t *where, const char *why,
	     struct sc_error *err);

/* The string of an index; false: there is none. */
static inline bool prof_string(const struct prof_tables *t, uint64_t index,
			       struct sc_str *ret)
{
	if (index >= t->strings.len)
		return false;
	*ret = t->strings.data[index];
	return true;
}

/* How a form has lines and functions: numbers of fields. The rest is the same in both. */
struct prof_shape {
	unsigned locations, lines, folded;             /* and of those; folded 0: it has none */
	unsigned id, name, system_name, file, start;   /* of a function; id 0: it has none */
	unsigned functions, strings;                   /* of the message */
};

/* Writes a location with the lines of a place behind what it has; lines that it has, and whether
 * they are folded, are left out. */
void prof_put_location(struct prof_out *out, const struct prof_places *p,
		       const struct prof_tables *t, const struct prof_shape *shape,
		       const struct prof_field *location, const struct prof_place *place);

/* Writes the new functions, and the new strings. */
void prof_put_functions(struct prof_out *out, const struct prof_places *p,
			const struct prof_tables *t, const struct prof_shape *shape);
void prof_put_strings(struct prof_out *out, const struct prof_places *p,
		      const struct prof_tables *t, const struct prof_shape *shape);

#endif
