/*
 * Our dialect, as JSON: one object for each line of the log, on a line of its
 * own: its number, its text as it was, and its elements with what they stand for
 * as data. json.md has the schema, and render_json_test.c tests against it.
 *
 * A hexdict that spans lines belongs to the line it begins on, whose object is
 * written when the element's end has come.
 */
#include "libmarkup/bytes/json.h"
#include "libmarkup/state.h"

enum { KIND_FRAME = 1 };

/* ---- objects of lines --------------------------------------------------------- */

/* Opens the object of the line [p, p + len), which has number `number`. */
static void open_line(struct markup_filter *f, uint64_t number, const char *p, size_t len,
		      bool continued)
{
	struct markup_out *o = &f->out;

	len -= len && p[len - 1] == '\n';
	len -= len && p[len - 1] == '\r';
	mk_out_lit(o, "{\"line\":");
	mk_out_dec(o, number);
	if (f->options.name_inputs && f->input)
		mk_json_str(o, "file", (struct markup_str){ f->input, strlen(f->input) });
	mk_json_str(o, "text", (struct markup_str){ p, len });
	if (continued)
		mk_out_lit(o, ",\"continued\":true");
	f->json = (struct json_state){ .open = true };
}

static void close_line(struct markup_filter *f)
{
	if (f->json.elements)
		mk_out_char(&f->out, ']');
	mk_out_lit(&f->out, "}\n");
	f->json.open = false;
}

/* Opens the object of an element. */
static void open_element(struct markup_filter *f, struct markup_str tag, struct markup_str markup)
{
	struct markup_out *o = &f->out;

	if (f->json.elements++)
		mk_out_char(o, ',');
	else
		mk_out_lit(o, ",\"elements\":[");
	mk_out_lit(o, "{\"tag\":");
	mk_json_string(o, tag);
	mk_json_str(o, "markup", markup);
}

/* ---- values -------------------------------------------------------------------- */

static void render_frame(struct markup_filter *f, struct markup_out *o,
			 const struct markup_frame *frames, size_t n, size_t i)
{
	const struct markup_frame *frame = &frames[i];

	(void)f;
	mk_out_lit(o, "{\"inlined\":");
	if (i + 1 < n)
		mk_out_lit(o, "true");
	else
		mk_out_lit(o, "false");
	if (frame->function.ptr)
		mk_json_str(o, "function", frame->function);
	if (frame->file.ptr) {
		mk_json_str(o, "file", frame->file);
		if (frame->line)
			mk_json_number(o, "line", frame->line);
		if (frame->line && frame->column)
			mk_json_number(o, "column", frame->column);
	}
	mk_out_char(o, '}');
}

static const struct code_style frame_style = { KIND_FRAME, false, render_frame };

/* The module that holds an address, and where in it that is. */
static void put_module(struct markup_filter *f, struct markup_out *o,
		       const struct markup_mmap *map, uint64_t address)
{
	const struct markup_module *m = &f->context.modules[map->module];

	mk_out_lit(o, ",\"module\":{\"id\":");
	mk_out_dec(o, m->id);
	mk_json_str(o, "name", m->name);
	mk_out_lit(o, ",\"build_id\":\"");
	mk_out_bytes(o, m->build_id, m->build_id_len);
	mk_out_lit(o, "\"}");
	mk_json_hex(o, "module_address", mk_mmap_vaddr(map, address));
}

static void put_code(struct markup_filter *f, struct markup_out *o, uint64_t address,
		     uint64_t lookup)
{
	struct code_text text;
	const struct markup_mmap *map = mk_lookup_address(f, lookup, &frame_style, &text);

	if (!map)
		return;
	put_module(f, o, map, address);
	mk_json_key(o, "frames");
	mk_out_char(o, '[');
	for (size_t i = 0; text.found && i < text.n; i++) {
		if (i)
			mk_out_char(o, ',');
		mk_code_piece(f, o, &text, i);
	}
	mk_out_char(o, ']');
}

static void put_data(struct markup_filter *f, struct markup_out *o, uint64_t address)
{
	const struct markup_mmap *map = mk_context_find(&f->context, address);
	struct markup_data data;

	if (!map)
		return;
	put_module(f, o, map, address);
	if (!mk_lookup_data(f, map->module, mk_mmap_vaddr(map, address), &data))
		return;
	mk_out_lit(o, ",\"symbol\":{\"name\":");
	mk_json_string(o, data.name);
	mk_json_hex(o, "offset", data.offset);
	if (data.file.ptr) {
		mk_json_str(o, "file", data.file);
		if (data.line)
			mk_json_number(o, "line", data.line);
	}
	mk_out_char(o, '}');
}

/* ---- elements ------------------------------------------------------------------ */

static bool code_element(struct markup_filter *f, const struct markup_node *n, bool bt)
{
	struct markup_out *o = &f->out;
	struct code_element e;

	if (!(bt ? mk_element_bt(f, n, &e) : mk_element_pc(f, n, &e)))
		return false;
	if (bt)
		mk_json_number(o, "frame", e.number);
	mk_json_hex(o, "address", e.address);
	mk_out_lit(o, ",\"type\":");
	mk_out_put(o, e.lookup == e.address ? "\"pc\"" : "\"ra\"", 4);
	if (e.message.ptr)
		mk_json_str(o, "message", e.message);
	put_code(f, o, e.address, e.lookup);
	return true;
}

static bool put_bt(struct markup_filter *f, const struct markup_node *n)
{
	return code_element(f, n, true);
}

static bool put_pc(struct markup_filter *f, const struct markup_node *n)
{
	return code_element(f, n, false);
}

static bool put_data_element(struct markup_filter *f, const struct markup_node *n)
{
	uint64_t address;

	if (!mk_element_data(f, n, &address))
		return false;
	mk_json_hex(&f->out, "address", address);
	put_data(f, &f->out, address);
	return true;
}

static bool put_symbol(struct markup_filter *f, const struct markup_node *n)
{
	if (!mk_element_symbol(f, n))
		return false;
	mk_json_str(&f->out, "name", n->fields[0]);
	mk_json_str(&f->out, "demangled", mk_lookup_demangled(f, n->fields[0]));
	return true;
}

static bool put_module_element(struct markup_filter *f, const struct markup_node *n)
{
	const struct markup_module *m;
	uint32_t index;

	if (!mk_element_module(f, n, &index))
		return false;
	m = &f->context.modules[index];
	mk_json_number(&f->out, "id", m->id);
	mk_json_str(&f->out, "name", m->name);
	mk_out_lit(&f->out, ",\"build_id\":\"");
	mk_out_bytes(&f->out, m->build_id, m->build_id_len);
	mk_out_char(&f->out, '"');
	return true;
}

static bool put_mmap(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	const struct markup_mmap *m;
	uint32_t index;

	if (!mk_element_mmap(f, n, &index))
		return false;
	m = &f->context.maps[index];
	mk_json_hex(o, "address", m->address);
	mk_json_hex(o, "size", m->size);
	mk_json_number(o, "id", f->context.modules[m->module].id);
	mk_json_str(o, "mode", (struct markup_str){ m->mode, strlen(m->mode) });
	mk_json_hex(o, "module_address", m->vaddr);
	return true;
}

static bool put_reset(struct markup_filter *f, const struct markup_node *n)
{
	mk_context_reset(&f->context);
	if (n->num_fields)
		mk_json_str(&f->out, "kind", n->rest);
	return true;
}

static bool put_dumpfile(struct markup_filter *f, const struct markup_node *n)
{
	if (n->num_fields < 2) {
		mk_report(f, n, SEV_ERROR, n->tag.ptr, "expected at least 2 field(s); found %zu",
			  n->num_fields);
		return false;
	}
	mk_json_str(&f->out, "type", n->fields[0]);
	mk_json_str(&f->out, "name", n->fields[1]);
	mk_dumpfile_note(f, n->fields[0], n->fields[1]);
	return true;
}

static void put_pairs(struct markup_filter *f, const char *p, const char *end)
{
	struct markup_out *o = &f->out;
	struct hexdict_pair pair;
	size_t n = 0;

	mk_json_key(o, "values");
	mk_out_char(o, '[');
	while (mk_hexdict_next(&p, end, &pair)) {
		const struct markup_mmap *map = mk_context_find(&f->context, pair.number);
		if (n++)
			mk_out_char(o, ',');
		mk_out_lit(o, "{\"key\":");
		mk_json_string(o, pair.key);
		mk_json_hex(o, "value", pair.number);
		if (map && strchr(map->mode, 'x'))
			put_code(f, o, pair.number, pair.number);
		else
			put_data(f, o, pair.number);
		mk_out_char(o, '}');
	}
	mk_out_char(o, ']');
}

static bool put_hexdict(struct markup_filter *f, const struct markup_node *n)
{
	const char *p = n->rest.ptr ? n->rest.ptr : n->text.ptr;

	put_pairs(f, p, p + n->rest.len);
	return true;
}

static const struct {
	const char *tag;
	bool (*put)(struct markup_filter *f, const struct markup_node *n);
} elements[] = {
	{ "bt", put_bt },
	{ "mmap", put_mmap },
	{ "module", put_module_element },
	{ "pc", put_pc },
	{ "data", put_data_element },
	{ "symbol", put_symbol },
	{ "hexdict", put_hexdict },
	{ "dumpfile", put_dumpfile },
	{ "reset", put_reset },
};

static void put_element(struct markup_filter *f, const struct markup_node *n)
{
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (!mk_str_is(n->tag, elements[i].tag))
			continue;
		open_element(f, n->tag, n->text);
		if (!elements[i].put(f, n))
			mk_json_str(&f->out, "error", f->json.error);
		mk_out_char(&f->out, '}');
		return;
	}
}

/* ---- lines --------------------------------------------------------------------- */

static void json_line(struct markup_filter *f, const char *p, size_t len, enum line_part part)
{
	struct markup_parser parser;
	struct markup_node n;

	/* Of a line whose hexdict has ended the object is open already. */
	if (!f->json.open)
		open_line(f, f->line_no + 1, p, len, !(part & LINE_LAST));
	markup_parse_line(&parser, p, len, MARKUP_SYNTAX);
	parser.hint = f->first;
	while (mk_next_element(&parser, &n)) {
		if (n.kind == MARKUP_ELEMENT)
			put_element(f, &n);
		else if ((part & LINE_LAST) &&
			 mk_hexdict_open(&f->hexdict, n.text, (struct markup_str){ NULL, 0 }))
			return;
	}
	close_line(f);
}

static void json_held(struct markup_filter *f, bool complete)
{
	const struct hexdict *h = &f->hexdict;
	const char *p = h->buf, *end = p + h->len, *eol;
	uint64_t number = f->line_no + 1 - markup_count_newlines(p, end);

	/* At the end of an input that lacks the last newline, that line counts. */
	number -= !complete && end[-1] != '\n';
	if (complete) {
		open_element(f, (struct markup_str){ p + 3, strlen("hexdict") },
			     (struct markup_str){ p, h->len });
		put_pairs(f, p + strlen("{{{hexdict:"), end - 3);
		mk_out_char(&f->out, '}');
	}
	close_line(f);
	while ((eol = memchr(p, '\n', (size_t)(end - p)))) {
		p = eol + 1;
		number++;
		eol = memchr(p, '\n', (size_t)(end - p));
		if (eol) {
			open_line(f, number, p, (size_t)(eol - p), false);
			close_line(f);
		}
	}
	if (complete)
		open_line(f, number, f->last_held.ptr, f->last_held.len, false);
	else if (p < end && p > h->buf) { /* the last line of the input */
		open_line(f, number, p, (size_t)(end - p), false);
		close_line(f);
	}
}

static void json_plain(struct markup_filter *f, const char *p, size_t len)
{
	(void)f;
	(void)p;
	(void)len;
}

static void json_finish(struct markup_filter *f)
{
	(void)f;
}

static void json_report(struct markup_filter *f, const struct markup_node *n,
			enum severity severity, const char *at, struct markup_str message)
{
	mk_text_renderer.report(f, n, severity, at, message);
	f->notes.len = 0;
	mk_out_str(&f->notes, message);
	f->json.error = (struct markup_str){ f->notes.buf, f->notes.len };
}

const struct renderer mk_json_renderer = {
	.every_line = true,
	.line = json_line,
	.held = json_held,
	.plain = json_plain,
	.finish = json_finish,
	.report = json_report,
};
