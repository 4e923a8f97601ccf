/*
 * Fuzz target: any cache, any registers, any memory: a stack ends after so many frames as
 * there may be, and reads no more words than a step may.
 *
 *   u32 size of the cache | u16 machine | u16 0 | u64 where the module begins, where the memory
 *   begins, pc, 33 registers | the cache | the memory
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 8 + 8 * 36, FRAMES = 300, READS = 600 };

struct process {
	struct symcache cache;
	uint64_t module, memory;
	const uint8_t *bytes;
	size_t size;
	unsigned reads;
};

static void must(bool ok)
{
	if (!ok)
		abort();
}

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	struct process *p = ctx;

	p->reads++;
	if (address < p->memory || address - p->memory > p->size ||
	    bytes > p->size - (address - p->memory))
		return false;
	memcpy(to, p->bytes + (address - p->memory), bytes);
	return true;
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct process *p = ctx;

	ret->cache = &p->cache;
	ret->base = p->module;
	return address >= p->module && address - p->module < (1u << 24);
}

static bool is_executable(void *ctx, uint64_t address)
{
	(void)ctx;
	return address & 0x1000;
}

/* `known`: of code outside of the module something is known. */
static void walk(struct process *p, uint16_t machine, const struct symcache_registers *registers,
		 bool known)
{
	const struct symcache_unwind_source source = {
		.machine = machine, .max_frames = FRAMES, .read = read_memory, .module = find_module,
		.executable = known ? is_executable : NULL, .ctx = p, .modules = p,
	};
	struct symcache_unwinder u;
	struct symcache_unwind_frame f;
	uint64_t before = 0;
	unsigned frames = 0;
	bool signal = true;

	if (symcache_unwind_begin(&u, &source, registers, NULL))
		return;
	for (p->reads = 0; symcache_unwind_next(&u, &f); p->reads = 0) {
		must(frames++ <= FRAMES && p->reads <= 100 * READS);
		must(signal || f.stack_pointer >= before);
		before = f.stack_pointer;
		signal = f.signal;
	}
	must(frames && u.stop != SYMCACHE_STOP_NONE && *symcache_stop_text(u.stop));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symcache_registers registers = { .known = (1ull << 33) - 1 };
	struct process p = { 0 };
	uint64_t words[36];
	uint32_t cache_size;
	uint16_t machine;
	void *copy;

	if (size < HEAD)
		return 0;
	memcpy(&cache_size, data, 4);
	memcpy(&machine, data + 4, 2);
	memcpy(words, data + 8, sizeof(words));
	if (cache_size > size - HEAD)
		return 0;
	copy = aligned_alloc(8, (cache_size + 8u) & ~7u);
	must(copy);
	memcpy(copy, data + HEAD, cache_size);
	p.module = words[0];
	p.memory = words[1];
	registers.pc = words[2];
	memcpy(registers.value, words + 3, 33 * sizeof(*words));
	p.bytes = data + HEAD + cache_size;
	p.size = size - HEAD - cache_size;
	if (!symcache_open(&p.cache, copy, cache_size, NULL)) {
		walk(&p, machine, &registers, true);
		walk(&p, machine, &registers, false);
	}
	free(copy);
	return 0;
}
