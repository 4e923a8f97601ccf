/*
 * Fuzz target: a whole trace file. Byte 0 of the input is not part of the file; its
 * lowest bit chooses the byte order. Everything is read: definitions, actions, the
 * target description, frames, blocks, program counters, stacks (without caches).
 */
#include <elf.h>
#include <stdlib.h>

#include "libsymcache/trace/collected.h"
#include "libsymcache/trace/tdesc.h"
#include "libsymcache/trace/tfile_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches each byte, for the sanitizer to see. */
static unsigned touch(const void *p, size_t len)
{
	const volatile uint8_t *bytes = p;
	unsigned sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += bytes[i];
	return sum;
}

static void read_definitions(const struct symtrace *f)
{
	for (size_t i = 0; i < f->num_tracepoints; i++) {
		const struct symtrace_tracepoint *tp = &f->tracepoints[i];

		touch(tp->condition.ptr, tp->condition.len);
		for (size_t k = 0; k < tp->num_pieces; k++) {
			struct sc_str rest = f->pieces[tp->first_piece + k].text;
			struct symtrace_action action;

			touch(rest.ptr, rest.len);
			while (symtrace_next_action(&rest, &action))
				touch(action.text.ptr, action.text.len);
		}
	}
	for (size_t i = 0; i < f->num_variables; i++)
		touch(f->variables[i].name.ptr, f->variables[i].name.len + 1);
	for (size_t i = 0; i < f->num_notices && i < SYMTRACE_NOTICES_MAX; i++)
		touch(f->notices[i].msg, 1);
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	(void)ctx;
	ret->base = address;
	return address & 1;
}

static bool is_code(void *ctx, uint64_t address)
{
	(void)ctx;
	return address & 3;
}

static void walk_stack(const struct symtrace *f, const struct symtrace_frame *frame,
		       struct symtrace_pc pc, struct symtrace_collected *c)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_RISCV };
	const struct symcache_unwind_source source = {
		.machine = machines[pc.address & 3], .max_frames = 100, .read = symtrace_collected_read,
		.module = find_module, .executable = is_code, .ctx = c,
	};
	struct symcache_unwinder u;
	struct symcache_unwind_frame next;

	if (symtrace_collect(f, frame, pc, source.machine, c, NULL) ||
	    symcache_unwind_begin(&u, &source, &c->registers, NULL))
		return;
	for (size_t i = 1; i < c->memory.len; i++)
		if (c->memory.data[i].address < c->memory.data[i - 1].address + c->memory.data[i - 1].len)
			abort();
	while (symcache_unwind_next(&u, &next))
		touch(&next, sizeof(next));
	symtrace_collected_end(c, u.address);
}

static void read_frames(const struct symtrace *f)
{
	struct symtrace_collected collected = { 0 };
	struct symtrace_frames frames = symtrace_frames(f);
	struct symtrace_frame frame;
	struct symtrace_blocks blocks;
	struct symtrace_block block;
	struct symtrace_error err;

	while (symtrace_next_frame(&frames, &frame, &err) > 0) {
		struct symtrace_pc pc = symtrace_frame_pc(f, &frame);

		symtrace_frame_stepping(f, &frame, pc);
		if (symtrace_pc_known(pc))
			walk_stack(f, &frame, pc, &collected);
		blocks = symtrace_blocks(f, &frame);
		while (symtrace_next_block(&blocks, &block, &err) > 0) {
			touch(block.bytes, block.len);
			symtrace_find_variable(f, block.variable);
		}
	}
	symtrace_collected_deinit(&collected);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symtrace_register *pc;
	struct symtrace f;
	char msg[100];

	if (size == 0)
		return 0;
	symtrace_read(&f, data + 1, size - 1);
	f.big_endian = data[0] & 1;
	f.pc_slot = (struct symtrace_pc_slot){ 128, 8 };
	read_definitions(&f);
	if (f.tdesc.ptr &&
	    tdesc_parse(&f.layout, f.tdesc.ptr, f.tdesc.len, msg, sizeof(msg)) == 0 &&
	    (pc = tdesc_pc(&f.layout)))
		f.pc_slot = (struct symtrace_pc_slot){ pc->offset, pc->size };
	symtrace_guess_big_endian(&f);
	read_frames(&f);
	symtrace_close(&f);
	return 0;
}
