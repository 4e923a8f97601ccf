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
 *   scan            a word of the stack behind which two steps by rows agree; so the next step is
 *                   by a row
 *
 * Invariant: the stack pointer grows from frame to frame, but for 64 signal frames, and
 * leaf functions of machines with a link register. So it ends.
 */
#include <elf.h>
#include <string.h>

#include "libsymcache/unwind/arch.h"

enum {
	MAX_FRAMES = 100000,
	MAX_SIGNALS = 64,
	SCAN_WORDS = 40, SCAN_FAR = 160,
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

/* ---- memory and modules ---------------------------------------------------------------- */

static bool find_module(const struct symcache_unwinder *u, uint64_t address,
			struct symcache_unwind_frame *ret)
{
	ret->cache = NULL;
	ret->owner = NULL;
	ret->base = 0;
	return u->source->module(u->source->modules, address, ret);
}

static uint64_t stack_pointer(const struct symcache_unwinder *u)
{
	return u->registers.value[u->arch->stack_pointer];
}

static void set_register(struct symcache_registers *r, unsigned n, uint64_t value)
{
	if (n < 64)
		symcache_set_register(r, n, value);
}

/* The registers that a call preserves, and nothing else. */
static void begin_caller(const struct symcache_unwinder *u, uint64_t preserved,
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

static uint64_t without_signature(const struct symcache_unwinder *u, uint64_t address)
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

/* The caller's registers by a row. False: u->stop says why. */
static bool step_by_row(struct symcache_unwinder *u, const struct symcache_unwind_frame *module,
			const struct symcache_row *row, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	bool has_return = false;
	uint64_t cfa, value;

	if (row->flags & SYMCACHE_ROW_OUTERMOST)
		return stop(u, SYMCACHE_STOP_END);
	if (!find_cfa(u, module, row, &cfa))
		return stop_missing(u);
	begin_caller(u, module->cache->unwind.facts->preserved, ret);
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
	ret->pc = without_signature(u, ret->pc);
	if (a->link != SC_NO_REGISTER && !(row->flags & SYMCACHE_ROW_MADE))
		symcache_set_register(ret, a->link, ret->pc);
	return true;
}

/* ---- without one ------------------------------------------------------------------------ */

/* A signal trampoline that is in no file: of an emulator, or a JIT compiler. */
static bool step_by_trampoline(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	static const uint8_t amd64[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	static const uint8_t amd64_order[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7 };
	const bool arm = u->arch->machine == EM_AARCH64;
	const uint64_t saved = stack_pointer(u) + (arm ? 312 : 40);
	uint8_t code[9];
	uint64_t words[33];
	const size_t n = arm ? 33 : 17;

	if ((!arm && u->arch->machine != EM_X86_64) ||
	    !u->source->read(u->source->ctx, u->registers.pc, code,
			     arm ? sizeof(arm64) : sizeof(amd64)) ||
	    memcmp(code, arm ? arm64 : amd64, arm ? sizeof(arm64) : sizeof(amd64)) ||
	    !u->source->read(u->source->ctx, saved, words, n * sizeof(*words)))
		return false;
	ret->known = 0;
	for (size_t i = 0; i + 1 < n; i++)
		symcache_set_register(ret, arm ? (unsigned)i : amd64_order[i], words[i]);
	ret->pc = words[n - 1];
	return true;
}

static bool is_return_address(const struct symcache_unwinder *u, uint64_t address)
{
	struct symcache_unwind_frame module;

	return address && find_module(u, address - 1, &module);
}

/* The pc is at no code, and was just called. */
static bool step_by_call(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	uint64_t address;

	if (a->link != SC_NO_REGISTER ? !sc_get_register(a, &u->registers, a->link, &address) :
	    !sc_read_word(u, stack_pointer(u), &address))
		return false;
	address = without_signature(u, address);
	if (!is_return_address(u, address))
		return false;
	*ret = u->registers;
	ret->pc = address;
	if (a->link == SC_NO_REGISTER)
		symcache_set_register(ret, a->stack_pointer, stack_pointer(u) + a->word);
	return true;
}

static bool step_by_frame_pointer(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	uint64_t fp, up, address, record;

	if (!sc_get_register(a, &u->registers, a->frame_pointer, &fp) || fp < stack_pointer(u) ||
	    fp % a->word)
		return false;
	record = fp + (uint64_t)(int64_t)a->frame_record;
	if (!sc_read_word(u, record, &up) || !sc_read_word(u, record + a->word, &address))
		return false;
	address = without_signature(u, address);
	if ((up && up <= fp) || !is_return_address(u, address))
		return false;
	begin_caller(u, a->preserved, ret);
	symcache_set_register(ret, a->frame_pointer, up);
	symcache_set_register(ret, a->stack_pointer, record + 2u * a->word);
	ret->pc = address;
	return true;
}

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

/* Is `address`, found at `at`, the return address of a frame? It is of a function that has
 * a row, by which its caller is one, too. */
static bool is_plausible(const struct symcache_unwinder *u, uint64_t at, uint64_t address)
{
	struct symcache_unwinder trial = *u;
	struct symcache_unwind_frame module;
	struct symcache_registers caller;
	struct symcache_frames frames;
	struct symcache_row row;

	if (!find_module(u, address - 1, &module) || !module.cache ||
	    !symcache_find_row(module.cache, address - 1 - module.base, &row) ||
	    !symcache_lookup(module.cache, address - 1 - module.base, &frames) ||
	    is_function(module.cache, address - module.base))
		return false;
	symcache_set_register(&trial.registers, u->arch->stack_pointer, at + u->arch->word);
	trial.registers.pc = address;
	trial.exact = false;
	if (!step_by_row(&trial, &module, &row, &caller))
		return trial.stop == SYMCACHE_STOP_END;
	return caller.value[u->arch->stack_pointer] > at && is_return_address(u, caller.pc);
}

static bool step_by_scan(struct symcache_unwinder *u, struct symcache_registers *ret)
{
	const struct symcache_unwind_arch *a = u->arch;
	unsigned words = u->trust <= SYMCACHE_TRUST_CFI ? SCAN_FAR : SCAN_WORDS;
	uint64_t at = (stack_pointer(u) + a->word - 1) & ~(uint64_t)(a->word - 1), address;

	for (; words--; at += a->word) {
		if (!sc_read_word(u, at, &address))
			return false;
		address = without_signature(u, address);
		if (address && is_plausible(u, at, address)) {
			begin_caller(u, a->preserved, ret);
			symcache_set_register(ret, a->stack_pointer, at + a->word);
			ret->pc = address;
			return true;
		}
	}
	return false;
}

/* ---- steps ---------------------------------------------------------------------------- */

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
	if ((!row || (f->signal && u->arch->machine == EM_AARCH64)) && step_by_trampoline(u, ret)) {
		f->signal = true;
		return true;
	}
	if (row) {
		*how = f->signal ? SYMCACHE_TRUST_SIGNAL : SYMCACHE_TRUST_CFI;
		return step_by_row(u, f, row, ret);
	}
	*how = SYMCACHE_TRUST_CALL;
	is_code = f->has_module || (known ? u->source->executable(u->source->ctx, f->lookup_pc) :
				    may_be_code(f->lookup_pc));
	if ((!is_code || !known) && u->exact && step_by_call(u, ret))
		return true;
	if (!is_code)
		return stop_without_row(u, f);
	*how = SYMCACHE_TRUST_FRAME_POINTER;
	if (step_by_frame_pointer(u, ret))
		return true;
	*how = SYMCACHE_TRUST_SCAN;
	return step_by_scan(u, ret) || stop_without_row(u, f);
}

/* Goes on to the caller, if it may be one. */
static bool take_caller(struct symcache_unwinder *u, const struct symcache_unwind_frame *f,
			const struct symcache_registers *caller, enum symcache_trust how)
{
	const uint64_t sp = stack_pointer(u), above = caller->value[u->arch->stack_pointer];
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
		.stack_pointer = stack_pointer(u), .trust = u->trust, .known = u->registers.known,
	};
	ret->has_module = find_module(u, ret->lookup_pc, ret);
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
