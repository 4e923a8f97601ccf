/* The bytes of a SymCache file, and its strings, to plain_cache.h. */
#ifndef SC_PLAIN_BYTES_H
#define SC_PLAIN_BYTES_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN_NONE 0xffffffffu

struct plain_cache {
	const uint8_t *data;
	size_t size;
	uint32_t version, files, functions, locations, ranges, string_bytes;
	size_t file_size, at_files, at_functions, at_locations, at_ranges, at_strings, base_end;
	/* The extension: offset and size of each section, 0 where absent. */
	size_t at_image, at_columns, at_decls, at_data, num_data;
	size_t at_discriminators, at_discriminator_list, at_starts, at_start_list; /* 0: none */
	uint32_t num_discriminators, num_starts;
	size_t at_locals[3], num_locals[3]; /* LOCR, LOCI, LOCV */
	size_t at_aliases, num_aliases;     /* ALSO */
};

struct plain_string {
	const char *ptr; /* NULL: absent */
	uint32_t len;
};

static inline uint32_t plain_u32(const struct plain_cache *c, size_t at)
{
	uint32_t v;

	memcpy(&v, c->data + at, 4);
	return v;
}

static inline uint64_t plain_u64(const struct plain_cache *c, size_t at)
{
	uint64_t v;

	memcpy(&v, c->data + at, 8);
	return v;
}

/* The string at `offset`; *next is where the one behind it begins. False: it
 * does not lie inside the section. */
static inline bool plain_string_at(const struct plain_cache *c, uint32_t offset,
				   struct plain_string *ret, uint32_t *next)
{
	const uint8_t *s = c->data + c->at_strings;
	uint64_t len = 0, at = offset;

	if (c->version == 7) {
		if (at + 4 > c->string_bytes)
			return false;
		memcpy(&ret->len, s + at, 4);
		len = ret->len;
		at += 4;
	} else {
		for (unsigned shift = 0;; shift += 7) {
			if (at >= c->string_bytes || shift > 28)
				return false;
			len |= (uint64_t)(s[at] & 0x7f) << shift;
			if (s[at++] < 0x80)
				break;
		}
	}
	if (len > c->string_bytes || at > c->string_bytes - len)
		return false;
	*ret = (struct plain_string){ (const char *)s + at, (uint32_t)len };
	*next = (uint32_t)(at + len);
	return true;
}

static inline struct plain_string plain_string(const struct plain_cache *c, uint32_t offset)
{
	struct plain_string s = { NULL, 0 };
	uint32_t next;

	if (offset != PLAIN_NONE)
		plain_string_at(c, offset, &s, &next);
	return s;
}

static inline int plain_compare(const void *a, const void *b)
{
	const struct plain_string *x = a, *y = b;
	int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);

	return order ? order : x->len < y->len ? -1 : x->len > y->len;
}

/* Each string must stand there once, and each of used[] must be the start of one. */
static inline const char *plain_check_strings(const struct plain_cache *c, const bool *used)
{
	struct plain_string *all = calloc(c->string_bytes + 1u, sizeof(*all));
	const char *fault = NULL;
	size_t n = 0;

	for (uint32_t at = 0, next; at < c->string_bytes && !fault; at = next) {
		if (!plain_string_at(c, at, &all[n], &next)) {
			fault = "malformed string";
			break;
		}
		if (!all[n].len)
			fault = "empty string";
		if (!used[at])
			fault = "unused string";
		for (uint32_t i = at + 1; i < next; i++)
			if (used[i])
				fault = "offset into the middle of a string";
		n++;
	}
	qsort(all, n, sizeof(*all), plain_compare);
	for (size_t i = 1; i < n && !fault; i++)
		if (!plain_compare(&all[i - 1], &all[i]))
			fault = "string stored twice";
	free(all);
	return fault;
}

#endif
