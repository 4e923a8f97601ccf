/* Text against patterns: see pattern.h. Backward: pattern_back.c. */
#include "libmarkup/input/pattern_parts.h"

static bool keep_text(struct mk_matcher *m, char letter, const char *p, const char *end)
{
	if (letter == 'P' || letter == 'W')
		return mk_keep_module(m, p, end);
	if (letter == 'S' || letter == 'F')
		m->parts.symbol = sc_span(p, end);
	return letter == '.' || end > p;
}

/* Is the text over at p, but for blanks? Also where its string ends, or its colour. */
static bool is_end(const char *p, const char *end)
{
	p = mk_skip_blanks(p, end);
	return p >= end || strchr("\"'\\\r\n", *p);
}

/* Behind the group that p is in. */
static const char *behind_group(const char *p)
{
	for (unsigned depth = 1; *p && depth; p++) {
		if (*p != '%')
			continue;
		p++;
		depth += *p == '(';
		depth -= *p == ')';
	}
	return p;
}

/* The next alternative of the group that p is in, or NULL. */
static const char *next_alternative(const char *p)
{
	for (unsigned depth = 1; *p && depth; p++) {
		if (*p != '%')
			continue;
		p++;
		if (*p == '|' && depth == 1)
			return p + 1;
		depth += *p == '(';
		depth -= *p == ')';
	}
	return NULL;
}

/* The part that is fitted next, behind markers and ends of groups. */
static const char *what_follows(const char *p)
{
	while (p[0] == '%' && strchr("})|", p[1]))
		p = p[1] == '|' ? behind_group(p + 2) : p + 2;
	return p;
}

static const char *fit_group(struct mk_matcher *m, const char *pattern, const char *p)
{
	const struct mk_parts before = m->parts;
	const char *end = NULL;

	for (; pattern && !end; pattern = next_alternative(pattern)) {
		m->parts = before;
		end = mk_fit(m, pattern, p);
	}
	return end;
}

/* A symbol does not reach into the next frame of the row. */
static const char *symbol_limit(struct mk_matcher *m, const char *p)
{
	const size_t left = (size_t)(m->end - p);

	if (!m->limit)
		m->limit = memmem(p, left < MK_SYMBOL_MAX ? left : MK_SYMBOL_MAX, m->anchor.ptr,
				  m->anchor.len);
	m->limit = m->limit ? m->limit : m->end;
	return m->limit > p ? m->limit : m->end;
}

/* Behind the first byte in [p, end) that no name of a module has, or `end`. */
static const char *end_of_names(struct mk_matcher *m, const char *p, const char *end)
{
	const char *at = p;

	while (at < end && *at != ']' && *at != ':')
		at++;
	return mk_spend(m, (size_t)(at - p) / 4) ? at + (at < end) : p;
}

/* A text that ends where the rest of the pattern fits: %S at the last such place, others at the
 * first. */
static const char *fit_text(struct mk_matcher *m, char letter, const char *rest, const char *p)
{
	const struct mk_parts before = m->parts;
	const char *limit = letter == 'S' ? symbol_limit(m, p) : m->end;
	const size_t most = letter == 'P' ? MK_MODULE_MAX : MK_SYMBOL_MAX, left = (size_t)(limit - p);
	const char *end = left < most ? limit : p + most, *at = letter == 'S' ? end : p, *behind;
	const char *next = what_follows(rest);

	if (next[0] == '%' && next[1] == '$') {
		if (!mk_spend(m, (size_t)(end - p) / 64))
			return NULL;
		at = memchr(p, '"', (size_t)(end - p));
		at = mk_trimmed(p, mk_skip_colours_back(p, mk_trimmed(p, at ? at : m->end)));
		return at <= end && keep_text(m, letter, p, at) ? mk_fit(m, rest, at) : NULL;
	}
	for (unsigned i = 0; i < (letter == 'P' ? MK_TRIES_MAX / 4 : MK_TRIES_MAX); i++) {
		const char *from = at;

		at = letter == 'S' ? memrchr(p, *next, (size_t)(at - p))
				   : memchr(at, *next, (size_t)(end - at));
		if (!at || !mk_spend(m, 8 + (size_t)(at > from ? at - from : from - at) / 16))
			break;
		m->parts = before;
		if (keep_text(m, letter, p, at) && (behind = mk_fit(m, rest, at)))
			return behind;
		if (letter == 'P' && !i)
			end = end_of_names(m, p, end);
		if (letter != 'S' && ++at > end)
			break;
	}
	return NULL;
}

/* Takes digits. The 0 of "0x" is no digit of a number in front of it. */
static const char *fit_number(struct mk_matcher *m, char letter, const char *p)
{
	const char *end = p;

	while (end < m->end && end - p < 20 && mk_is_digit_of(letter, *end))
		end++;
	if (letter == 'N' && end - p > 1 && end < m->end && *end == 'x' && end[-1] == '0')
		end--;
	return mk_keep_number(m, letter, p, end) ? end : NULL;
}

static const char *fit_word(struct mk_matcher *m, char letter, const char *p)
{
	const char *end = p;

	while (end < m->end && !strchr(letter == 'w' ? " \t\033" : " \t\"(),\033", *end))
		end++;
	return mk_spend(m, (size_t)(end - p)) && keep_text(m, letter, p, end) ? end : NULL;
}

static const char *fit_id(struct mk_matcher *m, char letter, const char *p)
{
	const ptrdiff_t guid = 32, least = letter == 'J' ? 2 : 16;
	const char *end = p;

	while (end < m->end && end - p <= 128 && mk_digit(*end) < 16)
		end++;
	m->parts.build_id = sc_span(p, letter == 'G' && end - p > guid ? p + guid : end);
	if (letter == 'G')
		return end - p > guid && end - p <= 128 ? end : NULL;
	return end - p >= least && end - p <= 128 && (end - p) % 2 == 0 ? end : NULL;
}

/* A token that leaves no choice, with this letter. */
static const char *fit_token(struct mk_matcher *m, char letter, const char *p)
{
	switch (letter) {
	case '_':
		return mk_skip_blanks(p, m->end);
	case '$':
		return is_end(p, m->end) ? p : NULL;
	case '{':
		m->parts.hole = sc_span(p, p);
		return p;
	case '}':
		m->parts.hole.len = (size_t)(p - m->parts.hole.ptr);
		return p;
	case '1':
		return p < m->end && *p == ' ' ? p + 1 : NULL;
	case 'G':
	case 'I':
	case 'J':
		return fit_id(m, letter, p);
	case 'W':
	case 'w':
		return fit_word(m, letter, p);
	default:
		return fit_number(m, letter, p);
	}
}

static const char *fit_byte(const struct mk_matcher *m, char c, const char *p)
{
	const char *blanks;

	if (c == ' ') {
		blanks = mk_skip_blanks(p, m->end);
		return blanks > p ? blanks : NULL;
	}
	if (c == '"' && m->end - p > 1 && *p == '\\')
		p++;
	return p < m->end && *p == c ? p + 1 : NULL;
}

const char *mk_fit(struct mk_matcher *m, const char *pattern, const char *p)
{
	for (; *pattern && p; pattern++) {
		while (p < m->end && *p == *pattern && mk_is_plain(*pattern)) {
			p++;
			pattern++;
		}
		if (!*pattern)
			break;
		if (!mk_spend(m, 1))
			return NULL;
		if (p < m->end && *p == '\033' && !(*pattern == '%' && strchr("})|", pattern[1])))
			p = mk_skip_colours(p, m->end);
		if (*pattern != '%') {
			p = fit_byte(m, *pattern, p);
			continue;
		}
		switch (*++pattern) {
		case '(':
			return fit_group(m, pattern + 1, p);
		case '|':
			pattern = behind_group(pattern + 1) - 1;
			break;
		case ')':
			break;
		case 'S':
		case 'F':
		case 'P':
		case '.':
			return fit_text(m, *pattern, pattern + 1, p);
		default:
			p = fit_token(m, *pattern, p);
		}
	}
	return p;
}
