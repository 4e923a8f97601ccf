/*
 * trace_frame.c: one frame as text, and places. The inner loop of the command: numbers
 * are written by hand, places are made once and kept in the table.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/cli/number.h"
#include "cmd/trace/trace.h"
#include "symcache/symcache.h"

static void put(const char *text)
{
	fputs_unlocked(text, stdout);
}

/* In base 10 or 16. */
static void put_number(uint64_t value, unsigned base)
{
	char buf[20], *p = format_number(buf + sizeof(buf), value, base);

	fwrite_unlocked(p, 1, (size_t)(buf + sizeof(buf) - p), stdout);
}

static void put_signed(int64_t value)
{
	if (value < 0)
		putc_unlocked('-', stdout);
	put_number(value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

static void put_address(uint64_t value)
{
	put("0x");
	put_number(value, 16);
}

static void put_byte(unsigned byte)
{
	putc_unlocked("0123456789abcdef"[byte >> 4 & 15], stdout);
	putc_unlocked("0123456789abcdef"[byte & 15], stdout);
}

static void put_dump(uint64_t address, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += 16) {
		size_t n = len - at < 16 ? len - at : 16;

		put("    ");
		put_address(address + at);
		putc_unlocked(':', stdout);
		for (size_t i = 0; i < 16; i++) {
			putc_unlocked(' ', stdout);
			if (i < n)
				put_byte(bytes[at + i]);
			else
				put("  ");
		}
		put("  ");
		for (size_t i = 0; i < n; i++) {
			uint8_t c = bytes[at + i];

			putc_unlocked(c >= ' ' && c < 0x7f ? c : '.', stdout);
		}
		putc_unlocked('\n', stdout);
	}
}

static void put_registers(const struct trace_file *f, const struct symtrace_block *block)
{
	const struct symtrace_layout *tdesc = &f->trace.layout;
	size_t end = 0;

	for (size_t i = 0; i < tdesc->num_registers; i++) {
		const struct symtrace_register *r = &tdesc->registers[i];

		if (r->size == 0)
			continue;
		put("    ");
		put(r->name);
		if (r->size > block->len || r->offset > block->len - r->size) {
			put(" unavailable\n");
			continue;
		}
		end = r->offset + r->size;
		put(" 0x");
		if (r->size <= 8)
			put_number(symtrace_number(&f->trace, block->bytes + r->offset, r->size), 16);
		for (size_t k = 0; r->size > 8 && k < r->size; k++)
			put_byte(block->bytes[r->offset +
				 (f->trace.big_endian ? k : r->size - 1 - k)]);
		putc_unlocked('\n', stdout);
	}
	if (end < block->len) {
		put("    more, bytes of the block from ");
		put_number(end, 10);
		put(" on:\n");
		put_dump(end, block->bytes + end, block->len - end);
	}
}

static void put_memory(struct places *places, const struct symtrace_block *block)
{
	const struct data_place *data = places_data(places, block->address);

	put("  ");
	put_address(block->address);
	put("..");
	put_address(block->address + block->len);
	putc_unlocked(' ', stdout);
	put_number(block->len, 10);
	put(" bytes");
	if (data->found) {
		putc_unlocked(' ', stdout);
		put(data->name);
		if (data->offset) {
			putc_unlocked('+', stdout);
			put_number(data->offset, 10);
		}
	}
	putc_unlocked('\n', stdout);
}

static void put_variable(const struct symtrace *t, const struct symtrace_block *block)
{
	const struct symtrace_variable *v = symtrace_find_variable(t, block->variable);

	if (v) {
		put("  $");
		words_escaped(stdout, v->name.ptr, v->name.len);
	} else {
		put("  variable ");
		put_signed(block->variable);
		put(" (not defined)");
	}
	put(" = ");
	put_signed(block->value);
	putc_unlocked('\n', stdout);
}

const char *trace_text_place(struct place *place)
{
	size_t size;
	FILE *out;

	if (place->text)
		return place->text;
	out = open_memstream(&place->text, &size);
	if (!out)
		return "";
	for (size_t i = 0; i < place->num_frames; i++) {
		const struct place_frame *frame = &place->frames[i];

		fputs("  ", out);
		words_escaped(out, frame->function.ptr, frame->function.len);
		if (*frame->path) {
			fputs(" at ", out);
			words_escaped(out, frame->path, strlen(frame->path));
			fprintf(out, ":%" PRIu32, frame->line);
			if (frame->column)
				fprintf(out, ":%" PRIu32, frame->column);
		}
		fputs(frame->inlined ? " (inlined)\n" : "\n", out);
	}
	if (!place->num_frames) {
		fputs("  ??", out);
		if (place->image)
			fprintf(out, " in %s", place->image->name);
		putc('\n', out);
	}
	if (fclose(out) != 0 || !place->text)
		return "";
	return place->text;
}

static void put_head(struct places *places, const struct trace_file *f,
		     const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct place *place;

	put("Frame ");
	put_number(frame->number, 10);
	put(": tracepoint ");
	put_signed(frame->tracepoint);
	if (symtrace_frame_stepping(&f->trace, frame, pc))
		put(", stepping");
	if (!symtrace_pc_known(pc)) {
		put(", pc unavailable: ");
		put(words_pc(pc.kind));
		putc_unlocked('\n', stdout);
		return;
	}
	place = places_code(places, pc.address);
	put(", pc ");
	put_address(pc.address);
	if (place->image && place->image->bias) {
		put(" = ");
		put(place->image->name);
		putc_unlocked('+', stdout);
		put_address(pc.address - place->image->bias);
	}
	putc_unlocked(' ', stdout);
	put(words_pc(pc.kind));
	putc_unlocked('\n', stdout);
	put(trace_text_place(place));
}

void trace_text_frame(struct trace_file *f, struct places *places,
		      const struct trace_options *options, const struct symtrace_frame *frame,
		      struct symtrace_pc pc)
{
	struct symtrace_blocks blocks = symtrace_blocks(&f->trace, frame);
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	put_head(places, f, frame, pc);
	while ((more = symtrace_next_block(&blocks, &block, &err)) > 0) {
		switch (block.kind) {
		case 'R':
			put("  registers ");
			put_number(block.len, 10);
			put(" bytes\n");
			if (options->registers)
				put_registers(f, &block);
			break;
		case 'M':
			put_memory(places, &block);
			break;
		case 'V':
			put_variable(&f->trace, &block);
			break;
		case 'S':
			put("  static tracepoint data ");
			put_number(block.len, 10);
			put(" bytes\n");
			break;
		}
		if (options->hexdump && (block.kind == 'M' || block.kind == 'S'))
			put_dump(block.address, block.bytes, block.len);
	}
	if (more < 0)
		trace_fault(f, &err);
}
