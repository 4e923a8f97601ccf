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

static void put(struct markup_filter *f, const char *html)
{
	mk_out_put(&f->out, html, strlen(html));
}

static void put_escaped(struct markup_out *o, struct markup_str s)
{
	mk_html_text(o, s.ptr, s.len);
}

/* ---- frames -------------------------------------------------------------------- */

static void put_location(struct markup_out *o, struct markup_str file, uint32_t line,
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
static void render_frame(struct markup_filter *f, struct markup_out *o,
			 const struct markup_frame *frames, size_t n, size_t i)
{
	(void)f;
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
			put_location(o, frames[i].file, frames[i].line, 0);
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
			put_location(o, data.file, data.line, 0);
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

/* What the first of its frames is inlined in; folded where the script can unfold it. */
static void put_inlined(struct markup_filter *f, const struct code_text *text)
{
	put(f, " <button aria-expanded=\"false\">inlined ");
	mk_out_dec(&f->out, text->n - 1);
	put(f, "&#215;</button><div hidden=\"until-found\">");
	for (size_t i = 1; i < text->n; i++) {
		put(f, i > 1 ? "<br>in " : "in ");
		mk_code_piece(f, &f->out, text, i);
	}
	put(f, "</div>");
}

static bool put_bt(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!mk_element_bt(f, n, &e))
		return false;
	const struct markup_mmap *map = mk_lookup_address(f, e.lookup, &frame_style, &text);
	put(f, e.number ? "<samp>#" : "<samp class=\"z\">#");
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
	if (text.n > 1)
		put_inlined(f, &text);
	put(f, "</samp>");
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
		put(f, "<span class=\"e\"><var>");
		put_escaped(o, data.name);
		put(f, "</var>");
		if (data.offset) {
			mk_out_char(o, '+');
			mk_out_hex(o, data.offset);
		}
		if (data.file.ptr) {
			put(f, " <cite>");
			put_location(o, data.file, data.line, 0);
			put(f, "</cite>");
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
	put(f, "<var title=\"");
	put_escaped(&f->out, n->fields[0]);
	put(f, "\">");
	put_escaped(&f->out, mk_lookup_demangled(f, n->fields[0]));
	put(f, "</var>");
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

void mk_html_pairs(struct markup_filter *f, const char *p, const char *end)
{
	struct hexdict_pair pair;
	const char *pos = p;

	while (mk_hexdict_next(&pos, end, &pair)) {
		const struct markup_mmap *map = mk_context_find(&f->context, pair.number);
		if (!map)
			continue;
		mk_html_put_lines(f, p, pair.value.ptr);
		put(f, "<span class=\"v\" tabindex=\"0\" data-s=\"");
		put_what(f, map, pair.number);
		put(f, "\">");
		put_escaped(&f->out, pair.value);
		put(f, "</span>");
		p = pos;
	}
	mk_html_put_lines(f, p, end);
}

static bool put_hexdict(struct markup_filter *f, const struct markup_node *n)
{
	if (n->rest.len)
		mk_html_pairs(f, n->rest.ptr, n->rest.ptr + n->rest.len);
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

bool mk_html_element(struct markup_filter *f, const struct markup_node *n)
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

