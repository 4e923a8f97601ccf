/*
 * --format html: an HTML page that can be read, searched and clicked: SGR codes
 * are colours, inlined frames are folded away, what lies at a value of a
 * hexdict is shown on hover or focus. html_elements.c has what elements become,
 * html_page.c what is around the log.
 *
 *   <ol class="b" style="--first:257">   256 lines, which the browser lays out when seen
 *   <li>text                             a line; its newline is the end of its text
 *   <li>text <samp>…</samp>
 *
 * A browser takes about 1.5 µs for each node of 100,000 lines, more for attributes:
 * so lines have no number (the list has) and no end tag, and what is in most of
 * them has an element of its own instead of a class (html_elements.c).
 *
 * All text of the log goes through mk_html_text(). Each line of the log is a line
 * of the page; those of modules and maps are hidden at first.
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

static void html_line(struct mk_output *r, const struct mk_line *l)
{
	struct mk_html *x = r->state;

	if (!x->open)
		mk_html_open_line(r, r->where->line_no + 1, context_alone(l));
	x->pos = l->p;
}

static void html_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_html *x = r->state;

	(void)l;
	if (e->kind == MK_UNKNOWN)
		return;
	mk_html_line_text(r, x->pos, e->text.ptr);
	x->pos = e->text.ptr + e->text.len;
	if (e->bad) {
		const struct sc_str why = mk_complain_of(r, e);
		mk_put(&r->out, "<span class=\"bad\" title=\"", mk_escaped(why), "\">",
		       mk_escaped(e->text), "</span>");
	} else if (e->quiet) {
		mk_html_line_text(r, e->text.ptr, x->pos);
	} else if (e->kind != MK_HEXDICT_OPEN) {
		mk_html_element(r, e);
	}
}

static void html_line_end(struct mk_output *r, const struct mk_line *l)
{
	const char *pos = mk_html_of(r)->pos;

	mk_html_line_text(r, pos, mk_html_without_eol(pos, l->p + l->len));
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
		mk_put(&r->out, "</ol>\n");
}

const struct mk_renderer mk_html_renderer = {
	.form = { .whole_page = true, .wants_symbols = true },
	.state_size = sizeof(struct mk_html),
	.every_line = true,
	.line = html_line,
	.event = html_event,
	.line_end = html_line_end,
	.held = html_held,
	.finish = html_finish,
	.head = mk_html_head,
	.foot = mk_html_foot,
};
