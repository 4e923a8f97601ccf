/* Names of functions in parts: see name.h. */
#include "libmarkup/bytes/name.h"

#define NESTED_MAX 256u

struct splitter {
	const char *p, *end;
	struct mk_name_part *parts;
	size_t n;
	const char *kept; /* where the part that is not added yet begins */
};

static bool begins(const char *p, const char *end, const char *text)
{
	const size_t n = strlen(text);

	return (size_t)(end - p) >= n && !memcmp(p, text, n);
}

static bool in_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Behind the "operator" that p points to, and what it is called; p: it is none. */
static const char *skip_operator(const char *begin, const char *p, const char *end)
{
	static const char *const symbols[] = {
		"()", "[]", "<=>", "<<=", ">>=", "->*", "->", "<<", ">>", "<=", ">=", "==", "!=",
		"&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<", ">",
		"\"\"", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=", ",",
		" new[]", " delete[]", " new", " delete", " co_await",
	};
	const char *behind = p + strlen("operator");

	if (!begins(p, end, "operator") || (p > begin && in_word(p[-1])) ||
	    (behind < end && in_word(*behind)))
		return p;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		if (!begins(behind, end, symbols[i]) ||
		    (symbols[i][1] == '<' && end - behind > 2 && in_word(behind[2])))
			continue; /* operator<<char> is operator< of char */
		behind += strlen(symbols[i]);
		/* operator<< <char>; operator"" _km */
		return behind + (begins(behind, end, " <") || begins(behind, end, " _"));
	}
	return behind < end && *behind == ' ' ? behind + 1 : behind; /* to a type */
}

/* Behind the bracket that closes the one at p; NULL: there is none. */
static const char *skip_brackets(const char *begin, const char *p, const char *end)
{
	static const char open[] = "<([{", close[] = ">)]}";
	char wanted[NESTED_MAX];
	size_t depth = 0;

	for (; p < end; p++) {
		const char *name = skip_operator(begin, p, end);
		const char *at;

		if (name > p) {
			p = name - 1;
		} else if (*p == '-' && p + 1 < end && p[1] == '>') {
			p++; /* of a function's type in Rust, or a member */
		} else if ((at = memchr(open, *p, 4))) {
			if (depth == NESTED_MAX)
				return NULL;
			wanted[depth++] = close[at - open];
		} else if (depth && *p == wanted[depth - 1]) {
			if (!--depth)
				return p + 1;
		} else if (memchr(close, *p, 4) && *p != '>') {
			return NULL;
		}
	}
	return NULL;
}

static void add(struct splitter *s, enum mk_name_kind kind, const char *from, const char *to)
{
	if (from < to)
		s->parts[s->n++] = (struct mk_name_part){ kind, from, (size_t)(to - from) };
}

/* A part of another kind than KEPT, which goes to `to`; behind it there is room for the rest. */
static void cut(struct splitter *s, enum mk_name_kind kind, const char *to)
{
	if (s->n + 4 < MK_NAME_PARTS) {
		add(s, MK_NAME_KEPT, s->kept, s->p);
		add(s, kind, s->p, to);
		s->kept = to;
	}
	s->p = to;
}

/* Behind what belongs to parameters. */
static const char *skip_qualifiers(const char *p, const char *end)
{
	static const char *const words[] = { " const", " volatile", " restrict", " &&", " &",
					     " noexcept", " inout", " shared", " immutable" };
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !more; i++) {
			const char *behind = p + strlen(words[i]);

			if (!begins(p, end, words[i]) || (behind < end && in_word(*behind)))
				continue;
			p = behind;
			more = true;
		}
	}
	return p;
}

/* Are these brackets part of the name? "(anonymous namespace)"; Go's "main.(*T).f" */
static bool is_named(const struct splitter *s, const char *begin)
{
	return begins(s->p, s->end, "(anonymous ") || (s->p > begin && s->p[-1] == '.') ||
	       begins(s->p, s->end, "(.");
}

/*
 * The last blank outside of brackets before the parameters that the name ends with, behind
 * which the name begins; NULL: there is no return type. It is sought in one pass.
 */
static const char *find_name(const char *begin, const char *end)
{
	const char *blank = NULL, *found = NULL, *p = begin;

	while (p < end) {
		const char *behind = skip_operator(begin, p, end);

		if (behind > p) {
			/* What an operator converts to has blanks, and belongs to its name. */
			if (behind[-1] == ' ' && behind[-2] == 'r')
				return skip_brackets(begin, p, end) ? blank : found;
			p = behind;
		} else if (*p == '(' && (begins(p, end, "(anonymous ") ||
					 (p > begin && p[-1] == ' '))) {
			p = skip_brackets(begin, p, end); /* decltype (…), or (.cold) */
		} else if (*p == '(' || *p == '<' || *p == '{' || *p == '[') {
			const bool parameters = *p == '(';

			p = skip_brackets(begin, p, end);
			if (p && parameters) {
				found = blank;
				p = skip_qualifiers(p, end);
			}
		} else {
			blank = *p == ' ' ? p : blank;
			p++;
		}
		if (!p)
			return NULL;
	}
	return found;
}

/* "thunk to f()", "guard variable for x": no type. */
static bool is_phrase(const char *begin, const char *blank)
{
	const size_t len = (size_t)(blank - begin);

	return (len >= 3 && !memcmp(blank - 3, " to", 3)) ||
	       (len >= 4 && !memcmp(blank - 4, " for", 4));
}

static void split_brackets(struct splitter *s, const char *begin)
{
	const char open = *s->p, *to = skip_brackets(begin, s->p, s->end);

	if (!to) {
		s->p = s->end;
	} else if (open == '(' && is_named(s, begin)) {
		s->p = to;
	} else if (open == '(' && s->p > begin && s->p[-1] == '!' &&
		   (s->p - begin < 9 || memcmp(s->p - 9, "operator!", 9))) {
		s->p--;
		cut(s, MK_NAME_ARGUMENTS, to);
	} else if (open == '(') {
		cut(s, MK_NAME_PARAMETERS, skip_qualifiers(to, s->end));
	} else if (open == '<' && (s->p == begin || begins(s->p + 1, s->end, "impl "))) {
		s->p++; /* Rust's <T as Trait>: the name of a type */
	} else {
		cut(s, MK_NAME_ARGUMENTS, to);
	}
}

size_t mk_name_parts(const char *p, size_t len, struct mk_name_part parts[MK_NAME_PARTS])
{
	struct splitter s = { .p = p, .end = p + len, .parts = parts, .kept = p };
	const char *blank = find_name(p, s.end);

	if (blank && !is_phrase(p, blank)) {
		add(&s, MK_NAME_RETURNS, p, blank + 1);
		s.p = s.kept = blank + 1;
	}
	for (const char *begin = s.p; s.p < s.end;) {
		const char *name = skip_operator(begin, s.p, s.end);

		if (name > s.p)
			s.p = name;
		else if (*s.p == '(' || *s.p == '<')
			split_brackets(&s, begin);
		else
			s.p++;
	}
	add(&s, MK_NAME_KEPT, s.kept, s.end);
	for (size_t i = 0; i < s.n; i++)
		if (parts[i].kind == MK_NAME_KEPT)
			return s.n;
	*parts = (struct mk_name_part){ MK_NAME_KEPT, p, len };
	return 1;
}

void mk_name_short(struct mk_out *o, const char *p, size_t len)
{
	struct mk_name_part parts[MK_NAME_PARTS];
	const size_t n = mk_name_parts(p, len, parts);

	for (size_t i = 0; i < n; i++) {
		if (parts[i].kind == MK_NAME_KEPT)
			mk_out_put(o, parts[i].ptr, parts[i].len);
		else if (parts[i].kind == MK_NAME_ARGUMENTS)
			mk_put(o, *parts[i].ptr == '!' ? "!(…)" : "<…>");
	}
}
