/*
 * What the elements of markup become on a page.
 *
 *   <samp>                       a frame; class "z": number 0
 *     <var>function</var> <cite>file:line:column</cite>
 *     <button>inlined 2×</button> <div hidden="until-found">in …<br>in …</div>
 *
 * Not <details>: in chromium each takes 50 µs to be read, as it brings a style sheet,
 * five lines take that. The browser's own search unfolds what is hidden until found;
 * without the script nothing is hidden.
 */
#include "libmarkup/output/html/html.h"

enum { KIND_FRAME = 1, KIND_PC, KIND_CHAIN };

static const char outside[] = "is not in any module";

/* ---- frames -------------------------------------------------------------------- */

static void put_location(struct mk_out *o, struct sc_str file, uint32_t line,
			 uint32_t column)
{
	mk_html_text(o, file);
	if (line)
		mk_put(o, ":", line);
	if (line && column)
		mk_put(o, ":", column);
}

/* The blanks are inside: outside, each were a node of its own. */
static void render_frame(struct mk_output *r, struct mk_out *o,
			 const struct sc_frame *frames, size_t n, size_t i)
{
	(void)r;
	(void)n;
	if (frames[i].function.ptr)
		mk_put(o, "<var>", mk_escaped(frames[i].function), " </var>");
	if (frames[i].file.ptr) {
		mk_out_lit(o, "<cite>");
		put_location(o, frames[i].file, frames[i].line, frames[i].column);
		mk_out_lit(o, " </cite>");
	}
}

/* "inner a.h:4 inlined in outer b.c:9 " */
static void render_pc(struct mk_output *r, struct mk_out *o,
		      const struct sc_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		render_frame(r, o, frames, n, i);
	}
}

/* As a line of plain text: "inner a.h:4 inlined in outer b.c:9 " */
static void render_chain(struct mk_output *r, struct mk_out *o,
			 const struct sc_frame *frames, size_t n, size_t i)
{
	(void)r;
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		if (frames[i].function.ptr)
			mk_put(o, mk_escaped(frames[i].function), " ");
		if (frames[i].file.ptr) {
			put_location(o, frames[i].file, frames[i].line, 0);
			mk_out_char(o, ' ');
		}
	}
}

static const struct mk_style frame_style = { KIND_FRAME, false, render_frame };
static const struct mk_style pc_style = { KIND_PC, true, render_pc };
static const struct mk_style chain_style = { KIND_CHAIN, true, render_chain };

/* The last part of a module's path; all of it is in the title. */
static struct sc_str short_name(struct sc_str path)
{
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
	const size_t skip = slash ? (size_t)(slash + 1 - path.ptr) : 0;

	return skip < path.len ? (struct sc_str){ path.ptr + skip, path.len - skip } : path;
}

static struct sc_str name_of(const struct mk_output *r, const struct mk_map *map)
{
	return r->resolve->context.modules[map->module].name;
}

/* An attribute of the element that is open: the module's path, if it is not shown. */
static void put_title(struct mk_output *r, const struct mk_map *map)
{
	if (map && short_name(name_of(r, map)).len != name_of(r, map).len)
		mk_put(&r->out, " title=\"", mk_escaped(name_of(r, map)), "\"");
}

/* "(a.out+0x1201)" */
static void put_place(struct mk_output *r, const struct mk_map *map, uint64_t address)
{
	mk_put(&r->out, "(", mk_escaped(short_name(name_of(r, map))), "+",
	       mk_hex(mk_map_vaddr(map, address)), ")");
}

/* What lies at an address, as an attribute's text. */
static void put_what(struct mk_output *r, const struct mk_map *map, uint64_t address)
{
	const uint64_t vaddr = mk_map_vaddr(map, address);
	struct mk_out *o = &r->out;
	struct markup_data data;
	struct mk_pieces text;

	if (strchr(map->mode, 'x')) {
		mk_pieces_at(r, address, &chain_style, &text);
		mk_put_piece(o, &text, 0);
	} else if (mk_lookup_data(r->resolve, map->module, vaddr, &data)) {
		mk_html_text(o, data.name);
		if (data.offset)
			mk_put(o, "+", mk_hex(data.offset));
		mk_out_char(o, ' ');
		if (data.file.ptr) {
			put_location(o, data.file, data.line, 0);
			mk_out_char(o, ' ');
		}
	}
	put_place(r, map, address);
}

/* ---- elements ------------------------------------------------------------------ */

static void put_message(struct mk_output *r, struct sc_str message)
{
	if (message.len)
		mk_put(&r->out, " <span class=\"ms\">", mk_escaped(message), "</span>");
}

/* What the first of its frames is inlined in; folded where the script can unfold it. */
static void put_inlined(struct mk_output *r, const struct mk_pieces *text)
{
	mk_put(&r->out, " <button aria-expanded=\"false\">inlined ", text->n - 1,
	       "&#215;</button><div hidden=\"until-found\">");
	for (size_t i = 1; i < text->n; i++) {
		mk_put(&r->out, i > 1 ? "<br>in " : "in ");
		mk_put_piece(&r->out, text, i);
	}
	mk_put(&r->out, "</div>");
}

/* A frame whose module is named on its line: what is known of it stands behind its text. */
static void put_named_frame(struct mk_output *r, const struct mk_event *e)
{
	struct mk_module *m = e->unplaced ? NULL : mk_named_module(r->resolve, e);
	struct mk_pieces text = { 0 };

	if (m)
		mk_pieces_named(r, m, e, &frame_style, &text);
	mk_put(&r->out, e->number ? "<samp>" : "<samp class=\"z\">", mk_escaped(e->text));
	if (text.found) {
		mk_out_char(&r->out, ' ');
		mk_put_piece(&r->out, &text, 0);
		if (text.n > 1)
			put_inlined(r, &text);
	}
	mk_put(&r->out, "</samp>");
}

static void put_frame(struct mk_output *r, const struct mk_event *e)
{
	if (e->in_module) {
		put_named_frame(r, e);
		return;
	}
	struct mk_out *o = &r->out;
	struct mk_pieces text;
	const struct mk_map *map = mk_pieces_at(r, e->lookup, &frame_style, &text);

	mk_put(&r->out, e->number ? "<samp" : "<samp class=\"z\"");
	put_title(r, map);
	mk_put(o, ">#", e->number, e->number < 10 ? "  " : " ", mk_addr(e->address), " ");
	if (map) {
		mk_put_piece(o, &text, 0);
		put_place(r, map, e->address);
	} else {
		mk_put(o, outside);
	}
	put_message(r, e->detail);
	if (text.n > 1)
		put_inlined(r, &text);
	mk_put(&r->out, "</samp>");
}

static void put_pc(struct mk_output *r, const struct mk_event *e)
{
	struct mk_out *o = &r->out;
	struct mk_pieces text;
	const struct mk_map *map = mk_pieces_at(r, e->lookup, &pc_style, &text);

	if (!map) {
		mk_put(o, mk_addr(e->address), " ", outside);
		return;
	}
	mk_put(&r->out, "<span class=\"e\">");
	if (text.found)
		mk_put_piece(o, &text, 0);
	else
		mk_out_addr(o, e->address);
	mk_put(&r->out, text.found ? "<span class=\"ad\"" : " <span class=\"ad\"");
	put_title(r, map);
	mk_put(&r->out, ">");
	put_place(r, map, e->address);
	mk_put(&r->out, "</span></span>");
	put_message(r, e->detail);
}

static void put_data(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_map *map = mk_context_find(&r->resolve->context, e->address);
	struct mk_out *o = &r->out;
	struct markup_data data;

	if (map && mk_lookup_data(r->resolve, map->module, mk_map_vaddr(map, e->address), &data)) {
		mk_put(o, "<span class=\"e\"><var>", mk_escaped(data.name), "</var>");
		if (data.offset)
			mk_put(o, "+", mk_hex(data.offset));
		if (data.file.ptr) {
			mk_put(&r->out, " <cite>");
			put_location(o, data.file, data.line, 0);
			mk_put(&r->out, "</cite>");
		}
		mk_put(&r->out, "</span>");
		return;
	}
	mk_put(o, mk_addr(e->address), " ");
	if (map)
		put_place(r, map, e->address);
	else
		mk_put(o, outside);
}

static void put_symbol(struct mk_output *r, const struct mk_event *e)
{
	mk_put(&r->out, "<var title=\"", mk_escaped(e->name), "\">",
	       mk_escaped(mk_lookup_demangled(r->resolve, e->name)), "</var>");
}

static void put_module(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_module *m = &r->resolve->context.modules[e->index];

	mk_put(&r->out, "<span class=\"x\">[[[ELF module #", mk_hex(m->id), " &quot;",
	       mk_escaped(m->name), "&quot;; BuildID=");
	mk_out_bytes(&r->out, m->build_id, m->build_id_len);
	mk_put(&r->out, "]]]</span>");
}

static void put_map(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_context *c = &r->resolve->context;
	const struct mk_map *m = &c->maps[e->index];

	mk_put(&r->out, "<span class=\"x\">[[[map of #", mk_hex(c->modules[m->module].id), " [",
	       mk_hex(m->address), "-", mk_hex(m->address + m->size - 1));
	mk_put(&r->out, "](", m->mode, ")]]]</span>");
}

static void put_reset(struct mk_output *r, const struct mk_event *e)
{
	const struct sc_str inside = { e->text.ptr + 3, e->text.len - 6 };

	mk_put(&r->out, "<span class=\"x\">[[[", mk_escaped(inside), "]]]</span>");
}

static void put_dumpfile(struct mk_output *r, const struct mk_event *e)
{
	mk_put(&r->out, "<span class=\"e\">[[[dumpfile ", mk_escaped(e->detail), " &quot;",
	       mk_escaped(e->name), "&quot;]]]</span>");
	mk_note_dumpfile(r, e);
}

void mk_html_pairs(struct mk_output *r, const char *p, const char *end)
{
	struct mk_pair pair;
	const char *pos = p;

	while (mk_next_pair(&pos, end, &pair)) {
		const struct mk_map *map = mk_context_find(&r->resolve->context, pair.number);
		if (!map)
			continue;
		mk_html_put_lines(r, p, pair.value.ptr);
		mk_put(&r->out, "<span class=\"v\" tabindex=\"0\" data-s=\"");
		put_what(r, map, pair.number);
		mk_put(&r->out, "\">", mk_escaped(pair.value), "</span>");
		p = pos;
	}
	mk_html_put_lines(r, p, end);
}

static void put_hexdict(struct mk_output *r, const struct mk_event *e)
{
	if (e->rest.len)
		mk_html_pairs(r, e->rest.ptr, e->rest.ptr + e->rest.len);
}

void mk_html_element(struct mk_output *r, const struct mk_event *e)
{
	static void (*const put_element[])(struct mk_output *r, const struct mk_event *e) = {
		[MK_FRAME] = put_frame, [MK_PC] = put_pc, [MK_DATA] = put_data,
		[MK_SYMBOL] = put_symbol, [MK_HEXDICT] = put_hexdict,
		[MK_MODULE] = put_module, [MK_MAP] = put_map, [MK_RESET] = put_reset,
		[MK_DUMPFILE] = put_dumpfile,
	};

	put_element[e->kind](r, e);
}
