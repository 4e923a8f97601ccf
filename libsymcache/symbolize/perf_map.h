/*
 * perf_map.h: names of code that a process made at run time, as its JIT writes them into
 * /tmp/perf-PID.map: "START SIZE NAME" a line, in hex. Of entries that overlap the last one counts, as
 * a JIT reuses memory. Control bytes of names become "\x1b".
 */
#ifndef SYMCACHE_PERF_MAP_H
#define SYMCACHE_PERF_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "libsymcache/base/vec.h"

struct symcache_jitted {
	uint64_t start, end;
	uint32_t number;  /* of the line */
	uint32_t name;    /* where it begins in the texts; ends with a NUL */
};

/* All zero: empty. */
struct symcache_perf_map {
	VEC(struct symcache_jitted) list; /* by start */
	VEC(char) texts;
};

/* Reads the bytes of such a file; lines that are none are skipped. False: out of memory. */
bool symcache_perf_map_read(const char *text, size_t len, struct symcache_perf_map *ret);

/* The map of a process that runs, as it sees it, if it is a regular file of 64 MiB at most that
 * belongs to the owner of the process or to root, and only they may write it; else, and without one,
 * the map is empty. False: out of memory. */
bool symcache_perf_map_of(uint32_t pid, struct symcache_perf_map *ret);

/* The same of a process that ran: perf-PID.map in a folder, of the user who asks, or of root. */
bool symcache_perf_map_in(const char *dir, uint32_t pid, struct symcache_perf_map *ret);

void symcache_perf_map_deinit(struct symcache_perf_map *m); /* all zero again */

/* The name of the code at an address; NULL: there is none. A search, and a step for each of the few
 * entries before it that may reach it. */
const char *symcache_perf_map_name(const struct symcache_perf_map *m, uint64_t address);

#endif
