/*
 * Our dialect, as text: hexdict. The dump stays as it is, but that a value which
 * lies in a module gets a mark, and behind the line there is a footnote to it:
 *
 *   RIP: 0x6ee17076fb80 [1] RSP: 0x3f540e65ef0
 *   [1] RIP 0x6ee17076fb80: main main.c:12 (a.out+0x1201)
 *
 * Footnotes begin with what stood before the dump: the prefix of the log.
 */
#include "libmarkup/text.h"

/* "inner inner.h:4 inlined in outer outer.c:9 " */
static void render_note(struct markup_filter *f, struct markup_out *o,
			const struct markup_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		struct markup_frame frame = frames[i];
		if (i)
			out_lit(o, "inlined in ");
		frame.column = 0;
		text_render_frame(f, o, &frame, 1, 0);
	}
}

static const struct code_style note_style = { TEXT_NOTE, true, render_note };

/* One footnote: "[1] RIP 0x6ee17076fb80: main main.c:12 (a.out+0x…)". */
static void put_note(struct markup_filter *f, const struct hexdict_pair *pair,
		     const struct markup_mmap *map)
{
	const uint64_t vaddr = mmap_vaddr(map, pair->number);
	struct markup_out *o = &f->notes;
	struct markup_data data;
	struct code_text text;
	char buf[FMT_MAX];

	if (f->hexdict.prefix_len)
		out_put(o, f->hexdict.prefix, f->hexdict.prefix_len);
	sgr_highlight(f, o);
	out_char(o, '[');
	put_value(f, o, buf, fmt_dec(buf, f->text.num_notes));
	out_lit(o, "] ");
	put_value(f, o, pair->key.ptr, pair->key.len);
	out_char(o, ' ');
	put_value(f, o, pair->value.ptr, pair->value.len);
	out_lit(o, ": ");
	if (strchr(map->mode, 'x')) {
		lookup_code(f, map->module, vaddr, &note_style, &text);
		out_str(o, code_piece(&text, 0));
	} else if (lookup_data(f, map->module, vaddr, &data)) {
		text_data_name(f, o, &data);
		out_char(o, ' ');
		if (data.file.ptr) {
			text_location(f, o, data.file, data.line, 0);
			out_char(o, ' ');
		}
	}
	put_place(f, o, map->module, vaddr);
	sgr_restore(f, o);
	out_put(o, f->newline, strlen(f->newline));
}

void text_pairs(struct markup_filter *f, const char *p, const char *end)
{
	struct hexdict_pair pair;
	const char *pos = p;
	char buf[FMT_MAX];

	while (hexdict_next(&pos, end, &pair)) {
		const struct markup_mmap *map = context_find(&f->context, pair.number);
		if (!map)
			continue;
		f->text.num_notes++;
		put_note(f, &pair, map);
		put_text(f, p, (size_t)(pos - p));
		sgr_highlight(f, &f->out);
		out_lit(&f->out, " [");
		put_value(f, &f->out, buf, fmt_dec(buf, f->text.num_notes));
		out_char(&f->out, ']');
		sgr_restore(f, &f->out);
		p = pos;
	}
	put_text(f, p, (size_t)(end - p));
}

void text_hexdict(struct markup_filter *f, const struct markup_node *n)
{
	if (!n->rest.ptr || !hexdict_set_prefix(&f->hexdict, f->text.prefix))
		return;
	text_begin_element(f, n);
	text_pairs(f, n->rest.ptr, n->rest.ptr + n->rest.len);
}

void text_notes(struct markup_filter *f)
{
	f->text.num_notes = 0;
	out_put(&f->out, f->notes.buf, f->notes.len);
	f->notes.len = 0;
}
