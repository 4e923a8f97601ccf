/* The time at the beginning of a line: see when.h. */
#include "libmarkup/output/when.h"

/* '0': a digit; 'A', 'a': a letter; '_': a digit or a blank; 'T': that or a blank; '-': that or '/'. */
static const char *const forms[] = {
	"0000-00-00T00:00:00", "Aaa _0 00:00:00", "A0000 00:00:00.",
};

static bool fits(char form, char c)
{
	const bool digit = c >= '0' && c <= '9';

	switch (form) {
	case '0':
		return digit;
	case '_':
		return digit || c == ' ';
	case 'A':
		return c >= 'A' && c <= 'Z';
	case 'a':
		return c >= 'a' && c <= 'z';
	case 'T':
		return c == 'T' || c == ' ';
	case '-':
		return c == '-' || c == '/';
	default:
		return c == form;
	}
}

/* "[   12.345678]": the seconds. */
static struct sc_str seconds(struct sc_str s)
{
	size_t at = 1, begin, point;

	while (at < s.len && s.ptr[at] == ' ')
		at++;
	begin = at;
	while (at < s.len && fits('0', s.ptr[at]))
		at++;
	point = at;
	if (at == begin || at - begin > 9 || at == s.len || s.ptr[at++] != '.')
		return (struct sc_str){ NULL, 0 };
	while (at < s.len && fits('0', s.ptr[at]))
		at++;
	if (at - point != 7 || at == s.len || s.ptr[at] != ']')
		return (struct sc_str){ NULL, 0 };
	return sc_span(s.ptr + begin, s.ptr + at);
}

struct sc_str mk_when(struct sc_str line)
{
	for (size_t at = 0; at < line.len && at <= MK_WHEN_REACH; at++) {
		const struct sc_str s = { line.ptr + at, line.len - at };

		for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
			size_t n = 0;

			while (forms[i][n] && n < s.len && fits(forms[i][n], s.ptr[n]))
				n++;
			if (!forms[i][n])
				return (struct sc_str){ s.ptr, n - (forms[i][n - 1] == '.') };
		}
		if (*s.ptr == '[' && seconds(s).len)
			return seconds(s);
		if (fits('a', *s.ptr) || fits('A', *s.ptr))
			break;
	}
	return (struct sc_str){ NULL, 0 };
}
