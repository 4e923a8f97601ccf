/*
 * ext.c: the extension area behind the strings.
 *
 *   … strings | sections … | section table | footer |
 *                                                   ^ end of file
 *
 * All or nothing: the cache's pointers are set only when the footer, the table
 * and every section are in order, so that whoever reads through them needs to
 * test no more than an index. An area that is not in order is treated as absent
 * and the file as a plain SymCache.
 *
 * Cost: one pass over the table, which holds at most SYMCACHE_EXT_MAX_SECTIONS.
 * The hash is not checked here but by symcache_verify(): it reads every byte.
 */
#include "format/symcache_index.h"
#include "libsymcache/read/parts.h"

#include <inttypes.h>
#include <string.h>

#define SHORT(name, ...) name = SYMCACHE_SECTION_##name,
enum { SYMCACHE_EXT_SECTIONS(SHORT) };

struct found {
	const void *at; /* NULL: not there */
	uint64_t count;
	uint32_t entry_size;
};

static int take_section(const struct symcache *cache, size_t begin, size_t end,
			const struct symcache_ext_section *s, struct found *found,
			struct sc_error *err)
{
	if (s->offset % 8 || s->offset < begin || s->offset > end || s->size > end - s->offset)
		return sc_error_set(err, SC_EFORMAT,
				    "section 0x%08x: bad place 0x%" PRIx64 ", size 0x%" PRIx64,
				    s->tag, s->offset, s->size);
	for (int i = 0; i < SYMCACHE_SECTIONS; i++) {
		const struct symcache_section_kind *k = &symcache_section_kinds[i];

		if (s->tag != k->tag)
			continue;
		if (found[i].at)
			return sc_error_set(err, SC_EFORMAT, "section %s is there twice", k->name);
		if ((s->entry_size != k->entry_size &&
		     (i != UNWIND_STARTS ||
		      s->entry_size != sizeof(struct symcache_ext_wide_start))) ||
		    s->size % s->entry_size)
			return sc_error_set(err, SC_EFORMAT, "section %s: bad record size %u",
					    k->name, s->entry_size);
		found[i].at = cache->data + s->offset;
		found[i].count = s->size / s->entry_size;
		found[i].entry_size = s->entry_size;
	}
	return 0;
}

/* Those that have a record for each of something. */
static int check_counts(const struct symcache *cache, const struct found *found,
			struct sc_error *err)
{
	const uint32_t wanted[] = {
		[SYMCACHE_ONE] = 1, [SYMCACHE_LOCATIONS] = cache->header->num_source_locations,
		[SYMCACHE_FUNCTIONS] = cache->header->num_functions,
		[SYMCACHE_CALLS] = cache->range_location,
	};

	for (int i = 0; i < SYMCACHE_SECTIONS; i++) {
		const struct symcache_section_kind *k = &symcache_section_kinds[i];

		if (k->records != SYMCACHE_ANY && found[i].at && found[i].count != wanted[k->records])
			return sc_error_set(err, SC_EFORMAT,
					    "section %s: %" PRIu64 " records instead of %u", k->name,
					    found[i].count, wanted[k->records]);
	}
	if (found[SEGMENT].count > SYMCACHE_SEGMENTS_MAX)
		return sc_error_set(err, SC_EFORMAT,
				    "section SEGM: %" PRIu64 " records, more than %u",
				    found[SEGMENT].count, SYMCACHE_SEGMENTS_MAX);
	return 0;
}

/* The index must have as many entries as its shift asks for: the shift, one for
 * each bucket, one more. What they say is tested at each look-up. */
static int check_index(const struct symcache *cache, const struct found *f, struct sc_error *err)
{
	const uint32_t *record = f->at;
	uint32_t n = cache->header->num_ranges;

	if (!record || (!n && !f->count) || (n && f->count &&
			symcache_valid(cache, record, sizeof(*record)) &&
			symcache_valid(cache, &cache->ranges[n - 1], sizeof(*cache->ranges)) &&
			record[0] < 32 &&
			f->count == symcache_index_buckets(record[0], cache->ranges[n - 1]) + 2ull))
		return 0;
	return sc_error_set(err, SC_EFORMAT, "section INDX does not fit the ranges");
}

/* Those of a group belong together: what rows.c, locals.c and those who look into the tables rely
 * on. The records are tested where they are read. */
static int check_group(const struct found *f, enum symcache_presence group, struct sc_error *err)
{
	bool any = false, all = group != SYMCACHE_UNWIND ||
				(f[UNWIND].count == 1 && f[UNWIND_PAGES].count >= 2 &&
				 f[UNWIND_STARTS].count && f[UNWIND_ROWS].count);
	const char *name = NULL;

	for (int i = 0; i < SYMCACHE_SECTIONS; i++) {
		if (symcache_section_kinds[i].presence != group)
			continue;
		name = symcache_section_kinds[i].name;
		any |= f[i].at != NULL;
		all &= f[i].at && f[i].count <= UINT32_MAX;
	}
	return !any || all ? 0 :
	       sc_error_set(err, SC_EFORMAT, "sections %.3s… are incomplete", name);
}

static struct symcache_details details(const struct found *numbers, const struct found *list)
{
	return (struct symcache_details){ numbers->at, list->at, list->count };
}

static void set_unwind(struct symcache *cache, const struct found *f)
{
	cache->unwind = (struct symcache_unwind){
		.facts = f[UNWIND].at,
		.pages = f[UNWIND_PAGES].at, .num_pages = f[UNWIND_PAGES].count,
		.starts = f[UNWIND_STARTS].at, .num_starts = (uint32_t)f[UNWIND_STARTS].count,
		.rows = f[UNWIND_ROWS].at, .num_rows = (uint32_t)f[UNWIND_ROWS].count,
		.rules = f[UNWIND_RULES].at, .num_rules = (uint32_t)f[UNWIND_RULES].count,
		.expressions = f[UNWIND_EXPRESSIONS].at,
		.expression_bytes = f[UNWIND_EXPRESSIONS].count,
		.wide = f[UNWIND_STARTS].entry_size == sizeof(struct symcache_ext_wide_start),
	};
}

/* Reads the footer. 1: there is one, and it is in order; 0: there is none. */
static int read_footer(const struct symcache *cache, size_t begin,
		       struct symcache_ext_footer *f, struct sc_error *err)
{
	size_t end; /* of what sections and table may occupy: the footer's start */

	if (cache->size < sizeof(*f) || cache->size - sizeof(*f) < begin)
		return 0;
	end = cache->size - sizeof(*f);
	if (!symcache_valid(cache, cache->data + end, sizeof(*f)))
		return sc_error_set(err, SC_EFORMAT, "damaged");
	memcpy(f, cache->data + end, sizeof(*f));
	if (memcmp(f->magic, SYMCACHE_EXT_MAGIC, sizeof(f->magic)))
		return 0;
	if (f->version != SYMCACHE_EXT_VERSION)
		return sc_error_set(err, SC_EFORMAT, "unknown version %u", f->version);
	if (f->file_size != cache->size)
		return sc_error_set(err, SC_EFORMAT,
				    "made for a file of %" PRIu64 " bytes, this one has %zu",
				    f->file_size, cache->size);
	if ((uintptr_t)cache->data % 8 || end % 8)
		return sc_error_set(err, SC_EFORMAT, "not aligned to 8 bytes");
	if (f->table_offset % 8 || f->table_offset < begin || f->table_offset > end ||
	    f->num_sections > SYMCACHE_EXT_MAX_SECTIONS ||
	    f->num_sections > (end - f->table_offset) / sizeof(struct symcache_ext_section))
		return sc_error_set(err, SC_EFORMAT, "bad section table: %u sections at 0x%" PRIx64,
				    f->num_sections, f->table_offset);
	return 1;
}

/* Finds the sections, and tests that they fit the cache. */
static int find_sections(const struct symcache *cache, size_t begin,
			 const struct symcache_ext_footer *footer, struct found *found,
			 struct sc_error *err)
{
	const struct symcache_ext_section *table =
		(const void *)(cache->data + footer->table_offset);
	const struct symcache_ext_image *image;
	int rc = 0;

	if (!symcache_valid(cache, table, footer->num_sections * sizeof(*table)))
		return sc_error_set(err, SC_EFORMAT, "damaged");
	for (uint32_t i = 0; i < footer->num_sections && !rc; i++)
		rc = take_section(cache, begin, cache->size - sizeof(*footer), &table[i], found,
				  err);
	if (rc || (rc = check_counts(cache, found, err)) ||
	    (rc = check_index(cache, &found[INDEX], err)) ||
	    (rc = check_group(found, SYMCACHE_LOCALS, err)) ||
	    (rc = check_group(found, SYMCACHE_UNWIND, err)))
		return rc;
	image = found[IMAGE].at;
	if (image && !symcache_valid(cache, image, sizeof(*image)))
		return sc_error_set(err, SC_EFORMAT, "damaged");
	if (image && image->build_id_len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_EFORMAT, "section IMAG: build ID of %u bytes",
				    image->build_id_len);
	return 0;
}

int sc_ext_open(struct symcache *cache, struct sc_error *err)
{
	const size_t begin = sc_align8(cache->base_size);
	struct found found[SYMCACHE_SECTIONS] = { 0 };
	struct symcache_ext_footer footer;
	int rc = read_footer(cache, begin, &footer, err);

	if (rc != 1)
		return rc;
	rc = find_sections(cache, begin, &footer, found, err);
	if (rc)
		return rc;
	cache->image = found[IMAGE].at;
	cache->columns = found[COLUMN].at;
	cache->decls = found[DECL].at;
	cache->qualified = found[QUALIFIED].at;
	cache->num_qualified = found[QUALIFIED].count;
	cache->data_symbols = found[DATA].at;
	cache->num_data_symbols = found[DATA].count;
	cache->symbols = found[SYMBOL].at;
	cache->num_symbols = found[SYMBOL].count;
	cache->aliases = found[ALIAS].at;
	cache->num_aliases = found[ALIAS].count;
	cache->segments = found[SEGMENT].at;
	cache->num_segments = found[SEGMENT].count;
	cache->discriminators = details(&found[DISCRIMINATOR], &found[DISCRIMINATORS]);
	cache->starts = details(&found[INLINED], &found[INLINES]);
	cache->locals = (struct symcache_local_tables){
		found[LOCAL_RANGES].at, found[LOCAL_ORDER].at, found[LOCALS].at,
		found[LOCAL_RANGES].count, found[LOCAL_ORDER].count, found[LOCALS].count,
	};
	if (found[UNWIND].at &&
	    symcache_valid(cache, found[UNWIND].at, sizeof(*cache->unwind.facts)))
		set_unwind(cache, found);
	if (found[INDEX].at && found[INDEX].count) {
		const uint32_t *record = found[INDEX].at;

		cache->index = record + 1;
		cache->index_shift = record[0];
		cache->index_buckets = (uint32_t)(found[INDEX].count - 2);
	}
	return 1;
}
