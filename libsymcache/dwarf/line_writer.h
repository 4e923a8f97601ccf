/*
 * Line tables (.debug_line) under construction, for tests: a header in any
 * version, offset size and byte order, three files, and opcodes one by one.
 *
 *   struct line_table t;
 *   line_begin(&t, &line_plain);
 *   line_standard_files(&t);
 *   op_set_address(&t, 8, 0x1000);
 *   op_special(&t, 0, 4);          operation advance, line advance
 *   op_end_sequence(&t);
 *   line_end(&t);
 *
 * A test that wants it broken writes or patches t.line itself.
 */
#ifndef DW_LINE_WRITER_H
#define DW_LINE_WRITER_H

#include <dwarf.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/dwarf/sections.h"

/* How a table is written; the standard one if all is 0. */
struct line_shape {
	uint16_t version;             /* 2 … 5 */
	unsigned offset_size;         /* 4 or 8 */
	bool big_endian;
	uint8_t max_ops, min_inst, line_range, opcode_base;
};

static const struct line_shape line_plain = { 4, 4, false, 1, 1, 14, 13 };

/* A table under construction. */
struct line_table {
	struct line_shape shape;
	struct bytes line, str, line_str;
	size_t length, header_length;
};

static inline void line_begin(struct line_table *t, const struct line_shape *shape)
{
	memset(t, 0, sizeof(*t));
	t->shape = *shape;
	t->line.big_endian = shape->big_endian;
	t->length = begin_length(&t->line, shape->offset_size);
	put(&t->line, 2, shape->version);
	if (shape->version >= 5) {
		put(&t->line, 1, 8);
		put(&t->line, 1, 0);
	}
	t->header_length = put(&t->line, shape->offset_size, 0);
	put(&t->line, 1, shape->min_inst);
	if (shape->version >= 4)
		put(&t->line, 1, shape->max_ops);
	put(&t->line, 1, 1);
	put(&t->line, 1, (uint8_t)-3);
	put(&t->line, 1, shape->line_range);
	put(&t->line, 1, shape->opcode_base);
	for (unsigned i = 1; i < shape->opcode_base; i++)
		put(&t->line, 1, i < 13 ? (uint8_t)"\0\1\1\1\1\0\0\0\1\0\0\1"[i - 1] : i % 3);
}

static inline void line_program_begins(struct line_table *t)
{
	patch(&t->line, t->header_length, t->shape.offset_size,
	      t->line.b.len - t->header_length - t->shape.offset_size);
}

/* Directories "inc" and "/abs"; files a.c (in the compilation directory), b.h
 * in inc, c.h in /abs: numbers 1, 2, 3 in each version. */
static inline void line_standard_files(struct line_table *t)
{
	struct bytes *o = &t->line;

	if (t->shape.version < 5) {
		put_str(o, "inc");
		put_str(o, "/abs");
		put_str(o, "");
		for (unsigned i = 0; i < 3; i++) {
			put_str(o, i == 0 ? "a.c" : i == 1 ? "b.h" : "c.h");
			put_uleb(o, i);
			put_uleb(o, 12345678); /* time */
			put_uleb(o, 99);       /* length */
		}
		put_str(o, "");
		line_program_begins(t);
		return;
	}
	put(o, 1, 1);
	put_uleb(o, DW_LNCT_path);
	put_uleb(o, DW_FORM_line_strp);
	put_uleb(o, 3);
	put(o, t->shape.offset_size, put_str(&t->line_str, "/comp"));
	put(o, t->shape.offset_size, put_str(&t->line_str, "inc"));
	put(o, t->shape.offset_size, put_str(&t->line_str, "/abs"));
	put(o, 1, 4);
	put_uleb(o, DW_LNCT_path);
	put_uleb(o, DW_FORM_strp);
	put_uleb(o, DW_LNCT_directory_index);
	put_uleb(o, DW_FORM_udata);
	put_uleb(o, DW_LNCT_MD5);
	put_uleb(o, DW_FORM_data16);
	put_uleb(o, 0x2001); /* DW_LNCT_LLVM_source */
	put_uleb(o, DW_FORM_string);
	put_uleb(o, 4);
	for (unsigned i = 0; i < 4; i++) {
		put(o, t->shape.offset_size,
		    put_str(&t->str, i < 2 ? "a.c" : i == 2 ? "b.h" : "c.h"));
		put_uleb(o, i < 2 ? 0 : i - 1);
		put(o, 16, 0);
		put_str(o, "int x;");
	}
	line_program_begins(t);
}

static inline void line_end(struct line_table *t)
{
	end_length(&t->line, t->shape.offset_size, t->length);
}

static inline void op_set_address(struct line_table *t, unsigned size, uint64_t vaddr)
{
	put(&t->line, 1, 0);
	put_uleb(&t->line, size + 1);
	put(&t->line, 1, DW_LNE_set_address);
	put(&t->line, size, vaddr);
}

static inline void op_end_sequence(struct line_table *t)
{
	put(&t->line, 1, 0);
	put_uleb(&t->line, 1);
	put(&t->line, 1, DW_LNE_end_sequence);
}

static inline void op_uleb(struct line_table *t, uint8_t op, uint64_t v)
{
	put(&t->line, 1, op);
	put_uleb(&t->line, v);
}

static inline void op_line(struct line_table *t, int64_t by)
{
	put(&t->line, 1, DW_LNS_advance_line);
	put_sleb(&t->line, by);
}

static inline void op(struct line_table *t, uint8_t op)
{
	put(&t->line, 1, op);
}

/* The special opcode that advances by `operations` and `lines`. */
static inline void op_special(struct line_table *t, unsigned operations, int lines)
{
	op(t, (uint8_t)((unsigned)(lines + 3) + t->shape.line_range * operations +
			t->shape.opcode_base));
}

static inline struct dw_section line_view(const struct bytes *b)
{
	return (struct dw_section){ b->b.data, b->b.len };
}

static inline struct dw_sections line_sections(const struct line_table *t)
{
	struct dw_sections s = {
		.line = line_view(&t->line), .str = line_view(&t->str), .line_str = line_view(&t->line_str),
		.swap = t->shape.big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
	};

	dw_section_end_with_nul(&s.str); /* as whoever loads sections does */
	dw_section_end_with_nul(&s.line_str);
	return s;
}

static inline void line_deinit(struct line_table *t)
{
	bytes_deinit(&t->line);
	bytes_deinit(&t->str);
	bytes_deinit(&t->line_str);
}

#endif
