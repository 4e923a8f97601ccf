/*
 * Data symbols: see data.h.
 *
 * Invariant of the result: ascending by start, then by size, no two equal. At
 * one address there is one symbol of the table (its best alias) or, where the
 * table has none, one variable: the one that comes first in the DWARF.
 */
#include "libsymcache/write/image/data.h"

#include <stdlib.h>

#include "libsymcache/base/sort.h"

void sc_data_deinit(struct sc_data *d)
{
	vec_deinit(&d->variables);
	vec_deinit(&d->symbols.list);
	vec_deinit(&d->table.list);
	vec_deinit(&d->aliases.list);
}

bool sc_data_add_unit(struct sc_data *d, const struct dw_facts *unit, uint32_t index,
		      struct sc_tables *t)
{
	for (size_t i = 0; i < unit->variables.len; i++) {
		const struct dw_variable *v = &unit->variables.data[i];
		const struct dw_file *f = v->decl_file < unit->files.len ?
			&unit->files.data[v->decl_file] : NULL;
		struct sc_data_variable *out = vec_push(&d->variables);

		if (!out || !sc_table_string(t, v->name, &out->name) ||
		    !sc_table_file(t, f ? f->comp_dir : NULL, f ? f->dir : NULL,
				   f ? f->name : NULL, &out->decl_file))
			return false;
		out->unit = index;
		out->vaddr = v->vaddr;
		out->size = v->size;
		out->decl_line = v->decl_line;
	}
	return true;
}

static inline bool stands_before(const struct sc_data_variable *x, const struct sc_data_variable *y)
{
	return x->vaddr != y->vaddr ? x->vaddr < y->vaddr : x->unit < y->unit;
}

SC_SORT(sort_variables, struct sc_data_variable, stands_before)

static bool in_reach(const struct sc_elf *image, uint64_t vaddr)
{
	return vaddr >= image->load_base && vaddr - image->load_base <= UINT32_MAX;
}

static bool add(struct sc_data *d, const struct sc_elf *image, uint64_t vaddr, uint64_t size,
		uint32_t name, const struct sc_data_variable *decl)
{
	struct sc_data_symbol *s;

	if (!in_reach(image, vaddr)) {
		d->too_far++;
		return true;
	}
	s = vec_push(&d->symbols.list);
	if (!s)
		return false;
	s->start = (uint32_t)(vaddr - image->load_base);
	s->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
	s->name = name;
	s->decl_file = decl ? decl->decl_file : SC_NONE;
	s->decl_line = decl ? decl->decl_line : 0;
	return true;
}

#define BATCH 256

/* The whole table; names[i] becomes the number of the i-th symbol's name. */
static bool copy_table(struct sc_data *d, const struct sc_elf_symbols *symbols,
		       const struct sc_elf *image, struct sc_tables *t, uint32_t *names)
{
	if (!vec_reserve(&d->table.list, symbols->all.len))
		return false;
	for (size_t i = 0; i < symbols->all.len; i += BATCH) {
		size_t n = symbols->all.len - i < BATCH ? symbols->all.len - i : BATCH;
		const char *batch[BATCH];

		for (size_t k = 0; k < n; k++)
			batch[k] = symbols->all.data[i + k].name;
		if (!sc_table_strings(t, batch, n, names + i))
			return false;
	}
	for (size_t i = 0; i < symbols->all.len; i++) {
		const struct sc_elf_symbol *s = &symbols->all.data[i];
		struct sc_table_symbol *out;

		if (!in_reach(image, s->vaddr))
			continue; /* counted as code or as data */
		out = vec_push(&d->table.list);
		if (!out || !sc_table_string(t, s->file, &out->file))
			return false;
		out->name = names[i];
		out->start = (uint32_t)(s->vaddr - image->load_base);
		out->size = s->size > UINT32_MAX ? UINT32_MAX : (uint32_t)s->size;
	}
	return true;
}

static bool copy_aliases(struct sc_data *d, const struct sc_elf_symbols *symbols,
			 const struct sc_elf *image, struct sc_tables *t)
{
	for (size_t i = 0; i < symbols->aliases.len; i++) {
		const struct sc_elf_symbol *s = &symbols->aliases.data[i];
		struct sc_alias *out = in_reach(image, s->vaddr) ? vec_push(&d->aliases.list) : NULL;

		if (!in_reach(image, s->vaddr))
			continue; /* as the symbol that is there */
		if (!out || !sc_table_string(t, s->name, &out->name))
			return false;
		out->start = (uint32_t)(s->vaddr - image->load_base);
	}
	return true;
}

/* The number of the name of a data symbol; mostly it is that of the whole table, too.
 * *at counts on in that, as addresses ascend. */
static bool name_of(const struct sc_elf_symbols *symbols, const struct sc_elf_symbol *s,
		    const uint32_t *names, size_t *at, struct sc_tables *t, uint32_t *ret)
{
	while (*at < symbols->all.len && symbols->all.data[*at].vaddr < s->vaddr)
		++*at;
	if (*at == symbols->all.len || symbols->all.data[*at].name != s->name)
		return sc_table_string(t, s->name, ret);
	*ret = names[*at];
	return true;
}

/* Both lists, of symbols and of variables, by address. */
static bool merge(struct sc_data *d, const struct sc_elf_symbols *symbols,
		  const struct sc_elf *image, struct sc_tables *t, const uint32_t *names)
{
	const struct sc_elf_symbol *s = symbols->data.data;
	const struct sc_data_variable *v;
	size_t n = symbols->data.len, m = d->variables.len, i = 0, k = 0, at = 0;

	if (!sort_variables(d->variables.data, m))
		return false;
	v = d->variables.data;
	while (i < n || k < m) {
		uint64_t vaddr = k == m || (i < n && s[i].vaddr <= v[k].vaddr) ?
			s[i].vaddr : v[k].vaddr;
		const struct sc_data_variable *decl = k < m && v[k].vaddr == vaddr ? &v[k] : NULL;
		uint32_t name;

		while (k < m && v[k].vaddr == vaddr)
			k++;
		if (i < n && s[i].vaddr == vaddr) {
			if (!name_of(symbols, &s[i], names, &at, t, &name) ||
			    !add(d, image, vaddr, s[i].size, name, decl))
				return false;
			i++;
		} else if (sc_elf_range_at(&image->alloc, vaddr)) {
			/* Elsewhere it is a tombstone of a dropped variable. */
			if (!add(d, image, vaddr, decl->size, decl->name, decl))
				return false;
		}
	}
	return true;
}

bool sc_data_finish(struct sc_data *d, const struct sc_elf_symbols *symbols,
		    const struct sc_elf *image, struct sc_tables *t)
{
	uint32_t *names = malloc((symbols->all.len + 1) * sizeof(*names));
	bool ok = names && copy_table(d, symbols, image, t, names) &&
		  copy_aliases(d, symbols, image, t) &&
		  merge(d, symbols, image, t, names);

	free(names);
	return ok;
}
