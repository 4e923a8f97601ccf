/* Lines of the page, and colours in them: see html.h. */
#include "libmarkup/output/html/html.h"

void mk_html_colour_off(struct mk_output *r)
{
	if (mk_html_of(r)->colored)
		mk_put(&r->out, "</span>");
	mk_html_of(r)->colored = false;
}

static void color_on(struct mk_output *r)
{
	if (r->sgr.color < 0 && !r->sgr.bold)
		return;
	mk_put(&r->out, "<span class=\"", r->sgr.bold ? "bo" : "",
	       r->sgr.bold && r->sgr.color >= 0 ? " " : "");
	if (r->sgr.color >= 0)
		mk_put(&r->out, "c", (unsigned)r->sgr.color);
	mk_put(&r->out, "\">");
	mk_html_of(r)->colored = true;
}

void mk_html_open_line(struct mk_output *r, uint64_t number, char kind)
{
	const char *input = r->where->input;
	const char mark[2] = { '\1', kind };

	if (number == 1 && r->options.name_inputs && input)
		mk_put(&r->out, "\1I", mk_escaped_text(input), "\2");
	mk_out_put(&r->out, mark, 2);
	mk_html_of(r)->open = true;
	mk_html_of(r)->number = number;
	r->sgr = mk_no_colour;
}

void mk_html_close_line(struct mk_output *r)
{
	mk_html_colour_off(r);
	mk_put(&r->out, "\n");
	mk_html_of(r)->open = false;
}

void mk_html_line_text(struct mk_output *r, const char *p, const char *end)
{
	while (p < end) {
		const char *esc = memchr(p, '\033', (size_t)(end - p));
		size_t code = esc ? mk_sgr_code(r, esc, end) : 0;
		const char *stop = code ? esc : esc ? esc + 1 : end;

		mk_html_text(&r->out, (struct sc_str){ p, (size_t)(stop - p) });
		p = stop;
		if (code) {
			mk_sgr_follow(&r->sgr, esc);
			mk_html_colour_off(r);
			color_on(r);
			p += code;
		}
	}
}

const char *mk_html_without_eol(const char *p, const char *end)
{
	end -= end > p && end[-1] == '\n';
	return end - (end > p && end[-1] == '\r');
}

void mk_html_put_lines(struct mk_output *r, const char *p, const char *end)
{
	const char *eol;

	while (p < end && (eol = memchr(p, '\n', (size_t)(end - p)))) {
		mk_html_line_text(r, p, mk_html_without_eol(p, eol));
		mk_html_close_line(r);
		mk_html_open_line(r, mk_html_of(r)->number + 1, 'L');
		p = eol + 1;
	}
	mk_html_line_text(r, p, end);
}
