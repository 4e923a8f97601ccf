/*
 * Our dialect, as text: the presentation elements but for hexdict. Each function takes
 * an element that makes sense; the text before it is written.
 */
#include "libmarkup/output/text/text.h"

/* "inner[inner.h:4] inlined in outer[outer.c:9]" */
static void render_pc(struct mk_output *r, struct mk_out *o,
		      const struct sc_frame *frames, size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, " inlined in ");
		mk_put_values(r, o, frames[i].function);
		if (frames[i].file.ptr) {
			mk_out_char(o, '[');
			mk_text_location(r, o, frames[i].file, frames[i].line, 0);
			mk_out_char(o, ']');
		}
	}
}

static const struct mk_style pc_style = { TEXT_PC, true, render_pc };

/* An address of which nothing more is known than the map, if it has one. */
static void put_unknown(struct mk_output *r, uint64_t address, const struct mk_map *map)
{
	mk_put_values(r, &r->out, mk_addr(address), " ");
	if (map)
		mk_put_place(r, &r->out, map->module, mk_map_vaddr(map, address));
	else
		mk_out_put(&r->out, mk_text_outside, strlen(mk_text_outside));
}

static void put_message(struct mk_output *r, const struct mk_event *e)
{
	if (e->detail.len)
		mk_put_values(r, &r->out, " ", e->detail);
	mk_sgr_restore(r, &r->out);
}

void mk_text_frame(struct mk_output *r, const struct mk_event *e)
{
	struct mk_pieces text;

	mk_sgr_highlight(r, &r->out);
	const struct mk_map *map = mk_pieces_at(r, e->lookup, &mk_text_bt_style, &text);
	mk_text_put_frames(r, mk_text_of(r)->prefix, e->number, e->address, map, &text);
	put_message(r, e);
}

void mk_text_pc(struct mk_output *r, const struct mk_event *e)
{
	struct mk_pieces text;

	mk_sgr_highlight(r, &r->out);
	const struct mk_map *map = mk_pieces_at(r, e->lookup, &pc_style, &text);
	if (map && text.found)
		mk_put_piece(&r->out, &text, 0);
	else
		put_unknown(r, e->address, map);
	for (size_t i = 0; i < text.num_frames; i++)
		mk_text_source(r, &mk_text_of(r)->notes, &text, i);
	put_message(r, e);
}

void mk_text_data(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_map *map = mk_context_find(&r->resolve->context, e->address);
	struct mk_out *o = &r->out;
	struct markup_data data;

	mk_sgr_highlight(r, o);
	if (map && mk_lookup_data(r->resolve, map->module, mk_map_vaddr(map, e->address), &data)) {
		mk_text_data_name(r, o, &data);
		if (data.file.ptr) {
			mk_out_char(o, '[');
			mk_text_location(r, o, data.file, data.line, 0);
			mk_out_char(o, ']');
		}
	} else {
		put_unknown(r, e->address, map);
	}
	mk_sgr_restore(r, o);
}

void mk_text_dumpfile(struct mk_output *r, const struct mk_event *e)
{
	struct mk_out *o = &r->out;

	mk_sgr_highlight(r, o);
	mk_put_values(r, o, "[[[dumpfile ", e->detail, " \"", e->name, "\"]]]");
	mk_sgr_restore(r, o);
	mk_note_dumpfile(r, e);
}
