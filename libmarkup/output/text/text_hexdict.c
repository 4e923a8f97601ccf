/*
 * Our dialect, as text: hexdict. The dump stays as it is, but that a value which
 * lies in a module gets a mark, and behind the line there is a footnote to it:
 *
 *   RIP: 0x6ee17076fb80 [1] RSP: 0x3f540e65ef0
 *   [1] RIP 0x6ee17076fb80: main main.c:12 (a.out+0x1201)
 *
 * Footnotes begin with what stood before the dump: the prefix of the log.
 */
#include "libmarkup/output/text/text.h"

/* Bytes of the footnotes of one line; what comes then gets none. */
#define NOTES_MAX (1u << 20)

/* "inner inner.h:4 inlined in outer outer.c:9 " */
static void render_note(struct markup_filter *f, struct markup_out *o,
			const struct markup_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		struct markup_frame frame = frames[i];
		if (i)
			mk_out_lit(o, "inlined in ");
		frame.column = 0;
		mk_text_render_frame(f, o, &frame, 1, 0);
	}
}

static const struct code_style note_style = { TEXT_NOTE, true, render_note };

/* One footnote: "[1] RIP 0x6ee17076fb80: main main.c:12 (a.out+0x…)". */
static void put_note(struct markup_filter *f, const struct hexdict_pair *pair,
		     const struct markup_mmap *map)
{
	const uint64_t vaddr = mk_mmap_vaddr(map, pair->number);
	struct markup_out *o = &f->notes;
	struct markup_data data;
	struct code_text text;
	char buf[FMT_MAX];

	mk_sgr_put_line(f, o, f->hexdict.prefix, f->hexdict.prefix_len);
	mk_sgr_highlight(f, o);
	mk_out_char(o, '[');
	mk_put_value(f, o, buf, mk_fmt_dec(buf, f->text.num_notes));
	mk_out_lit(o, "] ");
	mk_put_value(f, o, pair->key.ptr, pair->key.len);
	mk_out_char(o, ' ');
	mk_put_value(f, o, pair->value.ptr, pair->value.len);
	mk_out_lit(o, ": ");
	if (strchr(map->mode, 'x')) {
		mk_lookup_address(f, pair->number, &note_style, &text);
		mk_code_piece(f, o, &text, 0);
	} else if (mk_lookup_data(f, map->module, vaddr, &data)) {
		mk_text_data_name(f, o, &data);
		mk_out_char(o, ' ');
		if (data.file.ptr) {
			mk_text_location(f, o, data.file, data.line, 0);
			mk_out_char(o, ' ');
		}
	}
	mk_put_place(f, o, map->module, vaddr);
	mk_sgr_end_line(f, o);
	mk_out_put(o, f->newline, strlen(f->newline));
}

void mk_text_pairs(struct markup_filter *f, const char *p, const char *end)
{
	struct hexdict_pair pair;
	const char *pos = p;
	char buf[FMT_MAX];

	while (mk_hexdict_next(&pos, end, &pair)) {
		const struct markup_mmap *map = mk_context_find(&f->context, pair.number);
		if (!map || f->notes.len > NOTES_MAX)
			continue;
		f->text.num_notes++;
		put_note(f, &pair, map);
		mk_put_text(f, p, (size_t)(pos - p));
		mk_sgr_highlight(f, &f->out);
		mk_out_lit(&f->out, " [");
		mk_put_value(f, &f->out, buf, mk_fmt_dec(buf, f->text.num_notes));
		mk_out_char(&f->out, ']');
		mk_sgr_restore(f, &f->out);
		p = pos;
	}
	mk_put_text(f, p, (size_t)(end - p));
}

void mk_text_hexdict(struct markup_filter *f, const struct markup_node *n)
{
	if (!n->rest.ptr || !mk_hexdict_set_prefix(&f->hexdict, f->text.prefix))
		return;
	mk_text_begin_element(f, n);
	mk_text_pairs(f, n->rest.ptr, n->rest.ptr + n->rest.len);
}

void mk_text_notes(struct markup_filter *f)
{
	mk_sgr_line_start(f);
	f->text.num_notes = 0;
	mk_out_put(&f->out, f->notes.buf, f->notes.len);
	f->notes.len = 0;
}
