/*
 * Patterns against texts, forward and backward: all that each finds, against what is known to be
 * right, testdata/markup/patterns.txt; and how long numbers, names and symbols may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"
#include "libmarkup/input/pattern.h"
#include "libmarkup/input/pattern_parts.h"

/* A pattern, and texts. */
static const char *const forward[][16] = {
	{ "a b", "a b", "a \t b", "ab", "a", "a ", "", "a\033[1m b", "a \033[0;31m\033[K b", "a \033[0;3xb", "a \033" },
	{ "x\"y", "x\"y", "x\\\"y", "x\\y", "x\\\\\"y", "x\\" },
	{ "mK %N", "mK 1", "m\033[mK 1", "\033[1mmK\033[m \033[1m1", "mm 1" },
	{ "%N;", "0;", "12;", "12x;", ";", "x;", "\033[1m7;" },
	{ "%N0x%A", "10x2f", "00x2f", "100x2f", "0x2f", "120x", "1x2f" },
	{ "%d %T %D %x|", "1 2 3 f|", "1 2 3 g|", "1 a 3 f|", "  1 2 3 f|" },
	{ "%H %O %B|", "1f 2F aB|", "1f 2F |", "g 1 1|" },
	{ "%A%$", "12ab", "12ab ", "12ab\"", "12ab'", "12ab\\n", "12ab\r", "12ab\n", "12abx", "12ab \033[0m", "12ab\t" },
	{ "%S+0x%O", "f+0x1", "f(int)+0x12 x", "a+0x1 b+0x2", "+0x1", "f + 0x1", "a+0xg+0x2", "a+0x2+0xg" },
	{ "%F+0x%O", "f+0x1", "a+0x1 b+0x2", "+0x1", "a+0xg+0x2", "a+b+0x3" },
	{ "%S%$", "f(int)", "f(int) \"x", "  f", "f\033[0m", "", "\"", "f \t\"" },
	{ "%P+0x%H", "a.so+0x1", "/a b/c.so+0x1", "/a (deleted)+0x1", "/a(b)+0x1", "/a)b+0x1", "/a(b+0x1", "?+0x1",
	  "<a>+0x1", "a:b+0x1", "a]+0x1", "/a+b+0x1", "/a)+0x1", "\033[1m/a\033[0m+0x1", "+0x1" },
	{ "%P+0x%H", "/a\\+0x1", "/\033[1ma+0x1", "/a)+0x1+0x2", "/a:+0x1+0x2", " (deleted)+0x1", "/a(b)c+0x1", "/a)(+0x1" },
	{ "[%P]", "[a]", "[vdso]", "[a]b]", "[]", "[a b]", "[a:b]", "[a" },
	{ "%P%$", "/a/b", "/a/b \"", "/a\033[0m ", "/a (deleted)", "", "/a:b" },
	{ "in %W%(, %w%|%)%$", "in a", "in a b", "in a(b", "in \"a\"", "in a, b", "in ", "in a,", "in \033[1ma\033[0m" },
	{ "%w %w|", "a b|", "ab |", "(a) \"b\" |", "a \"b\"|", "a\tb |", "a\033[1m b |" },
	{ "%I;", "0123456789abcdef;", "0123456789abcde;", "0123456789abcdef0;", "0123456789ABCDEF01;", "01;", ";" },
	{ "%J;", "01;", "0;", "012;", "0123456789ABCDEF01;", ";" },
	{ "%G|", "0123456789ABCDEF0123456789ABCDEF0|", "0123456789ABCDEF0123456789ABCDEF|", "0123456789ABCDEF0123456789ABCDEF1aF|" },
	{ "a%.b%$", "ab", "axxb", "axb b", "a", "abx", "axbxb", "ab\"b" },
	{ "%.%$", "", "x y", "x\"y" },
	{ "%{%S%} in", "f in", "f(a in b) in", " in", "\033[1mf\033[0m in" },
	{ "%{??%} x%{%w%}", "?? xy", "?? x", "? xy" },
	{ "%(a%|bc%|%)d", "ad", "bcd", "d", "abcd", "bd", "c" },
	{ "%(%N%|%(x%|y%)z%) %A", "1 2", "xz 2", "yz 2", "z 2", "xy 2" },
	{ "%(x%(a%|b%)c%|d%)e", "xace", "xbce", "de", "xde", "xae", "xe" },
	{ "%(%S at %A%|%P%)!", "f at 12!", "f at x!", "/a!", "f at 12" },
	{ "%(%P)%$%|%P)%)x", "/a)", "/a)x", "/a (b)x", "/a" },
	{ "a%_b", "ab", "a  b", "a\t\033[1m b", "a.b" },
	{ "a%1%P|", "a b|", "a  b|", "ab|", "a\tb|" },
	{ "\033x", "\033x" },
};
static const char *const backward[][16] = {
	{ "a b", "a b", "xa b", "a  \t b", "ab", "b", "a\033[1m b\033[0m", " b", "a \033[1;2mb" },
	{ "x\"y", "x\"y", "x\\\"y", "\\\"y", "\"y", "y" },
	{ "am bK", "am bK", "am bK\033[K", "am\033[1m bK", "a\033[1m bK" },
	{ "#%N", "#12", "#", "12", "#1a", "##1", "#123\033[0m" },
	{ "%N:%_", "1:", "1:  ", " 12: \t", ":", "1:x" },
	{ "%A %x %d ", "1f 2f 3 ", "1f 2f x ", "1f  2f 3", "f f 3\t" },
	{ "%H %O %D %T", "a b 1 2", "a b c 2", "g b 1 2" },
	{ "%P(%S", "/a/b(f(int)", "/a b(f", "/a(b(f(int) const", "(f", "/a(", "/a/b(f)g)", "x /a/b(void (*)(int)", "a(" },
	{ "%P (%S", "/a (f", "/a (f(int)", "/a b (f", "(f" },
	{ "(%S", "(f", "((f)", "(", "f", "(a)b", "(a(b)c", "(f\033[0m", "(\033[1mf" },
	{ "%N# %S in %w ", "1# f in g ", "1# f in in g ", "1# a b in c ", "x# f in g ", "1# in g ", "# f in g " },
	{ "#%N: %{%S%}[%P", "#1: f[/a", "#1: f(int)[/a b", "#12: [/a", "#1: f[g[/a" },
	{ "%{%w%} %w%_", "a b", "a b  ", "x a b", "b", "\ta\tb" },
	{ "%{n/a%} (%P", "n/a (/a", "n/a (a", "n/a /a", "n/a (", "\033[1mn/a\033[0m (/a" },
	{ "x %{%S%} (%P", "x f (/a", "x f(int) (/a", "x  (/a", "x \033[1mf\033[0m (/a" },
	{ "x %S (%P", "x f\033[0m (/a", "x \033[1mf\033[0m (/a" },
	{ "%P", "/a/b", "x /a/b", "a=/b", "(/b", "[/b", "{/b", ",/b", ":/b", "a:/b", "\"/b c", "it's/b", "\\t/b", "<a>/b" },
	{ "%P", "a b", "a|b", "a;b", "((a", "a(b", "/a (deleted)", "x\\ty", "a\\", "?a", "a)", "`a", "a\tb", "\033[1m/a\033[0m", "" },
	{ "\"%P", "\"/a b", "\"a=b", "\"a", "/a", "\"\"", "x\"y\"z" },
	{ "[%P", "[a", "[a b", "[/a[b", "a", "[" },
	{ "|%P||", "|a||", "1|/a b||", "||", "|a|" },
	{ "%Q", "a", "x a", "a b:c", "\"a", "'a", ">a", "\033[1ma", "a\033[1mb", "\033[1;31m", "a\n", "" },
	{ "%Q(%S", "nginx:(f", "a b(f", "(f" },
	{ "[%I]@0x%B", "[0123456789abcdef]@0x12", "[01]@0x12", "[0123456789abcdef0]@0x12", "[0123456789abcdef]@0x" },
	{ "%I", "0123456789abcdef", "x0123456789abcdef01", "0123456789abcde", "0123456789abcdef01234567" },
	{ "a%1", "a ", "a  ", "a", "a\t" },
	{ "%w ", "a ", "a b ", " ", "a" },
	{ "%P %L %{%w%} ", "/a 01234567 ?? ", "/a 0123456 ?? ", "a 0123456789abcdef x ", "/a 012345678 ?? " },
};

static void put(struct fake_text *t, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char text[8];

		fake_append(t, text, (size_t)sprintf(text, (unsigned char)p[i] < ' ' ? "\\%o" : "%c",
						     (unsigned char)p[i]));
	}
}

static void put_part(struct fake_text *t, const char *name, struct sc_str s)
{
	if (!s.ptr)
		return;
	fake_append(t, name, strlen(name));
	put(t, s.ptr, s.len);
	fake_append(t, ">", 1);
}

static struct mk_matcher matcher_of(const char *text, size_t len)
{
	return (struct mk_matcher){ .begin = text, .end = text + len, .anchor = STR("anchor"),
				    .budget = 1 << 20 };
}

/* What fits, and all that was found in it. */
static void put_match(struct fake_text *t, const char *pattern, const char *text, size_t len, bool back)
{
	static const char *const names[] = { "number", "address", "offset", "from symbol", "base" };
	struct mk_matcher m = matcher_of(text, len);
	const char *at = back ? mk_fit_back(&m, pattern, text + len) : mk_fit(&m, pattern, text);
	char line[100];

	fake_append(t, "  '", 3);
	put(t, text, len);
	fake_append(t, "'", 1);
	if (!at) {
		fake_append(t, " no\n", 4);
		return;
	}
	fake_append(t, line, (size_t)sprintf(line, " %td", at - text));
	put_part(t, " module <", m.parts.module);
	put_part(t, " symbol <", m.parts.symbol);
	put_part(t, " build ID <", m.parts.build_id);
	put_part(t, " hole <", m.parts.hole);
	for (unsigned i = 0; i < MK_VALUES; i++)
		if (mk_has(&m.parts, i))
			fake_append(t, line, (size_t)sprintf(line, " %s %llx", names[i],
							     (unsigned long long)m.parts.values[i]));
	fake_append(t, "\n", 1);
}

/* What is around the text makes no difference. */
static void put_surrounded(struct fake_text *t, const char *pattern, const char *text, bool back)
{
	static const char *const around[] = { "", "(", ")", "1", "a", "\"", " ", "\033[1m", "/", "[x", "+0x1", "\\t", "0f " };
	const size_t len = strlen(text), before = t->len;
	struct fake_text same = { 0 };

	put_match(t, pattern, text, len, back);
	for (size_t i = 0; i < sizeof(around) / sizeof(*around); i++) {
		char whole[300];

		sprintf(whole, "%s%s%s", around[i], text, around[i]);
		same.len = 0;
		put_match(&same, pattern, whole + strlen(around[i]), len, back);
		if (strcmp(same.buf, t->buf + before))
			fail_msg("%s with %s around it:\n%s%s", pattern, around[i], same.buf, t->buf + before);
	}
	free(same.buf);
}

#define PUT_ALL(t, cases, back) put_all(t, cases, sizeof(cases) / sizeof(*(cases)), back)

static void put_all(struct fake_text *t, const char *const cases[][16], size_t n, bool back)
{
	for (size_t i = 0; i < n; i++) {
		fake_append(t, back ? "back " : "", back ? 5 : 0);
		put(t, cases[i][0], strlen(cases[i][0]));
		fake_append(t, "\n", 1);
		for (size_t k = 1; k < 16 && cases[i][k]; k++)
			put_surrounded(t, cases[i][0], cases[i][k], back);
	}
}

/* Of which lengths a text fits that is `filler` again and again, with `begin` and `end` around it: a
 * few, and those up to `most`. */
static void put_lengths(struct fake_text *t, const char *pattern, const char *begin, const char *filler,
			const char *end, size_t most, bool back)
{
	char *text = malloc(most * strlen(filler) + 100), line[100];
	bool fitted = false;

	fake_append(t, back ? "back " : "", back ? 5 : 0);
	fake_append(t, pattern, strlen(pattern));
	fake_append(t, " of", 3);
	for (size_t n = 0; n <= most; n = n == 8 && most > 300 ? most - 200 : n + 1) {
		char *p = stpcpy(text, begin);
		struct mk_matcher m;
		bool fits;

		for (size_t i = 0; i < n; i++)
			p = stpcpy(p, filler);
		p = stpcpy(p, end);
		m = matcher_of(text, (size_t)(p - text));
		fits = n < most && (back ? mk_fit_back(&m, pattern, p) : mk_fit(&m, pattern, text));
		if (fits != fitted)
			fake_append(t, line, (size_t)sprintf(line, fits ? " %zu" : " to %zu", fits ? n : n - 1));
		fitted = fits;
	}
	fake_append(t, " times ", 7);
	fake_append(t, filler, strlen(filler));
	fake_append(t, "\n", 1);
	free(text);
}

static void test_patterns(void **state)
{
	static const char letters[] = "NdTDAHOBxLUXMIJG";
	struct fake_text got = { 0 };

	(void)state;
	PUT_ALL(&got, forward, false);
	PUT_ALL(&got, backward, true);
	for (const char *letter = letters; *letter; letter++) {
		char pattern[] = "%_;", back[] = "(%_";

		pattern[1] = back[2] = *letter;
		put_lengths(&got, pattern, "", strchr("IJ", *letter) ? "1f" : "1", ";", 150, false);
		if (!strchr("JG", *letter))
			put_lengths(&got, back, "(", *letter == 'I' ? "1f" : "1", "", 150, true);
	}
	put_lengths(&got, "%P|", "", "a", "|", 1100, false);
	put_lengths(&got, "%P%$", "", "a", "", 1100, false);
	put_lengths(&got, "%W ", "", "a", " ", 1100, false);
	put_lengths(&got, "%S|", "", "a", "|", 4200, false);
	put_lengths(&got, "%F|", "", "a", "|", 4200, false);
	put_lengths(&got, "%S%$", "", "a", "", 4200, false);
	put_lengths(&got, "%.|", "", "a", "|", 4200, false);
	put_lengths(&got, "%w ", "", "a", " ", 4200, false);
	put_lengths(&got, " %P", " ", "a", "", 1100, true);
	put_lengths(&got, "%P", "", "a", "", 1100, true);
	put_lengths(&got, " %Q", " ", "a", "", 1100, true);
	put_lengths(&got, "%Q", "", "a", "", 1100, true);
	put_lengths(&got, "%N", "", "1", "", 50, true);
	put_lengths(&got, "%I", "", "1f", "", 150, true);
	put_lengths(&got, "(%S", "(", "a", "", 4200, true);
	put_lengths(&got, "x(%S", "x(", "(a)", "", 1400, true);
	put_lengths(&got, "x %S", "x ", "a", "", 4200, true);
	/* Places where a text may end, all but the last one in vain. */
	put_lengths(&got, "%S+0x%O", "a+0x1", "+0x", "", 100, false);
	put_lengths(&got, "%F+0x%O", "a", "+0x", "+0x1", 100, false);
	put_lengths(&got, "%P+0x%H", "a", "+0x", "+0x1", 100, false);
	put_lengths(&got, "# %S", "# ", " a", "", 100, true);
	record("patterns.txt", &got);
	expect_recorded("patterns.txt", &got, "as they are");
	free(got.buf);
}

/* A symbol does not go on behind the next anchor of its row. */
static void test_anchor(void **state)
{
	static const char text[] = "f+0x1 anchor g+0x2";
	struct mk_matcher m = matcher_of(text, strlen(text));

	(void)state;
	assert_ptr_equal(mk_fit(&m, "%S+0x%O", text), text + 5);
	assert_int_equal(m.parts.values[MK_SYMBOL_OFFSET], 1);
	m = matcher_of(text, strlen(text));
	m.anchor = (struct sc_str)STR("other");
	assert_ptr_equal(mk_fit(&m, "%S+0x%O", text), text + strlen(text));
}

/* When the budget is used up, nothing fits; with one step more it does. */
static void test_budget(void **state)
{
	static const struct { const char *pattern, *text; bool back; } cases[] = {
		{ "%S+0x%O (%P)", "f(int)+0x12 (/opt/a b)", false }, { "%N# %S in %w ", "1# f in g in h ", true },
		{ "%P(%S", "/opt/a b(f(int (*)())", true }, { "%w %W%$", "abcdefgh /opt/a", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *text = cases[i].text, *end = text + strlen(text);
		bool fits = false;
		size_t budget = 0;

		for (; budget < 1000 && !fits; budget++) {
			struct mk_matcher m = matcher_of(text, strlen(text));

			m.budget = budget;
			fits = cases[i].back ? mk_fit_back(&m, cases[i].pattern, end)
					     : mk_fit(&m, cases[i].pattern, text);
		}
		assert_true(fits);
		assert_in_range(budget, 10, 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns), cmocka_unit_test(test_anchor), cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests_name("patterns", tests, NULL, NULL);
}
