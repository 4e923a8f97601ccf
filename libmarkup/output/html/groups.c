/*
 * Groups of stacks as a page: a row for each, the most frequent first: its number with a bar, the
 * first function of the program's own, what it was called by (SIGSEGV), all functions folded, the
 * first and the last place, with times, and with links if there are pages of the logs.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "libmarkup/output/group.h"
#include "libmarkup/output/html/page.h"

/* The pages of the inputs that had frames; both lists are in the order of the logs. The caller frees
 * it; NULL: there are no pages, or there is no memory for links to them. */
static const char **find_urls(const struct markup_groups *g)
{
	const struct markup_page *page = g->pages;
	const char **urls = page ? calloc(g->inputs.len + 1, sizeof(*urls)) : NULL;

	for (size_t i = 0; urls && i < g->inputs.len; i++) {
		const struct markup_page *p = page;

		while (p->input && strcmp(p->input, g->inputs.data[i]))
			p++;
		urls[i] = p->input ? p->url : NULL;
		page = p->input ? p + 1 : page;
	}
	return urls;
}

static void put_url(struct mk_out *o, const char *path)
{
	static const char digits[] = "0123456789ABCDEF";

	for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
		const char escape[3] = { '%', digits[*p >> 4], digits[*p & 15] };

		if (isalnum(*p) || strchr("-._~/", *p))
			mk_out_char(o, (char)*p);
		else
			mk_out_put(o, escape, sizeof(escape));
	}
}

static void put_place(struct mk_out *o, const struct markup_groups *g, const char *const *urls,
		      const struct group_place *place)
{
	const struct sc_str name = mk_groups_input(g, place), last = sc_basename(name);
	const char *url = urls && place->input < g->inputs.len ? urls[place->input] : NULL;

	mk_put(o, "<td title=\"", mk_escaped(name), ":", place->line, "\">");
	if (url) {
		mk_out_lit(o, "<a href=\"");
		put_url(o, url);
		mk_put(o, "#L", place->line, "\">");
	}
	mk_put(o, "<span class=dim>", mk_escaped((struct sc_str){ name.ptr, name.len - last.len }),
	       "</span>", mk_escaped(last), ":", place->line);
	mk_put(o, url ? "</a>" : "");
	if (*place->when)
		mk_put(o, "<time>", mk_escaped_text(place->when), "</time>");
}

/* A bar of this part of the largest group, in tenths of a percent. */
static void put_bar(struct mk_out *o, uint64_t count, uint64_t largest)
{
	const uint64_t width = largest / 1000 ? count / (largest / 1000) : count * 1000 / largest;

	mk_put(o, "<svg viewBox=\"0 0 1000 6\" preserveAspectRatio=none aria-hidden=true>"
		  "<rect width=", width > 1000 ? 1000 : width < 4 ? 4 : width, " height=6 /></svg>");
}

/* The number of functions; the one that the group is called by. */
static uint32_t count_functions(const struct group *group, struct sc_str *called)
{
	const char *p = group->functions;
	struct sc_str function;
	uint32_t n = 0;

	for (*called = sc_str_of("??"); mk_groups_function(group, &p, &function); n++)
		if (n == (group->own == UINT32_MAX ? 0 : group->own))
			*called = function;
	return n;
}

static void put_group(struct mk_out *o, const struct markup_groups *g, const char *const *urls,
		      const struct group *group)
{
	const uint64_t largest = g->groups.data[0]->count;

	const char *p = group->functions;
	struct sc_str function, called;
	const uint32_t n = count_functions(group, &called);

	mk_put(o, "<tr id=s");
	mk_groups_signature(o, group->signature);
	mk_put(o, " data-n=", group->count, "><td class=num>", group->count);
	put_bar(o, group->count, largest);
	mk_put(o, "<td><span class=\"fn", group->own == UINT32_MAX ? " lib" : "", "\">");
	mk_row_name(o, called);
	mk_put(o, "</span><details><summary>");
	if (group->kind) /* of a title: it is escaped */
		mk_put(o, "<b class=bad>", group->kind, "</b> · ");
	mk_page_count(o, n, "function");
	mk_put(o, "<code> · ");
	mk_groups_signature(o, group->signature);
	mk_put(o, "</code></summary><ol>");
	for (uint32_t i = 0; mk_groups_function(group, &p, &function); i++)
		mk_put(o, i == group->own ? "<li class=o><b>" : "<li><b>", mk_escaped(function), "</b>");
	mk_put(o, "</ol></details>");
	put_place(o, g, urls, &group->first);
	put_place(o, g, urls, &group->last);
	mk_put(o, "\n");
}

void mk_groups_html(struct mk_out *o, const struct markup_groups *g)
{
	static const char title[] = "Groups of stacks";
	const char **urls = find_urls(g);

	mk_page_begin(o, MK_PAGE_GROUPS, mk_escaped_text(title), NULL);
	mk_page_bar(o, MK_PAGE_GROUPS, title, NULL);
	mk_put(o, "<main>\n<h1 id=head>");
	mk_groups_totals(o, g);
	mk_put(o, "</h1>\n<p>equal by the names of their functions</p>\n<table><thead><tr>"
		  "<th scope=col class=num aria-sort=descending data-s=n><button>Stacks</button>"
		  "<th scope=col data-s=fn><button>Function</button>"
		  "<th scope=col data-s=2><button>First</button>"
		  "<th scope=col data-s=3><button>Last</button></thead>\n<tbody>\n");
	for (size_t i = 0; i < g->groups.len; i++)
		put_group(o, g, urls, g->groups.data[i]);
	free(urls);
	mk_put(o, "</tbody>\n</table>\n</main>\n");
	mk_page_end(o, MK_PAGE_GROUPS);
}
