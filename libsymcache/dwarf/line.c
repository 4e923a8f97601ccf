/*
 * Line programs (.debug_line, DWARF 2 to 5) → files, rows and sequences.
 *
 * Invariant: rows of a sequence ascend by address and lie in [start, end) of
 * the sequence; of rows at one address all are kept, in program order (the
 * last one counts). Sequences of no extent are dropped. Whether a sequence is
 * code that exists (tombstones!) is not decided here.
 *
 * Cost: linear in the bytes of the program, each byte makes at most one row.
 */
#include "libsymcache/dwarf/line.h"

#include <dwarf.h>
#include <stdlib.h>

#include "libsymcache/base/limits.h"
#include "libsymcache/dwarf/line_header.h"

struct state {
	struct dw_row row; /* the next one */
	uint64_t op_index;
	uint64_t file;     /* row.file is its index */
	size_t first_row;  /* of the sequence under way */
	uint64_t last;     /* vaddr of its last row */
	bool unsorted;     /* an address went down */
};

/* Also to be called when files were added. */
static void set_file(struct state *st, const struct dw_facts *ret, uint64_t file)
{
	st->file = file;
	st->row.file = file < ret->files.len && ret->files.data[file].name ?
		(uint32_t)file : DW_NONE;
}

static void state_reset(struct state *st, const struct dw_line_header *h,
			const struct dw_facts *ret)
{
	*st = (struct state){ .row.line = 1, .first_row = ret->rows.len,
			      .row.marks = h->default_is_stmt ? DW_ROW_IS_STMT : 0 };
	set_file(st, ret, 1);
}

/* operation_advance of DWARF 5, 6.2.5.1: addresses on VLIW machines have an
 * operation index next to the instruction address. */
static inline void advance(struct state *st, const struct dw_line_header *h, uint64_t operations)
{
	if (h->max_ops <= 1) {
		st->row.vaddr += h->min_inst_length * operations;
	} else {
		uint64_t ops = st->op_index + operations;
		st->row.vaddr += h->min_inst_length * (ops / h->max_ops);
		st->op_index = ops % h->max_ops;
	}
}

/* False: out of memory, or more rows than such a file has. */
static bool make_room(struct dw_line_header *h, struct dw_facts *ret)
{
	h->excess = ret->rows.len >= h->most_rows;
	return !h->excess && vec_reserve(&ret->rows, 1);
}

static inline bool add_row(struct state *st, struct dw_line_header *h, struct dw_facts *ret)
{
	size_t n = ret->rows.len;

	if ((n == ret->rows.cap || n >= h->most_rows) && !make_room(h, ret))
		return false;
	ret->rows.data[n] = st->row;
	ret->rows.len = n + 1;
	st->row.marks &= DW_ROW_IS_STMT;
	st->unsorted |= st->row.vaddr < st->last;
	st->last = st->row.vaddr;
	return true;
}

struct indexed_row {
	struct dw_row row;
	size_t index;
};

static int by_vaddr_then_index(const void *a, const void *b)
{
	const struct indexed_row *x = a, *y = b;

	if (x->row.vaddr != y->row.vaddr)
		return x->row.vaddr < y->row.vaddr ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Addresses within a sequence must not go down, but nothing stops them. */
static bool sort_rows(struct dw_row *rows, size_t n)
{
	struct indexed_row *copy = malloc(n * sizeof(*copy));

	if (!copy)
		return false;
	for (size_t i = 0; i < n; i++)
		copy[i] = (struct indexed_row){ rows[i], i };
	qsort(copy, n, sizeof(*copy), by_vaddr_then_index);
	for (size_t i = 0; i < n; i++)
		rows[i] = copy[i].row;
	free(copy);
	return true;
}

/* Closes the sequence under way at `end`. */
static bool end_sequence(struct state *st, const struct dw_line_header *h, uint64_t end,
			 struct dw_facts *ret)
{
	size_t n = ret->rows.len - st->first_row;
	struct dw_row *rows = n ? ret->rows.data + st->first_row : NULL;
	struct dw_sequence *seq;

	if (st->unsorted && !sort_rows(rows, n))
		return false;
	while (n && rows[n - 1].vaddr >= end)
		n--;
	ret->rows.len = st->first_row + n;
	if (n) {
		seq = vec_push(&ret->sequences);
		if (!seq)
			return false;
		*seq = (struct dw_sequence){ rows[0].vaddr, end, (uint32_t)st->first_row,
					     (uint32_t)n };
	}
	state_reset(st, h, ret);
	return true;
}

static bool extended_op(struct dw_cursor *c, struct dw_line_header *h, const char *comp_dir,
			struct state *st, struct dw_facts *ret)
{
	uint64_t len = dw_uleb(c);
	struct dw_cursor op = *c;
	bool ok = true;

	dw_skip(c, len);
	if (c->bad || !len)
		return true;
	op.end = c->p;
	switch (dw_u8(&op)) {
	case DW_LNE_end_sequence:
		return end_sequence(st, h, st->row.vaddr, ret);
	case DW_LNE_set_address:
		if (len - 1 <= 8)
			st->row.vaddr = dw_uint(&op, (unsigned)len - 1);
		st->op_index = 0;
		break;
	case DW_LNE_define_file: {
		const char *name = dw_str(&op);
		uint64_t dir = dw_uleb(&op);
		if (!op.bad)
			ok = !dw_add_line_file(h, comp_dir, name, dir, ret);
		set_file(st, ret, st->file);
		break;
	}
	case DW_LNE_set_discriminator:
		st->row.marks = (st->row.marks & DW_ROW_IS_STMT) | (uint32_t)dw_uleb(&op) << 1;
		break;
	default: /* what vendors add */
		break;
	}
	return ok;
}

static inline __attribute__((always_inline)) bool
standard_op(struct dw_cursor *c, struct dw_line_header *h, uint8_t op, struct state *st,
	    struct dw_facts *ret)
{
	uint64_t v;

	switch (op) {
	case DW_LNS_copy:
		return add_row(st, h, ret);
	case DW_LNS_advance_pc:
		advance(st, h, dw_uleb(c));
		break;
	case DW_LNS_advance_line:
		st->row.line += (uint32_t)dw_sleb(c);
		break;
	case DW_LNS_set_file:
		set_file(st, ret, dw_uleb(c));
		break;
	case DW_LNS_set_column:
		v = dw_uleb(c);
		st->row.column = v > UINT32_MAX ? 0 : (uint32_t)v;
		break;
	case DW_LNS_const_add_pc:
		if (h->line_range)
			advance(st, h, (255u - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		st->row.vaddr += dw_u16(c);
		st->op_index = 0;
		break;
	case DW_LNS_negate_stmt:
		st->row.marks ^= DW_ROW_IS_STMT;
		break;
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_set_isa:
		dw_uleb(c);
		break;
	default: /* unknown: the header says how many numbers follow */
		for (unsigned i = h->opcode_lengths[op - 1]; i; i--)
			dw_uleb(c);
	}
	return true;
}

/* n / h->line_range of a byte n, without a division: what is rounded up is less than
 * 255 / 2²⁰, and a quotient is at least 1 / 255 below the next one. */
static inline unsigned quotient(const struct dw_line_header *h, unsigned n)
{
	return n * h->reciprocal >> 20;
}

static int run_program(struct dw_cursor *at, struct dw_line_header *h, const char *comp_dir,
		       struct dw_facts *ret, struct sc_error *err)
{
	const unsigned opcode_base = h->opcode_base;
	struct dw_cursor c = *at; /* these two can stay in registers */
	struct state st;
	bool ok = true, no_range = false;

	state_reset(&st, h, ret);
	h->reciprocal = h->line_range ? (1u << 20) / h->line_range + 1 : 0;
	while (ok && c.p < c.end) { /* a bad cursor is at its end */
		uint8_t op = *c.p++;

		if (op >= opcode_base) {
			unsigned adjusted = op - opcode_base, steps = quotient(h, adjusted);

			no_range = !h->line_range;
			if (no_range)
				break;
			advance(&st, h, steps);
			st.row.line += (uint32_t)(h->line_base +
						  (int)(adjusted - steps * h->line_range));
			ok = add_row(&st, h, ret);
		} else if (op == 0) {
			struct state copy = st;

			*at = c;
			ok = extended_op(at, h, comp_dir, &copy, ret);
			st = copy;
			c = *at;
		} else {
			ok = standard_op(&c, h, op, &st, ret);
		}
	}
	ok |= h->excess;
	/* No end_sequence: the last row's extent is unknown, the others stand. */
	if (ok && ret->rows.len > st.first_row) {
		struct state copy = st;

		ok = end_sequence(&copy, h, ret->rows.data[ret->rows.len - 1].vaddr, ret);
	}
	if (!ok)
		return sc_no_memory(err);
	if (h->excess)
		return sc_error_set(err, SC_EFORMAT, "more line rows than such a file has");
	if (no_range)
		return sc_error_set(err, SC_EFORMAT, "line_range is 0");
	if (c.bad)
		return sc_error_set(err, SC_EFORMAT, "line program is cut off");
	return 0;
}

static int read_lines(const struct dw_sections *s, uint64_t offset, const char *comp_dir,
		      bool want_rows, struct dw_facts *ret, struct sc_error *err)
{
	__attribute__((cleanup(dw_line_header_deinit))) struct dw_line_header h = {
		.files_alone = !want_rows };
	struct dw_cursor c = dw_cursor_at(&s->line, offset, s->swap);
	int rc = dw_read_line_header(s, &c, comp_dir, &h, ret, err);

	h.most_rows = sc_limit_facts(s->file_size) / 2;
	if (!rc && want_rows)
		rc = run_program(&c, &h, comp_dir, ret, err);
	if (rc)
		sc_error_prefix(err, ".debug_line at 0x%llx: ", (unsigned long long)offset);
	return rc;
}

int dw_read_lines(const struct dw_sections *s, uint64_t offset, const char *comp_dir,
		  struct dw_facts *ret, struct sc_error *err)
{
	return read_lines(s, offset, comp_dir, true, ret, err);
}

int dw_read_line_files(const struct dw_sections *s, uint64_t offset, const char *comp_dir,
		       struct dw_facts *ret, struct sc_error *err)
{
	return read_lines(s, offset, comp_dir, false, ret, err);
}
