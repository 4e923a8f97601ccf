/*
 * Puts unwind information behind the symbols of another cache: see symcache/merge.h.
 *
 *   base … strings [SONAME] writer | sections of `symbols` | UNW… of `unwind` | table | footer
 *
 * No record but the image's facts is changed. The SONAME, which debug files have lost, goes
 * where a writer that knows it would have put it: in front of the writer's name, which is
 * the last string.
 */
#include "symcache/merge.h"

#include <xxhash.h>

#include "libsymcache/read/read.h"

static const struct symcache_ext_footer *footer_of(const struct symcache *c)
{
	return (const void *)(c->data + c->size - sizeof(struct symcache_ext_footer));
}

static const struct symcache_ext_section *table_of(const struct symcache *c)
{
	return (const void *)(c->data + footer_of(c)->table_offset);
}

static bool is_unwind(const struct symcache_ext_section *s)
{
	return (s->tag & 0xffffff) == (SYMCACHE_EXT_TAG_PAGES & 0xffffff); /* "UNW" */
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
static uint32_t find_string(const struct symcache *c, struct symcache_str wanted, uint32_t *last)
{
	uint32_t next;

	*last = SYMCACHE_NONE;
	for (uint32_t at = 0; at < c->header->string_bytes; at = next) {
		struct symcache_str s = sc_string_at(c, at, &next);

		if (!s.ptr)
			break;
		if (s.len == wanted.len && !memcmp(s.ptr, wanted.ptr, s.len))
			return at;
		*last = at;
	}
	return SYMCACHE_NONE;
}

static void plan_soname(struct symcache_merge *m)
{
	const struct symcache *to = m->symbols;
	struct symcache_str soname = symcache_string(m->unwind, m->unwind->image->soname);
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

/* Calls place for each section of the result, in their order; the bytes up to the table. */
static size_t each_section(const struct symcache_merge *m,
			   void (*place)(void *ctx, const struct symcache *from,
					 const struct symcache_ext_section *s, size_t at),
			   void *ctx, uint32_t *num)
{
	const struct symcache *const caches[] = { m->symbols, m->unwind };
	size_t at = sc_align8((size_t)(m->symbols->strings - m->symbols->data) + m->string_bytes);

	*num = 0;
	for (int i = 0; i < 2; i++) {
		const struct symcache_ext_section *s = table_of(caches[i]);

		for (uint32_t k = 0; k < footer_of(caches[i])->num_sections; k++, s++) {
			if (is_unwind(s) != (i == 1))
				continue;
			if (place)
				place(ctx, caches[i], s, at);
			at = sc_align8(at + s->size);
			++*num;
		}
	}
	return at;
}

bool symcache_merge_plan(const struct symcache *symbols, const struct symcache *unwind,
			 struct symcache_merge *ret)
{
	uint32_t num;

	/* All of both is read: by the guards as well. */
	if (symbols->unwind.facts || !unwind->unwind.facts || !symbols->image || !unwind->image ||
	    !symcache_sound(symbols, symbols->data, symbols->size) ||
	    !symcache_sound(unwind, unwind->data, unwind->size) ||
	    !same_image(symbols->image, unwind->image))
		return false;
	*ret = (struct symcache_merge){
		.symbols = symbols, .unwind = unwind, .soname = symbols->image->soname,
		.writer = symbols->image->writer, .string_bytes = symbols->header->string_bytes,
	};
	plan_soname(ret);
	ret->size = each_section(ret, NULL, NULL, &num);
	ret->size += num * sizeof(struct symcache_ext_section) + sizeof(struct symcache_ext_footer);
	return num <= SYMCACHE_EXT_MAX_SECTIONS;
}

static void write_base(const struct symcache_merge *m, uint8_t *dst)
{
	const struct symcache *c = m->symbols;
	const size_t head = (size_t)(c->strings - c->data);
	const size_t before = m->insert_bytes ? m->insert_at : c->header->string_bytes;
	uint8_t *at = dst + head + before;

	memcpy(dst, c->data, head + before);
	if (m->insert_bytes) {
		struct symcache_str s = symcache_string(m->unwind, m->unwind->image->soname);

		at += put_prefix(c, (uint32_t)s.len, at);
		memcpy(at, s.ptr, s.len);
		memcpy(at + s.len, c->strings + before, c->header->string_bytes - before);
	}
	((struct symcache_header *)dst)->string_bytes = m->string_bytes;
}

struct writing {
	const struct symcache_merge *m;
	uint8_t *dst;
	size_t end; /* of what is written */
	struct symcache_ext_section table[SYMCACHE_EXT_MAX_SECTIONS];
	uint32_t n;
};

static void write_section(void *ctx, const struct symcache *from,
			  const struct symcache_ext_section *s, size_t at)
{
	struct writing *w = ctx;

	memset(w->dst + w->end, 0, at - w->end);
	memcpy(w->dst + at, from->data + s->offset, s->size);
	if (s->tag == SYMCACHE_EXT_TAG_IMAGE) {
		struct symcache_ext_image *image = (struct symcache_ext_image *)(w->dst + at);

		image->sources |= SYMCACHE_FROM_CFI;
		image->soname = w->m->soname;
		image->writer = w->m->writer;
	}
	w->table[w->n] = *s;
	w->table[w->n++].offset = at;
	w->end = at + s->size;
}

void symcache_merge_write(const struct symcache_merge *m, uint8_t *dst)
{
	struct writing w = { .m = m, .dst = dst,
		.end = (size_t)(m->symbols->strings - m->symbols->data) + m->string_bytes };
	struct symcache_ext_footer footer = {
		.file_size = m->size, .version = SYMCACHE_EXT_VERSION, .magic = SYMCACHE_EXT_MAGIC,
	};
	size_t hashed = m->size - sizeof(footer.hash);

	write_base(m, dst);
	footer.table_offset = each_section(m, write_section, &w, &footer.num_sections);
	memset(dst + w.end, 0, footer.table_offset - w.end);
	memcpy(dst + footer.table_offset, w.table, w.n * sizeof(*w.table));
	memcpy(dst + m->size - sizeof(footer), &footer, sizeof(footer));
	footer.hash = XXH3_64bits(dst, hashed);
	memcpy(dst + hashed, &footer.hash, sizeof(footer.hash));
}
