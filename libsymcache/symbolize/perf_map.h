/*
 * perf_map.h: names of code that was made at run time, as JITs write them into /tmp/perf-PID.map:
 * lines "START SIZE NAME", numbers in hex. If entries overlap, the last one counts, as a JIT reuses
 * memory. Control characters in names are escaped, "\x1b".
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

/* Reads the bytes of such a file; malformed lines are skipped. False: out of memory. */
bool symcache_perf_map_read(const char *text, size_t len, struct symcache_perf_map *ret);

/* Reads the map of a running process, in the process's own /tmp. It must be a regular file of at
 * most 64 MiB that belongs to the owner of the process or to root and that no other user can write
 * to; otherwise the map is empty. False: out of memory. */
bool symcache_perf_map_of(uint32_t pid, struct symcache_perf_map *ret);

/* The same for a process that has ended: perf-PID.map in a folder, which must belong to this user
 * or to root. */
bool symcache_perf_map_in(const char *dir, uint32_t pid, struct symcache_perf_map *ret);

void symcache_perf_map_deinit(struct symcache_perf_map *m); /* all zero again */

/* The name of the code at an address; NULL: there is none. A search, and a step for each of the few
 * entries before it that may reach it. */
const char *symcache_perf_map_name(const struct symcache_perf_map *m, uint64_t address);

#endif
