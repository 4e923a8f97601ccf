/*
 * The code at an address → pieces of text: remembered, or made from the frames when they are
 * wanted. In the memo they are:
 *
 *   struct mk_remembered | ends[n] | text of the pieces, one after another
 */
#include "libmarkup/output/output.h"

/* Renders all pieces into the scratch of resolve, and puts them into the memo. */
static void remember(struct mk_resolve *r, const struct mk_found *f, struct mk_pieces *p)
{
	const struct mk_remembered head = { f->map, (uint32_t)p->n };
	struct mk_out *o = &r->scratch;

	o->len = 0;
	mk_out_put(o, (const char *)&head, sizeof(head));
	for (size_t i = 0; i < p->n; i++)
		mk_out_lit(o, "\0\0\0\0");
	const size_t text = o->len;
	for (size_t i = 0; i < p->n && !o->error; i++) {
		mk_put_piece(o, p, i);
		uint32_t end = (uint32_t)(o->len - text);
		if (!o->error)
			memcpy(o->buf + sizeof(head) + i * sizeof(end), &end, sizeof(end));
	}
	if (o->error) {
		r->error = o->error;
		return;
	}
	mk_remember(r, f, (const struct mk_remembered *)(const void *)o->buf, o->len);
	mk_use_text(p, (const struct mk_remembered *)(const void *)o->buf);
}

void mk_take_pieces(struct mk_output *r, const struct mk_style *style, const struct mk_found *f,
		    struct mk_pieces *ret)
{
	if (f->remembered) {
		mk_use_text(ret, f->remembered);
		return;
	}
	*ret = (struct mk_pieces){
		.n = f->num_frames && !style->chain ? f->num_frames : 1, .found = f->found,
		.frames = f->frames, .num_frames = f->num_frames, .module = f->module,
		.style = style, .output = r,
	};
	if (f->worth)
		remember(r->resolve, f, ret);
}

const struct mk_map *mk_pieces_at(struct mk_output *r, uint64_t address,
				  const struct mk_style *style, struct mk_pieces *ret)
{
	struct mk_found f;
	const struct mk_map *map = mk_lookup_address(r->resolve, address,
						     mk_kind_of(style, mk_sgr_style(r)), &f);

	mk_take_pieces(r, style, &f, ret);
	return map;
}

void mk_pieces_named(struct mk_output *r, struct mk_module *m, const struct mk_event *e,
		     const struct mk_style *style, struct mk_pieces *ret)
{
	struct mk_found f;

	mk_lookup_named(r->resolve, m, e->lookup, mk_kind_of(style, mk_sgr_style(r)), &f);
	mk_take_pieces(r, style, &f, ret);
}

void mk_pieces_of_module(struct mk_output *r, uint32_t module, uint64_t vaddr,
			 const struct mk_style *style, struct mk_pieces *ret)
{
	struct mk_found f;

	mk_lookup_code(r->resolve, module, vaddr, &f);
	mk_take_pieces(r, style, &f, ret);
}

void mk_put_piece(struct mk_out *o, const struct mk_pieces *p, size_t i)
{
	if (p->frames && p->num_frames) {
		p->style->render(p->output, o, p->frames, p->num_frames, i);
	} else if (p->text) {
		uint32_t start = i ? p->ends[i - 1] : 0;
		mk_out_put(o, p->text + start, p->ends[i] - start);
	}
}

struct sc_str mk_source_of(const struct mk_resolve *r, const struct mk_pieces *p, size_t i)
{
	return r->resolver.source && p->frames && i < p->num_frames && p->frames[i].line ?
		r->resolver.source(r->resolver.ctx, p->module, &p->frames[i]) :
		(struct sc_str){ NULL, 0 };
}
