/* Build IDs by themselves, and records in words: see store.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/search.h"
#include "libsymcache/store/store.h"

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct symstore_id));
}

size_t symstore_ids_sort(struct symstore_id *ids, size_t num)
{
	size_t left = 0;

	if (num)
		qsort(ids, num, sizeof(*ids), compare_ids);
	for (size_t i = 0; i < num; i++)
		if (!left || compare_ids(&ids[i], &ids[left - 1]))
			ids[left++] = ids[i];
	return left;
}

size_t symstore_ids_from(const struct symstore_id *ids, size_t num, const struct symstore_id *id)
{
	return SC_SEARCH(i, num, compare_ids(&ids[i], id) < 0);
}

size_t symstore_ids_find(const struct symstore_id *ids, size_t num, const uint8_t *bytes,
			 size_t len)
{
	struct symstore_id id = { .len = len };
	size_t at;

	memcpy(id.bytes, bytes, len);
	at = symstore_ids_from(ids, num, &id);
	return at < num && !compare_ids(&ids[at], &id) ? at : num;
}

const char *const symstore_kinds[] = { "dwarf", "gopclntab", "symtab", "names", "minidebuginfo",
				       "dynsym", "cfi", "locals", NULL };

uint32_t symstore_kind_bit(int kind)
{
	static const uint32_t bits[] = {
		SYMCACHE_FROM_DWARF, SYMCACHE_FROM_GO, SYMCACHE_FROM_SYMTAB, SYMCACHE_FROM_NAMES,
		SYMCACHE_FROM_MINIDEBUGINFO, SYMCACHE_FROM_DYNSYM, SYMCACHE_FROM_CFI,
		SYMCACHE_FROM_LOCALS,
	};

	return bits[kind];
}

uint32_t symstore_kinds_shown(uint32_t sources)
{
	const uint32_t with_names = SYMCACHE_FROM_NAMES | SYMCACHE_FROM_CFI | SYMCACHE_FROM_LOCALS;

	return sources & SYMCACHE_FROM_NAMES ? sources & with_names : sources;
}

static void put_kinds(uint32_t sources, char separator, char *text)
{
	char *end = text;

	*end = 0;
	sources = symstore_kinds_shown(sources);
	for (int i = 0; symstore_kinds[i]; i++)
		if (sources & symstore_kind_bit(i))
			end += sprintf(end, "%s%c", symstore_kinds[i], separator);
	if (end > text)
		end[-1] = 0;
}

const char *symstore_kinds_text(uint32_t sources, char text[SYMSTORE_KINDS_TEXT])
{
	put_kinds(sources, ',', text);
	return *text ? text : "none";
}

const char *symstore_time_text(int64_t time, char text[32])
{
	struct tm tm;
	time_t t = (time_t)time;

	if (!gmtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(text, 32, "%" PRId64, time);
	return text;
}

static void add(struct symstore_fields *f, const char *key, int type, const char *text,
		uint64_t number)
{
	f->data[f->len++] = (struct symstore_field){ key, type, text, number };
}

void symstore_entry_fields(const struct symstore_entry *entry, struct symstore_fields *f)
{
	*f = (struct symstore_fields){ 0 };
	put_kinds(entry->sources, '\n', f->kinds);
	symcache_build_id_text(f->id, entry->build_id, entry->build_id_len);
	snprintf(f->cache_hash, sizeof(f->cache_hash), "%016" PRIx64, entry->cache_hash);
	sc_hash_text(entry->source_hash, f->source_hash);
	add(f, "build_id", SYMSTORE_TEXT, f->id, 0);
	add(f, "build_id_derived", SYMSTORE_BOOL, NULL, entry->build_id_derived);
	add(f, "symbols", SYMSTORE_LIST, f->kinds, 0);
	add(f, "broken_units", SYMSTORE_NUMBER, NULL, entry->bad_units);
	add(f, "cache_size", SYMSTORE_NUMBER, NULL, entry->cache_size);
	add(f, "cache_xxh3", SYMSTORE_TEXT, f->cache_hash, 0);
	add(f, "source", SYMSTORE_TEXT, entry->source_path, 0);
	add(f, "source_size", SYMSTORE_NUMBER, NULL, entry->source_size);
	add(f, "source_xxh128", SYMSTORE_TEXT, f->source_hash, 0);
	add(f, "debug_file", SYMSTORE_TEXT, entry->debug_path, 0);
	add(f, "indexed", SYMSTORE_TEXT, symstore_time_text(entry->time, f->time), 0);
	add(f, "tool", SYMSTORE_TEXT, entry->tool_version, 0);
	add(f, "tags", SYMSTORE_LIST, entry->tags, 0);
	if (entry->names && *entry->names)
		add(f, "names", SYMSTORE_LIST, entry->names, 0);
	if (entry->transforms && *entry->transforms)
		add(f, "transforms", SYMSTORE_LIST, entry->transforms, 0);
}
