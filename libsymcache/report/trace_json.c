/*
 * A trace file as JSON lines for programs: one object for the file ("trace"), each
 * tracepoint, each variable and each frame; or one "summary".
 */
#include <errno.h>

#include "libsymcache/report/trace.h"

static struct mk_gen *begin(struct mk_trace *t, const char *type)
{
	mk_gen_open_map(&t->json, NULL);
	mk_gen_text(&t->json, "type", type);
	return &t->json;
}

static void end(struct mk_gen *g)
{
	mk_gen_close_map(g);
	mk_gen_end(g);
}

static void put_str(struct mk_gen *g, const char *key, struct sc_str s)
{
	if (s.ptr)
		mk_gen_string(g, key, s.ptr, s.len);
}

/* ---- places ---------------------------------------------------------------------- */

static const char *functions(struct mk_trace *t, struct symcache_code_place *place)
{
	struct mk_out text = { 0 };
	struct mk_gen *g = &(struct mk_gen){ .to = &text };

	if (place->text)
		return place->text;
	mk_gen_open_array(g, NULL);
	for (size_t i = 0; i < place->num_frames; i++) {
		const struct sc_frame *frame = &place->frames[i];

		mk_gen_open_map(g, NULL);
		mk_gen_text(g, "function", mk_trace_function(frame) + frame->scopes);
		if (frame->scopes)
			mk_gen_text(g, "qualified", mk_trace_function(frame));
		if (*frame->file.ptr)
			mk_gen_text(g, "file", frame->file.ptr);
		mk_gen_number(g, "line", frame->line);
		mk_gen_number(g, "column", frame->column);
		mk_gen_bool(g, "inlined", frame->inlined);
		mk_gen_close_map(g);
	}
	mk_gen_close_array(g);
	place->text = mk_out_take(&text);
	if (!place->text)
		t->out->error = -ENOMEM;
	return place->text ? place->text : "[]";
}

static void put_place(struct mk_trace *t, uint64_t address)
{
	const struct mk_trace_place place = mk_trace_place(t, address);

	if (place.image) {
		mk_gen_text(&t->json, "module", place.image->name);
		mk_gen_hex(&t->json, "module_address", address - place.image->bias);
	}
	mk_gen_raw(&t->json, "functions", functions(t, place.at));
}

static const struct symcache_data_place *put_data(struct mk_trace *t, uint64_t address,
						  uint64_t size)
{
	const struct symcache_data_place *data = mk_trace_data(t, address);

	mk_gen_hex(&t->json, "memory", address);
	mk_gen_number(&t->json, "size", size);
	if (data->found) {
		mk_gen_text(&t->json, "symbol", data->name);
		mk_gen_number(&t->json, "offset", data->offset);
	}
	return data;
}

/* ---- definitions ------------------------------------------------------------------- */

static void put_if_known(struct mk_gen *g, const char *key, uint64_t value)
{
	if (value != SYMTRACE_UNKNOWN)
		mk_gen_number(g, key, value);
}

static void put_status(struct mk_gen *g, const struct symtrace_status *s)
{
	mk_gen_open_map(g, "status");
	mk_gen_bool(g, "known", s->known);
	if (s->known) {
		mk_gen_bool(g, "running", s->running);
		mk_gen_text(g, "stop_reason", mk_trace_stop_word(s));
		if (s->stop == SYMTRACE_STOP_PASSCOUNT || s->stop == SYMTRACE_STOP_ERROR)
			mk_gen_number(g, "stop_tracepoint", s->stop_tracepoint);
		put_str(g, "stop_text", s->stop_text);
		put_if_known(g, "frames", s->frames);
		put_if_known(g, "frames_created", s->created);
		put_if_known(g, "buffer_free", s->free_bytes);
		put_if_known(g, "buffer_size", s->size);
		mk_gen_bool(g, "disconnected_tracing", s->disconnected);
		mk_gen_bool(g, "circular", s->circular);
		put_if_known(g, "start_us", s->start_us ? s->start_us : SYMTRACE_UNKNOWN);
		put_if_known(g, "stop_us", s->stop_us ? s->stop_us : SYMTRACE_UNKNOWN);
		put_str(g, "user", s->user);
		put_str(g, "notes", s->notes);
	}
	mk_gen_close_map(g);
}

static void put_action(struct mk_trace *t, const struct symtrace_action *a)
{
	struct mk_gen *g = &t->json;

	mk_gen_open_map(g, NULL);
	if (a->kind == 'M' && a->base < 0) {
		put_data(t, a->offset, a->len);
	} else if (a->kind == 'M') {
		mk_gen_signed(g, "base_register", a->base);
		mk_gen_signed(g, "displacement", (int64_t)a->offset);
		mk_gen_number(g, "size", a->len);
	} else if (a->kind == 'L') {
		mk_gen_bool(g, "static_data", true);
	} else {
		put_str(g, a->kind == 'R' ? "registers" : a->kind == 'X' ? "bytecode" : "unknown",
			a->text);
	}
	mk_gen_close_map(g);
}

/* The pieces of one kind as an array under `key`, if there are any. */
static void put_pieces(const char *key, struct mk_trace *t, const struct symtrace_tracepoint *tp,
		       enum symtrace_piece_kind kind)
{
	bool any = false;

	for (size_t i = 0; i < tp->num_pieces; i++) {
		const struct symtrace_piece *piece = &t->file.pieces[tp->first_piece + i];
		struct sc_str rest = piece->text;
		struct symtrace_action a;

		if (piece->kind != kind)
			continue;
		if (!any)
			mk_gen_open_array(&t->json, key);
		any = true;
		if (kind != SYMTRACE_PIECE_ACTION && kind != SYMTRACE_PIECE_STEP_ACTION)
			mk_gen_string(&t->json, NULL, rest.ptr, rest.len);
		else
			while (symtrace_next_action(&rest, &a))
				put_action(t, &a);
	}
	if (any)
		mk_gen_close_array(&t->json);
}

static void put_tracepoint(struct mk_trace *t, const struct symtrace_tracepoint *tp)
{
	static const char *const kinds[] = { "trap", "fast", "static" };
	struct mk_gen *g = begin(t, "tracepoint");

	mk_gen_number(g, "number", tp->number);
	mk_gen_hex(g, "address", tp->address);
	mk_gen_bool(g, "defined", tp->defined);
	if (tp->state)
		mk_gen_bool(g, "enabled", tp->state == 'E');
	mk_gen_text(g, "kind", kinds[tp->kind]);
	mk_gen_number(g, "steps", tp->step);
	mk_gen_number(g, "pass_count", tp->pass);
	if (tp->has_hits) {
		mk_gen_number(g, "hits", tp->hits);
		mk_gen_number(g, "buffer_usage", tp->usage);
	}
	put_place(t, tp->address);
	put_pieces("at", t, tp, SYMTRACE_PIECE_AT);
	put_pieces("condition", t, tp, SYMTRACE_PIECE_COND);
	put_str(g, "condition_bytecode", tp->condition);
	put_pieces("commands", t, tp, SYMTRACE_PIECE_CMD);
	put_pieces("collects", t, tp, SYMTRACE_PIECE_ACTION);
	put_pieces("collects_stepping", t, tp, SYMTRACE_PIECE_STEP_ACTION);
	end(g);
}

static void put_header(struct mk_trace *t)
{
	struct mk_gen *g = begin(t, "trace");

	mk_gen_text(g, "file", t->path);
	mk_gen_text(g, "byte_order", t->file.big_endian ? "big" : "little");
	mk_gen_number(g, "register_block_size", t->file.regblock_size);
	if (*t->file.layout.architecture)
		mk_gen_text(g, "architecture", t->file.layout.architecture);
	put_status(g, &t->file.status);
	end(g);
}

static void put_definitions(struct mk_trace *t)
{
	for (size_t i = 0; i < t->file.num_tracepoints; i++)
		put_tracepoint(t, &t->file.tracepoints[i]);
	for (size_t i = 0; i < t->file.num_variables; i++) {
		const struct symtrace_variable *v = &t->file.variables[i];
		struct mk_gen *g = begin(t, "variable");

		put_str(g, "name", v->name);
		mk_gen_signed(g, "number", v->number);
		mk_gen_signed(g, "initial", v->initial);
		mk_gen_bool(g, "builtin", v->builtin);
		end(g);
	}
}

/* ---- frames ------------------------------------------------------------------------- */

static void put_registers(struct mk_trace *t, const struct symtrace_block *block)
{
	struct mk_gen *g = &t->json;

	mk_gen_open_map(g, "registers");
	for (size_t i = 0; i < t->file.layout.num_registers; i++) {
		const struct symtrace_register *r = &t->file.layout.registers[i];
		const uint8_t *bytes = block->bytes + r->offset;

		if (r->size > block->len || r->offset > block->len - r->size || !r->size)
			continue;
		if (r->size <= 8)
			mk_gen_hex(g, r->name, symtrace_number(&t->file, bytes, r->size));
		else
			mk_gen_bytes(g, r->name, bytes, r->size);
	}
	mk_gen_close_map(g);
}

static void put_block(struct mk_trace *t, const struct symtrace_block *block)
{
	const struct symtrace_variable *v;
	struct mk_gen *g = &t->json;

	mk_gen_open_map(g, NULL);
	switch (block->kind) {
	case 'R':
		mk_gen_number(g, "register_bytes", block->len);
		if (t->options->registers)
			put_registers(t, block);
		break;
	case 'M':
		if (mk_trace_is_number(put_data(t, block->address, block->len), block->len))
			mk_gen_hex(g, "value", symtrace_number(&t->file, block->bytes, block->len));
		break;
	case 'V':
		v = symtrace_find_variable(&t->file, block->variable);
		if (v)
			put_str(g, "variable", v->name);
		mk_gen_signed(g, "number", block->variable);
		mk_gen_signed(g, "value", block->value);
		break;
	case 'S':
		mk_gen_number(g, "static_data_size", block->len);
		break;
	}
	if (t->options->hexdump && block->bytes && block->kind != 'V')
		mk_gen_bytes(g, "bytes", block->bytes, block->len);
	mk_gen_close_map(g);
}

static void put_stack(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	const struct symcache_stack *s = &t->stack.stack;
	struct mk_gen *g = &t->json;
	struct sc_error err;

	if (symtrace_walk(&t->file, frame, pc, t->options->images, &t->stack, &err)) {
		mk_gen_text(g, "stack_unavailable", err.msg);
		return;
	}
	mk_gen_open_array(g, "stack");
	for (size_t i = 1; i < s->num_frames; i++) {
		const struct symcache_unwind_frame *at = &s->frames[i];

		mk_gen_open_map(g, NULL);
		mk_gen_number(g, "frame", i);
		mk_gen_hex(g, "pc", at->pc);
		mk_gen_text(g, "trust", mk_trust_word(at->trust));
		if (at->signal)
			mk_gen_bool(g, "signal", true);
		put_place(t, at->lookup_pc);
		mk_gen_close_map(g);
	}
	mk_gen_close_array(g);
	mk_json_stop(g, s);
}

static void put_frame(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct symtrace_blocks walk = symtrace_blocks(&t->file, frame);
	struct mk_gen *g = begin(t, "frame");
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	mk_gen_number(g, "number", frame->number);
	mk_gen_signed(g, "tracepoint", frame->tracepoint);
	mk_gen_bool(g, "stepping", symtrace_frame_stepping(&t->file, frame, pc));
	if (symtrace_pc_known(pc)) {
		mk_gen_hex(g, "pc", pc.address);
		mk_gen_text(g, "pc_from",
			    pc.kind == SYMTRACE_PC_REGISTERS ? "registers" : "tracepoint");
		put_place(t, pc.address);
		if (t->options->backtrace)
			put_stack(t, frame, pc);
	} else {
		mk_gen_text(g, "pc_unavailable", mk_trace_pc_text(pc.kind));
	}
	mk_gen_open_array(g, "blocks");
	while ((more = symtrace_next_block(&walk, &block, &err)) > 0)
		put_block(t, &block);
	mk_gen_close_array(g);
	if (more < 0) {
		mk_gen_text(g, "error", err.msg);
		mk_trace_fault(t, &err);
	}
	end(g);
}

/* ---- summary -------------------------------------------------------------------------- */

static void put_summary(struct mk_trace *t)
{
	const struct symtrace_summary *s = t->summary;
	struct mk_gen *g = begin(t, "summary");

	mk_gen_text(g, "file", t->path);
	mk_gen_number(g, "frames", s->frames);
	mk_gen_open_array(g, "tracepoints");
	for (size_t i = 0; i < SYMTRACE_TRACEPOINTS; i++) {
		if (!s->by_tracepoint[i])
			continue;
		mk_gen_open_map(g, NULL);
		mk_gen_signed(g, "tracepoint", (int16_t)i);
		mk_gen_number(g, "frames", s->by_tracepoint[i]);
		mk_gen_close_map(g);
	}
	mk_gen_close_array(g);
	mk_gen_open_array(g, "lines");
	for (size_t i = 0; i < s->num_lines; i++) {
		const struct symtrace_line *l = s->lines[i];

		mk_gen_open_map(g, NULL);
		mk_gen_text(g, "function", l->function);
		if (*l->path) {
			mk_gen_text(g, "file", l->path);
			mk_gen_number(g, "line", l->line);
		}
		mk_gen_number(g, "frames", l->frames);
		mk_gen_close_map(g);
	}
	mk_gen_close_array(g);
	mk_gen_open_array(g, "pc_unavailable");
	for (enum symtrace_pc_kind kind = SYMTRACE_PC_NO_LAYOUT; kind <= SYMTRACE_PC_DAMAGED; kind++) {
		if (!s->by_pc[kind])
			continue;
		mk_gen_open_map(g, NULL);
		mk_gen_text(g, "reason", mk_trace_pc_text(kind));
		mk_gen_number(g, "frames", s->by_pc[kind]);
		mk_gen_close_map(g);
	}
	mk_gen_close_array(g);
	end(g);
}

const struct mk_trace_form mk_trace_json = { put_header, put_definitions, put_frame, put_summary };
