/*
 * The llvm dialect: what llvm-symbolizer 19 --filter-markup prints, byte for
 * byte, on both streams; its oddities included:
 *
 *   - the address printed for a return address is the one that is looked up;
 *   - a malformed presentation element vanishes, a malformed contextual one
 *     takes its whole line along, as does a reset that changes nothing;
 *   - pc shows the name of the outer function with the line of the inner one;
 *   - what is unknown is "<invalid>", line and column 0.
 *
 * A line has to be known whole before any of it is written, for a contextual
 * element may drop what stands before it: it is parsed twice. Lines of more
 * than MARKUP_LINE_MAX are the one thing that is handled otherwise.
 */
#include "libmarkup/state.h"

enum { KIND_BT = 1, KIND_PC };

static const struct markup_str invalid = { "<invalid>", 9 };

static struct markup_str or_invalid(struct markup_str s)
{
	return s.ptr ? s : invalid;
}

static void put_raw(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	const char *p = n->rest.ptr, *end = n->text.ptr + n->text.len - 3;

	mk_sgr_highlight(f, o);
	mk_out_lit(o, "[[[");
	mk_put_value(f, o, n->tag.ptr, n->tag.len);
	while (p) {
		const char *colon = memchr(p, ':', (size_t)(end - p));
		mk_out_char(o, ':');
		mk_put_value(f, o, p, (size_t)((colon ? colon : end) - p));
		p = colon ? colon + 1 : NULL;
	}
	mk_out_lit(o, "]]]");
	mk_sgr_restore(f, o);
}

/* ---- addresses ------------------------------------------------------------- */

static void put_dec_value(struct markup_filter *f, struct markup_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_put_value(f, o, buf, mk_fmt_dec(buf, v));
}

/* "FUNC FILE:LINE:COL " */
static void render_bt(struct markup_filter *f, struct markup_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	const struct markup_str function = or_invalid(frames[i].function);
	const struct markup_str file = or_invalid(frames[i].file);

	(void)n;
	if (!frames[i].function.ptr && !frames[i].file.ptr)
		return;
	mk_put_value(f, o, function.ptr, function.len);
	mk_out_char(o, ' ');
	mk_put_value(f, o, file.ptr, file.len);
	mk_out_char(o, ':');
	put_dec_value(f, o, frames[i].line);
	mk_out_char(o, ':');
	put_dec_value(f, o, frames[i].column);
	mk_out_char(o, ' ');
}

/* "FUNC[FILE:LINE]" */
static void render_pc(struct markup_filter *f, struct markup_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	const struct markup_str function = or_invalid(frames[n - 1].function);
	const struct markup_str file = or_invalid(frames[0].file);

	(void)i;
	mk_put_value(f, o, function.ptr, function.len);
	mk_out_char(o, '[');
	mk_put_value(f, o, file.ptr, file.len);
	mk_out_char(o, ':');
	put_dec_value(f, o, frames[0].line);
	mk_out_char(o, ']');
}

static const struct code_style bt_style = { KIND_BT, false, render_bt };
static const struct code_style pc_style = { KIND_PC, true, render_pc };

/* The map that holds the address of element `n`, if its module has symbols;
 * else complains, prints the element as it is and returns NULL. */
static const struct markup_mmap *find_map(struct markup_filter *f, const struct markup_node *n,
					  uint64_t address)
{
	static const char no_build_id[] = "error: could not find build ID\n";
	const struct markup_mmap *map = mk_context_find(&f->context, address);

	if (map && !f->silent && mk_lookup_module(f, map->module))
		return map;
	if (!map)
		mk_report(f, n, SEV_ERROR, n->fields[0].ptr, "no mmap covers address");
	else
		mk_complain_text(f, no_build_id, sizeof(no_build_id) - 1);
	put_raw(f, n);
	return NULL;
}

static void put_bt(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	const struct markup_mmap *map;
	struct code_element e;
	struct code_text text;

	if (!mk_element_bt(f, n, &e) || !(map = find_map(f, n, e.lookup)))
		return;
	const uint64_t vaddr = mk_mmap_vaddr(map, e.lookup);
	mk_lookup_address(f, e.lookup, &bt_style, &text);
	mk_sgr_highlight(f, o);
	for (size_t i = 0; i < text.n; i++) {
		if (i)
			mk_put_newline(f);
		mk_put_frame_head(f, e.number, i + 1 < text.n ? i + 1 : 0, e.lookup);
		mk_code_piece(f, o, &text, i);
		mk_put_place(f, o, map->module, vaddr);
	}
	mk_sgr_restore(f, o);
}

static void put_pc(struct markup_filter *f, const struct markup_node *n)
{
	const struct markup_mmap *map;
	struct code_element e;
	struct code_text text;

	if (!mk_element_pc(f, n, &e) || !(map = find_map(f, n, e.lookup)))
		return;
	mk_lookup_address(f, e.lookup, &pc_style, &text);
	if (!text.found) {
		put_raw(f, n);
		return;
	}
	mk_sgr_highlight(f, &f->out);
	mk_code_piece(f, &f->out, &text, 0);
	mk_sgr_restore(f, &f->out);
}

static void put_data(struct markup_filter *f, const struct markup_node *n)
{
	const struct markup_mmap *map;
	struct markup_data data;
	uint64_t address;

	if (!mk_element_data(f, n, &address) || !(map = find_map(f, n, address)))
		return;
	if (!mk_lookup_data(f, map->module, mk_mmap_vaddr(map, address), &data))
		data.name = invalid;
	mk_sgr_highlight(f, &f->out);
	mk_out_str(&f->out, data.name);
	mk_sgr_restore(f, &f->out);
}

static void put_symbol(struct markup_filter *f, const struct markup_node *n)
{
	if (!mk_element_symbol(f, n))
		return;
	mk_sgr_highlight(f, &f->out);
	mk_out_str(&f->out, mk_lookup_demangled(f, n->fields[0]));
	mk_sgr_restore(f, &f->out);
}

/* ---- lines ----------------------------------------------------------------- */

static bool good_tag(struct markup_str tag)
{
	for (size_t i = 0; i < tag.len; i++)
		if (tag.ptr[i] < 'a' || tag.ptr[i] > 'z')
			return false;
	return true;
}

/* Writes what is in [p, end), which holds no contextual element. */
static void put_nodes(struct markup_filter *f, const char *p, const char *end)
{
	struct markup_parser parser;
	struct markup_node n;

	markup_parse_line(&parser, p, (size_t)(end - p), MARKUP_SYNTAX_LLVM);
	while (markup_next_node(&parser, &n)) {
		if (n.kind == MARKUP_TEXT)
			mk_put_text(f, n.text.ptr, n.text.len);
		else if (!good_tag(n.tag))
			mk_report(f, &n, SEV_ERROR, n.tag.ptr,
				  "tags must be all lowercase characters");
		else if (mk_str_is(n.tag, "bt"))
			put_bt(f, &n);
		else if (mk_str_is(n.tag, "pc"))
			put_pc(f, &n);
		else if (mk_str_is(n.tag, "data"))
			put_data(f, &n);
		else if (mk_str_is(n.tag, "symbol"))
			put_symbol(f, &n);
		else
			mk_out_str(&f->out, n.text);
	}
}

/* If `n` is contextual, deals with it and the text before it, from p on. */
static bool context_element(struct markup_filter *f, const struct markup_node *n, const char *p)
{
	uint32_t module, map;

	if (mk_str_is(n->tag, "mmap")) {
		if (!mk_element_mmap(f, n, &map))
			return true;
		module = f->context.maps[map].module;
		if (!f->modline.open || f->modline.module != module) {
			mk_modline_close(f, true);
			put_nodes(f, p, n->text.ptr);
			mk_modline_open(f, module, true);
		}
		mk_modline_add(f, map);
		return true;
	}
	if (mk_str_is(n->tag, "module")) {
		if (!mk_element_module(f, n, &module))
			return true;
		mk_modline_close(f, true);
		put_nodes(f, p, n->text.ptr);
		mk_modline_open(f, module, false);
		return true;
	}
	if (!mk_str_is(n->tag, "reset"))
		return false;
	if (mk_element_reset(f, n) && !mk_context_empty(&f->context)) {
		mk_modline_close(f, true);
		put_nodes(f, p, n->text.ptr);
		put_raw(f, n);
		mk_put_newline(f);
		mk_context_reset(&f->context);
	}
	return true;
}

static void llvm_line(struct markup_filter *f, const char *p, size_t len, enum line_part part)
{
	const char *end = p + len;
	struct markup_parser parser;
	struct markup_node n;

	f->text.line = (struct markup_str){ p, len };
	if (part & LINE_FIRST) {
		f->text.after_context = false;
		mk_sgr_line_start(f);
	}
	/* What follows a contextual element is dropped. */
	if (f->text.after_context)
		return;
	markup_parse_line(&parser, p, len, MARKUP_SYNTAX_LLVM);
	while (markup_next_node(&parser, &n)) {
		if (n.kind == MARKUP_ELEMENT && context_element(f, &n, p)) {
			f->text.after_context = true;
			return;
		}
	}
	mk_modline_close(f, true);
	put_nodes(f, p, end);
	if ((part & LINE_LAST) && (!len || end[-1] != '\n'))
		mk_out_char(&f->out, '\n');
}

static void llvm_plain(struct markup_filter *f, const char *p, size_t len)
{
	if (f->modline.open) { /* it ends like the line that closes it */
		const char *eol = memchr(p, '\n', len);
		f->newline = mk_newline_of(p, eol ? (size_t)(eol + 1 - p) : len);
	}
	mk_sgr_line_start(f);
	mk_modline_close(f, true);
	mk_out_put(&f->out, p, len);
	if (p[len - 1] != '\n')
		mk_out_char(&f->out, '\n');
}

static void llvm_finish(struct markup_filter *f)
{
	mk_modline_close(f, true);
	mk_sgr_line_start(f);
}

static void llvm_report(struct markup_filter *f, const struct markup_node *n,
			enum severity severity, const char *at, struct markup_str message)
{
	const struct markup_str line = f->text.line;
	struct markup_out *o = &f->notes;

	(void)n;
	if (f->silent)
		return;
	o->len = 0;
	if (severity == SEV_ERROR)
		mk_out_lit(o, "error: ");
	else
		mk_out_lit(o, "warning: ");
	mk_out_str(o, message);
	mk_out_char(o, '\n');
	mk_out_str(o, line);
	if (!line.len || line.ptr[line.len - 1] != '\n')
		mk_out_char(o, '\n');
	mk_out_spaces(o, (size_t)(at - line.ptr));
	mk_out_lit(o, "^\n");
	if (o->error)
		f->error = o->error;
	mk_complain_text(f, o->buf, o->len);
}

const struct renderer mk_llvm_renderer = {
	.line = llvm_line,
	.plain = llvm_plain,
	.finish = llvm_finish,
	.report = llvm_report,
};
