/*
 * Records ↔ bytes: see record.h; the tables of offsets are in format/store.md.
 */
#include "libsymcache/store/record.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Every record opens with u16 version, u16 size of the fixed part. */
enum { RECORD_VERSION = 1, PREFIX_SIZE = 4 };

enum {
	FORMAT_FORMAT = 4, FORMAT_READ = 8, FORMAT_WRITE = 12, FORMAT_CREATED = 16,
	FORMAT_SIZE = 24,

	ENTRY_SOURCES = 4, ENTRY_CACHE_SIZE = 8, ENTRY_SOURCE_SIZE = 16, ENTRY_SOURCE_HASH = 24,
	ENTRY_CACHE_HASH = 40, ENTRY_TIME = 48, ENTRY_FLAGS = 56, ENTRY_BAD_UNITS = 60,
	ENTRY_TABLE_HASH = 64, ENTRY_CHECK = 72, ENTRY_SIZE = 80,
	/* Of a packed entry, sizes and hashes above are those of what is stored; the cache's: */
	ENTRY_PLAIN_SIZE = 80, ENTRY_PLAIN_HASH = 88, ENTRY_PLAIN_TABLE_HASH = 96,
	ENTRY_PACKED_RECORD_SIZE = 104,
	ENTRY_STRINGS = 6,

	OUTCOME_CODE = 4, OUTCOME_TIME = 8, OUTCOME_ID_LEN = 16, OUTCOME_ID = 20, OUTCOME_SIZE = 84,
};

enum { FLAG_DERIVED = 1 };

/* The lower `size` bytes of a number, which is little-endian in a record. */
static void put(uint8_t *p, size_t size, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, size);
}

static uint64_t get(const uint8_t *p, size_t size)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	return le64toh(v);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get(p, 4);
}

/* A zeroed record: prefix, fixed part, then `n` strings (NULL is ""). */
static uint8_t *encode(uint16_t fixed, const char *const *strings, size_t n, size_t *size)
{
	uint8_t *record, *end;

	*size = fixed;
	for (size_t i = 0; i < n; i++)
		*size += (strings[i] ? strlen(strings[i]) : 0) + 1;
	record = calloc(1, *size);
	if (!record)
		return NULL;
	put(record, 2, RECORD_VERSION);
	put(record + 2, 2, fixed);
	end = record + fixed;
	for (size_t i = 0; i < n; i++)
		end = (uint8_t *)stpcpy((char *)end, strings[i] ? strings[i] : "") + 1;
	return record;
}

/*
 * Checks the prefix, copies the fixed part into fixed[0, want), zero-padded,
 * and finds the `n` strings; missing ones are "". A later version may have
 * more of both; version 0 never was.
 */
static bool decode(const void *data, size_t size, uint8_t *fixed, size_t want,
		   const char **strings, size_t n)
{
	const char *s, *end = (const char *)data + size;
	size_t have;

	if (size < PREFIX_SIZE || !get(data, 2))
		return false;
	have = get((const uint8_t *)data + 2, 2);
	if (have < PREFIX_SIZE || have > size)
		return false;
	memset(fixed, 0, want);
	memcpy(fixed, data, have < want ? have : want);
	s = (const char *)data + have;
	for (size_t i = 0; i < n; i++) {
		const char *nul = memchr(s, 0, (size_t)(end - s));

		strings[i] = nul ? s : "";
		if (!nul && s != end)
			return false; /* a string without its end */
		s = nul ? nul + 1 : end;
	}
	return true;
}

uint8_t *symstore_format_encode(const struct symstore_format *format, size_t *size)
{
	uint8_t *r = encode(FORMAT_SIZE, NULL, 0, size);

	if (!r)
		return NULL;
	put(r + FORMAT_FORMAT, 4, format->format);
	put(r + FORMAT_READ, 4, format->read_since);
	put(r + FORMAT_WRITE, 4, format->write_since);
	put(r + FORMAT_CREATED, 8, (uint64_t)format->created);
	return r;
}

bool symstore_format_decode(const void *data, size_t size, struct symstore_format *ret)
{
	uint8_t r[FORMAT_SIZE];

	if (!decode(data, size, r, sizeof(r), NULL, 0))
		return false;
	*ret = (struct symstore_format){
		.format = get32(r + FORMAT_FORMAT),
		.read_since = get32(r + FORMAT_READ),
		.write_since = get32(r + FORMAT_WRITE),
		.created = (int64_t)get(r + FORMAT_CREATED, 8),
	};
	return ret->format && ret->read_since && ret->write_since;
}

/* XXH3-64 of key and record but for this field, one seeding the next; never 0, which stands for
 * a record of format 1, without one. */
static uint64_t entry_check(const void *key, size_t key_size, const uint8_t *record, size_t size)
{
	const size_t behind = ENTRY_CHECK + sizeof(uint64_t);
	uint64_t hash = XXH3_64bits(key, key_size);

	hash = XXH3_64bits_withSeed(record, ENTRY_CHECK, hash);
	hash = XXH3_64bits_withSeed(record + behind, size - behind, hash);
	return hash ? hash : 1;
}

uint8_t *symstore_entry_encode(const struct symstore_entry *entry, size_t *size)
{
	const char *strings[] = { entry->source_path, entry->tool_version, entry->debug_path,
				  entry->tags, entry->transforms, entry->names };
	const bool packed = entry->packed_size;
	uint8_t *r = encode(packed ? ENTRY_PACKED_RECORD_SIZE : ENTRY_SIZE, strings, ENTRY_STRINGS,
			    size);

	if (!r)
		return NULL;
	put(r + ENTRY_SOURCES, 4, entry->sources);
	put(r + ENTRY_CACHE_SIZE, 8, symstore_stored_size(entry));
	put(r + ENTRY_SOURCE_SIZE, 8, entry->source_size);
	put(r + ENTRY_SOURCE_HASH, 8, entry->source_hash.low64);
	put(r + ENTRY_SOURCE_HASH + 8, 8, entry->source_hash.high64);
	put(r + ENTRY_CACHE_HASH, 8, packed ? entry->packed_hash : entry->cache_hash);
	put(r + ENTRY_TIME, 8, (uint64_t)entry->time);
	put(r + ENTRY_FLAGS, 4, entry->build_id_derived ? FLAG_DERIVED : 0);
	put(r + ENTRY_BAD_UNITS, 4, entry->bad_units);
	put(r + ENTRY_TABLE_HASH, 8, packed ? 0 : entry->table_hash);
	if (packed) {
		put(r + ENTRY_PLAIN_SIZE, 8, entry->cache_size);
		put(r + ENTRY_PLAIN_HASH, 8, entry->cache_hash);
		put(r + ENTRY_PLAIN_TABLE_HASH, 8, entry->table_hash);
	}
	put(r + ENTRY_CHECK, 8, entry_check(entry->build_id, entry->build_id_len, r, *size));
	return r;
}

bool symstore_entry_decode(const void *key, size_t key_size, const void *data, size_t size,
			   struct symstore_entry *ret)
{
	const char *strings[ENTRY_STRINGS];
	uint8_t r[ENTRY_PACKED_RECORD_SIZE];
	uint64_t check;

	if (!key_size || key_size > sizeof(ret->build_id) ||
	    !decode(data, size, r, sizeof(r), strings, ENTRY_STRINGS))
		return false;
	check = get(r + ENTRY_CHECK, 8);
	if (check && (size < ENTRY_SIZE || check != entry_check(key, key_size, data, size)))
		return false;
	*ret = (struct symstore_entry){
		.build_id_len = key_size,
		.build_id_derived = get32(r + ENTRY_FLAGS) & FLAG_DERIVED,
		.sources = get32(r + ENTRY_SOURCES),
		.bad_units = get32(r + ENTRY_BAD_UNITS),
		.cache_size = get(r + ENTRY_CACHE_SIZE, 8),
		.source_size = get(r + ENTRY_SOURCE_SIZE, 8),
		.source_hash.low64 = get(r + ENTRY_SOURCE_HASH, 8),
		.source_hash.high64 = get(r + ENTRY_SOURCE_HASH + 8, 8),
		.cache_hash = get(r + ENTRY_CACHE_HASH, 8),
		.table_hash = get(r + ENTRY_TABLE_HASH, 8),
		.time = (int64_t)get(r + ENTRY_TIME, 8),
		.source_path = strings[0],
		.tool_version = strings[1],
		.debug_path = strings[2],
		.tags = strings[3],
		.transforms = strings[4],
		.names = strings[5],
	};
	memcpy(ret->build_id, key, key_size);
	if (get(r + ENTRY_PLAIN_SIZE, 8)) {
		ret->packed_size = ret->cache_size;
		ret->packed_hash = ret->cache_hash;
		ret->cache_size = get(r + ENTRY_PLAIN_SIZE, 8);
		ret->cache_hash = get(r + ENTRY_PLAIN_HASH, 8);
		ret->table_hash = get(r + ENTRY_PLAIN_TABLE_HASH, 8);
	}
	return true;
}

void symstore_content_key(const struct sc_hash *content, uint8_t key[SYMSTORE_CONTENT_KEY])
{
	uint64_t words[2] = { htobe64(content->high64), htobe64(content->low64) };

	memcpy(key, words, sizeof(words));
}

uint8_t *symstore_outcome_encode(const struct symstore_outcome *outcome, const char *tool,
				 size_t *size)
{
	uint8_t *r = encode(OUTCOME_SIZE, &tool, 1, size);

	if (!r)
		return NULL;
	put(r + OUTCOME_CODE, 4, (uint32_t)outcome->code);
	put(r + OUTCOME_TIME, 8, (uint64_t)outcome->time);
	put(r + OUTCOME_ID_LEN, 4, (uint32_t)outcome->build_id_len);
	memcpy(r + OUTCOME_ID, outcome->build_id, outcome->build_id_len);
	return r;
}

bool symstore_outcome_decode(const void *data, size_t size, struct symstore_outcome *ret,
			     const char **tool)
{
	uint8_t r[OUTCOME_SIZE];

	if (!decode(data, size, r, sizeof(r), tool, 1) ||
	    get32(r + OUTCOME_ID_LEN) > sizeof(ret->build_id))
		return false;
	ret->code = (int32_t)get32(r + OUTCOME_CODE);
	ret->time = (int64_t)get(r + OUTCOME_TIME, 8);
	ret->build_id_len = get32(r + OUTCOME_ID_LEN);
	memcpy(ret->build_id, r + OUTCOME_ID, sizeof(ret->build_id));
	return true;
}

/* The kinds as digits of a number, the best first. Names alone are one below the symbols that they
 * were taken from. */
static unsigned rank(uint32_t sources)
{
	const unsigned kinds = (sources & SYMCACHE_FROM_DWARF ? 32 : 0) |
			       (sources & SYMCACHE_FROM_GO ? 16 : 0) |
			       (sources & SYMCACHE_FROM_SYMTAB ? 8 : 0) |
			       (sources & SYMCACHE_FROM_MINIDEBUGINFO ? 4 : 0) |
			       (sources & SYMCACHE_FROM_DYNSYM ? 2 : 0);

	return kinds && sources & SYMCACHE_FROM_NAMES ? kinds - 1 : kinds;
}

bool symstore_entry_replaces(const struct symstore_entry *fresh, const struct symstore_entry *old)
{
	unsigned a = rank(fresh->sources), b = rank(old->sources);

	return a != b ? a > b : fresh->bad_units <= old->bad_units;
}

static bool same_path(const char *a, const char *b)
{
	return a && b && *a && !strcmp(a, b);
}

bool symstore_entry_other_file(const struct symstore_entry *a, const struct symstore_entry *b)
{
	return !sc_hash_same(a->source_hash, b->source_hash) &&
	       !same_path(a->source_path, b->source_path) &&
	       !same_path(a->source_path, b->debug_path) &&
	       !same_path(a->debug_path, b->source_path);
}
