/*
 * Runs the programs of call frame information: see cfi.h.
 *
 * The row is kept as it is given out, so that a row costs what it changes. Rules for
 * registers that no one asks for (vectors) are left out when they are read. A program
 * that is broken ends where it is, and the rest of its addresses has no row.
 */
#include "libsymcache/dwarf/cfi_parts.h"

enum {
	CFA_NOP, CFA_SET_LOC, CFA_ADVANCE_LOC1, CFA_ADVANCE_LOC2, CFA_ADVANCE_LOC4,
	CFA_OFFSET_EXTENDED, CFA_RESTORE_EXTENDED, CFA_UNDEFINED, CFA_SAME_VALUE, CFA_REGISTER,
	CFA_REMEMBER_STATE, CFA_RESTORE_STATE, CFA_DEF_CFA, CFA_DEF_CFA_REGISTER,
	CFA_DEF_CFA_OFFSET, CFA_DEF_CFA_EXPRESSION, CFA_EXPRESSION, CFA_OFFSET_EXTENDED_SF,
	CFA_DEF_CFA_SF, CFA_DEF_CFA_OFFSET_SF, CFA_VAL_OFFSET, CFA_VAL_OFFSET_SF,
	CFA_VAL_EXPRESSION,
	CFA_MIPS_ADVANCE_LOC8 = 0x1d,
	CFA_AARCH64_SET_RA_STATE = 0x2b, CFA_AARCH64_NEGATE_WITH_PC, CFA_AARCH64_NEGATE,
	CFA_GNU_ARGS_SIZE, CFA_GNU_NEGATIVE_OFFSET, CFA_LLVM_DEF_ASPACE_CFA,
	CFA_LLVM_DEF_ASPACE_CFA_SF,
	CFA_ADVANCE_LOC = 0x40, CFA_OFFSET = 0x80, CFA_RESTORE = 0xc0,
};

#define MAX_REMEMBERED 64
#define EM_AARCH64_NUMBER 183

struct state {
	struct dw_cfi *cfi;
	const struct dw_cfi_common *common;
	const struct dw_cfi_row *initial; /* NULL: it is being made */
	struct dw_cursor c;
	uint64_t loc;
	struct dw_cfi_row row;
	unsigned depth;
	struct dw_cfi_row *remembered; /* MAX_REMEMBERED, once there is one */
	uint64_t from, to;
	dw_cfi_row_fn *fn;
	void *ctx;
	bool stopped; /* by fn */
};

/* ---- rules ---------------------------------------------------------------------------- */

static int32_t narrow(struct state *s, int64_t n)
{
	if (n < INT32_MIN || n > INT32_MAX)
		s->c.bad = true;
	return (int32_t)n;
}

/* Our number of a register; −1: not of interest. */
static int known(const struct state *s, uint64_t reg)
{
	const struct dw_cfi_machine *m = s->cfi->section.machine;

	if (reg == 65 && m->link == DW_CFI_PPC64_LINK)
		return DW_CFI_PPC64_LINK;
	return reg <= m->last ? (int)reg : -1;
}

/* The number under which a register's rule stands. */
static int column(const struct state *s, uint64_t reg)
{
	return reg == s->common->return_column ? DW_CFI_RETURN : known(s, reg);
}

static void copy_row(struct dw_cfi_row *to, const struct dw_cfi_row *from)
{
	memcpy(to, from,
	       offsetof(struct dw_cfi_row, rules) + from->num_rules * sizeof(*from->rules));
}

/* Sets a rule, or with kind 0 removes it. */
static void set_rule(struct state *s, int reg, unsigned kind, int32_t n)
{
	struct dw_cfi_row *row = &s->row;
	struct dw_cfi_rule *rules = row->rules;
	size_t at = row->num_rules;

	while (at && rules[at - 1].reg >= reg)
		at--;
	if (reg == DW_CFI_RETURN)
		row->flags &= (uint8_t)~DW_CFI_OUTERMOST;
	if (reg == DW_CFI_RETURN && kind == DW_CFI_UNDEFINED) {
		row->flags |= DW_CFI_OUTERMOST;
		kind = 0;
	}
	if (kind == DW_CFI_SAME && (reg == DW_CFI_RETURN ||
	    (reg < 32 && (s->cfi->section.machine->preserved >> reg & 1))))
		kind = 0; /* as without a rule */
	if (at == row->num_rules || rules[at].reg != reg) {
		if (!kind)
			return;
		if (row->num_rules == DW_CFI_MAX_RULES) {
			s->c.bad = true;
			return;
		}
		memmove(rules + at + 1, rules + at, (row->num_rules++ - at) * sizeof(*rules));
	} else if (!kind) {
		memmove(rules + at, rules + at + 1, (--row->num_rules - at) * sizeof(*rules));
		return;
	}
	rules[at] = (struct dw_cfi_rule){ (uint8_t)reg, (uint8_t)kind, 0, n };
}

static void rule(struct state *s, uint64_t reg, unsigned kind, int64_t n)
{
	int to = column(s, reg);

	if (to >= 0)
		set_rule(s, to, kind, narrow(s, n));
}

static void offset_rule(struct state *s, uint64_t reg, unsigned kind, int64_t factored)
{
	int64_t n;

	if (__builtin_mul_overflow(factored, s->common->data_factor, &n))
		s->c.bad = true;
	else
		rule(s, reg, kind, n);
}

static void restore(struct state *s, uint64_t reg)
{
	int to = column(s, reg);
	const struct dw_cfi_row *row = s->initial;

	if (to < 0)
		return;
	for (size_t i = 0; row && i < row->num_rules; i++) {
		if (row->rules[i].reg == to) {
			set_rule(s, to, row->rules[i].kind, row->rules[i].n);
			return;
		}
	}
	set_rule(s, to, 0, 0);
	if (to == DW_CFI_RETURN && row)
		s->row.flags |= row->flags & DW_CFI_OUTERMOST;
}

/* ---- the CFA ------------------------------------------------------------------------- */

static void cfa_register(struct state *s, uint64_t reg)
{
	int number = known(s, reg);

	s->row.cfa = number >= 0 ? DW_CFI_CFA_REGISTER : DW_CFI_CFA_NONE;
	s->row.cfa_reg = number >= 0 ? (uint8_t)number : 0;
}

static void cfa_offset(struct state *s, int64_t n)
{
	s->c.bad |= s->row.cfa == DW_CFI_CFA_EXPRESSION;
	s->row.cfa_n = narrow(s, n);
}

static int64_t factored(struct state *s)
{
	int64_t n;

	if (__builtin_mul_overflow(dw_sleb(&s->c), s->common->data_factor, &n))
		s->c.bad = true;
	return n;
}

/* The offset of an expression, behind which the program goes on. */
static int32_t expression(struct state *s)
{
	int32_t at = (int32_t)(s->c.p - s->cfi->section.bytes.data);

	dw_skip(&s->c, dw_uleb(&s->c));
	s->row.has_expressions = true;
	return at;
}

static void remember(struct state *s)
{
	if (!s->remembered)
		s->remembered = malloc(MAX_REMEMBERED * sizeof(*s->remembered));
	if (!s->remembered || s->depth == MAX_REMEMBERED)
		s->c.bad = true;
	else
		copy_row(&s->remembered[s->depth++], &s->row);
}

static void restore_state(struct state *s)
{
	if (s->depth)
		copy_row(&s->row, &s->remembered[--s->depth]);
	else
		s->c.bad = true;
}

/* ---- rows --------------------------------------------------------------------------- */

/* The row ends at `loc`. False: there are no further ones to be given out. */
static bool advance(struct state *s, uint64_t loc)
{
	uint64_t start = s->loc > s->from ? s->loc : s->from, end = loc < s->to ? loc : s->to;

	if (!s->initial || loc < s->loc) {
		s->c.bad = true; /* backwards, or in a common entry */
		return false;
	}
	s->loc = loc;
	if (start < end && !s->fn(s->ctx, start, end, &s->row))
		s->stopped = true;
	return !s->stopped && loc < s->to;
}

static bool advance_by(struct state *s, uint64_t delta)
{
	uint64_t by, loc;

	if (__builtin_mul_overflow(delta, s->common->code_factor, &by) ||
	    __builtin_add_overflow(s->loc, by, &loc))
		loc = UINT64_MAX;
	return s->c.bad || advance(s, loc);
}

/* The operations that change the CFA; false: another one. */
static bool change_cfa(struct state *s, uint8_t op)
{
	struct dw_cursor *c = &s->c;

	switch (op) {
	case CFA_DEF_CFA:
	case CFA_LLVM_DEF_ASPACE_CFA:
		cfa_register(s, dw_uleb(c));
		cfa_offset(s, (int64_t)dw_uleb(c));
		if (op == CFA_LLVM_DEF_ASPACE_CFA)
			dw_uleb(c);
		break;
	case CFA_DEF_CFA_SF:
	case CFA_LLVM_DEF_ASPACE_CFA_SF:
		cfa_register(s, dw_uleb(c));
		cfa_offset(s, factored(s));
		if (op == CFA_LLVM_DEF_ASPACE_CFA_SF)
			dw_uleb(c);
		break;
	case CFA_DEF_CFA_REGISTER:
		if (s->row.cfa != DW_CFI_CFA_REGISTER)
			s->row.cfa_n = 0;
		cfa_register(s, dw_uleb(c));
		break;
	case CFA_DEF_CFA_OFFSET: cfa_offset(s, (int64_t)dw_uleb(c)); break;
	case CFA_DEF_CFA_OFFSET_SF: cfa_offset(s, factored(s)); break;
	case CFA_DEF_CFA_EXPRESSION:
		s->row.cfa = DW_CFI_CFA_EXPRESSION;
		s->row.cfa_reg = 0;
		s->row.cfa_n = expression(s);
		break;
	default: return false;
	}
	return true;
}

/* The operations that change the row. */
static void change(struct state *s, uint8_t op)
{
	struct dw_cursor *c = &s->c;
	uint64_t reg;

	switch (op) {
	case CFA_NOP: break;
	case CFA_OFFSET_EXTENDED:
		reg = dw_uleb(c);
		offset_rule(s, reg, DW_CFI_AT_CFA, (int64_t)dw_uleb(c));
		break;
	case CFA_OFFSET_EXTENDED_SF:
		reg = dw_uleb(c);
		offset_rule(s, reg, DW_CFI_AT_CFA, dw_sleb(c));
		break;
	case CFA_GNU_NEGATIVE_OFFSET:
		reg = dw_uleb(c);
		offset_rule(s, reg, DW_CFI_AT_CFA, (int64_t)(0 - dw_uleb(c)));
		break;
	case CFA_VAL_OFFSET:
		reg = dw_uleb(c);
		offset_rule(s, reg, DW_CFI_VAL_CFA, (int64_t)dw_uleb(c));
		break;
	case CFA_VAL_OFFSET_SF:
		reg = dw_uleb(c);
		offset_rule(s, reg, DW_CFI_VAL_CFA, dw_sleb(c));
		break;
	case CFA_RESTORE_EXTENDED: restore(s, dw_uleb(c)); break;
	case CFA_UNDEFINED: rule(s, dw_uleb(c), DW_CFI_UNDEFINED, 0); break;
	case CFA_SAME_VALUE: rule(s, dw_uleb(c), DW_CFI_SAME, 0); break;
	case CFA_REGISTER: {
		int from;
		reg = dw_uleb(c);
		from = known(s, dw_uleb(c));
		rule(s, reg, from < 0 ? DW_CFI_UNDEFINED : DW_CFI_REGISTER, from < 0 ? 0 : from);
		break;
	}
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		reg = dw_uleb(c);
		rule(s, reg, op == CFA_EXPRESSION ? DW_CFI_EXPRESSION : DW_CFI_VAL_EXPRESSION,
		     expression(s));
		break;
	case CFA_REMEMBER_STATE: remember(s); break;
	case CFA_RESTORE_STATE: restore_state(s); break;
	case CFA_GNU_ARGS_SIZE: dw_uleb(c); break;
	case CFA_AARCH64_NEGATE:
	case CFA_AARCH64_NEGATE_WITH_PC:
		if (s->cfi->section.machine->machine == EM_AARCH64_NUMBER)
			s->row.flags ^= DW_CFI_SIGNED;
		else
			c->bad = true;
		break;
	case CFA_AARCH64_SET_RA_STATE:
		s->row.flags &= (uint8_t)~DW_CFI_SIGNED;
		s->row.flags |= dw_uleb(c) ? DW_CFI_SIGNED : 0;
		dw_sleb(c);
		break;
	default:
		c->bad |= !change_cfa(s, op);
	}
}

/* Up to the end of the program, or a fault in it, or until no further row is wanted. */
static void run(struct state *s)
{
	struct dw_cursor *c = &s->c;
	bool more = true;

	while (more && dw_left(c) && !c->bad) {
		uint8_t op = dw_u8(c), low = op & 0x3f;

		switch (op & 0xc0) {
		case CFA_ADVANCE_LOC: more = advance_by(s, low); continue;
		case CFA_OFFSET: offset_rule(s, low, DW_CFI_AT_CFA, (int64_t)dw_uleb(c)); continue;
		case CFA_RESTORE: restore(s, low); continue;
		}
		switch (op) {
		case CFA_SET_LOC: {
			uint64_t loc = dw_cfi_pointer(&s->cfi->section, c, s->common->encoding);
			more = c->bad || advance(s, loc);
			break;
		}
		case CFA_ADVANCE_LOC1: more = advance_by(s, dw_u8(c)); break;
		case CFA_ADVANCE_LOC2: more = advance_by(s, dw_u16(c)); break;
		case CFA_ADVANCE_LOC4: more = advance_by(s, dw_u32(c)); break;
		case CFA_MIPS_ADVANCE_LOC8: more = advance_by(s, dw_u64(c)); break;
		default: change(s, op);
		}
	}
	free(s->remembered);
}

bool dw_cfi_run_common(struct dw_cfi *cfi, struct dw_cfi_common *common, uint32_t from,
		       uint32_t to)
{
	const struct dw_cfi_machine *m = cfi->section.machine;
	struct state s = { .cfi = cfi, .common = common, .c = dw_cfi_cursor(&cfi->section, from, to) };
	int link;

	s.row = (struct dw_cfi_row){ .flags = common->row.flags };
	run(&s);
	link = known(&s, common->return_column);
	/* RISC-V's millicode, for one, returns by another register than functions do. */
	if (m->link != 255 && link >= 0 && link != m->link &&
	    !(s.row.num_rules && s.row.rules[s.row.num_rules - 1].reg == DW_CFI_RETURN))
		set_rule(&s, DW_CFI_RETURN, DW_CFI_REGISTER, link);
	copy_row(&common->row, &s.row);
	return !s.c.bad;
}

bool dw_cfi_run(struct dw_cfi *cfi, const struct dw_cfi_entry *entry, dw_cfi_row_fn *fn, void *ctx)
{
	const struct dw_cfi_common *common = &cfi->commons.data[entry->cie];
	struct state s;

	s.cfi = cfi;
	s.common = common;
	s.initial = &common->row;
	s.c = dw_cfi_cursor(&cfi->section, entry->program, entry->program_end);
	s.loc = entry->first;
	s.depth = 0;
	s.remembered = NULL;
	s.from = entry->start;
	s.to = entry->end;
	s.fn = fn;
	s.ctx = ctx;
	s.stopped = false;
	copy_row(&s.row, &common->row);
	run(&s);
	if (!s.c.bad && !s.stopped && s.loc < s.to)
		advance(&s, s.to);
	if (s.c.bad && !cfi->broken++)
		sc_error_set(&cfi->first_fault, SC_EFORMAT,
			     "section %s: the program at 0x%x is broken after 0x%llx",
			     cfi->section.eh ? ".eh_frame" : ".debug_frame", entry->program,
			     (unsigned long long)s.loc);
	return !s.stopped;
}
