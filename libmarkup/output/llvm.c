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
 * element may drop what stands before it. Lines of more than MARKUP_LINE_MAX are
 * the one thing that is handled otherwise.
 */
#include "libmarkup/output/output.h"

enum { KIND_BT = 1, KIND_PC };

static const struct sc_str invalid = { "<invalid>", 9 };

static struct sc_str or_invalid(struct sc_str s)
{
	return s.ptr ? s : invalid;
}

/* The line is kept until its contextual element, or its end, has come. */
struct llvm {
	bool after_context; /* the rest of the line is dropped */
};

static void put_raw(struct mk_output *r, const struct mk_event *e)
{
	struct mk_out *o = &r->out;
	const char *p = e->rest.ptr, *end = e->text.ptr + e->text.len - 3;

	mk_sgr_highlight(r, o);
	mk_put_values(r, o, "[[[", e->tag);
	while (p) {
		const char *colon = memchr(p, ':', (size_t)(end - p));
		mk_out_char(o, ':');
		mk_put_value(r, o, p, (size_t)((colon ? colon : end) - p));
		p = colon ? colon + 1 : NULL;
	}
	mk_out_lit(o, "]]]");
	mk_sgr_restore(r, o);
}

/* Says what is wrong at the byte `at` of the line. */
static void begin_report(struct mk_output *r, enum mk_severity severity)
{
	r->scratch.len = 0;
	mk_put(&r->scratch, severity == MK_ERROR ? "error: " : "warning: ");
}

static void end_report(struct mk_output *r, const struct mk_line *l, const char *at)
{
	struct mk_out *o = &r->scratch;

	mk_out_char(o, '\n');
	mk_out_put(o, l->p, l->len);
	if (l->p[l->len - 1] != '\n')
		mk_out_char(o, '\n');
	mk_out_spaces(o, (size_t)(at - l->p));
	mk_out_lit(o, "^\n");
	if (o->error)
		r->out.error = o->error;
	mk_complain_text(r->where, o->buf, o->len);
}

static void report(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	for (unsigned i = 0; i < e->num_problems && !r->where->silent; i++) {
		begin_report(r, e->problems[i].severity);
		mk_put_problem(&r->scratch, &e->problems[i]);
		end_report(r, l, e->problems[i].at);
	}
}

/* ---- addresses ------------------------------------------------------------- */

/* "FUNC FILE:LINE:COL " */
static void render_bt(struct mk_output *r, struct mk_out *o,
		      const struct sc_frame *frames, size_t n, size_t i)
{
	const struct sc_frame *f = &frames[i];

	(void)n;
	if (f->function.ptr || f->file.ptr)
		mk_put_values(r, o, or_invalid(f->function), " ", or_invalid(f->file), ":", f->line,
			      ":", f->column, " ");
}

/* "FUNC[FILE:LINE]" */
static void render_pc(struct mk_output *r, struct mk_out *o,
		      const struct sc_frame *frames, size_t n, size_t i)
{
	i = r->options.pc_innermost ? 0 : n - 1;
	mk_put_values(r, o, or_invalid(frames[i].function), "[", or_invalid(frames[0].file),
		      ":", frames[0].line, "]");
}

static const struct mk_style bt_style = { KIND_BT, false, render_bt };
static const struct mk_style pc_style = { KIND_PC, true, render_pc };

/* The map that holds the address of an event, if its module has symbols; else complains,
 * prints the element as it is and returns NULL. */
static const struct mk_map *find_map(struct mk_output *r, const struct mk_line *l,
				     const struct mk_event *e, uint64_t address)
{
	static const char no_build_id[] = "error: could not find build ID\n";
	const struct mk_map *map = mk_context_find(&r->resolve->context, address);

	if (map && !r->where->silent && mk_lookup_module(r->resolve, map->module))
		return map;
	if (!map && !r->where->silent) {
		begin_report(r, MK_ERROR);
		mk_out_lit(&r->scratch, "no mmap covers address");
		end_report(r, l, e->rest.ptr);
	} else if (map) {
		mk_complain_text(r->where, no_build_id, sizeof(no_build_id) - 1);
	}
	put_raw(r, e);
	return NULL;
}

static void put_frame(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	const struct mk_map *map = find_map(r, l, e, e->lookup);
	struct mk_out *o = &r->out;
	struct mk_pieces text;

	if (!map)
		return;
	const uint64_t vaddr = mk_map_vaddr(map, e->lookup);
	mk_pieces_at(r, e->lookup, &bt_style, &text);
	mk_sgr_highlight(r, o);
	for (size_t i = 0; i < text.n; i++) {
		if (i)
			mk_put_newline(r);
		mk_put_frame_head(r, e->number, i + 1 < text.n ? i + 1 : 0, e->lookup);
		mk_put_piece(o, &text, i);
		mk_put_place(r, o, map->module, vaddr);
	}
	mk_sgr_restore(r, o);
}

static void put_pc(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_pieces text;

	if (!find_map(r, l, e, e->lookup))
		return;
	mk_pieces_at(r, e->lookup, &pc_style, &text);
	if (!text.found) {
		put_raw(r, e);
		return;
	}
	mk_sgr_highlight(r, &r->out);
	mk_put_piece(&r->out, &text, 0);
	mk_sgr_restore(r, &r->out);
}

static void put_data(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	const struct mk_map *map = find_map(r, l, e, e->address);
	struct markup_data data;

	if (!map)
		return;
	if (!mk_lookup_data(r->resolve, map->module, mk_map_vaddr(map, e->address), &data))
		data.name = invalid;
	mk_sgr_highlight(r, &r->out);
	mk_out_str(&r->out, data.name);
	mk_sgr_restore(r, &r->out);
}

/* ---- lines ----------------------------------------------------------------- */

/* Writes the line up to `end`, with the events there, which are not contextual. */
static void put_line(struct mk_output *r, const struct mk_line *l, const char *end)
{
	const char *p = l->p;

	for (size_t i = 0; i < l->num_events; i++) {
		const struct mk_event *e = &l->events[i];

		if (e->text.ptr >= end)
			break;
		mk_put_text(r, p, (size_t)(e->text.ptr - p));
		p = e->text.ptr + e->text.len;
		report(r, l, e);
		if (e->bad)
			continue;
		if (e->kind == MK_FRAME)
			put_frame(r, l, e);
		else if (e->kind == MK_PC)
			put_pc(r, l, e);
		else if (e->kind == MK_DATA)
			put_data(r, l, e);
		else if (e->kind == MK_SYMBOL)
			mk_put_symbol(r, e);
		else
			mk_out_str(&r->out, e->text);
	}
	mk_put_text(r, p, (size_t)(end - p));
}

/* Only what is contextual counts now. */
static void llvm_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	const struct mk_context *context = &r->resolve->context;
	struct llvm *x = r->state;

	if (!mk_is_context(e)) /* the input gives one of a line, and nothing behind it */
		return;
	x->after_context = true;
	report(r, l, e);
	if (e->bad || (e->kind == MK_RESET && mk_context_empty(context)))
		return;
	const uint32_t module = e->kind == MK_MAP ? context->maps[e->index].module : e->index;
	if (e->kind != MK_MAP || !r->modline.open || r->modline.module != module) {
		mk_modline_close(r, true);
		put_line(r, l, e->text.ptr);
		if (e->kind == MK_RESET) {
			put_raw(r, e);
			mk_put_newline(r);
			return;
		}
		mk_modline_open(r, module, e->kind == MK_MAP);
	}
	if (e->kind == MK_MAP)
		mk_modline_add(r, e->index);
}

static void llvm_line(struct mk_output *r, const struct mk_line *l)
{
	struct llvm *x = r->state;

	if (l->part & MK_LINE_FIRST) {
		x->after_context = false;
		mk_sgr_line_start(r);
	}
}

static void llvm_line_end(struct mk_output *r, const struct mk_line *l)
{
	struct llvm *x = r->state;

	if (x->after_context)
		return;
	mk_modline_close(r, true);
	put_line(r, l, l->p + l->len);
	if ((l->part & MK_LINE_LAST) && (!l->len || l->p[l->len - 1] != '\n'))
		mk_out_char(&r->out, '\n');
}

static void llvm_plain(struct mk_output *r, const char *p, size_t len)
{
	if (r->modline.open) { /* it ends like the line that closes it */
		const char *eol = memchr(p, '\n', len);
		r->newline = mk_newline_of(p, eol ? (size_t)(eol + 1 - p) : len);
	}
	mk_sgr_line_start(r);
	mk_modline_close(r, true);
	mk_out_put(&r->out, p, len);
	if (p[len - 1] != '\n')
		mk_out_char(&r->out, '\n');
}

static void llvm_leaving(struct mk_output *r)
{
	mk_modline_close(r, true);
}

static void llvm_finish(struct mk_output *r)
{
	llvm_leaving(r);
	mk_sgr_line_start(r);
}

const struct mk_renderer mk_llvm_renderer = {
	.state_size = sizeof(struct llvm),
	.colours = COLOURS_FOLLOWED,
	.line = llvm_line,
	.event = llvm_event,
	.line_end = llvm_line_end,
	.plain = llvm_plain,
	.leaving = llvm_leaving,
	.finish = llvm_finish,
};
