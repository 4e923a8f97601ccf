/*
 * Steps without a row, each of them a guess: see unwind.c, which has their order. What is found so
 * is said to be (enum symcache_trust).
 */
#include <elf.h>
#include <string.h>

#include "libsymcache/unwind/arch.h"

enum {
	SCAN_WORDS = 40, SCAN_FAR = 160,
};

/* Bytes of code: of memory, or of the module's file where cores have none. False: not known. */
static bool read_code(const struct symcache_unwinder *u, uint64_t address, void *to, size_t bytes)
{
	return u->source->read(u->source->ctx, address, to, bytes) ||
	       (u->source->code && u->source->code(u->source->modules, address, to, bytes));
}

/* ---- a signal's return ------------------------------------------------------------------ */

/* Is the function that begins there Go's, which returns from signals? */
static bool is_go_sigreturn(const struct symcache_unwinder *u, uint64_t address)
{
	static const char name[] = "runtime.sigreturn";
	struct symcache_unwind_frame module;
	struct symcache_frames frames;
	struct symcache_raw_frame f;

	return sc_find_module(u, address, &module) && module.cache &&
	       symcache_lookup(module.cache, address - module.base, &frames) &&
	       symcache_next_frame(&frames, &f) && f.entry_pc == address - module.base &&
	       f.function.len >= sizeof(name) - 1 && !memcmp(f.function.ptr, name, sizeof(name) - 1);
}

/* A signal trampoline that has no row: of an emulator, or a JIT compiler; or Go's, which has the
 * row of a function that was called. */
bool sc_step_by_trampoline(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	static const uint8_t amd64[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	static const uint8_t amd64_order[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7 };
	const bool arm = u->arch->machine == EM_AARCH64;
	const uint64_t saved = sc_stack_pointer(u) + (arm ? 312 : 40);
	uint8_t code[9];
	uint64_t words[33];
	const size_t n = arm ? 33 : 17, size = arm ? sizeof(arm64) : sizeof(amd64);

	if ((!arm && u->arch->machine != EM_X86_64) ||
	    (read_code(u, u->registers.pc, code, size) ? memcmp(code, arm ? arm64 : amd64, size) :
							 !is_go_sigreturn(u, u->registers.pc)) ||
	    !u->source->read(u->source->ctx, saved, words, n * sizeof(*words)))
		return false;
	ret->known = 0;
	for (size_t i = 0; i + 1 < n; i++)
		symcache_set_register(ret, arm ? (unsigned)i : amd64_order[i], words[i]);
	ret->pc = words[n - 1];
	return true;
}

/* ---- calls ---------------------------------------------------------------------------- */

/* Does an instruction that calls end at `address`? True also where the code is not known. */
static bool may_follow_call(const struct symcache_unwinder *u, uint64_t address)
{
	uint8_t code[SC_CALL_MAX];

	return !read_code(u, address - sizeof(code), code, sizeof(code)) ||
	       sc_ends_with_call(u->arch->machine, code);
}

static bool is_return_address(const struct symcache_unwinder *u, uint64_t address)
{
	struct symcache_unwind_frame module;

	return address && sc_find_module(u, address - 1, &module);
}

/* The pc is at no code, and was just called. */
bool sc_step_by_call(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	uint64_t address;

	if (a->link != SC_NO_REGISTER ? !sc_get_register(a, &u->registers, a->link, &address) :
	    !sc_read_word(u, sc_stack_pointer(u), &address))
		return false;
	address = sc_without_signature(u, address);
	if (!is_return_address(u, address))
		return false;
	*ret = u->registers;
	ret->pc = address;
	if (a->link == SC_NO_REGISTER)
		symcache_set_register(ret, a->stack_pointer, sc_stack_pointer(u) + a->word);
	return true;
}

/* ---- what may be a frame --------------------------------------------------------------- */

/* Does a function begin there? A word of the stack with its address is a pointer to it. */
static bool is_function(const struct symcache *cache, uint64_t rel_pc)
{
	struct symcache_frames frames;
	struct symcache_raw_frame f = { .entry_pc = SYMCACHE_NONE };

	if (symcache_lookup(cache, rel_pc, &frames))
		while (symcache_next_frame(&frames, &f))
			;
	return f.entry_pc == rel_pc;
}

/* Is `address`, found at `at`, the return address of a frame? It stands behind a call, in a function
 * that has a row, by which its caller is one, too; and a name, if it was
 * `scanned`: stacks are full of what the dynamic linker left. */
static bool is_plausible(struct symcache_unwinder *u, uint64_t at, uint64_t address, bool scanned)
{
	struct symcache_unwinder trial = *u;
	struct symcache_unwind_frame module;
	struct symcache_registers caller;
	struct symcache_frames frames;
	struct symcache_row row;
	bool ok;

	if (!sc_find_module(u, address - 1, &module) || !module.cache ||
	    !symcache_find_row(module.cache, address - 1 - module.base, &row) ||
	    is_function(module.cache, address - module.base))
		return false;
	if (!may_follow_call(u, address) ||
	    (scanned && !symcache_lookup(module.cache, address - 1 - module.base, &frames)))
		return false;
	symcache_set_register(&trial.registers, u->arch->stack_pointer, at + u->arch->word);
	trial.registers.pc = address;
	trial.exact = false;
	ok = sc_step_by_row(&trial, &module, &row, &caller);
	u->operations = trial.operations; /* trials cost, too */
	if (!ok)
		return trial.stop == SYMCACHE_STOP_END;
	return caller.value[u->arch->stack_pointer] > at && is_return_address(u, caller.pc);
}

bool sc_step_by_frame_pointer(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	uint64_t fp, up, address, record;

	if (!sc_get_register(a, &u->registers, a->frame_pointer, &fp) || fp < sc_stack_pointer(u) ||
	    fp % a->word)
		return false;
	record = fp + (uint64_t)(int64_t)a->frame_record;
	if (!sc_read_word(u, record, &up) || !sc_read_word(u, record + a->word, &address))
		return false;
	address = sc_without_signature(u, address);
	/* Whoever called the first one that keeps frame pointers has something else in the register. */
	if (!is_return_address(u, address) ||
	    (up && up <= fp && !is_plausible(u, record + a->word, address, false)))
		return false;
	sc_begin_caller(u, a->preserved, ret);
	symcache_set_register(ret, a->frame_pointer, up);
	symcache_set_register(ret, a->stack_pointer, record + 2u * a->word);
	ret->pc = address;
	return true;
}

bool sc_step_by_scan(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	unsigned words = u->trust <= SYMCACHE_TRUST_CFI ? SCAN_FAR : SCAN_WORDS;
	uint64_t at = (sc_stack_pointer(u) + a->word - 1) & ~(uint64_t)(a->word - 1), address;

	for (; words--; at += a->word) {
		if (!sc_read_word(u, at, &address))
			return false;
		address = sc_without_signature(u, address);
		if (address && is_plausible(u, at, address, true)) {
			sc_begin_caller(u, a->preserved, ret);
			symcache_set_register(ret, a->stack_pointer, at + a->word);
			ret->pc = address;
			return true;
		}
	}
	return false;
}
