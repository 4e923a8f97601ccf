/*
 * Other names of what begins at an address: those of the symbol table, and functions of the debug
 * information that no range shows, as the linker folded them into another one. See layout_parts.h.
 *
 * A name that the symbol or the function there has is left out. Cost: a search for each name, and
 * a sort.
 */
#include "libsymcache/write/image/layout_parts.h"

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

/* With the name, as numbers of strings depend on the order of arrival. */
struct named_alias {
	struct sc_alias alias;
	const struct sc_string *name;
};

static inline bool stands_before(const struct named_alias *a, const struct named_alias *b)
{
	const uint32_t len = a->name->len < b->name->len ? a->name->len : b->name->len;
	int order;

	if (a->alias.start != b->alias.start)
		return a->alias.start < b->alias.start;
	order = a->name == b->name ? 0 : memcmp(a->name->ptr, b->name->ptr, len);
	return order ? order < 0 : a->name->len < b->name->len;
}

SC_SORT(sort_aliases, struct named_alias, stands_before)

/* The name of the symbol at `start`, or SC_NONE. */
static uint32_t symbol_name(const struct sc_layout *l, uint32_t start)
{
	const struct sc_table_symbol *s = l->c.symbols->list.data;
	const size_t n = SC_SEARCH(i, l->c.symbols->list.len, s[i].start <= start);

	return n && s[n - 1].start == start ? s[n - 1].name : SC_NONE;
}

/* The function that ranges show at its entry, `start`; NULL: there is none. */
static const struct sc_function *function_at(const struct sc_layout *l, uint32_t start)
{
	const struct sc_final_range *r = l->c.ranges->ranges.data;
	const struct sc_tables *t = l->c.tables;
	const size_t n = SC_SEARCH(i, l->c.ranges->ranges.len, r[i].start <= start);
	const struct sc_location *at = n && r[n - 1].start == start ? &r[n - 1].loc : NULL;

	while (at && at->inlined_into != SC_NONE)
		at = &t->calls.data[at->inlined_into];
	return at && at->function != SC_NONE && t->functions.data[at->function].entry == start ?
		&t->functions.data[at->function] : NULL;
}

/* False: out of memory. */
static bool gather(struct sc_layout *l, uint32_t start, uint32_t name)
{
	const struct sc_function *shown = function_at(l, start);
	struct sc_alias *a;

	if (name == SC_NONE || name == symbol_name(l, start) || (shown && shown->name == name))
		return true;
	a = vec_push(&l->aliases);
	if (a)
		*a = (struct sc_alias){ start, name };
	return a;
}

/* By address and name, each once. */
static bool sort_gathered(struct sc_layout *l)
{
	const struct sc_string *strings = l->c.tables->strings.data;
	const size_t n = l->aliases.len;
	struct named_alias *list = malloc((n + 1) * sizeof(*list));
	bool ok = list;

	for (size_t i = 0; ok && i < n; i++)
		list[i] = (struct named_alias){ l->aliases.data[i], &strings[l->aliases.data[i].name] };
	ok = ok && sort_aliases(list, n);
	l->aliases.len = 0;
	for (size_t i = 0; ok && i < n; i++)
		if (!i || memcmp(&list[i].alias, &list[i - 1].alias, sizeof(list->alias)))
			l->aliases.data[l->aliases.len++] = list[i].alias;
	free(list);
	return ok;
}

bool sc_layout_gather_aliases(struct sc_layout *l)
{
	const struct sc_aliases *given = l->c.aliases;
	const struct sc_function *f = l->c.tables->functions.data;
	bool ok = true;

	for (size_t i = 0; given && i < given->list.len && ok; i++)
		ok = gather(l, given->list.data[i].start, given->list.data[i].name);
	for (size_t i = 0; i < l->c.tables->functions.len && ok; i++)
		if (l->functions.to[i] == SC_NONE && f[i].entry != SC_NONE && function_at(l, f[i].entry))
			ok = gather(l, f[i].entry, f[i].name);
	return ok && (!l->aliases.len || sort_gathered(l));
}
