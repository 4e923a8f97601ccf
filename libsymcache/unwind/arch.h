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

/*
 * Evaluates the expression at `n` of the module's cache; `cfa` NULL: for the CFA itself,
 * else it is on the stack to begin with. False: it cannot be: memory (u->address) or
 * registers are missing, or it makes no sense.
 */
bool sc_evaluate(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
		 int32_t n, const uint64_t *cfa, uint64_t *ret);

#endif
