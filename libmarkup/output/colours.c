/*
 * Colour: the log's own SGR codes, and the highlighting of what we put in.
 *
 * The state of the log (a colour, bold) is followed through each line, so that
 * after a highlighted element the log goes on as it was. Only the codes of the
 * markup format are known, ESC[0m, ESC[1m and ESC[30m to ESC[37m; other escape
 * sequences are text.
 */
#include "libmarkup/state.h"

enum { BLUE = 4, GREEN = 2, CYAN = 6 };

size_t mk_sgr_code(const char *p, const char *end)
{
	if (end - p < 4 || p[1] != '[')
		return 0;
	if ((p[2] == '0' || p[2] == '1') && p[3] == 'm')
		return 4;
	if (end - p >= 5 && p[2] == '3' && p[3] >= '0' && p[3] <= '7' && p[4] == 'm')
		return 5;
	return 0;
}

/* ESC[0; with 1; if bold, and a colour. */
static void put_color(struct markup_out *o, int color, bool bold)
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

static bool colors_on(const struct markup_filter *f)
{
	return f->options.color == MARKUP_COLOR_ON;
}

static void sgr_reset(struct markup_filter *f)
{
	if (f->sgr.color < 0 && !f->sgr.bold)
		return;
	f->sgr = (struct sgr_state){ -1, false };
	if (colors_on(f))
		mk_out_lit(&f->out, "\033[0m");
}

void mk_sgr_line_start(struct markup_filter *f)
{
	sgr_reset(f);
}

void mk_sgr_follow(struct sgr_state *s, const char *code)
{
	if (code[2] == '0')
		*s = (struct sgr_state){ -1, false };
	else if (code[2] == '1')
		s->bold = true;
	else
		s->color = (signed char)(code[3] - '0');
}

/* As mk_sgr_follow(), with output. */
static void follow(struct markup_filter *f, const char *code)
{
	if (code[2] == '0') {
		sgr_reset(f);
		return;
	}
	mk_sgr_follow(&f->sgr, code);
	if (!colors_on(f))
		return;
	if (code[2] == '1')
		mk_out_lit(&f->out, "\033[1m");
	else
		put_color(&f->out, f->sgr.color, false);
}

void mk_put_text(struct markup_filter *f, const char *p, size_t len)
{
	const char *end, *esc = p;

	if (!len) /* p may be NULL then */
		return;
	end = p + len;
	if (f->scan_for == MARKUP_SCAN_ESC) {
		while ((esc = memchr(esc, '\033', (size_t)(end - esc)))) {
			size_t code = mk_sgr_code(esc, end);
			if (code) {
				mk_out_put(&f->out, p, (size_t)(esc - p));
				follow(f, esc);
				p = esc + code;
			}
			esc += code ? code : 1;
		}
	}
	mk_out_put(&f->out, p, (size_t)(end - p));
}

void mk_sgr_highlight(struct markup_filter *f, struct markup_out *o)
{
	if (colors_on(f))
		put_color(o, f->sgr.color == BLUE ? CYAN : BLUE, f->sgr.bold);
}

void mk_sgr_restore(struct markup_filter *f, struct markup_out *o)
{
	if (!colors_on(f))
		return;
	if (f->sgr.color >= 0) {
		put_color(o, f->sgr.color, f->sgr.bold);
	} else {
		mk_out_lit(o, "\033[0m");
		if (f->sgr.bold)
			mk_out_lit(o, "\033[1m");
	}
}

void mk_sgr_end_line(const struct markup_filter *f, struct markup_out *o)
{
	if (colors_on(f))
		mk_out_lit(o, "\033[0m");
}

void mk_sgr_put_line(const struct markup_filter *f, struct markup_out *o, const char *p,
		     size_t len)
{
	const char *end = p + len, *esc = p;

	if (!len) /* p may be NULL then */
		return;
	while (f->options.color == MARKUP_COLOR_STRIP &&
	       (esc = memchr(esc, '\033', (size_t)(end - esc)))) {
		size_t code = mk_sgr_code(esc, end);
		if (code) {
			mk_out_put(o, p, (size_t)(esc - p));
			p = esc + code;
		}
		esc += code ? code : 1;
	}
	mk_out_put(o, p, (size_t)(end - p));
}

unsigned mk_sgr_style(const struct markup_filter *f)
{
	return colors_on(f) ? 1u + f->sgr.bold + 2u * (f->sgr.color == BLUE) : 0;
}

void mk_put_colored(struct markup_filter *f, struct markup_out *o, const char *p, size_t len)
{
	put_color(o, GREEN, f->sgr.bold);
	mk_out_put(o, p, len);
	mk_sgr_highlight(f, o);
}

void mk_put_hex_value(struct markup_filter *f, struct markup_out *o, uint64_t v)
{
	char buf[FMT_MAX];
	mk_put_value(f, o, buf, mk_fmt_hex(buf, v));
}
