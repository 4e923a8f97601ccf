/*
 * tfile_frames.c: the binary part of a GDB trace file: frames, their blocks, and
 * the program counter of a frame. Also the look-ups frames need: tracepoint and
 * variable by number.
 *
 * Blocks go by their own length, as in GDB: a block may reach beyond its frame,
 * never beyond the file. The next frame begins where the size in the head says.
 */
#include <stdio.h>

#include "libsymcache/trace/tfile.h"

#define HEAD_SIZE 6         /* int16 tracepoint, uint32 size */
#define GUESS_FRAMES 64

static int fail(struct tfile_error *err, uint64_t offset, const char *msg)
{
	err->offset = offset;
	snprintf(err->msg, sizeof(err->msg), "%s", msg);
	return -1;
}

static int premature(const struct tfile *file, struct tfile_error *err)
{
	return fail(err, file->size, "Premature end of file while reading trace file");
}

uint64_t tfile_number(const struct tfile *file, const uint8_t *p, size_t len)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++)
		n = n << 8 | p[file->big_endian ? i : len - 1 - i];
	return n;
}

/* ---- by number ------------------------------------------------------------------ */

/* The first location at or after (number, address). */
static const struct tfile_tracepoint *location(const struct tfile *file, uint64_t number,
					       uint64_t address)
{
	size_t lo = 0, hi = file->num_tracepoints;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct tfile_tracepoint *tp = &file->tracepoints[mid];

		if (tp->number < number || (tp->number == number && tp->address < address))
			lo = mid + 1;
		else
			hi = mid;
	}
	return file->tracepoints + lo;
}

size_t tfile_find_tracepoint(const struct tfile *file, int64_t number,
			     const struct tfile_tracepoint **first)
{
	*first = location(file, (uint64_t)number, 0);
	return number > 0 ? (size_t)(location(file, (uint64_t)number + 1, 0) - *first) : 0;
}

const struct tfile_variable *tfile_find_variable(const struct tfile *file, int64_t number)
{
	size_t lo = 0, hi = file->num_variables;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (file->variables[mid].number < number)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < file->num_variables && file->variables[lo].number == number ?
	       &file->variables[lo] : NULL;
}

/* ---- frames and blocks ----------------------------------------------------------- */

struct tfile_frames tfile_frames(const struct tfile *file)
{
	return (struct tfile_frames){ .file = file, .next = file->frames_offset };
}

int tfile_next_frame(struct tfile_frames *frames, struct tfile_frame *ret,
		     struct tfile_error *err)
{
	const struct tfile *f = frames->file;
	uint64_t at = frames->next;
	int16_t tracepoint;

	if (at == 0)
		return 0;
	if (at > f->size || f->size - at < 2)
		return premature(f, err);
	tracepoint = (int16_t)tfile_number(f, f->data + at, 2);
	if (tracepoint == 0) {
		frames->next = 0;
		return 0;
	}
	if (f->size - at < HEAD_SIZE)
		return premature(f, err);
	*ret = (struct tfile_frame){
		.number = frames->number++,
		.offset = at,
		.tracepoint = tracepoint,
		.size = (uint32_t)tfile_number(f, f->data + at + 2, 4),
		.blocks_offset = at + HEAD_SIZE,
	};
	frames->next = ret->blocks_offset + ret->size;
	return 1;
}

struct tfile_blocks tfile_blocks(const struct tfile *file, const struct tfile_frame *frame)
{
	uint64_t begin = frame->blocks_offset;

	/* GDB keeps the size in an int: a negative one ends the walk at once. */
	return (struct tfile_blocks){ .file = file, .next = begin,
		.end = frame->size > INT32_MAX ? begin : begin + frame->size };
}

int tfile_next_block(struct tfile_blocks *blocks, struct tfile_block *ret,
		     struct tfile_error *err)
{
	const struct tfile *f = blocks->file;
	uint64_t at = blocks->next, left;
	const uint8_t *p = f->data + at;
	size_t head; /* bytes before the content */

	if (at >= blocks->end)
		return 0;
	if (at >= f->size)
		return premature(f, err);
	left = f->size - at;
	*ret = (struct tfile_block){ .kind = (char)*p, .offset = at };
	switch (*p) {
	case 'R': head = 1; break;
	case 'M': head = 1 + 8 + 2; break;
	case 'V': head = 1 + 4 + 8; break;
	case 'S': head = 1 + 2; break;
	default:
		err->offset = at;
		snprintf(err->msg, sizeof(err->msg),
			 "Unknown block type '%c' (0x%x) in trace frame", *p, *p);
		return -1;
	}
	if (left < head)
		return premature(f, err);
	switch (*p) {
	case 'R':
		ret->len = f->regblock_size;
		break;
	case 'M':
		ret->address = tfile_number(f, p + 1, 8);
		ret->len = tfile_number(f, p + 9, 2);
		break;
	case 'V':
		ret->variable = (int32_t)tfile_number(f, p + 1, 4);
		ret->value = (int64_t)tfile_number(f, p + 5, 8);
		break;
	case 'S':
		ret->len = tfile_number(f, p + 1, 2);
		break;
	}
	if (left - head < ret->len)
		return premature(f, err);
	ret->bytes = p + head;
	blocks->next = at + head + ret->len;
	return 1;
}

/* ---- the program counter ----------------------------------------------------------- */

struct tfile_pc tfile_frame_pc(const struct tfile *file, const struct tfile_frame *frame,
			       struct tfile_pc_slot slot)
{
	struct tfile_blocks walk = tfile_blocks(file, frame);
	const struct tfile_tracepoint *tp;
	struct tfile_pc pc = { TFILE_PC_DAMAGED, 0 };
	struct tfile_block block;
	struct tfile_error err;
	size_t locations;
	int more;

	do
		more = tfile_next_block(&walk, &block, &err);
	while (more > 0 && block.kind != 'R');

	if (more > 0) {
		if (slot.size == 0 || slot.size > 8) {
			pc.kind = TFILE_PC_NO_LAYOUT;
		} else if (block.len < slot.size || slot.offset > block.len - slot.size) {
			pc.kind = TFILE_PC_CUT;
		} else {
			pc.kind = TFILE_PC_REGISTERS;
			pc.address = tfile_number(file, block.bytes + slot.offset, slot.size);
		}
	} else if (more == 0) {
		locations = tfile_find_tracepoint(file, frame->tracepoint, &tp);
		if (locations == 0)
			pc.kind = TFILE_PC_UNDEFINED;
		else if (locations > 1)
			pc.kind = TFILE_PC_LOCATIONS;
		else if (tp->step > 0)
			pc.kind = TFILE_PC_STEPPING;
		else
			pc = (struct tfile_pc){ TFILE_PC_TRACEPOINT, tp->address };
	}
	return pc;
}

bool tfile_frame_stepping(const struct tfile *file, const struct tfile_frame *frame,
			  struct tfile_pc pc)
{
	const struct tfile_tracepoint *tp, *at;

	if (!tfile_find_tracepoint(file, frame->tracepoint, &tp) || tp->step == 0)
		return false;
	if (pc.kind == TFILE_PC_STEPPING || pc.kind == TFILE_PC_LOCATIONS)
		return tp->takes_registers;
	at = location(file, tp->number, pc.address);
	return pc.kind == TFILE_PC_REGISTERS &&
	       (at == file->tracepoints + file->num_tracepoints ||
		at->number != tp->number || at->address != pc.address);
}

/* How many frame heads in a row make sense in this byte order, at most
 * GUESS_FRAMES; the end mark makes sense too. */
static unsigned plausible_frames(const struct tfile *file, bool big_endian)
{
	struct tfile copy = *file;
	struct tfile_frames walk = tfile_frames(&copy);
	const struct tfile_tracepoint *tp;
	struct tfile_frame frame;
	struct tfile_error err;
	unsigned n = 0;

	copy.big_endian = big_endian;
	while (n < GUESS_FRAMES && tfile_next_frame(&walk, &frame, &err) > 0 &&
	       walk.next <= file->size && tfile_find_tracepoint(file, frame.tracepoint, &tp))
		n++;
	return n;
}

int tfile_guess_big_endian(const struct tfile *file)
{
	unsigned little = plausible_frames(file, false), big = plausible_frames(file, true);

	return little == big ? -1 : big > little;
}
