/*
 * Modules that are named by the lines of frames, by build ID or by name alone. What a build
 * ID stands for does not change, so they outlive resets; when they become too many, all are
 * forgotten. Their place in the table is a hash of what they are named by.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

static uint64_t hash(struct markup_str s)
{
	uint64_t h = 0xcbf29ce484222325u + s.len;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
	return h;
}

static bool is_it(const struct mk_module *m, const struct mk_event *e)
{
	if (e->build_id.len || m->build_id_len)
		return mk_field_build_id_is(e->build_id, m->build_id, m->build_id_len);
	return m->name.len == e->name.len && !memcmp(m->name.ptr, e->name.ptr, e->name.len);
}

struct mk_module *mk_named_module(struct mk_resolve *r, const struct mk_event *e)
{
	uint64_t id = hash(e->build_id.len ? e->build_id : e->name);
	struct mk_context *c = &r->named;
	struct mk_module *m;
	uint32_t index;

	while ((m = mk_context_module(c, id)) && !is_it(m, e))
		id++;
	if (!m) {
		if (mk_context_add_module(c, id, e->name, e->build_id, &index) == MK_CTX_FULL) {
			mk_context_reset(c);
			if (mk_context_add_module(c, id, e->name, e->build_id, &index))
				return NULL;
		}
		m = &c->modules[index];
		m->generation = ++r->generations;
	}
	if (!m->noted && (r->keep_modules || r->html))
		mk_modules_entry(&r->lines, m->name, m->build_id, m->build_id_len);
	m->noted = true;
	return m;
}
