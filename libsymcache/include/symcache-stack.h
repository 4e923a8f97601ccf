/*
 * symcache-stack.h: registers and memory of a thread → its stack, by the unwind information in
 * caches: neither programs nor debug files need to be there.
 *
 *   symcache_walk(&options, &registers, print, NULL, &why, &err);
 *
 * Of core files, minidumps and processes that run, symcache_core_stacks() and
 * symcache_process_stacks() (symcache-build.h) do all of it.
 *
 * Link with -lsymcache.
 */
#ifndef SYMCACHE_STACK_H
#define SYMCACHE_STACK_H

#include <symcache.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- symcache_walk: registers and memory to frames ---------------------------------------- */

/* Registers by their numbers in DWARF. */
struct symcache_thread {
	uint64_t known;     /* bit n: value[n] is known */
	uint64_t pc;
	uint64_t value[64];
};

/* How a frame was found, best first. New ones may come. */
enum {
	SYMCACHE_WALK_CONTEXT = 0, /* the thread's registers */
	SYMCACHE_WALK_SIGNAL = 1,  /* registers that a signal frame saved */
	SYMCACHE_WALK_CFI = 2,     /* unwind information */
	SYMCACHE_WALK_CALL = 3,    /* the return address of a call that went nowhere */
	SYMCACHE_WALK_POINTER = 4, /* the frame pointer */
	SYMCACHE_WALK_SCAN = 5     /* something on the stack that looks like a return address */
};

struct symcache_stack_frame {
	uint64_t pc;                  /* as it stands in the register or on the stack */
	uint64_t lookup_pc;           /* to look up: in front of a return address */
	uint64_t stack_pointer;
	struct symcache_cache *cache; /* of lookup_pc, borrowed; NULL: none */
	uint64_t vaddr;               /* lookup_pc in the ELF file, if there is a cache */
	uint32_t how;                 /* SYMCACHE_WALK_… */
	uint32_t flags;               /* 1: a signal trampoline */
};

struct symcache_walk_options {
	size_t size;         /* sizeof(struct symcache_walk_options) */
	uint32_t machine;    /* e_machine: of x86-64, i386, AArch64, RISC-V (64 bits) */
	uint32_t max_frames; /* 0: 100,000 */
	uint64_t signature;  /* bits of return addresses that are signed; 0: those from 48 on */
	/* Copies memory of the process; 0: some of it is not there. */
	int (*read)(void *ctx, uint64_t address, void *to, size_t bytes);
	/* The cache of the module whose code has `address`, borrowed, and its bias: what was
	 * added to the addresses of its file. NULL: none. */
	struct symcache_cache *(*module)(void *ctx, uint64_t address, uint64_t *bias);
	/* Can code be there, as far as is known? */
	int (*executable)(void *ctx, uint64_t address);
	void *ctx;
};

/* Calls `fn` for each frame of a thread, innermost first, until it returns nonzero, which is then
 * returned. *why (may be NULL): why the stack ends, in a few words that are valid for ever; "": `fn`
 * ended it. Any number of threads may walk at once, if the functions of `options` allow it.
 * SYMCACHE_EINVAL: a NULL, or unknown options; SYMCACHE_EUNSUPPORTED: another machine. */
SYMCACHE_API int symcache_walk(const struct symcache_walk_options *options,
			       const struct symcache_thread *registers,
			       int (*fn)(void *ctx, const struct symcache_stack_frame *frame),
			       void *ctx, const char **why, struct symcache_error *err);

#ifdef __cplusplus
}
#endif

#endif
