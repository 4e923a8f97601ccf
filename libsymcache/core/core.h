/*
 * core.h: core files and minidumps: threads with their registers, modules with their build
 * IDs, memory.
 *
 *   struct symcache_core *core;
 *   symcache_core_open("core.4242", &core, &err);
 *   … core->threads, core->modules, symcache_core_walk(core, &core->threads[0], …) …
 *   symcache_core_close(core);
 *
 * Machines: x86-64, i386, AArch64 and RISC-V (minidumps: not RISC-V, and of Linux and Android
 * only), on any host. Little of a large file is read: headers, the first pages of modules, and what
 * is asked for. A compressed file (zstd, xz, lz4, gzip, bzip2) is read once from front to back,
 * keeping stacks, first pages and code made at run time, and once more for a stack that is
 * elsewhere. Files that were cut off are read as far as they go. All bytes may be hostile.
 *
 * One core is for one thread at a time: memory is read through a buffer.
 */
#ifndef SYMCACHE_CORE_H
#define SYMCACHE_CORE_H

#include "libsymcache/symbolize/process.h"
#include "libsymcache/unwind/unwind.h"

struct symcache_core_thread {
	uint32_t tid;
	char name[32];         /* of minidumps; "": unknown */
	struct symcache_registers registers;
};

struct symcache_core {
	uint16_t machine;      /* e_machine */
	uint8_t word;          /* bytes: 4, 8 */
	uint32_t pid;          /* 0: unknown */
	char command[17];      /* "": unknown */
	char arguments[81];    /* the first ones */
	int signal, signal_code; /* 0: unknown */
	uint64_t signal_address; /* of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP */
	bool has_signal_address;
	uint64_t signature;    /* bits of return addresses: see symcache_unwind_source */
	uint64_t missing;      /* bytes that are missing at the end of the file; of a compressed one at
	                        * least 1, if it turned out to be cut off */
	bool died;             /* the process died, of what threads[0] did; false: a minidump of a
	                        * process that did not crash */
	const struct symcache_core_thread *threads; /* as in the file: the one that died comes first */
	size_t num_threads;
	/* Its modules, ascending by address, which are images of `process`: path as the process had
	 * it, or ""; build ID, of which a minidump may have only the first 16 bytes; start, end. */
	struct symcache_image *const *modules;
	size_t num_modules;
	struct symcache_process *process; /* what is mapped where, as far as it may be code */
	const struct symcache_image *vdso; /* the vDSO; NULL: there is none, or the core lacks a part */
	struct symcache_core_private *private;
};

/* SC_ESYS; SC_EFORMAT: neither a core file nor a minidump, or damaged; SC_EUNSUPPORTED: of
 * another machine; SC_ENOMEM. */
int symcache_core_open(const char *path, struct symcache_core **ret, struct sc_error *err);
void symcache_core_close(struct symcache_core *core); /* NULL is fine */

/*
 * Opens a running process like a core. Its threads are stopped, some tens at a time, only while
 * their registers and stacks are copied; threads that wait for a disk, or do not stop within a
 * second, are left out. Memory outside of stacks is read later, while the process runs. SC_ESYS:
 * there is no such process, or it may not be traced; SC_EUNSUPPORTED, SC_ENOMEM.
 */
int symcache_core_attach(uint32_t pid, struct symcache_core **ret, struct sc_error *err);

/* The name that the JIT of a running process gave to the code at an address (perf_map.h); NULL:
 * none. */
const char *symcache_core_jitted(const struct symcache_core *core, uint64_t address);

/* ---- modules with their caches, and stacks ------------------------------------------------ */

/* Sets where caches of modules come from; borrowed as long as the core is open. `caches` must
 * have the option without_symbols. `option`: the name of the option in messages of
 * symcache_core_bind(). */
void symcache_core_use(struct symcache_core *core, struct symcache_caches *caches,
		       const char *option);

/* Binds a module to a file or build ID: PATH=FILE or PATH=BUILDID. SC_EINVAL: not of this form;
 * SC_ENOTFOUND: the core has no such module; SC_ENOMEM. */
int symcache_core_bind(struct symcache_core *core, const char *spec, struct sc_error *err);

/* Walks the stack of a thread. Owners of frames are struct symcache_image, whose caches are opened
 * when they are needed, and whose `frames` and `lost` are counted. Errors as
 * symcache_stack_walk(). */
int symcache_core_walk(struct symcache_core *core, const struct symcache_core_thread *thread,
		       bool registers, struct symcache_stack *ret, struct sc_error *err);

#endif
