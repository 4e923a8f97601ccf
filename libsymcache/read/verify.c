/*
 * verify.c: reads a whole SymCache and names each breach of the format.
 *
 * symcache_open() has placed the sections; here every record in them is held
 * against format/symcache.md, as a reader of its own: the checks say what must
 * be true, not what a look-up makes of it.
 *
 * Strings are read once, one behind another, and a bit marks where each starts;
 * records are then held against the bits. So the work is linear in the size of
 * the file even if a million records name one string of a gigabyte. The bits,
 * an eighth of the string section, are the one thing the reader allocates.
 */
#include "libsymcache/read/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "libsymcache/base/utf8.h"

/* ---- strings --------------------------------------------------------------- */

static void verify_strings(struct verifier *v)
{
	const struct symcache_header *h = v->cache->header;
	uint32_t offset = 0, next = 0;

	v->starts = calloc((size_t)h->string_bytes / 8 + 1, 1);
	if (!v->starts) {
		v->stopped = v->no_memory = true;
		return;
	}
	for (; offset < h->string_bytes && !v->stopped; offset = next) {
		struct sc_str s = sc_string_at(v->cache, offset, &next);

		if (!s.ptr) {
			sc_fault(v, "strings: malformed or too long at offset 0x%x", offset);
			return;
		}
		v->starts[offset / 8] |= (uint8_t)(1 << offset % 8);
		if (!s.len && h->version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS)
			sc_fault(v, "strings: empty string at offset 0x%x", offset);
		if (sc_utf8_valid(s.ptr, s.len) != s.len)
			sc_fault(v, "strings: invalid UTF-8 at offset 0x%x", offset);
	}
}

static void verify_string(struct verifier *v, uint32_t offset, const char *record, size_t i,
			  const char *field)
{
	if (offset == SYMCACHE_NONE)
		return;
	if (offset >= v->cache->header->string_bytes ||
	    !(v->starts[offset / 8] & 1 << offset % 8))
		sc_fault(v, "%s %zu: %s: no string starts at offset 0x%x", record, i, field,
			 offset);
}

/* ---- the base sections ------------------------------------------------------ */

static void verify_padding(struct verifier *v, const void *begin, const void *end,
			   const char *section)
{
	for (const uint8_t *p = begin; p < (const uint8_t *)end; p++) {
		if (*p) {
			sc_fault(v, "padding before the %s is not zero", section);
			return;
		}
	}
}

static void verify_paddings(struct verifier *v)
{
	const struct symcache *c = v->cache;
	const struct symcache_header *h = c->header;

	verify_padding(v, c->files + (size_t)h->num_files * c->file_size, c->functions,
		       "functions");
	verify_padding(v, c->functions + h->num_functions, c->locations, "source locations");
	verify_padding(v, c->locations + h->num_source_locations, c->ranges, "ranges");
	verify_padding(v, c->ranges + h->num_ranges, c->strings, "strings");
}

static void verify_files(struct verifier *v)
{
	static const char *const fields[] = { "comp_dir", "directory", "name", "srcsrv_name",
					      "srcsrv_dir", "srcsrv_revision" };

	for (uint32_t i = 0; i < v->cache->header->num_files && !v->stopped; i++) {
		const uint32_t *record = sc_file_record(v->cache, i);

		for (uint32_t f = 0; f < v->cache->file_size / sizeof(*record); f++)
			verify_string(v, record[f], "file", i, fields[f]);
	}
}

static void verify_functions(struct verifier *v)
{
	for (uint32_t i = 0; i < v->cache->header->num_functions && !v->stopped; i++) {
		verify_string(v, v->cache->functions[i].name, "function", i, "name");
		verify_string(v, v->cache->functions[i].comp_dir, "function", i, "comp_dir");
	}
}

static void verify_file_idx(struct verifier *v, uint32_t file_idx, const char *record, size_t i)
{
	if (file_idx != SYMCACHE_NONE && file_idx >= v->cache->header->num_files)
		sc_fault(v, "%s %zu: no file %u", record, i, file_idx);
}

static void verify_locations(struct verifier *v)
{
	const struct symcache_header *h = v->cache->header;
	const struct symcache_source_location *locs = v->cache->locations;
	uint32_t calls = 0;

	if (h->num_ranges > h->num_source_locations)
		sc_fault(v, "%u ranges, but only %u source locations", h->num_ranges,
		      h->num_source_locations);
	else
		calls = h->num_source_locations - h->num_ranges;

	for (uint32_t i = 0; i < h->num_source_locations && !v->stopped; i++) {
		uint32_t function = locs[i].function_idx, into = locs[i].inlined_into_idx;

		verify_file_idx(v, locs[i].file_idx, "source location", i);
		if (function != SYMCACHE_NONE && function >= h->num_functions)
			sc_fault(v, "source location %u: no function %u", i, function);
		if (into == SYMCACHE_NONE)
			continue;
		if (into >= calls)
			sc_fault(v, "source location %u: inlined into %u, which is not a call location",
			      i, into);
		else if (into >= i)
			sc_fault(v, "source location %u: inlined into %u, which is not before it",
			      i, into);
		else if (sc_is_gap(&locs[into]))
			sc_fault(v, "source location %u: inlined into %u, which is not a location",
			      i, into);
	}
}

static void verify_ranges(struct verifier *v)
{
	const uint32_t *starts = v->cache->ranges;

	for (uint32_t i = 1; i < v->cache->header->num_ranges && !v->stopped; i++)
		if (starts[i] <= starts[i - 1])
			sc_fault(v, "range %u: starts at 0x%x, not after 0x%x", i, starts[i],
			      starts[i - 1]);
}

/* ---- the extension area ------------------------------------------------------ */

static void verify_image(struct verifier *v)
{
	const struct symcache_ext_image *image = v->cache->image;

	if (!image)
		return;
	if ((image->elf_class != 32 && image->elf_class != 64) || image->big_endian > 1 ||
	    image->build_id_derived > 1)
		sc_fault(v, "image: class %u, big-endian %u, derived %u", image->elf_class,
		      image->big_endian, image->build_id_derived);
	verify_string(v, image->soname, "image", 0, "soname");
	verify_string(v, image->writer, "image", 0, "writer");
}

static void verify_decls(struct verifier *v)
{
	const struct symcache *c = v->cache;

	for (uint32_t i = 0; c->decls && i < c->header->num_functions && !v->stopped; i++)
		verify_file_idx(v, c->decls[i].file_idx, "declaration", i);
}

static void verify_data_symbols(struct verifier *v)
{
	const struct symcache_ext_data *s = v->cache->data_symbols;

	for (size_t i = 0; i < v->cache->num_data_symbols && !v->stopped; i++) {
		verify_string(v, s[i].name, "data symbol", i, "name");
		verify_file_idx(v, s[i].file_idx, "data symbol", i);
		if (i && (s[i].address < s[i - 1].address ||
			  (s[i].address == s[i - 1].address && s[i].size < s[i - 1].size)))
			sc_fault(v, "data symbol %zu: 0x%x, size %u, must stand before 0x%x, size %u",
			      i, s[i].address, s[i].size, s[i - 1].address, s[i - 1].size);
	}
}

static void verify_symbols(struct verifier *v)
{
	const struct symcache_ext_symbol *s = v->cache->symbols;

	for (size_t i = 0; i < v->cache->num_symbols && !v->stopped; i++) {
		verify_string(v, s[i].name, "symbol", i, "name");
		verify_string(v, s[i].file, "symbol", i, "file");
		if (i && s[i].address <= s[i - 1].address)
			sc_fault(v, "symbol %zu: 0x%x must come after 0x%x", i, s[i].address,
			      s[i - 1].address);
	}
}

static void verify_aliases(struct verifier *v)
{
	const struct symcache_ext_alias *a = v->cache->aliases;

	for (size_t i = 0; i < v->cache->num_aliases && !v->stopped; i++) {
		verify_string(v, a[i].name, "alias", i, "name");
		if (i && a[i].address < a[i - 1].address)
			sc_fault(v, "alias %zu: 0x%x must not come after 0x%x", i, a[i].address,
				 a[i - 1].address);
	}
}

/* Is `range` the last one that starts at or below `address`, or 0 without one? */
static bool is_last_start(const struct symcache *c, uint32_t range, uint64_t address)
{
	return range < c->header->num_ranges && (!range || c->ranges[range] <= address) &&
	       (range + 1 == c->header->num_ranges || c->ranges[range + 1] > address);
}

static void verify_index(struct verifier *v)
{
	const struct symcache *c = v->cache;

	for (uint32_t k = 0; k < c->index_buckets && !v->stopped; k++)
		if (!is_last_start(c, c->index[k], (uint64_t)k << c->index_shift))
			sc_fault(v, "index: bucket %u: wrong range %u", k, c->index[k]);
	if (c->index && c->index[c->index_buckets] != c->header->num_ranges - 1)
		sc_fault(v, "index: last entry: wrong range %u", c->index[c->index_buckets]);
}

static void verify_segments(struct verifier *v)
{
	const struct symcache_ext_segment *s = v->cache->segments;

	for (size_t i = 0; i < v->cache->num_segments && !v->stopped; i++) {
		if (s[i].offset + s[i].size < s[i].offset || s[i].vaddr + s[i].size < s[i].vaddr)
			sc_fault(v, "segment %zu: ends past the last address", i);
		if (i && s[i].vaddr < s[i - 1].vaddr)
			sc_fault(v, "segment %zu: 0x%" PRIx64 " must stand before 0x%" PRIx64, i,
				 s[i].vaddr, s[i - 1].vaddr);
	}
}

/* `numbers`: how many locations have one. */
static void verify_details(struct verifier *v, const char *what, const struct symcache_details *d,
			   uint32_t numbers)
{
	for (size_t i = 0; i < d->num && !v->stopped; i++) {
		const struct symcache_ext_detail *at = &d->list[i];

		if (!d->numbers || at->location >= numbers)
			sc_fault(v, "%s %zu: no source location %u", what, i, at->location);
		else if (i && (at->location < at[-1].location ||
			       (at->location == at[-1].location && at->from <= at[-1].from)))
			sc_fault(v, "%s %zu: 0x%x of location %u must come after 0x%x of %u",
				 what, i, at->from, at->location, at[-1].from, at[-1].location);
	}
}

static void verify_qualified(struct verifier *v)
{
	const struct symcache_ext_qualified *q = v->cache->qualified;

	for (size_t i = 0; i < v->cache->num_qualified && !v->stopped; i++) {
		verify_string(v, q[i].name, "qualified name", i, "name");
		if (q[i].function >= v->cache->header->num_functions)
			sc_fault(v, "qualified name %zu: no function %u", i, q[i].function);
		if (i && q[i].function <= q[i - 1].function)
			sc_fault(v, "qualified name %zu: function %u must come after %u", i,
				 q[i].function, q[i - 1].function);
	}
}

static void verify_locals(struct verifier *v)
{
	const struct symcache_local_tables *l = &v->cache->locals;

	for (size_t i = 0; i < l->num_ranges && !v->stopped; i++) {
		const struct symcache_ext_local_range *r = &l->ranges[i];

		if (r->first > l->num_order || r->count > l->num_order - r->first)
			sc_fault(v, "range of locals %zu: %u from %u, of %zu", i, r->count,
				 r->first, l->num_order);
		if (i && r->start <= r[-1].start)
			sc_fault(v, "range of locals %zu: starts at 0x%x, not after 0x%x", i,
				 r->start, r[-1].start);
	}
	for (size_t i = 0; i < l->num_order && !v->stopped; i++)
		if (l->order[i] >= l->num)
			sc_fault(v, "place %zu of locals: no local %u", i, l->order[i]);
	for (size_t i = 0; i < l->num && !v->stopped; i++) {
		verify_string(v, l->list[i].function, "local", i, "function");
		verify_string(v, l->list[i].name, "local", i, "name");
		verify_file_idx(v, l->list[i].file_idx, "local", i);
		if (l->list[i].flags >= 2 * SYMCACHE_LOCAL_TAG)
			sc_fault(v, "local %zu: flags 0x%x", i, l->list[i].flags);
	}
}

static void verify_extension(struct verifier *v)
{
	const struct symcache *c = v->cache;
	struct symcache copy = *c;
	struct sc_error err;
	uint64_t stored, hash;
	size_t hashed = c->size - sizeof(stored);
	int rc = sc_ext_open(&copy, &err);

	if (rc < 0)
		sc_fault(v, "extension area: %s", err.msg);
	if (rc <= 0)
		return;
	memcpy(&stored, c->data + hashed, sizeof(stored));
	hash = XXH3_64bits(c->data, hashed);
	if (hash != stored)
		sc_fault(v, "hash: %016" PRIx64 ", the footer says %016" PRIx64, hash, stored);
	verify_padding(v, c->data + c->base_size, c->data + sc_align8(c->base_size),
		       "extension area");
	verify_image(v);
	verify_decls(v);
	verify_data_symbols(v);
	verify_symbols(v);
	verify_aliases(v);
	verify_index(v);
	verify_segments(v);
	verify_details(v, "discriminator", &c->discriminators, c->header->num_source_locations);
	verify_details(v, "start", &c->starts, c->range_location);
	verify_qualified(v);
	verify_locals(v);
	sc_verify_unwind(v);
}

ssize_t symcache_verify(const struct symcache *cache, symcache_fault_fn *fn, void *ctx)
{
	struct verifier v = { .cache = cache, .fn = fn, .ctx = ctx };

	verify_paddings(&v);
	verify_strings(&v);
	if (!v.stopped) {
		verify_files(&v);
		verify_functions(&v);
		verify_locations(&v);
		verify_ranges(&v);
		verify_extension(&v);
	}
	free(v.starts);
	return v.no_memory ? SC_ENOMEM : (ssize_t)v.faults;
}
