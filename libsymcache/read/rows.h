/*
 * rows.h: a relative address → where the caller's registers are: the unwind information
 * of a SymCache, a row of call frame information for each range of addresses.
 *
 * libsymcache/unwind/unwind.h walks stacks by it. Registers have their numbers in DWARF;
 * SYMCACHE_UNWIND_RETURN is the return address, cache->unwind.facts says the rest. A row
 * points into the cache. Nothing allocates; hostile bytes give no row, or a wrong one.
 */
#ifndef SYMCACHE_ROWS_H
#define SYMCACHE_ROWS_H

#include "libsymcache/read/read.h"

/* How to find the caller's registers from those of a frame. A register without a rule
 * stays as it is if facts->preserved says so, and is lost else; the stack pointer is
 * the CFA. */
struct symcache_row {
	uint8_t cfa;       /* enum symcache_cfa, never SYMCACHE_CFA_NONE */
	uint8_t cfa_reg;
	uint8_t flags;     /* or of enum symcache_row_flag */
	uint8_t num_rules;
	int32_t n;         /* the CFA is cfa_reg + n, or the expression at n */
	const struct symcache_ext_rule *rules; /* ascending by register */
	uint32_t number;   /* of the row, from 1 */
	uint32_t range;    /* of the address: see symcache_row_range() */
};

/* Finds the row of `rel_pc`. False: there is no unwind information for it. Cost: a search
 * in the ranges of 64 KiB. */
bool symcache_find_row(const struct symcache *cache, uint64_t rel_pc, struct symcache_row *ret);

/* Row `number`, below cache->unwind.num_rows. False: it is row 0, or damaged. */
bool symcache_get_row(const struct symcache *cache, uint32_t number, struct symcache_row *ret);

/* Range `index`, below cache->unwind.num_starts: the relative addresses from *start on, up
 * to the start of the next one; *row: the number of its row, 0: none. False: damaged.
 * Cost: a search for its page. */
bool symcache_row_range(const struct symcache *cache, uint32_t index, uint64_t *start,
			uint32_t *row);

/* The DWARF expression at `n` in the byte order of the image, DW_OP_addr relative; its
 * size, 0: there is none. */
size_t symcache_expression(const struct symcache *cache, int32_t n, const uint8_t **ret);

/*
 * The row as people read it, "CFA=rsp+16: rbx=[CFA-16], rip=[CFA-8]": in brackets where a
 * register is saved, without them what it is. Into buf[0, size), cut off and ended by NUL
 * like snprintf(); returns the full length.
 */
size_t symcache_row_text(const struct symcache *cache, const struct symcache_row *row,
			 char *buf, size_t size);

/* The name of a register of an ELF machine by its number in DWARF, in lower case;
 * SYMCACHE_UNWIND_RETURN: of what holds the return address. "r77" where it has no name. */
const char *symcache_register_name(uint16_t machine, unsigned reg, char buf[8]);

/* The number, below 32, of the register that GDB and symcache_register_name() call `name`;
 * SYMCACHE_NO_REGISTER: none is called so. */
#define SYMCACHE_NO_REGISTER 255u
unsigned symcache_register_number(uint16_t machine, const char *name);

#endif
