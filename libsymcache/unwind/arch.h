/* What unwinding knows of a machine, besides what caches say. */
#ifndef SC_UNWIND_ARCH_H
#define SC_UNWIND_ARCH_H

#include "libsymcache/unwind/unwind.h"

#define SC_NO_REGISTER 255

struct symcache_unwind_arch {
	uint16_t machine;
	uint8_t word;           /* bytes */
	uint8_t stack_pointer, frame_pointer;
	uint8_t link;           /* has the return address of a call; SC_NO_REGISTER: the stack */
	uint8_t pc;             /* its number in expressions, or SC_NO_REGISTER */
	int8_t frame_record;    /* from the frame pointer to [its old value, return address] */
	uint64_t preserved;     /* registers that calls preserve */
};

static inline uint64_t sc_mask(const struct symcache_unwind_arch *a)
{
	return a->word == 8 ? UINT64_MAX : UINT32_MAX;
}

static inline bool sc_get_register(const struct symcache_unwind_arch *a,
				   const struct symcache_registers *r, unsigned n, uint64_t *ret)
{
	if (n == a->pc) {
		*ret = r->pc;
		return true;
	}
	if (n > 63 || !(r->known >> n & 1))
		return false;
	*ret = r->value[n];
	return true;
}

/* Reads a word; false: it is not there, and u->address says which. */
static inline bool sc_read_word(struct symcache_unwinder *u, uint64_t address, uint64_t *ret)
{
	uint64_t v = 0;

	if (!u->source->read(u->source->ctx, address, &v, u->arch->word)) {
		u->address = address;
		return false;
	}
	*ret = v;
	return true;
}

static inline uint64_t sc_stack_pointer(const struct symcache_unwinder *u)
{
	return u->registers.value[u->arch->stack_pointer];
}

/* The module that has `address`; false: none. */
bool sc_find_module(const struct symcache_unwinder *u, uint64_t address,
		    struct symcache_unwind_frame *ret);

/* The registers that a call preserves, and nothing else. */
void sc_begin_caller(const struct symcache_unwinder *u, uint64_t preserved,
		     struct symcache_registers *ret);

uint64_t sc_without_signature(const struct symcache_unwinder *u, uint64_t address);

/* The caller's registers by a row. False: u->stop says why. */
bool sc_step_by_row(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
		    const struct symcache_row *row, struct symcache_registers *ret);

/* ---- call.c ---- */

/* Is the last instruction in `code`, the bytes in front of a return address, a call? True for
 * machines whose calls it does not know. */
#define SC_CALL_MAX 8
bool sc_ends_with_call(uint16_t machine, const uint8_t code[SC_CALL_MAX]);

/* ---- guess.c ---- Finds the caller's registers without a row; false: they cannot be found in this
 * way. If the code is that of a signal's return; if a call went to where no code is; by the frame
 * pointer and its record of two words; by searching the stack for a return address. */
bool sc_step_by_trampoline(struct symcache_unwinder *u, struct symcache_registers *ret);
bool sc_step_by_call(struct symcache_unwinder *u, struct symcache_registers *ret);
bool sc_step_by_frame_pointer(struct symcache_unwinder *u, struct symcache_registers *ret);
bool sc_step_by_scan(struct symcache_unwinder *u, struct symcache_registers *ret);

/*
 * Evaluates the expression at `n` of the module's cache. It begins with `cfa` on its stack; NULL:
 * with an empty stack, as it gives the CFA. False: it cannot be evaluated: memory (u->address) or
 * registers are missing, or it is malformed.
 */
bool sc_evaluate(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
		 int32_t n, const uint64_t *cfa, uint64_t *ret);

#endif
