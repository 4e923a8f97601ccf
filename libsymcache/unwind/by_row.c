/* The step from a frame to its caller by a row of unwind information: see unwind.c. */
#include <elf.h>

#include "libsymcache/unwind/arch.h"

bool sc_find_module(const struct symcache_unwinder *u, uint64_t address,
			struct symcache_unwind_frame *ret)
{
	ret->cache = NULL;
	ret->owner = NULL;
	ret->base = 0;
	return u->source->module(u->source->modules, address, ret);
}

static void set_register(struct symcache_registers *r, unsigned n, uint64_t value)
{
	if (n < 64)
		symcache_set_register(r, n, value);
}

void sc_begin_caller(const struct symcache_unwinder *u, uint64_t preserved,
			 struct symcache_registers *ret)
{
	const struct symcache_registers *r = &u->registers;

	ret->known = r->known & preserved;
	for (uint64_t left = ret->known; left; left &= left - 1) {
		int n = __builtin_ctzll(left);
		ret->value[n] = r->value[n];
	}
}

static bool stop(struct symcache_unwinder *u, enum symcache_stop why)
{
	u->stop = why;
	return false;
}

/* A value could not be had: memory, if u->address was set, or a register. */
static bool stop_missing(struct symcache_unwinder *u)
{
	return stop(u, u->address ? SYMCACHE_STOP_MEMORY : SYMCACHE_STOP_LOST);
}

uint64_t sc_without_signature(const struct symcache_unwinder *u, uint64_t address)
{
	uint64_t bits = u->source->signature ? u->source->signature : 0xffffull << 48;

	return u->arch->machine == EM_AARCH64 ? address & ~bits : address & sc_mask(u->arch);
}

/* ---- by a row ------------------------------------------------------------------------ */

/* The value of a register in the caller. False: it is not known. */
static bool apply_rule(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
		       const struct symcache_ext_rule *rule, uint64_t cfa, uint64_t *ret)
{
	const uint64_t mask = sc_mask(u->arch);
	unsigned from = (unsigned)rule->n;

	u->address = 0;
	switch (rule->kind) {
	case SYMCACHE_RULE_AT_CFA: return sc_read_word(u, (cfa + (uint64_t)rule->n) & mask, ret);
	case SYMCACHE_RULE_VAL_CFA:
		*ret = (cfa + (uint64_t)rule->n) & mask;
		return true;
	case SYMCACHE_RULE_SAME:
		from = rule->reg;
		/* fall through */
	case SYMCACHE_RULE_REGISTER: return sc_get_register(u->arch, &u->registers, from, ret);
	case SYMCACHE_RULE_EXPRESSION:
		return sc_evaluate(u, module, rule->n, &cfa, ret) && sc_read_word(u, *ret, ret);
	case SYMCACHE_RULE_VAL_EXPRESSION: return sc_evaluate(u, module, rule->n, &cfa, ret);
	}
	return false;
}

static bool find_cfa(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
		     const struct symcache_row *row, uint64_t *ret)
{
	if (row->cfa == SYMCACHE_CFA_EXPRESSION)
		return sc_evaluate(u, module, row->n, NULL, ret);
	u->address = 0;
	if (!sc_get_register(u->arch, &u->registers, row->cfa_reg, ret))
		return false;
	*ret = (*ret + (uint64_t)row->n) & sc_mask(u->arch);
	return true;
}

bool sc_step_by_row(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
			const struct symcache_row *row, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	bool has_return = false;
	uint64_t cfa, value;

	if (row->flags & SYMCACHE_ROW_OUTERMOST)
		return stop(u, SYMCACHE_STOP_END);
	if (!find_cfa(u, module, row, &cfa))
		return stop_missing(u);
	sc_begin_caller(u, module->cache->unwind.facts->preserved, ret);
	symcache_set_register(ret, a->stack_pointer, cfa);
	for (unsigned i = 0; i < row->num_rules; i++) {
		const struct symcache_ext_rule *rule = &row->rules[i];

		if (apply_rule(u, module, rule, cfa, &value)) {
			if (rule->reg != SYMCACHE_UNWIND_RETURN) {
				set_register(ret, rule->reg, value);
				continue;
			}
			ret->pc = value;
			has_return = true;
		} else if (rule->reg == SYMCACHE_UNWIND_RETURN) {
			return stop_missing(u);
		} else if (rule->reg < 64) {
			ret->known &= ~(1ull << rule->reg);
		}
	}
	if (!has_return && (!u->exact || !sc_get_register(a, &u->registers, a->link, &ret->pc)))
		return stop(u, SYMCACHE_STOP_LOST);
	ret->pc = sc_without_signature(u, ret->pc);
	if (a->link != SC_NO_REGISTER && !(row->flags & SYMCACHE_ROW_MADE))
		symcache_set_register(ret, a->link, ret->pc);
	return true;
}
