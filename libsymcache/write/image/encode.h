/*
 * Names and paths of a cache under construction are UTF-8 from here on: what is not (a folder
 * `Jos\xe9` of a Latin-1 machine) is escaped as format/symcache.md says.
 */
#ifndef SC_ENCODE_H
#define SC_ENCODE_H

#include "libsymcache/write/image/data.h"

/* Behind all transformations. False: out of memory. */
bool sc_encode(struct sc_tables *tables, struct sc_final *ranges, struct sc_data *data,
	       struct sc_locals *locals);

/* sc_table_passing_string() of one. */
bool sc_encode_string(struct sc_tables *tables, const char *s, uint32_t *ret);

#endif
