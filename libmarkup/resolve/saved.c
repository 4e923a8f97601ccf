/*
 * Contexts ↔ bytes: see saved.h. They are loaded through the same functions that take
 * modules and maps from a log, so that what holds for a context holds for any bytes: no two
 * modules of one ID, no maps that overlap, nothing above the MARKUP_…_MAX. Memory: in
 * proportion to the bytes.
 */
#include "libmarkup/resolve/saved.h"

#include <endian.h>
#include <errno.h>

#include "libmarkup/bytes/fields.h"

static const char magic[8] = { 'S', 'Y', 'M', 'C', 'T', 'X', '0', '1' };

/* ---- saving ------------------------------------------------------------------- */

static void put32(struct mk_out *o, uint32_t v)
{
	v = htole32(v);
	mk_out_put(o, (const char *)&v, sizeof(v));
}

static void put64(struct mk_out *o, uint64_t v)
{
	v = htole64(v);
	mk_out_put(o, (const char *)&v, sizeof(v));
}

static void put_module(struct mk_out *o, const struct mk_module *m, enum markup_dialect dialect)
{
	const bool fuchsia = dialect == MARKUP_FUCHSIA;

	put64(o, m->id);
	put32(o, (uint32_t)m->name.len);
	put32(o, (uint32_t)(fuchsia ? m->build_text.len : 2 * m->build_id_len));
	mk_out_str(o, m->name);
	if (!fuchsia) {
		mk_out_bytes(o, m->build_id, m->build_id_len);
		return;
	}
	mk_out_str(o, m->build_text);
	put64(o, m->base);
	put64(o, m->size);
	put64(o, m->negative_base);
	mk_out_char(o, m->base_fixed);
}

static void put_context(struct mk_out *o, const struct mk_context *c)
{
	put64(o, c->name_bytes);
	put32(o, c->num_modules);
	put32(o, c->num_maps);
	for (uint32_t i = 0; i < c->num_modules; i++)
		put_module(o, &c->modules[i], c->dialect);
	for (uint32_t i = 0; i < c->num_maps; i++) {
		const struct mk_map *m = &c->maps[i];

		put64(o, m->address);
		put64(o, m->size);
		put64(o, m->vaddr);
		put32(o, m->module);
		mk_out_put(o, m->mode, sizeof(m->mode));
	}
}

void mk_contexts_save(struct mk_resolve *r, struct mk_out *o)
{
	const struct mk_demux *d = &r->demux;

	mk_demux_hold(r);
	mk_out_put(o, magic, sizeof(magic));
	put32(o, r->dialect);
	put32(o, (uint32_t)d->processes.len);
	put64(o, d->lines);
	put_context(o, &r->context);
	for (size_t i = 0; i < d->processes.len; i++) {
		put64(o, d->processes.data[i]->announced);
		put32(o, (uint32_t)d->processes.data[i]->key_len);
		mk_out_put(o, d->processes.data[i]->key, d->processes.data[i]->key_len);
		put_context(o, &d->processes.data[i]->context);
	}
}

/* ---- loading ------------------------------------------------------------------ */

/* What is left of the bytes; once there were too few, or one was wrong, all is zero. */
struct cursor {
	const char *p, *end;
	bool bad;
};

static const char *take(struct cursor *c, size_t len)
{
	const char *p = c->p;

	c->bad |= len > (size_t)(c->end - p);
	if (c->bad)
		return NULL;
	c->p += len;
	return p;
}

static uint32_t take32(struct cursor *c)
{
	const char *p = take(c, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static uint64_t take64(struct cursor *c)
{
	const char *p = take(c, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static void load_module(struct cursor *in, struct mk_context *c)
{
	const uint64_t id = take64(in);
	struct sc_str name = { .len = take32(in) }, build_id = { .len = take32(in) };
	uint32_t index;

	name.ptr = take(in, name.len);
	build_id.ptr = take(in, build_id.len);
	if (in->bad || (c->dialect != MARKUP_FUCHSIA && build_id.len &&
			!mk_field_build_id(build_id, NULL)) ||
	    mk_context_add_module(c, id, name, build_id, &index)) {
		in->bad = true;
		return;
	}
	if (c->dialect == MARKUP_FUCHSIA) {
		struct mk_module *m = &c->modules[index];
		const char *base_fixed;

		m->base = take64(in);
		m->size = take64(in);
		m->negative_base = take64(in);
		base_fixed = take(in, 1);
		m->base_fixed = base_fixed && *base_fixed;
	}
}

static void load_map(struct cursor *in, struct mk_context *c)
{
	struct mk_map map = { .address = take64(in), .size = take64(in), .vaddr = take64(in),
			      .module = take32(in) };
	const char *mode = take(in, sizeof(map.mode));
	uint32_t index;

	if (!mode || map.module >= c->num_modules || mode[sizeof(map.mode) - 1] ||
	    (*mode && !mk_field_mode(sc_str_of(mode), map.mode)))
		in->bad = true;
	else if (c->dialect == MARKUP_FUCHSIA)
		mk_context_note_map(c, &map, sc_str_of(mode));
	else
		in->bad = mk_context_add_map(c, &map, &index);
}

static void load_context(struct cursor *in, struct mk_context *c)
{
	const uint64_t name_bytes = take64(in);
	const uint32_t modules = take32(in), maps = take32(in);

	for (uint32_t i = 0; i < modules && !in->bad; i++)
		load_module(in, c);
	for (uint32_t i = 0; i < maps && !in->bad; i++)
		load_map(in, c);
	in->bad |= name_bytes < c->name_bytes || name_bytes > MARKUP_NAMES_MAX;
	if (!in->bad)
		c->name_bytes = name_bytes;
}

/* -ENOMEM, if there is no memory. */
static int load_process(struct cursor *in, struct mk_resolve *r)
{
	const uint64_t announced = take64(in);
	struct sc_str key = { .len = take32(in) };
	struct mk_process *p;

	key.ptr = take(in, key.len);
	in->bad |= !key.len || key.len > DEMUX_KEY_MAX;
	if (in->bad)
		return 0;
	p = mk_demux_add(r, key);
	if (!p)
		return -ENOMEM;
	p->announced = announced;
	load_context(in, &p->context);
	p->bytes = mk_context_bytes(&p->context);
	r->demux.bytes += p->bytes;
	return 0;
}

int mk_contexts_load(struct mk_resolve *r, const void *bytes, size_t len)
{
	struct cursor in = { bytes, (const char *)bytes + len, false };
	const char *begin = take(&in, sizeof(magic));
	const uint32_t dialect = take32(&in), processes = take32(&in);
	int rc = 0;

	r->demux.lines = take64(&in);
	in.bad |= !begin || memcmp(begin, magic, sizeof(magic)) || dialect != r->dialect ||
		  processes > (r->demux.on ? DEMUX_MAX : 0);
	if (!in.bad)
		load_context(&in, &r->context);
	for (uint32_t i = 0; i < processes && !in.bad && !rc; i++)
		rc = load_process(&in, r);
	return rc ? rc : in.bad || in.p != in.end ? -EINVAL : 0;
}
