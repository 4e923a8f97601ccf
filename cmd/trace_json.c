/*
 * trace_json.c: JSON lines for programs: one object for the file ("trace"), each
 * tracepoint, each variable, each frame; or one "summary". Addresses are strings
 * of hex digits (JSON's numbers do not hold 64 bits everywhere), counts are numbers.
 */
#include <inttypes.h>
#include <string.h>

#include <json-c/json.h>

#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/trace.h"

typedef struct json_object json; /* json-c has no shorter name for it */

static void add_number(json *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

static void add_address(json *o, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, value);
	json_object_object_add(o, key, json_object_new_string(text));
}

static void add_bool(json *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

static void add_text(json *o, const char *key, const char *text)
{
	json_object_object_add(o, key, json_text(text, strlen(text)));
}

static void add_str(json *o, const char *key, struct tfile_str s)
{
	if (s.ptr)
		json_object_object_add(o, key, json_text(s.ptr, s.len));
}

static void add_bytes(json *o, const char *key, const uint8_t *bytes, size_t len)
{
	char *hex = must_calloc(len * 2 + 1, 1);

	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		hex[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	json_object_object_add(o, key, json_object_new_string(hex));
	free(hex);
}

static json *new_object(const char *type)
{
	json *o = json_object_new_object();

	if (type)
		add_text(o, "type", type);
	return o;
}

/* Prints the object as a line and frees it. */
static void put(json *o)
{
	size_t len;
	const char *text = json_object_to_json_string_length(o, JSON_C_TO_STRING_PLAIN |
			JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	fwrite(text, 1, len, stdout);
	putchar('\n');
	json_object_put(o);
}

/* ---- places ---------------------------------------------------------------------- */

static json *functions(struct places *places, struct place *place)
{
	if (place->json)
		return json_object_get(place->json);
	place->json = json_object_new_array();
	for (size_t i = 0; i < place->num_frames; i++) {
		const struct symcache_frame *frame = &place->frames[i];
		struct symcache_str name = places_function(places, frame);
		const char *path = places_path(places, frame);
		json *o = new_object(NULL);

		json_object_object_add(o, "function", json_text(name.ptr, name.len));
		if (*path)
			add_text(o, "file", path);
		add_number(o, "line", frame->line);
		add_number(o, "column", frame->column);
		add_bool(o, "inlined", frame->entry_pc == SYMCACHE_NONE);
		json_object_array_add(place->json, o);
	}
	return json_object_get(place->json);
}

static void add_place(json *o, struct places *places, uint64_t address)
{
	struct place *place = places_code(places, address);

	if (place->module) {
		add_text(o, "module", place->module->name);
		add_address(o, "module_address", address - place->module->bias);
	}
	json_object_object_add(o, "functions", functions(places, place));
}

static void add_data(json *o, struct places *places, uint64_t address, uint64_t size)
{
	const struct data_place *data = places_data(places, address);

	add_address(o, "memory", address);
	add_number(o, "size", size);
	if (data->found) {
		add_text(o, "symbol", data->name);
		add_number(o, "offset", data->offset);
	}
}

/* ---- definitions ------------------------------------------------------------------- */

static void add_if_known(json *o, const char *key, uint64_t value)
{
	if (value != TFILE_UNKNOWN)
		add_number(o, key, value);
}

static json *status(const struct tfile_status *s)
{
	json *o = new_object(NULL);

	add_bool(o, "known", s->known);
	if (!s->known)
		return o;
	add_bool(o, "running", s->running);
	add_text(o, "stop_reason", words_stop(s));
	if (s->stop == TFILE_STOP_PASSCOUNT || s->stop == TFILE_STOP_ERROR)
		add_number(o, "stop_tracepoint", s->stop_tracepoint);
	add_str(o, "stop_text", s->stop_text);
	add_if_known(o, "frames", s->frames);
	add_if_known(o, "frames_created", s->created);
	add_if_known(o, "buffer_free", s->free_bytes);
	add_if_known(o, "buffer_size", s->size);
	add_bool(o, "disconnected_tracing", s->disconnected);
	add_bool(o, "circular", s->circular);
	if (s->start_us)
		add_number(o, "start_us", s->start_us);
	if (s->stop_us)
		add_number(o, "stop_us", s->stop_us);
	add_str(o, "user", s->user);
	add_str(o, "notes", s->notes);
	return o;
}

static json *action(struct places *places, const struct tfile_action *a)
{
	json *o = new_object(NULL);

	if (a->kind == 'M' && a->base < 0) {
		add_data(o, places, a->offset, a->len);
	} else if (a->kind == 'M') {
		add_number(o, "base_register", (uint64_t)a->base);
		json_object_object_add(o, "displacement",
				       json_object_new_int64((int64_t)a->offset));
		add_number(o, "size", a->len);
	} else if (a->kind == 'L') {
		add_bool(o, "static_data", true);
	} else {
		add_str(o, a->kind == 'R' ? "registers" : a->kind == 'X' ? "bytecode" : "unknown",
			a->text);
	}
	return o;
}

/* The pieces of one kind as an array under `key`, if there are any. */
static void add_pieces(json *o, const char *key, struct places *places, const struct tfile *t,
		       const struct tfile_tracepoint *tp, enum tfile_piece_kind kind)
{
	json *list = NULL;

	for (size_t i = 0; i < tp->num_pieces; i++) {
		const struct tfile_piece *piece = &t->pieces[tp->first_piece + i];
		struct tfile_str rest = piece->text;
		struct tfile_action a;

		if (piece->kind != kind)
			continue;
		if (!list)
			list = json_object_new_array();
		if (kind != TFILE_PIECE_ACTION && kind != TFILE_PIECE_STEP_ACTION)
			json_object_array_add(list, json_text(rest.ptr, rest.len));
		else
			while (tfile_next_action(&rest, &a))
				json_object_array_add(list, action(places, &a));
	}
	if (list)
		json_object_object_add(o, key, list);
}

static void put_tracepoint(struct places *places, const struct tfile *t,
			   const struct tfile_tracepoint *tp)
{
	static const char *const kinds[] = { "trap", "fast", "static" };
	json *o = new_object("tracepoint");

	add_number(o, "number", tp->number);
	add_address(o, "address", tp->address);
	add_bool(o, "defined", tp->defined);
	if (tp->state)
		add_bool(o, "enabled", tp->state == 'E');
	add_text(o, "kind", kinds[tp->kind]);
	add_number(o, "steps", tp->step);
	add_number(o, "pass_count", tp->pass);
	if (tp->has_hits) {
		add_number(o, "hits", tp->hits);
		add_number(o, "buffer_usage", tp->usage);
	}
	add_place(o, places, tp->address);
	add_pieces(o, "at", places, t, tp, TFILE_PIECE_AT);
	add_pieces(o, "condition", places, t, tp, TFILE_PIECE_COND);
	add_str(o, "condition_bytecode", tp->condition);
	add_pieces(o, "commands", places, t, tp, TFILE_PIECE_CMD);
	add_pieces(o, "collects", places, t, tp, TFILE_PIECE_ACTION);
	add_pieces(o, "collects_stepping", places, t, tp, TFILE_PIECE_STEP_ACTION);
	put(o);
}

static void definitions(struct trace_file *f, struct places *places)
{
	const struct tfile *t = &f->tfile;
	json *o = new_object("trace");

	add_text(o, "file", f->path);
	add_text(o, "byte_order", t->big_endian ? "big" : "little");
	add_number(o, "register_block_size", t->regblock_size);
	if (f->tdesc.architecture[0])
		add_text(o, "architecture", f->tdesc.architecture);
	json_object_object_add(o, "status", status(&t->status));
	put(o);
	for (size_t i = 0; i < t->num_tracepoints; i++)
		put_tracepoint(places, t, &t->tracepoints[i]);
	for (size_t i = 0; i < t->num_variables; i++) {
		o = new_object("variable");
		add_str(o, "name", t->variables[i].name);
		json_object_object_add(o, "number", json_object_new_int64(t->variables[i].number));
		json_object_object_add(o, "initial", json_object_new_int64(t->variables[i].initial));
		add_bool(o, "builtin", t->variables[i].builtin);
		put(o);
	}
}

/* ---- frames ------------------------------------------------------------------------- */

static json *registers(const struct trace_file *f, const struct tfile_block *block)
{
	json *o = new_object(NULL);

	for (size_t i = 0; i < f->tdesc.num_registers; i++) {
		const struct tdesc_register *r = &f->tdesc.registers[i];

		if (r->size > block->len || r->offset > block->len - r->size || !r->size)
			continue;
		if (r->size <= 8)
			add_address(o, r->name, tfile_number(&f->tfile, block->bytes + r->offset,
							     r->size));
		else
			add_bytes(o, r->name, block->bytes + r->offset, r->size);
	}
	return o;
}

static json *block_object(const struct trace_file *f, struct places *places,
			  const struct trace_options *options, const struct tfile_block *block)
{
	const struct tfile_variable *v;
	json *o = new_object(NULL);

	switch (block->kind) {
	case 'R':
		add_number(o, "register_bytes", block->len);
		if (options->registers)
			json_object_object_add(o, "registers", registers(f, block));
		break;
	case 'M':
		add_data(o, places, block->address, block->len);
		break;
	case 'V':
		v = tfile_find_variable(&f->tfile, block->variable);
		if (v)
			add_str(o, "variable", v->name);
		json_object_object_add(o, "number", json_object_new_int64(block->variable));
		json_object_object_add(o, "value", json_object_new_int64(block->value));
		break;
	case 'S':
		add_number(o, "static_data_size", block->len);
		break;
	}
	if (options->hexdump && block->bytes)
		add_bytes(o, "bytes", block->bytes, block->len);
	return o;
}

static void put_frame(struct trace_file *f, struct places *places,
		      const struct trace_options *options, const struct tfile_frame *frame,
		      struct tfile_pc pc)
{
	struct tfile_blocks walk = tfile_blocks(&f->tfile, frame);
	json *o = new_object("frame"), *blocks = json_object_new_array();
	struct tfile_block block;
	struct tfile_error err;
	int more;

	add_number(o, "number", frame->number);
	json_object_object_add(o, "tracepoint", json_object_new_int(frame->tracepoint));
	add_bool(o, "stepping", tfile_frame_stepping(&f->tfile, frame, pc));
	if (tfile_pc_known(pc)) {
		add_address(o, "pc", pc.address);
		add_text(o, "pc_from", pc.kind == TFILE_PC_REGISTERS ? "registers" : "tracepoint");
		add_place(o, places, pc.address);
	} else {
		add_text(o, "pc_unavailable", words_pc(pc.kind));
	}
	while ((more = tfile_next_block(&walk, &block, &err)) > 0)
		json_object_array_add(blocks, block_object(f, places, options, &block));
	json_object_object_add(o, "blocks", blocks);
	if (more < 0) {
		add_text(o, "error", err.msg);
		trace_fault(f, &err);
	}
	put(o);
}

const struct trace_output trace_json = { definitions, put_frame };

void summary_print_json(const struct summary *s, const struct trace_file *f)
{
	json *o = new_object("summary"), *list = json_object_new_array(), *row;

	add_text(o, "file", f->path);
	add_number(o, "frames", s->frames);
	for (size_t i = 0; i < TRACE_TRACEPOINTS; i++) {
		if (!s->by_tracepoint[i])
			continue;
		row = new_object(NULL);
		json_object_object_add(row, "tracepoint", json_object_new_int((int16_t)i));
		add_number(row, "frames", s->by_tracepoint[i]);
		json_object_array_add(list, row);
	}
	json_object_object_add(o, "tracepoints", list);
	list = json_object_new_array();
	for (size_t i = 0; i < s->lines.len; i++) {
		const struct summary_line *l = &s->lines.data[i];

		row = new_object(NULL);
		add_text(row, "function", l->function);
		if (*l->path) {
			add_text(row, "file", l->path);
			add_number(row, "line", l->line);
		}
		add_number(row, "frames", l->frames);
		json_object_array_add(list, row);
	}
	json_object_object_add(o, "lines", list);
	list = json_object_new_array();
	for (size_t kind = TFILE_PC_NO_LAYOUT; kind <= TFILE_PC_DAMAGED; kind++) {
		if (!s->by_pc[kind])
			continue;
		row = new_object(NULL);
		add_text(row, "reason", words_pc((enum tfile_pc_kind)kind));
		add_number(row, "frames", s->by_pc[kind]);
		json_object_array_add(list, row);
	}
	json_object_object_add(o, "pc_unavailable", list);
	put(o);
}
