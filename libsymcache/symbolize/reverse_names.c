/* Names → addresses: see reverse.h. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/base/glob.h"
#include "libsymcache/base/search.h"
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

static uint64_t hash_of(const struct sc_name_index *x, struct sc_str name)
{
	return XXH3_64bits_withSeed(name.ptr, name.len, (uintptr_t)x);
}

static bool key_before(const struct sc_shown_key *a, const struct sc_shown_key *b)
{
	return a->hash < b->hash;
}

SC_SORT(sort_keys, struct sc_shown_key, key_before)

/* What is shown as it is in the cache is found in the chains. */
static bool make_shown(struct symcache_symbolizer *s, struct sc_name_index *x)
{
	const uint32_t items = sc_name_index_items(x);
	VEC(struct sc_shown_key) keys = { 0 };
	bool ok = true;

	if (x->shown)
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
		keys.data[keys.len++] = (struct sc_shown_key){ hash_of(x, shown), i };
		if (part.len != shown.len)
			keys.data[keys.len++] = (struct sc_shown_key){ hash_of(x, part), i };
	}
	if (!ok || !vec_reserve(&keys, 1) || !sort_keys(keys.data, keys.len)) {
		vec_deinit(&keys);
		return false;
	}
	x->shown = keys.data;
	x->num_shown = keys.len;
	x->shown_cap = keys.cap;
	return true;
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

static void match_exact(struct search *q, struct sc_str name)
{
	const uint64_t hash = hash_of(q->x, name);
	size_t at;

	for (uint32_t i = *sc_name_index_head(q->x, name); i; i = q->x->next[i - 1]) {
		const struct sc_str linkage = sc_name_index_name(q->x, i - 1);

		if (linkage.ptr && sc_str_same(linkage, name))
			add_match(q, i - 1, linkage);
	}
	if (q->no_memory || (name.len > 2 && !memcmp(name.ptr, "_Z", 2)))
		return; /* no name is shown so */
	q->no_memory = !make_shown(q->s, q->x);
	at = SC_SEARCH(i, q->x->num_shown, q->x->shown[i].hash < hash);
	for (; at < q->x->num_shown && q->x->shown[at].hash == hash; at++) {
		const uint32_t item = q->x->shown[at].item;
		const struct sc_str linkage = sc_name_index_name(q->x, item);
		const struct sc_str shown = linkage.ptr ? show(q->s, q->x, item, linkage) : linkage;

		if (shown.ptr && (sc_str_same(shown, name) || sc_str_same(symcache_name_without_parameters(shown), name)))
			add_match(q, item, linkage);
	}
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

static struct symcache_found_name describe(struct search *q, const struct match *m)
{
	const struct symcache *c = q->x->cache;
	const bool of_table = in_table(q->x, m->item);
	const bool variable = !of_table && m->item >= first_variable(q->x);
	struct symcache_found_name ret = {
		.linkage = m->linkage, .vaddr = q->seen->load_base + m->rel,
		.of_table = of_table,
	};
	const uint32_t function = variable ? SYMCACHE_NONE : of_table ? function_at(c, m->rel) : m->item;
	struct symcache_symbol symbol;

	ret.data = variable || (ret.of_table && function == SYMCACHE_NONE &&
				!symcache_may_be_code(c, ret.vaddr));
	if (symcache_lookup_symbol(c, m->rel, &symbol) && symbol.rel_address == m->rel)
		ret.size = symbol.size;
	if (variable) {
		const struct symcache_ext_data *d = &c->data_symbols[m->item - first_variable(q->x)];

		ret.size = d->size ? d->size : ret.size;
		set_declaration(q, d->file_idx, d->line, &ret);
	} else if (function != SYMCACHE_NONE && c->decls &&
		   symcache_valid(c, &c->decls[function], sizeof(*c->decls))) {
		set_declaration(q, c->decls[function].file_idx, c->decls[function].line, &ret);
	}
	ret.name = sc_names_printable(q->s->names,
		sc_names_show(q->s->names, m->linkage, lang_of(q->x, m->item)), SC_SHOWN_NAME);
	return ret;
}

static ssize_t report(struct search *q, struct symcache_module *m,
		      int (*fn)(void *ctx, const struct symcache_found_name *found), void *ctx)
{
	size_t n = 0;
	int rc = 0;

	if (q->no_memory || !sort_matches(q->matches.data, q->matches.len))
		return SC_ENOMEM;
	if (!symcache_module_valid(m, q->x->cache))
		return SC_ENOTFOUND;
	for (size_t i = 0; !rc && i < q->matches.len; i++) {
		const struct match *match = &q->matches.data[i];
		struct symcache_found_name found;

		/* What is there twice: the DWARF says more than the symbol table. */
		if ((i + 1 < q->matches.len && in_table(q->x, match->item) &&
		     !compare(match, match + 1)) ||
		    (i && !in_table(q->x, match[-1].item) && !compare(match, match - 1)))
			continue;
		found = describe(q, match);
		rc = found.name.ptr ? fn(ctx, &found) : SC_ENOMEM;
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
