/*
 * Names and places of a cache under construction → what the caller makes of them:
 * one pass over the finished tables, so that it does not matter who read them, or on
 * how many threads; and nothing at all where no transformation is given.
 */
#ifndef SC_TRANSFORM_H
#define SC_TRANSFORM_H

#include "libsymcache/write/build.h"
#include "libsymcache/write/image/data.h"

/* Of `locals`, only places change. False: out of memory. */
bool sc_transform(const struct symcache_transform *list, size_t n, struct sc_tables *tables,
		  struct sc_final *ranges, struct sc_data *data, struct sc_locals *locals);

#endif
