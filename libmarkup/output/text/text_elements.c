/*
 * Our dialect, as text: the presentation elements but for hexdict. Each function
 * takes an element that stands behind written or pending text; one that makes no
 * sense is left where it is, as text.
 */
#include "libmarkup/output/text/text.h"

void mk_text_location(struct markup_filter *f, struct markup_out *o,
		      struct markup_str file, uint32_t line, uint32_t column)
{
	char buf[2 * FMT_MAX + 2] = ":";
	size_t len;

	mk_put_value(f, o, file.ptr, file.len);
	if (!line)
		return;
	if (f->options.color != MARKUP_COLOR_ON) {
		len = 1 + mk_fmt_dec(buf + 1, line);
		if (column) {
			buf[len++] = ':';
			len += mk_fmt_dec(buf + len, column);
		}
		mk_out_put(o, buf, len);
		return;
	}
	mk_out_char(o, ':');
	mk_put_value(f, o, buf, mk_fmt_dec(buf, line));
	if (!column)
		return;
	mk_out_char(o, ':');
	mk_put_value(f, o, buf, mk_fmt_dec(buf, column));
}

/* Copies a text of a frame to where there is room for MARKUP_PADDED bytes more. How long
 * names are nobody can guess, so a short one is copied in one size. */
static inline char *put_text(char *p, struct markup_str s, bool padded)
{
	if (!padded)
		return mempcpy(p, s.ptr, s.len);
	memcpy(p, s.ptr, MARKUP_PADDED);
	if (__builtin_expect(s.len > MARKUP_PADDED, 0))
		memcpy(p + MARKUP_PADDED, s.ptr + MARKUP_PADDED, s.len - MARKUP_PADDED);
	return p + s.len;
}

void mk_text_render_frame(struct markup_filter *f, struct markup_out *o,
			  const struct markup_frame *frames, size_t n, size_t i)
{
	const struct markup_frame *frame = &frames[i];

	const struct markup_str function = frame->function, file = frame->file;
	const size_t room = function.len + file.len + 3 * FMT_MAX + MARKUP_PADDED;

	(void)n;
	/* As below, in place. */
	if (f->options.color != MARKUP_COLOR_ON && room <= 65536) {
		char *p = mk_out_room(o, room);
		if (!p)
			return;
		if (function.ptr) {
			p = put_text(p, function, frame->padded);
			*p++ = ' ';
		}
		if (file.ptr) {
			p = put_text(p, file, frame->padded);
			if (frame->line) {
				*p++ = ':';
				p += mk_fmt_dec(p, frame->line);
			}
			if (frame->line && frame->column) {
				*p++ = ':';
				p += mk_fmt_dec(p, frame->column);
			}
			*p++ = ' ';
		}
		mk_out_used(o, p);
		return;
	}
	if (frame->function.ptr) {
		mk_put_value(f, o, frame->function.ptr, frame->function.len);
		mk_out_char(o, ' ');
	}
	if (frame->file.ptr) {
		mk_text_location(f, o, frame->file, frame->line, frame->column);
		mk_out_char(o, ' ');
	}
}

/* "inner[inner.h:4] inlined in outer[outer.c:9]" */
static void render_pc(struct markup_filter *f, struct markup_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, " inlined in ");
		mk_put_value(f, o, frames[i].function.ptr, frames[i].function.len);
		if (frames[i].file.ptr) {
			mk_out_char(o, '[');
			mk_text_location(f, o, frames[i].file, frames[i].line, 0);
			mk_out_char(o, ']');
		}
	}
}

static const struct code_style bt_style = { TEXT_BT, false, mk_text_render_frame };
static const struct code_style pc_style = { TEXT_PC, true, render_pc };

static void put_address(struct markup_filter *f, struct markup_out *o, uint64_t address)
{
	char buf[FMT_MAX];
	mk_put_value(f, o, buf, mk_fmt_addr(buf, address));
}

static const char outside[] = "is not in any module";

static void put_outside(struct markup_filter *f, uint64_t address)
{
	put_address(f, &f->out, address);
	mk_out_char(&f->out, ' ');
	mk_out_put(&f->out, outside, sizeof(outside) - 1);
}

/* A line for each frame; the first one goes on where the text ends. `map` NULL: there
 * are none. */
static void put_frames(struct markup_filter *f, uint64_t number, uint64_t address,
		       const struct markup_mmap *map, const struct code_text *text)
{
	const struct sgr_state state = f->sgr;
	struct markup_out *o = &f->out;

	if (!map) {
		mk_put_frame_head(f, number, 0, address);
		mk_out_put(o, outside, sizeof(outside) - 1);
	}
	for (size_t i = 0; map && i < text->n; i++) {
		if (i) {
			mk_sgr_end_line(f, o);
			mk_put_newline(f);
			f->sgr = (struct sgr_state){ -1, false };
			mk_put_text(f, f->text.prefix.ptr, f->text.prefix.len);
			f->sgr = state;
			mk_sgr_highlight(f, o);
		}
		mk_put_frame_head(f, number, i + 1 < text->n ? i + 1 : 0, address);
		mk_code_piece(f, o, text, i);
		mk_put_place(f, o, map->module, mk_mmap_vaddr(map, address));
	}
}

const char *mk_text_frame(struct markup_filter *f, const char *p, const char *hit,
			  const char *end)
{
	const struct announced *e;
	const struct markup_mmap *map;
	const char *close, *eol, *bol;
	struct code_text text;

	if (f->scan_for != MARKUP_SCAN_BRACES || f->demux.on ||
	    !(e = mk_ahead_frame(f, mk_memo_kind(f, &bt_style))))
		return NULL;
	close = eol = hit + e->len;
	if (close < end && *close != '\n') {
		eol = memchr(close, '\n', (size_t)(end - close));
		if (markup_find3(close, eol ? eol : end, '{'))
			return NULL;
	}
	mk_modline_close(f, true);
	mk_out_put(&f->out, p, (size_t)(hit - p));
	map = mk_lookup_announced(f, e, &bt_style, &text);
	if (text.n > 1) { /* they begin and end as this line does */
		bol = memrchr(p, '\n', (size_t)(hit - p));
		bol = bol ? bol + 1 : p;
		mk_text_set_prefix(f, bol, hit);
		f->newline = mk_newline_of(bol, (size_t)((eol ? eol + 1 : end) - bol));
	}
	put_frames(f, e->number, e->address + e->return_address, map, &text);
	return close;
}

void mk_text_bt(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!mk_element_bt(f, n, &e))
		return;
	mk_text_begin_element(f, n);
	mk_sgr_highlight(f, o);
	const struct markup_mmap *map = mk_lookup_address(f, e.lookup, &bt_style, &text);
	put_frames(f, e.number, e.address, map, &text);
	if (e.message.len) {
		mk_out_char(o, ' ');
		mk_put_value(f, o, e.message.ptr, e.message.len);
	}
	mk_sgr_restore(f, o);
}

void mk_text_pc(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct code_element e;
	struct code_text text;

	if (!mk_element_pc(f, n, &e))
		return;
	mk_text_begin_element(f, n);
	mk_sgr_highlight(f, o);
	const struct markup_mmap *map = mk_lookup_address(f, e.lookup, &pc_style, &text);
	if (!map) {
		put_outside(f, e.address);
	} else {
		if (text.found) {
			mk_code_piece(f, o, &text, 0);
		} else {
			put_address(f, o, e.address);
			mk_out_char(o, ' ');
			mk_put_place(f, o, map->module, mk_mmap_vaddr(map, e.address));
		}
	}
	if (e.message.len) {
		mk_out_char(o, ' ');
		mk_put_value(f, o, e.message.ptr, e.message.len);
	}
	mk_sgr_restore(f, o);
}

void mk_text_data_name(struct markup_filter *f, struct markup_out *o,
		       const struct markup_data *data)
{
	mk_put_value(f, o, data->name.ptr, data->name.len);
	if (data->offset) {
		mk_out_char(o, '+');
		mk_put_hex_value(f, o, data->offset);
	}
}

void mk_text_data(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct markup_data data;
	uint64_t address;

	if (!mk_element_data(f, n, &address))
		return;
	mk_text_begin_element(f, n);
	mk_sgr_highlight(f, o);
	const struct markup_mmap *map = mk_context_find(&f->context, address);
	if (!map) {
		put_outside(f, address);
	} else if (mk_lookup_data(f, map->module, mk_mmap_vaddr(map, address), &data)) {
		mk_text_data_name(f, o, &data);
		if (data.file.ptr) {
			mk_out_char(o, '[');
			mk_text_location(f, o, data.file, data.line, 0);
			mk_out_char(o, ']');
		}
	} else {
		put_address(f, o, address);
		mk_out_char(o, ' ');
		mk_put_place(f, o, map->module, mk_mmap_vaddr(map, address));
	}
	mk_sgr_restore(f, o);
}

void mk_text_symbol(struct markup_filter *f, const struct markup_node *n)
{
	if (!mk_element_symbol(f, n))
		return;
	mk_text_begin_element(f, n);
	mk_sgr_highlight(f, &f->out);
	mk_out_str(&f->out, mk_lookup_demangled(f, n->fields[0]));
	mk_sgr_restore(f, &f->out);
}

void mk_text_dumpfile(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_out *o = &f->out;

	if (n->num_fields < 2) {
		mk_report(f, n, SEV_ERROR, n->tag.ptr, "expected at least 2 field(s); found %zu",
			  n->num_fields);
		return;
	}
	mk_text_begin_element(f, n);
	mk_sgr_highlight(f, o);
	mk_out_lit(o, "[[[dumpfile ");
	mk_put_value(f, o, n->fields[0].ptr, n->fields[0].len);
	mk_out_lit(o, " \"");
	mk_put_value(f, o, n->fields[1].ptr, n->fields[1].len);
	mk_out_lit(o, "\"]]]");
	mk_sgr_restore(f, o);
	mk_dumpfile_note(f, n->fields[0], n->fields[1]);
}
