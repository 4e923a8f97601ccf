/*
 * A second, plain reader of SymCache files for tests: reads numbers at offsets
 * as the description of the format counts them, and shares no struct with the
 * writer. Slow; checks everything a writer must keep true.
 */
#ifndef SC_PLAIN_CACHE_H
#define SC_PLAIN_CACHE_H

#include "libsymcache/write/image/plain_bytes.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline bool plain_zero(const struct plain_cache *c, size_t from, size_t to)
{
	for (; from < to; from++)
		if (c->data[from])
			return false;
	return true;
}

/* Marks string `offset` as used. False: out of bounds. */
static inline bool plain_use(const struct plain_cache *c, bool *used, uint32_t offset)
{
	if (offset == PLAIN_NONE)
		return true;
	if (offset >= c->string_bytes)
		return false;
	used[offset] = true;
	return true;
}

static inline bool plain_index(uint32_t i, uint32_t n)
{
	return i == PLAIN_NONE || i < n;
}

static inline const char *plain_check_records(const struct plain_cache *c, bool *used)
{
	for (uint32_t i = 0; i < c->files; i++)
		for (size_t field = 0; field < c->file_size; field += 4) {
			uint32_t s = plain_u32(c, c->at_files + i * c->file_size + field);
			if (!plain_use(c, used, s) || (field >= 12 && s != PLAIN_NONE) ||
			    (field == 8 && s == PLAIN_NONE))
				return "bad file record";
		}
	for (uint32_t i = 0; i < c->functions; i++) {
		size_t at = c->at_functions + i * 16u;
		if (!plain_use(c, used, plain_u32(c, at)) || plain_u32(c, at + 4) != PLAIN_NONE)
			return "bad function record";
	}
	for (uint32_t i = 0; i < c->locations; i++) {
		size_t at = c->at_locations + i * 16u;
		uint32_t file = plain_u32(c, at), function = plain_u32(c, at + 8);
		uint32_t into = plain_u32(c, at + 12);
		bool none = function == PLAIN_NONE;

		if (!plain_index(file, c->files) || !plain_index(function, c->functions))
			return "source location out of bounds";
		if (none && (file != PLAIN_NONE || plain_u32(c, at + 4) != PLAIN_NONE ||
			     into != PLAIN_NONE))
			return "half of a source location";
		if (none && i < c->locations - c->ranges)
			return "call location out of range";
		if (into != PLAIN_NONE && (into >= i || into >= c->locations - c->ranges))
			return "inlined_into is not an earlier call location";
	}
	for (uint32_t i = 1; i < c->ranges; i++)
		if (plain_u32(c, c->at_ranges + i * 4u) <=
		    plain_u32(c, c->at_ranges + (i - 1) * 4u))
			return "ranges do not ascend strictly";
	return NULL;
}

/* Is the list in order, and does the section before it lead there for each location? */
static inline bool plain_details(const struct plain_cache *c, size_t at, size_t size, bool discriminators)
{
	for (size_t end = at + size, i = at; i < end; i += 12) {
		uint32_t location = plain_u32(c, i);

		if (location >= c->locations - (discriminators ? 0 : c->ranges) ||
		    (discriminators ? c->data[c->at_discriminators + location] != 255 :
		     plain_u32(c, c->at_starts + 4 * location) != 0xfffffffe))
			return false;
		if (i > at && (location < plain_u32(c, i - 12) ||
			       (location == plain_u32(c, i - 12) &&
				plain_u32(c, i + 4) <= plain_u32(c, i - 8))))
			return false;
	}
	return true;
}

/* The number that the list has of a location and an address. */
static inline uint32_t plain_detail(const struct plain_cache *c, size_t at, uint32_t n,
				    uint32_t location, uint64_t rel_pc)
{
	uint32_t ret = PLAIN_NONE;

	for (uint32_t i = 0; i < n; i++, at += 12)
		if (plain_u32(c, at) == location && plain_u32(c, at + 4) <= rel_pc)
			ret = plain_u32(c, at + 8);
	return ret;
}

/* The discriminator of a source location at an address. */
static inline uint32_t plain_discriminator(const struct plain_cache *c, uint32_t location,
					   uint64_t rel_pc)
{
	const uint32_t n = c->at_discriminators ? c->data[c->at_discriminators + location] : 0;

	return n < 255 ? n : plain_detail(c, c->at_discriminator_list, c->num_discriminators,
					  location, rel_pc);
}

/* Where the function that is inlined at a call location begins. */
static inline uint32_t plain_start(const struct plain_cache *c, uint32_t call, uint64_t rel_pc)
{
	const uint32_t n = c->at_starts ? plain_u32(c, c->at_starts + 4 * call) : PLAIN_NONE;

	return n != 0xfffffffe ? n : plain_detail(c, c->at_start_list, c->num_starts, call, rel_pc);
}

static inline bool plain_locals(const struct plain_cache *c, bool *used)
{
	const size_t *at = c->at_locals, *n = c->num_locals;

	if (!at[0] != !at[1] || !at[0] != !at[2])
		return false;
	for (size_t i = 0; i < n[0]; i++) {
		const size_t r = at[0] + 12 * i;

		if ((i && plain_u32(c, r) <= plain_u32(c, r - 12)) ||
		    (uint64_t)plain_u32(c, r + 4) + plain_u32(c, r + 8) > n[1])
			return false;
	}
	for (size_t i = 0; i < n[1]; i++)
		if (plain_u32(c, at[1] + 4 * i) >= n[2])
			return false;
	for (size_t i = 0, l = at[2]; i < n[2]; i++, l += 40)
		if (!plain_use(c, used, plain_u32(c, l)) ||
		    !plain_use(c, used, plain_u32(c, l + 4)) ||
		    !plain_index(plain_u32(c, l + 8), c->files) || plain_u32(c, l + 36) > 7)
			return false;
	return true;
}

static inline bool plain_aliases(const struct plain_cache *c, bool *used)
{
	for (size_t i = 0, at = c->at_aliases; i < c->num_aliases; i++, at += 8)
		if (!plain_use(c, used, plain_u32(c, at + 4)) || plain_u32(c, at + 4) == 0xffffffff ||
		    (i && plain_u32(c, at) < plain_u32(c, at - 8)))
			return false;
	return !c->at_aliases == !c->num_aliases;
}

static inline const char *plain_data(const struct plain_cache *c, bool *used)
{
	for (size_t i = 0; i < c->num_data; i++) {
		size_t at = c->at_data + i * 20;
		if (!plain_use(c, used, plain_u32(c, at + 8)) ||
		    !plain_index(plain_u32(c, at + 12), c->files))
			return "bad data symbol";
		if (i && (plain_u32(c, at) < plain_u32(c, at - 20) ||
			  (plain_u32(c, at) == plain_u32(c, at - 20) &&
			   plain_u32(c, at + 4) <= plain_u32(c, at - 16))))
			return "data symbols do not ascend";
	}
	return NULL;
}

static inline bool plain_qualified(const struct plain_cache *c, size_t at, size_t n, bool *used)
{
	for (size_t i = 0; i < n; i++, at += 8)
		if (plain_u32(c, at) >= c->functions || plain_u32(c, at + 4) == PLAIN_NONE ||
		    !plain_use(c, used, plain_u32(c, at + 4)) ||
		    (i && plain_u32(c, at) <= plain_u32(c, at - 8)))
			return false;
	return true;
}

static inline const char *plain_symbols(const struct plain_cache *c, bool *used, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++, at += 16) {
		if (!plain_use(c, used, plain_u32(c, at + 8)) ||
		    !plain_use(c, used, plain_u32(c, at + 12)))
			return "bad symbol";
		if (i && plain_u32(c, at) <= plain_u32(c, at - 16))
			return "symbols do not ascend";
	}
	return NULL;
}

static inline const char *plain_check_extension(struct plain_cache *c, bool *used)
{
	static const char tags[] = "IMAGCOLSDECLDATASYMSINDXDISCDISXINLSINLXQUALLOCRLOCILOCVALSOSEGM"
				   "UNWPUNWDUNWRUNWSUNWXUNWH";
	static const uint32_t entry[] = { 104, 2, 8, 20, 16, 4, 1, 12, 4, 12, 8, 12, 4, 40, 8, 32,
					  4, 4, 12, 8, 1, 16 };
	size_t at_symbols = 0, num_symbols = 0, at_qualified = 0, num_qualified = 0, other;
	size_t *const place[] = { &c->at_image, &c->at_columns, &c->at_decls, &c->at_data,
				  &at_symbols, &other, &c->at_discriminators,
				  &c->at_discriminator_list, &c->at_starts, &c->at_start_list,
				  &at_qualified, &c->at_locals[0], &c->at_locals[1], &c->at_locals[2],
				  &c->at_aliases, &other };
	enum { INDEX = 5, OPTIONAL, LOCALS = 11, ALIASES = 14, SEGMENT, UNWIND, SECTIONS = sizeof(entry) / sizeof(*entry) };
	size_t footer = c->size - 40, table, end;
	const char *fault;
	uint32_t n, k = 0;

	if (c->size < c->base_end + 40 || memcmp(c->data + footer + 24, "SYMCEXT", 8))
		return "no footer";
	if (plain_u64(c, footer + 8) != c->size || plain_u32(c, footer + 20) != 1)
		return "bad footer";
	if (plain_u64(c, c->size - 8) != XXH3_64bits(c->data, c->size - 8))
		return "the hash does not fit";
	table = plain_u64(c, footer);
	n = plain_u32(c, footer + 16);
	if (n < OPTIONAL || table % 8 || table + n * 24ull != footer)
		return "bad section table";
	end = c->base_end;
	for (uint32_t i = 0; i < SECTIONS; i++) {
		size_t at = table + (size_t)k * 24, offset = plain_u64(c, at + 8);
		size_t size = plain_u64(c, at + 16);

		if (k == n && i == UNWIND)
			break;
		if (i >= OPTIONAL && i < SEGMENT && memcmp(c->data + at, tags + 4 * i, 4))
			continue; /* it has nothing to say */
		if (k++ == n || memcmp(c->data + at, tags + 4 * i, 4) || plain_u32(c, at + 4) != entry[i] ||
		    offset % 8 || offset < end || offset - end > 7 || size % entry[i])
			return "bad section";
		if (!plain_zero(c, end, offset))
			return "padding is not zero";
		*place[i < UNWIND ? i : INDEX] = offset;
		end = offset + size;
		if (i == 3)
			c->num_data = size / 20;
		else if (i == 4)
			num_symbols = size / 16;
		else if (i == ALIASES)
			c->num_aliases = size / 8;
		else if (i == 10)
			num_qualified = size / 8;
		else if (i >= LOCALS && i < SEGMENT)
			c->num_locals[i - LOCALS] = size / entry[i];
		else if (i == 6 || i == 8) {
			if (size != (i == 6 ? c->locations : 4u * (c->locations - c->ranges)))
				return "section of the wrong size";
		} else if (i == 7 || i == 9) {
			*(i == 7 ? &c->num_discriminators : &c->num_starts) = (uint32_t)(size / 12);
			if (!size || !*place[i - 1] || !plain_details(c, offset, size, i == 7))
				return "bad details";
		} else if (i <= INDEX && (i == INDEX ? !size != !c->ranges :
				  size != (i == 0 ? 104u : i == 1 ? 2u * c->locations :
						8u * c->functions)))
			return "section of the wrong size";
	}
	if (table < end || table - end > 7 || !plain_zero(c, end, table))
		return "bad end of the sections";
	if ((fault = plain_data(c, used)) || (fault = plain_symbols(c, used, at_symbols, num_symbols)))
		return fault;
	if (!plain_qualified(c, at_qualified, num_qualified, used))
		return "bad qualified name";
	if (!plain_locals(c, used))
		return "bad local variables";
	if (!plain_aliases(c, used))
		return "bad aliases";
	for (uint32_t i = 0; i < c->functions; i++)
		if (!plain_index(plain_u32(c, c->at_decls + i * 8u), c->files))
			return "bad declaration";
	if (!plain_use(c, used, plain_u32(c, c->at_image + 28)) ||
	    !plain_use(c, used, plain_u32(c, c->at_image + 32)))
		return "bad image facts";
	return NULL;
}

static inline size_t plain_align(size_t n)
{
	return (n + 7) / 8 * 8;
}

/* Opens data[0, size) and checks all of it. NULL if it is as it must be, else
 * what is wrong with it. */
static inline const char *plain_open(struct plain_cache *c, const void *data, size_t size)
{
	const char *fault;
	bool *used;

	*c = (struct plain_cache){ .data = data, .size = size };
	if (size < 80 || memcmp(data, "SYMC", 4))
		return "bad header";
	c->version = plain_u32(c, 4);
	c->files = plain_u32(c, 44);
	c->functions = plain_u32(c, 48);
	c->locations = plain_u32(c, 52);
	c->ranges = plain_u32(c, 56);
	c->string_bytes = plain_u32(c, 60);
	c->file_size = c->version == 9 ? 24 : 12;
	c->at_files = 80;
	c->at_functions = plain_align(80 + c->files * c->file_size);
	c->at_locations = plain_align(c->at_functions + c->functions * 16ull);
	c->at_ranges = plain_align(c->at_locations + c->locations * 16ull);
	c->at_strings = plain_align(c->at_ranges + c->ranges * 4ull);
	c->base_end = c->at_strings + c->string_bytes;
	if (c->version < 7 || c->version > 9 || c->ranges > c->locations || c->base_end > size)
		return "bad counts";
	if (!plain_zero(c, 24, 40) || !plain_zero(c, 64, 80))
		return "header bytes that must be zero are not";
	if (!plain_zero(c, 80 + c->files * c->file_size, c->at_functions) ||
	    !plain_zero(c, c->at_ranges + c->ranges * 4ull, c->at_strings))
		return "padding is not zero";
	used = calloc(c->string_bytes + 1u, 1);
	fault = plain_check_records(c, used);
	if (!fault)
		fault = plain_check_extension(c, used);
	if (!fault)
		fault = plain_check_strings(c, used);
	free(used);
	return fault;
}

/* The source location of an address, or PLAIN_NONE. */
static inline uint32_t plain_lookup(const struct plain_cache *c, uint64_t rel_pc)
{
	uint32_t lo = 0, hi = c->ranges, location;

	if (rel_pc > UINT32_MAX)
		return PLAIN_NONE;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (plain_u32(c, c->at_ranges + mid * 4u) <= rel_pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return PLAIN_NONE;
	location = c->locations - c->ranges + lo - 1;
	return plain_u32(c, c->at_locations + location * 16u + 8) == PLAIN_NONE ? PLAIN_NONE :
		location;
}

/* One frame, and the location it is inlined into. */
struct plain_frame {
	struct plain_string function, comp_dir, dir, name;
	uint32_t line, column, lang, entry, inlined_into;
};

static inline struct plain_frame plain_frame(const struct plain_cache *c, uint32_t location)
{
	size_t at = c->at_locations + location * 16u;
	uint32_t file = plain_u32(c, at);
	size_t function = c->at_functions + plain_u32(c, at + 8) * 16u;
	struct plain_frame f = {
		.function = plain_string(c, plain_u32(c, function)),
		.entry = plain_u32(c, function + 8),
		.lang = plain_u32(c, function + 12),
		.line = plain_u32(c, at + 4),
		.inlined_into = plain_u32(c, at + 12),
	};
	uint16_t column;

	memcpy(&column, c->data + c->at_columns + location * 2u, 2);
	f.column = column;
	if (file != PLAIN_NONE) {
		size_t record = c->at_files + file * c->file_size;
		f.comp_dir = plain_string(c, plain_u32(c, record));
		f.dir = plain_string(c, plain_u32(c, record + 4));
		f.name = plain_string(c, plain_u32(c, record + 8));
	}
	return f;
}

/* Shows the frames of an address in the notation of scenes (flatten/scene.h):
 * "g a:2:7 < f a:12:3", nothing where nothing is. */
static inline void plain_show(const struct plain_cache *c, uint64_t rel_pc, FILE *out)
{
	const char *between = "";

	for (uint32_t l = plain_lookup(c, rel_pc); l != PLAIN_NONE;) {
		struct plain_frame f = plain_frame(c, l);

		fprintf(out, "%s%.*s %.*s:%" PRIu32, between,
			f.function.ptr ? (int)f.function.len : 1,
			f.function.ptr ? f.function.ptr : "?",
			f.name.ptr ? (int)f.name.len : 1, f.name.ptr ? f.name.ptr : "-", f.line);
		if (f.column)
			fprintf(out, ":%" PRIu32, f.column);
		between = " < ";
		l = f.inlined_into;
	}
}

#endif
