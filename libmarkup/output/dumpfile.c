/*
 * {{{dumpfile:TYPE:NAME}}} → JSON, for those who go and fetch the dumps:
 *
 *   {"type","name","modules":[{"id","name","build"}],
 *    "segments":[{"mod","vaddr","size","flags","mod_rel_addr"}]}
 *
 * with the modules and maps known when the element came. Numbers are JSON
 * numbers; text that is not UTF-8 has U+FFFD in place of each bad byte. The
 * list is bounded: what does not fit is complained about.
 */
#include "libmarkup/bytes/json.h"
#include "libmarkup/output/output.h"

static void put_modules(struct mk_out *o, const struct mk_context *c)
{
	for (uint32_t i = 0; i < c->num_modules; i++) {
		const struct mk_module *m = &c->modules[i];
		if (i)
			mk_out_char(o, ',');
		mk_put(o, "{\"id\":", m->id);
		mk_json_str(o, "name", m->name);
		mk_out_lit(o, ",\"build\":\"");
		mk_out_bytes(o, m->build_id, m->build_id_len);
		mk_out_lit(o, "\"}");
	}
}

static void put_segments(struct mk_out *o, const struct mk_context *c)
{
	for (uint32_t i = 0; i < c->num_maps; i++) {
		const struct mk_map *m = &c->maps[i];
		if (i)
			mk_out_char(o, ',');
		mk_put(o, "{\"mod\":", c->modules[m->module].id);
		mk_json_number(o, "vaddr", m->address);
		mk_json_number(o, "size", m->size);
		mk_json_str(o, "flags", sc_str_of(m->mode));
		mk_json_number(o, "mod_rel_addr", m->vaddr);
		mk_out_char(o, '}');
	}
}

void mk_note_dumpfile(struct mk_output *r, const struct mk_event *e)
{
	struct mk_out *o = &r->dumpfiles;
	const size_t before = o->len;

	if (!r->options.collect_dumpfiles || r->where->silent)
		return;
	mk_put(o, before ? ",\n" : "", "{\"type\":", mk_as(mk_json_string, e->detail));
	mk_json_str(o, "name", e->name);
	mk_out_lit(o, ",\"modules\":[");
	put_modules(o, &r->resolve->context);
	mk_out_lit(o, "],\"segments\":[");
	put_segments(o, &r->resolve->context);
	mk_out_lit(o, "]}");
	if (o->error)
		r->out.error = o->error;
	if (o->len > DUMPFILES_MAX) {
		o->len = before;
		mk_complain(r->where,
			    "too many dumpfile elements: this one is left out of the list");
	}
}
