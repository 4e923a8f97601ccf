/*
 * A trace file as text for people: how the run ended, the tracepoints with their places and
 * actions, the variables; each frame with its place and what was collected; or how often
 * what was hit.
 *
 * Frames are the inner loop: places are made once and kept in the table.
 */
#include <errno.h>
#include <inttypes.h>

#include "libsymcache/report/trace.h"

static void put_dump(struct mk_out *o, uint64_t address, const uint8_t *bytes, size_t len)
{
	for (size_t at = 0; at < len; at += 16) {
		const size_t n = len - at < 16 ? len - at : 16;

		mk_put(o, "    ", mk_hex(address + at), ":");
		for (size_t i = 0; i < n; i++) {
			mk_out_char(o, ' ');
			mk_out_bytes(o, bytes + at + i, 1);
		}
		mk_out_spaces(o, 3 * (16 - n) + 2);
		for (size_t i = 0; i < n; i++) {
			const uint8_t c = bytes[at + i];

			mk_out_char(o, c >= ' ' && c < 0x7f ? (char)c : '.');
		}
		mk_put(o, "\n");
	}
}

static void put_registers(struct mk_trace *t, const struct symtrace_block *block)
{
	const struct symtrace_layout *layout = &t->file.layout;
	struct mk_out *o = t->out;
	size_t end = 0;

	for (size_t i = 0; i < layout->num_registers; i++) {
		const struct symtrace_register *r = &layout->registers[i];
		const uint8_t *bytes = block->bytes + r->offset;

		if (r->size == 0)
			continue;
		mk_put(o, "    ", mk_shown(r->name));
		if (r->size > block->len || r->offset > block->len - r->size) {
			mk_put(o, " unavailable\n");
			continue;
		}
		end = r->offset + r->size;
		mk_put(o, " ");
		if (r->size <= 8)
			mk_put(o, mk_hex(symtrace_number(&t->file, bytes, r->size)));
		else
			mk_put(o, "0x");
		for (size_t k = 0; r->size > 8 && k < r->size; k++)
			mk_out_bytes(o, &bytes[t->file.big_endian ? k : r->size - 1 - k], 1);
		mk_put(o, "\n");
	}
	if (end < block->len) {
		mk_put(o, "    more, bytes of the block from ", end, " on:\n");
		put_dump(o, end, block->bytes + end, block->len - end);
	}
}

/* `bytes`: what was collected, or NULL. */
static void put_memory(struct mk_trace *t, uint64_t address, uint64_t len, const uint8_t *bytes)
{
	const struct symcache_data_place *data = mk_trace_data(t, address);
	struct mk_out *o = t->out;

	mk_put(o, mk_hex(address), "..", mk_hex(address + len), " ", len, " bytes");
	if (data->found) {
		mk_put(o, " ", mk_shown(data->name));
		if (data->offset)
			mk_put(o, "+", data->offset);
		if (bytes && mk_trace_is_number(data, len))
			mk_put(o, " = ", mk_hex(symtrace_number(&t->file, bytes, (size_t)len)));
	}
	mk_put(o, "\n");
}

static const char *place_text(struct mk_trace *t, uint64_t address)
{
	const struct mk_trace_place place = mk_trace_place(t, address);
	struct symcache_code_place *at = place.at;
	struct mk_out o = { 0 };

	if (at->text)
		return at->text;
	for (size_t i = 0; i < at->num_frames; i++) {
		const struct sc_frame *frame = &at->frames[i];

		mk_put(&o, "  ", mk_shown(mk_trace_function(frame)));
		mk_put_position(&o, frame, false);
		mk_put(&o, frame->inlined ? " (inlined)\n" : "\n");
	}
	if (!at->num_frames)
		mk_put(&o, "  ??", place.image ? " in " : "",
		       mk_shown(place.image ? place.image->name : ""), "\n");
	at->text = mk_out_take(&o);
	if (!at->text)
		t->out->error = -ENOMEM;
	return at->text ? at->text : "";
}

static void put_head(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	const struct symcache_mapping *in = symcache_process_at(t->options->images, pc.address);
	const struct symcache_image *image = in ? in->image : NULL;
	struct mk_out *o = t->out;

	mk_put(o, "Frame ", frame->number, ": tracepoint ", (int64_t)frame->tracepoint,
	       symtrace_frame_stepping(&t->file, frame, pc) ? ", stepping" : "");
	if (!symtrace_pc_known(pc)) {
		mk_put(o, ", pc unavailable: ", mk_trace_pc_text(pc.kind), "\n");
		return;
	}
	mk_put(o, ", pc ", mk_hex(pc.address));
	if (image && image->bias)
		mk_put(o, " = ", mk_shown(image->name), "+", mk_hex(pc.address - image->bias));
	mk_put(o, " ", mk_trace_pc_text(pc.kind), "\n", place_text(t, pc.address));
}

static void put_stop(struct mk_out *o, const struct symtrace_stack *of)
{
	const struct symcache_stack *s = &of->stack;
	const bool memory = s->stop == SYMCACHE_STOP_MEMORY;

	mk_put(o, "  ");
	if (memory && of->collected_end && s->address + of->word > of->collected_end)
		mk_put(o, "the stack was collected up to ", mk_hex(of->collected_end));
	else if (memory)
		mk_put(o, "no memory was collected at ", mk_hex(s->address));
	else
		mk_put(o, symcache_stop_text(s->stop));
	if (s->stop == SYMCACHE_STOP_NO_MODULE)
		mk_put(o, ": name it with --module");
	if (s->lacks)
		mk_put(o, ": ", mk_shown(((const struct symcache_image *)s->lacks)->name));
	mk_put(o, "\n");
}

/* frames[1] and so on, and why there are no more. */
static void put_stack(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct symtrace_stack *s = &t->stack;
	struct sc_error err;

	if (symtrace_walk(&t->file, frame, pc, t->options->images, s, &err)) {
		mk_put(t->out, "  no stack: ", err.msg, "\n");
		return;
	}
	for (size_t i = 1; i < s->stack.num_frames; i++) {
		const struct symcache_unwind_frame *of = &s->stack.frames[i];
		const struct mk_trace_place place = mk_trace_place(t, of->lookup_pc);

		mk_put_frame(t->out, &(struct mk_stack_line){
			.number = i, .word = s->word, .walked = of, .place = place.at,
			.module = place.image ? place.image->name : NULL, .has_offset = place.image,
			.offset = place.image ? of->pc - place.image->bias : 0,
		});
	}
	put_stop(t->out, s);
}

static void put_block(struct mk_trace *t, const struct symtrace_block *block)
{
	const struct symtrace_variable *v;
	struct mk_out *o = t->out;

	switch (block->kind) {
	case 'R':
		mk_put(o, "  registers ", block->len, " bytes\n");
		if (t->options->registers)
			put_registers(t, block);
		break;
	case 'M':
		mk_put(o, "  ");
		put_memory(t, block->address, block->len, block->bytes);
		break;
	case 'V':
		v = symtrace_find_variable(&t->file, block->variable);
		if (v)
			mk_put(o, "  $", mk_shown_str(v->name));
		else
			mk_put(o, "  variable ", (int64_t)block->variable, " (not defined)");
		mk_put(o, " = ", block->value, "\n");
		break;
	case 'S':
		mk_put(o, "  static tracepoint data ", block->len, " bytes\n");
		break;
	}
	if (t->options->hexdump && (block->kind == 'M' || block->kind == 'S'))
		put_dump(o, block->address, block->bytes, block->len);
}

static void put_frame(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct symtrace_blocks blocks = symtrace_blocks(&t->file, frame);
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	put_head(t, frame, pc);
	if (t->options->backtrace && symtrace_pc_known(pc))
		put_stack(t, frame, pc);
	while ((more = symtrace_next_block(&blocks, &block, &err)) > 0)
		put_block(t, &block);
	if (more < 0)
		mk_trace_fault(t, &err);
}

/* ---- definitions ----------------------------------------------------------------- */

static void put_action(struct mk_trace *t, const struct symtrace_action *a)
{
	struct mk_out *o = t->out;

	mk_put(o, "    ");
	if (a->kind == 'M' && a->base < 0)
		put_memory(t, a->offset, a->len, NULL);
	else if (a->kind == 'M')
		mk_put(o, a->len, " bytes at register ", a->base, " + ", mk_hex(a->offset), "\n");
	else if (a->kind == 'L')
		mk_put(o, "static tracepoint data\n");
	else
		mk_put(o, a->kind == 'R' ? "registers, mask " : a->kind == 'X' ?
		       "expression, bytecode " : "not understood: ", mk_shown_str(a->text), "\n");
}

/* The pieces of one kind under a heading. */
static void put_pieces(struct mk_trace *t, const struct symtrace_tracepoint *tp,
		       enum symtrace_piece_kind kind, const char *heading)
{
	bool any = false;

	for (size_t i = 0; i < tp->num_pieces; i++) {
		const struct symtrace_piece *piece = &t->file.pieces[tp->first_piece + i];
		struct sc_str rest = piece->text;
		struct symtrace_action action;

		if (piece->kind != kind)
			continue;
		if (!any)
			mk_put(t->out, "  ", heading, ":\n");
		any = true;
		if (kind != SYMTRACE_PIECE_ACTION && kind != SYMTRACE_PIECE_STEP_ACTION)
			mk_put(t->out, "    ", mk_shown_str(rest), "\n");
		else
			while (symtrace_next_action(&rest, &action))
				put_action(t, &action);
	}
}

static void put_tracepoint(struct mk_trace *t, const struct symtrace_tracepoint *tp)
{
	static const char *const kinds[] = { "", ", fast", ", static" };
	struct mk_out *o = t->out;

	mk_put(o, "Tracepoint ", tp->number, " at ", mk_hex(tp->address), kinds[tp->kind], ", ",
	       !tp->defined ? "its definition is missing" : tp->state == 'E' ? "enabled" :
	       tp->state == 'D' ? "disabled" : "enabled or disabled");
	if (tp->step)
		mk_put(o, ", steps ", tp->step, " times");
	if (tp->pass)
		mk_put(o, ", pass count ", tp->pass);
	if (tp->has_hits)
		mk_put(o, ", hit ", tp->hits, tp->hits == 1 ? " time, " : " times, ", tp->usage,
		       " bytes of the buffer");
	mk_put(o, "\n", place_text(t, tp->address));
	put_pieces(t, tp, SYMTRACE_PIECE_AT, "set at");
	put_pieces(t, tp, SYMTRACE_PIECE_COND, "condition");
	if (tp->condition.ptr)
		mk_put(o, "  condition's bytecode:\n    ", mk_shown_str(tp->condition), "\n");
	put_pieces(t, tp, SYMTRACE_PIECE_CMD, "commands");
	put_pieces(t, tp, SYMTRACE_PIECE_ACTION, "collects");
	put_pieces(t, tp, SYMTRACE_PIECE_STEP_ACTION, "collects while stepping");
}

static void put_header(struct mk_trace *t)
{
	mk_put(t->out, mk_shown(t->path), "\n");
}

static void put_definitions(struct mk_trace *t)
{
	const struct symtrace *f = &t->file;

	mk_put_trace_status(t->out, &f->status);
	for (size_t i = 0; i < f->num_tracepoints; i++)
		put_tracepoint(t, &f->tracepoints[i]);
	for (size_t i = 0; i < f->num_variables; i++) {
		const struct symtrace_variable *v = &f->variables[i];

		mk_put(t->out, "Variable $", mk_shown_str(v->name), " (", v->number,
		       "), initially ", v->initial, v->builtin ? ", built in\n" : "\n");
	}
}

/* ---- summary --------------------------------------------------------------------- */

static void put_summary(struct mk_trace *t)
{
	const struct symtrace_summary *s = t->summary;
	struct mk_out *o = t->out;

	mk_put(o, s->frames, " frames\n");
	for (size_t i = 0; i < SYMTRACE_TRACEPOINTS; i++) {
		const struct symtrace_tracepoint *tp;
		const size_t n = symtrace_find_tracepoint(&t->file, (int16_t)i, &tp);

		if (!s->by_tracepoint[i])
			continue;
		mk_out_printf(o, "%10" PRIu64 "  tracepoint %d", s->by_tracepoint[i], (int16_t)i);
		if (n == 1)
			mk_put(o, " at ", mk_hex(tp->address));
		else if (n)
			mk_put(o, ", ", n, " locations");
		mk_put(o, n ? "\n" : ", not defined\n");
	}
	for (size_t i = 0; i < s->num_lines; i++) {
		const struct symtrace_line *l = s->lines[i];

		mk_out_printf(o, "%10" PRIu64 "  ", l->frames);
		mk_put(o, mk_shown(l->function));
		if (*l->path)
			mk_put(o, " at ", mk_shown(l->path), ":", l->line);
		mk_put(o, "\n");
	}
	for (enum symtrace_pc_kind kind = SYMTRACE_PC_NO_LAYOUT; kind <= SYMTRACE_PC_DAMAGED; kind++)
		if (s->by_pc[kind])
			mk_out_printf(o, "%10" PRIu64 "  pc unavailable: %s\n", s->by_pc[kind],
				      mk_trace_pc_text(kind));
}

const struct mk_trace_form mk_trace_text = { put_header, put_definitions, put_frame, put_summary };
