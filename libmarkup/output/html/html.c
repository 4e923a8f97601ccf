/*
 * --format html: what a line and an event call for: see html.h. All text of the log goes through
 * mk_html_text(). Each line of the log is a line of the page.
 */
#include "libmarkup/output/html/html.h"

/* Are there events, and all of them elements of modules or maps? */
static bool context_alone(const struct mk_line *l)
{
	size_t i = 0;

	while (i < l->num_events && !l->events[i].bad && !l->events[i].quiet &&
	       (l->events[i].kind == MK_MAP || l->events[i].kind == MK_MODULE))
		i++;
	return i && i == l->num_events;
}

static bool is_frame(const struct mk_event *e)
{
	return e->kind == MK_FRAME && !e->bad && !e->quiet;
}

/* What looks like a frame may turn out to be none when it is taken. */
static bool may_have_frames(const struct mk_line *l)
{
	size_t i = 0;

	while (i < l->num_events && !is_frame(&l->events[i]))
		i++;
	return i < l->num_events;
}

/* From now on r->out is x->line, and the other way round. */
static void swap(struct mk_output *r)
{
	struct mk_html *x = r->state;
	const struct mk_out out = r->out;

	r->out = x->line;
	x->line = out;
	x->held_back = !x->held_back;
}

/* What was held back is written, with the mark of what the line is. */
static void write_held(struct mk_output *r)
{
	struct mk_html *x = r->state;
	const struct mk_sgr sgr = r->sgr;

	if (!x->held_back)
		return;
	swap(r);
	mk_html_open_line(r, x->number, x->frames ? 'F' : 'L');
	if (x->frames && x->reach)
		mk_put(&r->out, "r", x->reach, "\2");
	else if (x->frames)
		mk_put(&r->out, x->first, "\2");
	mk_out_put(&r->out, x->line.buf, x->line.len);
	if (x->line.error)
		r->out.error = x->line.error;
	r->sgr = sgr;
}

/* More than blanks? */
static bool is_text(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	return p < end;
}

static void html_line(struct mk_output *r, const struct mk_line *l)
{
	struct mk_html *x = r->state;

	if (l->num_events && l->events[0].aside == MK_BEGINS_TRACE)
		mk_put(&r->out, "\1B");
	x->pos = l->p;
	if (x->open)
		return;
	x->frames = 0;
	if (!may_have_frames(l)) {
		mk_html_open_line(r, r->where->line_no + 1, !context_alone(l) ? 'L' :
				  l->events[0].kind == MK_MODULE ? 'M' : 'A');
		return;
	}
	x->open = true;
	x->number = r->where->line_no + 1;
	x->line.len = 0;
	r->sgr = mk_no_colour;
	swap(r);
}

static void html_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_html *x = r->state;
	const char *pos = x->pos;

	(void)l;
	if (e->kind == MK_UNKNOWN)
		return;
	x->pos = e->text.ptr + e->text.len;
	if (is_frame(e)) {
		mk_html_frame(r, e, (struct sc_str){ pos, (size_t)(e->text.ptr - pos) });
		return;
	}
	mk_html_line_text(r, pos, e->text.ptr);
	if (e->bad) {
		const struct sc_str why = mk_complain_of(r, e);
		mk_put(&r->out, "<span class=bad title=\"", mk_escaped(why), "\">",
		       mk_escaped(e->text), "</span>");
	} else if (e->quiet) {
		mk_html_line_text(r, e->text.ptr, x->pos);
	} else if (e->kind == MK_HEXDICT_OPEN) {
		write_held(r); /* its end may be far */
	} else {
		mk_html_element(r, e);
	}
}

static void html_line_end(struct mk_output *r, const struct mk_line *l)
{
	struct mk_html *x = r->state;
	const char *end = mk_html_without_eol(x->pos, l->p + l->len);

	if (!x->frames) {
		mk_html_line_text(r, x->pos, end);
	} else if (is_text(x->pos, end)) {
		mk_put(&r->out, x->named ? "<s>" : "<span class=ms>");
		mk_html_line_text(r, x->pos, end);
		mk_html_colour_off(r);
		mk_put(&r->out, x->named ? "</s>" : "</span>");
	}
	write_held(r);
	if (l->part & MK_LINE_LAST)
		mk_html_close_line(r);
}

static void html_held(struct mk_output *r, const struct mk_held *h)
{
	const size_t open = strlen("{{{hexdict:"), close = strlen("}}}");
	const char *p = h->text.ptr, *end = p + h->text.len;

	if (h->complete) {
		mk_html_pairs(r, p + open, end - close);
		return; /* the rest of the last line comes */
	}
	mk_html_put_lines(r, p, mk_html_without_eol(p, end));
	mk_html_close_line(r);
}

static void html_finish(struct mk_output *r)
{
	if (r->where->line_no)
		mk_put(&r->out, "\1E");
}

static void html_deinit(struct mk_output *r)
{
	if (mk_html_of(r)->held_back) /* a failure left it so */
		swap(r);
	mk_out_deinit(&mk_html_of(r)->line);
	mk_out_deinit(&mk_html_of(r)->piece);
}

const struct mk_renderer mk_html_renderer = {
	.form = { .whole_page = true, .wants_symbols = true, .sources = true },
	.state_size = sizeof(struct mk_html),
	.every_line = true,
	.line = html_line,
	.event = html_event,
	.line_end = html_line_end,
	.held = html_held,
	.finish = html_finish,
	.whole = &mk_html_page,
	.deinit = html_deinit,
};
