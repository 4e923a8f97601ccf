/*
 * Our dialect, as text: how a frame is written, and the lines of a call stack.
 */
#include "libmarkup/output/text/text.h"

void mk_text_location(struct mk_output *r, struct mk_out *o,
		      struct markup_str file, uint32_t line, uint32_t column)
{
	char buf[2 * FMT_MAX + 2] = ":";
	size_t len;

	mk_put_value(r, o, file.ptr, file.len);
	if (!line)
		return;
	if (r->options.color != MARKUP_COLOR_ON) {
		len = 1 + mk_fmt_dec(buf + 1, line);
		if (column) {
			buf[len++] = ':';
			len += mk_fmt_dec(buf + len, column);
		}
		mk_out_put(o, buf, len);
		return;
	}
	mk_put_values(r, o, ":", line);
	if (column)
		mk_put_values(r, o, ":", column);
}

/* Copies a text of a frame to where there is room for MARKUP_PADDED bytes more. The
 * lengths of names cannot be predicted, so a short one is copied in one size. */
static inline char *put_text(char *p, struct markup_str s, bool padded)
{
	if (!padded)
		return mempcpy(p, s.ptr, s.len);
	memcpy(p, s.ptr, MARKUP_PADDED);
	if (__builtin_expect(s.len > MARKUP_PADDED, 0))
		memcpy(p + MARKUP_PADDED, s.ptr + MARKUP_PADDED, s.len - MARKUP_PADDED);
	return p + s.len;
}

void mk_text_render_frame(struct mk_output *r, struct mk_out *o,
			  const struct markup_frame *frames, size_t n, size_t i)
{
	const struct markup_frame *frame = &frames[i];

	const struct markup_str function = frame->function, file = frame->file;
	const size_t room = function.len + file.len + 3 * FMT_MAX + MARKUP_PADDED;

	(void)n;
	/* As below, in place. */
	if (r->options.color != MARKUP_COLOR_ON && room <= 65536) {
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
	if (frame->function.ptr)
		mk_put_values(r, o, frame->function, " ");
	if (frame->file.ptr) {
		mk_text_location(r, o, frame->file, frame->line, frame->column);
		mk_out_char(o, ' ');
	}
}

const struct mk_style mk_text_bt_style = { TEXT_BT, false, mk_text_render_frame };

void mk_text_source(struct mk_output *r, struct mk_out *o, const struct mk_code *code, size_t i)
{
	struct markup_str source = mk_source_of(r->resolve, code, i);
	const char *end = source.ptr + source.len, *newline;

	for (const char *p = source.ptr; p < end && o->len <= TEXT_NOTES_MAX; p = newline + 1) {
		newline = memchr(p, '\n', (size_t)(end - p));
		newline = newline ? newline : end;
		mk_out_spaces(o, 8);
		mk_out_put(o, p, (size_t)(newline - p));
		mk_out_put(o, r->newline, strlen(r->newline));
	}
}

const char mk_text_outside[] = "is not in any module";

void mk_text_put_frames(struct mk_output *r, struct markup_str prefix, uint64_t number,
			uint64_t address, const struct mk_map *map, const struct mk_code *text)
{
	const struct mk_sgr state = r->sgr;
	const bool sources = r->resolve->resolver.source;
	struct mk_out *o = &r->out;

	if (!map) {
		mk_put_frame_head(r, number, 0, address);
		mk_out_put(o, mk_text_outside, strlen(mk_text_outside));
	}
	for (size_t i = 0; map && i < text->n; i++) {
		if (i) {
			mk_sgr_end_line(r, o);
			mk_put_newline(r);
			r->sgr = mk_no_colour;
			if (sources)
				mk_text_source(r, o, text, i - 1);
			mk_put_text(r, prefix.ptr, prefix.len);
			r->sgr = state;
			mk_sgr_highlight(r, o);
		}
		mk_put_frame_head(r, number, i + 1 < text->n ? i + 1 : 0, address);
		mk_put_piece(o, text, i);
		mk_put_place(r, o, map->module, mk_map_vaddr(map, address));
	}
	if (map && sources)
		mk_text_source(r, &mk_text_of(r)->notes, text, text->n - 1);
}

void mk_text_data_name(struct mk_output *r, struct mk_out *o,
		       const struct markup_data *data)
{
	mk_put_values(r, o, data->name);
	if (data->offset)
		mk_put_values(r, o, "+", mk_hex(data->offset));
}
