/* pprof.h: profiles in pprof's protobuf (profile.proto). */
#ifndef SC_PROFILE_PPROF_H
#define SC_PROFILE_PPROF_H

#include "libsymcache/profile/tables.h"

/* Fields of the message Profile. */
enum {
	PPROF_SAMPLE_TYPE = 1, PPROF_SAMPLE = 2, PPROF_MAPPING = 3, PPROF_LOCATION = 4,
	PPROF_FUNCTION = 5, PPROF_STRING = 6, PPROF_PERIOD_TYPE = 11, PPROF_PERIOD = 12,
	PPROF_DEFAULT_TYPE = 14,
};

/* How it has lines and functions. */
extern const struct prof_shape pprof_shape;

struct pprof_location {
	uint32_t mapping, place; /* PROF_NONE: in none; not looked up */
};

struct prof_pprof {
	struct prof_input in;
	struct prof_places *places;
	struct prof_tables tables;
	struct prof_ids mapping_ids;
	struct prof_ids location_ids;  /* if `with_ids` */
	VEC(struct pprof_location) locations;
	VEC(uint8_t) leaf;              /* location_ids: is it ever the first of a sample? */
	bool with_ids, with_leaves;
	const uint8_t *from, *to;       /* all mappings and locations are in between */
	size_t changed;                 /* locations that get lines */
};

/* Reads the profile in bytes[0, size) and looks its locations up. All that was read is borrowed
 * from it. SC_EFORMAT, SC_ELIMIT, SC_ENOMEM. */
int pprof_read(struct prof_pprof *f, const uint8_t *bytes, size_t size, struct sc_error *err);

/* Writes it with what was found, all else as it lies. SC_ENOMEM, SC_ELIMIT. */
int pprof_write(struct prof_pprof *f, struct prof_out *out, struct sc_error *err);

void pprof_deinit(struct prof_pprof *f);

/* What one of the messages says, as far as it is needed. */
struct pprof_location_fields {
	uint64_t id, mapping, address;
	bool has_lines;
};
bool pprof_read_location(const struct prof_field *f, struct pprof_location_fields *ret,
			 struct prof_wire *w);

#endif
