/*
 * saved.h: the modules and maps of all processes ↔ bytes, so that the rest of a log can be
 * filtered elsewhere. format/plan.md has the layout.
 */
#ifndef MARKUP_SAVED_H
#define MARKUP_SAVED_H

#include "libmarkup/resolve/resolve.h"

/* Appends what `r` knows to a buffer in memory; o->error if that is too small. */
void mk_contexts_save(struct mk_resolve *r, struct mk_out *o);

/* Gives `r`, which knows nothing yet, what was saved with the same options. The bytes may be
 * anything: 0, -EINVAL (they are damaged, or of other options) or -ENOMEM. */
int mk_contexts_load(struct mk_resolve *r, const void *bytes, size_t len);

#endif
