/*
 * legacy.h: heap texts of gperftools and jemalloc, and CPU profiles of gperftools.
 *
 * They are read into one shape, of which a profile in pprof's protobuf is made, without
 * symbols, or the table of symbols that jeprof wants.
 */
#ifndef SC_PROFILE_LEGACY_H
#define SC_PROFILE_LEGACY_H

#include "libsymcache/profile/builder.h"
#include "libsymcache/profile/out.h"
#include "libsymcache/profile/tables.h"

/* A part of a file in memory that has code. */
struct legacy_map {
	uint64_t start, end, offset; /* addresses, bytes */
	struct sc_str path;
};

struct legacy_sample {
	int64_t values[4];
	uint64_t size;     /* label `bytes`, of heaps */
	size_t first, num; /* of its addresses */
};

/* All zero: nothing. Texts are borrowed from what was read. */
struct legacy_profile {
	bool cpu;                /* the first address of a stack is exact */
	bool jemalloc;
	bool alloc;              /* of heaps: what was allocated is known, too */
	uint64_t period;         /* of CPU: nanoseconds; of heaps: bytes */
	VEC(struct legacy_sample) samples;
	VEC(uint64_t) addresses; /* as they stand */
	VEC(struct legacy_map) maps; /* ascending */
};

void legacy_deinit(struct legacy_profile *l);

/* Forgets what was read. */
void legacy_clear(struct legacy_profile *l);

/* Is it a CPU profile of gperftools, of words of 4 or 8 bytes, in either order? */
bool legacy_is_cpu(const uint8_t *bytes, size_t size);

/* What was in *ret goes. SC_EFORMAT; SC_EUNSUPPORTED: of a kind that is not read; SC_ENOMEM. */
int legacy_read_cpu(struct legacy_profile *ret, const struct prof_input *in, struct sc_error *err);
int legacy_read_heap(struct legacy_profile *ret, const struct prof_input *in,
		     struct sc_error *err);

/* Adds the rows of maps with code in the text from `from` to the end. SC_ENOMEM. */
int legacy_read_maps(struct legacy_profile *l, const struct prof_input *in, const uint8_t *from,
		     struct sc_error *err);

/* The byte that is looked up for an address of a stack. */
static inline uint64_t legacy_lookup(const struct legacy_profile *l, uint64_t address, bool first)
{
	return (l->cpu && first) || !address ? address : address - 1;
}

/* The number of the map that has an address; PROF_NONE: none. */
uint32_t legacy_map_of(const struct legacy_profile *l, uint64_t address);

/* The same as pprof's protobuf, behind what is in `to`. SC_ENOMEM. */
int legacy_to_pprof(const struct legacy_profile *l, struct prof_builder *b, struct prof_bytes *to,
		    struct sc_error *err);

/* The profile with a table of symbols in front, as jeprof and google-pprof write it with --raw.
 * SC_ENOMEM, SC_ELIMIT. */
int jeprof_write(struct prof_places *p, const struct legacy_profile *l,
		 const struct prof_input *in, struct prof_out *out, struct sc_error *err);

#endif
