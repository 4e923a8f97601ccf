/* What patterns take and keep: see pattern_parts.h. */
#include "libmarkup/input/pattern_parts.h"

static const char values[] = "NAHOB", also[][3] = { "LA", "UA", "TH", "DO" };

/* Takes from the budget. */
bool mk_spend(struct mk_matcher *m, size_t steps)
{
	if (m->budget < steps) {
		m->budget = 0;
		return false;
	}
	m->budget -= steps;
	return true;
}

static bool is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

/* Which value a letter means; MK_VALUES: none that is kept. */
static enum mk_value value_of(char letter)
{
	const char *at;

	for (size_t i = 0; i < sizeof(also) / sizeof(*also); i++)
		if (also[i][0] == letter)
			letter = also[i][1];
	at = strchr(values, letter);
	return at ? (enum mk_value)(at - values) : MK_VALUES;
}

/* Keeps a number, the digits [p, end), if there are as many as the letter wants. */
bool mk_keep_number(struct mk_matcher *m, char letter, const char *p, const char *end)
{
	const bool decimal = strchr("NTDd", letter);
	const enum mk_value which = value_of(letter);
	const ptrdiff_t len = end - p;
	uint64_t v = 0;

	if (!len || len > (decimal ? 18 : 16) || (letter == 'L' && len != 8 && len != 16) ||
	    (letter == 'U' && len != 12))
		return false;
	for (; p < end; p++)
		v = v * (decimal ? 10 : 16) + mk_digit(*p);
	if (which < MK_VALUES) {
		m->parts.values[which] = v;
		m->parts.has |= 1u << which;
	}
	return true;
}

bool mk_is_digit_of(char letter, char c)
{
	return strchr("NTDd", letter) ? is_decimal(c) : mk_digit(c) < 16;
}

/* Behind the colours at p. */
const char *mk_skip_colours(const char *p, const char *end)
{
	while (end - p > 2 && p[0] == '\033' && p[1] == '[') {
		const char *at = p + 2;

		while (at < end && (is_decimal(*at) || *at == ';'))
			at++;
		if (at == end || (*at != 'm' && *at != 'K'))
			return p;
		p = at + 1;
	}
	return p;
}

/* Where the colours begin that end at p. */
const char *mk_skip_colours_back(const char *begin, const char *p)
{
	while (p > begin && (p[-1] == 'm' || p[-1] == 'K')) {
		const char *at = p - 1;

		while (at > begin && (is_decimal(at[-1]) || at[-1] == ';'))
			at--;
		if (at - begin < 2 || at[-1] != '[' || at[-2] != '\033')
			return p;
		p = at - 2;
	}
	return p;
}

/* Blanks and colours. */
const char *mk_skip_blanks(const char *p, const char *end)
{
	while ((p = mk_skip_colours(p, end)) < end && mk_is_blank(*p))
		p++;
	return p;
}

bool mk_keep_module(struct mk_matcher *m, const char *p, const char *end)
{
	static const char deleted[] = " (deleted)";

	p = mk_skip_colours(p, end);
	end = mk_skip_colours_back(p, end);
	end -= end > p && end[-1] == '\\'; /* of an escaped quote */
	if (mk_ends_with(p, end, deleted))
		end -= strlen(deleted);
	m->parts.module = sc_span(p, end);
	return end > p && end - p <= MK_MODULE_MAX && *p != '?' && *p != '<' && end[-1] != ')' &&
	       !memchr(p, ']', (size_t)(end - p)) && /* [vdso] */
	       !memchr(p, ':', (size_t)(end - p));
}
