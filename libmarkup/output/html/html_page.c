/*
 * The page around a log in HTML: head, style, script, list of modules; and text.
 *
 * The page loads nothing: its style and its script are in it (html_page.css, .js and, above
 * the log, .html, embedded as they are), and its policy allows this one script, by its hash,
 * and nothing else, so that not even a mistake in the escaping of log text would
 * let that run. scripts/html_test.py checks the hash and looks at the page in a browser.
 */
#include "libmarkup/output/html/html.h"
#include "libsymcache/base/utf8.h"

MK_EMBED(css, "libmarkup/output/html/html_page.css");
MK_EMBED(js, "libmarkup/output/html/html_page.js");
MK_EMBED(tools, "libmarkup/output/html/html_page.html");

static const char script_policy[] =
	"; script-src 'sha256-xQ9OHKBIm5QN9KTWMLFGe0T1Uk5KKn2FwKRENEELPOI='";

/* The sign for a control character, U+2400 and up. */
static void put_control(struct mk_out *o, unsigned char c)
{
	const char sign[3] = { '\xe2', '\x90', (char)(c == 0x7f ? 0xa1 : 0x80 + c) };
	mk_out_put(o, sign, sizeof(sign));
}

void mk_html_text(struct mk_out *o, struct sc_str s)
{
	const char *p = s.ptr, *end = p + s.len, *run = p;

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
		run = ++p;
	}
	mk_out_put(o, run, (size_t)(p - run));
}

void mk_html_begin(struct mk_out *o, const char *policy, struct mk_as title, const char *style)
{
	mk_put(o, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		  "style-src 'unsafe-inline'", policy, "\">\n"
		  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		  "<title>", title, "</title>\n<style>\n", style);
}

void mk_html_head(struct mk_out *o, const struct markup_options *options)
{
	const char *path = options->title ? options->title : "log", *slash = strrchr(path, '/');
	const size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
	const struct mk_as title = mk_escaped(sc_str_of(path));

	mk_html_begin(o, script_policy, title, mk_html_css);
	mk_put(o, "</style>\n<noscript><style>\n"
		  "header > :not(h1), .b button { display: none !important; }\n"
		  "samp div[hidden] { width: 100%; height: auto; padding-left: 2rem; "
		  "content-visibility: visible; }\n"
		  "main:not(.maps) .m { visibility: visible; height: auto; min-height: 1.55em; }\n"
		  "</style></noscript>\n</head>\n<body>\n<header>\n<h1 title=\"", title, "\">");
	if (slash)
		mk_put(o, "<span>", mk_escaped((struct sc_str){ path, folder }), "</span>");
	mk_put(o, mk_escaped(sc_str_of(path + folder)), "</h1>\n",
	       mk_html_tools);
}

/* "1 address", "2 addresses" */
static void put_count(struct mk_out *o, uint64_t n, const char *what, const char *plural)
{
	mk_put(o, n, " ", what, n == 1 ? "" : plural);
}

/* The row of one module. */
struct row {
	struct mk_out *o;
	const struct mk_modules *missing;
};

static void put_row(void *ctx, const struct markup_module *m)
{
	const struct row *r = ctx;
	const struct markup_module *missing = mk_modules_find(r->missing, m->name, m->build_id,
							       m->build_id_len);
	struct mk_out *o = r->o;

	mk_put(o, "<tr><td>", mk_escaped(m->name), "</td><td>");
	mk_out_bytes(o, m->build_id, m->build_id_len);
	if (!missing && !m->symbols) {
		mk_put(o, "</td><td class=\"ad\">not needed</td></tr>\n");
		return;
	}
	mk_put(o, missing && missing->no_symbols ? "</td><td class=\"none\">no symbols"
						    : "</td><td>", m->symbols ? m->symbols : "");
	if (missing && missing->frames) {
		mk_put(o, missing->no_symbols || m->symbols ? ": " : "");
		put_count(o, missing->frames, "address", "es");
		mk_put(o, " found nothing");
	}
	mk_put(o, "</td></tr>\n");
}

void mk_html_foot(struct mk_out *o, const struct mk_modules *seen,
		  const struct mk_modules *missing, const struct markup_stats *stats)
{
	struct row row = { o, missing };
	size_t none = 0;

	for (uint32_t i = 0; i < missing->len; i++)
		none += missing->entries[i]->no_symbols;
	mk_put(o, "</main>\n<details id=\"modules\"><summary>");
	put_count(o, seen->len, "module", "s");
	if (none)
		mk_put(o, ", <span class=\"none\">", none, " without symbols</span>");
	mk_put(o, " <span class=\"ad\">&#183;</span> ");
	put_count(o, stats->frames, "address", "es");
	if (stats->frames)
		mk_put(o, ", ", stats->frames_resolved, " resolved");
	mk_put(o, "</summary>\n<div><table>\n"
		  "<thead><tr><th>Module</th><th>Build ID</th><th>Symbols</th></tr></thead>\n"
		  "<tbody>\n");
	for (uint32_t i = 0; i < seen->len; i++)
		put_row(&row, seen->entries[i]);
	mk_put(o, "</tbody></table></div>\n</details>\n<script>\n", mk_html_js,
	       "</script>\n</body>\n</html>\n");
}
