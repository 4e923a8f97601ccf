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
#ifndef MARKUP_QUERY_H
#define MARKUP_QUERY_H

#include "libmarkup/markup.h"
#include "libsymcache/symbolize/symbolize.h"

enum mk_query_kind {
	QUERY_CODE,
	QUERY_DATA,
	QUERY_FRAME, /* local variables */
};

/* What addresses look like. */
enum mk_query_numbers {
	NUMBERS_KERNEL, /* as llvm-symbolizer has them, and as a kernel prints them */
	NUMBERS_LLVM,
	NUMBERS_HEX,    /* hex, with or without 0x: llvm-addr2line's */
};

/* Strings point into the line. */
struct mk_query {
	enum mk_query_kind kind;
	struct sc_str module;           /* ptr NULL: the command line's */
	enum symcache_module_kind module_kind; /* that one's */
	struct sc_str symbol;           /* ptr NULL: an address was given */
	uint64_t offset;                /* the address, or relative to the symbol */
	uint64_t size;                  /* of the symbol, as a kernel prints it; 0: unknown */
};

/* What mk_query_parse() returns where the address is missing. */
extern const char mk_no_address[];

/*
 * Reads a line (without its end). `has_module`: the command line names one. Returns NULL, or
 * what is wrong, in llvm-symbolizer's words; *ret then has what was understood.
 */
const char *mk_query_parse(const char *line, bool has_module, enum mk_query_numbers numbers,
			struct mk_query *ret);

/*
 * A line as a kernel prints it, SYMBOL+OFFSET/SIZE [MODULE], which names its module: that is in
 * ret->module then. False: it is none.
 */
bool mk_query_parse_kernel(const char *line, struct mk_query *ret);

/*
 * Reads a line of addr2line's: an address, as far as it is one (else 0), or if the line does
 * not begin with a hex digit or has a '+', SYMBOL[+HEX] with the same in ->offset as if it
 * were an address in *number.
 */
void mk_query_parse_hex(const char *line, struct mk_query *ret, uint64_t *number);

#endif
