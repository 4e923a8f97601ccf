/*
 * --format html: an HTML page that can be read, searched and clicked: SGR codes
 * are colours, inlined frames are folded away, a value of a hexdict tells on
 * hover or focus what lies there. html_elements.c has what elements become,
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

static void put(struct markup_filter *f, const char *html)
{
	mk_out_put(&f->out, html, strlen(html));
}

static void color_off(struct markup_filter *f)
{
	if (f->html.colored)
		put(f, "</span>");
	f->html.colored = false;
}

static void color_on(struct markup_filter *f)
{
	const char digit = (char)('0' + f->sgr.color);

	if (f->sgr.color < 0 && !f->sgr.bold)
		return;
	put(f, "<span class=\"");
	if (f->sgr.bold)
		put(f, f->sgr.color < 0 ? "bo" : "bo ");
	if (f->sgr.color >= 0) {
		put(f, "c");
		mk_out_char(&f->out, digit);
	}
	put(f, "\">");
	f->html.colored = true;
}

/* Lines of inputs behind the first have its number in front of theirs. */
static void open_block(struct markup_filter *f, uint64_t number)
{
	struct markup_out *o = &f->out;

	put(f, number == 1 ? "<ol class=\"b\" style=\"--first:"
		: "</ol>\n<ol class=\"b\" style=\"--first:");
	mk_out_dec(o, number);
	if (f->html.input > 1) {
		put(f, ";--input:'");
		mk_out_dec(o, f->html.input);
		put(f, ".'");
	}
	put(f, "\">\n");
}

static void open_line(struct markup_filter *f, uint64_t number, bool hidden)
{
	if (number == 1 && f->options.name_inputs && f->input) {
		put(f, "<h2>");
		mk_html_text(&f->out, f->input, strlen(f->input));
		put(f, "</h2>\n");
	}
	if (number % BLOCK_LINES == 1)
		open_block(f, number);
	put(f, hidden ? "<li class=\"m\">" : "<li>");
	f->html.open = true;
	f->html.number = number;
	f->sgr = (struct sgr_state){ -1, false };
}

static void close_line(struct markup_filter *f)
{
	color_off(f);
	put(f, "\n");
	f->html.open = false;
}

/* Text of one line, without its end. */
static void put_line_text(struct markup_filter *f, const char *p, const char *end)
{
	while (p < end) {
		const char *esc = memchr(p, '\033', (size_t)(end - p));
		size_t code = esc ? mk_sgr_code(esc, end) : 0;
		const char *stop = code ? esc : esc ? esc + 1 : end;

		mk_html_text(&f->out, p, (size_t)(stop - p));
		p = stop;
		if (code) {
			mk_sgr_follow(&f->sgr, esc);
			color_off(f);
			color_on(f);
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

void mk_html_put_lines(struct markup_filter *f, const char *p, const char *end)
{
	const char *eol;

	while (p < end && (eol = memchr(p, '\n', (size_t)(end - p)))) {
		put_line_text(f, p, without_eol(p, eol));
		close_line(f);
		open_line(f, f->html.number + 1, false);
		p = eol + 1;
	}
	put_line_text(f, p, end);
}

/* Are `n` and all elements behind it maps? */
static bool maps_alone(struct markup_parser behind, struct markup_node n)
{
	do {
		if (n.kind != MARKUP_ELEMENT || !mk_str_is(n.tag, "mmap"))
			return false;
	} while (mk_next_element(&behind, &n));
	return true;
}

static void html_line(struct markup_filter *f, const char *p, size_t len, enum line_part part)
{
	const char *end = p + len, *text = p;
	struct markup_parser parser;
	struct markup_node n;
	bool more;

	markup_parse_line(&parser, p, len, MARKUP_SYNTAX);
	parser.hint = f->first;
	more = mk_next_element(&parser, &n);
	if (!f->html.open)
		open_line(f, f->line_no + 1, more && maps_alone(parser, n));
	for (; more; more = mk_next_element(&parser, &n)) {
		if (n.kind == MARKUP_OPEN && !(part & LINE_LAST))
			break;
		put_line_text(f, text, n.text.ptr);
		text = n.text.ptr;
		if (n.kind == MARKUP_OPEN) {
			if (mk_hexdict_open(&f->hexdict, n.text, (struct markup_str){ NULL, 0 }))
				return;
			break;
		}
		if (mk_html_element(f, &n))
			text += n.text.len;
	}
	put_line_text(f, text, without_eol(text, end));
	if (part & LINE_LAST)
		close_line(f);
}

static void html_held(struct markup_filter *f, bool complete)
{
	const struct hexdict *h = &f->hexdict;
	const size_t open = strlen("{{{hexdict:"), close = strlen("}}}");

	if (complete) {
		mk_html_pairs(f, h->buf + open, h->buf + h->len - close);
		return; /* the rest of the last line comes */
	}
	mk_html_put_lines(f, h->buf, without_eol(h->buf, h->buf + h->len));
	close_line(f);
}

static void html_plain(struct markup_filter *f, const char *p, size_t len)
{
	(void)f;
	(void)p;
	(void)len;
}

static void html_finish(struct markup_filter *f)
{
	if (f->line_no)
		put(f, "</ol>\n");
}

static void html_report(struct markup_filter *f, const struct markup_node *n,
			enum severity severity, const char *at, struct markup_str message)
{
	mk_text_renderer.report(f, n, severity, at, message);
	f->notes.len = 0;
	mk_out_str(&f->notes, message);
	f->html.error = (struct markup_str){ f->notes.buf, f->notes.len };
}

const struct renderer mk_html_renderer = {
	.every_line = true,
	.line = html_line,
	.held = html_held,
	.plain = html_plain,
	.finish = html_finish,
	.report = html_report,
};
