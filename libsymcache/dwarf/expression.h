/*
 * DWARF expressions (2.5) as call frame information has them, operation by operation.
 *
 * Those that need a program to be running, or more than registers and memory, are refused,
 * and so are branches backwards: an expression ends after as many steps as it has bytes.
 */
#ifndef DW_EXPRESSION_H
#define DW_EXPRESSION_H

#include "libsymcache/dwarf/cursor.h"

enum {
	EXPR_ADDR = 0x03, EXPR_DEREF = 0x06, EXPR_CONST1U = 0x08, EXPR_CONST8S = 0x0f,
	EXPR_CONSTU = 0x10, EXPR_CONSTS, EXPR_DUP, EXPR_DROP, EXPR_OVER, EXPR_PICK, EXPR_SWAP,
	EXPR_ROT, EXPR_ABS = 0x19, EXPR_AND, EXPR_DIV, EXPR_MINUS, EXPR_MOD, EXPR_MUL, EXPR_NEG,
	EXPR_NOT, EXPR_OR, EXPR_PLUS, EXPR_PLUS_UCONST, EXPR_SHL, EXPR_SHR, EXPR_SHRA, EXPR_XOR,
	EXPR_BRA, EXPR_EQ, EXPR_GE, EXPR_GT, EXPR_LE, EXPR_LT, EXPR_NE, EXPR_SKIP,
	EXPR_LIT0 = 0x30, EXPR_BREG0 = 0x70, EXPR_BREGX = 0x92, EXPR_DEREF_SIZE = 0x94,
	EXPR_NOP = 0x96,
};

struct dw_operation {
	uint8_t code;    /* BREGX for all that read a register, CONSTU for all numbers */
	uint64_t number; /* the constant, offset, index or distance */
	uint64_t reg;    /* of BREGX */
};

/* Reads one operation. `bytes`: of an address. False: the end, or c->bad. */
static inline bool dw_next_operation(struct dw_cursor *c, unsigned bytes, struct dw_operation *ret)
{
	uint8_t code;
	int16_t distance;

	if (!dw_left(c))
		return false;
	code = dw_u8(c);
	*ret = (struct dw_operation){ .code = code };
	if (code >= EXPR_LIT0 && code < EXPR_LIT0 + 32) {
		*ret = (struct dw_operation){ .code = EXPR_CONSTU, .number = code - EXPR_LIT0 };
	} else if (code >= EXPR_BREG0 && code < EXPR_BREG0 + 32) {
		*ret = (struct dw_operation){ .code = EXPR_BREGX, .reg = code - EXPR_BREG0 };
		ret->number = (uint64_t)dw_sleb(c);
	} else if (code >= EXPR_CONST1U && code <= EXPR_CONST8S) {
		unsigned size = 1u << (code - EXPR_CONST1U) / 2, drop = 64 - 8 * size;

		ret->number = dw_uint(c, size);
		if (code & 1)
			ret->number = (uint64_t)((int64_t)(ret->number << drop) >> drop);
		ret->code = EXPR_CONSTU;
	} else {
		switch (code) {
		case EXPR_ADDR: ret->number = dw_uint(c, bytes); break;
		case EXPR_CONSTU: case EXPR_PLUS_UCONST: ret->number = dw_uleb(c); break;
		case EXPR_CONSTS:
			ret->code = EXPR_CONSTU;
			ret->number = (uint64_t)dw_sleb(c);
			break;
		case EXPR_PICK: case EXPR_DEREF_SIZE: ret->number = dw_u8(c); break;
		case EXPR_BREGX:
			ret->reg = dw_uleb(c);
			ret->number = (uint64_t)dw_sleb(c);
			break;
		case EXPR_BRA: case EXPR_SKIP:
			distance = (int16_t)dw_u16(c);
			c->bad |= distance < 0 || (size_t)distance > dw_left(c);
			ret->number = (uint64_t)distance;
			break;
		case EXPR_DEREF: case EXPR_DUP: case EXPR_DROP: case EXPR_OVER: case EXPR_SWAP:
		case EXPR_ROT: case EXPR_NOP: break;
		default: c->bad |= code < EXPR_ABS || code > EXPR_SKIP;
		}
	}
	return !c->bad;
}

#endif
