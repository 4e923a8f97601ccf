/* Text against patterns that end where it does: see pattern.h. */
#include "libmarkup/input/pattern_parts.h"

/* What of a pattern is in front of its last part, whose letter is *letter: '%' and a letter, or
 * (0) a byte. */
static size_t without_last(const char *pattern, size_t len, char *letter)
{
	*letter = len > 1 && pattern[len - 2] == '%' ? pattern[len - 1] : 0;
	return len - (*letter ? 2 : 1);
}

static const char *back(struct mk_matcher *m, const char *pattern, size_t len, const char *p);

/* The parenthesis that is closed in front of `end`, or NULL. */
static const char *find_open(struct mk_matcher *m, const char *end)
{
	const char *p = end;

	for (int depth = 1; p > m->begin && end - p < MK_SYMBOL_MAX && depth;) {
		p--;
		depth += *p == ')';
		depth -= *p == '(';
		if (!depth)
			return mk_spend(m, (size_t)(end - p)) ? p : NULL;
	}
	mk_spend(m, (size_t)(end - p));
	return NULL;
}

/* A symbol that ends at p, behind what pattern[0, len) stands for. */
static const char *back_symbol(struct mk_matcher *m, const char *pattern, size_t len,
			       const char *p)
{
	const bool hole = len > 1 && pattern[len - 2] == '%';
	const size_t before = (size_t)(p - m->begin), most = MK_SYMBOL_MAX;
	const char *from = before < most ? m->begin : p - most, *at = p, *begin;
	const struct mk_parts parts = m->parts;

	len -= hole ? 2 : 0;
	if (pattern[len - 1] == '(') {
		at = find_open(m, p);
		m->parts.symbol = sc_span(at ? at + 1 : p, p);
		return at && at + 1 < p ? back(m, pattern, len, at + 1) : NULL;
	}
	for (unsigned i = 0; i < MK_TRIES_MAX; i++) {
		const char *last = at;

		at = memrchr(from, pattern[len - 1], (size_t)(at - from));
		if (!at || !mk_spend(m, 8 + (size_t)(last - at) / 16))
			break;
		m->parts = parts;
		m->parts.symbol = sc_span(at + 1, p);
		if (hole)
			m->parts.hole = m->parts.symbol;
		if (at + 1 < p && (begin = back(m, pattern, len, at + 1)))
			return begin;
	}
	return NULL;
}

/* A path or name that ends at p, behind the byte `before` of the pattern, which may be a quote. */
static const char *back_module(struct mk_matcher *m, char before, const char *p)
{
	static const bool stops[256] = {
		[0] = true, [' '] = true, ['\t'] = true, ['"'] = true, ['\''] = true, ['`'] = true,
		['\r'] = true, ['<'] = true, ['>'] = true, ['|'] = true, [';'] = true,
	};
	static const bool in_front[256] = { /* of a path, without a blank */
		['('] = true, ['['] = true, ['{'] = true, ['='] = true, [','] = true, [':'] = true,
	};
	const bool quoted = before == '"';
	const char *begin = p;

	while (begin > m->begin && p - begin <= MK_MODULE_MAX && begin[-1] != before &&
	       (quoted || !stops[(unsigned char)begin[-1]])) {
		begin--;
		if (*begin == '/' && !quoted && begin > m->begin &&
		    in_front[(unsigned char)begin[-1]])
			break;
	}
	if (!mk_spend(m, (size_t)(p - begin)))
		return NULL;
	if (p - begin > 2 && begin[0] == '\\' && begin[1] == 't')
		begin += 2;
	while (!quoted && begin < p && in_front[(unsigned char)*begin])
		begin++;
	return mk_keep_module(m, begin, p) ? m->parts.module.ptr : NULL;
}

/* What stands where the name of a program should, whatever it is. */
static const char *back_title(struct mk_matcher *m, const char *p)
{
	const char *begin = p, *colour;

	while (begin > m->begin && p - begin <= MK_MODULE_MAX &&
	       ((unsigned char)begin[-1] > ' ' || begin[-1] == '\033') &&
	       begin[-1] != '"' && begin[-1] != '\'' && begin[-1] != '>')
		begin--;
	colour = memrchr(begin, '\033', (size_t)(p - begin));
	begin = colour ? mk_skip_colours(colour, p) : begin;
	m->parts.module = sc_span(begin, p);
	return begin < p && mk_spend(m, (size_t)(p - begin)) ? begin : NULL;
}

static const char *back_digits(struct mk_matcher *m, char letter, const char *p)
{
	const char *begin = p;

	while (begin > m->begin && p - begin < 20 && mk_is_digit_of(letter, begin[-1]))
		begin--;
	return mk_keep_number(m, letter, begin, p) ? begin : NULL;
}

static const char *back_id(struct mk_matcher *m, const char *p)
{
	const char *begin = p;

	while (begin > m->begin && p - begin <= 128 && mk_digit(begin[-1]) < 16)
		begin--;
	m->parts.build_id = sc_span(begin, p);
	return p - begin >= 16 && p - begin <= 128 && (p - begin) % 2 == 0 ? begin : NULL;
}

static const char *back_blanks(const struct mk_matcher *m, const char *p)
{
	const char *before;

	do {
		while (p > m->begin && mk_is_blank(p[-1]))
			p--;
		before = p;
		p = mk_skip_colours_back(m->begin, p);
	} while (p < before);
	return p;
}

static const char *back_word(struct mk_matcher *m, const char *p)
{
	const char *begin = p;

	while (begin > m->begin && !mk_is_blank(begin[-1]))
		begin--;
	return begin < p && mk_spend(m, (size_t)(p - begin)) ? begin : NULL;
}

static const char *back_byte(const struct mk_matcher *m, char c, const char *p)
{
	const char *begin;

	if (c == ' ') {
		begin = back_blanks(m, p);
		return begin < p ? begin : NULL;
	}
	if (p == m->begin || p[-1] != c)
		return NULL;
	p--;
	return c == '"' && p > m->begin && p[-1] == '\\' ? p - 1 : p;
}

static const char *back(struct mk_matcher *m, const char *pattern, size_t len, const char *p)
{
	const char *hole_end = NULL;
	char letter;

	while (len && p) {
		const char last = pattern[len - 1];

		if (p > m->begin && p[-1] == last && mk_is_plain(last) &&
		    (len < 2 || pattern[len - 2] != '%')) {
			p--;
			len--;
			continue;
		}
		if (!mk_spend(m, 1))
			return NULL;
		len = without_last(pattern, len, &letter);
		if (p > m->begin && (p[-1] == 'm' || p[-1] == 'K') && letter != 'S' && letter != '{')
			p = mk_skip_colours_back(m->begin, p);
		switch (letter) {
		case 0:
			p = back_byte(m, last, p);
			break;
		case 'S':
			return back_symbol(m, pattern, len, p);
		case 'P':
			p = back_module(m, !len || (len > 1 && pattern[len - 2] == '%') ? ' '
										: pattern[len - 1], p);
			break;
		case 'Q':
			p = back_title(m, p);
			break;
		case 'w':
			p = back_word(m, p);
			break;
		case 'I':
			p = back_id(m, p);
			break;
		case '_':
			p = back_blanks(m, p);
			break;
		case '1':
			p = p > m->begin && p[-1] == ' ' ? p - 1 : NULL;
			break;
		case '}':
			hole_end = p;
			break;
		case '{':
			m->parts.hole = sc_span(p, hole_end);
			break;
		default:
			p = back_digits(m, letter, p);
		}
	}
	return p;
}

const char *mk_fit_back(struct mk_matcher *m, const char *pattern, const char *p)
{
	return back(m, pattern, strlen(pattern), p);
}
