/*
 * The stacks of a profile as a page: see page.h. The graph is drawn by the page's script out of
 * functions, modules and the tree; what stands above it and the table below are written here, so
 * that they read without the script.
 */
#include "libsymcache/profile/page.h"

#include <errno.h>
#include <stdio.h>

#include "libmarkup/bytes/name.h"
#include "libmarkup/output/html/page.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/profile/page_tree.h"

enum { TABLE_ROWS = 30 };

struct page {
	struct page_tree t;
	const struct prof_stacks *s;
	struct mk_out o;
};

static struct sc_str text_of(const struct page *p, uint32_t text)
{
	return page_text(&p->t, text);
}

/* ---- values -------------------------------------------------------------------------------------- */

struct scale {
	const char *unit, *name;
	uint64_t of;
};

/* As num() of profile.js: "1.61 s", "12.4 MiB", "1,403". */
static void put_value(struct mk_out *o, struct sc_str unit, uint64_t v)
{
	static const struct scale scales[] = {
		{ "nanoseconds", "s", 1000000000 }, { "nanoseconds", "ms", 1000000 },
		{ "nanoseconds", "µs", 1000 }, { "nanoseconds", "ns", 1 },
		{ "bytes", "GiB", 1u << 30 }, { "bytes", "MiB", 1u << 20 }, { "bytes", "KiB", 1u << 10 },
		{ "bytes", "B", 1 },
	};

	for (size_t i = 0; i < sizeof(scales) / sizeof(*scales); i++) {
		const struct scale *s = &scales[i];
		const double part = (double)v / (double)s->of;

		if (!sc_str_is(unit, s->unit) || (v < s->of && s->of > 1))
			continue;
		mk_out_printf(o, "%.*f %s", s->of == 1 || part >= 100 ? 0 : part < 10 ? 2 : 1, part, s->name);
		return;
	}
	mk_page_number(o, v);
}

static void put_number(struct page *p, uint64_t v)
{
	const struct prof_value_type *t = &p->s->types.data[p->s->chosen];
	const uint64_t all = p->s->nodes.len ? p->t.totals.data[0] : 0;

	put_value(&p->o, text_of(p, t->unit), v);
	mk_out_printf(&p->o, " <span class=p>%.1f %%</span>", all ? 100.0 * (double)v / (double)all : 0.0);
}

/* ---- what stands above ------------------------------------------------------------------------- */

static inline bool more_hidden(const struct page_function *a, const struct page_function *b)
{
	return a->total != b->total ? a->total > b->total : a->number < b->number;
}

SC_SORT(sort_hidden, struct page_function, more_hidden)

/* The build ID of a module, "" if the profile has none. */
static struct sc_str id_of(const struct page *p, uint32_t text)
{
	const struct prof_places *places = p->s->places;

	for (size_t i = 0; i < places->mappings.len; i++)
		if (sc_str_same(places->mappings.data[i].name, text_of(p, text)))
			return places->mappings.data[i].id;
	return (struct sc_str){ "", 0 };
}

static void put_missing(struct page *p, const struct page_function *list, size_t n)
{
	struct mk_out *o = &p->o;
	size_t with_id = 0;

	mk_put(o, "<details class=need><summary><b class=bad>");
	if (n == 1)
		mk_put(o, mk_escaped(sc_basename(text_of(p, p->t.modules.data[list->module]))),
		       " lacks symbols");
	else
		mk_put(o, n, " modules lack symbols");
	mk_put(o, "</b></summary><p class=dim>Samples end in what is not in the store, or pass through it:"
		  "</p><div class=wrap><table><thead><tr><th class=num>total<th>module<th>build ID"
		  "</thead><tbody>\n");
	for (size_t i = 0; i < n; i++) {
		const uint32_t module = p->t.modules.data[list[i].module];
		const struct sc_str id = id_of(p, module);

		mk_put(o, "<tr><td class=num>");
		put_number(p, list[i].total);
		mk_put(o, "<td><code>", mk_escaped(text_of(p, module)), "</code><td><code>",
		       id.len ? mk_escaped(id) : mk_escaped_text("unknown"), "</code>\n");
		with_id += id.len > 0;
	}
	mk_put(o, "</table></div>\n");
	if (with_id) {
		mk_page_command(o, "From the servers in DEBUGINFOD_URLS:");
		mk_put(o, "symcache index --debuginfod");
		for (size_t i = 0; i < n; i++) {
			const struct sc_str id = id_of(p, p->t.modules.data[list[i].module]);

			if (id.len)
				mk_put(o, " ", mk_escaped(id));
		}
		mk_page_command_end(o);
	}
	mk_put(o, "</details>");
}

static void put_all_missing(struct page *p)
{
	VEC(struct page_function) list = { 0 };

	for (size_t i = 0; i < p->t.functions.len; i++) {
		const struct page_function *f = &p->t.functions.data[i];
		struct page_function *to;

		if (p->s->frames.data[f->frame].unknown != 2 || f->module == PROF_NONE)
			continue;
		to = vec_push(&list);
		if (!to) {
			p->o.error = -ENOMEM;
			break;
		}
		*to = *f;
	}
	if (list.len && sort_hidden(list.data, list.len))
		put_missing(p, list.data, list.len);
	vec_deinit(&list);
}

/* All values of a type, added up. */
static void put_sum(struct page *p, size_t type)
{
	const struct prof_value_type *t = &p->s->types.data[type];
	uint64_t sum = 0;

	for (size_t i = 0; i < p->s->nodes.len; i++)
		sum += page_value(&p->t, i, type);
	put_value(&p->o, text_of(p, t->unit), sum);
	mk_put(&p->o, " ", mk_escaped(text_of(p, t->type)));
}

static void put_head(struct page *p)
{
	struct mk_out *o = &p->o;
	uint64_t stacks = 0;

	for (size_t i = 0; i < p->s->nodes.len; i++) {
		bool any = false;

		for (size_t k = 0; k < p->s->types.len; k++)
			any |= page_value(&p->t, i, k) > 0;
		stacks += any;
	}
	/* The one that the graph shows is the title. */
	mk_put(o, "<section class=head id=head aria-label=\"The profile\">\n<h1>");
	put_sum(p, p->s->chosen);
	mk_put(o, "</h1>");
	for (size_t k = 0; k < p->s->types.len; k++) {
		if (k == p->s->chosen)
			continue;
		mk_put(o, "<span>");
		put_sum(p, k);
		mk_put(o, "</span>");
	}
	mk_put(o, "<span>");
	mk_page_count(o, stacks, "stack");
	mk_put(o, "</span><span>");
	mk_page_count(o, p->t.modules.len, "module");
	mk_put(o, "</span>\n");
	put_all_missing(p);
	mk_put(o, "</section>\n");
}

/* ---- the table, and what the script reads ------------------------------------------------------- */

static inline bool hotter(const struct page_function *a, const struct page_function *b)
{
	return a->self != b->self ? a->self > b->self : more_hidden(a, b);
}

SC_SORT(sort_hottest, struct page_function, hotter)

/* The short name of a function, in `brief`, which is the caller's. */
static struct sc_str label_of(const struct page *p, const struct page_function *f,
			      struct mk_out *brief)
{
	const struct prof_frame *of = &p->s->frames.data[f->frame];
	const struct sc_str name = text_of(p, of->name);

	if (of->unknown)
		return name;
	brief->len = 0;
	mk_name_short(brief, name.ptr, name.len);
	return (struct sc_str){ brief->buf, brief->len };
}

static bool put_table(struct page *p)
{
	VEC(struct page_function) list = { 0 };
	struct mk_out *o = &p->o, brief = { 0 };
	const size_t n = p->t.functions.len;

	if (!vec_reserve(&list, n))
		return false;
	if (n)
		memcpy(list.data, p->t.functions.data, n * sizeof(*list.data));
	if (!sort_hottest(list.data, n)) {
		vec_deinit(&list);
		return false;
	}
	mk_put(o, "<table id=top><caption class=dim>Hottest functions; a click shows callers and callees"
		  "<thead><tr><th scope=col class=num aria-sort=descending><button id=bs data-k=sort>"
		  "Self</button><th scope=col class=num><button id=bt data-k=sort>Total</button>"
		  "<th scope=col>Function<th scope=col>Module</thead><tbody>\n");
	for (size_t i = 0; i < n && i < TABLE_ROWS && list.data[i].self; i++) {
		const struct page_function *f = &list.data[i];

		mk_put(o, "<tr><td class=num>");
		put_number(p, f->self);
		mk_put(o, "<td class=num>");
		put_number(p, f->total);
		mk_put(o, "<td>", mk_escaped(label_of(p, f, &brief)), "<td>");
		if (f->module != PROF_NONE)
			mk_put(o, mk_escaped(sc_basename(
				text_of(p, p->t.modules.data[f->module]))));
		mk_put(o, "\n");
	}
	mk_put(o, "</table>\n");
	mk_out_deinit(&brief);
	vec_deinit(&list);
	return !brief.error;
}

static void put_function(struct page *p, const struct page_function *f, struct mk_out *brief)
{
	const struct prof_frame *of = &p->s->frames.data[f->frame];
	const struct sc_str name = text_of(p, of->name), label = label_of(p, f, brief);
	struct mk_out *o = &p->o;

	mk_put(o, ",\n[");
	mk_page_json(o, name);
	mk_put(o, ",");
	mk_page_json(o, text_of(p, of->file));
	mk_put(o, ",", of->start_line, ",");
	mk_out_signed(o, f->module == PROF_NONE ? -1 : (int64_t)f->module);
	mk_put(o, ",", (uint64_t)f->kind);
	if (!sc_str_same(label, name)) {
		mk_put(o, ",");
		mk_page_json(o, label);
	}
	mk_put(o, "]");
}

static void put_tree(struct page *p)
{
	struct mk_out *o = &p->o;

	for (size_t i = 0; i < p->s->nodes.len; i++) {
		const uint32_t node = p->t.order.data[i], frame = p->s->nodes.data[node].frame;

		mk_put(o, i ? ",\n" : "\n", p->t.depths.data[node], ",");
		mk_put(o, i ? (uint64_t)(p->t.function_of.data[frame] + 1) * 2 + p->s->frames.data[frame].inlined :
			      (uint64_t)0);
		for (size_t k = 0; k < p->s->types.len; k++)
			mk_put(o, ",", page_value(&p->t, node, k));
	}
	if (!p->s->nodes.len) {
		mk_put(o, "0,0");
		for (size_t k = 0; k < p->s->types.len; k++)
			mk_put(o, ",0");
	}
}

static void put_data(struct page *p)
{
	struct mk_out *o = &p->o, brief = { 0 };

	mk_page_data(o, "profile");
	mk_put(o, "{\"chosen\":", p->s->chosen, ",\"types\":[");
	for (size_t k = 0; k < p->s->types.len; k++) {
		mk_put(o, k ? ",[" : "[");
		mk_page_json(o, text_of(p, p->s->types.data[k].type));
		mk_put(o, ",");
		mk_page_json(o, text_of(p, p->s->types.data[k].unit));
		mk_put(o, "]");
	}
	mk_put(o, "],\"modules\":[");
	for (size_t i = 0; i < p->t.modules.len; i++) {
		mk_put(o, i ? ",\n" : "\n");
		mk_page_json(o, text_of(p, p->t.modules.data[i]));
	}
	mk_put(o, "],\"functions\":[\n[\"all samples\",\"\",0,-1,1]");
	for (size_t i = 0; i < p->t.functions.len; i++)
		put_function(p, &p->t.functions.data[i], &brief);
	mk_put(o, "],\"tree\":[");
	put_tree(p);
	mk_put(o, "]}</script>\n");
	if (brief.error)
		o->error = brief.error;
	mk_out_deinit(&brief);
}

/* ---- the page ------------------------------------------------------------------------------------- */

static void put_types(struct page *p)
{
	struct mk_out *o = &p->o;

	if (p->s->types.len < 2)
		return;
	mk_put(o, "<select aria-label=\"Which values\">");
	for (size_t k = 0; k < p->s->types.len; k++)
		mk_put(o, "<option value=", k, k == p->s->chosen ? " selected>" : ">",
		       mk_escaped(text_of(p, p->s->types.data[k].type)));
	mk_put(o, "</select>\n");
}

static bool put_page(struct page *p, const char *name, const struct mk_page_links *links)
{
	struct mk_out *o = &p->o;
	bool ok;

	mk_page_begin(o, MK_PAGE_PROFILE, mk_escaped(sc_basename(sc_str_of(name))), links);
	mk_page_bar(o, MK_PAGE_PROFILE, name, NULL);
	mk_put(o, "<main>\n");
	put_head(p);
	mk_put(o, "<div class=page>\n<nav id=crumbs aria-label=\"Where the graph is zoomed to\"></nav>\n"
		  "<div id=g><div><canvas tabindex=0 role=application aria-label=\"Flame graph: arrow keys "
		  "move, Enter zooms in, Escape zooms out; the table below says the same\" "
		  "aria-describedby=d></canvas></div></div>\n<div id=key class=dim>");
	put_types(p);
	mk_put(o, "<span><i class=k0></i>program</span> <span><i class=k1></i>system</span> "
		  "<span><i class=k3></i>no symbols</span> <span><i class=ki></i><em>inlined</em></span></div>\n"
		  "<div id=d role=status></div>\n");
	ok = put_table(p);
	mk_put(o, "</div>\n<noscript><p>The graph needs a script; the table does not.</noscript>\n</main>\n");
	put_data(p);
	mk_page_end(o, MK_PAGE_PROFILE);
	mk_out_flush(o);
	return ok;
}

static int write_piece(void *ctx, const char *data, size_t len)
{
	struct prof_out *out = ctx;

	prof_put(prof_out_own(out), data, len);
	return out->over || out->own.failed ? -EIO : 0;
}

int page_write(const struct prof_stacks *s, const char *name, struct prof_out *out,
	       struct sc_error *err)
{
	const struct symprofile_options *how = s->places->options;
	const struct mk_page_links links = { how->link, how->path_maps };
	struct page p = { .s = s, .t = { .s = s, .own = how->own } };
	const bool ok = !mk_out_init(&p.o, 1 << 16, write_piece, out) && page_tree_make(&p.t) &&
			put_page(&p, name, &links) && p.o.error != -ENOMEM;

	mk_out_deinit(&p.o);
	page_tree_deinit(&p.t);
	return ok ? prof_out_end(out, err) : sc_no_memory(err);
}
