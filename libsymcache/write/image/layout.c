/*
 * Tables and ranges → the bytes of a SymCache file: see layout.h.
 *
 * This is the first half: it walks the ranges once and gives every record that is met its
 * place; layout_write.c then copies, with the new numbers. Call locations get their place
 * after the one they are inlined into, so that inlined_into_idx is always lower than the index
 * of the record it stands in.
 */
#include "libsymcache/write/image/layout_parts.h"

#include "format/symcache_index.h"

static bool renumber_init(struct renumber *r, size_t n)
{
	r->to = malloc((n ? n : 1) * sizeof(*r->to));
	if (r->to)
		memset(r->to, 0xff, n * sizeof(*r->to));
	return r->to;
}

static void renumber_deinit(struct renumber *r)
{
	free(r->to);
	vec_deinit(&r->order);
}

/* Mostly, what is met has its place already: the test for that is to be inlined where
 * ranges are walked. */
static inline bool is_placed(const struct renumber *r, uint32_t old)
{
	return old == SC_NONE || r->to[old] != SC_NONE;
}

/* True if `old` had no place yet and has got one. *oom on lack of memory. */
static inline bool place(struct renumber *r, uint32_t old, bool *oom)
{
	if (is_placed(r, old))
		return false;
	if (!vec_reserve(&r->order, 1)) {
		*oom = true;
		return false;
	}
	r->to[old] = (uint32_t)r->order.len;
	r->order.data[r->order.len++] = old;
	return true;
}

/* ---- placing ------------------------------------------------------------------------ */

static unsigned length_prefix(const struct sc_layout *l, uint32_t len)
{
	unsigned n = 1;

	if (l->c.version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS)
		return 4;
	while (len >>= 7)
		n++;
	return n;
}

static void place_string(struct sc_layout *l, uint32_t s, bool *oom)
{
	const struct sc_string *str;

	if (!place(&l->strings, s, oom))
		return;
	str = &l->c.tables->strings.data[s];
	l->string_offset[s] = (uint32_t)l->string_bytes; /* checked at the end */
	l->string_bytes += length_prefix(l, str->len) + str->len;
}

static void place_file(struct sc_layout *l, uint32_t file, bool *oom)
{
	const struct sc_file *f;

	if (!place(&l->files, file, oom))
		return;
	f = &l->c.tables->files.data[file];
	place_string(l, f->comp_dir, oom);
	place_string(l, f->dir, oom);
	place_string(l, f->name, oom);
}

static void place_function(struct sc_layout *l, uint32_t function, bool *oom)
{
	if (place(&l->functions, function, oom))
		place_string(l, l->c.tables->functions.data[function].name, oom);
}

/* Places a call location behind those it is inlined into. Chains may be of any
 * length: a stack of our own, not recursion. */
static void place_call(struct sc_layout *l, uint32_t call, bool *oom)
{
	for (; call != SC_NONE && l->calls.to[call] == SC_NONE;
	     call = l->c.tables->calls.data[call].inlined_into) {
		uint32_t *slot = vec_push(&l->chain);
		if (!slot) {
			*oom = true;
			return;
		}
		*slot = call;
	}
	while (l->chain.len) {
		uint32_t c = l->chain.data[--l->chain.len];
		place(&l->calls, c, oom);
		place_function(l, l->c.tables->calls.data[c].function, oom);
		place_file(l, l->c.tables->calls.data[c].file, oom);
	}
}

static bool place_all(struct sc_layout *l)
{
	const struct sc_content *c = &l->c;
	bool oom = false;

	for (size_t i = 0; i < c->ranges->ranges.len && !oom; i++) {
		const struct sc_location *loc = &c->ranges->ranges.data[i].loc;
		if (loc->function == SC_NONE)
			continue;
		if (!is_placed(&l->functions, loc->function))
			place_function(l, loc->function, &oom);
		if (!is_placed(&l->files, loc->file))
			place_file(l, loc->file, &oom);
		if (!is_placed(&l->calls, loc->inlined_into))
			place_call(l, loc->inlined_into, &oom);
	}
	for (size_t i = 0; i < l->functions.order.len && !oom; i++) {
		const struct sc_function *f = &c->tables->functions.data[l->functions.order.data[i]];

		place_file(l, f->decl_file, &oom);
		place_string(l, f->qualified, &oom);
		l->num_qualified += f->qualified != SC_NONE;
	}
	for (size_t i = 0; i < c->data->list.len && !oom; i++) {
		place_string(l, c->data->list.data[i].name, &oom);
		place_file(l, c->data->list.data[i].decl_file, &oom);
	}
	for (size_t i = 0; i < c->symbols->list.len && !oom; i++) {
		place_string(l, c->symbols->list.data[i].name, &oom);
		place_string(l, c->symbols->list.data[i].file, &oom);
	}
	for (size_t i = 0; c->locals && i < c->locals->list.len && !oom; i++) {
		place_string(l, c->locals->list.data[i].function, &oom);
		place_string(l, c->locals->list.data[i].name, &oom);
		place_file(l, c->locals->list.data[i].file_idx, &oom);
	}
	oom = oom || !sc_layout_gather_aliases(l);
	for (size_t i = 0; i < l->aliases.len && !oom; i++)
		place_string(l, l->aliases.data[i].name, &oom);
	/* These two last: unwind/merge.c inserts a SONAME before the writer's name. */
	place_string(l, c->image.soname, &oom);
	place_string(l, c->image.writer, &oom);
	return !oom;
}

static size_t align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static uint32_t index_records(const struct sc_layout *l)
{
	const struct sc_final *f = l->c.ranges;
	uint32_t n = (uint32_t)f->ranges.len, last;

	if (!n)
		return 0;
	last = f->ranges.data[n - 1].start;
	return 2 + symcache_index_buckets(symcache_index_shift(n, last), last);
}

static void place_extension(struct sc_layout *l)
{
	static const struct sc_locals none;
	const struct sc_locals *locals = l->c.locals ? l->c.locals : &none;
	const size_t counts[EXT_UNWIND_PAGES] = {
		[EXT_IMAGE] = 1, [EXT_COLUMN] = num_locations(l),
		[EXT_DECL] = l->functions.order.len, [EXT_DATA] = l->c.data->list.len,
		[EXT_SYMBOL] = l->c.symbols->list.len, [EXT_INDEX] = index_records(l),
		[EXT_DISCRIMINATOR] = l->discriminators.any ? num_locations(l) : 0,
		[EXT_DISCRIMINATORS] = l->discriminators.list.len,
		[EXT_INLINED] = l->starts.any ? l->calls.order.len : 0,
		[EXT_INLINES] = l->starts.list.len, [EXT_QUALIFIED] = l->num_qualified,
		[EXT_LOCAL_RANGES] = locals->ranges.len,
		[EXT_LOCAL_ORDER] = locals->order.len, [EXT_LOCALS] = locals->list.len,
		[EXT_ALIAS] = l->aliases.len,
		[EXT_SEGMENT] = l->c.num_segments,
	};
	size_t at = align8(l->at_strings + l->string_bytes);

	for (int i = 0; i < EXT_UNWIND_PAGES; i++) {
		const struct symcache_section_kind *k = &symcache_section_kinds[i];

		l->ext[i] = (struct symcache_ext_section){ k->tag, k->entry_size, 0,
							   k->entry_size * counts[i] };
	}
	if (l->c.unwind) {
		sc_rows_sections(l->c.unwind, l->unwind);
		for (int i = 0; i < SC_ROWS_SECTIONS; i++)
			l->ext[EXT_UNWIND_PAGES + i] = (struct symcache_ext_section){
				l->unwind[i].tag, l->unwind[i].entry_size, 0, l->unwind[i].size };
	}
	for (int i = 0; i < EXT_SECTIONS; i++) {
		l->ext[i].offset = at;
		at = align8(at + l->ext[i].size);
		l->at_footer += has_section(l, i) * sizeof(*l->ext);
	}
	l->at_table = at;
	l->at_footer += at;
	l->size = l->at_footer + sizeof(struct symcache_ext_footer);
}

static void place_sections(struct sc_layout *l)
{
	l->at_files = sizeof(struct symcache_header);
	l->at_functions = align8(l->at_files + l->files.order.len * file_record(l));
	l->at_locations = align8(l->at_functions +
				 l->functions.order.len * sizeof(struct symcache_function));
	l->at_ranges = align8(l->at_locations +
			      num_locations(l) * sizeof(struct symcache_source_location));
	l->at_strings = align8(l->at_ranges + l->c.ranges->ranges.len * sizeof(uint32_t));
	place_extension(l);
}

int sc_layout_create(const struct sc_content *content, struct sc_layout **ret,
		     struct sc_error *err)
{
	const struct sc_tables *t = content->tables;
	struct sc_layout *l = calloc(1, sizeof(*l));

	*ret = NULL;
	if (!l)
		return sc_no_memory(err);
	l->c = *content;
	l->string_offset = malloc((t->strings.len ? t->strings.len : 1) * sizeof(uint32_t));
	if (!l->string_offset || !renumber_init(&l->files, t->files.len) ||
	    !renumber_init(&l->functions, t->functions.len) ||
	    !renumber_init(&l->calls, t->calls.len) ||
	    !renumber_init(&l->strings, t->strings.len) || !place_all(l) ||
	    !sc_layout_place_details(l)) {
		sc_layout_destroy(l);
		return sc_no_memory(err);
	}
	if (l->string_bytes >= UINT32_MAX || t->string_bytes > UINT32_MAX ||
	    num_locations(l) >= UINT32_MAX) {
		sc_layout_destroy(l);
		return sc_error_set(err, SC_ELIMIT,
				    "strings or locations do not fit into 32 bits");
	}
	place_sections(l);
	*ret = l;
	return 0;
}

void sc_layout_destroy(struct sc_layout *l)
{
	if (!l)
		return;
	renumber_deinit(&l->files);
	renumber_deinit(&l->functions);
	renumber_deinit(&l->calls);
	renumber_deinit(&l->strings);
	vec_deinit(&l->chain);
	vec_deinit(&l->aliases);
	vec_deinit(&l->discriminators.list);
	vec_deinit(&l->starts.list);
	free(l->string_offset);
	free(l);
}

struct sc_layout_counts sc_layout_counts(const struct sc_layout *l)
{
	return (struct sc_layout_counts){
		.size = l->size,
		.files = (uint32_t)l->files.order.len,
		.functions = (uint32_t)l->functions.order.len,
		.source_locations = (uint32_t)num_locations(l),
		.ranges = (uint32_t)l->c.ranges->ranges.len,
		.string_bytes = (uint32_t)l->string_bytes,
	};
}
