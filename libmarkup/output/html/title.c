/*
 * What a backtrace is called by the lines before it: the nearest one that says why it is there,
 * else the last one. Its word in red is the signal or the report.
 */
#include "libmarkup/output/html/title.h"

#include <ctype.h>
#include <string.h>

#define RECENT_MAX (16u << 10)
#define SHOWN_MAX  70u /* bytes of a line */

/* What such a line has, and how it becomes a title. */
struct cause {
	const char *text;
	const char *called;  /* NULL: as it stands there */
	int severity;
	unsigned reach;      /* so many lines before the first frame it may be */
	enum { REST, WORD, SKIPPED } red; /* the text, the word behind it, which is shown instead */
};

static const struct cause causes[] = {
	{ "previously allocated by", "allocated by", 1, 2, REST },
	{ "freed by", NULL, 1, 2, REST },
	{ "Direct leak", NULL, 2, 2, REST }, { "Indirect leak", NULL, 2, 2, REST },
	{ "Previous write", NULL, 1, 2, REST }, { "Previous read", NULL, 1, 2, REST },
	{ "Sanitizer: ", NULL, 2, 6, SKIPPED },
	{ "DEADLYSIGNAL", NULL, 2, 4, REST },
	{ "runtime error:", NULL, 2, 2, REST },
	{ "Caught signal", NULL, 2, 12, REST }, { "got signal", NULL, 2, 12, REST },
	{ "Received signal", NULL, 2, 12, REST }, { "Fatal signal", NULL, 2, 12, REST },
	{ "fatal signal", NULL, 2, 12, REST }, { "signal ", NULL, 2, 8, WORD },
	{ "terminate called", NULL, 2, 6, REST }, { "panicked at", NULL, 2, 4, REST },
	{ "panic: ", NULL, 2, 12, REST }, { "Check failed", NULL, 2, 6, REST },
	{ "Assertion", NULL, 2, 8, REST }, { "Segmentation fault", NULL, 2, 12, REST },
	{ "dumped core", "core dumped", 2, 4, REST },
	{ "stack smashing detected", NULL, 2, 4, REST }, { "double free", NULL, 2, 4, REST },
	{ "kernel BUG", NULL, 2, 40, REST }, { "BUG: ", NULL, 2, 40, SKIPPED },
	{ "Oops", NULL, 2, 40, REST }, { "general protection fault", NULL, 2, 40, REST },
	{ "Unable to handle kernel", NULL, 2, 40, REST }, { "Kernel panic", NULL, 2, 40, REST },
	{ "WARNING: CPU", NULL, 2, 40, REST },
	{ "Invalid read", NULL, 2, 2, REST }, { "Invalid write", NULL, 2, 2, REST },
	{ "Conditional jump", NULL, 2, 2, REST }, { "definitely lost", NULL, 2, 2, REST },
	{ "unhandled exception", NULL, 2, 4, REST }, { "fatal error", NULL, 2, 6, REST },
};

void mk_recent_add(struct mk_recent *r, const char *text, size_t len)
{
	struct mk_out *o = &r->text;
	const size_t room = 512 - (o->len - r->line);
	const bool ends = len && text[len - 1] == '\n';

	mk_out_put(o, text, len < room ? len : room - 1);
	if (ends && len >= room)
		mk_out_char(o, '\n');
	if (ends)
		r->line = o->len;
	if (ends && o->len > RECENT_MAX) {
		const size_t half = RECENT_MAX / 2;

		memmove(o->buf, o->buf + o->len - half, half);
		o->len = r->line = half;
	}
}

void mk_recent_clear(struct mk_recent *r)
{
	r->text.len = r->line = 0;
}

/* A line without its tags and its newline, cut to what is shown at the most. */
static size_t plain_line(const char *p, const char *end, char text[static 512])
{
	size_t n = 0;

	while (p < end && n < 511) {
		const char *close = *p == '<' ? memchr(p, '>', (size_t)(end - p)) : NULL;

		if (close)
			p = close;
		else if (*p != '\n')
			text[n++] = *p;
		p++;
	}
	text[n] = 0;
	return n;
}

/* Up to `len` bytes, but no part of a character or an entity. */
static size_t whole_bytes(const char *p, size_t len)
{
	size_t n = strlen(p), amp;

	if (n <= len)
		return n;
	n = len;
	while (n && ((unsigned char)p[n] & 0xc0) == 0x80)
		n--;
	for (amp = n; amp && n - amp < 7 && p[amp - 1] != '&'; amp--)
		;
	if (amp && p[amp - 1] == '&' && !memchr(p + amp, ';', n - amp))
		n = amp - 1;
	return n;
}

static void put_cut(struct mk_out *o, const char *p)
{
	/* What sanitizers add to the address is of no more use; nor is what is behind a line in a
	 * string of JSON. */
	static const char *const noise[] = { "on address", "at pc 0x", "(pc 0x", "\\n" };
	size_t n = whole_bytes(p, SHOWN_MAX);
	bool all = !p[n];

	for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++) {
		const char *at = strstr(p, noise[i]);

		if (at && (size_t)(at - p) <= n) {
			n = (size_t)(at - p);
			all = true;
		}
	}

	while (all && n && strchr(" :*.", p[n - 1]))
		n--;
	mk_out_put(o, p, n);
	mk_put(o, all ? "" : "…");
}

static size_t word_len(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || (p[n] && strchr("-_", p[n])))
		n++;
	return n;
}

/* "heap-use-after-free", "data race" */
static size_t phrase_len(const char *p)
{
	size_t n = word_len(p);

	while (p[n] == ' ' && strncmp(p + n, " on ", 4) && strncmp(p + n, " in ", 4) &&
	       isalpha((unsigned char)p[n + 1]))
		n += 1 + word_len(p + n + 1);
	return n;
}

/* SIGSEGV and its like; NULL: none. */
static const char *find_signal(const char *line)
{
	for (const char *p = strstr(line, "SIG"); p; p = strstr(p + 1, "SIG")) {
		const size_t n = word_len(p);

		if (n > 4 && n < 10 && strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == n &&
		    (p == line || !isalnum((unsigned char)p[-1])))
			return p;
	}
	return NULL;
}

static void put_red(struct mk_out *o, const char *p, size_t n, const char *rest)
{
	const struct sc_str word = { p, n };

	mk_put(o, "<b class=bad>", word, "</b>");
	rest += strspn(rest, " ),:;.");
	mk_put(o, *rest ? " " : "");
	put_cut(o, rest);
}

/* Does the line say it? Then it is written. */
static int try_line(struct mk_out *o, const char *line, unsigned distance)
{
	const char *signal = find_signal(line);

	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		const struct cause *c = &causes[i];
		const char *p = distance <= c->reach && !signal ? strstr(line, c->text) : NULL;
		const char *behind = p ? p + strlen(c->text) : NULL;
		size_t n;

		if (!p || (c->red == WORD && !isdigit((unsigned char)*behind)))
			continue;
		if (c->red == REST) {
			put_red(o, c->called ? c->called : p,
				c->called ? strlen(c->called) : strlen(c->text), behind);
		} else {
			p = c->red == WORD ? p : behind;
			n = c->red == WORD ? (size_t)(behind - p) + word_len(behind) : phrase_len(p);
			put_red(o, p, n ? n : strlen(p), n ? p + n : "");
		}
		return c->severity;
	}
	if (!signal || distance > 12)
		return 0;
	put_red(o, signal, word_len(signal), signal + word_len(signal));
	return 2;
}

/* Behind times and threads of a kernel ("[   12.345678][ T1] "), and behind a ruler. */
static const char *behind_prefix(const char *p)
{
	while (*p == '[' && strchr(p, ']'))
		p = strchr(p, ']') + 1;
	return p + strspn(p, " \t|-=");
}

int mk_html_title(struct mk_out *o, const struct mk_recent *r)
{
	const char *lines = r->text.len ? r->text.buf : "", *end = lines + r->text.len;
	char text[512], last[512] = "";
	const char *shown;
	int severity;

	for (unsigned distance = 1; end > lines && distance <= 40; distance++) {
		const char *eol = memrchr(lines, '\n', (size_t)(end - 1 - lines));
		const char *p = eol ? eol + 1 : lines;

		plain_line(p, end, text);
		severity = try_line(o, text, distance);
		if (severity)
			return severity;
		/* Neither markup, which says nothing, nor rulers. */
		if (!*last && strncmp(text, "[[[", 3) && *behind_prefix(text))
			memcpy(last, text, sizeof(last));
		end = p;
	}
	/* Without the time of a kernel. */
	shown = *last == '[' && strchr(last, ']') ? strchr(last, ']') + 1 : last;
	put_cut(o, shown + strspn(shown, " \t"));
	return 0;
}
