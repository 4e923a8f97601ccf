/*
 * What a file may ask for, in proportion to its size. Compression, shared tables and
 * lists, and strings that are ends of others let a few bytes stand for very many; these
 * bounds keep memory and time in proportion to the file. Each has a constant part, so that
 * small files are free, and for each byte at least ten times what the most demanding of
 * 1,472 files has, which stands at each (/usr/lib/debug, ceph-osd, vmlinux and its modules,
 * binutils after dwz). A size of 0 is unknown: no bound.
 */
#ifndef SC_LIMITS_H
#define SC_LIMITS_H

#include <stdint.h>

static inline uint64_t sc_limit_(uint64_t size, uint64_t constant, uint64_t eighths)
{
	return size && size < UINT64_MAX / 4096 ? constant + size * eighths / 8 : UINT64_MAX;
}

/* Bytes of the sections, inflated. zlib: 12.8 */
static inline uint64_t sc_limit_inflated(uint64_t size)
{
	return sc_limit_(size, 1 << 20, 128 * 8);
}

/* Units. 0.004 */
static inline uint64_t sc_limit_units(uint64_t size)
{
	return sc_limit_(size, 1024, 1);
}

/* Bytes of line programs; one counts once for each unit that reads it. 0.72 */
static inline uint64_t sc_limit_line_bytes(uint64_t size)
{
	return sc_limit_(size, 64 << 10, 8 * 8);
}

/* Abbreviations and their attributes. 0.39 */
static inline uint64_t sc_limit_abbrevs(uint64_t size)
{
	return sc_limit_(size, 4096, 4 * 8);
}

/* Line rows, functions, inlined calls, variables, and steps in lists of ranges. 0.15 */
static inline uint64_t sc_limit_facts(uint64_t size)
{
	return sc_limit_(size, 64 << 10, 2 * 8);
}

/* Bytes of strings that differ. 0.27 */
static inline uint64_t sc_limit_strings(uint64_t size)
{
	return sc_limit_(size, 64 << 10, 8 * 8);
}

#endif
