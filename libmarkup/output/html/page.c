/* What is around pages, and their text: see page.h. */
#include "libmarkup/output/html/page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmarkup/bytes/json.h"
#include "libsymcache/base/utf8.h"

/* A file that the Makefile makes, with a NUL behind it. */
#define EMBED(name, file)                                    \
	__asm__(".section .rodata\n"                         \
		"mk_page_" #name ":\n"                       \
		".incbin \"build/pages/" file "\"\n"         \
		".byte 0\n"                                  \
		".previous\n");                              \
	extern const char mk_page_##name[] __attribute__((visibility("hidden")))
#define EMBED_PAGE(name)                                     \
	EMBED(name##_style, #name ".style");                 \
	EMBED(name##_style_hash, #name ".style.hash");       \
	EMBED(name##_script, #name ".script");               \
	EMBED(name##_script_hash, #name ".script.hash")

EMBED_PAGE(log);
EMBED_PAGE(groups);
EMBED_PAGE(core);
EMBED_PAGE(profile);

#define UNFOLD "<button class=wide data-k=u aria-keyshortcuts=u>Unfold</button>"
#define STEPS "<button data-k=N aria-label=\"Previous found\">&#8593;</button>" \
	      "<button data-k=n aria-label=\"Next found\">&#8595;</button>"
#define ONLY "<button class=wide data-k=o aria-pressed=false>only found</button>"

static void put_help_of_rows(struct mk_out *o, enum mk_page_kind kind);
static void put_help_of_groups(struct mk_out *o, enum mk_page_kind kind);
static void put_help_of_profile(struct mk_out *o, enum mk_page_kind kind);

static const struct {
	const char *style, *style_hash, *script, *script_hash;
	const char *what;         /* is searched */
	const char *found;        /* buttons behind the search */
	const char *more;         /* other buttons */
	void (*put_help)(struct mk_out *o, enum mk_page_kind kind);
	const char *line, *stack; /* as the help calls them */
} pages[] = {
#define PAGE(name) mk_page_##name##_style, mk_page_##name##_style_hash, mk_page_##name##_script, \
		   mk_page_##name##_script_hash
	[MK_PAGE_LOG] = { PAGE(log), "Search the log", STEPS ONLY, UNFOLD, put_help_of_rows,
			  "line", "backtrace" },
	[MK_PAGE_GROUPS] = { PAGE(groups), "Search the groups", "", UNFOLD, put_help_of_groups, "", "" },
	[MK_PAGE_CORE] = { PAGE(core), "Search the stacks", STEPS ONLY, UNFOLD, put_help_of_rows,
			   "frame", "stack" },
	[MK_PAGE_PROFILE] = { PAGE(profile), "Search functions and files", STEPS,
			      "<button data-k=i aria-keyshortcuts=i>Flame</button>",
			      put_help_of_profile, "", "" },
};

/* The sign for a control character, U+2400 and up. */
static void put_control(struct mk_out *o, unsigned char c)
{
	const char sign[3] = { '\xe2', '\x90', (char)(c == 0x7f ? 0xa1 : 0x80 + c) };
	mk_out_put(o, sign, sizeof(sign));
}

void mk_html_text(struct mk_out *o, struct sc_str s)
{
	const char *p = s.ptr, *end = s.len ? p + s.len : p, *run = p; /* p may be NULL */

	while (p < end) {
		unsigned char c = (unsigned char)*p;
		int n = 1;

		if (c >= 0x80)
			n = sc_utf8_len(p, (size_t)(end - p));
		if (c >= 0x80 ? n > 0 : c >= ' ' ? !strchr("&<>\"\x7f", c) : c == '\t') {
			p += n;
			continue;
		}
		mk_out_put(o, run, (size_t)(p - run));
		if (c >= 0x80)
			mk_put(o, "\xef\xbf\xbd");
		else if (c == '&')
			mk_put(o, "&amp;");
		else if (c == '<')
			mk_put(o, "&lt;");
		else if (c == '>')
			mk_put(o, "&gt;");
		else if (c == '"')
			mk_put(o, "&quot;");
		else
			put_control(o, c);
		run = p += abs(n);
	}
	mk_out_put(o, run, (size_t)(p - run));
}

void mk_page_number(struct mk_out *o, uint64_t n)
{
	char digits[24];
	const int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			mk_out_char(o, ',');
		mk_out_char(o, digits[i]);
	}
}

void mk_page_count(struct mk_out *o, uint64_t n, const char *what)
{
	mk_page_number(o, n);
	mk_put(o, " ", what, n == 1 ? "" : "s");
}

void mk_page_begin(struct mk_out *o, enum mk_page_kind kind, struct mk_as title,
		   const struct mk_page_links *links)
{
	mk_put(o, "<!DOCTYPE html>\n<html lang=en>\n<head>\n<meta charset=utf-8>\n"
		  "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'; "
		  "style-src '", pages[kind].style_hash, "'; script-src '", pages[kind].script_hash,
		  "'; base-uri 'none'; form-action 'none'\">\n"
		  "<meta name=viewport content=\"width=device-width, initial-scale=1\">\n"
		  "<meta name=color-scheme content=\"light dark\">\n<title>", title);
	mk_put(o, "</title>\n<style>", pages[kind].style, "</style>\n</head>\n<body");
	if (links && links->link)
		mk_put(o, " data-link=\"", mk_escaped_text(links->link), "\"");
	if (links && links->link && links->path_maps && *links->path_maps) {
		mk_put(o, " data-maps=\"");
		/* Each goes to the end of its line, which no path has. */
		for (const char *const *map = links->path_maps; *map; map++)
			mk_put(o, mk_escaped_text(*map), map[1] ? "\n" : "\"");
	}
	mk_put(o, ">\n");
}

void mk_page_bar(struct mk_out *o, enum mk_page_kind kind, const char *path, const char *outline)
{
	const char *slash = strrchr(path, '/');
	const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;

	mk_put(o, "<header class=bar>\n<p title=\"", mk_escaped_text(path), "\"><a href=#head>");
	if (folder)
		mk_put(o, "<span class=dim>", mk_escaped((struct sc_str){ path, folder }),
		       "</span>");
	mk_put(o, mk_escaped_text(path + folder), "</a></p>\n<div class=find role=search>"
	       "<input type=search id=q placeholder=\"Search\" aria-label=\"", pages[kind].what,
	       "\" aria-keyshortcuts=\"/\" autocomplete=off spellcheck=false>\n");
	mk_put(o, pages[kind].found, "<span id=n role=status></span></div>\n");
	if (outline)
		mk_put(o, "<button popovertarget=o>", outline, "</button>\n");
	mk_put(o, pages[kind].more, "\n<button popovertarget=h aria-label=\"Keys and settings\">?</button>\n"
		  "</header>\n");
}

static void put_help_of_rows(struct mk_out *o, enum mk_page_kind kind)
{
	const char *line = pages[kind].line, *stack = pages[kind].stack;

	mk_put(o, "<dt><kbd>Enter</kbd> <kbd>n</kbd><dd>next found; <kbd>N</kbd> previous"
		  "<dt><kbd>Esc</kbd><dd>leave the search, back to the place before"
		  "<dt><kbd>o</kbd><dd>found lines only"
		  "<dt><kbd>j</kbd> <kbd>k</kbd><dd>next, previous ", line,
		  "<dt><kbd>b</kbd> <kbd>B</kbd><dd>next, previous ", stack,
		  "<dt><kbd>u</kbd><dd>unfold or fold all<dt><kbd>a</kbd><dd>addresses"
		  "<dt><kbd>s</kbd><dd>whole names<dt><kbd>c</kbd><dd>copy the ", stack);
	mk_put(o, " as text<dt><kbd>l</kbd><dd>link to the ", line,
	       "<dt><kbd>e</kbd><dd>open the file of the ", line,
	       "<dt><kbd>m</kbd><dd>modules</dl>"
	       "<label><input type=checkbox id=f-keys checked> single-key shortcuts</label>\n"
	       "<label><input type=checkbox id=f-addr> addresses</label>\n"
	       "<label><input type=checkbox id=f-long> whole names (parameters, template "
	       "arguments)</label>\n"
	       "<label>Files open with <input id=link placeholder=\"vscode://file{path}:{line}:"
	       "{column}\" spellcheck=false></label>");
}

static void put_help_of_groups(struct mk_out *o, enum mk_page_kind kind)
{
	(void)kind;
	mk_put(o, "<dt><kbd>Enter</kbd><dd>go to the first found"
		  "<dt><kbd>Esc</kbd><dd>leave the search"
		  "<dt><kbd>j</kbd> <kbd>k</kbd><dd>next, previous group"
		  "<dt><kbd>1</kbd> to <kbd>4</kbd><dd>sort by a column; again: the other way"
		  "<dt><kbd>u</kbd><dd>unfold or fold all</dl>"
		  "<label><input type=checkbox id=f-keys checked> single-key shortcuts</label>");
}

static void put_help_of_profile(struct mk_out *o, enum mk_page_kind kind)
{
	(void)kind;
	mk_put(o, "<dt><kbd>Enter</kbd> <kbd>n</kbd><dd>next found; <kbd>N</kbd> previous"
		  "<dt><kbd>Esc</kbd><dd>leave the search"
		  "<dt><kbd>g</kbd><dd>to the graph"
		  "<dt><kbd>&larr;</kbd> <kbd>&rarr;</kbd> <kbd>&uarr;</kbd> <kbd>&darr;</kbd>"
		  "<dd>there: to the frame next to it, above, below"
		  "<dt><kbd>Enter</kbd> <kbd>Esc</kbd><dd>there: zoom in, out");
	mk_put(o, "<dt><kbd>s</kbd><dd>callers and callees<dt><kbd>w</kbd><dd>the whole profile again"
		  "<dt><kbd>i</kbd><dd>icicle or flame<dt><kbd>e</kbd><dd>open the file of the function"
		  "</dl><label><input type=checkbox id=f-keys checked> single-key shortcuts</label>");
}

void mk_page_data(struct mk_out *o, const char *name)
{
	mk_put(o, "<script type=\"application/json\" id=", name, ">");
}

void mk_page_json(struct mk_out *o, struct sc_str s)
{
	const char *p = s.ptr, *end = p + s.len;

	mk_out_lit(o, "\"");
	while (p < end) {
		const char *tag = memchr(p, '<', (size_t)(end - p)), *to = tag ? tag : end;

		mk_json_escaped(o, sc_span(p, to));
		if (tag)
			mk_out_lit(o, "\\u003c");
		p = to + (tag != NULL);
	}
	mk_out_lit(o, "\"");
}

void mk_page_command(struct mk_out *o, const char *why)
{
	mk_put(o, "<p class=dim>", why, "</p>\n<div class=cmd><code>");
}

void mk_page_command_end(struct mk_out *o)
{
	mk_out_lit(o, "</code><button data-k=cmd>Copy</button></div>\n");
}

void mk_page_end(struct mk_out *o, enum mk_page_kind kind)
{
	mk_put(o, "<div popover id=h class=help aria-label=\"Keys and settings\">"
		  "<dl><dt><kbd>/</kbd><dd>search");
	pages[kind].put_help(o, kind);
	mk_put(o, "</div>\n<div id=say role=status></div>\n<script>", pages[kind].script,
	       "</script>\n</body>\n</html>\n");
}
