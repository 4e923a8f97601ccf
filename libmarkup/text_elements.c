/*
 * Our dialect, as text: the presentation elements but for hexdict. Each function
 * takes an element that stands behind written or pending text; one that makes no
 * sense is left where it is, as text.
 */
#include "libmarkup/text.h"

void text_location(struct markup_filter *f, struct markup_out *o,
		   struct markup_str file, uint32_t line, uint32_t column)
{
	char buf[FMT_MAX];

	put_value(f, o, file.ptr, file.len);
	if (!line)
		return;
	out_char(o, ':');
	put_value(f, o, buf, fmt_dec(buf, line));
	if (!column)
		return;
	out_char(o, ':');
	put_value(f, o, buf, fmt_dec(buf, column));
}

void text_render_frame(struct markup_filter *f, struct markup_out *o,
		       const struct markup_frame *frames, size_t n, size_t i)
{
	const struct markup_frame *frame = &frames[i];

	(void)n;
	if (frame->function.ptr) {
		put_value(f, o, frame->function.ptr, frame->function.len);
		out_char(o, ' ');
	}
	if (frame->file.ptr) {
		text_location(f, o, frame->file, frame->line, frame->column);
		out_char(o, ' ');
	}
}

/* "inner[inner.h:4] inlined in outer[outer.c:9]" */
static void render_pc(struct markup_filter *f, struct markup_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		if (i)
			out_lit(o, " inlined in ");
		put_value(f, o, frames[i].function.ptr, frames[i].function.len);
		if (frames[i].file.ptr) {
			out_char(o, '[');
			text_location(f, o, frames[i].file, frames[i].line, 0);
			out_char(o, ']');
		}
	}
}

static const struct code_style bt_style = { TEXT_BT, false, text_render_frame };
static const struct code_style pc_style = { TEXT_PC, true, render_pc };

static void put_address(struct markup_filter *f, struct markup_out *o, uint64_t address)
{
	char buf[FMT_MAX];
	put_value(f, o, buf, fmt_addr(buf, address));
}

static const char outside[] = "is not in any module";

static void put_outside(struct markup_filter *f, uint64_t address)
{
	put_address(f, &f->out, address);
	out_char(&f->out, ' ');
	out_put(&f->out, outside, sizeof(outside) - 1);
}

static const struct markup_mmap *find_code(struct markup_filter *f, uint64_t address)
{
	const struct markup_mmap *map = context_find(&f->context, address);

	if (!map) {
		f->stats.frames++;
		f->stats.frames_outside++;
	}
	return map;
}

void text_bt(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!element_bt(f, n, &e))
		return;
	text_begin_element(f, n);
	sgr_highlight(f, o);
	const struct markup_mmap *map = find_code(f, e.lookup);
	if (!map) {
		put_frame_head(f, e.number, 0, e.address);
		out_put(o, outside, sizeof(outside) - 1);
	} else {
		lookup_code(f, map->module, mmap_vaddr(map, e.lookup), &bt_style, &text);
		for (size_t i = 0; i < text.n; i++) {
			if (i) {
				sgr_restore(f, o);
				put_newline(f);
				put_text(f, f->text.prefix.ptr, f->text.prefix.len);
				sgr_highlight(f, o);
			}
			put_frame_head(f, e.number, i + 1 < text.n ? i + 1 : 0, e.address);
			out_str(o, code_piece(&text, i));
			put_place(f, o, map->module, mmap_vaddr(map, e.address));
		}
	}
	if (e.message.len) {
		out_char(o, ' ');
		put_value(f, o, e.message.ptr, e.message.len);
	}
	sgr_restore(f, o);
}

void text_pc(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!element_pc(f, n, &e))
		return;
	text_begin_element(f, n);
	sgr_highlight(f, o);
	const struct markup_mmap *map = find_code(f, e.lookup);
	if (!map) {
		put_outside(f, e.address);
	} else {
		lookup_code(f, map->module, mmap_vaddr(map, e.lookup), &pc_style, &text);
		if (text.found) {
			out_str(o, code_piece(&text, 0));
		} else {
			put_address(f, o, e.address);
			out_char(o, ' ');
			put_place(f, o, map->module, mmap_vaddr(map, e.address));
		}
	}
	if (e.message.len) {
		out_char(o, ' ');
		put_value(f, o, e.message.ptr, e.message.len);
	}
	sgr_restore(f, o);
}

void text_data_name(struct markup_filter *f, struct markup_out *o,
		    const struct markup_data *data)
{
	put_value(f, o, data->name.ptr, data->name.len);
	if (data->offset) {
		out_char(o, '+');
		put_hex_value(f, o, data->offset);
	}
}

void text_data(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct markup_data data;
	uint64_t address;

	if (!element_data(f, n, &address))
		return;
	text_begin_element(f, n);
	sgr_highlight(f, o);
	const struct markup_mmap *map = context_find(&f->context, address);
	if (!map) {
		put_outside(f, address);
	} else if (lookup_data(f, map->module, mmap_vaddr(map, address), &data)) {
		text_data_name(f, o, &data);
		if (data.file.ptr) {
			out_char(o, '[');
			text_location(f, o, data.file, data.line, 0);
			out_char(o, ']');
		}
	} else {
		put_address(f, o, address);
		out_char(o, ' ');
		put_place(f, o, map->module, mmap_vaddr(map, address));
	}
	sgr_restore(f, o);
}

void text_symbol(struct markup_filter *f, const struct markup_node *n)
{
	if (!element_symbol(f, n))
		return;
	text_begin_element(f, n);
	sgr_highlight(f, &f->out);
	out_str(&f->out, lookup_demangled(f, n->fields[0]));
	sgr_restore(f, &f->out);
}

void text_dumpfile(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;

	if (n->num_fields < 2) {
		report(f, n, SEV_ERROR, n->tag.ptr, "expected at least 2 field(s); found %zu",
		       n->num_fields);
		return;
	}
	text_begin_element(f, n);
	sgr_highlight(f, o);
	out_lit(o, "[[[dumpfile ");
	put_value(f, o, n->fields[0].ptr, n->fields[0].len);
	out_lit(o, " \"");
	put_value(f, o, n->fields[1].ptr, n->fields[1].len);
	out_lit(o, "\"]]]");
	sgr_restore(f, o);
	dumpfile_note(f, n->fields[0], n->fields[1]);
}
