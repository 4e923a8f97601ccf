/*
 * Our dialect, as an HTML page that can be read, searched and clicked: SGR codes
 * are colours, inlined frames are folded away, a value of a hexdict tells on
 * hover or focus what lies there. html_page.c has what is around the log.
 *
 *   <div class="b">              256 lines, which the browser lays out when seen
 *     <div class="l" id="12">text <details class="f">…</details></div>
 *
 * All text of the log goes through mk_html_text(). Each line of the log is a line
 * of the page; those of modules are dim, those of maps are hidden at first.
 */
#include "libmarkup/json.h"
#include "libmarkup/state.h"

#define BLOCK_LINES 256u

enum { KIND_FRAME = 1, KIND_PC, KIND_CHAIN };

static struct markup_str str(const char *text)
{
	return (struct markup_str){ text, strlen(text) };
}

static void put(struct markup_filter *f, const char *html)
{
	mk_out_str(&f->out, str(html));
}

static void put_escaped(struct markup_out *o, struct markup_str s)
{
	mk_html_text(o, s.ptr, s.len);
}

/* ---- lines --------------------------------------------------------------------- */

static void color_off(struct markup_filter *f)
{
	if (f->html.colored)
		put(f, "</span>");
	f->html.colored = false;
}

static void color_on(struct markup_filter *f)
{
	const char digit = (char)('0' + f->sgr.color);

	if (f->sgr.color < 0 && !f->sgr.bold)
		return;
	put(f, "<span class=\"");
	if (f->sgr.bold)
		put(f, f->sgr.color < 0 ? "bo" : "bo ");
	if (f->sgr.color >= 0) {
		put(f, "c");
		mk_out_char(&f->out, digit);
	}
	put(f, "\">");
	f->html.colored = true;
}

static void open_line(struct markup_filter *f, uint64_t number, bool hidden)
{
	struct markup_out *o = &f->out;

	if (number == 1 && f->options.name_inputs && f->input) {
		put(f, "<h2>");
		put_escaped(o, str(f->input));
		put(f, "</h2>\n");
	}
	if (number % BLOCK_LINES == 1)
		put(f, number == 1 ? "<div class=\"b\">\n" : "</div>\n<div class=\"b\">\n");
	put(f, hidden ? "<div class=\"l m\" id=\"" : "<div class=\"l\" id=\"");
	if (f->html.input > 1) {
		mk_out_dec(o, f->html.input);
		mk_out_char(o, '.');
	}
	mk_out_dec(o, number);
	put(f, "\">");
	f->html.open = true;
	f->html.number = number;
	f->sgr = (struct sgr_state){ -1, false };
}

static void close_line(struct markup_filter *f)
{
	color_off(f);
	put(f, "</div>\n");
	f->html.open = false;
}

/* Text of one line, without its end. */
static void put_line_text(struct markup_filter *f, const char *p, const char *end)
{
	while (p < end) {
		const char *esc = memchr(p, '\033', (size_t)(end - p));
		size_t code = esc ? mk_sgr_code(esc, end) : 0;
		const char *stop = code ? esc : esc ? esc + 1 : end;

		mk_html_text(&f->out, p, (size_t)(stop - p));
		p = stop;
		if (code) {
			mk_sgr_follow(&f->sgr, esc);
			color_off(f);
			color_on(f);
			p += code;
		}
	}
}

/* Without the end of the line that [p, end) may end with. */
static const char *without_eol(const char *p, const char *end)
{
	end -= end > p && end[-1] == '\n';
	return end - (end > p && end[-1] == '\r');
}

/* Text that may go over lines. */
static void put_text(struct markup_filter *f, const char *p, const char *end)
{
	const char *eol;

	while (p < end && (eol = memchr(p, '\n', (size_t)(end - p)))) {
		put_line_text(f, p, without_eol(p, eol));
		close_line(f);
		open_line(f, f->html.number + 1, false);
		p = eol + 1;
	}
	put_line_text(f, p, end);
}

/* ---- frames -------------------------------------------------------------------- */

static void put_location(struct markup_out *o, struct markup_str file, uint32_t line,
			 uint32_t column)
{
	mk_out_lit(o, "<span class=\"fi\">");
	put_escaped(o, file);
	if (line) {
		mk_out_char(o, ':');
		mk_out_dec(o, line);
	}
	if (line && column) {
		mk_out_char(o, ':');
		mk_out_dec(o, column);
	}
	mk_out_lit(o, "</span>");
}

static void render_frame(struct markup_filter *f, struct markup_out *o,
			 const struct markup_frame *frames, size_t n, size_t i)
{
	(void)f;
	(void)n;
	if (frames[i].function.ptr) {
		mk_out_lit(o, "<span class=\"fn\">");
		put_escaped(o, frames[i].function);
		mk_out_lit(o, "</span> ");
	}
	if (frames[i].file.ptr) {
		put_location(o, frames[i].file, frames[i].line, frames[i].column);
		mk_out_char(o, ' ');
	}
}

/* "inner a.h:4 inlined in outer b.c:9 " */
static void render_pc(struct markup_filter *f, struct markup_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		render_frame(f, o, frames, n, i);
	}
}

/* As a line of plain text: "inner a.h:4 inlined in outer b.c:9 " */
static void render_chain(struct markup_filter *f, struct markup_out *o,
			 const struct markup_frame *frames, size_t n, size_t i)
{
	(void)f;
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, "inlined in ");
		if (frames[i].function.ptr) {
			put_escaped(o, frames[i].function);
			mk_out_char(o, ' ');
		}
		if (frames[i].file.ptr) {
			put_escaped(o, frames[i].file);
			if (frames[i].line) {
				mk_out_char(o, ':');
				mk_out_dec(o, frames[i].line);
			}
			mk_out_char(o, ' ');
		}
	}
}

static const struct code_style frame_style = { KIND_FRAME, false, render_frame };
static const struct code_style pc_style = { KIND_PC, true, render_pc };
static const struct code_style chain_style = { KIND_CHAIN, true, render_chain };

/* "(a.out+0x1201)" */
static void put_place(struct markup_filter *f, const struct markup_mmap *map, uint64_t address)
{
	mk_out_char(&f->out, '(');
	put_escaped(&f->out, f->context.modules[map->module].name);
	mk_out_char(&f->out, '+');
	mk_out_hex(&f->out, mk_mmap_vaddr(map, address));
	mk_out_char(&f->out, ')');
}

/* What lies at an address, as an attribute's text. */
static void put_what(struct markup_filter *f, const struct markup_mmap *map, uint64_t address)
{
	const uint64_t vaddr = mk_mmap_vaddr(map, address);
	struct markup_out *o = &f->out;
	struct markup_data data;
	struct code_text text;

	if (strchr(map->mode, 'x')) {
		mk_lookup_address(f, address, &chain_style, &text);
		mk_code_piece(f, o, &text, 0);
	} else if (mk_lookup_data(f, map->module, vaddr, &data)) {
		put_escaped(o, data.name);
		if (data.offset) {
			mk_out_char(o, '+');
			mk_out_hex(o, data.offset);
		}
		mk_out_char(o, ' ');
		if (data.file.ptr) {
			put_escaped(o, data.file);
			if (data.line) {
				mk_out_char(o, ':');
				mk_out_dec(o, data.line);
			}
			mk_out_char(o, ' ');
		}
	}
	put_place(f, map, address);
}

/* ---- elements ------------------------------------------------------------------ */

static void put_message(struct markup_filter *f, struct markup_str message)
{
	if (message.len) {
		put(f, " <span class=\"ms\">");
		put_escaped(&f->out, message);
		put(f, "</span>");
	}
}

static bool put_bt(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!mk_element_bt(f, n, &e))
		return false;
	const struct markup_mmap *map = mk_lookup_address(f, e.lookup, &frame_style, &text);
	put(f, text.n > 1 ? "<details class=\"f" : "<span class=\"f");
	put(f, e.number ? "\">" : " z\">");
	put(f, text.n > 1 ? "<summary>#" : "#");
	mk_out_dec(o, e.number);
	put(f, e.number < 10 ? "  " : " ");
	mk_out_addr(o, e.address);
	mk_out_char(o, ' ');
	if (map) {
		mk_code_piece(f, o, &text, 0);
		put_place(f, map, e.address);
	} else {
		put(f, "is not in any module");
	}
	put_message(f, e.message);
	if (text.n == 1) {
		put(f, "</span>");
		return true;
	}
	put(f, " <span class=\"more\">inlined ");
	mk_out_dec(o, text.n - 1);
	put(f, "&#215;</span></summary>");
	for (size_t i = 1; i < text.n; i++) {
		put(f, "<div>in ");
		mk_code_piece(f, o, &text, i);
		put(f, "</div>");
	}
	put(f, "</details>");
	return true;
}

static bool put_pc(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!mk_element_pc(f, n, &e))
		return false;
	const struct markup_mmap *map = mk_lookup_address(f, e.lookup, &pc_style, &text);
	if (!map) {
		mk_out_addr(o, e.address);
		put(f, " is not in any module");
		return true;
	}
	put(f, "<span class=\"e\">");
	if (text.found)
		mk_code_piece(f, o, &text, 0);
	else
		mk_out_addr(o, e.address);
	put(f, text.found ? "<span class=\"ad\">" : " <span class=\"ad\">");
	put_place(f, map, e.address);
	put(f, "</span></span>");
	put_message(f, e.message);
	return true;
}

static bool put_data(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct markup_data data;
	uint64_t address;

	if (!mk_element_data(f, n, &address))
		return false;
	const struct markup_mmap *map = mk_context_find(&f->context, address);
	if (map && mk_lookup_data(f, map->module, mk_mmap_vaddr(map, address), &data)) {
		put(f, "<span class=\"e\"><span class=\"fn\">");
		put_escaped(o, data.name);
		put(f, "</span>");
		if (data.offset) {
			mk_out_char(o, '+');
			mk_out_hex(o, data.offset);
		}
		if (data.file.ptr) {
			mk_out_char(o, ' ');
			put_location(o, data.file, data.line, 0);
		}
		put(f, "</span>");
		return true;
	}
	mk_out_addr(o, address);
	mk_out_char(o, ' ');
	if (map)
		put_place(f, map, address);
	else
		put(f, "is not in any module");
	return true;
}

static bool put_symbol(struct markup_filter *f, const struct markup_node *n)
{
	if (!mk_element_symbol(f, n))
		return false;
	put(f, "<span class=\"fn\" title=\"");
	put_escaped(&f->out, n->fields[0]);
	put(f, "\">");
	put_escaped(&f->out, mk_lookup_demangled(f, n->fields[0]));
	put(f, "</span>");
	return true;
}

static bool put_module(struct markup_filter *f, const struct markup_node *n)
{
	const struct markup_module *m;
	uint32_t index;

	if (!mk_element_module(f, n, &index))
		return false;
	m = &f->context.modules[index];
	put(f, "<span class=\"x\">[[[ELF module #");
	mk_out_hex(&f->out, m->id);
	put(f, " &quot;");
	put_escaped(&f->out, m->name);
	put(f, "&quot;; BuildID=");
	mk_out_bytes(&f->out, m->build_id, m->build_id_len);
	put(f, "]]]</span>");
	return true;
}

static bool put_mmap(struct markup_filter *f, const struct markup_node *n)
{
	const struct markup_mmap *m;
	uint32_t index;

	if (!mk_element_mmap(f, n, &index))
		return false;
	m = &f->context.maps[index];
	put(f, "<span class=\"x\">[[[map of #");
	mk_out_hex(&f->out, f->context.modules[m->module].id);
	put(f, " [");
	mk_out_hex(&f->out, m->address);
	put(f, "-");
	mk_out_hex(&f->out, m->address + m->size - 1);
	put(f, "](");
	put(f, m->mode);
	put(f, ")]]]</span>");
	return true;
}

static bool put_reset(struct markup_filter *f, const struct markup_node *n)
{
	mk_context_reset(&f->context);
	put(f, "<span class=\"x\">[[[");
	mk_html_text(&f->out, n->text.ptr + 3, n->text.len - 6);
	put(f, "]]]</span>");
	return true;
}

static bool put_dumpfile(struct markup_filter *f, const struct markup_node *n)
{
	if (n->num_fields < 2) {
		mk_report(f, n, SEV_ERROR, n->tag.ptr, "expected at least 2 field(s); found %zu",
			  n->num_fields);
		return false;
	}
	put(f, "<span class=\"e\">[[[dumpfile ");
	put_escaped(&f->out, n->fields[0]);
	put(f, " &quot;");
	put_escaped(&f->out, n->fields[1]);
	put(f, "&quot;]]]</span>");
	mk_dumpfile_note(f, n->fields[0], n->fields[1]);
	return true;
}

static void put_pairs(struct markup_filter *f, const char *p, const char *end)
{
	struct hexdict_pair pair;
	const char *pos = p;

	while (mk_hexdict_next(&pos, end, &pair)) {
		const struct markup_mmap *map = mk_context_find(&f->context, pair.number);
		if (!map)
			continue;
		put_text(f, p, pair.value.ptr);
		put(f, "<span class=\"v\" tabindex=\"0\" data-s=\"");
		put_what(f, map, pair.number);
		put(f, "\">");
		put_escaped(&f->out, pair.value);
		put(f, "</span>");
		p = pos;
	}
	put_text(f, p, end);
}

static bool put_hexdict(struct markup_filter *f, const struct markup_node *n)
{
	if (n->rest.len)
		put_pairs(f, n->rest.ptr, n->rest.ptr + n->rest.len);
	return true;
}

static const struct {
	const char *tag;
	bool (*put)(struct markup_filter *f, const struct markup_node *n);
} elements[] = {
	{ "bt", put_bt },
	{ "mmap", put_mmap },
	{ "module", put_module },
	{ "pc", put_pc },
	{ "data", put_data },
	{ "symbol", put_symbol },
	{ "hexdict", put_hexdict },
	{ "dumpfile", put_dumpfile },
	{ "reset", put_reset },
};

/* False: the tag is not known, it is text. */
static bool put_element(struct markup_filter *f, const struct markup_node *n)
{
	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (!mk_str_is(n->tag, elements[i].tag))
			continue;
		if (!elements[i].put(f, n)) {
			put(f, "<span class=\"bad\" title=\"");
			put_escaped(&f->out, f->html.error);
			put(f, "\">");
			put_escaped(&f->out, n->text);
			put(f, "</span>");
		}
		return true;
	}
	return false;
}

/* ---- the renderer ---------------------------------------------------------------- */

/* Are `n` and all elements behind it maps? */
static bool maps_alone(struct markup_parser behind, struct markup_node n)
{
	do {
		if (n.kind != MARKUP_ELEMENT || !mk_str_is(n.tag, "mmap"))
			return false;
	} while (mk_next_element(&behind, &n));
	return true;
}

static void html_line(struct markup_filter *f, const char *p, size_t len, enum line_part part)
{
	const char *end = p + len, *text = p;
	struct markup_parser parser;
	struct markup_node n;
	bool more;

	markup_parse_line(&parser, p, len, MARKUP_SYNTAX);
	parser.hint = f->first;
	more = mk_next_element(&parser, &n);
	if (!f->html.open)
		open_line(f, f->line_no + 1, more && maps_alone(parser, n));
	for (; more; more = mk_next_element(&parser, &n)) {
		if (n.kind == MARKUP_OPEN && !(part & LINE_LAST))
			break;
		put_line_text(f, text, n.text.ptr);
		text = n.text.ptr;
		if (n.kind == MARKUP_OPEN) {
			if (mk_hexdict_open(&f->hexdict, n.text, (struct markup_str){ NULL, 0 }))
				return;
			break;
		}
		if (put_element(f, &n))
			text += n.text.len;
	}
	put_line_text(f, text, without_eol(text, end));
	if (part & LINE_LAST)
		close_line(f);
}

static void html_held(struct markup_filter *f, bool complete)
{
	const struct hexdict *h = &f->hexdict;
	const size_t open = strlen("{{{hexdict:"), close = strlen("}}}");

	if (complete) {
		put_pairs(f, h->buf + open, h->buf + h->len - close);
		return; /* the rest of the last line comes */
	}
	put_text(f, h->buf, without_eol(h->buf, h->buf + h->len));
	close_line(f);
}

static void html_plain(struct markup_filter *f, const char *p, size_t len)
{
	(void)f;
	(void)p;
	(void)len;
}

static void html_finish(struct markup_filter *f)
{
	if (f->line_no)
		put(f, "</div>\n");
}

static void html_report(struct markup_filter *f, const struct markup_node *n,
			enum severity severity, const char *at, struct markup_str message)
{
	mk_text_renderer.report(f, n, severity, at, message);
	f->notes.len = 0;
	mk_out_str(&f->notes, message);
	f->html.error = (struct markup_str){ f->notes.buf, f->notes.len };
}

const struct renderer mk_html_renderer = {
	.every_line = true,
	.line = html_line,
	.held = html_held,
	.plain = html_plain,
	.finish = html_finish,
	.report = html_report,
};
