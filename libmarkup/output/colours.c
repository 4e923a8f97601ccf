/*
 * Colour: the log's own SGR codes, and the highlighting of what we put in.
 *
 * The state of the log (a colour, bold) is followed through each line, so that
 * after a highlighted element the log goes on as it was. Only the codes of the
 * markup format are known, ESC[0m, ESC[1m and ESC[30m to ESC[37m, and in the default
 * dialect ESC[m, which is ESC[0m; other escape sequences are text.
 */
#include "libmarkup/output/output.h"

enum { BLUE = 4, GREEN = 2, CYAN = 6 };

size_t mk_sgr_code(const struct mk_output *r, const char *p, const char *end)
{
	if (end - p < 3 || p[1] != '[')
		return 0;
	if (p[2] == 'm')
		return r->options.dialect == MARKUP_DEFAULT ? 3 : 0;
	if (end - p < 4)
		return 0;
	if ((p[2] == '0' || p[2] == '1') && p[3] == 'm')
		return 4;
	if (end - p >= 5 && p[2] == '3' && p[3] >= '0' && p[3] <= '7' && p[4] == 'm')
		return 5;
	return 0;
}

static bool is_reset(const char *code)
{
	return code[2] == '0' || code[2] == 'm';
}

/* ESC[0; with 1; if bold, and a colour. */
static void put_color(struct mk_out *o, int color, bool bold)
{
	char code[] = "\033[0;1;3.m";

	if (bold) {
		code[7] = (char)('0' + color);
		mk_out_put(o, code, 9);
	} else {
		mk_out_lit(o, "\033[0;3");
		mk_out_char(o, (char)('0' + color));
		mk_out_char(o, 'm');
	}
}

static bool colors_on(const struct mk_output *r)
{
	return r->options.color == MARKUP_COLOR_ON;
}

void mk_sgr_line_start(struct mk_output *r)
{
	if (r->sgr.color < 0 && !r->sgr.bold)
		return;
	r->sgr = mk_no_colour;
	if (colors_on(r))
		mk_out_lit(&r->out, "\033[0m");
}

void mk_sgr_follow(struct mk_sgr *s, const char *code)
{
	if (is_reset(code))
		*s = mk_no_colour;
	else if (code[2] == '1')
		s->bold = true;
	else
		s->color = (signed char)(code[3] - '0');
}

/* As mk_sgr_follow(), with output. */
static void follow(struct mk_output *r, const char *code)
{
	if (is_reset(code)) {
		mk_sgr_line_start(r);
		return;
	}
	mk_sgr_follow(&r->sgr, code);
	if (!colors_on(r))
		return;
	if (code[2] == '1')
		mk_out_lit(&r->out, "\033[1m");
	else
		put_color(&r->out, r->sgr.color, false);
}

/* Without the codes, unless `keeps`; with `follows` they are followed. */
static void put_text(struct mk_output *r, struct mk_out *o, const char *p, size_t len, bool keeps,
		     bool follows)
{
	const char *end, *esc = p;

	if (!len)
		return;
	end = p + len;
	while (!keeps && (esc = memchr(esc, '\033', (size_t)(end - esc)))) {
		const size_t code = mk_sgr_code(r, esc, end);

		if (code) {
			mk_out_put(o, p, (size_t)(esc - p));
			p = esc + code;
		}
		if (code && follows)
			follow(r, esc);
		esc += code ? code : 1;
	}
	mk_out_put(o, p, (size_t)(end - p));
}

void mk_put_text(struct mk_output *r, const char *p, size_t len)
{
	put_text(r, &r->out, p, len, !r->follows, true);
}

void mk_sgr_highlight(struct mk_output *r, struct mk_out *o)
{
	if (colors_on(r))
		put_color(o, r->sgr.color == BLUE ? CYAN : BLUE, r->sgr.bold);
}

void mk_sgr_restore(struct mk_output *r, struct mk_out *o)
{
	if (!colors_on(r))
		return;
	if (r->sgr.color >= 0) {
		put_color(o, r->sgr.color, r->sgr.bold);
	} else {
		mk_out_lit(o, "\033[0m");
		if (r->sgr.bold)
			mk_out_lit(o, "\033[1m");
	}
}

void mk_sgr_end_line(const struct mk_output *r, struct mk_out *o)
{
	if (colors_on(r))
		mk_out_lit(o, "\033[0m");
}

void mk_sgr_put_line(struct mk_output *r, struct mk_out *o, const char *p, size_t len)
{
	put_text(r, o, p, len, r->options.color != MARKUP_COLOR_STRIP, false);
}

unsigned mk_sgr_style(const struct mk_output *r)
{
	return colors_on(r) ? 1u + r->sgr.bold + 2u * (r->sgr.color == BLUE) : 0;
}

void mk_put_colored(struct mk_output *r, struct mk_out *o, const char *p, size_t len)
{
	put_color(o, GREEN, r->sgr.bold);
	mk_out_put(o, p, len);
	mk_sgr_highlight(r, o);
}
