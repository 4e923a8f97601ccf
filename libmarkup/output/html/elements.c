/* What the elements of markup become on a page: frames rows (page.h), others stay in their line. */
#include "libmarkup/bytes/own.h"
#include "libmarkup/output/html/html.h"

enum { KIND_FRAME = 1, KIND_PC, KIND_CHAIN };

static const char outside[] = "is not in any module";

/* ---- code ---------------------------------------------------------------------- */

static void put_location(struct mk_out *o, struct sc_str file, uint32_t line,
			 uint32_t column)
{
	mk_html_text(o, file);
	if (line)
		mk_put(o, ":", line);
	if (line && column)
		mk_put(o, ":", column);
}

/* Whether it is the program's own, as far as its module does not say otherwise, and the row. */
static void render_row(struct mk_output *r, struct mk_out *o, const struct sc_frame *frames,
		       size_t n, size_t i)
{
	const struct sc_frame *f = &frames[i];

	(void)n;
	mk_out_char(o, mk_own_place(r->options.own, f->function, f->file) ? 'o' : '-');
	mk_row_code(o, f);
}

/* "inner a.h:4 inlined in outer b.c:9 " */
static void render_pc(struct mk_output *r, struct mk_out *o,
		      const struct sc_frame *frames, size_t n, size_t i)
{
	(void)r;
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		if (frames[i].function.ptr)
			mk_put(o, "<var>", mk_escaped(frames[i].function), "</var> ");
		if (!frames[i].file.ptr)
			continue;
		mk_out_lit(o, "<cite>");
		put_location(o, frames[i].file, frames[i].line, frames[i].column);
		mk_out_lit(o, "</cite> ");
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

static const struct mk_style frame_style = { KIND_FRAME, false, render_row };
static const struct mk_style pc_style = { KIND_PC, true, render_pc };
static const struct mk_style chain_style = { KIND_CHAIN, true, render_chain };

static struct sc_str name_of(const struct mk_output *r, const struct mk_map *map)
{
	return r->resolve->context.modules[map->module].name;
}

/* An attribute of the element that is open: the module's path, if it is not shown. */
static void put_title(struct mk_output *r, const struct mk_map *map)
{
	if (map && sc_basename(name_of(r, map)).len != name_of(r, map).len)
		mk_put(&r->out, " title=\"", mk_escaped(name_of(r, map)), "\"");
}

/* "(a.out+0x1201)" */
static void put_place(struct mk_output *r, const struct mk_map *map, uint64_t address)
{
	mk_put(&r->out, "(", mk_escaped(sc_basename(name_of(r, map))), "+",
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

/* ---- frames ---------------------------------------------------------------------- */

#define BEFORE_MAX 120u /* bytes; more than time, host and process is text of its own */

/* A frame on its way to a row. */
struct row {
	const struct mk_event *event;
	struct sc_str before;      /* on its line */
	struct sc_str module;
	const struct mk_map *map;  /* NULL: the line names the module, or no map covers it */
	bool has_symbols, own;
	struct mk_pieces code;
};

static struct sc_str trimmed(struct sc_str s)
{
	while (s.len && strchr(" \t", *s.ptr))
		s = (struct sc_str){ s.ptr + 1, s.len - 1 };
	while (s.len && strchr(" \t\r\n", s.ptr[s.len - 1]))
		s.len--;
	return s;
}

static void put_head(struct mk_output *r, const struct row *w)
{
	const struct sc_str before = trimmed(w->before);

	if (before.len && before.len <= BEFORE_MAX) {
		mk_out_lit(&r->out, "<s>");
		mk_html_line_text(r, before.ptr, before.ptr + before.len);
		mk_html_colour_off(r);
		mk_out_lit(&r->out, "</s> ");
	}
	mk_out_lit(&r->out, "<i>");
	if (!w->event->reach)
		mk_put(&r->out, "#", w->event->number);
	mk_out_lit(&r->out, "</i> ");
}

/* The text of the log that the row stands for. */
static void put_text(struct mk_output *r, const struct row *w)
{
	if (w->event->in_module)
		mk_put(&r->out, mk_escaped(trimmed(w->event->text)));
	else
		mk_out_addr(&r->out, w->event->address);
}

static void put_module(struct mk_output *r, const struct row *w)
{
	const struct mk_event *e = w->event;
	const uint64_t at = w->map ? mk_map_vaddr(w->map, e->address) : e->lookup;

	mk_put(&r->out, mk_escaped(sc_basename(w->module)));
	if (e->in_module && e->symbol.len)
		mk_put(&r->out, " ", mk_escaped(e->symbol));
	mk_put(&r->out, "+", mk_hex(at));
}

/* The number, the code of frame 0 and the rest of its row. */
static void put_found(struct mk_output *r, struct row *w)
{
	struct mk_out *piece = &mk_html_of(r)->piece;
	const struct sc_str source = mk_source_of(r->resolve, &w->code, 0);

	piece->len = 0;
	mk_put_piece(piece, &w->code, 0);
	w->own = mk_is_own(r->options.own, w->own, piece->len && *piece->buf == 'o');
	mk_put(&r->out, source.len ? "<details class=r0\1o><summary class=\"r" : "<div class=\"r",
	       w->own ? " o\">" : "\">");
	put_head(r, w);
	mk_out_put(&r->out, piece->buf + 1, piece->len ? piece->len - 1 : 0);
	mk_out_lit(&r->out, "<small>&nbsp;(");
	put_module(r, w);
	mk_out_lit(&r->out, ") <s>");
	put_text(r, w);
	mk_put(&r->out, "</s></small>", source.len ? "</summary>" : "</div>");
	if (source.len)
		mk_row_source(&r->out, source);
	mk_put(&r->out, source.len ? "</details>" : "");
}

static void put_missing(struct mk_output *r, const struct row *w)
{
	const bool placed = w->module.len && !w->event->unplaced;

	mk_out_lit(&r->out, "\1x<div class=\"r x\">");
	put_head(r, w);
	mk_out_lit(&r->out, "<b>");
	if (placed)
		put_module(r, w);
	else
		put_text(r, w);
	mk_put(&r->out, "</b> <cite class=bad>", !w->map && !w->event->in_module ? outside :
	       w->has_symbols ? "nothing known" : "no symbols", "</cite>");
	if (placed) {
		mk_out_lit(&r->out, "<small>&nbsp;<s>");
		put_text(r, w);
		mk_out_lit(&r->out, "</s></small>");
	} else if (w->module.len) {
		mk_put(&r->out, "<small>&nbsp;(", mk_escaped(sc_basename(w->module)), ")</small>");
	}
	mk_out_lit(&r->out, "</div>");
}

/* What frame 0 is inlined into, folded; the last one is the function itself. */
static void put_inlined(struct mk_output *r, const struct row *w)
{
	struct mk_out *o = &r->out, *piece = &mk_html_of(r)->piece;
	const size_t n = w->code.n;
	const bool own_module = mk_own_module(r->options.own, w->module);

	piece->len = 0;
	mk_put_piece(piece, &w->code, n - 1);
	mk_out_lit(o, "<details class=in\1o><summary>inlined into ");
	mk_row_brief(o, piece->buf, piece->len, n > 2 ? n - 2 : 0);
	mk_out_lit(o, "</summary>");
	for (size_t i = 1; i < n; i++) {
		const struct sc_str source = mk_source_of(r->resolve, &w->code, i);

		piece->len = 0;
		mk_put_piece(piece, &w->code, i);
		mk_put(o, source.len ? "<details class=r0><summary class=\"r" : "<div class=\"r",
		       mk_is_own(r->options.own, own_module, piece->len && *piece->buf == 'o') ?
		       " o\">" : "\">");
		mk_out_put(o, piece->buf + 1, piece->len ? piece->len - 1 : 0);
		mk_put(o, source.len ? "</summary>" : "</div>");
		if (source.len) {
			mk_row_source(o, source);
			mk_out_lit(o, "</details>");
		}
	}
	mk_out_lit(o, "</details>");
}

static void note_frame(struct mk_output *r, const struct mk_event *e)
{
	struct mk_html *x = r->state;

	if (!x->frames++) {
		x->first = e->number;
		x->reach = e->reach;
	}
	x->named = e->in_module;
}

void mk_html_frame(struct mk_output *r, const struct mk_event *e, struct sc_str before)
{
	struct row w = { .event = e, .before = before, .module = e->name };
	struct mk_module *m = NULL;

	if (!e->in_module)
		w.map = mk_pieces_at(r, e->lookup, &frame_style, &w.code);
	else if (!e->unplaced && (m = mk_named_module(r->resolve, e)))
		mk_pieces_named(r, m, e, &frame_style, &w.code);
	if (!e->in_module)
		w.module = w.map ? name_of(r, w.map) : (struct sc_str){ NULL, 0 };
	w.has_symbols = w.map ? mk_lookup_module(r->resolve, w.map->module) != NULL : m && m->handle;
	w.own = mk_own_module(r->options.own, w.module);
	note_frame(r, e);
	mk_put(&r->out, "\1m", mk_escaped(w.module), "\2");
	if (before.len > BEFORE_MAX) {
		mk_out_lit(&r->out, "<span class=text>");
		mk_html_line_text(r, before.ptr, before.ptr + before.len);
		mk_html_colour_off(r);
		mk_out_lit(&r->out, "</span>");
	}
	if (!w.code.found) {
		put_missing(r, &w);
	} else {
		put_found(r, &w);
		if (w.code.n > 1)
			put_inlined(r, &w);
	}
	if (e->detail.len && !e->in_module)
		mk_put(&r->out, "<span class=ms>", mk_escaped(e->detail), "</span>");
}

/* ---- elements in a line --------------------------------------------------------------- */

static void put_message(struct mk_output *r, struct sc_str message)
{
	if (message.len)
		mk_put(&r->out, " <span class=ms>", mk_escaped(message), "</span>");
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
	mk_put(&r->out, "<span class=e>");
	if (text.found)
		mk_put_piece(o, &text, 0);
	else
		mk_out_addr(o, e->address);
	mk_put(&r->out, text.found ? "<span class=dim" : " <span class=dim");
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
		mk_put(o, "<span class=e><var>", mk_escaped(data.name), "</var>");
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

static void put_module_line(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_module *m = &r->resolve->context.modules[e->index];

	mk_put(&r->out, "<span class=x>[[[ELF module #", mk_hex(m->id), " &quot;",
	       mk_escaped(m->name), "&quot;; BuildID=");
	mk_out_bytes(&r->out, m->build_id, m->build_id_len);
	mk_put(&r->out, "]]]</span>");
}

static void put_map(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_context *c = &r->resolve->context;
	const struct mk_map *m = &c->maps[e->index];

	mk_put(&r->out, "<span class=x>[[[map of #", mk_hex(c->modules[m->module].id), " [",
	       mk_hex(m->address), "-", mk_hex(m->address + m->size - 1));
	mk_put(&r->out, "](", m->mode, ")]]]</span>");
}

static void put_reset(struct mk_output *r, const struct mk_event *e)
{
	const struct sc_str inside = { e->text.ptr + 3, e->text.len - 6 };

	mk_put(&r->out, "<span class=x>[[[", mk_escaped(inside), "]]]</span>");
}

static void put_dumpfile(struct mk_output *r, const struct mk_event *e)
{
	mk_put(&r->out, "<span class=e>[[[dumpfile ", mk_escaped(e->detail), " &quot;",
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
		mk_put(&r->out, "<span class=v tabindex=0 data-s=\"");
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
		[MK_PC] = put_pc, [MK_DATA] = put_data,
		[MK_SYMBOL] = put_symbol, [MK_HEXDICT] = put_hexdict,
		[MK_MODULE] = put_module_line, [MK_MAP] = put_map, [MK_RESET] = put_reset,
		[MK_DUMPFILE] = put_dumpfile,
	};

	put_element[e->kind](r, e);
}
