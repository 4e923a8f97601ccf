/*
 * Names and declarations through references: see origin.h.
 *
 * The chain that starts at an entry is the same whoever refers to it, so what is
 * remembered is the target of a reference with all that it leads to.
 */
#include "libsymcache/dwarf/origin.h"

#define MAX_CHAIN 16

void dw_origin_memo_clear(struct dw_origin_memo *m, const struct dw_unit *u)
{
	vec_clear(&m->targets);
	m->bytes_left = (64 << 10) + 256 * (u->end - u->offset);
	if (!++m->generation) { /* wrapped: old marks would look new */
		for (size_t i = 0; i < m->slots.len; i++)
			m->slots.data[i].generation = 0;
		m->generation = 1;
	}
}

void dw_origin_memo_deinit(struct dw_origin_memo *m)
{
	vec_deinit(&m->slots);
	vec_deinit(&m->targets);
}

const char *dw_origin_name(const struct dw_origin *o)
{
	return o->linkage_name ? o->linkage_name :
	       o->mips_linkage_name ? o->mips_linkage_name : o->name;
}

/* An empty name is treated as missing. */
static const char *string_of(const struct dw_unit *u, const struct dw_value *v)
{
	const char *s = v->form ? dw_value_string(u, v) : NULL;

	return s && *s ? s : NULL;
}

/* Adds what this entry, at `offset`, says and no entry before it said. */
static void add(struct dw_origin *o, const struct dw_unit *u, uint64_t offset,
		const struct dw_value *v)
{
	bool named = dw_origin_name(o);
	uint64_t n;

	if (!o->linkage_name)
		o->linkage_name = string_of(u, &v[DW_SLOT_LINKAGE_NAME]);
	if (!o->mips_linkage_name)
		o->mips_linkage_name = string_of(u, &v[DW_SLOT_MIPS_LINKAGE_NAME]);
	if (!dw_origin_name(o)) { /* else it would not be shown */
		o->name = string_of(u, &v[DW_SLOT_NAME]);
		o->name_unit = o->name ? u : NULL;
		o->name_at = offset;
	}
	if (!named && dw_origin_name(o))
		o->name_lang = u->lang;
	if (!o->decl_line && dw_value_number(&v[DW_SLOT_DECL_LINE], &n) && n <= UINT32_MAX)
		o->decl_line = (uint32_t)n;
	if (!o->decl_unit && dw_value_number(&v[DW_SLOT_DECL_FILE], &n)) {
		o->decl_unit = u;
		o->decl_file = n;
	}
	if (!o->type_unit && v[DW_SLOT_TYPE].form)
		o->type_unit = dw_value_reference(u, &v[DW_SLOT_TYPE], &o->type);
}

/* Adds what a remembered chain says and no entry before it said. */
static void merge(struct dw_origin *o, const struct dw_origin *more)
{
	if (!dw_origin_name(o))
		o->name_lang = more->name_lang;
	if (!o->linkage_name)
		o->linkage_name = more->linkage_name;
	if (!o->mips_linkage_name)
		o->mips_linkage_name = more->mips_linkage_name;
	if (!o->name) {
		o->name = more->name;
		o->name_unit = more->name_unit;
		o->name_at = more->name_at;
	}
	if (!o->decl_line)
		o->decl_line = more->decl_line;
	if (!o->decl_unit) {
		o->decl_unit = more->decl_unit;
		o->decl_file = more->decl_file;
	}
	if (!o->type_unit) {
		o->type_unit = more->type_unit;
		o->type = more->type;
	}
}

static const struct dw_unit *next_in_chain(const struct dw_unit *u,
					   const struct dw_value *v, uint64_t *offset)
{
	const struct dw_value *ref = v[DW_SLOT_ABSTRACT_ORIGIN].form ?
		&v[DW_SLOT_ABSTRACT_ORIGIN] : &v[DW_SLOT_SPECIFICATION];

	return ref->form ? dw_value_reference(u, ref, offset) : NULL;
}

static void read_chain(struct dw_origin_memo *m, const struct dw_unit *u, uint64_t offset,
		       struct dw_origin *ret)
{
	struct dw_value *v = m->values;

	memset(ret, 0, sizeof(*ret));
	for (int i = 0; u && i < MAX_CHAIN && m->bytes_left; i++) {
		struct dw_cursor c = dw_entry_cursor(u, offset);
		const uint8_t *entry = c.p;
		const struct dw_abbrev *abbrev = dw_abbrev(u->abbrevs, dw_uleb(&c));
		const struct dw_unit *next = NULL;

		if (c.bad || !abbrev)
			return;
		dw_read_attributes(&c, u, abbrev, v);
		if (!c.bad) {
			add(ret, u, offset, v);
			next = next_in_chain(u, v, &offset);
		}
		dw_clear_attributes(abbrev, v);
		dw_spend(&m->bytes_left, entry, &c);
		u = next;
	}
}

static struct dw_origin_slot *find(struct dw_origin_memo *m, const struct dw_unit *u,
				   uint64_t offset)
{
	size_t mask = m->slots.len - 1;
	size_t at = (offset * 0x9e3779b97f4a7c15ull >> 20) & mask;
	struct dw_origin_slot *s;

	for (;; at = (at + 1) & mask) {
		s = &m->slots.data[at];
		if (s->generation != m->generation ||
		    (s->offset == offset && m->targets.data[s->target].unit == u))
			return s;
	}
}

static bool grow(struct dw_origin_memo *m)
{
	struct dw_origin_memo old = *m;
	const size_t size = m->slots.len ? m->slots.len * 2 : 256;

	memset(&m->slots, 0, sizeof(m->slots));
	if (!vec_reserve(&m->slots, size)) {
		*m = old;
		return false;
	}
	memset(m->slots.data, 0, size * sizeof(*m->slots.data));
	m->slots.len = size;
	for (size_t i = 0; i < old.slots.len; i++) {
		const struct dw_origin_slot *s = &old.slots.data[i];

		if (s->generation == m->generation)
			*find(m, m->targets.data[s->target].unit, s->offset) = *s;
	}
	vec_deinit(&old.slots);
	return true;
}

/* Does an entry leave all to the one that it refers to? Most inlined calls do. */
static bool says_nothing(const struct dw_value *v)
{
	return !(v[DW_SLOT_LINKAGE_NAME].form | v[DW_SLOT_MIPS_LINKAGE_NAME].form |
		 v[DW_SLOT_NAME].form | v[DW_SLOT_DECL_LINE].form | v[DW_SLOT_DECL_FILE].form |
		 v[DW_SLOT_TYPE].form);
}

bool dw_origin_at(struct dw_origin_memo *m, const struct dw_unit *u, uint64_t offset,
		  const struct dw_origin **ret)
{
	struct dw_origin_target *added;
	struct dw_origin_slot *slot;

	if (m->targets.len * 2 >= m->slots.len && !grow(m))
		return false;
	slot = find(m, u, offset);
	if (slot->generation != m->generation) {
		added = vec_push(&m->targets);
		if (!added)
			return false;
		added->unit = u;
		read_chain(m, u, offset, &added->origin);
		*slot = (struct dw_origin_slot){ offset, m->generation,
						 (uint32_t)m->targets.len - 1 };
	}
	*ret = &m->targets.data[slot->target].origin;
	return true;
}

bool dw_origin_read(struct dw_origin_memo *m, const struct dw_unit *u, uint64_t offset,
		    const struct dw_value *values, struct dw_origin *ret)
{
	const bool bare = says_nothing(values);
	const struct dw_unit *target;
	const struct dw_origin *origin;

	memset(ret, 0, sizeof(*ret));
	if (!bare)
		add(ret, u, offset, values);
	target = next_in_chain(u, values, &offset);
	if (!target)
		return true;
	if (!dw_origin_at(m, target, offset, &origin))
		return false;
	if (bare)
		*ret = *origin;
	else
		merge(ret, origin);
	return true;
}
