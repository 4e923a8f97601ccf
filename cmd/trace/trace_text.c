/*
 * trace_text.c: a trace file as text for people: how the run ended, the tracepoints
 * with their places and actions, the variables; each frame with its place and what was
 * collected; or how often what was hit.
 *
 * Frames are the inner loop of the command: their numbers are written by hand, places
 * are made once and kept in the table.
 */
#include <inttypes.h>
#include <string.h>

#include "cmd/cli/frame_line.h"
#include "cmd/cli/shown.h"
#include "cmd/trace/trace.h"
#include "symcache/symcache.h"

static void put_escaped(const char *before, const char *text, size_t len, const char *behind)
{
	put(before);
	shown_put(stdout, text, len);
	put(behind);
}

static inline void put_number(const char *before, uint64_t value, const char *behind)
{
	put_digits(before, value, 10);
	put(behind);
}

static void put_signed(int64_t value)
{
	put_digits(value < 0 ? "-" : "", value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

static inline void put_address(const char *before, uint64_t value, const char *behind)
{
	put(before);
	put_digits("0x", value, 16);
	put(behind);
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

		put_address("    ", address + at, ":");
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

/* A number of more than 8 bytes. */
static void put_wide(const struct symtrace *t, const uint8_t *bytes, size_t len)
{
	put(" 0x");
	for (size_t i = 0; i < len; i++)
		put_byte(bytes[t->big_endian ? i : len - 1 - i]);
	put("\n");
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
		if (r->size <= 8)
			put_address(" ", symtrace_number(&f->trace, block->bytes + r->offset,
							 r->size), "\n");
		else
			put_wide(&f->trace, block->bytes + r->offset, r->size);
	}
	if (end < block->len) {
		put_number("    more, bytes of the block from ", end, " on:\n");
		put_dump(end, block->bytes + end, block->len - end);
	}
}

/* `bytes`: what was collected, of `t`; or NULL. */
static void put_memory(const struct places *places, uint64_t address, uint64_t len,
		       const struct symtrace *t, const uint8_t *bytes)
{
	const struct symcache_data_place *data = places_data(places, address);

	put_address("", address, "..");
	put_address("", address + len, " ");
	put_number("", len, " bytes");
	if (data->found) {
		put(" ");
		put(data->name);
		if (data->offset)
			put_number("+", data->offset, "");
		if (bytes && place_is_number(data, len))
			put_address(" = ", symtrace_number(t, bytes, (size_t)len), "");
	}
	put("\n");
}

static void put_variable(const struct symtrace *t, const struct symtrace_block *block)
{
	const struct symtrace_variable *v = symtrace_find_variable(t, block->variable);

	if (v) {
		put_escaped("  $", v->name.ptr, v->name.len, "");
	} else {
		put("  variable ");
		put_signed(block->variable);
		put(" (not defined)");
	}
	put(" = ");
	put_signed(block->value);
	put("\n");
}

static const char *place_text(struct place place)
{
	struct symcache_code_place *at = place.at;
	size_t size;
	FILE *out;

	if (at->text)
		return at->text;
	out = open_memstream(&at->text, &size);
	if (!out)
		return "";
	for (size_t i = 0; i < at->num_frames; i++) {
		const struct symcache_place_frame *frame = &at->frames[i];

		fputs("  ", out);
		shown_put(out, place_name(frame).ptr, place_name(frame).len);
		if (*frame->file) {
			fputs(" at ", out);
			shown_put(out, frame->file, strlen(frame->file));
			fprintf(out, ":%" PRIu32, frame->line);
			if (frame->column)
				fprintf(out, ":%" PRIu32, frame->column);
		}
		fputs(frame->inlined ? " (inlined)\n" : "\n", out);
	}
	if (!at->num_frames) {
		fputs("  ??", out);
		if (place.image)
			fprintf(out, " in %s", place.image->name);
		putc('\n', out);
	}
	if (fclose(out) != 0 || !at->text)
		return "";
	return at->text;
}

static void put_head(const struct places *places, const struct trace_file *f,
		     const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct place place;

	put_number("Frame ", frame->number, ": tracepoint ");
	put_signed(frame->tracepoint);
	if (symtrace_frame_stepping(&f->trace, frame, pc))
		put(", stepping");
	if (!symtrace_pc_known(pc)) {
		put(", pc unavailable: ");
		put(words_pc(pc.kind));
		put("\n");
		return;
	}
	place = places_code(places, pc.address);
	put_address(", pc ", pc.address, "");
	if (place.image && place.image->bias) {
		put(" = ");
		put(place.image->name);
		put_address("+", pc.address - place.image->bias, "");
	}
	put(" ");
	put(words_pc(pc.kind));
	put("\n");
	put(place_text(place));
}

static void put_frame(struct trace_file *f, const struct places *places,
		      const struct trace_options *options, const struct symtrace_frame *frame,
		      struct symtrace_pc pc)
{
	struct symtrace_blocks blocks = symtrace_blocks(&f->trace, frame);
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	put_head(places, f, frame, pc);
	if (options->stack && symtrace_pc_known(pc))
		trace_stack_put(f, places, options->stack, frame, pc);
	while ((more = symtrace_next_block(&blocks, &block, &err)) > 0) {
		switch (block.kind) {
		case 'R':
			put_number("  registers ", block.len, " bytes\n");
			if (options->registers)
				put_registers(f, &block);
			break;
		case 'M':
			put("  ");
			put_memory(places, block.address, block.len, &f->trace, block.bytes);
			break;
		case 'V':
			put_variable(&f->trace, &block);
			break;
		case 'S':
			put_number("  static tracepoint data ", block.len, " bytes\n");
			break;
		}
		if (options->hexdump && (block.kind == 'M' || block.kind == 'S'))
			put_dump(block.address, block.bytes, block.len);
	}
	if (more < 0)
		trace_fault(f, &err);
}

/* ---- definitions ----------------------------------------------------------------- */

static void put_action(const struct places *places, const struct symtrace_action *a)
{
	put("    ");
	switch (a->kind) {
	case 'R':
		put_escaped("registers, mask ", a->text.ptr, a->text.len, "\n");
		break;
	case 'M':
		if (a->base < 0)
			put_memory(places, a->offset, a->len, NULL, NULL);
		else
			printf("%" PRIu64 " bytes at register %" PRId64 " + 0x%" PRIx64 "\n",
			       a->len, a->base, a->offset);
		break;
	case 'X':
		put_escaped("expression, bytecode ", a->text.ptr, a->text.len, "\n");
		break;
	case 'L':
		put("static tracepoint data\n");
		break;
	default:
		put_escaped("not understood: ", a->text.ptr, a->text.len, "\n");
		break;
	}
}

/* The pieces of one kind under a heading; for the kind `steps` also while stepping. */
static void put_pieces(const struct places *places, const struct symtrace *t,
		       const struct symtrace_tracepoint *tp, enum symtrace_piece_kind kind,
		       const char *heading)
{
	bool any = false;

	for (size_t i = 0; i < tp->num_pieces; i++) {
		const struct symtrace_piece *piece = &t->pieces[tp->first_piece + i];
		struct symtrace_str rest = piece->text;
		struct symtrace_action action;

		if (piece->kind != kind)
			continue;
		if (!any)
			printf("  %s:\n", heading);
		any = true;
		if (kind == SYMTRACE_PIECE_ACTION || kind == SYMTRACE_PIECE_STEP_ACTION) {
			while (symtrace_next_action(&rest, &action))
				put_action(places, &action);
		} else {
			put_escaped("    ", rest.ptr, rest.len, "\n");
		}
	}
}

static void put_tracepoint(const struct places *places, const struct symtrace *t,
			   const struct symtrace_tracepoint *tp)
{
	static const char *const kinds[] = { "", ", fast", ", static" };

	printf("Tracepoint %" PRIu64 " at 0x%" PRIx64 "%s, %s", tp->number, tp->address,
	       kinds[tp->kind], !tp->defined ? "its definition is missing" :
	       tp->state == 'E' ? "enabled" : tp->state == 'D' ? "disabled" :
	       "enabled or disabled");
	if (tp->step)
		printf(", steps %" PRIu64 " times", tp->step);
	if (tp->pass)
		printf(", pass count %" PRIu64, tp->pass);
	if (tp->has_hits)
		printf(", hit %" PRIu64 " time%s, %" PRIu64 " bytes of the buffer", tp->hits,
		       tp->hits == 1 ? "" : "s", tp->usage);
	putchar('\n');
	put(place_text(places_code(places, tp->address)));
	put_pieces(places, t, tp, SYMTRACE_PIECE_AT, "set at");
	put_pieces(places, t, tp, SYMTRACE_PIECE_COND, "condition");
	if (tp->condition.ptr)
		put_escaped("  condition's bytecode:\n    ", tp->condition.ptr, tp->condition.len,
			    "\n");
	put_pieces(places, t, tp, SYMTRACE_PIECE_CMD, "commands");
	put_pieces(places, t, tp, SYMTRACE_PIECE_ACTION, "collects");
	put_pieces(places, t, tp, SYMTRACE_PIECE_STEP_ACTION, "collects while stepping");
}

static void header(const struct trace_file *f)
{
	put_escaped("", f->path, strlen(f->path), "\n");
}

static void definitions(struct trace_file *f, const struct places *places)
{
	const struct symtrace *t = &f->trace;

	words_status(&t->status);
	for (size_t i = 0; i < t->num_tracepoints; i++)
		put_tracepoint(places, t, &t->tracepoints[i]);
	for (size_t i = 0; i < t->num_variables; i++) {
		const struct symtrace_variable *v = &t->variables[i];

		put_escaped("Variable $", v->name.ptr, v->name.len, "");
		printf(" (%" PRId64 "), initially %" PRId64 "%s\n", v->number, v->initial,
		       v->builtin ? ", built in" : "");
	}
}

/* ---- summary --------------------------------------------------------------------- */

static void put_summary(const struct symtrace_summary *s, const struct trace_file *f)
{
	printf("%" PRIu64 " frames\n", s->frames);
	for (size_t i = 0; i < SYMTRACE_TRACEPOINTS; i++) {
		const struct symtrace_tracepoint *tp;
		size_t n = symtrace_find_tracepoint(&f->trace, (int16_t)i, &tp);

		if (!s->by_tracepoint[i])
			continue;
		printf("%10" PRIu64 "  tracepoint %d", s->by_tracepoint[i], (int16_t)i);
		if (n == 1)
			printf(" at 0x%" PRIx64, tp->address);
		else
			printf(n ? ", %zu locations" : ", not defined", n);
		putchar('\n');
	}
	for (size_t i = 0; i < s->num_lines; i++) {
		const struct symtrace_line *l = s->lines[i];

		printf("%10" PRIu64 "  ", l->frames);
		put_escaped("", l->function, strlen(l->function), "");
		if (*l->path) {
			put_escaped(" at ", l->path, strlen(l->path), "");
			put_number(":", l->line, "");
		}
		putchar('\n');
	}
	for (size_t kind = SYMTRACE_PC_NO_LAYOUT; kind <= SYMTRACE_PC_DAMAGED; kind++)
		if (s->by_pc[kind])
			printf("%10" PRIu64 "  pc unavailable: %s\n", s->by_pc[kind],
			       words_pc((enum symtrace_pc_kind)kind));
}

static void nothing(void)
{
}

const struct trace_output trace_text = {
	nothing, header, definitions, put_frame, put_summary, nothing
};
