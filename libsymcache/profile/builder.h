/* builder.h: writes a profile in pprof's protobuf, without symbols, from what a reader of another
 * format found. */
#ifndef SC_PROFILE_BUILDER_H
#define SC_PROFILE_BUILDER_H

#include "libsymcache/base/error.h"
#include "libsymcache/profile/tables.h"
#include "libsymcache/profile/texts.h"
#include "libsymcache/profile/wire.h"

struct prof_label {
	const char *key;
	struct sc_str text; /* ptr NULL: it is a number */
	uint64_t number;
};

struct prof_location_key {
	uint64_t address;
	uint64_t mapping;
	uint64_t function; /* text of its name; 0: it has none */
};

/* All zero at first; its memory is used again for the next profile. */
struct prof_builder {
	struct prof_texts strings;
	struct prof_bytes types, samples, mappings, locations, tail, part, inner;
	uint64_t num_mappings;
	VEC(struct prof_location_key) keys;
	struct sc_intern set;
	struct prof_ids named;   /* functions that are written */
	bool failed;             /* out of memory */
};

void prof_build_begin(struct prof_builder *b);
void prof_build_deinit(struct prof_builder *b);

void prof_build_type(struct prof_builder *b, const char *type, const char *unit);

/* Adds a mapping [start, limit), and returns its id, from 1 on. */
uint64_t prof_build_mapping(struct prof_builder *b, uint64_t start, uint64_t limit,
			    uint64_t offset, struct sc_str name, struct sc_str build_id);

/* The id, from 1 on, of the location at an address in a mapping (0: none), which is added if it is
 * new. */
uint64_t prof_build_location(struct prof_builder *b, uint64_t mapping, uint64_t address);

/* The same for code whose function is known. */
uint64_t prof_build_named_location(struct prof_builder *b, uint64_t mapping, uint64_t address,
				   struct sc_str function);

/* A sample: locations, innermost first. */
struct prof_sample {
	const uint64_t *locations;
	size_t num_locations;
	const int64_t *values;
	size_t num_values;
	const struct prof_label *labels;
	size_t num_labels;
};
void prof_build_sample(struct prof_builder *b, const struct prof_sample *s);

void prof_build_period(struct prof_builder *b, const char *type, const char *unit, uint64_t period);

/* Appends the profile to `to`. SC_ENOMEM. */
int prof_build_end(struct prof_builder *b, struct prof_bytes *to, struct sc_error *err);

#endif
