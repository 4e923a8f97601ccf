/* pprof_stacks.h: the samples of a profile in pprof's protobuf. */
#ifndef SC_PROFILE_PPROF_STACKS_H
#define SC_PROFILE_PPROF_STACKS_H

#include "libsymcache/profile/pprof.h"
#include "libsymcache/profile/stacks.h"

/* Both of a profile that was read `with_ids`. */

/* The stacks of all samples; options->value says which of the values is theirs. SC_EFORMAT,
 * SC_EINVAL: there is no such value; SC_ENOMEM. */
int pprof_stacks(struct prof_pprof *f, struct prof_stacks *ret, struct sc_error *err);

/* Counts the samples, and those that have a frame in each of the missing modules. SC_EFORMAT,
 * SC_ENOMEM. */
int pprof_count(struct prof_pprof *f, struct sc_error *err);

#endif
