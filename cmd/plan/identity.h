/* identity.h: what a store holds, as a hash: stores with the same give the same answers. */
#ifndef CMD_IDENTITY_H
#define CMD_IDENTITY_H

#include "libmarkup/plan.h"

/* The XXH3-128 of the build IDs and cache hashes of all entries of the store that store_path()
 * names. Errors as those of open_store() and symstore_each(). */
int store_identity(const char *option, char ret[MARKUP_HASH_TEXT], struct sc_error *err);

#endif
