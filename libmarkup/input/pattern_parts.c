/* What patterns take and keep: see pattern_parts.h. */
#include "libmarkup/input/pattern_parts.h"

static bool is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

const struct mk_number mk_numbers[128] = {
	['N'] = { true, 0, 0, MK_NUMBER + 1 }, ['d'] = { true, 0, 0, 0 },
	['T'] = { true, 0, 0, MK_OFFSET + 1 }, ['D'] = { true, 0, 0, MK_SYMBOL_OFFSET + 1 },
	['A'] = { false, 0, 0, MK_ADDRESS + 1 }, ['L'] = { false, 16, 8, MK_ADDRESS + 1 },
	['U'] = { false, 12, 12, MK_ADDRESS + 1 }, ['X'] = { false, 14, 14, MK_ADDRESS + 1 },
	['M'] = { false, 16, 16, MK_ADDRESS + 1 }, ['H'] = { false, 0, 0, MK_OFFSET + 1 },
	['O'] = { false, 0, 0, MK_SYMBOL_OFFSET + 1 }, ['B'] = { false, 0, 0, MK_BASE + 1 },
};

bool mk_keep_number(struct mk_matcher *m, char letter, const char *p, const char *end)
{
	const struct mk_number n = mk_numbers[letter & 127];
	const ptrdiff_t len = end - p;
	uint64_t v = 0;

	if (!len || len > (n.decimal ? 18 : 16) || (n.len && len != n.len && len != n.or_len))
		return false;
	for (; p < end; p++)
		v = v * (n.decimal ? 10 : 16) + mk_digit(*p);
	if (n.value) {
		m->parts.values[n.value - 1] = v;
		m->parts.has |= 1u << (n.value - 1);
	}
	return true;
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

/* Is no parenthesis closed that was not opened? */
static bool is_balanced(const char *p, const char *end)
{
	int open = 0;

	if (!memchr(p, ')', (size_t)(end - p)))
		return true;
	for (; p < end && open >= 0; p++)
		open += (*p == '(') - (*p == ')');
	return open >= 0;
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
	return end > p && end - p <= MK_MODULE_MAX && mk_spend(m, (size_t)(end - p) / 16) &&
	       *p != '?' && *p != '<' && end[-1] != ')' && is_balanced(p, end) &&
	       !memchr(p, ']', (size_t)(end - p)) && /* [vdso] */
	       !memchr(p, ':', (size_t)(end - p));
}
