/*
 * Registers and memory of a trace frame: see symcache/collected.h.
 *
 * Registers are known by their names: GDB's order is not that of DWARF. Blocks of memory are
 * sorted, and cut where they overlap: they are of one moment, so it does not matter which of
 * two is taken. Cost: n log n in the blocks of the frame, a search for each read.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "symcache/collected.h"

/* ---- registers --------------------------------------------------------------------------- */

static void take_registers(const struct symtrace *file, const struct symtrace_block *block,
			   uint16_t machine, struct symcache_registers *ret)
{
	for (size_t i = 0; i < file->layout.num_registers; i++) {
		const struct symtrace_register *r = &file->layout.registers[i];
		const unsigned n = symcache_register_number(machine, r->name);

		if (n != SYMCACHE_NO_REGISTER && r->size && r->size <= 8 && r->size <= block->len &&
		    r->offset <= block->len - r->size)
			symcache_set_register(ret, n, symtrace_number(file, block->bytes + r->offset, r->size));
	}
}

/* ---- memory -------------------------------------------------------------------------------- */

static bool add_memory(struct symtrace_collected *c, const struct symtrace_block *block)
{
	if (c->num_memory == c->cap_memory) {
		const size_t cap = c->cap_memory * 2 + 8;
		struct symtrace_block *larger = reallocarray(c->memory, cap, sizeof(*larger));

		if (!larger)
			return false;
		c->memory = larger;
		c->cap_memory = cap;
	}
	c->memory[c->num_memory++] = *block;
	return true;
}

static bool is_before(const struct symtrace_block *a, const struct symtrace_block *b)
{
	return a->address != b->address ? a->address < b->address : a->offset < b->offset;
}

SC_SORT(sort_blocks, struct symtrace_block, is_before)

/* Makes blocks disjoint: of each stays what those before it do not have. */
static void cut_overlaps(struct symtrace_collected *c)
{
	uint64_t end = 0;
	size_t n = 0;

	for (size_t i = 0; i < c->num_memory; i++) {
		struct symtrace_block b = c->memory[i];
		const uint64_t skip = b.address < end ? end - b.address : 0;

		if (skip >= b.len || b.address > UINT64_MAX - b.len)
			continue;
		b.address += skip;
		b.bytes += skip;
		b.len -= skip;
		end = b.address + b.len;
		c->memory[n++] = b;
	}
	c->num_memory = n;
}

/* The first block that ends behind `address`, or the end of the list. */
static const struct symtrace_block *block_at(const struct symtrace_collected *c, uint64_t address)
{
	return c->memory + SC_SEARCH(i, c->num_memory,
				     c->memory[i].address + c->memory[i].len <= address);
}

bool symtrace_collected_read(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct symtrace_collected *c = ctx;
	const struct symtrace_block *end = c->memory + c->num_memory;

	for (const struct symtrace_block *b = block_at(c, address); bytes; b++) {
		size_t n;

		if (b == end || address < b->address)
			return false;
		n = b->address + b->len - address < bytes ? (size_t)(b->address + b->len - address) : bytes;
		memcpy(to, b->bytes + (address - b->address), n);
		to = (uint8_t *)to + n;
		address += n;
		bytes -= n;
	}
	return true;
}

uint64_t symtrace_collected_end(const struct symtrace_collected *c, uint64_t address)
{
	const struct symtrace_block *b = block_at(c, address), *end = c->memory + c->num_memory;
	uint64_t at = 0;

	for (; b < end && b->address <= (at ? at : address); b++)
		at = b->address + b->len;
	return at;
}

/* ---- a frame ------------------------------------------------------------------------------- */

int symtrace_collect(const struct symtrace *file, const struct symtrace_frame *frame,
		     struct symtrace_pc pc, uint16_t machine, struct symtrace_collected *ret,
		     struct sc_error *err)
{
	const unsigned sp = machine == EM_X86_64 ? 7 : machine == EM_386 ? 4 : machine == EM_RISCV ? 2 : 31;
	struct symtrace_blocks walk = symtrace_blocks(file, frame);
	struct symtrace_block block;
	struct symtrace_error ignored;

	ret->registers.known = 0;
	ret->registers.pc = pc.address;
	ret->num_memory = 0;
	while (symtrace_next_block(&walk, &block, &ignored) > 0) {
		if (block.kind == 'R' && !ret->registers.known)
			take_registers(file, &block, machine, &ret->registers);
		if (block.kind == 'M' && block.len && !add_memory(ret, &block))
			return sc_no_memory(err);
	}
	if (!(ret->registers.known >> sp & 1))
		return sc_error_set(err, SC_ENOTFOUND, "no registers were collected");
	if (!sort_blocks(ret->memory, ret->num_memory))
		return sc_no_memory(err);
	cut_overlaps(ret);
	return 0;
}

void symtrace_collected_deinit(struct symtrace_collected *c)
{
	free(c->memory);
	*c = (struct symtrace_collected){ 0 };
}
