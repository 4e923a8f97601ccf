/*
 * unwind.h: registers and memory of a thread → its stack, frame by frame.
 *
 *   struct symcache_unwinder u;
 *   symcache_unwind_begin(&u, &source, &registers, &err);
 *   while (symcache_unwind_next(&u, &frame))
 *           … frame.pc, symcache_lookup(frame.cache, frame.rel_pc, …) …
 *   … u.stop, why there is no further frame …
 *
 * No binary is needed: caches have the unwind information. Memory comes through callbacks:
 * from a core file, a process, bytes in a message. It may be cut off, overwritten or
 * hostile: each step reads a few words, each frame lies above the one before it, and there
 * is a limit. Nothing allocates. A frame says how far it can be trusted.
 *
 * Machines: x86-64, i386, AArch64, RISC-V (64 bits), little-endian.
 */
#ifndef SYMCACHE_UNWIND_H
#define SYMCACHE_UNWIND_H

#include "libsymcache/read/rows.h"

/* Registers, by their numbers in DWARF. */
struct symcache_registers {
	uint64_t known;     /* bit n: value[n] is known */
	uint64_t pc;
	uint64_t value[64];
};

static inline void symcache_set_register(struct symcache_registers *r, unsigned n, uint64_t value)
{
	r->value[n & 63] = value;
	r->known |= 1ull << (n & 63);
}

struct symcache_unwind_frame;

struct symcache_unwind_source {
	uint16_t machine;     /* e_machine */
	/* Bits of a return address that are its signature (AArch64); 0: those from 48 on. */
	uint64_t signature;
	uint32_t max_frames;  /* 0: 100,000 */
	/* Copies memory; false: some of it is not there. */
	bool (*read)(void *ctx, uint64_t address, void *to, size_t bytes);
	/* Finds the module whose code has `address`: sets ret->owner and, if there is a cache of
	 * the module, ret->cache and ret->base, all zero before the call. False: no module has it.
	 * `ctx` is `modules`. */
	bool (*module)(void *ctx, uint64_t address, struct symcache_unwind_frame *ret);
	void *modules;
	/* Can there be code at `address`, in a module or outside of all? NULL: it is not known
	 * which memory outside of modules is code. */
	bool (*executable)(void *ctx, uint64_t address);
	void *ctx;
	/* Copies code of a module out of its file, as core files often leave it out. NULL, or
	 * false: it is not there. `ctx` is `modules`. */
	bool (*code)(void *ctx, uint64_t address, void *to, size_t bytes);
};

/* How a frame was found, best first. */
enum symcache_trust {
	SYMCACHE_TRUST_CONTEXT,       /* the thread's registers */
	SYMCACHE_TRUST_SIGNAL,        /* registers that a signal frame saved */
	SYMCACHE_TRUST_CFI,           /* a row of unwind information */
	SYMCACHE_TRUST_CALL,          /* the return address of a call that went nowhere */
	SYMCACHE_TRUST_FRAME_POINTER,
	SYMCACHE_TRUST_SCAN,          /* something on the stack that looks like one */
};

struct symcache_unwind_frame {
	uint64_t pc;          /* as it stands in the register or on the stack */
	uint64_t lookup_pc;   /* to find function and line: in front of a return address */
	uint64_t stack_pointer;
	enum symcache_trust trust;
	bool signal;          /* the frame is a signal trampoline */
	bool has_module;      /* lookup_pc is in a module; if not, the members below are zero */
	const struct symcache *cache; /* of the module; NULL: there is none */
	void *owner;          /* the module, as `module` of the source gave it */
	uint64_t base;        /* relative address = address − base; without a cache 0 */
	uint64_t rel_pc;      /* lookup_pc − base */
	uint64_t known;       /* bit n: register n is known in this frame; its value is in u.registers
	                       * before symcache_unwind_next() returns this frame */
};

/* Why a stack ends; unwind.c has the words for each. */
enum symcache_stop {
	SYMCACHE_STOP_NONE,
	SYMCACHE_STOP_END,         /* the outermost frame */
	SYMCACHE_STOP_MEMORY,      /* u.address is not there */
	SYMCACHE_STOP_NO_ROW,      /* u.lacks has no unwind information for the address */
	SYMCACHE_STOP_NO_UNWIND,   /* the cache of u.lacks has none at all */
	SYMCACHE_STOP_NO_CACHE,    /* there is no cache of u.lacks */
	SYMCACHE_STOP_NO_MODULE,   /* the pc is in none */
	SYMCACHE_STOP_LOST,        /* a register that is needed, or the return address, is lost */
	SYMCACHE_STOP_NOT_GROWING, /* the next frame would lie below */
	SYMCACHE_STOP_LIMIT,
};

/* In storage of the caller. `stop`, `address` and `lacks` are set when symcache_unwind_next() has
 * returned the last frame. */
struct symcache_unwinder {
	const struct symcache_unwind_source *source;
	struct symcache_registers registers; /* of the next frame */
	enum symcache_stop stop;
	uint64_t address;       /* of SYMCACHE_STOP_MEMORY */
	void *lacks;            /* owner of the module that lacks what is needed to go on; or NULL */
	/* private */
	const struct symcache_unwind_arch *arch;
	enum symcache_trust trust;
	bool exact;             /* registers.pc is not a return address */
	uint32_t frames, signals;
	uint64_t operations;    /* of expressions */
};

/* SC_EUNSUPPORTED: another machine. `source` must live as long as the unwinder. */
int symcache_unwind_begin(struct symcache_unwinder *u, const struct symcache_unwind_source *source,
			  const struct symcache_registers *registers, struct sc_error *err);

/* The next frame, innermost first; false: there are no more. */
bool symcache_unwind_next(struct symcache_unwinder *u, struct symcache_unwind_frame *ret);

/* ---- whole stacks --------------------------------------------------------------------------- */

/* All zero before the first walk; what is in it serves for the next one. */
struct symcache_stack {
	struct symcache_unwind_frame *frames;
	size_t num_frames;
	struct symcache_registers *registers; /* of each frame, if they were asked for; or NULL */
	enum symcache_stop stop;
	uint64_t address;     /* of SYMCACHE_STOP_MEMORY */
	void *lacks;          /* owner of the module that lacks what is needed to go on; or NULL */
	size_t cap_frames, cap_registers; /* private */
};

/* Walks the stack from the registers `of`; with `registers`, keeps those of each frame.
 * SC_EUNSUPPORTED: another machine; SC_ENOMEM. */
int symcache_stack_walk(const struct symcache_unwind_source *source,
			const struct symcache_registers *of, bool registers,
			struct symcache_stack *ret, struct sc_error *err);

/* A hash of 128 bits, equal for stacks with the same frames, found in the same ways, that end for
 * the same reason. */
struct symcache_stack_id {
	uint64_t low, high;
};
struct symcache_stack_id symcache_stack_id(const struct symcache_stack *s);
void symcache_stack_deinit(struct symcache_stack *s);

/* "cfi", "frame pointer", …: one or two words. */
const char *symcache_trust_text(enum symcache_trust trust);
/* Why a stack ends: in a few words for people, and as one word for programs ("no_row"). */
const char *symcache_stop_text(enum symcache_stop stop);
const char *symcache_stop_word(enum symcache_stop stop);

#endif
