/* The other names of code: see parts.h. */
#include "libsymcache/answers/parts.h"

enum { SYMBOL, FUNCTION, ALIASES }; /* the order of names */

struct names {
	const struct symcache *cache;
	const struct symcache_function *function; /* or NULL */
	struct sc_str symbol;
	size_t first;   /* alias */
};

/* The names of what begins at `start`. How many. */
static size_t find_names(struct names *n, uint64_t start, uint32_t function)
{
	const struct symcache *c = n->cache;
	const struct symcache_function *f = &c->functions[function];
	struct symcache_symbol symbol;

	/* A function may go on there under another symbol: foo.cold. */
	if (function < c->header->num_functions && symcache_valid(c, f, sizeof(*f)) &&
	    f->entry_pc == start)
		n->function = f;
	if (symcache_lookup_symbol(c, start, &symbol) && symbol.rel_address == start)
		n->symbol = symbol.name;
	return ALIASES + symcache_aliases_of(c, start, &n->first);
}

static struct sc_str linkage_name(const struct names *n, size_t i)
{
	if (i == SYMBOL)
		return n->symbol;
	if (i == FUNCTION)
		return n->function ? symcache_string(n->cache, n->function->name) :
				     (struct sc_str){ NULL, 0 };
	return symcache_string(n->cache, n->cache->aliases[n->first + i - ALIASES].name);
}

static bool is_last(const struct mk_out *o, struct sc_str s)
{
	return o->len == s.len && !memcmp(o->buf, s.ptr, s.len);
}

static void keep(struct mk_out *o, struct sc_str s)
{
	o->len = 0;
	mk_out_put(o, s.ptr, s.len);
}

/* Calls `fn` for the names of what begins at the relative address `start`, but for the one that is
 * shown: the symbol's, else that of `function`. */
static void each_also(struct mk_worker *w, const struct symcache *c, uint64_t start,
		      uint32_t function,
		      void (*fn)(struct mk_worker *w, struct sc_str name, bool first))
{
	struct mk_out known = { 0 }, last = { 0 }; /* what was shown before: the first, the last */
	struct names names = { .cache = c };
	const size_t n = find_names(&names, start, function);
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		const struct sc_str shown = mk_shown_name(w, linkage_name(&names, i),
							  SYMCACHE_LANG_UNKNOWN);

		if (!shown.len || is_last(&known, shown) || is_last(&last, shown))
			continue;
		if (!known.len) {
			keep(&known, shown);
			continue;
		}
		keep(&last, shown);
		fn(w, (struct sc_str){ last.buf, last.len }, first);
		first = false;
	}
	w->out.error = w->out.error ? w->out.error : known.error ? known.error : last.error;
	mk_out_deinit(&known);
	mk_out_deinit(&last);
}

void mk_also_of(struct mk_worker *w, const struct symcache_answer *a,
		void (*fn)(struct mk_worker *w, struct sc_str name, bool first))
{
	const struct symcache *c = a->cache;
	uint64_t start = a->symbol_vaddr - symcache_load_base(c);

	if (!a->has_symbol) {
		if (a->code_idx >= c->header->num_functions ||
		    !symcache_valid(c, &c->functions[a->code_idx], sizeof(*c->functions)))
			return;
		start = c->functions[a->code_idx].entry_pc;
	}
	each_also(w, c, start, a->code_idx, fn);
}

void mk_also_explained(struct mk_worker *w, const struct mk_explained *e,
		       void (*fn)(struct mk_worker *w, struct sc_str name, bool first))
{
	struct symcache_frame_ids ids = { .function = SYMCACHE_NONE };
	struct symcache_frames frames;

	if (symcache_lookup(e->cache, e->vaddr - symcache_load_base(e->cache), &frames))
		for (int i = 0; i < SYMCACHE_FRAMES_MAX && symcache_next_ids(&frames, &ids); i++)
			;
	each_also(w, e->cache, e->why.symbol.rel_address, ids.function, fn);
}
