/*
 * trace_json.c: JSON lines for programs: one object for the file ("trace"), each
 * tracepoint, each variable and each frame; or one "summary".
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/frame_line.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/output.h"
#include "cmd/trace/trace.h"
#include "symcache/build_id.h"
#include "symcache/symcache.h"

static struct mk_gen *out; /* there is one standard output */

static void start(void)
{
	out = out_json(false);
}

static void finish(void)
{
	out = NULL;
}

static void begin(const char *type)
{
	mk_gen_open_map(out, NULL);
	if (type)
		mk_gen_text(out, "type", type);
}

static void end(void)
{
	mk_gen_close_map(out);
	mk_gen_end(out);
}

static void put_str(const char *key, struct symtrace_str s)
{
	if (s.ptr)
		mk_gen_string(out, key, s.ptr, s.len);
}

static void put_bytes(const char *key, const uint8_t *bytes, size_t len)
{
	char *hex = must_calloc(len * 2 + 1, 1);

	symcache_build_id_text(hex, bytes, len);
	mk_gen_text(out, key, hex);
	free(hex);
}

/* ---- places ---------------------------------------------------------------------- */

static const char *functions(struct symcache_code_place *place)
{
	struct mk_out text = { 0 };
	struct mk_gen *j = &(struct mk_gen){ .to = &text };

	if (place->text)
		return place->text;
	mk_gen_open_array(j, NULL);
	for (size_t i = 0; i < place->num_frames; i++) {
		const struct symcache_place_frame *frame = &place->frames[i];

		mk_gen_open_map(j, NULL);
		mk_gen_text(j, "function", place_name(frame).ptr);
		if (*frame->file)
			mk_gen_text(j, "file", frame->file);
		mk_gen_number(j, "line", frame->line);
		mk_gen_number(j, "column", frame->column);
		mk_gen_bool(j, "inlined", frame->inlined);
		mk_gen_close_map(j);
	}
	mk_gen_close_array(j);
	return place->text = must(mk_out_take(&text));
}

static void put_place(const struct places *places, uint64_t address)
{
	const struct place place = places_code(places, address);

	if (place.image) {
		mk_gen_text(out, "module", place.image->name);
		mk_gen_hex(out, "module_address", address - place.image->bias);
	}
	mk_gen_raw(out, "functions", functions(place.at));
}

static void put_data(const struct places *places, uint64_t address, uint64_t size)
{
	const struct symcache_data_place *data = places_data(places, address);

	mk_gen_hex(out, "memory", address);
	mk_gen_number(out, "size", size);
	if (data->found) {
		mk_gen_text(out, "symbol", data->name);
		mk_gen_number(out, "offset", data->offset);
	}
}

/* ---- definitions ------------------------------------------------------------------- */

static void put_if_known(const char *key, uint64_t value)
{
	if (value != SYMTRACE_UNKNOWN)
		mk_gen_number(out, key, value);
}

static void put_status(const struct symtrace_status *s)
{
	mk_gen_open_map(out, "status");
	mk_gen_bool(out, "known", s->known);
	if (s->known) {
		mk_gen_bool(out, "running", s->running);
		mk_gen_text(out, "stop_reason", words_stop(s));
		if (s->stop == SYMTRACE_STOP_PASSCOUNT || s->stop == SYMTRACE_STOP_ERROR)
			mk_gen_number(out, "stop_tracepoint", s->stop_tracepoint);
		put_str("stop_text", s->stop_text);
		put_if_known("frames", s->frames);
		put_if_known("frames_created", s->created);
		put_if_known("buffer_free", s->free_bytes);
		put_if_known("buffer_size", s->size);
		mk_gen_bool(out, "disconnected_tracing", s->disconnected);
		mk_gen_bool(out, "circular", s->circular);
		put_if_known("start_us", s->start_us ? s->start_us : SYMTRACE_UNKNOWN);
		put_if_known("stop_us", s->stop_us ? s->stop_us : SYMTRACE_UNKNOWN);
		put_str("user", s->user);
		put_str("notes", s->notes);
	}
	mk_gen_close_map(out);
}

static void put_action(const struct places *places, const struct symtrace_action *a)
{
	mk_gen_open_map(out, NULL);
	if (a->kind == 'M' && a->base < 0) {
		put_data(places, a->offset, a->len);
	} else if (a->kind == 'M') {
		mk_gen_signed(out, "base_register", a->base);
		mk_gen_signed(out, "displacement", (int64_t)a->offset);
		mk_gen_number(out, "size", a->len);
	} else if (a->kind == 'L') {
		mk_gen_bool(out, "static_data", true);
	} else {
		put_str(a->kind == 'R' ? "registers" : a->kind == 'X' ? "bytecode" : "unknown",
			a->text);
	}
	mk_gen_close_map(out);
}

/* The pieces of one kind as an array under `key`, if there are any. */
static void put_pieces(const char *key, const struct places *places, const struct symtrace *t,
		       const struct symtrace_tracepoint *tp, enum symtrace_piece_kind kind)
{
	bool any = false;

	for (size_t i = 0; i < tp->num_pieces; i++) {
		const struct symtrace_piece *piece = &t->pieces[tp->first_piece + i];
		struct symtrace_str rest = piece->text;
		struct symtrace_action a;

		if (piece->kind != kind)
			continue;
		if (!any)
			mk_gen_open_array(out, key);
		any = true;
		if (kind != SYMTRACE_PIECE_ACTION && kind != SYMTRACE_PIECE_STEP_ACTION)
			mk_gen_string(out, NULL, rest.ptr, rest.len);
		else
			while (symtrace_next_action(&rest, &a))
				put_action(places, &a);
	}
	if (any)
		mk_gen_close_array(out);
}

static void put_tracepoint(const struct places *places, const struct symtrace *t,
			   const struct symtrace_tracepoint *tp)
{
	static const char *const kinds[] = { "trap", "fast", "static" };

	begin("tracepoint");
	mk_gen_number(out, "number", tp->number);
	mk_gen_hex(out, "address", tp->address);
	mk_gen_bool(out, "defined", tp->defined);
	if (tp->state)
		mk_gen_bool(out, "enabled", tp->state == 'E');
	mk_gen_text(out, "kind", kinds[tp->kind]);
	mk_gen_number(out, "steps", tp->step);
	mk_gen_number(out, "pass_count", tp->pass);
	if (tp->has_hits) {
		mk_gen_number(out, "hits", tp->hits);
		mk_gen_number(out, "buffer_usage", tp->usage);
	}
	put_place(places, tp->address);
	put_pieces("at", places, t, tp, SYMTRACE_PIECE_AT);
	put_pieces("condition", places, t, tp, SYMTRACE_PIECE_COND);
	put_str("condition_bytecode", tp->condition);
	put_pieces("commands", places, t, tp, SYMTRACE_PIECE_CMD);
	put_pieces("collects", places, t, tp, SYMTRACE_PIECE_ACTION);
	put_pieces("collects_stepping", places, t, tp, SYMTRACE_PIECE_STEP_ACTION);
	end();
}

static void header(const struct trace_file *f)
{
	const struct symtrace *t = &f->trace;

	begin("trace");
	mk_gen_text(out, "file", f->path);
	mk_gen_text(out, "byte_order", t->big_endian ? "big" : "little");
	mk_gen_number(out, "register_block_size", t->regblock_size);
	if (f->trace.layout.architecture[0])
		mk_gen_text(out, "architecture", f->trace.layout.architecture);
	put_status(&t->status);
	end();
}

static void definitions(struct trace_file *f, const struct places *places)
{
	const struct symtrace *t = &f->trace;

	for (size_t i = 0; i < t->num_tracepoints; i++)
		put_tracepoint(places, t, &t->tracepoints[i]);
	for (size_t i = 0; i < t->num_variables; i++) {
		begin("variable");
		put_str("name", t->variables[i].name);
		mk_gen_signed(out, "number", t->variables[i].number);
		mk_gen_signed(out, "initial", t->variables[i].initial);
		mk_gen_bool(out, "builtin", t->variables[i].builtin);
		end();
	}
}

/* ---- frames ------------------------------------------------------------------------- */

static void put_registers(const struct trace_file *f, const struct symtrace_block *block)
{
	mk_gen_open_map(out, "registers");
	for (size_t i = 0; i < f->trace.layout.num_registers; i++) {
		const struct symtrace_register *r = &f->trace.layout.registers[i];

		if (r->size > block->len || r->offset > block->len - r->size || !r->size)
			continue;
		if (r->size <= 8)
			mk_gen_hex(out, r->name,
				 symtrace_number(&f->trace, block->bytes + r->offset, r->size));
		else
			put_bytes(r->name, block->bytes + r->offset, r->size);
	}
	mk_gen_close_map(out);
}

static void put_block(const struct trace_file *f, const struct places *places,
		      const struct trace_options *options, const struct symtrace_block *block)
{
	const struct symtrace_variable *v;

	mk_gen_open_map(out, NULL);
	switch (block->kind) {
	case 'R':
		mk_gen_number(out, "register_bytes", block->len);
		if (options->registers)
			put_registers(f, block);
		break;
	case 'M':
		put_data(places, block->address, block->len);
		if (place_is_number(places_data(places, block->address), block->len))
			mk_gen_hex(out, "value",
				     symtrace_number(&f->trace, block->bytes, block->len));
		break;
	case 'V':
		v = symtrace_find_variable(&f->trace, block->variable);
		if (v)
			put_str("variable", v->name);
		mk_gen_signed(out, "number", block->variable);
		mk_gen_signed(out, "value", block->value);
		break;
	case 'S':
		mk_gen_number(out, "static_data_size", block->len);
		break;
	}
	if (options->hexdump && block->bytes && block->kind != 'V')
		put_bytes("bytes", block->bytes, block->len);
	mk_gen_close_map(out);
}

static void put_stack(const struct trace_file *f, const struct places *places,
		      struct symtrace_stack *of, const struct symtrace_frame *frame,
		      struct symtrace_pc pc)
{
	const struct symcache_stack *s = &of->stack;
	struct sc_error err;

	if (symtrace_walk(&f->trace, frame, pc, places->images, of, &err)) {
		mk_gen_text(out, "stack_unavailable", err.msg);
		return;
	}
	mk_gen_open_array(out, "stack");
	for (size_t i = 1; i < s->num_frames; i++) {
		const struct symcache_walked_frame *at = &s->frames[i];

		mk_gen_open_map(out, NULL);
		mk_gen_number(out, "frame", i);
		mk_gen_hex(out, "pc", at->pc);
		mk_gen_text(out, "trust", trust_word(at->trust));
		if (at->signal)
			mk_gen_bool(out, "signal", true);
		put_place(places, at->lookup_pc);
		mk_gen_close_map(out);
	}
	mk_gen_close_array(out);
	mk_gen_text(out, "stopped", stop_word(s->stop));
	if (s->stop == SYMCACHE_STOP_MEMORY)
		mk_gen_hex(out, "address", s->address);
}

static void put_frame(struct trace_file *f, const struct places *places,
		      const struct trace_options *options, const struct symtrace_frame *frame,
		      struct symtrace_pc pc)
{
	struct symtrace_blocks walk = symtrace_blocks(&f->trace, frame);
	struct symtrace_block block;
	struct symtrace_error err;
	int more;

	begin("frame");
	mk_gen_number(out, "number", frame->number);
	mk_gen_signed(out, "tracepoint", frame->tracepoint);
	mk_gen_bool(out, "stepping", symtrace_frame_stepping(&f->trace, frame, pc));
	if (symtrace_pc_known(pc)) {
		mk_gen_hex(out, "pc", pc.address);
		mk_gen_text(out, "pc_from",
			      pc.kind == SYMTRACE_PC_REGISTERS ? "registers" : "tracepoint");
		put_place(places, pc.address);
	} else {
		mk_gen_text(out, "pc_unavailable", words_pc(pc.kind));
	}
	if (options->stack && symtrace_pc_known(pc))
		put_stack(f, places, options->stack, frame, pc);
	mk_gen_open_array(out, "blocks");
	while ((more = symtrace_next_block(&walk, &block, &err)) > 0)
		put_block(f, places, options, &block);
	mk_gen_close_array(out);
	if (more < 0) {
		mk_gen_text(out, "error", err.msg);
		trace_fault(f, &err);
	}
	end();
}

/* ---- summary -------------------------------------------------------------------------- */

static void put_summary(const struct symtrace_summary *s, const struct trace_file *f)
{
	begin("summary");
	mk_gen_text(out, "file", f->path);
	mk_gen_number(out, "frames", s->frames);
	mk_gen_open_array(out, "tracepoints");
	for (size_t i = 0; i < SYMTRACE_TRACEPOINTS; i++) {
		if (!s->by_tracepoint[i])
			continue;
		begin(NULL);
		mk_gen_signed(out, "tracepoint", (int16_t)i);
		mk_gen_number(out, "frames", s->by_tracepoint[i]);
		mk_gen_close_map(out);
	}
	mk_gen_close_array(out);
	mk_gen_open_array(out, "lines");
	for (size_t i = 0; i < s->num_lines; i++) {
		const struct symtrace_line *l = s->lines[i];

		begin(NULL);
		mk_gen_text(out, "function", l->function);
		if (*l->path) {
			mk_gen_text(out, "file", l->path);
			mk_gen_number(out, "line", l->line);
		}
		mk_gen_number(out, "frames", l->frames);
		mk_gen_close_map(out);
	}
	mk_gen_close_array(out);
	mk_gen_open_array(out, "pc_unavailable");
	for (size_t kind = SYMTRACE_PC_NO_LAYOUT; kind <= SYMTRACE_PC_DAMAGED; kind++) {
		if (!s->by_pc[kind])
			continue;
		begin(NULL);
		mk_gen_text(out, "reason", words_pc((enum symtrace_pc_kind)kind));
		mk_gen_number(out, "frames", s->by_pc[kind]);
		mk_gen_close_map(out);
	}
	mk_gen_close_array(out);
	end();
}

const struct trace_output trace_json = {
	start, header, definitions, put_frame, put_summary, finish
};
