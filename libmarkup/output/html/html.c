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
 * of the page; those of modules are dim, those of maps are hidden at first.
 */
#include "libmarkup/output/html/html.h"

#define BLOCK_LINES 256u

static struct mk_html *html_of(struct mk_output *r)
{
	return r->state;
}

static void put(struct mk_output *r, const char *html)
{
	mk_out_put(&r->out, html, strlen(html));
}

static void color_off(struct mk_output *r)
{
	if (html_of(r)->colored)
		put(r, "</span>");
	html_of(r)->colored = false;
}

static void color_on(struct mk_output *r)
{
	const char digit = (char)('0' + r->sgr.color);

	if (r->sgr.color < 0 && !r->sgr.bold)
		return;
	put(r, "<span class=\"");
	if (r->sgr.bold)
		put(r, r->sgr.color < 0 ? "bo" : "bo ");
	if (r->sgr.color >= 0) {
		put(r, "c");
		mk_out_char(&r->out, digit);
	}
	put(r, "\">");
	html_of(r)->colored = true;
}

/* Lines of inputs behind the first have its number in front of theirs. */
static void open_block(struct mk_output *r, uint64_t number)
{
	struct mk_out *o = &r->out;

	put(r, number == 1 ? "<ol class=\"b\" style=\"--first:"
		: "</ol>\n<ol class=\"b\" style=\"--first:");
	mk_out_dec(o, number);
	if (r->where->input_number > 1) {
		put(r, ";--input:'");
		mk_out_dec(o, r->where->input_number);
		put(r, ".'");
	}
	put(r, "\">\n");
}

static void open_line(struct mk_output *r, uint64_t number, bool hidden)
{
	if (number == 1 && r->options.name_inputs && r->where->input) {
		put(r, "<h2>");
		mk_html_text(&r->out, r->where->input, strlen(r->where->input));
		put(r, "</h2>\n");
	}
	if (number % BLOCK_LINES == 1)
		open_block(r, number);
	put(r, hidden ? "<li class=\"m\">" : "<li>");
	html_of(r)->open = true;
	html_of(r)->number = number;
	r->sgr = mk_no_colour;
}

static void close_line(struct mk_output *r)
{
	color_off(r);
	put(r, "\n");
	html_of(r)->open = false;
}

/* Text of one line, without its end. */
static void put_line_text(struct mk_output *r, const char *p, const char *end)
{
	while (p < end) {
		const char *esc = memchr(p, '\033', (size_t)(end - p));
		size_t code = esc ? mk_sgr_code(esc, end) : 0;
		const char *stop = code ? esc : esc ? esc + 1 : end;

		mk_html_text(&r->out, p, (size_t)(stop - p));
		p = stop;
		if (code) {
			mk_sgr_follow(&r->sgr, esc);
			color_off(r);
			color_on(r);
			p += code;
		}
	}
}

/* Without the end of the line that [p, end) may end with. */
static const char *without_eol(const char *p, const char *end)
{
	end -= end > p && end[-1] == '\n';
	return end - (end > p && end[-1] == '\r');
}

void mk_html_put_lines(struct mk_output *r, const char *p, const char *end)
{
	const char *eol;

	while (p < end && (eol = memchr(p, '\n', (size_t)(end - p)))) {
		put_line_text(r, p, without_eol(p, eol));
		close_line(r);
		open_line(r, html_of(r)->number + 1, false);
		p = eol + 1;
	}
	put_line_text(r, p, end);
}

/* Are there events, and all of them maps? */
static bool maps_alone(const struct mk_line *l)
{
	size_t i = 0;

	while (i < l->num_events && l->events[i].kind == MK_MAP)
		i++;
	return i && i == l->num_events;
}

static void html_line(struct mk_output *r, const struct mk_line *l)
{
	struct mk_html *x = r->state;

	if (!x->open)
		open_line(r, r->where->line_no + 1, maps_alone(l));
	x->pos = l->p;
}

static void html_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_html *x = r->state;

	(void)l;
	if (e->kind == MK_UNKNOWN)
		return;
	put_line_text(r, x->pos, e->text.ptr);
	x->pos = e->text.ptr + e->text.len;
	if (e->bad) {
		const struct markup_str why = mk_complain_of(r, e);
		put(r, "<span class=\"bad\" title=\"");
		mk_html_text(&r->out, why.ptr, why.len);
		put(r, "\">");
		mk_html_text(&r->out, e->text.ptr, e->text.len);
		put(r, "</span>");
	} else if (e->quiet) {
		put_line_text(r, e->text.ptr, x->pos);
	} else if (!e->open) {
		mk_html_element(r, e);
	}
}

static void html_line_end(struct mk_output *r, const struct mk_line *l)
{
	put_line_text(r, html_of(r)->pos, without_eol(html_of(r)->pos, l->p + l->len));
	if (l->part & MK_LINE_LAST)
		close_line(r);
}

static void html_held(struct mk_output *r, const struct mk_held *h)
{
	const size_t open = strlen("{{{hexdict:"), close = strlen("}}}");
	const char *p = h->text.ptr, *end = p + h->text.len;

	if (h->complete) {
		mk_html_pairs(r, p + open, end - close);
		return; /* the rest of the last line comes */
	}
	mk_html_put_lines(r, p, without_eol(p, end));
	close_line(r);
}

static void html_finish(struct mk_output *r)
{
	if (r->where->line_no)
		put(r, "</ol>\n");
}

const struct mk_renderer mk_html_renderer = {
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
