/*
 * Expressions of unwind information, evaluated: see arch.h. A stack of 64 values; no
 * branches backwards, so that it ends; numbers modulo the machine's word. A stack has a
 * budget of operations that grows with its frames: compilers need a few for each, while a row may
 * have 16,000.
 */
#include "libsymcache/dwarf/expression.h"
#include "libsymcache/unwind/arch.h"

enum { MAX_STACK = 64, MAX_OPERATIONS = 100000, MAX_OPERATIONS_PER_FRAME = 100 };

struct machine {
	struct symcache_unwinder *u;
	const struct symcache_unwind_frame *module;
	uint64_t stack[MAX_STACK];
	unsigned depth;
	bool failed;
};

static void push(struct machine *m, uint64_t v)
{
	if (m->depth == MAX_STACK)
		m->failed = true;
	else
		m->stack[m->depth++] = v & sc_mask(m->u->arch);
}

static uint64_t pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	m->failed = true;
	return 0;
}

/* The value that is `below` others; it stays. */
static uint64_t peek(struct machine *m, uint64_t below)
{
	if (below < m->depth)
		return m->stack[m->depth - 1 - below];
	m->failed = true;
	return 0;
}

static int64_t as_signed(const struct machine *m, uint64_t v)
{
	return m->u->arch->word == 8 ? (int64_t)v : (int32_t)v;
}

static void load(struct machine *m, uint64_t bytes)
{
	uint64_t at = pop(m), v = 0;

	if (bytes == m->u->arch->word) {
		m->failed |= !sc_read_word(m->u, at, &v);
	} else if (m->failed || !bytes || bytes > 8 ||
		   !m->u->source->read(m->u->source->ctx, at, &v, bytes)) {
		m->u->address = at;
		m->failed = true;
	}
	push(m, v);
}

/* Operations on one value. */
static void unary(struct machine *m, uint8_t code)
{
	uint64_t v = pop(m);

	push(m, code == EXPR_NOT ? ~v : code == EXPR_NEG || as_signed(m, v) < 0 ? -v : v);
}

/* Operations on two values. */
static void binary(struct machine *m, uint8_t code)
{
	uint64_t b = pop(m), a = pop(m);
	int64_t x = as_signed(m, a), y = as_signed(m, b);
	const unsigned bits = 8u * m->u->arch->word;

	switch (code) {
	case EXPR_AND: push(m, a & b); break;
	case EXPR_OR: push(m, a | b); break;
	case EXPR_XOR: push(m, a ^ b); break;
	case EXPR_PLUS: push(m, a + b); break;
	case EXPR_MINUS: push(m, a - b); break;
	case EXPR_MUL: push(m, a * b); break;
	case EXPR_DIV:
	case EXPR_MOD:
		if (!b)
			m->failed = true;
		else if (code == EXPR_MOD)
			push(m, a % b);
		else
			push(m, y == -1 ? -a : (uint64_t)(x / y));
		break;
	case EXPR_SHL: push(m, b < bits ? a << b : 0); break;
	case EXPR_SHR: push(m, b < bits ? a >> b : 0); break;
	case EXPR_SHRA: push(m, (uint64_t)(x >> (b < bits ? b : bits - 1))); break;
	case EXPR_EQ: push(m, x == y); break;
	case EXPR_NE: push(m, x != y); break;
	case EXPR_GE: push(m, x >= y); break;
	case EXPR_GT: push(m, x > y); break;
	case EXPR_LE: push(m, x <= y); break;
	case EXPR_LT: push(m, x < y); break;
	default: m->failed = true;
	}
}

/* Operations that move values about. */
static void arrange(struct machine *m, const struct dw_operation *op)
{
	uint64_t a, b, c;

	switch (op->code) {
	case EXPR_DUP: push(m, peek(m, 0)); break;
	case EXPR_OVER: push(m, peek(m, 1)); break;
	case EXPR_PICK: push(m, peek(m, op->number)); break;
	case EXPR_DROP: pop(m); break;
	case EXPR_SWAP:
		a = pop(m), b = pop(m);
		push(m, a), push(m, b);
		break;
	case EXPR_ROT: /* the first becomes the third */
		a = pop(m), b = pop(m), c = pop(m);
		push(m, a), push(m, c), push(m, b);
		break;
	}
}

static void operate(struct machine *m, const struct dw_operation *op, struct dw_cursor *c)
{
	uint64_t v;

	switch (op->code) {
	case EXPR_NOP: break;
	case EXPR_CONSTU: push(m, op->number); break;
	case EXPR_ADDR: push(m, op->number + m->module->base); break;
	case EXPR_BREGX:
		m->failed |= !sc_get_register(m->u->arch, &m->u->registers,
					      op->reg < 64 ? (unsigned)op->reg : 254, &v);
		push(m, m->failed ? 0 : v + op->number);
		break;
	case EXPR_PLUS_UCONST: push(m, pop(m) + op->number); break;
	case EXPR_DEREF: load(m, m->u->arch->word); break;
	case EXPR_DEREF_SIZE: load(m, op->number); break;
	case EXPR_SKIP: dw_skip(c, op->number); break;
	case EXPR_BRA:
		if (pop(m))
			dw_skip(c, op->number);
		break;
	case EXPR_DUP: case EXPR_OVER: case EXPR_PICK: case EXPR_DROP: case EXPR_SWAP:
	case EXPR_ROT: arrange(m, op); break;
	case EXPR_ABS: case EXPR_NEG: case EXPR_NOT: unary(m, op->code); break;
	default: binary(m, op->code);
	}
}

bool sc_evaluate(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
		 int32_t n, const uint64_t *cfa, uint64_t *ret)
{
	const uint8_t *bytes;
	size_t size = symcache_expression(module->cache, n, &bytes);
	const struct dw_section section = { size ? bytes : NULL, size };
	struct dw_cursor c = dw_cursor_at(&section, 0, false);
	struct machine m = { .u = u, .module = module };
	struct dw_operation op;

	u->address = 0;
	if (cfa)
		push(&m, *cfa);
	while (!m.failed && dw_next_operation(&c, u->arch->word, &op)) {
		operate(&m, &op, &c);
		m.failed |= u->operations++ >= MAX_OPERATIONS +
						(uint64_t)u->frames * MAX_OPERATIONS_PER_FRAME;
	}
	*ret = pop(&m);
	return size && !m.failed && !c.bad;
}
