/* Rows of unwind information in words: see rows.h. */
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/dwarf/expression.h"
#include "libsymcache/read/parts.h"
#include "libsymcache/read/rows.h"

const char *symcache_register_name(uint16_t machine, unsigned reg, char buf[8])
{
	static const char amd64[17][4] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
		"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip" };
	static const char x86[9][4] = { "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip" };
	const char *letter = machine == EM_AARCH64 || machine == EM_RISCV ? "x" : "r";

	if (machine == EM_X86_64 && (reg < 16 || reg == 16 || reg == SYMCACHE_UNWIND_RETURN))
		return amd64[reg < 16 ? reg : 16];
	if (machine == EM_386 && (reg < 8 || reg == 8 || reg == SYMCACHE_UNWIND_RETURN))
		return x86[reg < 8 ? reg : 8];
	if (machine == EM_AARCH64 && reg == SYMCACHE_UNWIND_RETURN)
		reg = 30;
	if (machine == EM_AARCH64 && (reg == 31 || reg == 32))
		return reg == 31 ? "sp" : "pc";
	if (reg == SYMCACHE_UNWIND_RETURN || (machine == EM_PPC64 && reg == 32))
		return machine == EM_PPC64 ? "lr" : "ra";
	snprintf(buf, 8, "%s%u", letter, reg);
	return buf;
}

unsigned symcache_register_number(uint16_t machine, const char *name)
{
	static const char riscv[32][5] = { "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp", "s1",
		"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8",
		"s9", "s10", "s11", "t3", "t4", "t5", "t6" };
	char buf[8];

	for (unsigned n = 0; n < 32; n++)
		if ((machine == EM_RISCV && !strcmp(name, riscv[n])) ||
		    !strcmp(name, symcache_register_name(machine, n, buf)))
			return n;
	return SYMCACHE_NO_REGISTER;
}

struct text {
	char *buf;
	size_t size, len;
	uint16_t machine;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *t, const char *fmt, ...)
{
	size_t left = t->len < t->size ? t->size - t->len : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(left ? t->buf + t->len : NULL, left, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? (size_t)n : 0;
}

static const char *operation_name(uint8_t code)
{
	static const char *const names[] = {
		[EXPR_ADDR] = "addr", [EXPR_DEREF] = "deref", [0x08] = "const1u", [0x09] = "const1s",
		[0x0a] = "const2u", [0x0b] = "const2s", [0x0c] = "const4u", [0x0d] = "const4s",
		[0x0e] = "const8u", [0x0f] = "const8s", [EXPR_CONSTU] = "constu",
		[EXPR_CONSTS] = "consts", [EXPR_DUP] = "dup", [EXPR_DROP] = "drop",
		[EXPR_OVER] = "over", [EXPR_PICK] = "pick", [EXPR_SWAP] = "swap", [EXPR_ROT] = "rot",
		[EXPR_ABS] = "abs", [EXPR_AND] = "and", [EXPR_DIV] = "div", [EXPR_MINUS] = "minus",
		[EXPR_MOD] = "mod", [EXPR_MUL] = "mul", [EXPR_NEG] = "neg", [EXPR_NOT] = "not",
		[EXPR_OR] = "or", [EXPR_PLUS] = "plus", [EXPR_PLUS_UCONST] = "plus_uconst",
		[EXPR_SHL] = "shl", [EXPR_SHR] = "shr", [EXPR_SHRA] = "shra", [EXPR_XOR] = "xor",
		[EXPR_BRA] = "bra", [EXPR_EQ] = "eq", [EXPR_GE] = "ge", [EXPR_GT] = "gt",
		[EXPR_LE] = "le", [EXPR_LT] = "lt", [EXPR_NE] = "ne", [EXPR_SKIP] = "skip",
		[EXPR_DEREF_SIZE] = "deref_size", [EXPR_NOP] = "nop",
	};

	return code < sizeof(names) / sizeof(*names) && names[code] ? names[code] : "?";
}

/* "breg7 rsp+8, lit15, and" */
static void add_expression(struct text *t, const struct symcache *cache, int32_t n)
{
	const uint8_t *bytes = NULL;
	size_t size = symcache_expression(cache, n, &bytes);
	const struct dw_section section = { bytes, size };
	bool big = cache->image && cache->image->big_endian;
	struct dw_cursor c = dw_cursor_at(&section, 0,
					  big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	struct dw_operation op;
	char reg[8];

	while (dw_next_operation(&c, cache->unwind.facts->word, &op)) {
		const uint8_t code = *bytes;

		add(t, "%s", bytes == section.data ? "" : ", ");
		if (op.code == EXPR_BREGX)
			add(t, "breg%s%.*u %s%+lld", code == EXPR_BREGX ? "x" : "",
			    code == EXPR_BREGX ? 0 : 1, code == EXPR_BREGX ? 0 : code - EXPR_BREG0,
			    symcache_register_name(t->machine,
						   op.reg < 255 ? (unsigned)op.reg : 254, reg),
			    (long long)op.number);
		else if (code >= EXPR_LIT0 && code < EXPR_LIT0 + 32)
			add(t, "lit%llu", (unsigned long long)op.number);
		else if (c.p - bytes > 1)
			add(t, "%s 0x%llx", operation_name(code), (unsigned long long)op.number);
		else
			add(t, "%s", operation_name(code));
		bytes = c.p;
	}
	if (c.bad || !size)
		add(t, "?");
}

static void add_rule(struct text *t, const struct symcache *cache,
		     const struct symcache_ext_rule *r)
{
	char reg[8];

	add(t, "%s=", symcache_register_name(t->machine, r->reg, reg));
	switch (r->kind) {
	case SYMCACHE_RULE_AT_CFA:
		add(t, r->n ? "[CFA%+d]" : "[CFA]", r->n);
		break;
	case SYMCACHE_RULE_VAL_CFA:
		add(t, r->n ? "CFA%+d" : "CFA", r->n);
		break;
	case SYMCACHE_RULE_REGISTER:
		add(t, "%s", symcache_register_name(t->machine, (unsigned)r->n & 255, reg));
		break;
	case SYMCACHE_RULE_EXPRESSION:
		add(t, "[");
		add_expression(t, cache, r->n);
		add(t, "]");
		break;
	case SYMCACHE_RULE_VAL_EXPRESSION: add_expression(t, cache, r->n); break;
	case SYMCACHE_RULE_UNDEFINED: add(t, "undefined"); break;
	case SYMCACHE_RULE_SAME: add(t, "same"); break;
	default: add(t, "?");
	}
}

size_t symcache_row_text(const struct symcache *cache, const struct symcache_row *row,
			 char *buf, size_t size)
{
	struct text t = { buf, size, 0, cache->image ? cache->image->machine : 0 };
	const char *between = ": ";
	char reg[8];

	add(&t, "CFA=");
	if (row->cfa == SYMCACHE_CFA_EXPRESSION)
		add_expression(&t, cache, row->n);
	else
		add(&t, row->n ? "%s%+d" : "%s",
		    symcache_register_name(t.machine, row->cfa_reg, reg), row->n);
	for (unsigned i = 0; i < row->num_rules; i++, between = ", ") {
		add(&t, "%s", between);
		add_rule(&t, cache, &row->rules[i]);
	}
	if (row->flags & SYMCACHE_ROW_OUTERMOST) {
		add(&t, "%s%s=undefined", between,
		    symcache_register_name(t.machine, SYMCACHE_UNWIND_RETURN, reg));
		between = ", ";
	}
	if (row->flags & SYMCACHE_ROW_SIGNED)
		add(&t, "%ssigned%s", between,
		    row->flags & SYMCACHE_ROW_KEY_B ? " with key B" : "");
	if (row->flags & SYMCACHE_ROW_SIGNAL_FRAME)
		add(&t, "; signal frame%s", row->flags & SYMCACHE_ROW_MADE ? ", by its code" : "");
	return t.len;
}
