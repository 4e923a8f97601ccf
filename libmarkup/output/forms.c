/* The forms of output, a row each: see output.h. */
#include "libmarkup/output/group.h"

#include <errno.h>
#include <stdlib.h>

/* The dialects, and the formats of the default one: a row each. */
static const struct mk_renderer *const of_dialect[] = {
	[MARKUP_LLVM] = &mk_llvm_renderer,
	[MARKUP_FUCHSIA] = &mk_fuchsia_renderer,
};
#define FORMATS(X) \
	X(MARKUP_TEXT_OUT, "text", "", &mk_text_renderer, &mk_group_renderer, mk_groups_text) \
	X(MARKUP_JSON, "json", ".json", &mk_json_renderer, &mk_group_renderer, mk_groups_json) \
	X(MARKUP_HTML, "html", ".html", &mk_html_renderer, &mk_group_page_renderer, mk_groups_html)

#define NAME(format, name, suffix, renderer, group, groups) [format] = name,
#define SUFFIX(format, name, suffix, renderer, group, groups) [format] = suffix,
#define RENDERER(format, name, suffix, renderer, group, groups) [format] = renderer,
#define GROUP(format, name, suffix, renderer, group, groups) [format] = group,
#define GROUPS(format, name, suffix, renderer, group, groups) [format] = groups,
const char *const markup_format_names[] = { FORMATS(NAME) NULL };
const char *const markup_format_suffixes[] = { FORMATS(SUFFIX) NULL };
static const struct mk_renderer *const of_format[] = { FORMATS(RENDERER) };
static const struct mk_renderer *const of_groups[] = { FORMATS(GROUP) };
void (*const mk_groups_put[])(struct mk_out *o, const struct markup_groups *g) = {
	FORMATS(GROUPS)
};

const struct mk_renderer *mk_choose_renderer(const struct markup_options *options)
{
	if (options->group)
		return of_groups[options->format];
	return options->dialect == MARKUP_DEFAULT ? of_format[options->format]
						  : of_dialect[options->dialect];
}

const struct markup_form *markup_form_of(const struct markup_options *options)
{
	return &mk_choose_renderer(options)->form;
}

int mk_output_init(struct mk_output *r, const struct markup_options *options,
		   struct mk_resolve *resolve, struct mk_where *where)
{
	const struct mk_renderer *renderer = mk_choose_renderer(options);

	*r = (struct mk_output){ .renderer = renderer, .options = *options, .resolve = resolve,
				 .where = where, .newline = "\n", .sgr = mk_no_colour };
	r->follows = renderer->colours == COLOURS_FOLLOWED ||
		     (renderer->colours == COLOURS_AS_ASKED &&
		      options->color != MARKUP_COLOR_NONE);
	r->state = calloc(1, renderer->state_size + 1);
	if (r->state && renderer->init)
		renderer->init(r);
	if (!r->state || !mk_out_room(&r->scratch, 4096))
		return -ENOMEM;
	return mk_out_init(&r->out, OUT_BUFFER, where->sink.write, where->sink.ctx);
}

void mk_output_deinit(struct mk_output *r)
{
	if (r->state && r->renderer->deinit)
		r->renderer->deinit(r);
	free(r->state);
	vec_deinit(&r->modline.maps);
	mk_out_deinit(&r->out);
	mk_out_deinit(&r->scratch);
	mk_out_deinit(&r->dumpfiles);
}
