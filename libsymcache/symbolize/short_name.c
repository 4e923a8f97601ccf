/*
 * The bare name of a function, which is what debug information calls it, out of
 * its demangled name:
 *
 *   int const& std::max<int>(int const&, int const&)    max<int>
 *   (anonymous namespace)::f(int)::'lambda'()::operator()() const (.cold)
 *                                                       operator()
 *
 * First what stands behind the name is cut off from the end, then one walk
 * forward finds where the last part begins: behind the last "::" or blank that
 * is in no brackets. Operators are stepped over, as they may look like
 * brackets. What is unusual (functions that return function pointers) comes
 * out longer than it should.
 */
#include <ctype.h>
#include <string.h>

#include "libsymcache/symbolize/demangle.h"

static bool ends_with(struct sc_str s, const char *end)
{
	size_t len = strlen(end);

	return s.len > len && !memcmp(s.ptr + s.len - len, end, len);
}

/* Where the bracket that closes s begins, or s.len. */
static size_t open_of_last(struct sc_str s, char open, char close)
{
	size_t depth = 0;

	if (!s.len || s.ptr[s.len - 1] != close)
		return s.len;
	for (size_t i = s.len; i-- > 0;) {
		if (s.ptr[i] == close)
			depth++;
		else if (s.ptr[i] == open && --depth == 0)
			return i;
	}
	return s.len;
}

static struct sc_str strip_behind(struct sc_str s)
{
	static const char *const qualifiers[] = { " const", " volatile", " &", " &&", "&" };
	size_t open;
	bool again;

	/* The compiler's suffixes: " (.part.0)". */
	while ((open = open_of_last(s, '(', ')')) + 1 < s.len && open && s.ptr[open + 1] == '.' &&
	       s.ptr[open - 1] == ' ')
		s.len = open - 1;
	do {
		again = false;
		for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
			if (ends_with(s, qualifiers[i])) {
				s.len -= strlen(qualifiers[i]);
				again = true;
			}
		}
	} while (again);
	open = open_of_last(s, '(', ')');
	if (open)
		s.len = open;
	open = open_of_last(s, '[', ']');
	if (open + 4 < s.len && open && !memcmp(s.ptr + open, "[abi:", 5))
		s.len = open;
	return s;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Does "operator" stand at s[i]? Then how long is it with its sign? Else 0. */
static size_t operator_len(struct sc_str s, size_t i)
{
	static const char word[] = "operator";
	/* Longer ones first. "" is a conversion, or new or delete. */
	static const char *const signs[] = {
		"<=>", "->*", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=",
		"&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "\"\"",
		"<", ">", "=", "!", "+", "-", "*", "/", "%", "^", "&", "|", "~", ",", "",
	};
	size_t len = sizeof(word) - 1, end = i + len;

	if (s.len - i < len || memcmp(s.ptr + i, word, len) || (i && is_word(s.ptr[i - 1])) ||
	    (end < s.len && is_word(s.ptr[end])))
		return 0;
	for (const char *const *sign = signs;; sign++) {
		size_t sign_len = strlen(*sign);

		if (s.len - end >= sign_len && !memcmp(s.ptr + end, *sign, sign_len))
			return len + sign_len;
	}
}

static bool opens(char c)
{
	return c == '<' || c == '(' || c == '[' || c == '{';
}

static bool closes(char c)
{
	return c == '>' || c == ')' || c == ']' || c == '}';
}

/* What a name is divided by; 'o' may begin "operator". Most bytes of a name are none of these. */
static const bool divides[256] = {
	['o'] = true, [':'] = true, [' '] = true, ['<'] = true, ['('] = true, ['['] = true,
	['{'] = true, ['>'] = true, [')'] = true, [']'] = true, ['}'] = true,
};

struct sc_str symcache_short_name(struct sc_str text)
{
	struct sc_str s = strip_behind(text);
	size_t start = 0, depth = 0, skip;
	bool in_operator = false; /* as far as its arguments, everything belongs to it */

	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];

		if (!divides[(uint8_t)c])
			continue;
		if (c == 'o' && !depth && !in_operator && (skip = operator_len(s, i))) {
			start = i;
			i += skip - 1;
			in_operator = true;
		} else if (opens(c)) {
			if (c == '(' && !depth)
				in_operator = false;
			depth++;
		} else if (closes(c)) {
			if (c != '>' || !i || s.ptr[i - 1] != '-')
				depth -= depth > 0;
		} else if (depth || in_operator) {
			continue;
		} else if (c == ':' && i + 2 < s.len && s.ptr[i + 1] == ':' &&
			   s.ptr[i + 2] != '<') {
			start = i + 2;
			i++;
		} else if (c == ' ') {
			start = i + 1;
		}
	}
	return (struct sc_str){ s.ptr + start, s.len - start };
}

struct sc_str symcache_name_without_parameters(struct sc_str text)
{
	const struct sc_str last = symcache_short_name(text);
	const char *from = last.ptr;

	for (size_t depth = 0; from > text.ptr && (depth || from[-1] != ' '); from--) {
		if (closes(from[-1]))
			depth++;
		else if (opens(from[-1]))
			depth -= depth > 0;
	}
	return (struct sc_str){ from, (size_t)(last.ptr + last.len - from) };
}
