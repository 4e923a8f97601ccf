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

/* "inner inner.h:4 inlined in outer outer.c:9 " */
static void render_note(struct mk_output *r, struct mk_out *o,
			const struct sc_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		struct sc_frame frame = frames[i];
		if (i)
			mk_out_lit(o, "inlined in ");
		frame.column = 0;
		mk_text_render_frame(r, o, &frame, 1, 0);
	}
}

static const struct mk_style note_style = { TEXT_NOTE, true, render_note };

/* One footnote: "[1] RIP 0x6ee17076fb80: main main.c:12 (a.out+0x…)". */
static void put_note(struct mk_output *r, struct sc_str prefix, const struct mk_pair *pair,
		     const struct mk_map *map)
{
	const uint64_t vaddr = mk_map_vaddr(map, pair->number);
	struct mk_text *t = r->state;
	struct mk_out *o = &t->notes;
	struct markup_data data;
	struct mk_pieces text;

	mk_sgr_put_line(r, o, prefix.ptr, prefix.len);
	mk_sgr_highlight(r, o);
	mk_put_values(r, o, "[", t->num_notes, "] ", pair->key, " ", pair->value, ": ");
	if (strchr(map->mode, 'x')) {
		mk_pieces_at(r, pair->number, &note_style, &text);
		mk_put_piece(o, &text, 0);
	} else if (mk_lookup_data(r->resolve, map->module, vaddr, &data)) {
		mk_text_data_name(r, o, &data);
		mk_out_char(o, ' ');
		if (data.file.ptr) {
			mk_text_location(r, o, data.file, data.line, 0);
			mk_out_char(o, ' ');
		}
	}
	mk_put_place(r, o, map->module, vaddr);
	mk_sgr_end_line(r, o);
	mk_out_put(o, r->newline, strlen(r->newline));
}

void mk_text_pairs(struct mk_output *r, struct sc_str prefix, const char *p, const char *end)
{
	struct mk_text *t = r->state;
	struct mk_pair pair;
	const char *pos = p;

	while (mk_next_pair(&pos, end, &pair)) {
		const struct mk_map *map = mk_context_find(&r->resolve->context, pair.number);
		if (!map || t->notes.len > TEXT_NOTES_MAX)
			continue;
		t->num_notes++;
		put_note(r, prefix, &pair, map);
		mk_put_text(r, p, (size_t)(pos - p));
		mk_sgr_highlight(r, &r->out);
		mk_put_values(r, &r->out, " [", t->num_notes, "]");
		mk_sgr_restore(r, &r->out);
		p = pos;
	}
	mk_put_text(r, p, (size_t)(end - p));
}

void mk_text_notes(struct mk_output *r)
{
	struct mk_text *t = r->state;

	mk_sgr_line_start(r);
	t->num_notes = 0;
	mk_out_str(&r->out, (struct sc_str){ t->notes.buf, t->notes.len });
	t->notes.len = 0;
}
