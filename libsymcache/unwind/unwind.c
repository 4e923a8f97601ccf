/*
 * Walks a stack: see unwind.h.
 *
 * The state is the registers of the next frame. Giving it out finds its module and row, and
 * with them the caller's registers, by the first of these that is possible:
 *
 *   row             of the module's unwind information
 *   trampoline      the instructions at the pc are those of a signal's return
 *   call            the pc is nowhere: its caller's return address is where a call leaves it
 *   frame pointer   a record of two words
 *   scan            a word of the stack behind a call, from which two steps by rows agree; so the
 *                   next step is by a row
 *
 * Invariant: the stack pointer grows from frame to frame, but for 64 signal frames, and
 * leaf functions of machines with a link register. So it ends.
 */
#include <elf.h>

#include "libsymcache/unwind/arch.h"

enum {
	MAX_FRAMES = 100000,
	MAX_SIGNALS = 64,
};

static const struct symcache_unwind_arch archs[] = {
	{ EM_X86_64, 8, 7, 6, SC_NO_REGISTER, 16, 0, 0xf048 },
	{ EM_386, 4, 4, 5, SC_NO_REGISTER, 8, 0, 0xe8 },
	{ EM_AARCH64, 8, 31, 29, 30, 32, 0, 0x3ff80000 },
	{ EM_RISCV, 8, 2, 8, 1, SC_NO_REGISTER, -16, 0x0ffc0300 },
};

const char *symcache_trust_text(enum symcache_trust trust)
{
	static const char *const texts[] = { "context", "signal", "cfi", "call", "frame pointer",
					     "scan" };

	return texts[trust];
}

static const struct {
	const char *word, *text;
} stops[] = {
	[SYMCACHE_STOP_NONE] = { "", "" },
	[SYMCACHE_STOP_END] = { "end", "the end of the stack" },
	[SYMCACHE_STOP_MEMORY] = { "no_memory", "no memory" },
	[SYMCACHE_STOP_NO_ROW] = { "no_row", "no unwind information for the address" },
	[SYMCACHE_STOP_NO_UNWIND] = { "no_unwind", "no unwind information of the module" },
	[SYMCACHE_STOP_NO_CACHE] = { "no_cache", "the module is not in the store" },
	[SYMCACHE_STOP_NO_MODULE] = { "no_module", "the address is in no module" },
	[SYMCACHE_STOP_LOST] = { "lost", "a register that is needed is lost" },
	[SYMCACHE_STOP_NOT_GROWING] = { "not_growing", "the stack is corrupt: it does not grow" },
	[SYMCACHE_STOP_LIMIT] = { "limit", "too many frames" },
};

const char *symcache_stop_text(enum symcache_stop stop)
{
	return stops[stop].text;
}

const char *symcache_stop_word(enum symcache_stop stop)
{
	return stops[stop].word;
}

int symcache_unwind_begin(struct symcache_unwinder *u, const struct symcache_unwind_source *source,
			  const struct symcache_registers *registers, struct sc_error *err)
{
	*u = (struct symcache_unwinder){ .source = source, .registers = *registers, .exact = true };
	for (size_t i = 0; i < sizeof(archs) / sizeof(*archs); i++)
		if (archs[i].machine == source->machine)
			u->arch = &archs[i];
	return u->arch ? 0 : sc_error_set(err, SC_EUNSUPPORTED, "stacks of machine %u are not read",
					  source->machine);
}

/* ---- steps ---------------------------------------------------------------------------- */

static bool stop(struct symcache_unwinder *u, enum symcache_stop why)
{
	u->stop = why;
	return false;
}

/* Why a frame without a row has no caller. */
static bool stop_without_row(struct symcache_unwinder *u, const struct symcache_unwind_frame *f)
{
	u->lacks = f->owner;
	return stop(u, !f->has_module		? SYMCACHE_STOP_NO_MODULE :
		       !f->cache		? SYMCACHE_STOP_NO_CACHE :
		       !f->cache->unwind.facts	? SYMCACHE_STOP_NO_UNWIND :
						  SYMCACHE_STOP_NO_ROW);
}

/* Not of the first page; no machine has more than 48 bits of an address, but for the sign. */
static bool may_be_code(uint64_t address)
{
	const int64_t top = (int64_t)address >> 48;

	return address >= 4096 && (top == 0 || top == -1);
}

/* Is the pc, which was on the stack, where compilers let functions begin? Calls seldom end there. */
static bool may_begin_function(const struct symcache_unwinder *u)
{
	return !u->exact && u->registers.pc % 16 == 0;
}

/* The caller's registers, and how they were found. */
static bool find_caller(struct symcache_unwinder *u, struct symcache_unwind_frame *f,
			const struct symcache_row *row, struct symcache_registers *ret,
			enum symcache_trust *how)
{
	const bool known = f->has_module || u->source->executable;
	bool is_code;

	*how = SYMCACHE_TRUST_SIGNAL;
	/* The row of AArch64's trampoline in the vDSO finds what was interrupted by its frame
	 * record, in which its own pc is not. */
	if ((!row || (f->signal && u->arch->machine == EM_AARCH64) || may_begin_function(u)) &&
	    sc_step_by_trampoline(u, ret)) {
		f->signal = true;
		if (f->lookup_pc != f->pc) { /* nothing was called */
			f->lookup_pc++;
			f->rel_pc++;
		}
		return true;
	}
	if (row) {
		*how = f->signal ? SYMCACHE_TRUST_SIGNAL : SYMCACHE_TRUST_CFI;
		return sc_step_by_row(u, f, row, ret);
	}
	*how = SYMCACHE_TRUST_CALL;
	is_code = f->has_module || (known ? u->source->executable(u->source->ctx, f->lookup_pc) :
				    may_be_code(f->lookup_pc));
	if ((!is_code || !known) && u->exact && sc_step_by_call(u, ret))
		return true;
	if (!is_code)
		return stop_without_row(u, f);
	*how = SYMCACHE_TRUST_FRAME_POINTER;
	if (sc_step_by_frame_pointer(u, ret))
		return true;
	*how = SYMCACHE_TRUST_SCAN;
	return sc_step_by_scan(u, ret) || stop_without_row(u, f);
}

/* Goes on to the caller, if it may be one. */
static bool take_caller(struct symcache_unwinder *u, const struct symcache_unwind_frame *f,
			const struct symcache_registers *caller, enum symcache_trust how)
{
	const uint64_t sp = sc_stack_pointer(u), above = caller->value[u->arch->stack_pointer];
	const bool leaf = u->exact && u->arch->link != SC_NO_REGISTER;

	if (!f->signal && !caller->pc)
		return stop(u, SYMCACHE_STOP_END);
	if (f->signal ? ++u->signals > MAX_SIGNALS :
	    above < sp || (above == sp && (!leaf || caller->pc == u->registers.pc)))
		return stop(u, SYMCACHE_STOP_NOT_GROWING);
	if (++u->frames >= (u->source->max_frames ? u->source->max_frames : MAX_FRAMES))
		return stop(u, SYMCACHE_STOP_LIMIT);
	u->registers = *caller;
	u->trust = how;
	u->exact = f->signal;
	return true;
}

bool symcache_unwind_next(struct symcache_unwinder *u, struct symcache_unwind_frame *ret)
{
	struct symcache_registers caller;
	struct symcache_row row;
	enum symcache_trust how;
	bool has_row;

	if (u->stop)
		return false;
	*ret = (struct symcache_unwind_frame){
		.pc = u->registers.pc, .lookup_pc = u->registers.pc - !u->exact,
		.stack_pointer = sc_stack_pointer(u), .trust = u->trust, .known = u->registers.known,
	};
	ret->has_module = sc_find_module(u, ret->lookup_pc, ret);
	if (!ret->has_module) {
		ret->cache = NULL;
		ret->owner = NULL;
	}
	if (!ret->cache)
		ret->base = 0;
	ret->rel_pc = ret->lookup_pc - ret->base;
	has_row = ret->cache && symcache_find_row(ret->cache, ret->rel_pc, &row);
	ret->signal = has_row && row.flags & SYMCACHE_ROW_SIGNAL_FRAME;
	u->address = 0;
	if (find_caller(u, ret, has_row ? &row : NULL, &caller, &how))
		take_caller(u, ret, &caller, how);
	return true;
}
