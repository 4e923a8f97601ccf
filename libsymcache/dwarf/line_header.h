/* line_header.h: the header of a line program: its parameters, directories and files. */
#ifndef DW_LINE_HEADER_H
#define DW_LINE_HEADER_H

#include "libsymcache/base/error.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/dwarf/cursor.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/sections.h"

struct dw_line_header {
	uint16_t version;
	uint8_t address_size;
	unsigned offset_size;
	uint8_t default_is_stmt, min_inst_length, max_ops, opcode_base, line_range;
	int8_t line_base;
	uint32_t reciprocal; /* of line_range, see quotient() */
	bool files_alone;    /* set before: no more than these is wanted */
	size_t most_rows;    /* that the unit may have: sc_limit_facts() */
	bool excess;         /* it has more */
	const uint8_t *opcode_lengths; /* opcode_base − 1 bytes */
	VEC(const char *) dirs;
};

/*
 * Reads the parameters at *c, with which a header begins, into *h; *c then stands behind them, and
 * ends where the table does. *program: where its opcodes begin. SC_EFORMAT.
 */
int dw_read_line_parameters(struct dw_cursor *c, struct dw_line_header *h,
			    const uint8_t **program, struct sc_error *err);

/*
 * Reads the header at *c into *h (zero, but for `files_alone`) and its files into ret->files; *c then
 * stands at the program and ends where that ends, with `files_alone` at once. SC_EFORMAT,
 * SC_ENOMEM.
 */
int dw_read_line_header(const struct dw_sections *s, struct dw_cursor *c, const char *comp_dir,
			struct dw_line_header *h, struct dw_facts *ret, struct sc_error *err);
void dw_line_header_deinit(struct dw_line_header *h);

/* Adds a file in directory number `dir`. SC_ENOMEM. */
int dw_add_line_file(struct dw_line_header *h, const char *comp_dir, const char *name,
		     uint64_t dir, struct dw_facts *ret);

#endif
