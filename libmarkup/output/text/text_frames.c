/*
 * Our dialect, as text: how a frame is written, and the lines of a call stack.
 */
#include "libmarkup/output/text/text.h"

void mk_text_location(struct mk_output *r, struct mk_out *o,
		      struct sc_str file, uint32_t line, uint32_t column)
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

enum {
	PLAIN_MAX = 65536, /* bytes of a line that are written in place */
	PLACE_MAX = 128,   /* of its end */
};

/* Copies a text of a frame to where there is room for SC_PADDED bytes more. The
 * lengths of names cannot be predicted, so a short one is copied in one size. */
static inline char *put_text(char *p, struct sc_str s, bool padded)
{
	if (!padded)
		return mempcpy(p, s.ptr, s.len);
	memcpy(p, s.ptr, SC_PADDED);
	if (__builtin_expect(s.len > SC_PADDED, 0))
		memcpy(p + SC_PADDED, s.ptr + SC_PADDED, s.len - SC_PADDED);
	return p + s.len;
}

/* "FUNC FILE:LINE:COL " without colours, where there is room_of_frame(). */
static inline char *put_plain_frame(char *p, const struct sc_frame *frame)
{
	if (frame->function.ptr) {
		p = put_text(p, frame->function, frame->padded);
		*p++ = ' ';
	}
	if (!frame->file.ptr)
		return p;
	p = put_text(p, frame->file, frame->padded);
	if (frame->line) {
		*p++ = ':';
		p += mk_fmt_dec(p, frame->line);
		if (frame->column) {
			*p++ = ':';
			p += mk_fmt_dec(p, frame->column);
		}
	}
	*p++ = ' ';
	return p;
}

static inline size_t room_of_frame(const struct sc_frame *frame)
{
	return frame->function.len + frame->file.len + 3 * FMT_MAX + SC_PADDED;
}

void mk_text_render_frame(struct mk_output *r, struct mk_out *o,
			  const struct sc_frame *frames, size_t n, size_t i)
{
	const struct sc_frame *frame = &frames[i];
	char *p;

	(void)n;
	if (r->options.color != MARKUP_COLOR_ON && room_of_frame(frame) <= PLAIN_MAX) {
		p = mk_out_room(o, room_of_frame(frame));
		if (p)
			mk_out_used(o, put_plain_frame(p, frame));
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

void mk_text_source(struct mk_output *r, struct mk_out *o, const struct mk_pieces *code, size_t i)
{
	struct sc_str source = mk_source_of(r->resolve, code, i);
	const char *end, *newline;

	if (!source.len)
		return;
	end = source.ptr + source.len;
	for (const char *p = source.ptr; p < end && o->len <= TEXT_NOTES_MAX; p = newline + 1) {
		newline = memchr(p, '\n', (size_t)(end - p));
		newline = newline ? newline : end;
		mk_out_spaces(o, 8);
		mk_out_put(o, p, (size_t)(newline - p));
		mk_out_put(o, r->newline, strlen(r->newline));
	}
}

const char mk_text_outside[] = "is not in any module";

/* What all lines of an address begin and end with, without colours. */
struct ends {
	struct sc_str prefix, newline;     /* of all but the first */
	char head[MK_HEAD_ROOM], place[PLACE_MAX];
	size_t place_len;
};

/* False: some of it is not as it is mostly. */
static inline bool make_ends(const struct mk_output *r, uint64_t number, uint64_t address,
			     const struct mk_map *map, const struct mk_pieces *text,
			     struct ends *ret)
{
	const struct sc_str module = r->resolve->context.modules[map->module].name;
	char *p = ret->place;

	if (r->follows || r->resolve->resolver.source ||
	    number >= 100 || text->n > 100 || module.len > PLACE_MAX - FMT_MAX - 3)
		return false;
	if (text->n > 1)
		ret->newline = sc_str_of(r->newline);
	mk_plain_head(ret->head, (unsigned)number, address);
	*p++ = '(';
	p = mempcpy(p, module.ptr, module.len);
	*p++ = '+';
	p += mk_fmt_hex(p, mk_map_vaddr(map, address));
	*p++ = ')';
	ret->place_len = (size_t)(p - ret->place);
	return true;
}

/* Line `i` of an address. False: nothing was written. */
static inline bool put_plain_line(struct mk_out *o, const struct ends *e,
				  const struct mk_pieces *text, size_t i)
{
	const struct sc_frame *frame = text->num_frames && text->frames ? &text->frames[i] : NULL;
	const uint32_t start = text->text && i ? text->ends[i - 1] : 0;
	const struct sc_str piece = frame || !text->text ? (struct sc_str){ NULL, 0 } :
		(struct sc_str){ text->text + start, text->ends[i] - start };
	const size_t room = e->prefix.len + 2 + sizeof(e->head) + sizeof(e->place) +
			    (frame ? room_of_frame(frame) : piece.len);
	char *p = room <= PLAIN_MAX ? mk_out_room(o, room) : NULL;

	if (!p)
		return false;
	if (i) {
		p = mempcpy(p, e->newline.ptr, e->newline.len);
		if (e->prefix.len)
			p = mempcpy(p, e->prefix.ptr, e->prefix.len);
	}
	memcpy(p, e->head, sizeof(e->head));
	if (i + 1 < text->n)
		mk_plain_inline_number(p, (unsigned)i + 1);
	p += MK_HEAD_LEN;
	if (frame)
		p = put_plain_frame(p, frame);
	else if (piece.len)
		p = mempcpy(p, piece.ptr, piece.len);
	memcpy(p, e->place, sizeof(e->place));
	mk_out_used(o, p + e->place_len);
	return true;
}

void mk_text_put_frames(struct mk_output *r, struct sc_str prefix, uint64_t number,
			uint64_t address, const struct mk_map *map, const struct mk_pieces *text)
{
	const struct mk_sgr state = r->sgr;
	const bool sources = r->resolve->resolver.source;
	struct mk_out *o = &r->out;
	struct ends ends;
	bool plain;

	if (!map) {
		mk_put_frame_head(r, number, 0, address);
		mk_out_put(o, mk_text_outside, strlen(mk_text_outside));
		return;
	}
	ends.prefix = prefix;
	plain = make_ends(r, number, address, map, text, &ends);
	for (size_t i = 0; i < text->n; i++) {
		if (plain && put_plain_line(o, &ends, text, i))
			continue;
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
	if (sources)
		mk_text_source(r, &mk_text_of(r)->notes, text, text->n - 1);
}

void mk_text_data_name(struct mk_output *r, struct mk_out *o,
		       const struct markup_data *data)
{
	mk_put_values(r, o, data->name);
	if (data->offset)
		mk_put_values(r, o, "+", mk_hex(data->offset));
}
