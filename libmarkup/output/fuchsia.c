/*
 * The fuchsia dialect: what Fuchsia's symbolizer prints on standard output.
 *
 * It knows reset, module, mmap, bt and dumpfile; all else is text, and so is an
 * element that makes no sense. Each line that an element prints has the text
 * before it (since the last element that printed) in front; the last element's
 * has the rest of the line behind it. A line of nothing but silent elements
 * (reset, module, dumpfile, most mmaps) vanishes, text and all.
 *
 * Modules are placed as a whole: resolve/place.c.
 *
 * Not followed: prettified batches; C++ names get their types from the mangled
 * name, C names have none. Lines of more than MARKUP_LINE_MAX are text.
 */
#include "libmarkup/output/output.h"

enum { KIND_BT = 1 };

struct fuchsia {
	struct mk_out before;  /* text in front of the element */
	const char *pos;       /* text of the line from here on is not in there yet */
	bool silent;           /* an element printed nothing */
	bool text_counts;      /* one printed something, or is text */
	bool whole;            /* the line is written */
};

static void begin_print(struct mk_output *r)
{
	const struct fuchsia *x = r->state;

	mk_out_put(&r->out, x->before.buf, x->before.len);
}

/* The end of `l` without its newline. */
static const char *end_of(const struct mk_line *l)
{
	return l->p + l->len - (l->len && l->p[l->len - 1] == '\n');
}

/* What is behind the last element of a line goes with it. */
static void end_print(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	const char *rest = e->text.ptr + e->text.len;
	struct fuchsia *x = r->state;

	if (e + 1 == l->events + l->num_events) {
		mk_out_put(&r->out, rest, (size_t)(end_of(l) - rest));
		x->whole = true;
	}
	mk_out_char(&r->out, '\n');
}

/* ---- modules --------------------------------------------------------------- */

static bool put_map(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_out *o = &r->out;

	if (!e->bad && !e->fresh)
		return false;
	begin_print(r);
	if (e->bad) {
		mk_out_lit(o, "symbolizer: ");
		mk_put_problem(o, &e->problems[0]);
	} else {
		const struct mk_module *m = &r->resolve->context.modules[e->index];
		mk_put(o, "[[[ELF module #", mk_hex(m->id), " \"", m->name, "\" BuildID=");
		mk_put(o, m->build_text, " ", mk_hex(m->base), "]]]");
	}
	end_print(r, l, e);
	return true;
}

/* ---- frames ---------------------------------------------------------------- */

/* " FUNC FILE:LINE" */
static void render_bt(struct mk_output *r, struct mk_out *o,
		      const struct sc_frame *frames, size_t n, size_t i)
{
	(void)r;
	(void)n;
	if (frames[i].function.ptr)
		mk_put(o, " ", frames[i].function);
	if (frames[i].file.len && frames[i].line)
		mk_put(o, " ", frames[i].file, ":", frames[i].line);
}

static const struct mk_style bt_style = { KIND_BT, false, render_bt };

/* "   #N.K  0xADDRESS" */
static void put_head(struct mk_output *r, uint64_t frame, size_t inline_number,
		     uint64_t address)
{
	struct mk_out *o = &r->out;
	char buf[FMT_MAX * 2] = "   #";
	size_t len = 4;

	len += mk_fmt_dec(buf + len, frame);
	if (inline_number) {
		buf[len++] = '.';
		len += mk_fmt_dec(buf + len, inline_number);
	}
	mk_out_put(o, buf, len);
	if (len < 9)
		mk_out_spaces(o, 9 - len);
	mk_out_addr(o, address);
}

static void put_message(struct mk_output *r, struct sc_str message)
{
	if (message.len)
		mk_put(&r->out, " ", message);
}

static void put_frame(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_resolve *resolve = r->resolve;
	const struct mk_module *m = mk_context_module_at(&resolve->context, e->address,
							 &r->out.error);
	struct mk_out *o = &r->out;
	struct mk_pieces text;

	if (!m) {
		resolve->stats.frames++;
		resolve->stats.frames_outside++;
		begin_print(r);
		put_head(r, e->number, 0, e->address);
		mk_out_lit(o, " is not covered by any module");
		put_message(r, e->detail);
		end_print(r, l, e);
		return;
	}
	const uint32_t module = (uint32_t)(m - resolve->context.modules);
	const uint64_t vaddr = e->address - m->base + m->negative_base;
	mk_pieces_of_module(r, module, vaddr - (e->address - e->lookup), &bt_style, &text);
	for (size_t i = 0; i < text.n; i++) {
		begin_print(r);
		put_head(r, e->number, text.n - 1 - i, e->address);
		mk_out_lit(o, " in");
		mk_put_piece(o, &text, i);
		mk_put(o, " <", resolve->context.modules[module].name, ">+", mk_hex(vaddr));
		put_message(r, e->detail);
		end_print(r, l, e);
	}
}

/* ---- lines ----------------------------------------------------------------- */

static void fuchsia_line(struct mk_output *r, const struct mk_line *l)
{
	struct fuchsia *x = r->state;

	x->before.len = 0;
	x->pos = l->p;
	x->silent = x->text_counts = x->whole = false;
}

static void fuchsia_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct fuchsia *x = r->state;
	bool printed = false;

	mk_out_put(&x->before, x->pos, (size_t)(e->text.ptr - x->pos));
	x->pos = e->text.ptr + e->text.len;
	if (e->kind == MK_FRAME) {
		put_frame(r, l, e);
		printed = true;
	} else if (e->kind == MK_MAP) {
		printed = put_map(r, l, e);
	} else if (e->kind == MK_DUMPFILE) {
		mk_note_dumpfile(r, e);
	} else if (e->kind == MK_UNKNOWN || e->bad) {
		x->text_counts = true;
		mk_out_str(&x->before, e->text);
	}
	x->text_counts |= printed;
	x->silent |= !printed;
	if (printed)
		x->before.len = 0;
}

static void fuchsia_line_end(struct mk_output *r, const struct mk_line *l)
{
	const char *end = end_of(l);
	struct fuchsia *x = r->state;

	if (l->part != MK_LINE_WHOLE) {
		mk_out_put(&r->out, l->p, l->len);
		if ((l->part & MK_LINE_LAST) && end == l->p + l->len)
			mk_out_char(&r->out, '\n');
		return;
	}
	if (x->whole)
		return;
	mk_out_put(&x->before, x->pos, (size_t)(end - x->pos));
	if (x->before.error)
		r->out.error = x->before.error;
	/* What is left belongs to elements that printed nothing. */
	if (!x->silent || (x->text_counts && x->before.len)) {
		begin_print(r);
		mk_out_char(&r->out, '\n');
	}
}

static void fuchsia_plain(struct mk_output *r, const char *p, size_t len)
{
	mk_out_put(&r->out, p, len);
	if (p[len - 1] != '\n')
		mk_out_char(&r->out, '\n');
}

static void fuchsia_deinit(struct mk_output *r)
{
	mk_out_deinit(&((struct fuchsia *)r->state)->before);
}

const struct mk_renderer mk_fuchsia_renderer = {
	.state_size = sizeof(struct fuchsia),
	.colours = COLOURS_LEFT,
	.line = fuchsia_line,
	.event = fuchsia_event,
	.line_end = fuchsia_line_end,
	.plain = fuchsia_plain,
	.deinit = fuchsia_deinit,
};
