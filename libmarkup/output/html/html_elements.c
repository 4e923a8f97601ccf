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

static void put(struct mk_output *r, const char *html)
{
	mk_out_put(&r->out, html, strlen(html));
}

static void put_escaped(struct mk_out *o, struct markup_str s)
{
	mk_html_text(o, s.ptr, s.len);
}

/* ---- frames -------------------------------------------------------------------- */

static void put_location(struct mk_out *o, struct markup_str file, uint32_t line,
			 uint32_t column)
{
	put_escaped(o, file);
	if (line) {
		mk_out_char(o, ':');
		mk_out_dec(o, line);
	}
	if (line && column) {
		mk_out_char(o, ':');
		mk_out_dec(o, column);
	}
}

/* The blanks are inside: outside, each were a node of its own. */
static void render_frame(struct mk_output *r, struct mk_out *o,
			 const struct markup_frame *frames, size_t n, size_t i)
{
	(void)r;
	(void)n;
	if (frames[i].function.ptr) {
		mk_out_lit(o, "<var>");
		put_escaped(o, frames[i].function);
		mk_out_lit(o, " </var>");
	}
	if (frames[i].file.ptr) {
		mk_out_lit(o, "<cite>");
		put_location(o, frames[i].file, frames[i].line, frames[i].column);
		mk_out_lit(o, " </cite>");
	}
}

/* "inner a.h:4 inlined in outer b.c:9 " */
static void render_pc(struct mk_output *r, struct mk_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		render_frame(r, o, frames, n, i);
	}
}

/* As a line of plain text: "inner a.h:4 inlined in outer b.c:9 " */
static void render_chain(struct mk_output *r, struct mk_out *o,
			 const struct markup_frame *frames, size_t n, size_t i)
{
	(void)r;
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		if (frames[i].function.ptr) {
			put_escaped(o, frames[i].function);
			mk_out_char(o, ' ');
		}
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
static struct markup_str short_name(struct markup_str path)
{
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;
	const size_t skip = slash ? (size_t)(slash + 1 - path.ptr) : 0;

	return skip < path.len ? (struct markup_str){ path.ptr + skip, path.len - skip } : path;
}

static struct markup_str name_of(const struct mk_output *r, const struct mk_map *map)
{
	return r->resolve->context.modules[map->module].name;
}

/* An attribute of the element that is open: the module's path, if it is not shown. */
static void put_title(struct mk_output *r, const struct mk_map *map)
{
	if (!map || short_name(name_of(r, map)).len == name_of(r, map).len)
		return;
	put(r, " title=\"");
	put_escaped(&r->out, name_of(r, map));
	put(r, "\"");
}

/* "(a.out+0x1201)" */
static void put_place(struct mk_output *r, const struct mk_map *map, uint64_t address)
{
	mk_out_char(&r->out, '(');
	put_escaped(&r->out, short_name(name_of(r, map)));
	mk_out_char(&r->out, '+');
	mk_out_hex(&r->out, mk_map_vaddr(map, address));
	mk_out_char(&r->out, ')');
}

/* What lies at an address, as an attribute's text. */
static void put_what(struct mk_output *r, const struct mk_map *map, uint64_t address)
{
	const uint64_t vaddr = mk_map_vaddr(map, address);
	struct mk_out *o = &r->out;
	const struct mk_wanted wanted = mk_want(r, &chain_style);
	struct markup_data data;
	struct mk_code text;

	if (strchr(map->mode, 'x')) {
		mk_lookup_address(r->resolve, address, &wanted, &text);
		mk_put_piece(o, &text, 0);
	} else if (mk_lookup_data(r->resolve, map->module, vaddr, &data)) {
		put_escaped(o, data.name);
		if (data.offset) {
			mk_out_char(o, '+');
			mk_out_hex(o, data.offset);
		}
		mk_out_char(o, ' ');
		if (data.file.ptr) {
			put_location(o, data.file, data.line, 0);
			mk_out_char(o, ' ');
		}
	}
	put_place(r, map, address);
}

/* ---- elements ------------------------------------------------------------------ */

static void put_message(struct mk_output *r, struct markup_str message)
{
	if (message.len) {
		put(r, " <span class=\"ms\">");
		put_escaped(&r->out, message);
		put(r, "</span>");
	}
}

/* What the first of its frames is inlined in; folded where the script can unfold it. */
static void put_inlined(struct mk_output *r, const struct mk_code *text)
{
	put(r, " <button aria-expanded=\"false\">inlined ");
	mk_out_dec(&r->out, text->n - 1);
	put(r, "&#215;</button><div hidden=\"until-found\">");
	for (size_t i = 1; i < text->n; i++) {
		put(r, i > 1 ? "<br>in " : "in ");
		mk_put_piece(&r->out, text, i);
	}
	put(r, "</div>");
}

/* A frame whose module is named on its line: what is known of it stands behind its text. */
static void put_named_frame(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_wanted wanted = mk_want(r, &frame_style);
	struct mk_module *m = e->unplaced ? NULL : mk_named_module(r->resolve, e);
	struct mk_code text = { 0 };

	if (m)
		mk_lookup_named(r->resolve, m, e, &wanted, &text);
	put(r, e->number ? "<samp>" : "<samp class=\"z\">");
	put_escaped(&r->out, e->text);
	if (text.found) {
		mk_out_char(&r->out, ' ');
		mk_put_piece(&r->out, &text, 0);
		if (text.n > 1)
			put_inlined(r, &text);
	}
	put(r, "</samp>");
}

static void put_frame(struct mk_output *r, const struct mk_event *e)
{
	if (e->in_module) {
		put_named_frame(r, e);
		return;
	}
	const struct mk_wanted wanted = mk_want(r, &frame_style);
	struct mk_out *o = &r->out;
	struct mk_code text;
	const struct mk_map *map = mk_lookup_address(r->resolve, e->lookup, &wanted, &text);

	put(r, e->number ? "<samp" : "<samp class=\"z\"");
	put_title(r, map);
	put(r, ">#");
	mk_out_dec(o, e->number);
	put(r, e->number < 10 ? "  " : " ");
	mk_out_addr(o, e->address);
	mk_out_char(o, ' ');
	if (map) {
		mk_put_piece(o, &text, 0);
		put_place(r, map, e->address);
	} else {
		put(r, "is not in any module");
	}
	put_message(r, e->detail);
	if (text.n > 1)
		put_inlined(r, &text);
	put(r, "</samp>");
}

static void put_pc(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_wanted wanted = mk_want(r, &pc_style);
	struct mk_out *o = &r->out;
	struct mk_code text;
	const struct mk_map *map = mk_lookup_address(r->resolve, e->lookup, &wanted, &text);

	if (!map) {
		mk_out_addr(o, e->address);
		put(r, " is not in any module");
		return;
	}
	put(r, "<span class=\"e\">");
	if (text.found)
		mk_put_piece(o, &text, 0);
	else
		mk_out_addr(o, e->address);
	put(r, text.found ? "<span class=\"ad\"" : " <span class=\"ad\"");
	put_title(r, map);
	put(r, ">");
	put_place(r, map, e->address);
	put(r, "</span></span>");
	put_message(r, e->detail);
}

static void put_data(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_map *map = mk_context_find(&r->resolve->context, e->address);
	struct mk_out *o = &r->out;
	struct markup_data data;

	if (map && mk_lookup_data(r->resolve, map->module, mk_map_vaddr(map, e->address), &data)) {
		put(r, "<span class=\"e\"><var>");
		put_escaped(o, data.name);
		put(r, "</var>");
		if (data.offset) {
			mk_out_char(o, '+');
			mk_out_hex(o, data.offset);
		}
		if (data.file.ptr) {
			put(r, " <cite>");
			put_location(o, data.file, data.line, 0);
			put(r, "</cite>");
		}
		put(r, "</span>");
		return;
	}
	mk_out_addr(o, e->address);
	mk_out_char(o, ' ');
	if (map)
		put_place(r, map, e->address);
	else
		put(r, "is not in any module");
}

static void put_symbol(struct mk_output *r, const struct mk_event *e)
{
	put(r, "<var title=\"");
	put_escaped(&r->out, e->name);
	put(r, "\">");
	put_escaped(&r->out, mk_lookup_demangled(r->resolve, e->name));
	put(r, "</var>");
}

static void put_module(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_module *m = &r->resolve->context.modules[e->index];

	put(r, "<span class=\"x\">[[[ELF module #");
	mk_out_hex(&r->out, m->id);
	put(r, " &quot;");
	put_escaped(&r->out, m->name);
	put(r, "&quot;; BuildID=");
	mk_out_bytes(&r->out, m->build_id, m->build_id_len);
	put(r, "]]]</span>");
}

static void put_map(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_context *c = &r->resolve->context;
	const struct mk_map *m = &c->maps[e->index];

	put(r, "<span class=\"x\">[[[map of #");
	mk_out_hex(&r->out, c->modules[m->module].id);
	put(r, " [");
	mk_out_hex(&r->out, m->address);
	put(r, "-");
	mk_out_hex(&r->out, m->address + m->size - 1);
	put(r, "](");
	put(r, m->mode);
	put(r, ")]]]</span>");
}

static void put_reset(struct mk_output *r, const struct mk_event *e)
{
	put(r, "<span class=\"x\">[[[");
	mk_html_text(&r->out, e->text.ptr + 3, e->text.len - 6);
	put(r, "]]]</span>");
}

static void put_dumpfile(struct mk_output *r, const struct mk_event *e)
{
	put(r, "<span class=\"e\">[[[dumpfile ");
	put_escaped(&r->out, e->detail);
	put(r, " &quot;");
	put_escaped(&r->out, e->name);
	put(r, "&quot;]]]</span>");
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
		put(r, "<span class=\"v\" tabindex=\"0\" data-s=\"");
		put_what(r, map, pair.number);
		put(r, "\">");
		put_escaped(&r->out, pair.value);
		put(r, "</span>");
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
