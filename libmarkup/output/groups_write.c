/* Groups of stacks as text or JSON: see markup.h; as a page: html/groups.c. */
#include "libmarkup/bytes/json.h"
#include "libmarkup/output/group.h"

#define TOP 10u /* frames that text shows */

struct sc_str mk_groups_input(const struct markup_groups *g, const struct group_place *place)
{
	const char *name = place->input < g->inputs.len ? g->inputs.data[place->input] : "";

	return sc_str_of(name);
}

void mk_groups_signature(struct mk_out *o, uint64_t v)
{
	char text[FMT_MAX];

	mk_fmt_addr(text, v);
	mk_out_put(o, text + 2, 16);
}

bool mk_groups_function(const struct group *group, const char **p, struct sc_str *ret)
{
	const char *end = group->functions + group->len;
	const char *eol = *p < end ? memchr(*p, '\n', (size_t)(end - *p)) : NULL;

	if (!eol)
		return false;
	*ret = (struct sc_str){ *p, (size_t)(eol - *p) };
	*p = eol + 1;
	return true;
}

/* "3 stacks" */
static void put_count(struct mk_out *o, uint64_t n, const char *what)
{
	mk_put(o, n, " ", what, n == 1 ? "" : "s");
}

void mk_groups_totals(struct mk_out *o, const struct markup_groups *g)
{
	put_count(o, g->stacks, "stack");
	mk_out_lit(o, " in ");
	put_count(o, g->groups.len, "group");
	if (g->nameless) {
		mk_out_lit(o, "; ");
		put_count(o, g->nameless, "stack");
		mk_out_lit(o, " without any name or module");
	}
	if (g->left_out) {
		mk_out_lit(o, "; ");
		put_count(o, g->left_out, "stack");
		mk_out_lit(o, " of further groups left out");
	}
}

/* ---- text ------------------------------------------------------------------------ */

static void text_place(struct mk_out *o, const struct markup_groups *g,
		       const struct group_place *place)
{
	/* No byte of it may move the cursor. */
	mk_put(o, mk_as(mk_json_escaped, mk_groups_input(g, place)), ":", place->line);
}

static void text_group(struct mk_out *o, const struct markup_groups *g, const struct group *group)
{
	const char *p = group->functions;
	struct sc_str function;
	char count[FMT_MAX];
	const size_t len = mk_fmt_dec(count, group->count);
	size_t n = 0;

	mk_out_char(o, '\n');
	mk_out_spaces(o, len < 8 ? 8 - len : 0);
	mk_out_put(o, count, len);
	mk_out_lit(o, "  ");
	mk_groups_signature(o, group->signature);
	mk_put(o, "  ", group->count > 1 ? "first " : "");
	text_place(o, g, &group->first);
	if (group->count > 1) {
		mk_out_lit(o, ", last ");
		text_place(o, g, &group->last);
	}
	mk_out_char(o, '\n');
	for (; mk_groups_function(group, &p, &function); n++) {
		if (n >= TOP)
			continue;
		mk_out_spaces(o, 10);
		mk_put(o, g->color ? MK_VALUE_ON : "", function, g->color ? MK_VALUE_OFF : "", "\n");
	}
	if (n > TOP) {
		mk_out_spaces(o, 10);
		mk_put(o, "... ", n - TOP, " more\n");
	}
}

void mk_groups_text(struct mk_out *o, const struct markup_groups *g)
{
	mk_groups_totals(o, g);
	mk_out_char(o, '\n');
	for (size_t i = 0; i < g->groups.len; i++)
		text_group(o, g, g->groups.data[i]);
}

/* ---- JSON ------------------------------------------------------------------------ */

static void json_place(struct mk_out *o, const struct markup_groups *g, const char *key,
		       const struct group_place *place)
{
	mk_json_key(o, key);
	mk_put(o, "{\"file\":", mk_as(mk_json_string, mk_groups_input(g, place)));
	mk_json_number(o, "line", place->line);
	mk_out_char(o, '}');
}

void mk_groups_json(struct mk_out *o, const struct markup_groups *g)
{
	for (size_t i = 0; i < g->groups.len; i++) {
		const struct group *group = g->groups.data[i];
		const char *p = group->functions;
		struct sc_str function;

		mk_out_lit(o, "{\"signature\":\"");
		mk_groups_signature(o, group->signature);
		mk_out_char(o, '"');
		mk_json_number(o, "count", group->count);
		json_place(o, g, "first", &group->first);
		json_place(o, g, "last", &group->last);
		mk_json_key(o, "functions");
		for (char before = '['; mk_groups_function(group, &p, &function); before = ',') {
			mk_out_char(o, before);
			mk_json_string(o, function);
		}
		mk_out_lit(o, "]}\n");
	}
}
