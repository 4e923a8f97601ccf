/*
 * Qualified names of functions without a linkage name: see qualify.h.
 *
 * Cost: a walk outwards and a text for each run of noted entries with the same parent; a binary
 * search for each scope that has a bare name.
 */
#include "libsymcache/dwarf/qualify.h"

#include "libsymcache/base/search.h"
#include "libsymcache/dwarf/attributes.h"

enum dw_scope_kind dw_scope_kind(uint16_t tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return DW_SCOPE_NAMED;
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		return DW_SCOPE_FUNCTION;
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_type_unit:
		return DW_SCOPE_END;
	}
	return DW_SCOPE_NONE;
}

static bool is_of_lambda(const char *function)
{
	return !strncmp(function, "operator", 8) || !strcmp(function, "_FUN") ||
	       strstr(function, "<lambda");
}

const char *dw_unnamed_scope(uint16_t tag, const char *inner)
{
	return tag == DW_TAG_structure_type && inner && is_of_lambda(inner) ? "<lambda>" :
	       tag == DW_TAG_namespace ? "(anonymous namespace)" :
	       tag == DW_TAG_class_type ? "(anonymous class)" :
	       tag == DW_TAG_structure_type ? "(anonymous struct)" :
	       tag == DW_TAG_union_type ? "(anonymous union)" : NULL;
}

bool dw_scope_names_add(struct dw_scope_names *names, const char *name)
{
	if (names->n == DW_QUALIFY_LEVELS || !name)
		return false;
	names->list[names->n++] = name;
	return true;
}

bool dw_scope_names_write(const struct dw_scope_names *names, const char *name,
			  struct dw_facts *u, uint32_t *ret)
{
	const size_t begin = u->texts.len ? u->texts.len : 1;
	size_t size = 0, at = begin;

	*ret = 0;
	if (!names->n)
		return true;
	for (unsigned i = 0; i < names->n; i++)
		size += strnlen(names->list[i], DW_QUALIFY_BYTES) + 2;
	size += name ? strnlen(name, DW_QUALIFY_BYTES) + 1 : 0;
	if (size > DW_QUALIFY_BYTES || begin + size > UINT32_MAX)
		return true;
	if (!vec_reserve(&u->texts, begin - u->texts.len + size))
		return false;
	u->texts.data[0] = 0;
	for (unsigned i = names->n; i-- > 0; ) {
		const size_t len = strlen(names->list[i]);

		memcpy(u->texts.data + at, names->list[i], len);
		at += len;
		if (i || name) {
			memcpy(u->texts.data + at, "::", 2);
			at += 2;
		}
	}
	if (name) {
		memcpy(u->texts.data + at, name, strlen(name));
		at += strlen(name);
	}
	u->texts.data[at++] = 0;
	u->texts.len = at;
	*ret = (uint32_t)begin;
	return true;
}

/* ---- the fast reader's ------------------------------------------------------------------ */

void dw_qualifier_begin(struct dw_qualifier *q, struct dw_origin_memo *origins,
			const struct dw_unit *u, struct dw_facts *facts)
{
	q->origins = origins;
	q->u = u;
	q->facts = facts;
	vec_clear(&q->noted);
	vec_clear(&q->wanted);
	q->last_parent = q->last_scopes = 0;
	q->most_texts = (64 << 10) + 4 * (u->end - u->offset);
}

void dw_qualifier_deinit(struct dw_qualifier *q)
{
	vec_deinit(&q->noted);
	vec_deinit(&q->wanted);
}

static struct dw_noted *find(struct dw_qualifier *q, uint32_t entry)
{
	struct dw_noted *list = q->noted.data;
	const size_t at = SC_SEARCH(i, q->noted.len, list[i].entry < entry);

	return at < q->noted.len && list[at].entry == entry ? &list[at] : NULL;
}

/* Adds what a function says of the names in it. *more: its own scopes follow. */
static bool add_function(struct dw_qualifier *q, const struct dw_origin *o, uint64_t entry,
			 struct dw_scope_names *names, bool *more)
{
	const struct dw_noted *noted;

	*more = false;
	if (!dw_scope_names_add(names, dw_origin_name(o)))
		return false;
	if (o->linkage_name || o->mips_linkage_name || o->name_unit != q->u)
		return true;
	noted = find(q, (uint32_t)(o->name_at - q->u->offset));
	if (!noted || o->name_at == entry)
		*more = noted != NULL;
	else if (noted->scopes)
		return dw_scope_names_add(names, q->facts->texts.data + noted->scopes);
	return true;
}

static const char *name_of(const struct dw_entry *e)
{
	struct dw_value name;
	const char *text = dw_find(e, DW_AT_name, &name) ? dw_value_string(e->u, &name) : NULL;

	return text && *text ? text : NULL;
}

/* The names of the open levels around `inner`. 0: they cannot all be known. SC_ENOMEM. */
static int names_around(struct dw_qualifier *q, const struct dw_level *levels, size_t depth,
			const char *inner, struct dw_scope_names *names)
{
	for (bool more = true; more && depth-- > 0; ) {
		const uint64_t at = q->u->offset + levels[depth].entry;
		const struct dw_origin *origin;
		struct dw_value other;
		struct dw_entry e;
		const char *text;

		if (!dw_open_entry(&q->origins->bytes_left, q->u, at, &e))
			return 0;
		switch (dw_scope_kind(e.abbrev->tag)) {
		case DW_SCOPE_NONE:
			break;
		case DW_SCOPE_END:
			return 1;
		case DW_SCOPE_NAMED:
			text = name_of(&e);
			/* Of a class that was declared elsewhere that place counts. */
			if (!text && dw_find(&e, DW_AT_specification, &other))
				return 0;
			if (!dw_scope_names_add(names, text ? text :
						dw_unnamed_scope(e.abbrev->tag, inner)))
				return 0;
			break;
		case DW_SCOPE_FUNCTION:
			if (!dw_origin_at(q->origins, q->u, at, &origin))
				return SC_ENOMEM;
			if (!add_function(q, origin, at, names, &more))
				return 0;
			break;
		}
		inner = names->n ? names->list[names->n - 1] : inner;
	}
	return 1;
}

bool dw_qualifier_note(struct dw_qualifier *q, const struct dw_level *levels, size_t depth,
		       uint32_t entry)
{
	struct dw_scope_names names = { .n = 0 };
	struct dw_noted *noted = vec_push(&q->noted);
	const uint32_t parent = depth ? levels[depth - 1].entry : 0;
	struct dw_entry own;
	int known;

	if (!noted)
		return false;
	*noted = (struct dw_noted){ .entry = entry };
	if (parent != q->last_parent) {
		/* Names may lie among the texts, which must not move while one is added to them. */
		if (!vec_reserve(&q->facts->texts, DW_QUALIFY_BYTES + 1))
			return false;
		known = dw_open_entry(&q->origins->bytes_left, q->u, q->u->offset + entry, &own) ?
			names_around(q, levels, depth, name_of(&own), &names) : 0;
		if (known < 0)
			return false;
		q->last_parent = parent;
		q->last_scopes = 0;
		if (known && q->facts->texts.len < q->most_texts &&
		    !dw_scope_names_write(&names, NULL, q->facts, &q->last_scopes))
			return false;
	}
	noted->scopes = q->last_scopes;
	return true;
}

bool dw_qualifier_want(struct dw_qualifier *q, const struct dw_origin *origin, uint32_t scope)
{
	struct dw_to_qualify *w;

	if (origin->linkage_name || origin->mips_linkage_name || origin->name_unit != q->u)
		return true;
	w = vec_push(&q->wanted);
	if (w)
		*w = (struct dw_to_qualify){ scope, (uint32_t)(origin->name_at - q->u->offset) };
	return w != NULL;
}

bool dw_qualifier_finish(struct dw_qualifier *q)
{
	struct dw_facts *facts = q->facts;

	for (size_t i = 0; i < q->wanted.len; i++) {
		struct dw_scope *s = &facts->scopes.data[q->wanted.data[i].scope];
		struct dw_noted *noted = find(q, q->wanted.data[i].entry);
		struct dw_scope_names names = { .n = 1 };
		char scopes[DW_QUALIFY_BYTES];

		if (!noted || !noted->scopes)
			continue;
		if (!noted->qualified && facts->texts.len < q->most_texts) { /* texts may move */
			strcpy(scopes, facts->texts.data + noted->scopes);
			names.list[0] = scopes;
			if (!dw_scope_names_write(&names, s->name, facts, &noted->qualified))
				return false;
		}
		s->qualified = noted->qualified;
	}
	return true;
}
