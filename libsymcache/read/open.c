/*
 * open.c: the header and the five sections of a SymCache.
 *
 * The file stores counts, not offsets: each section begins at the next multiple
 * of eight behind the one before it. So one cursor walks over the counts, and
 * every section it hands out lies inside the bytes. That is all symcache_open()
 * promises; what the records say is tested where they are read.
 *
 * Cost: constant. The checks run in the order that format/symcache.md gives,
 * so that the same bytes get the same answer from every reader.
 */
#include "libsymcache/read/parts.h"


struct cursor {
	const uint8_t *data;
	size_t size, pos;
	const char *missing; /* the first section that does not fit; NULL: none */
};

/* The next section, of `count` records. NULL: it or one before it does not fit. */
static const void *next_section(struct cursor *c, const char *name, size_t count,
				size_t record_size)
{
	size_t start = sc_align8(c->pos);

	if (!c->missing && (start > c->size || count > (c->size - start) / record_size))
		c->missing = name;
	if (c->missing)
		return NULL;
	c->pos = start + count * record_size;
	return c->data + start;
}

static int check_header(const void *data, size_t size, struct sc_error *err)
{
	const struct symcache_header *h = data;

	if (size < 8 || (uintptr_t)data % 4)
		return sc_error_set(err, SC_EFORMAT, "could not read header");
	if (h->magic == SYMCACHE_MAGIC_FLIPPED)
		return sc_error_set(err, SC_EFORMAT, "wrong byte order");
	if (h->magic != SYMCACHE_MAGIC)
		return sc_error_set(err, SC_EFORMAT, "not a SymCache");
	if (h->version < SYMCACHE_VERSION_MIN || h->version > SYMCACHE_VERSION_MAX)
		return sc_error_set(err, SC_EFORMAT, "unknown version %u", h->version);
	if (size < sizeof(*h))
		return sc_error_set(err, SC_EFORMAT, "could not read header");
	return 0;
}

int symcache_open(struct symcache *ret, const void *data, size_t size, struct sc_error *err)
{
	return symcache_open_guarded(ret, data, size, NULL, err);
}

int symcache_open_guarded(struct symcache *ret, const void *data, size_t size,
			  struct symcache_guard *guard, struct sc_error *err)
{
	struct cursor c = { .data = data, .size = size, .pos = sizeof(struct symcache_header) };
	const struct symcache_header *h = data;
	size_t left;
	int rc;

	*ret = (struct symcache){ .data = data, .size = size, .header = h, .guard = guard };
	if (!symcache_valid(ret, data, size < sizeof(*h) ? size : sizeof(*h)))
		return sc_error_set(err, SC_EFORMAT, "damaged");
	rc = check_header(data, size, err);
	if (rc)
		return rc;
	ret->file_size = h->version < SYMCACHE_FIRST_VERSION_WITH_SRCSRV ?
		sizeof(struct symcache_file_v7) : sizeof(struct symcache_file_v9);
	/* Wraps where there are more ranges than locations; the look-up, which
	 * tests every index, then finds nothing for those without one. */
	ret->range_location = h->num_source_locations - h->num_ranges;

	ret->files = next_section(&c, "files", h->num_files, ret->file_size);
	ret->functions = next_section(&c, "functions", h->num_functions, sizeof(*ret->functions));
	ret->locations = next_section(&c, "source locations", h->num_source_locations,
				      sizeof(*ret->locations));
	ret->ranges = next_section(&c, "ranges", h->num_ranges, sizeof(*ret->ranges));
	if (c.missing)
		return sc_error_set(err, SC_EFORMAT, "could not read %s", c.missing);
	/* First without a byte, for the padding, then with what is left. */
	ret->strings = next_section(&c, "strings", 0, 1);
	left = ret->strings ? size - c.pos : 0;
	if (!ret->strings || left < h->string_bytes)
		return sc_error_set(err, SC_EFORMAT, "expected %u string bytes, found %zu",
				    h->string_bytes, left);
	ret->base_size = c.pos + h->string_bytes;

	sc_ext_open(ret, NULL);
	return symcache_damaged(ret) ? sc_error_set(err, SC_EFORMAT, "damaged") : 0;
}

uint64_t symcache_load_base(const struct symcache *cache)
{
	return cache->image ? cache->image->load_base : 0;
}

bool symcache_vaddr_of_offset(const struct symcache *cache, uint64_t offset, uint64_t *vaddr)
{
	const struct symcache_ext_segment *s = cache->segments, *end = s + cache->num_segments;

	if (!s || !symcache_valid(cache, s, cache->num_segments * sizeof(*s)))
		return false;
	for (; s < end; s++) {
		if (offset < s->offset || offset - s->offset >= s->size)
			continue;
		*vaddr = s->vaddr + (offset - s->offset);
		return true;
	}
	return false;
}

bool symcache_has_offsets(const struct symcache *cache)
{
	const struct symcache_ext_segment *s = cache->segments;
	bool known = s && cache->num_segments &&
		     symcache_valid(cache, s, cache->num_segments * sizeof(*s));

	for (size_t i = 0; known && i < cache->num_segments; i++)
		known = !(s[i].flags & SYMCACHE_SEGMENT_ASSUMED);
	return known;
}

bool symcache_vaddr_of_code(const struct symcache *cache, uint64_t offset, uint64_t *vaddr)
{
	const struct symcache_ext_segment *s = cache->segments;
	const uint64_t page = 4096;

	if (cache->num_segments != 1 || !symcache_valid(cache, s, sizeof(*s)) ||
	    offset < s->vaddr % page || offset - s->vaddr % page >= s->size)
		return false;
	*vaddr = s->vaddr - s->vaddr % page + offset;
	return true;
}

bool symcache_may_be_code(const struct symcache *cache, uint64_t vaddr)
{
	const struct symcache_ext_segment *s = cache->segments, *end = s + cache->num_segments;

	if (!cache->image || vaddr - cache->image->load_base >= cache->image->image_size ||
	    !symcache_valid(cache, s, cache->num_segments * sizeof(*s)))
		return false;
	while (s < end && vaddr - s->vaddr >= s->size)
		s++;
	return !cache->num_segments || s < end;
}
