/*
 * The stack of a sample of perf record --call-graph dwarf: registers and a copy of the stack's top,
 * unwound by the rows that caches have. See perf.h; perf itself needs the binaries for it.
 */
#include <elf.h>

#include "libsymcache/profile/perf.h"

enum { ABI_32 = 1, PC = 0xff, NONE = 0xfe };

/* What the registers of a sample are, in the order of perf's numbers: DWARF's numbers. */
static const struct machine {
	const char *arch; /* as perf.data says it begins */
	uint16_t machine;
	bool abi_32;
	uint8_t num, stack_pointer;
	uint8_t registers[33];
} machines[] = {
	{ "x86_64", EM_X86_64, false, 24, 7,
	  { 0, 3, 2, 1, 4, 5, 6, 7, PC, NONE, NONE, NONE, NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12,
	    13, 14, 15 } },
	{ "x86_64", EM_386, true, 9, 4, { 0, 3, 1, 2, 6, 7, 5, 4, PC } },
	{ "i", EM_386, true, 9, 4, { 0, 3, 1, 2, 6, 7, 5, 4, PC } },
	{ "aarch64", EM_AARCH64, false, 33, 31,
	  { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
	    25, 26, 27, 28, 29, 30, 31, PC } },
	{ "riscv64", EM_RISCV, false, 32, 2,
	  { PC, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
	    25, 26, 27, 28, 29, 30, 31 } },
};

struct walk {
	struct symcache_process *process;
	const uint8_t *stack;
	uint64_t start, size; /* of it: address, bytes */
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct walk *w = ctx;

	if (address < w->start || address - w->start > w->size ||
	    bytes > w->size - (address - w->start))
		return false;
	memcpy(to, w->stack + (address - w->start), bytes);
	return true;
}

static bool is_executable(void *ctx, uint64_t address)
{
	return symcache_process_at(((struct walk *)ctx)->process, address);
}

static const struct machine *machine_of(const struct perf_file *f, const struct perf_sample *s)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (!strncmp(f->arch, machines[i].arch, strlen(machines[i].arch)) &&
		    (s->abi == ABI_32) == machines[i].abi_32)
			return &machines[i];
	return NULL;
}

/* False: there is neither a pc nor a stack pointer. */
static bool read_registers(const struct machine *m, uint64_t mask, const uint8_t *words,
			   struct symcache_registers *ret)
{
	bool has_pc = false;

	*ret = (struct symcache_registers){ 0 };
	for (unsigned i = 0; i < 64; i++) {
		struct dw_cursor c = perf_cursor_of(words, 8, 0);
		const uint8_t number = i < m->num ? m->registers[i] : NONE;

		if (!(mask >> i & 1))
			continue;
		words += 8;
		if (number == PC) {
			ret->pc = dw_u64(&c);
			has_pc = true;
		} else if (number != NONE) {
			symcache_set_register(ret, number, dw_u64(&c));
		}
	}
	return has_pc && ret->known >> m->stack_pointer & 1;
}

bool perf_walk(struct perf_profile *p, struct symcache_process *process,
	       const struct perf_sample *s)
{
	const struct machine *m = s->regs ? machine_of(&p->file, s) : NULL;
	struct walk w = { process, s->stack, 0, s->stack ? s->stack_size : 0 };
	struct symcache_registers registers;

	if (!m || !read_registers(m, p->file.events.data[s->event].regs, s->regs, &registers))
		return false;
	w.start = registers.value[m->stack_pointer];
	const struct symcache_unwind_source source = {
		.machine = m->machine, .max_frames = 1024, .read = read_memory,
		.module = symcache_process_unwind, .modules = process,
		.executable = is_executable, .ctx = &w, .code = symcache_process_code,
	};
	return !symcache_stack_walk(&source, &registers, false, &p->walked, NULL);
}
