/* A cache → its outermost functions alone: see only_names.h. */
#include "libsymcache/write/only_names.h"

#include <stdlib.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/image/layout.h"

struct naming {
	const struct symcache *from;
	uint32_t *outer;     /* by calls: the function that they are inlined into; SC_NONE: unknown */
	uint32_t *functions; /* by functions of the cache: its number in the tables, or SC_NONE */
	struct sc_tables tables;
	struct sc_final ranges;
	VEC(char) text;      /* a string with its NUL */
};

uint32_t symcache_only_names_sources(uint32_t sources)
{
	const uint32_t dynamic = SYMCACHE_FROM_MINIDEBUGINFO | SYMCACHE_FROM_DYNSYM;

	if (sources & (SYMCACHE_FROM_DWARF | SYMCACHE_FROM_GO | SYMCACHE_FROM_SYMTAB))
		return SYMCACHE_FROM_NAMES | SYMCACHE_FROM_SYMTAB;
	return sources & dynamic ? SYMCACHE_FROM_NAMES | (sources & dynamic) : 0;
}

static bool add_string(struct naming *n, uint32_t offset, uint32_t *ret)
{
	const struct sc_str s = symcache_string(n->from, offset);

	*ret = SC_NONE;
	if (!s.ptr || !s.len)
		return true;
	vec_clear(&n->text);
	if (!vec_reserve(&n->text, s.len + 1))
		return false;
	memcpy(n->text.data, s.ptr, s.len);
	n->text.data[s.len] = 0;
	return sc_table_passing_string(&n->tables, n->text.data, ret);
}

/* The number of function `f` of the cache in the tables. */
static bool add_function(struct naming *n, uint32_t f, uint32_t *ret)
{
	struct sc_function added = { .qualified = SC_NONE, .decl_file = SC_NONE };

	*ret = SC_NONE;
	if (f >= n->from->header->num_functions)
		return true;
	if (n->functions[f] == SC_NONE) {
		added.entry = n->from->functions[f].entry_pc;
		added.lang = n->from->functions[f].lang;
		if (!add_string(n, n->from->functions[f].name, &added.name) ||
		    !sc_table_function(&n->tables, &added, &n->functions[f]))
			return false;
	}
	*ret = n->functions[f];
	return true;
}

/* The outermost function of location `l`. Calls stand in front of what is inlined into them: of others
 * `outer` has none yet. */
static uint32_t outermost(const struct naming *n, uint32_t l)
{
	const struct symcache_source_location *at = &n->from->locations[l];
	const uint32_t into = at->inlined_into_idx;

	if (into == SYMCACHE_NONE)
		return at->function_idx;
	return into < n->from->range_location ? n->outer[into] : SC_NONE;
}

static bool add_range(struct naming *n, uint32_t start, uint32_t function)
{
	struct sc_location loc = { .file = SC_NONE, .inlined_into = SC_NONE };
	struct sc_final_range *r;

	if (!add_function(n, function, &loc.function))
		return false;
	/* What stands in the record of no location. */
	if (loc.function == SC_NONE)
		loc.line = SC_NONE;
	if (n->ranges.ranges.len ?
	    n->ranges.ranges.data[n->ranges.ranges.len - 1].loc.function == loc.function :
	    loc.function == SC_NONE)
		return true;
	if (!(r = vec_push(&n->ranges.ranges)))
		return false;
	*r = (struct sc_final_range){ start, loc };
	return true;
}

/* Room for n numbers, all SC_NONE. */
static uint32_t *many_none(size_t n)
{
	uint32_t *list = malloc((n + 1) * sizeof(*list));

	return list ? memset(list, 0xff, (n + 1) * sizeof(*list)) : NULL;
}

static bool gather(struct naming *n)
{
	const struct symcache *c = n->from;
	const uint32_t calls = c->range_location;

	n->outer = many_none(calls);
	n->functions = many_none(c->header->num_functions);
	if (!n->outer || !n->functions)
		return false;
	for (uint32_t i = 0; i < calls; i++)
		n->outer[i] = outermost(n, i);
	for (uint32_t i = 0; i < c->header->num_ranges; i++)
		if (!add_range(n, c->ranges[i], outermost(n, calls + i)))
			return false;
	return true;
}

static bool in_order(const struct symcache *c)
{
	const struct symcache_header *h = c->header;

	for (uint32_t i = 1; i < h->num_ranges; i++)
		if (c->ranges[i - 1] >= c->ranges[i])
			return false;
	return h->num_ranges <= h->num_source_locations;
}

static int lay_out(struct naming *n, void **ret, size_t *ret_size, struct sc_error *err)
{
	static const struct sc_data_symbols no_data;
	static const struct sc_table_symbols no_symbols;
	static const struct symcache_ext_image no_image;
	struct sc_elf_segment segments[SC_SEGMENTS_MAX];
	const struct symcache *c = n->from;
	struct sc_content content = {
		.version = c->header->version, .arch = c->header->arch, .tables = &n->tables,
		.ranges = &n->ranges, .data = &no_data, .symbols = &no_symbols,
		.segments = segments, .image = c->image ? *c->image : no_image,
	};
	struct sc_layout *layout;
	int rc;

	for (; content.num_segments < c->num_segments && content.num_segments < SC_SEGMENTS_MAX;
	     content.num_segments++) {
		const struct symcache_ext_segment *s = &c->segments[content.num_segments];

		segments[content.num_segments] = (struct sc_elf_segment){
			s->offset, s->vaddr, s->size, s->flags & SYMCACHE_SEGMENT_ASSUMED };
	}
	memcpy(content.debug_uuid, c->header->debug_uuid, sizeof(content.debug_uuid));
	content.image.sources = symcache_only_names_sources(
		c->image ? c->image->sources : SYMCACHE_FROM_SYMTAB);
	if (!add_string(n, c->image ? c->image->soname : SYMCACHE_NONE, &content.image.soname) ||
	    !sc_table_string(&n->tables, symcache_version, &content.image.writer))
		return sc_no_memory(err);
	if ((rc = sc_layout_create(&content, &layout, err)))
		return rc;
	*ret_size = sc_layout_counts(layout).size;
	if ((*ret = malloc(*ret_size)))
		sc_layout_write(layout, 1, *ret);
	sc_layout_destroy(layout);
	return *ret ? 0 : sc_no_memory(err);
}

int symcache_only_names(const struct symcache *cache, void **ret, size_t *ret_size,
			struct sc_error *err)
{
	struct naming n = { .from = cache };
	int rc;

	*ret = NULL;
	if (!in_order(cache))
		return sc_error_set(err, SC_EFORMAT, "the ranges are not in order");
	rc = gather(&n) ? lay_out(&n, ret, ret_size, err) : sc_no_memory(err);
	vec_deinit(&n.text);
	sc_final_deinit(&n.ranges);
	sc_tables_deinit(&n.tables);
	free(n.functions);
	free(n.outer);
	return rc;
}
