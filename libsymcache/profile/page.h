/* page.h: the stacks of a profile as a page with a flame graph: format/pages.md. */
#ifndef SC_PROFILE_PAGE_H
#define SC_PROFILE_PAGE_H

#include "libsymcache/profile/stacks.h"

/* Writes stacks of all types (s->whole); `name` is what the profile is called. SC_ENOMEM,
 * SC_ELIMIT. */
int page_write(const struct prof_stacks *s, const char *name, struct prof_out *out,
	       struct sc_error *err);

#endif
