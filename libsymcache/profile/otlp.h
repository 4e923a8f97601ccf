/* otlp.h: profiles of OpenTelemetry (v1development), whose tables are in a dictionary. */
#ifndef SC_PROFILE_OTLP_H
#define SC_PROFILE_OTLP_H

#include "libsymcache/profile/stacks.h"
#include "libsymcache/profile/tables.h"

/* Fields of ProfilesData; of the dictionary; and of the messages within one another that hold
 * profiles: ResourceProfiles has ScopeProfiles, those have Profiles. */
enum { OTLP_RESOURCE_PROFILES = 1, OTLP_DICTIONARY = 2 };
enum { OTLP_MAPPING = 1, OTLP_LOCATION = 2, OTLP_FUNCTION = 3, OTLP_STRING = 5,
       OTLP_ATTRIBUTE = 6, OTLP_STACK = 7 };
enum { OTLP_SCOPE_PROFILES = 2, OTLP_PROFILES = 2 };

/* How it has lines and functions. */
extern const struct prof_shape otlp_shape;

struct otlp_location {
	uint64_t address;
	uint32_t mapping, place; /* PROF_NONE: in none; not looked up */
	bool has_lines;
	bool interpreted;        /* a frame of an interpreter: no address */
};

struct otlp_attribute {
	uint64_t key;            /* a string */
	struct sc_str text;      /* its value, if that is one */
};

struct prof_otlp {
	struct prof_input in;
	struct prof_places *places; /* mapping i of the profile is number i */
	struct prof_tables tables;
	VEC(struct otlp_location) locations;
	VEC(struct otlp_attribute) attributes;
	VEC(uint8_t) leaf;       /* locations: is it ever the first of a stack? */
	size_t changed;          /* locations that get lines */
	size_t dictionaries;
	struct prof_out inner;   /* a dictionary that is written */
};

/* Reads what is in bytes[0, size) and looks its locations up. All that was read is borrowed from
 * it. SC_EFORMAT, SC_ENOMEM. */
int otlp_read(struct prof_otlp *f, const uint8_t *bytes, size_t size, struct sc_error *err);

/* Writes it with what was found, all else as it lies. SC_ENOMEM, SC_ELIMIT. */
int otlp_write(struct prof_otlp *f, struct prof_out *out, struct sc_error *err);

/* The stacks of all samples of one type: options->value, else that of the last profile. SC_EFORMAT;
 * SC_EINVAL: there is no such type; SC_ENOMEM. */
int otlp_stacks(struct prof_otlp *f, struct prof_stacks *ret, struct sc_error *err);

/* Counts the samples, and those that have a frame in each of the missing modules. SC_EFORMAT,
 * SC_ENOMEM. */
int otlp_count(struct prof_otlp *f, struct sc_error *err);

void otlp_deinit(struct prof_otlp *f);

/* Calls `fn` for each entry of the dictionary that is in this table. SC_EFORMAT, and fn's. */
int otlp_each(struct prof_otlp *f, unsigned table, void *ctx,
	      int (*fn)(void *ctx, const struct prof_field *entry, struct sc_error *err),
	      struct sc_error *err);

#endif
