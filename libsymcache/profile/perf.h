/* perf.h: perf.data as a profile in pprof's protobuf, without symbols. */
#ifndef SC_PROFILE_PERF_H
#define SC_PROFILE_PERF_H

#include "libsymcache/profile/builder.h"
#include "libsymcache/profile/perf_file.h"
#include "libsymcache/profile/texts.h"
#include "libsymcache/symbolize/perf_map.h"
#include "libsymcache/symbolize/process.h"
#include "libsymcache/unwind/unwind.h"

struct perf_stack { /* samples that are the same */
	uint32_t pid, tid, comm;
	size_t first, num; /* of locations */
};

/* A mapping that was used: its number in the profile is its place, from 1 on. */
struct perf_mapping {
	const struct symcache_image *image;
	uint64_t start, end, offset;
};

/* All zero at first; what is in it serves for the next file. */
struct perf_profile {
	struct perf_file file;
	struct symcache_process *root;       /* whose images all processes share */
	struct prof_ids pids;               /* number i is processes.data[i]; it may be NULL */
	VEC(struct symcache_process *) processes;
	struct prof_ids tids;               /* number i has the name comm_of.data[i] */
	VEC(uint32_t) comm_of;
	struct prof_texts comms;             /* names of threads; 0 is "" */
	VEC(struct perf_mapping) used;
	struct sc_intern used_set;
	VEC(uint64_t) locations;             /* of stacks */
	VEC(struct perf_stack) stacks;
	VEC(int64_t) values;                 /* of stack i: two for each event */
	struct sc_intern stack_set;
	struct symcache_stack walked;
	uint64_t work;                       /* mappings that were moved */
	const char *jit_dir;                 /* set before, borrowed: has perf-PID.map; NULL: none */
	struct prof_ids jit_pids;            /* number i is jitted.data[i] */
	VEC(struct symcache_perf_map) jitted;
};

/* Reads perf.data and writes what it says behind what is in `to`. Where samples have registers and
 * stack of the program, those are unwound by the caches of `finder`. As perf_file_read(). */
int perf_to_pprof(struct perf_profile *p, const struct prof_input *in,
		  const struct symcache_finder *finder, struct prof_builder *b,
		  struct prof_bytes *to, struct sc_error *err);
void perf_deinit(struct perf_profile *p);

/* ---- perf_space.c: what is mapped where, and names of threads ------------------------------ */

#define PERF_KERNEL_PID UINT32_MAX
#define PERF_GUEST_PID ((uint64_t)PERF_KERNEL_PID + 1) /* the guests' kernel, which has no pid */

/* Records of these types. SC_EFORMAT, SC_ELIMIT, SC_ENOMEM. */
int perf_read_mmap(struct perf_profile *p, const uint8_t *bytes, size_t size, struct sc_error *err);
int perf_read_comm(struct perf_profile *p, const uint8_t *bytes, size_t size, struct sc_error *err);
int perf_read_fork(struct perf_profile *p, const uint8_t *bytes, size_t size, struct sc_error *err);

/* NULL: nothing is known of it. */
struct symcache_process *perf_process_of(const struct perf_profile *p, uint64_t pid);

/* The name of a thread: of p->comms. */
uint32_t perf_comm_of(const struct perf_profile *p, uint32_t tid);

/* ---- perf_jit.c: code that was made at run time --------------------------------------------- */

/* The name that the JIT of a process gave the code at an address, which is in `m` or, NULL, in
 * nothing that is known; *name "" if it is not known. False: out of memory. */
bool perf_jitted(struct perf_profile *p, uint32_t pid, const struct symcache_mapping *m,
		 uint64_t address, const char **name);

void perf_jit_clear(struct perf_profile *p);

/* ---- perf_stack.c: the stack of a sample out of registers and memory ----------------------- */

/* Walks it: p->walked. False: it has none, or of a machine that is not known. */
bool perf_walk(struct perf_profile *p, struct symcache_process *process,
	       const struct perf_sample *sample);

#endif
