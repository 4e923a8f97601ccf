/* The stacks of a core are walked and shown: JSON at once, as text those that are equal
 * together, behind a heading. */
#include <errno.h>

#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/report/core.h"

/* Threads with one stack. */
struct group {
	struct symcache_stack stack; /* of which what is not shown may be left out */
	size_t left_out;
	struct symcache_stack_id id;
	VEC(size_t) threads; /* their indices */
};

struct groups {
	VEC(struct group) list;
	struct sc_intern set; /* of the list, by what they are */
};

static bool is_wanted(const struct markup_core_options *o, uint32_t tid)
{
	for (size_t i = 0; i < o->num_threads; i++)
		if (o->threads[i] == tid)
			return true;
	return !o->num_threads;
}

struct wanted {
	const struct groups *all;
	struct symcache_stack_id id;
};

static bool is_group(const void *ctx, uint32_t i)
{
	const struct wanted *w = ctx;

	const struct symcache_stack_id *id = &w->all->list.data[i].id;

	return id->low == w->id.low && id->high == w->id.high;
}

/* Puts the stack into its group, or makes a new one; what it has is the group's then. False: out
 * of memory. */
static bool add_to_group(struct groups *all, bool alone, struct symcache_stack *stack, size_t thread)
{
	const struct wanted w = { all, symcache_stack_id(stack) };
	uint32_t *slot = alone ? NULL : sc_intern_find(&all->set, w.id.low, is_group, &w);
	struct group *g;
	size_t *in;

	if (!slot && !alone)
		return false;
	if (!slot || *slot == SC_INTERN_NEW) {
		if (!(g = vec_push(&all->list)))
			return false;
		*g = (struct group){ .id = w.id };
		if (!mk_core_shown_part(stack, &g->stack, &g->left_out))
			return false;
		if (slot)
			*slot = (uint32_t)(all->list.len - 1);
	} else {
		g = &all->list.data[*slot];
	}
	if (!(in = vec_push(&g->threads)))
		return false;
	*in = thread;
	return true;
}

static void groups_deinit(struct groups *all)
{
	for (size_t i = 0; i < all->list.len; i++) {
		symcache_stack_deinit(&all->list.data[i].stack);
		vec_deinit(&all->list.data[i].threads);
	}
	vec_deinit(&all->list);
	sc_intern_deinit(&all->set);
}

static int walk(struct mk_core *c, const struct markup_core_options *o, struct groups *groups,
		struct markup_cored *ret, struct sc_error *err)
{
	struct symcache_stack stack = { 0 };
	int rc = 0;

	for (size_t i = 0; i < c->core->num_threads && !rc; i++) {
		const struct symcache_core_thread *t = &c->core->threads[i];

		if (!is_wanted(o, t->tid))
			continue;
		rc = symcache_core_walk(c->core, t, o->registers, &stack, err);
		if (rc)
			break;
		ret->threads++;
		ret->cut |= stack.stop != SYMCACHE_STOP_END && stack.stop != SYMCACHE_STOP_NO_MODULE;
		if (o->format == MARKUP_REPORT_JSON && !o->summary)
			mk_core_json_stack(c, &stack, i);
		else if (!o->summary && !add_to_group(groups, o->all || o->registers, &stack, i))
			rc = sc_no_memory(err);
	}
	symcache_stack_deinit(&stack);
	return rc;
}

static void put_groups(struct mk_core *c, const struct markup_core_options *o,
		       const struct groups *groups)
{
	const bool html = o->format == MARKUP_REPORT_HTML;
	const struct mk_page_links links = { o->link, o->path_maps };

	if (o->format == MARKUP_REPORT_JSON)
		return;
	if (html)
		mk_core_html_begin(c, &links);
	else
		mk_core_text_head(c);
	for (size_t i = 0; i < groups->list.len; i++) {
		const struct group *g = &groups->list.data[i];

		(html ? mk_core_html_stack : mk_core_text_stack)(c, &g->stack, g->left_out,
								 g->threads.data, g->threads.len);
	}
	if (html)
		mk_core_html_end(c);
	if (c->head.error || c->outline.error)
		c->out->error = -ENOMEM;
}

int markup_core_report(const char *path, struct symcache_core *core,
		       const struct markup_core_options *options, struct mk_out *out,
		       struct markup_cored *ret, struct sc_error *err)
{
	struct symcache_names *names = symcache_names_create(NULL);
	struct mk_core c = { .path = path, .core = core, .out = out, .places = { .out = out },
			     .own = options->own, .color = options->color, .brief = options->brief,
			     .sources = { .search = options->search },
			     .source_lines = options->search ? options->source_lines : 0 };
	struct groups groups = { .list = { 0 } };
	int rc = 0;

	*ret = (struct markup_cored){ 0 };
	if (!names || !(c.places.of = symcache_places_create(options->caches, names, true)))
		rc = sc_no_memory(err);
	if (!rc)
		rc = walk(&c, options, &groups, ret, err);
	if (!rc && ret->threads)
		put_groups(&c, options, &groups);
	if (!rc && ret->threads && options->summary)
		(options->format == MARKUP_REPORT_JSON ? mk_core_json_summary
							: mk_core_text_summary)(&c);
	symcache_source_files_deinit(&c.sources);
	mk_out_deinit(&c.head);
	mk_out_deinit(&c.outline);
	groups_deinit(&groups);
	mk_places_deinit(&c.places);
	free(c.jitted.text);
	symcache_names_destroy(names);
	return rc ? rc : out->error == -ENOMEM ? sc_no_memory(err) : 0;
}
