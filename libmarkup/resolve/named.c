/*
 * Modules that are named by the lines of frames, by build ID or by name alone. What a build
 * ID stands for does not change, so they outlive resets; when they become too many, all are
 * forgotten. Their place in the table is a hash of what they are named by.
 */
#include <stdio.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

static uint64_t hash(struct sc_str s)
{
	uint64_t h = 0xcbf29ce484222325u + s.len;

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.ptr[i]) * 0x100000001b3u;
	return h;
}

uint64_t mk_bound_id(struct sc_str name)
{
	return hash(sc_last_part(name));
}

/* What the line is known by. */
struct known_by {
	struct sc_str name, build_id;
	char hex[2 * MISSING_ID_MAX], path[256];
};

static void take_id(struct known_by *k, const struct mk_module *m)
{
	static const char digits[] = "0123456789abcdef";

	if (!m->build_id_len || m->build_id_len > MISSING_ID_MAX)
		return;
	for (size_t i = 0; i < m->build_id_len; i++) {
		k->hex[2 * i] = digits[m->build_id[i] >> 4];
		k->hex[2 * i + 1] = digits[m->build_id[i] & 15];
	}
	k->build_id = (struct sc_str){ k->hex, 2 * m->build_id_len };
}

/* What the log said before of the name on the line. */
static void ask_context(struct mk_resolve *r, const struct mk_event *e, struct known_by *k)
{
	const struct mk_module *m = mk_context_module(&r->context, e->kernel ? MK_KERNEL
							: mk_bound_id(e->name));
	int len;

	if (m && e->kernel && m->name.len) {
		len = snprintf(k->path, sizeof(k->path), "%.*s/%.*s", (int)m->name.len, m->name.ptr,
			       (int)e->name.len, e->name.ptr);
		if ((size_t)len < sizeof(k->path))
			k->name = (struct sc_str){ k->path, (size_t)len };
	}
	if (m && (e->kernel ? sc_str_is(e->name, "vmlinux")
			    : sc_str_same(sc_last_part(m->name), sc_last_part(e->name))))
		take_id(k, m);
}

static bool is_it(const struct mk_module *m, const struct known_by *k, bool kernel)
{
	if (!sc_str_same(m->name, k->name))
		return false;
	if (k->build_id.len || m->build_id_len)
		return mk_field_build_id_is(k->build_id, m->build_id, m->build_id_len);
	return m->kernel == kernel;
}

struct mk_module *mk_named_module(struct mk_resolve *r, const struct mk_event *e)
{
	struct known_by k = { .name = e->name, .build_id = e->build_id };
	struct mk_context *c = &r->named;
	struct mk_module *m;
	uint32_t index;
	uint64_t id;

	if (e->shared_object && e->name.len + sizeof(".so") <= sizeof(k.path))
		k.name = (struct sc_str){ k.path, (size_t)snprintf(k.path, sizeof(k.path), "%.*s.so",
								   (int)e->name.len, e->name.ptr) };
	if (!k.build_id.len)
		ask_context(r, e, &k);
	/* Of two names of a build ID each is another module: which of them was first here depends
	 * on what else this thread, or this part of the log, has seen. */
	id = hash(k.name) + 31 * hash(k.build_id);
	while ((m = mk_context_module(c, id)) && !is_it(m, &k, e->kernel))
		id++;
	if (!m) {
		if (mk_context_add_module(c, id, k.name, k.build_id, &index) == MK_CTX_FULL) {
			mk_context_reset(c);
			if (mk_context_add_module(c, id, k.name, k.build_id, &index))
				return NULL;
		}
		m = &c->modules[index];
		m->generation = ++r->generations;
		m->kernel = e->kernel;
	}
	if (!m->noted && (r->keep_modules || r->wants_symbols))
		mk_modules_entry(&r->lines, m->name, m->build_id, m->build_id_len);
	m->noted = true;
	return m;
}
