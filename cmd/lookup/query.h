/*
 * query.h: one line of llvm-symbolizer's input:
 *
 *   [CODE |DATA |FRAME ][BUILDID:HEX|FILE:PATH|PATH] ADDRESS|SYMBOL[+OFFSET]
 *
 * PATH and HEX may stand in '…' or "…". A module is named either here or on the
 * command line, never in both places. What follows the address is ignored. Beyond
 * llvm-symbolizer's input, there is what a kernel prints: SYMBOL+0x9d/0x2d0, and hex digits
 * without 0x where they cannot be anything else: after a digit, or 16 of them.
 */
#ifndef CMD_QUERY_H
#define CMD_QUERY_H

#include "symcache/symcache.h"

enum query_kind {
	QUERY_CODE,
	QUERY_DATA,
	QUERY_FRAME, /* local variables */
};

enum module_kind {
	MODULE_NONE,
	MODULE_FILE,     /* an ELF file by its path */
	MODULE_BUILD_ID, /* hex digits, possibly a prefix */
	MODULE_CACHE,    /* a SymCache file by its path; on the command line only */
};

/* What addresses look like. */
enum query_numbers {
	NUMBERS_KERNEL, /* as llvm-symbolizer has them, and as a kernel prints them */
	NUMBERS_LLVM,
	NUMBERS_HEX,    /* hex, with or without 0x: llvm-addr2line's */
};

/* Strings point into the line. */
struct query {
	enum query_kind kind;
	enum module_kind module_kind;   /* MODULE_NONE: the command line's */
	struct symcache_str module;
	struct symcache_str symbol;     /* ptr NULL: an address was given */
	uint64_t offset;                /* the address, or relative to the symbol */
};

/*
 * Reads a line (without its end). `has_module`: the command line names one. Returns NULL, or
 * what is wrong, in llvm-symbolizer's words; *ret then has what was understood.
 */
const char *query_parse(const char *line, bool has_module, enum query_numbers numbers,
			struct query *ret);

/*
 * Reads a line of addr2line's: an address, as far as it is one (else 0), or if the line does
 * not begin with a hex digit or has a '+', SYMBOL[+HEX] with the same in ->offset as if it
 * were an address in *number.
 */
void query_parse_hex(const char *line, struct query *ret, uint64_t *number);

/* An integer as LLVM reads it: 0x…, 0b…, 0o…, 0… (octal) or decimal, nothing
 * behind it. False: it is none or exceeds 64 bits. */
bool query_number(struct symcache_str text, uint64_t *ret);

#endif
