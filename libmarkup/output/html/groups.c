/*
 * Groups of stacks as a page: a row for each, the most frequent first: its number with a bar, the
 * first function of the program's own, all functions folded, the first and the last place.
 */
#include "libmarkup/output/group.h"
#include "libmarkup/output/html/page.h"

static void put_place(struct mk_out *o, const struct markup_groups *g,
		      const struct group_place *place)
{
	const struct sc_str name = mk_groups_input(g, place), last = sc_basename(name);

	mk_put(o, "<td title=\"", mk_escaped(name), ":", place->line, "\"><span class=dim>",
	       mk_escaped((struct sc_str){ name.ptr, name.len - last.len }), "</span>",
	       mk_escaped(last), ":");
	mk_put(o, place->line);
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

static void put_group(struct mk_out *o, const struct markup_groups *g, const struct group *group,
		      uint64_t largest)
{
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
	mk_page_count(o, n, "function");
	mk_put(o, "<code> · ");
	mk_groups_signature(o, group->signature);
	mk_put(o, "</code></summary><ol>");
	for (uint32_t i = 0; mk_groups_function(group, &p, &function); i++)
		mk_put(o, i == group->own ? "<li class=o><b>" : "<li><b>", mk_escaped(function), "</b>");
	mk_put(o, "</ol></details>");
	put_place(o, g, &group->first);
	put_place(o, g, &group->last);
	mk_put(o, "\n");
}

void mk_groups_html(struct mk_out *o, const struct markup_groups *g)
{
	static const char title[] = "Groups of stacks";

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
		put_group(o, g, g->groups.data[i], g->groups.data[0]->count);
	mk_put(o, "</tbody>\n</table>\n</main>\n");
	mk_page_end(o, MK_PAGE_GROUPS);
}
