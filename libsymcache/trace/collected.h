/*
 * collected.h: what a frame of a trace file collected, as libsymcache/unwind/unwind.h wants it:
 * registers by their numbers in DWARF, and memory.
 *
 *   struct symtrace_collected c = { 0 };
 *   while (symtrace_next_frame(&walk, &frame, &error) > 0)
 *           if (!symtrace_collect(&t, &frame, pc, machine, &c, &err))
 *                   … symcache_unwind_begin(&u, &source, &c.registers, &err) …
 *   symtrace_collected_deinit(&c);
 */
#ifndef SYMCACHE_COLLECTED_H
#define SYMCACHE_COLLECTED_H

#include "libsymcache/symbolize/process.h"
#include "libsymcache/trace/trace.h"
#include "libsymcache/unwind/unwind.h"

struct symtrace_collected {
	struct symcache_registers registers;
	/* Private: blocks of memory, ascending and disjoint. */
	struct { struct symtrace_block *data; size_t len, cap; } memory;
};

/*
 * Takes registers and memory of a frame, in place of those of the last one; the bytes stay
 * in the file. `pc` is the frame's, known; `machine` an e_machine. A damaged frame gives
 * what it has. SC_ENOTFOUND: no registers were collected, or not the stack pointer;
 * SC_ENOMEM.
 */
int symtrace_collect(const struct symtrace *file, const struct symtrace_frame *frame,
		     struct symtrace_pc pc, uint16_t machine, struct symtrace_collected *ret,
		     struct sc_error *err);
void symtrace_collected_deinit(struct symtrace_collected *c);

/* For struct symcache_unwind_source, with the collected as ctx: numbers are in the byte
 * order of the target. */
bool symtrace_collected_read(void *ctx, uint64_t address, void *to, size_t bytes);

/* Where the collected bytes end that have `address`; 0: it was not collected. */
uint64_t symtrace_collected_end(const struct symtrace_collected *c, uint64_t address);

/* ---- its stack ------------------------------------------------------------------------- */

/* All zero before the first walk. */
struct symtrace_stack {
	struct symcache_stack stack; /* frames[0] is the trace frame itself; owners are struct
	                              * symcache_image */
	uint64_t collected_end;      /* the stack was collected up to there; 0: it was not */
	unsigned word;               /* bytes of an address */
	struct symtrace_collected collected; /* private */
};

/* Walks the stack of a frame whose program counter `pc` is known. SC_EUNSUPPORTED: of such a
 * machine; else as symtrace_collect(). */
int symtrace_walk(const struct symtrace *file, const struct symtrace_frame *frame,
		  struct symtrace_pc pc, struct symcache_process *images,
		  struct symtrace_stack *ret, struct sc_error *err);
void symtrace_stack_deinit(struct symtrace_stack *s);

/* The machine of the first image whose cache knows it; 0: none does. */
struct symtrace_target symtrace_target_of(const struct symcache_process *images);

#endif
