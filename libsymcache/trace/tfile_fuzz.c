/*
 * Fuzz target: a whole trace file. Byte 0 of the input is no part of the file; its
 * lowest bit chooses the byte order. Everything is read: definitions, actions, the
 * target description, frames, blocks, program counters.
 */
#include <stdlib.h>

#include "libsymcache/trace/tdesc.h"
#include "libsymcache/trace/tfile.h"

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

static void read_definitions(const struct tfile *f)
{
	for (size_t i = 0; i < f->num_tracepoints; i++) {
		const struct tfile_tracepoint *tp = &f->tracepoints[i];

		touch(tp->condition.ptr, tp->condition.len);
		for (size_t k = 0; k < tp->num_pieces; k++) {
			struct tfile_str rest = f->pieces[tp->first_piece + k].text;
			struct tfile_action action;

			touch(rest.ptr, rest.len);
			while (tfile_next_action(&rest, &action))
				touch(action.text.ptr, action.text.len);
		}
	}
	for (size_t i = 0; i < f->num_variables; i++)
		touch(f->variables[i].name.ptr, f->variables[i].name.len + 1);
	for (size_t i = 0; i < f->num_notices && i < TFILE_NOTICES_MAX; i++)
		touch(f->notices[i].msg, 1);
}

static void read_frames(const struct tfile *f, struct tfile_pc_slot slot)
{
	struct tfile_frames frames = tfile_frames(f);
	struct tfile_frame frame;
	struct tfile_blocks blocks;
	struct tfile_block block;
	struct tfile_error err;

	while (tfile_next_frame(&frames, &frame, &err) > 0) {
		struct tfile_pc pc = tfile_frame_pc(f, &frame, slot);

		tfile_frame_stepping(f, &frame, pc);
		blocks = tfile_blocks(f, &frame);
		while (tfile_next_block(&blocks, &block, &err) > 0) {
			touch(block.bytes, block.len);
			tfile_find_variable(f, block.variable);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tfile f;
	struct tfile_error err;
	struct tdesc tdesc = { 0 };
	struct tfile_pc_slot slot = { 128, 8 };
	char msg[100];

	if (size == 0)
		return 0;
	tfile_open(&f, data + 1, size - 1, &err);
	f.big_endian = data[0] & 1;
	read_definitions(&f);
	if (f.tdesc.ptr && tdesc_parse(&tdesc, f.tdesc.ptr, f.tdesc.len, msg, sizeof(msg)) == 0 &&
	    tdesc_pc(&tdesc))
		slot = (struct tfile_pc_slot){ tdesc_pc(&tdesc)->offset, tdesc_pc(&tdesc)->size };
	tfile_guess_big_endian(&f);
	read_frames(&f, slot);
	tdesc_deinit(&tdesc);
	tfile_close(&f);
	return 0;
}
