/*
 * {{{dumpfile:TYPE:NAME}}} → JSON, for those who go and fetch the dumps:
 *
 *   [{"type","name","modules":[{"id","name","build"}],
 *     "segments":[{"mod","vaddr","size","flags","mod_rel_addr"}]}]
 *
 * with the modules and maps known when the element came. Numbers are JSON
 * numbers; text that is not UTF-8 has U+FFFD in place of each bad byte. The
 * array is bounded: what does not fit is complained about.
 */
#include "libmarkup/json.h"
#include "libmarkup/state.h"

#define DUMPFILES_MAX (64u << 20) /* bytes of JSON */

static void put_modules(struct markup_out *o, const struct markup_context *c)
{
	for (uint32_t i = 0; i < c->num_modules; i++) {
		const struct markup_module *m = &c->modules[i];
		if (i)
			out_char(o, ',');
		out_lit(o, "{\"id\":");
		out_dec(o, m->id);
		out_lit(o, ",\"name\":");
		json_string(o, m->name);
		out_lit(o, ",\"build\":\"");
		out_bytes(o, m->build_id, m->build_id_len);
		out_lit(o, "\"}");
	}
}

static void put_segments(struct markup_out *o, const struct markup_context *c)
{
	for (uint32_t i = 0; i < c->num_maps; i++) {
		const struct markup_mmap *m = &c->maps[i];
		if (i)
			out_char(o, ',');
		out_lit(o, "{\"mod\":");
		out_dec(o, c->modules[m->module].id);
		out_lit(o, ",\"vaddr\":");
		out_dec(o, m->address);
		out_lit(o, ",\"size\":");
		out_dec(o, m->size);
		out_lit(o, ",\"flags\":\"");
		out_put(o, m->mode, strlen(m->mode));
		out_lit(o, "\",\"mod_rel_addr\":");
		out_dec(o, m->vaddr);
		out_char(o, '}');
	}
}

void dumpfile_note(struct markup_filter *f, struct markup_str type, struct markup_str name)
{
	struct markup_out *o = &f->dumpfiles;
	const size_t before = o->len;

	if (!f->options.collect_dumpfiles)
		return;
	out_put(o, before ? ",\n" : "[", before ? 2 : 1);
	out_lit(o, "{\"type\":");
	json_string(o, type);
	out_lit(o, ",\"name\":");
	json_string(o, name);
	out_lit(o, ",\"modules\":[");
	put_modules(o, &f->context);
	out_lit(o, "],\"segments\":[");
	put_segments(o, &f->context);
	out_lit(o, "]}");
	if (o->error)
		f->error = o->error;
	if (o->len > DUMPFILES_MAX) {
		o->len = before;
		complain(f, "too many dumpfile elements: this one is left out of the list");
	}
}

void markup_filter_dumpfiles(struct markup_filter *f, struct markup_str *ret)
{
	struct markup_out *o = &f->dumpfiles;
	const size_t len = o->len;

	if (len)
		out_lit(o, "]\n");
	else
		out_lit(o, "[]\n");
	*ret = (struct markup_str){ o->buf, o->len };
	o->len = len; /* the end is written again next time */
}
