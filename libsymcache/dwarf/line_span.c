/*
 * Which addresses a line program has rows for: see line_span.h.
 *
 * Most programs of a file are run for nothing but the answer "none of them", so that this is
 * most of the time of a first answer of a large file. The step of each special opcode is in a
 * table, and nothing is kept but the lowest and the last address.
 *
 * Must hold what run_program() of line.c makes sequences of; more does not matter.
 */
#include "libsymcache/dwarf/line_span.h"

#include <dwarf.h>

#include "libsymcache/base/limits.h"

struct program {
	uint8_t min_inst_length, opcode_base, line_range;
	const uint8_t *opcode_lengths;
	const struct dw_wanted *wanted;
	uint64_t most_rows;
};

struct state {
	uint64_t vaddr;
	uint64_t low, last; /* of the rows of the sequence under way; low > last: there are none */
	uint64_t rows;      /* of all sequences */
	bool any;           /* the sequence has rows */
};

static inline void add_row(struct state *st)
{
	st->low = st->vaddr < st->low ? st->vaddr : st->low;
	st->last = st->vaddr;
	st->any = true;
	st->rows++;
}

bool dw_wanted_in(const struct dw_wanted *w, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < w->n; i++)
		if (start <= w->vaddrs[i] && w->vaddrs[i] < end)
			return true;
	return false;
}

/* Closes the sequence at `end`; does it hold an address? */
static bool end_sequence(const struct program *p, struct state *st, uint64_t end)
{
	const bool holds = st->any && dw_wanted_in(p->wanted, st->low, end);

	*st = (struct state){ .low = UINT64_MAX, .rows = st->rows };
	return holds;
}

/* An opcode 0; true: its sequence holds an address. */
static bool extended_op(const struct program *p, struct dw_cursor *c, struct state *st)
{
	const uint64_t len = dw_uleb(c);
	struct dw_cursor op = *c;

	dw_skip(c, len);
	if (c->bad || !len)
		return false;
	op.end = c->p;
	switch (dw_u8(&op)) {
	case DW_LNE_end_sequence:
		return end_sequence(p, st, st->vaddr);
	case DW_LNE_set_address:
		if (len - 1 <= 8)
			st->vaddr = dw_uint(&op, (unsigned)len - 1);
		return false;
	default:
		return false;
	}
}

static inline void standard_op(const struct program *p, struct dw_cursor *c, uint8_t op,
			       struct state *st)
{
	switch (op) {
	case DW_LNS_copy:
		add_row(st);
		break;
	case DW_LNS_advance_pc:
		st->vaddr += p->min_inst_length * dw_uleb(c);
		break;
	case DW_LNS_advance_line: /* one number, which does not matter */
	case DW_LNS_set_file:
	case DW_LNS_set_column:
	case DW_LNS_set_isa:
		while (c->p < c->end && *c->p++ & 0x80)
			;
		break;
	case DW_LNS_negate_stmt:
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_const_add_pc:
		if (p->line_range)
			st->vaddr += p->min_inst_length *
				     (uint64_t)((255u - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		st->vaddr += dw_u16(c);
		break;
	default: /* unknown: the header says how many numbers follow */
		for (unsigned i = p->opcode_lengths[op - 1]; i; i--)
			dw_uleb(c);
	}
}

static bool run(const struct program *p, struct dw_cursor c)
{
	struct state st = { .low = UINT64_MAX };
	uint32_t advance[256]; /* of each special opcode */

	for (unsigned op = p->opcode_base; op < 256; op++)
		advance[op] = (op - p->opcode_base) / p->line_range * p->min_inst_length;
	while (c.p < c.end) {
		const uint8_t op = *c.p++;

		if (op >= p->opcode_base) {
			st.vaddr += advance[op];
			add_row(&st);
		} else if (op) {
			standard_op(p, &c, op, &st);
		} else {
			struct dw_cursor at = c; /* so that both can stay in registers */
			struct state copy = st;

			if (extended_op(p, &at, &copy))
				return true;
			c = at;
			st = copy;
		}
	}
	return st.rows >= p->most_rows || end_sequence(p, &st, st.last);
}

bool dw_lines_may_hold(const struct dw_sections *s, uint64_t offset, const struct dw_wanted *wanted)
{
	struct program p = { .wanted = wanted };
	struct dw_cursor c = dw_cursor_at(&s->line, offset, s->swap);
	unsigned offset_size;
	uint64_t length = dw_initial_length(&c, &offset_size);
	uint16_t version;
	struct dw_cursor program;

	if (c.bad || length > dw_left(&c))
		return false;
	c.end = c.p + length;
	version = dw_u16(&c);
	if (version >= 5)
		dw_skip(&c, 2); /* sizes of addresses and of segment selectors */
	length = dw_uint(&c, offset_size);
	program = c;
	dw_skip(&program, length);
	p.min_inst_length = dw_u8(&c);
	if (version >= 4 && dw_u8(&c) > 1)
		return true; /* VLIW: an address is more than a sum */
	dw_skip(&c, 2); /* default_is_stmt, line_base */
	p.line_range = dw_u8(&c);
	p.opcode_base = dw_u8(&c);
	p.opcode_lengths = c.p;
	dw_skip(&c, p.opcode_base ? p.opcode_base - 1u : 0);
	if (c.bad || program.bad)
		return false;
	p.most_rows = sc_limit_facts(s->file_size) / 2;
	return !p.line_range || !p.opcode_base || run(&p, program);
}
