/*
 * The placed records → bytes, straight into the destination: see layout.h.
 *
 * Each byte is written once: records, and zeroes between the sections.
 */
#include "libsymcache/write/image/layout_parts.h"

#include "format/symcache_index.h"
#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/hash.h"
#include "libsymcache/base/parallel.h"

static uint32_t moved(const struct renumber *r, uint32_t old)
{
	return old == SC_NONE ? SYMCACHE_NONE : r->to[old];
}

/* Zeroes the padding between two sections. */
static void pad(uint8_t *dst, size_t from, size_t to)
{
	memset(dst + from, 0, to - from);
}

static uint32_t string_at(const struct sc_layout *l, uint32_t s)
{
	return s == SC_NONE ? SYMCACHE_NONE : l->string_offset[s];
}

static void write_header(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_header *h = (struct symcache_header *)dst;
	struct sc_layout_counts n = sc_layout_counts(l);

	h->magic = SYMCACHE_MAGIC;
	h->version = l->c.version;
	memcpy(h->debug_uuid, l->c.debug_uuid, sizeof(h->debug_uuid));
	h->arch = l->c.arch;
	h->num_files = n.files;
	h->num_functions = n.functions;
	h->num_source_locations = n.source_locations;
	h->num_ranges = n.ranges;
	h->string_bytes = n.string_bytes;
}

static void write_files(const struct sc_layout *l, uint8_t *dst)
{
	size_t size = file_record(l);

	for (size_t i = 0; i < l->files.order.len; i++, dst += size) {
		const struct sc_file *f = &l->c.tables->files.data[l->files.order.data[i]];
		struct symcache_file_v9 out = {
			string_at(l, f->comp_dir), string_at(l, f->dir), string_at(l, f->name),
			SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE,
		};
		memcpy(dst, &out, size); /* version 7 and 8 are a prefix of it */
	}
}

static void write_functions(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_function *out = (struct symcache_function *)(dst + l->at_functions);
	struct symcache_ext_decl *decl =
		(struct symcache_ext_decl *)(dst + l->ext[EXT_DECL].offset);
	struct symcache_ext_qualified *qualified =
		(struct symcache_ext_qualified *)(dst + l->ext[EXT_QUALIFIED].offset);

	for (size_t i = 0; i < l->functions.order.len; i++) {
		const struct sc_function *f =
			&l->c.tables->functions.data[l->functions.order.data[i]];
		out[i] = (struct symcache_function){ string_at(l, f->name), SYMCACHE_NONE,
						     f->entry, f->lang };
		decl[i] = (struct symcache_ext_decl){ moved(&l->files, f->decl_file),
						      f->decl_line };
		if (f->qualified != SC_NONE)
			*qualified++ = (struct symcache_ext_qualified){
				(uint32_t)i, string_at(l, f->qualified) };
	}
}

/* The bytes of source locations, from one on. */
struct location_bytes {
	struct symcache_source_location *out;
	uint16_t *column;
	uint8_t *discriminator; /* NULL: none has one */
};

static struct location_bytes locations_at(const struct sc_layout *l, uint8_t *dst, size_t first)
{
	return (struct location_bytes){
		(struct symcache_source_location *)(dst + l->at_locations) + first,
		(uint16_t *)(dst + l->ext[EXT_COLUMN].offset) + first,
		has_section(l, EXT_DISCRIMINATOR) ?
			dst + l->ext[EXT_DISCRIMINATOR].offset + first : NULL,
	};
}

/* Inlined, because there are millions. */
static inline __attribute__((always_inline)) void
write_location(const struct sc_layout *l, const struct sc_location *loc,
	       const struct location_bytes *to, size_t i)
{
	/* A column that does not fit is unknown, rather than wrong. */
	to->column[i] = loc->function == SC_NONE || loc->column > UINT16_MAX ?
		0 : (uint16_t)loc->column;
	to->out[i] = (struct symcache_source_location){
		moved(&l->files, loc->file),
		loc->line,
		moved(&l->functions, loc->function),
		moved(&l->calls, loc->inlined_into),
	};
	if (to->discriminator)
		to->discriminator[i] = (uint8_t)loc->discriminator;
}

/* Those of calls that have one; the others get theirs with the details. */
static void write_starts(const struct sc_layout *l, uint32_t *out, size_t from, size_t to)
{
	const struct sc_starts *s = l->c.starts;

	for (size_t i = from; i < to; i++) {
		const uint32_t *first = &s->first.data[l->calls.order.data[i]];

		out[i] = first[0] == first[1] ? SYMCACHE_NONE : s->list.data[*first].start;
	}
}

static void write_calls(const struct sc_layout *l, uint8_t *dst, size_t from, size_t to)
{
	const struct location_bytes at = locations_at(l, dst, 0);

	for (size_t i = from; i < to; i++)
		write_location(l, &l->c.tables->calls.data[l->calls.order.data[i]], &at, i);
	if (has_section(l, EXT_INLINED))
		write_starts(l, (uint32_t *)(dst + l->ext[EXT_INLINED].offset), from, to);
}

static void write_ranges(const struct sc_layout *l, uint8_t *dst, size_t from, size_t to)
{
	const struct location_bytes at = locations_at(l, dst, l->calls.order.len);
	const struct sc_final_range *r = l->c.ranges->ranges.data;
	uint32_t *start = (uint32_t *)(dst + l->at_ranges);

	for (size_t i = from; i < to; i++) {
		start[i] = r[i].start;
		write_location(l, &r[i].loc, &at, i);
	}
}

static void write_strings(const struct sc_layout *l, uint8_t *all, size_t from, size_t to)
{
	const uint32_t *order = l->strings.order.data;
	uint8_t *dst = from < to ? all + l->at_strings + l->string_offset[order[from]] : NULL;

	for (size_t i = from; i < to; i++) {
		const struct sc_string *s = &l->c.tables->strings.data[order[i]];
		uint32_t len = s->len;

		if (l->c.version <= SYMCACHE_LAST_VERSION_WITH_U32_STRINGS) {
			memcpy(dst, &len, 4);
			dst += 4;
		} else {
			for (; len >= 0x80; len >>= 7)
				*dst++ = (uint8_t)(len | 0x80);
			*dst++ = (uint8_t)len;
		}
		memcpy(dst, s->ptr, s->len);
		dst += s->len;
	}
}

static void write_data(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_ext_data *out = (struct symcache_ext_data *)dst;

	for (size_t i = 0; i < l->c.data->list.len; i++) {
		const struct sc_data_symbol *d = &l->c.data->list.data[i];
		out[i] = (struct symcache_ext_data){ d->start, d->size, string_at(l, d->name),
						     moved(&l->files, d->decl_file),
						     d->decl_line };
	}
}

static void write_symbols(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_ext_symbol *out = (struct symcache_ext_symbol *)dst;

	for (size_t i = 0; i < l->c.symbols->list.len; i++) {
		const struct sc_table_symbol *s = &l->c.symbols->list.data[i];
		out[i] = (struct symcache_ext_symbol){ s->start, s->size, string_at(l, s->name),
						       string_at(l, s->file) };
	}
}

static void write_aliases(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_ext_alias *out = (struct symcache_ext_alias *)dst;

	for (size_t i = 0; i < l->aliases.len; i++)
		out[i] = (struct symcache_ext_alias){ l->aliases.data[i].start,
						      string_at(l, l->aliases.data[i].name) };
}

_Static_assert(SC_SEGMENTS_MAX <= SYMCACHE_SEGMENTS_MAX, "readers take no more");

static void write_segments(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_ext_segment *out = (struct symcache_ext_segment *)dst;

	for (size_t i = 0; i < l->c.num_segments; i++) {
		const struct sc_elf_segment *s = &l->c.segments[i];
		out[i] = (struct symcache_ext_segment){
			s->offset, s->vaddr, s->size, s->assumed ? SYMCACHE_SEGMENT_ASSUMED : 0, 0 };
	}
}

static void write_locals(const struct sc_layout *l, uint8_t *dst)
{
	const struct sc_locals *from = l->c.locals;
	struct symcache_ext_local *out = (struct symcache_ext_local *)(dst + l->ext[EXT_LOCALS].offset);

	if (!from || !from->ranges.len)
		return;
	memcpy(dst + l->ext[EXT_LOCAL_RANGES].offset, from->ranges.data,
	       l->ext[EXT_LOCAL_RANGES].size);
	memcpy(dst + l->ext[EXT_LOCAL_ORDER].offset, from->order.data,
	       l->ext[EXT_LOCAL_ORDER].size);
	for (size_t i = 0; i < from->list.len; i++) {
		out[i] = from->list.data[i];
		out[i].function = string_at(l, out[i].function);
		out[i].name = string_at(l, out[i].name);
		out[i].file_idx = moved(&l->files, out[i].file_idx);
	}
}

static void write_index(const struct sc_layout *l, uint8_t *dst)
{
	const uint32_t *starts = (const uint32_t *)(dst + l->at_ranges);
	uint32_t *out = (uint32_t *)(dst + l->ext[EXT_INDEX].offset);
	uint32_t n = (uint32_t)l->c.ranges->ranges.len;

	if (!n)
		return;
	*out = symcache_index_shift(n, starts[n - 1]);
	symcache_index_fill(out + 1, *out, starts, n);
}

/* Returns the hash of all bytes. */
static uint64_t write_footer(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_ext_footer footer = {
		.table_offset = l->at_table,
		.file_size = l->size,
		.num_sections = (uint32_t)((l->at_footer - l->at_table) / sizeof(*l->ext)),
		.version = SYMCACHE_EXT_VERSION,
		.magic = SYMCACHE_EXT_MAGIC,
	};
	size_t at = l->at_table;

	for (int i = 0; i < EXT_SECTIONS; i++) {
		if (!has_section(l, i))
			continue;
		memcpy(dst + at, &l->ext[i], sizeof(l->ext[i]));
		at += sizeof(l->ext[i]);
	}
	memcpy(dst + l->at_footer, &footer, sizeof(footer));
	return sc_write_hash(dst, l->size - sizeof(footer.hash));
}

/* What DISC and INLS have no room for, and that they have not. */
static void write_details(const struct sc_layout *l, uint8_t *dst)
{
	const struct sc_details *d = &l->discriminators, *s = &l->starts;
	uint32_t *starts = (uint32_t *)(dst + l->ext[EXT_INLINED].offset);

	for (size_t i = 0; i < d->list.len; i++)
		dst[l->ext[EXT_DISCRIMINATOR].offset + d->list.data[i].location] =
			SYMCACHE_DISCRIMINATOR_MORE;
	for (size_t i = 0; i < s->list.len; i++)
		starts[s->list.data[i].location] = SYMCACHE_START_MORE;
	if (d->list.len)
		memcpy(dst + l->ext[EXT_DISCRIMINATORS].offset, d->list.data,
		       d->list.len * sizeof(*d->list.data));
	if (s->list.len)
		memcpy(dst + l->ext[EXT_INLINES].offset, s->list.data,
		       s->list.len * sizeof(*s->list.data));
}

/* The last of all; likewise. */
static uint64_t write_extension(const struct sc_layout *l, uint8_t *dst)
{
	struct symcache_ext_image image = l->c.image;

	image.soname = string_at(l, image.soname);
	image.writer = string_at(l, image.writer);
	memcpy(dst + l->ext[EXT_IMAGE].offset, &image, sizeof(image));
	write_index(l, dst);
	write_locals(l, dst);
	write_aliases(l, dst + l->ext[EXT_ALIAS].offset);
	write_segments(l, dst + l->ext[EXT_SEGMENT].offset);
	write_details(l, dst);
	for (int i = EXT_UNWIND_PAGES; i < EXT_SECTIONS; i++)
		if (l->ext[i].size)
			memcpy(dst + l->ext[i].offset, l->unwind[i - EXT_UNWIND_PAGES].data,
			       l->ext[i].size);
	for (int i = 0; i < EXT_SECTIONS; i++)
		pad(dst, l->ext[i].offset + l->ext[i].size,
		    i + 1 < EXT_SECTIONS ? l->ext[i + 1].offset : l->at_table);
	return write_footer(l, dst);
}

static void write_small_things(const struct sc_layout *l, uint8_t *dst)
{
	size_t ranges = l->c.ranges->ranges.len;

	pad(dst, 0, l->at_files);
	pad(dst, l->at_files + l->files.order.len * file_record(l), l->at_functions);
	pad(dst, l->at_ranges + ranges * sizeof(uint32_t), l->at_strings);
	pad(dst, l->at_strings + l->string_bytes, l->ext[EXT_IMAGE].offset);
	write_header(l, dst);
	write_files(l, dst + l->at_files);
	write_functions(l, dst);
	write_data(l, dst + l->ext[EXT_DATA].offset);
	write_symbols(l, dst + l->ext[EXT_SYMBOL].offset);
}

/* What is many is written in slices, on as many threads as there are. */
#define SLICE 65536

struct writing {
	const struct sc_layout *l;
	uint8_t *dst;
	struct { void (*fn)(const struct sc_layout *, uint8_t *, size_t, size_t); size_t n; } many[3];
};

static void write_slice(void *ctx, unsigned worker, size_t job)
{
	const struct writing *w = ctx;

	(void)worker;
	if (!job--) {
		write_small_things(w->l, w->dst);
		return;
	}
	for (int i = 0; i < 3; i++) {
		size_t n = w->many[i].n, slices = (n + SLICE - 1) / SLICE, from = job * SLICE;

		if (job < slices) {
			w->many[i].fn(w->l, w->dst, from, n - from < SLICE ? n : from + SLICE);
			return;
		}
		job -= slices;
	}
}

uint64_t sc_layout_write(const struct sc_layout *l, unsigned threads, uint8_t *dst)
{
	struct writing w = { l, dst, {
		{ write_ranges, l->c.ranges->ranges.len },
		{ write_strings, l->strings.order.len },
		{ write_calls, l->calls.order.len },
	} };
	size_t jobs = 1;

	for (int i = 0; i < 3; i++)
		jobs += (w.many[i].n + SLICE - 1) / SLICE;
	sc_big_advise(dst, l->size);
	sc_parallel(jobs > 4 ? threads : 1, jobs, write_slice, &w);
	return write_extension(l, dst);
}
