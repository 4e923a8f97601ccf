/*
 * Puts unwind information behind the symbols of another cache: see merge.h.
 *
 *   base … strings [SONAME] writer | sections of `symbols` | SEGM | UNW… | table | footer
 *
 * No record but the image's facts is changed. The SONAME, which debug files have lost, goes
 * where a writer that knows it would have put it: in front of the writer's name, which is
 * the last string (write/image/layout.c, place_all()). SEGM and UNW… may be of the other
 * cache, so a writer has them behind the others (SYMCACHE_EXT_SECTIONS).
 */
#include "libsymcache/unwind/merge.h"

#include <string.h>

#include "libsymcache/base/hash.h"
#include "libsymcache/unwind/rows.h"

static size_t align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static const struct symcache_ext_footer *footer_of(const struct symcache *c)
{
	return (const void *)(c->data + c->size - sizeof(struct symcache_ext_footer));
}

static const struct symcache_ext_section *table_of(const struct symcache *c)
{
	return (const void *)(c->data + footer_of(c)->table_offset);
}

/* Is the section of the file that is run? */
static bool is_of_loaded(const struct symcache_ext_section *s)
{
	int i = SYMCACHE_SECTION_SEGMENT;

	while (i < SYMCACHE_SECTIONS && s->tag != symcache_section_kinds[i].tag)
		i++;
	return i < SYMCACHE_SECTIONS;
}

/* Whose segments are those of the file that is run. */
static const struct symcache *with_segments(const struct symcache_merge *m)
{
	const struct symcache *a = m->symbols, *b = m->other;

	return b->num_segments && (!a->num_segments || a->segments->flags & SYMCACHE_SEGMENT_ASSUMED)
		       ? b : a;
}

static bool same_image(const struct symcache_ext_image *a, const struct symcache_ext_image *b)
{
	return a->load_base == b->load_base && a->machine == b->machine &&
	       a->elf_class == b->elf_class && a->big_endian == b->big_endian &&
	       a->build_id_len == b->build_id_len && a->build_id_len &&
	       !memcmp(a->build_id, b->build_id, a->build_id_len);
}

static size_t prefix_bytes(const struct symcache *c, size_t len)
{
	size_t n = 1;

	if (c->header->version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS)
		return sizeof(uint32_t);
	while (len >>= 7)
		n++;
	return n;
}

static size_t put_prefix(const struct symcache *c, uint32_t len, uint8_t *dst)
{
	size_t n = prefix_bytes(c, len);

	if (c->header->version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS) {
		memcpy(dst, &len, sizeof(len));
		return n;
	}
	for (size_t i = 0; i < n; i++, len >>= 7)
		dst[i] = (uint8_t)(i + 1 < n ? len | 0x80 : len);
	return n;
}

/* Where `wanted` stands among the strings of `c`, or SYMCACHE_NONE. *last: the last one. */
static uint32_t find_string(const struct symcache *c, struct sc_str wanted, uint32_t *last)
{
	*last = SYMCACHE_NONE;
	for (uint32_t at = 0; at < c->header->string_bytes;) {
		struct sc_str s = symcache_string(c, at);

		if (!s.ptr)
			break;
		if (s.len == wanted.len && !memcmp(s.ptr, wanted.ptr, s.len))
			return at;
		*last = at;
		at = (uint32_t)((const uint8_t *)s.ptr + s.len - c->strings);
	}
	return SYMCACHE_NONE;
}

static void plan_soname(struct symcache_merge *m)
{
	const struct symcache *to = m->symbols;
	struct sc_str soname = symcache_string(m->other, m->other->image->soname);
	uint32_t last;

	if (m->soname != SYMCACHE_NONE || !soname.ptr)
		return;
	m->soname = find_string(to, soname, &last);
	if (m->soname != SYMCACHE_NONE || soname.len > UINT32_MAX / 2 ||
	    to->header->string_bytes > UINT32_MAX / 2)
		return;
	m->insert_bytes = prefix_bytes(to, soname.len) + soname.len;
	m->insert_at = last == m->writer ? last : to->header->string_bytes;
	m->soname = (uint32_t)m->insert_at;
	m->string_bytes += (uint32_t)m->insert_bytes;
	if (last == m->writer && last != SYMCACHE_NONE)
		m->writer += (uint32_t)m->insert_bytes;
}

/* ---- sections --------------------------------------------------------------------------- */

struct sections {
	struct sc_rows_section list[SYMCACHE_EXT_MAX_SECTIONS];
	uint32_t n;
};

_Static_assert(SYMCACHE_SECTION_UNWIND_PAGES == SYMCACHE_SECTION_SEGMENT + 1,
	       "list_sections() must take what stands between them, as it takes SEGMENT");

/* Those of the result, in their order. */
static void list_sections(const struct symcache_merge *m, struct sections *ret)
{
	const struct symcache_ext_section *s = table_of(m->symbols);
	const struct symcache *loaded = with_segments(m);

	ret->n = 0;
	for (uint32_t i = 0; i < footer_of(m->symbols)->num_sections; i++, s++)
		if (!is_of_loaded(s))
			ret->list[ret->n++] = (struct sc_rows_section){
				s->tag, s->entry_size, m->symbols->data + s->offset, s->size };
	ret->list[ret->n++] = (struct sc_rows_section){
		SYMCACHE_EXT_TAG_SEGMENT, sizeof(*loaded->segments), loaded->segments,
		loaded->num_segments * sizeof(*loaded->segments) };
	sc_rows_sections(&m->unwind, ret->list + ret->n);
	ret->n += SC_ROWS_SECTIONS;
}

static size_t begin_of_sections(const struct symcache_merge *m)
{
	return align8((size_t)(m->symbols->strings - m->symbols->data) + m->string_bytes);
}

/* The rows of the result. 1; 0: `symbols` has all; SC_ENOMEM. */
static int plan_rows(struct symcache_merge *m)
{
	const struct symcache_unwind *a = &m->symbols->unwind, *b = &m->other->unwind, *first;
	const uint32_t of_a = a->facts ? a->facts->sources : 0,
		       of_b = b->facts ? b->facts->sources : 0;

	if (!(of_b & ~of_a))
		return 0;
	m->unwind = *b;
	if (!(of_a & ~of_b))
		return 1;
	m->united = calloc(1, sizeof(*m->united));
	first = of_a & ~SYMCACHE_UNWIND_DEBUG_FRAME ? a : b;
	if (!m->united || !sc_rows_unite(first, first == a ? b : a, m->united))
		return SC_ENOMEM;
	m->unwind = sc_rows_view(m->united);
	return m->unwind.facts != NULL;
}

int symcache_merge_plan(const struct symcache *symbols, const struct symcache *other,
			struct symcache_merge *ret)
{
	struct sections sections;
	int rc;

	*ret = (struct symcache_merge){ .symbols = symbols, .other = other };
	/* All of both is read: by the guards as well. */
	if (!other->unwind.facts ||  !symbols->image || !other->image ||
	    !symcache_valid(symbols, symbols->data, symbols->size) ||
	    !symcache_valid(other, other->data, other->size) ||
	    !same_image(symbols->image, other->image) ||
	    footer_of(symbols)->num_sections + SC_ROWS_SECTIONS >= SYMCACHE_EXT_MAX_SECTIONS)
		return 0;
	ret->soname = symbols->image->soname;
	ret->writer = symbols->image->writer;
	ret->string_bytes = symbols->header->string_bytes;
	rc = plan_rows(ret);
	if (rc != 1) {
		symcache_merge_deinit(ret);
		return rc;
	}
	plan_soname(ret);
	list_sections(ret, &sections);
	ret->size = begin_of_sections(ret);
	for (uint32_t i = 0; i < sections.n; i++)
		ret->size = align8(ret->size + sections.list[i].size);
	ret->size += sections.n * sizeof(struct symcache_ext_section) +
		     sizeof(struct symcache_ext_footer);
	return 1;
}

void symcache_merge_deinit(struct symcache_merge *m)
{
	if (m->united)
		sc_rows_deinit(m->united);
	free(m->united);
	m->united = NULL;
}

/* ---- bytes ------------------------------------------------------------------------------ */

static void write_base(const struct symcache_merge *m, uint8_t *dst)
{
	const struct symcache *c = m->symbols;
	const size_t head = (size_t)(c->strings - c->data);
	const size_t before = m->insert_bytes ? m->insert_at : c->header->string_bytes;
	uint8_t *at = dst + head + before;

	memcpy(dst, c->data, head + before);
	if (m->insert_bytes) {
		struct sc_str s = symcache_string(m->other, m->other->image->soname);

		at += put_prefix(c, (uint32_t)s.len, at);
		memcpy(at, s.ptr, s.len);
		memcpy(at + s.len, c->strings + before, c->header->string_bytes - before);
	}
	((struct symcache_header *)dst)->string_bytes = m->string_bytes;
}

static void change_image(const struct symcache_merge *m, struct symcache_ext_image *image)
{
	image->sources |= SYMCACHE_FROM_CFI;
	image->soname = m->soname;
	image->writer = m->writer;
}

uint64_t symcache_merge_write(const struct symcache_merge *m, uint8_t *dst)
{
	struct symcache_ext_section table[SYMCACHE_EXT_MAX_SECTIONS];
	struct symcache_ext_footer footer = {
		.file_size = m->size, .version = SYMCACHE_EXT_VERSION, .magic = SYMCACHE_EXT_MAGIC,
	};
	size_t hashed = m->size - sizeof(footer.hash), at = begin_of_sections(m);
	struct sections sections;

	list_sections(m, &sections);
	memset(dst + at - 8, 0, 8);
	write_base(m, dst);
	for (uint32_t i = 0; i < sections.n; i++) {
		const struct sc_rows_section *s = &sections.list[i];

		table[i] = (struct symcache_ext_section){ s->tag, s->entry_size, at, s->size };
		if (s->size)
			memcpy(dst + at, s->data, s->size);
		if (s->tag == SYMCACHE_EXT_TAG_IMAGE)
			change_image(m, (struct symcache_ext_image *)(dst + at));
		memset(dst + at + s->size, 0, align8(s->size) - s->size);
		at += align8(s->size);
	}
	footer.table_offset = at;
	footer.num_sections = sections.n;
	memcpy(dst + at, table, sections.n * sizeof(*table));
	memcpy(dst + m->size - sizeof(footer), &footer, sizeof(footer));
	return sc_write_hash(dst, hashed);
}
