/* Where what a log names begins, if its place in a page is known: see symbolizer.h. */
#include <stdlib.h>

#include "libsymcache/symbolize/symbolizer.h"

/* Are they equal but for blanks? `shown` may go on with " (.cold)" or a version. */
static bool same_shown(struct sc_str name, struct sc_str shown)
{
	size_t i = 0, k = 0;

	while (1) {
		while (i < name.len && name.ptr[i] == ' ')
			i++;
		while (k < shown.len && shown.ptr[k] == ' ')
			k++;
		if (i == name.len || k == shown.len || name.ptr[i] != shown.ptr[k])
			break;
		i++;
		k++;
	}
	return i == name.len && (k == shown.len || shown.ptr[k] == '@');
}

/* What begins at a place in its page, and is called so. */
struct wanted_start {
	struct sc_str name;
	uint64_t start;
	uint64_t found;
	unsigned n; /* different addresses, up to 2 */
};

static void try_start(struct symcache_symbolizer *s, struct wanted_start *w, uint64_t vaddr,
		      struct sc_str name)
{
	if ((vaddr ^ w->start) & 0xfff || !name.ptr || (w->n && w->found == vaddr) ||
	    !(same_shown(w->name, name) ||
	      same_shown(w->name, symcache_show_name(s, name, SYMCACHE_LANG_UNKNOWN))))
		return;
	w->found = vaddr;
	w->n++;
}

static void find_start(struct symcache_symbolizer *s, const struct sc_seen *seen,
		       struct wanted_start *w)
{
	const struct symcache *c = seen->cache;
	struct symcache_symbol symbol;

	for (uint32_t i = 0; i < c->header->num_functions && w->n < 2; i++) {
		const struct symcache_function *f = &c->functions[i];

		if (symcache_valid(c, f, sizeof(*f)) && f->entry_pc != SYMCACHE_NONE)
			try_start(s, w, seen->load_base + f->entry_pc, symcache_string(c, f->name));
	}
	for (uint32_t i = 0; w->n < 2 && symcache_symbol(c, i, &symbol); i++)
		if (symcache_may_be_code(c, seen->load_base + symbol.rel_address))
			try_start(s, w, seen->load_base + symbol.rel_address, symbol.name);
}

bool sc_symbolize_shown(struct symcache_symbolizer *s, struct symcache_module *m,
			struct sc_str name, uint64_t address, uint64_t offset, uint64_t *vaddr)
{
	const struct sc_seen *seen = sc_symbolizer_begin(s, m);
	struct wanted_start w = { .name = name, .start = address - offset };
	uint64_t hash = w.start & 0xfff;
	struct sc_shown_start *known;

	if (!s->starts)
		s->starts = calloc(SC_SHOWN_STARTS, sizeof(*s->starts));
	if (!seen || !s->starts || !name.len)
		return false;
	for (size_t i = 0; i < name.len; i++)
		hash = (hash ^ (unsigned char)name.ptr[i]) * 0x100000001b3u;
	known = &s->starts[hash >> 32 & (SC_SHOWN_STARTS - 1)];
	if (known->hash != hash || known->cache != seen->cache ||
	    known->generation != seen->generation) {
		find_start(s, seen, &w);
		*known = (struct sc_shown_start){ hash, seen->cache, seen->generation, w.found,
						  w.n == 1 };
	}
	*vaddr = known->vaddr + offset;
	return known->found && symcache_module_valid(m, seen->cache);
}
