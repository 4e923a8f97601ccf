/*
 * Our dialect, as JSON: one object for each line of the log, on a line of its
 * own: its number, its text as it was, and its elements with what they stand for
 * as data. json.md has the schema, scripts/check_json.py tests against it.
 *
 * A hexdict that spans lines belongs to the line it begins on, whose object is
 * written when the element's end has come.
 */
#include "libmarkup/bytes/json.h"
#include "libmarkup/output/output.h"

enum { KIND_FRAME = 1 };

struct json {
	bool open;       /* the object of the line is */
	size_t elements; /* in it */
};

/* ---- objects of lines --------------------------------------------------------- */

/* Opens the object of the line [p, p + len), which has number `number`. */
static void open_line(struct mk_output *r, uint64_t number, const char *p, size_t len,
		      bool continued)
{
	struct mk_out *o = &r->out;

	len -= len && p[len - 1] == '\n';
	len -= len && p[len - 1] == '\r';
	mk_put(o, "{\"line\":", number);
	if (r->options.name_inputs && r->where->input)
		mk_json_str(o, "file", (struct sc_str){ r->where->input,
							    strlen(r->where->input) });
	mk_json_str(o, "text", (struct sc_str){ p, len });
	if (continued)
		mk_out_lit(o, ",\"continued\":true");
	*(struct json *)r->state = (struct json){ .open = true };
}

static void close_line(struct mk_output *r)
{
	struct json *x = r->state;

	if (x->elements)
		mk_out_char(&r->out, ']');
	mk_out_lit(&r->out, "}\n");
	x->open = false;
}

/* Opens the object of an element. */
static void open_element(struct mk_output *r, struct sc_str tag, struct sc_str markup)
{
	struct json *x = r->state;
	struct mk_out *o = &r->out;

	if (x->elements++)
		mk_out_char(o, ',');
	else
		mk_out_lit(o, ",\"elements\":[");
	mk_put(o, "{\"tag\":", mk_as(mk_json_string, tag));
	mk_json_str(o, "markup", markup);
}

/* ---- values -------------------------------------------------------------------- */

/* But for the end of the object. */
static void render_frame(struct mk_output *r, struct mk_out *o,
			 const struct sc_frame *frames, size_t n, size_t i)
{
	const struct sc_frame *frame = &frames[i];

	(void)r;
	mk_put(o, "{\"inlined\":", i + 1 < n ? "true" : "false");
	if (frame->function.ptr)
		mk_json_str(o, "function", sc_bare_name(frame));
	if (frame->scopes)
		mk_json_str(o, "qualified", frame->function);
	if (frame->file.ptr) {
		mk_json_str(o, "file", frame->file);
		if (frame->line)
			mk_json_number(o, "line", frame->line);
		if (frame->line && frame->column)
			mk_json_number(o, "column", frame->column);
	}
}

static const struct mk_style frame_style = { KIND_FRAME, false, render_frame };

static void put_build_id(struct mk_out *o, const struct mk_module *m)
{
	mk_out_lit(o, ",\"build_id\":\"");
	mk_out_bytes(o, m->build_id, m->build_id_len);
	mk_out_char(o, '"');
}

/* The module that holds an address, and where in it that is. */
static void put_module(struct mk_output *r, struct mk_out *o,
		       const struct mk_map *map, uint64_t address)
{
	const struct mk_module *m = &r->resolve->context.modules[map->module];

	mk_put(o, ",\"module\":{\"id\":", m->id);
	mk_json_str(o, "name", m->name);
	put_build_id(o, m);
	mk_out_char(o, '}');
	mk_json_hex(o, "module_address", mk_map_vaddr(map, address));
}

static void put_frames(struct mk_output *r, const struct mk_pieces *text)
{
	struct mk_out *o = &r->out;

	mk_json_key(o, "frames");
	mk_out_char(o, '[');
	for (size_t i = 0; text->found && i < text->n; i++) {
		struct sc_str source = mk_source_of(r->resolve, text, i);

		if (i)
			mk_out_char(o, ',');
		mk_put_piece(o, text, i);
		if (source.len)
			mk_json_str(o, "source", source);
		mk_out_char(o, '}');
	}
	mk_out_char(o, ']');
}

static void put_code(struct mk_output *r, uint64_t address, uint64_t lookup)
{
	struct mk_out *o = &r->out;
	struct mk_pieces text;
	const struct mk_map *map = mk_pieces_at(r, lookup, &frame_style, &text);

	if (!map)
		return;
	put_module(r, o, map, address);
	put_frames(r, &text);
}

static void put_data(struct mk_output *r, uint64_t address)
{
	const struct mk_map *map = mk_context_find(&r->resolve->context, address);
	struct mk_out *o = &r->out;
	struct markup_data data;

	if (!map)
		return;
	put_module(r, o, map, address);
	if (!mk_lookup_data(r->resolve, map->module, mk_map_vaddr(map, address), &data))
		return;
	mk_put(o, ",\"symbol\":{\"name\":", mk_as(mk_json_string, data.name));
	mk_json_hex(o, "offset", data.offset);
	if (data.file.ptr) {
		mk_json_str(o, "file", data.file);
		if (data.line)
			mk_json_number(o, "line", data.line);
	}
	mk_out_char(o, '}');
}

static void put_pairs(struct mk_output *r, const char *p, const char *end)
{
	struct mk_out *o = &r->out;
	struct mk_pair pair;
	size_t n = 0;

	mk_json_key(o, "values");
	mk_out_char(o, '[');
	while (mk_next_pair(&p, end, &pair)) {
		const struct mk_map *map = mk_context_find(&r->resolve->context, pair.number);
		mk_put(o, n++ ? "," : "", "{\"key\":", mk_as(mk_json_string, pair.key));
		mk_json_hex(o, "value", pair.number);
		if (map && strchr(map->mode, 'x'))
			put_code(r, pair.number, pair.number);
		else
			put_data(r, pair.number);
		mk_out_char(o, '}');
	}
	mk_out_char(o, ']');
}

/* ---- elements ------------------------------------------------------------------ */

/* A frame whose module is named on its line. */
static void put_named_frame(struct mk_output *r, const struct mk_event *e)
{
	struct mk_module *m = e->unplaced ? NULL : mk_named_module(r->resolve, e);
	struct mk_pieces text = { 0 };
	struct mk_out *o = &r->out;

	mk_json_number(o, "frame", e->number);
	if (e->address)
		mk_json_hex(o, "address", e->address);
	if (!m)
		return;
	mk_pieces_named(r, m, e, &frame_style, &text);
	mk_put(o, ",\"module\":{\"name\":", mk_as(mk_json_string, e->name));
	if (m->build_id_len)
		put_build_id(o, m);
	mk_out_char(o, '}');
	mk_json_hex(o, "module_address", e->lookup);
	put_frames(r, &text);
}

static void put_frame(struct mk_output *r, const struct mk_event *e)
{
	struct mk_out *o = &r->out;

	if (e->in_module) {
		put_named_frame(r, e);
		return;
	}
	if (e->kind == MK_FRAME)
		mk_json_number(o, "frame", e->number);
	mk_json_hex(o, "address", e->address);
	mk_put(o, ",\"type\":", e->lookup == e->address ? "\"pc\"" : "\"ra\"");
	if (e->detail.ptr)
		mk_json_str(o, "message", e->detail);
	put_code(r, e->address, e->lookup);
}

static void put_values(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_context *c = &r->resolve->context;
	struct mk_out *o = &r->out;
	const struct mk_module *module;
	const struct mk_map *map;

	switch (e->kind) {
	case MK_FRAME:
	case MK_PC:
		put_frame(r, e);
		return;
	case MK_DATA:
		mk_json_hex(o, "address", e->address);
		put_data(r, e->address);
		return;
	case MK_SYMBOL:
		mk_json_str(o, "name", e->name);
		mk_json_str(o, "demangled", mk_lookup_demangled(r->resolve, e->name));
		return;
	case MK_MODULE:
		module = &c->modules[e->index];
		if (!e->binds)
			mk_json_number(o, "id", module->id);
		mk_json_str(o, "name", module->name);
		if (module->build_id_len)
			put_build_id(o, module);
		return;
	case MK_MAP:
		map = &c->maps[e->index];
		mk_json_hex(o, "address", map->address);
		mk_json_hex(o, "size", map->size);
		mk_json_number(o, "id", c->modules[map->module].id);
		mk_json_str(o, "mode", sc_str_of(map->mode));
		mk_json_hex(o, "module_address", map->vaddr);
		return;
	case MK_RESET:
		if (e->rest.ptr)
			mk_json_str(o, "kind", e->rest);
		return;
	case MK_DUMPFILE:
		mk_json_str(o, "type", e->detail);
		mk_json_str(o, "name", e->name);
		mk_note_dumpfile(r, e);
		return;
	case MK_HEXDICT:
		put_pairs(r, e->rest.ptr ? e->rest.ptr : e->text.ptr,
			  e->rest.ptr ? e->rest.ptr + e->rest.len : e->text.ptr);
		return;
	case MK_HEXDICT_OPEN:
	case MK_UNKNOWN:
		return;
	}
}

static void json_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	(void)l;
	if (e->kind == MK_HEXDICT_OPEN || e->kind == MK_UNKNOWN)
		return;
	open_element(r, e->tag, e->text);
	if (e->bad)
		mk_json_str(&r->out, "error", mk_complain_of(r, e));
	else
		put_values(r, e);
	mk_out_char(&r->out, '}');
}

/* ---- lines --------------------------------------------------------------------- */

static void json_line(struct mk_output *r, const struct mk_line *l)
{
	const struct json *x = r->state;

	/* Of a line whose hexdict has ended the object is open already. */
	if (!x->open)
		open_line(r, r->where->line_no + 1, l->p, l->len, !(l->part & MK_LINE_LAST));
}

static void json_line_end(struct mk_output *r, const struct mk_line *l)
{
	(void)l;
	close_line(r);
}

static void json_held(struct mk_output *r, const struct mk_held *h)
{
	const char *const begin = h->text.ptr, *p = begin, *end = p + h->text.len, *eol;
	uint64_t number = r->where->line_no + 1 - mk_count_newlines(p, end);

	/* At the end of an input that lacks the last newline, that line counts. */
	number -= !h->complete && end[-1] != '\n';
	if (h->complete) {
		open_element(r, (struct sc_str){ p + 3, strlen("hexdict") }, h->text);
		put_pairs(r, p + strlen("{{{hexdict:"), end - 3);
		mk_out_char(&r->out, '}');
	}
	close_line(r);
	while ((eol = memchr(p, '\n', (size_t)(end - p)))) {
		p = eol + 1;
		number++;
		eol = memchr(p, '\n', (size_t)(end - p));
		if (eol) {
			open_line(r, number, p, (size_t)(eol - p), false);
			close_line(r);
		}
	}
	if (h->complete)
		open_line(r, number, h->last.ptr, h->last.len, false);
	else if (p < end && p > begin) { /* the last line of the input */
		open_line(r, number, p, (size_t)(end - p), false);
		close_line(r);
	}
}

const struct mk_renderer mk_json_renderer = {
	.form = { .escapes = true, .sources = true },
	.state_size = sizeof(struct json),
	.every_line = true,
	.line = json_line,
	.event = json_event,
	.line_end = json_line_end,
	.held = json_held,
};
