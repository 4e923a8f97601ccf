/*
 * The stack of a trace frame, from the registers and the memory that it collected: see
 * collected.h.
 *
 * Registers are known by their names: GDB's order is not that of DWARF. Blocks of memory are
 * sorted, and cut where they overlap: they are of one moment, so it does not matter which of
 * two is taken. Cost: n log n in the blocks of the frame, a search for each read.
 *
 * Code that is in no image may be code all the same: of libraries. So stacks go on behind it by
 * frame pointers and scanning, which say so.
 */
#include <elf.h>
#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/trace/collected.h"

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
	struct symtrace_block *added = vec_push(&c->memory);

	if (added)
		*added = *block;
	return added;
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

	for (size_t i = 0; i < c->memory.len; i++) {
		struct symtrace_block b = c->memory.data[i];
		const uint64_t skip = b.address < end ? end - b.address : 0;

		if (skip >= b.len || b.address > UINT64_MAX - b.len)
			continue;
		b.address += skip;
		b.bytes += skip;
		b.len -= skip;
		end = b.address + b.len;
		c->memory.data[n++] = b;
	}
	c->memory.len = n;
}

/* The first block that ends behind `address`, or the end of the list. */
static const struct symtrace_block *block_at(const struct symtrace_collected *c, uint64_t address)
{
	return c->memory.data + SC_SEARCH(i, c->memory.len,
				     c->memory.data[i].address + c->memory.data[i].len <= address);
}

bool symtrace_collected_read(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct symtrace_collected *c = ctx;
	const struct symtrace_block *end = c->memory.data + c->memory.len;

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
	const struct symtrace_block *b = block_at(c, address), *end = c->memory.data + c->memory.len;
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
	ret->memory.len = 0;
	while (symtrace_next_block(&walk, &block, &ignored) > 0) {
		if (block.kind == 'R' && !ret->registers.known)
			take_registers(file, &block, machine, &ret->registers);
		if (block.kind == 'M' && block.len && !add_memory(ret, &block))
			return sc_no_memory(err);
	}
	if (!(ret->registers.known >> sp & 1))
		return sc_error_set(err, SC_ENOTFOUND, "no registers were collected");
	if (!sort_blocks(ret->memory.data, ret->memory.len))
		return sc_no_memory(err);
	cut_overlaps(ret);
	return 0;
}

void symtrace_collected_deinit(struct symtrace_collected *c)
{
	vec_deinit(&c->memory);
}

/* ---- its stack ----------------------------------------------------------------------------- */

/* The data of an image are not code. */
static bool find_module(void *process, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct symcache_frames frames;
	struct symcache_row row;

	return symcache_process_unwind(process, address, ret) && ret->cache &&
	       (symcache_find_row(ret->cache, address - ret->base, &row) ||
		symcache_lookup(ret->cache, address - ret->base, &frames));
}

struct symtrace_target symtrace_target_of(const struct symcache_process *images)
{
	for (size_t i = 0; symcache_process_image_at(images, i); i++) {
		const struct symcache_ext_image *image =
			symcache_process_image_at(images, i)->cache->image;

		if (image)
			return (struct symtrace_target){ image->machine, image->elf_class == 64,
							 image->big_endian };
	}
	return (struct symtrace_target){ 0 };
}

int symtrace_walk(const struct symtrace *file, const struct symtrace_frame *frame,
		  struct symtrace_pc pc, struct symcache_process *images,
		  struct symtrace_stack *ret, struct sc_error *err)
{
	const struct symtrace_target target = symtrace_target_of(images);
	const struct symcache_unwind_source source = {
		.machine = target.machine, .read = symtrace_collected_read, .ctx = &ret->collected,
		.module = find_module, .modules = images, .code = symcache_process_code,
	};
	int rc;

	ret->word = target.is64 ? 8 : 4;
	ret->stack.num_frames = 0;
	if (file->big_endian)
		rc = sc_error_set(err, SC_EUNSUPPORTED,
				  "stacks of big-endian machines are not read");
	else
		rc = symtrace_collect(file, frame, pc, target.machine, &ret->collected, err);
	if (!rc)
		rc = symcache_stack_walk(&source, &ret->collected.registers, false, &ret->stack,
					 err);
	if (!rc)
		ret->collected_end = symtrace_collected_end(&ret->collected,
							    ret->stack.frames[0].stack_pointer);
	return rc;
}

void symtrace_stack_deinit(struct symtrace_stack *s)
{
	symtrace_collected_deinit(&s->collected);
	symcache_stack_deinit(&s->stack);
}
