/* Names → addresses: see reverse.h. */
#include "libsymcache/base/glob.h"
#include "libsymcache/base/prefetch.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/symbolize/reverse.h"
#include "libsymcache/symbolize/symbolizer.h"

/* ---- names as they are shown ------------------------------------------------------------- */

static uint32_t lang_of(const struct sc_name_index *x, uint32_t item)
{
	return item < x->cache->header->num_functions ? x->cache->functions[item].lang :
							SYMCACHE_LANG_SYMTAB;
}

/* A linkage name as it is shown, for once. */
static struct sc_str show(struct symcache_symbolizer *s, const struct sc_name_index *x,
			  uint32_t item, struct sc_str linkage)
{
	return sc_names_show_once(s->names, linkage, lang_of(x, item));
}

static uint32_t first_symbol(const struct sc_name_index *x)
{
	return x->cache->header->num_functions;
}

static uint32_t first_variable(const struct sc_name_index *x)
{
	return first_symbol(x) + (uint32_t)x->cache->num_symbols;
}

static uint32_t first_alias(const struct sc_name_index *x)
{
	return first_variable(x) + (uint32_t)x->cache->num_data_symbols;
}

/* Where a symbol or an alias stands; not so of others. */
static bool in_table(const struct sc_name_index *x, uint32_t item)
{
	return item >= first_symbol(x) && (item < first_variable(x) || item >= first_alias(x));
}

/* The relative address of an item, which has a name. */
static uint64_t address_of(const struct sc_name_index *x, uint32_t item)
{
	const struct symcache *c = x->cache;

	if (item < first_symbol(x))
		return c->functions[item].entry_pc;
	if (item < first_variable(x))
		return c->symbols[item - first_symbol(x)].address;
	return item < first_alias(x) ? c->data_symbols[item - first_variable(x)].address :
				       c->aliases[item - first_alias(x)].address;
}

/* The function of the DWARF that begins here; SYMCACHE_NONE: there is none. */
static uint32_t function_at(const struct symcache *c, uint64_t rel)
{
	struct symcache_frame_ids ids = { .function = SYMCACHE_NONE };
	struct symcache_frames frames;

	if (symcache_lookup(c, rel, &frames))
		for (int i = 0; i < SYMCACHE_FRAMES_MAX && symcache_next_ids(&frames, &ids); i++)
			;
	return ids.function != SYMCACHE_NONE && c->functions[ids.function].entry_pc == rel ?
		ids.function : SYMCACHE_NONE;
}

/* The name of an item that is worth showing: not of a symbol whose function says the same. */
static struct sc_str name_to_show(const struct sc_name_index *x, uint32_t item)
{
	const struct sc_str name = sc_name_index_name(x, item);
	const struct symcache *c = x->cache;
	uint32_t function;

	if (!name.len || !in_table(x, item))
		return name;
	function = function_at(c, address_of(x, item));
	return function != SYMCACHE_NONE && sc_str_same(symcache_string(c, c->functions[function].name), name) ?
		(struct sc_str){ NULL, 0 } : name;
}

/* What is shown as it is in the cache is found by its linkage name. */
static bool make_shown(struct symcache_symbolizer *s, struct sc_name_index *x)
{
	const uint32_t items = sc_name_index_items(x);
	VEC(struct sc_name_key) keys = { 0 };
	bool ok = true;

	if (x->shown.keys)
		return true;
	for (uint32_t i = 0; i < items && ok; i++) {
		const struct sc_str linkage = name_to_show(x, i);
		const struct sc_str shown = linkage.len ? show(s, x, i, linkage) : linkage;
		struct sc_str part;

		if (!shown.len || shown.ptr == linkage.ptr)
			continue;
		if (!(ok = vec_reserve(&keys, 3)))
			break;
		part = symcache_name_without_parameters(shown);
		keys.data[keys.len++] = (struct sc_name_key){ sc_name_hash(x, shown), i };
		if (part.len != shown.len)
			keys.data[keys.len++] = (struct sc_name_key){ sc_name_hash(x, part), i };
	}
	ok = ok && sc_name_table_init(&x->shown, keys.data, keys.len);
	vec_deinit(&keys);
	return ok;
}

/* ---- what fits -------------------------------------------------------------------------- */

struct match {
	uint64_t rel;
	struct sc_str linkage;
	uint32_t item;
};

struct search {
	struct symcache_symbolizer *s;
	struct sc_seen *seen;
	struct sc_name_index *x;
	VEC(struct match) matches;
	bool no_memory;
};

static int compare(const struct match *a, const struct match *b)
{
	const size_t len = a->linkage.len < b->linkage.len ? a->linkage.len : b->linkage.len;
	int order;

	if (a->rel != b->rel)
		return a->rel < b->rel ? -1 : 1;
	if (a->linkage.ptr == b->linkage.ptr && a->linkage.len == b->linkage.len)
		return 0;
	order = memcmp(a->linkage.ptr, b->linkage.ptr, len);
	if (order || a->linkage.len != b->linkage.len)
		return order ? order : a->linkage.len < b->linkage.len ? -1 : 1;
	return 0;
}

static bool match_before(const struct match *a, const struct match *b)
{
	const int order = compare(a, b);

	return order ? order < 0 : a->item < b->item;
}

SC_SORT(sort_matches, struct match, match_before)

static void add_match(struct search *q, uint32_t item, struct sc_str linkage)
{
	struct match *m = vec_push(&q->matches);

	if (m)
		*m = (struct match){ address_of(q->x, item), linkage, item };
	q->no_memory |= !m;
}

/* The name of an item as it is shown. That of a function or symbol is remembered by its number, unless
 * there are too many of them. */
static struct sc_str shown_name(const struct search *q, uint32_t item, struct sc_str linkage)
{
	struct sc_names_reader *names = q->s->names;
	const bool remember = !sc_names_full(names);

	if (remember && item < first_symbol(q->x) &&
	    q->s->options->functions == SYMCACHE_FUNCTIONS_WHOLE)
		return sc_text_str(sc_names_function(names, q->seen->texts, item));
	if (remember && item >= first_symbol(q->x) && item < first_variable(q->x))
		return sc_text_str(sc_names_symbol(names, q->seen->texts, item - first_symbol(q->x)));
	return sc_names_printable(names, sc_names_show(names, linkage, lang_of(q->x, item)),
				  SC_SHOWN_NAME);
}

static bool is_so(struct sc_str shown, struct sc_str name)
{
	return shown.ptr && (sc_str_same(shown, name) ||
			     sc_str_same(symcache_name_without_parameters(shown), name));
}

/* Is the item shown under this name? What is remembered has been made printable. */
static bool is_shown(const struct search *q, uint32_t item, struct sc_str linkage, struct sc_str name)
{
	return is_so(shown_name(q, item, linkage), name) || is_so(show(q->s, q->x, item, linkage), name);
}

/* What will be read of an item. */
static void fetch(const struct search *q, uint32_t item)
{
	const struct symcache *c = q->x->cache;

	if (item >= first_symbol(q->x)) {
		if (item < first_variable(q->x))
			sc_prefetch(&c->symbols[item - first_symbol(q->x)]);
		return;
	}
	sc_prefetch(&c->functions[item]);
	sc_prefetch(&q->seen->texts->functions[item]);
	sc_prefetch(&q->seen->texts->symbol_of[item]);
	if (c->decls)
		sc_prefetch(&c->decls[item]);
}

/* The items of a table that may be called so: what is read of them is fetched first. */
static void match_table(struct search *q, const struct sc_name_table *t, struct sc_str name, uint32_t hash)
{
	const struct sc_name_key *end, *first = sc_name_keys(t, hash, &end);

	for (const struct sc_name_key *k = first; k < end; k++)
		if (k->hash == hash)
			fetch(q, k->item);
	for (const struct sc_name_key *k = first; k < end; k++) {
		const struct sc_str linkage = k->hash == hash ? sc_name_index_name(q->x, k->item) :
			(struct sc_str){ NULL, 0 };

		if (linkage.ptr && (t == &q->x->linkage ? sc_str_same(linkage, name) :
							  is_shown(q, k->item, linkage, name)))
			add_match(q, k->item, linkage);
	}
}

static void match_exact(struct search *q, struct sc_str name)
{
	const bool linked = name.len > 2 && !memcmp(name.ptr, "_Z", 2); /* no name is shown so */
	const uint32_t hash = sc_name_hash(q->x, name);

	if (!linked && !make_shown(q->s, q->x)) {
		q->no_memory = true;
		return;
	}
	if (!linked)
		sc_prefetch(&q->x->shown.starts[hash & q->x->shown.mask]);
	match_table(q, &q->x->linkage, name, hash);
	if (!linked)
		match_table(q, &q->x->shown, name, hash);
}

static void match_glob(struct search *q, struct sc_str pattern)
{
	const uint32_t items = sc_name_index_items(q->x);

	for (uint32_t i = 0; i < items && !q->no_memory; i++) {
		const struct sc_str linkage = name_to_show(q->x, i);

		if (linkage.len && (sc_glob(pattern, linkage) ||
				    sc_glob(pattern, show(q->s, q->x, i, linkage))))
			add_match(q, i, linkage);
	}
}

/* ---- what is said of them ------------------------------------------------------------------ */

static void set_declaration(struct search *q, uint32_t file, uint32_t line,
			    struct symcache_found_name *ret)
{
	if (file < q->x->cache->header->num_files)
		ret->file = sc_text_str(sc_names_file(q->s->names, q->seen->texts, file));
	ret->line = line;
}

/* The size that the symbol table has for what begins at the match; 0: none. `like`: another match of
 * the name there, which may be the symbol; else a function's is remembered. */
static uint64_t size_of(const struct search *q, const struct match *m, const struct match *like)
{
	const struct symcache *c = q->x->cache;
	const struct symcache_query at = { .cache = c, .rel_pc = m->rel };
	const struct match *known = in_table(q->x, m->item) ? m : like;
	_Atomic uint32_t *guess = !known && m->item < first_symbol(q->x) ?
		&q->seen->texts->symbol_of[m->item] : NULL;
	const uint32_t before = known ? known->item - first_symbol(q->x) :
		guess ? atomic_load_explicit(guess, memory_order_relaxed) : SYMCACHE_NONE;
	uint32_t symbol = before;

	symcache_symbols_batch(&at, 1, &symbol);
	if (symbol == SYMCACHE_NONE || c->symbols[symbol].address != m->rel)
		return 0;
	if (guess && symbol != before)
		atomic_store_explicit(guess, symbol, memory_order_relaxed);
	return c->symbols[symbol].size;
}

/* `like`: another match of the same name at the same address, or NULL. */
static struct symcache_found_name describe(struct search *q, const struct match *m,
					   const struct match *like)
{
	const struct symcache *c = q->x->cache;
	const bool of_table = in_table(q->x, m->item);
	const bool variable = !of_table && m->item >= first_variable(q->x);
	struct symcache_found_name ret = {
		.linkage = m->linkage, .vaddr = q->seen->load_base + m->rel,
		.of_table = of_table, .size = size_of(q, m, like),
	};
	const uint32_t function = variable ? SYMCACHE_NONE : of_table ? function_at(c, m->rel) : m->item;

	ret.data = variable || (ret.of_table && function == SYMCACHE_NONE &&
				!symcache_may_be_code(c, ret.vaddr));
	if (variable) {
		const struct symcache_ext_data *d = &c->data_symbols[m->item - first_variable(q->x)];

		ret.size = d->size ? d->size : ret.size;
		set_declaration(q, d->file_idx, d->line, &ret);
	} else if (function != SYMCACHE_NONE && c->decls &&
		   symcache_valid(c, &c->decls[function], sizeof(*c->decls))) {
		set_declaration(q, c->decls[function].file_idx, c->decls[function].line, &ret);
	}
	return ret;
}

/* Is the same name shown for both? */
static bool same_text(const struct search *q, const struct match *a, const struct match *b)
{
	return a->linkage.ptr == b->linkage.ptr && a->linkage.len == b->linkage.len &&
	       lang_of(q->x, a->item) == lang_of(q->x, b->item);
}

static ssize_t report(struct search *q, struct symcache_module *m,
		      int (*fn)(void *ctx, const struct symcache_found_name *found), void *ctx)
{
	const struct match *list = q->matches.data, *last = NULL;
	struct sc_str name = { NULL, 0 };
	size_t n = 0;
	int rc = 0;

	if (q->no_memory || !sort_matches(q->matches.data, q->matches.len))
		return SC_ENOMEM;
	if (!symcache_module_valid(m, q->x->cache))
		return SC_ENOTFOUND;
	for (size_t i = 0; !rc && i < q->matches.len; i++) {
		const struct match *match = &list[i];
		const struct match *before = i && !compare(match, match - 1) ? match - 1 : NULL;
		const struct match *behind = i + 1 < q->matches.len && !compare(match, match + 1) ?
			match + 1 : NULL;
		struct symcache_found_name found;

		/* What is there twice: the DWARF says more than the symbol table. */
		if ((behind && in_table(q->x, match->item)) ||
		    (before && !in_table(q->x, before->item)))
			continue;
		found = describe(q, match, behind ? behind : before);
		found.again = last && same_text(q, last, match);
		if (!found.again)
			name = shown_name(q, match->item, match->linkage);
		found.name = name;
		rc = name.ptr ? fn(ctx, &found) : SC_ENOMEM;
		last = match;
		n++;
	}
	return rc ? rc : (ssize_t)n;
}

ssize_t symcache_find_names(struct symcache_symbolizer *s, struct symcache_module *m,
			    struct sc_str name, bool glob,
			    int (*fn)(void *ctx, const struct symcache_found_name *found),
			    void *ctx)
{
	struct search q = { .s = s, .seen = sc_symbolizer_begin(s, m) };
	ssize_t n;

	if (!q.seen)
		return SC_ENOTFOUND;
	q.x = sc_seen_names(q.seen);
	if (!q.x)
		return SC_ENOMEM;
	if (glob)
		match_glob(&q, name);
	else
		match_exact(&q, name);
	n = report(&q, m, fn, ctx);
	vec_deinit(&q.matches);
	return n;
}
