/* folded.h: stacks as lines, "outer;…;inner N". */
#ifndef SC_PROFILE_FOLDED_H
#define SC_PROFILE_FOLDED_H

#include "libsymcache/profile/out.h"
#include "libsymcache/profile/stacks.h"
#include "libsymcache/profile/tables.h"

/* The stacks as lines, sorted by their bytes, equal ones added up; those whose sum is 0 are left
 * out. SC_ENOMEM, SC_ELIMIT. */
int folded_write(const struct prof_stacks *s, struct prof_out *out, struct sc_error *err);

/* Folded stacks in which places of modules, MODULE+0xADDR and MODULE!0xADDR (p_vaddr), with or
 * without brackets, become their frames; all else as it lies. SC_ENOMEM, SC_ELIMIT. */
int folded_symbolize(struct prof_places *p, const struct prof_input *in, struct prof_out *out,
		     struct sc_error *err);

/* The same as a tree of stacks. SC_ENOMEM. */
int folded_stacks(struct prof_places *p, const struct prof_input *in, struct prof_stacks *ret,
		  struct sc_error *err);

#endif
