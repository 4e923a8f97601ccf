/*
 * maps.h: what changes names and places between the debug information and the cache:
 * one file for each kind of map, which knows no other.
 */
#ifndef SC_MAPS_H
#define SC_MAPS_H

#include "libsymcache/write/build.h"

/* A transformation, and what frees its ctx. */
struct sc_map {
	struct symcache_transform transform;
	void (*destroy)(void *ctx);
};

/* Real names of obfuscated ones. The text of a file, which may be anything, as for line
 * maps. SC_EFORMAT, SC_ENOMEM. */
int sc_symbol_map(const char *text, size_t size, struct sc_map *ret, struct sc_error *err);

/* The nearest line at or before the one that is asked for. SC_EFORMAT, SC_ENOMEM. */
int sc_line_map(const char *text, size_t size, struct sc_map *ret, struct sc_error *err);

/* `rules` are FROM=TO, a NULL behind them. SC_EINVAL, SC_ENOMEM. */
int sc_path_map(const char *const *rules, struct sc_map *ret, struct sc_error *err);

/* ---- place.c ---- */

/* Takes `path`, which it writes to, apart into dir and name. */
void sc_place_set_path(struct symcache_place *place, char *path);

/* The path of a place as it would be printed, in buf[0, size). False: no room, or none. */
bool sc_place_path(const struct symcache_place *place, char *buf, size_t size);

#endif
