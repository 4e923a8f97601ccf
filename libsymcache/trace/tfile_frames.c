/*
 * tfile_frames.c: the binary part of a GDB trace file: frames, their blocks, and
 * the program counter of a frame. Also the look-ups frames need: tracepoint and
 * variable by number.
 *
 * Blocks go by their own length, as in GDB: a block may reach beyond its frame,
 * never beyond the file. The next frame begins where the size in the head says.
 */
#include <stdio.h>
#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/trace/tfile_reader.h"

#define HEAD_SIZE 6         /* int16 tracepoint, uint32 size */
#define GUESS_FRAMES 64

static int premature(const struct symtrace *file, struct symtrace_error *err)
{
	err->offset = file->size;
	strcpy(err->msg, "Premature end of file while reading trace file");
	return SC_EFORMAT;
}

uint64_t symtrace_number(const struct symtrace *file, const uint8_t *p, size_t len)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n = n << 8 | p[file->big_endian ? i : len - 1 - i];
	return n;
}

/* ---- by number ------------------------------------------------------------------ */

/* The first location at or after (number, address). */
static const struct symtrace_tracepoint *location(const struct symtrace *file, uint64_t number,
					       uint64_t address)
{
	const struct symtrace_tracepoint *tp = file->tracepoints;

	return tp + SC_SEARCH(i, file->num_tracepoints, tp[i].number < number ||
			      (tp[i].number == number && tp[i].address < address));
}

size_t symtrace_find_tracepoint(const struct symtrace *file, int64_t number,
			     const struct symtrace_tracepoint **first)
{
	*first = location(file, (uint64_t)number, 0);
	return number > 0 ? (size_t)(location(file, (uint64_t)number + 1, 0) - *first) : 0;
}

const struct symtrace_variable *symtrace_find_variable(const struct symtrace *file, int64_t number)
{
	const size_t at = SC_SEARCH(i, file->num_variables, file->variables[i].number < number);

	return at < file->num_variables && file->variables[at].number == number ?
	       &file->variables[at] : NULL;
}

/* ---- frames and blocks ----------------------------------------------------------- */

struct symtrace_frames symtrace_frames(const struct symtrace *file)
{
	return (struct symtrace_frames){ .file = file, .next = file->frames_offset };
}

int symtrace_next_frame(struct symtrace_frames *frames, struct symtrace_frame *ret,
		     struct symtrace_error *err)
{
	const struct symtrace *f = frames->file;
	uint64_t at = frames->next;
	int16_t tracepoint;

	if (at == 0)
		return 0;
	if (at > f->size || f->size - at < 2)
		return premature(f, err);
	tracepoint = (int16_t)symtrace_number(f, f->data + at, 2);
	if (tracepoint == 0) {
		frames->next = 0;
		return 0;
	}
	if (f->size - at < HEAD_SIZE)
		return premature(f, err);
	*ret = (struct symtrace_frame){
		.number = frames->number++,
		.offset = at,
		.tracepoint = tracepoint,
		.size = (uint32_t)symtrace_number(f, f->data + at + 2, 4),
		.blocks_offset = at + HEAD_SIZE,
	};
	frames->next = ret->blocks_offset + ret->size;
	return 1;
}

struct symtrace_blocks symtrace_blocks(const struct symtrace *file,
				       const struct symtrace_frame *frame)
{
	uint64_t begin = frame->blocks_offset;

	/* GDB keeps the size in an int: a negative one ends the walk at once. */
	return (struct symtrace_blocks){ .file = file, .next = begin,
		.end = frame->size > INT32_MAX ? begin : begin + frame->size };
}

int symtrace_next_block(struct symtrace_blocks *blocks, struct symtrace_block *ret,
		     struct symtrace_error *err)
{
	const struct symtrace *f = blocks->file;
	uint64_t at = blocks->next, left;
	const uint8_t *p = f->data + at;
	size_t head; /* bytes before the content */

	if (at >= blocks->end)
		return 0;
	if (at >= f->size)
		return premature(f, err);
	left = f->size - at;
	*ret = (struct symtrace_block){ .kind = (char)*p, .offset = at };
	switch (*p) {
	case 'R': head = 1; break;
	case 'M': head = 1 + 8 + 2; break;
	case 'V': head = 1 + 4 + 8; break;
	case 'S': head = 1 + 2; break;
	default:
		err->offset = at;
		snprintf(err->msg, sizeof(err->msg),
			 "Unknown block type '%c' (0x%x) in trace frame", *p, *p);
		return SC_EFORMAT;
	}
	if (left < head)
		return premature(f, err);
	if (*p == 'M')
		ret->address = symtrace_number(f, p + 1, 8);
	if (*p == 'V') {
		ret->variable = (int32_t)symtrace_number(f, p + 1, 4);
		ret->value = (int64_t)symtrace_number(f, p + 5, 8);
	} else {
		ret->len = *p == 'R' ? f->regblock_size : symtrace_number(f, p + head - 2, 2);
	}
	if (left - head < ret->len)
		return premature(f, err);
	ret->bytes = p + head;
	blocks->next = at + head + ret->len;
	return 1;
}

/* ---- the program counter ----------------------------------------------------------- */

struct symtrace_pc symtrace_frame_pc(const struct symtrace *file,
				     const struct symtrace_frame *frame)
{
	const struct symtrace_pc_slot slot = file->pc_slot;
	struct symtrace_blocks walk = symtrace_blocks(file, frame);
	const struct symtrace_tracepoint *tp;
	struct symtrace_pc pc = { SYMTRACE_PC_DAMAGED, 0 };
	struct symtrace_block block;
	struct symtrace_error err;
	size_t locations;
	int more;

	do
		more = symtrace_next_block(&walk, &block, &err);
	while (more > 0 && block.kind != 'R');

	if (more > 0) {
		if (slot.size == 0 || slot.size > 8) {
			pc.kind = SYMTRACE_PC_NO_LAYOUT;
		} else if (block.len < slot.size || slot.offset > block.len - slot.size) {
			pc.kind = SYMTRACE_PC_CUT;
		} else {
			pc.kind = SYMTRACE_PC_REGISTERS;
			pc.address = symtrace_number(file, block.bytes + slot.offset, slot.size);
		}
	} else if (more == 0) {
		locations = symtrace_find_tracepoint(file, frame->tracepoint, &tp);
		if (locations == 0)
			pc.kind = SYMTRACE_PC_UNDEFINED;
		else if (locations > 1)
			pc.kind = SYMTRACE_PC_LOCATIONS;
		else if (tp->step > 0)
			pc.kind = SYMTRACE_PC_STEPPING;
		else
			pc = (struct symtrace_pc){ SYMTRACE_PC_TRACEPOINT, tp->address };
	}
	return pc;
}

bool symtrace_frame_stepping(const struct symtrace *file, const struct symtrace_frame *frame,
			  struct symtrace_pc pc)
{
	const struct symtrace_tracepoint *tp, *at;

	if (!symtrace_find_tracepoint(file, frame->tracepoint, &tp) || tp->step == 0)
		return false;
	if (pc.kind == SYMTRACE_PC_STEPPING || pc.kind == SYMTRACE_PC_LOCATIONS)
		return tp->takes_registers;
	at = location(file, tp->number, pc.address);
	return pc.kind == SYMTRACE_PC_REGISTERS &&
	       (at == file->tracepoints + file->num_tracepoints ||
		at->number != tp->number || at->address != pc.address);
}

/* How many frame heads in a row make sense in this byte order, at most
 * GUESS_FRAMES; the end mark makes sense too. */
static unsigned plausible_frames(const struct symtrace *file, bool big_endian)
{
	struct symtrace copy = *file;
	struct symtrace_frames walk = symtrace_frames(&copy);
	const struct symtrace_tracepoint *tp;
	struct symtrace_frame frame;
	struct symtrace_error err;
	unsigned n = 0;

	copy.big_endian = big_endian;
	while (n < GUESS_FRAMES && symtrace_next_frame(&walk, &frame, &err) > 0 &&
	       walk.next <= file->size && symtrace_find_tracepoint(file, frame.tracepoint, &tp))
		n++;
	return n;
}

int symtrace_guess_big_endian(const struct symtrace *file)
{
	unsigned little = plausible_frames(file, false), big = plausible_frames(file, true);

	return little == big ? -1 : big > little;
}
