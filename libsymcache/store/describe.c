/* Build IDs by themselves, and records in words: see store.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libmarkup/bytes/json.h"
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

const char *symstore_kinds_text(uint32_t sources, char text[SYMSTORE_KINDS_TEXT])
{
	char *end = text;

	sources = symstore_kinds_shown(sources);
	for (int i = 0; symstore_kinds[i]; i++)
		if (sources & symstore_kind_bit(i))
			end += sprintf(end, "%s%s", end > text ? "," : "", symstore_kinds[i]);
	return end > text ? text : "none";
}

const char *symstore_time_text(int64_t time, char text[32])
{
	struct tm tm;
	time_t t = (time_t)time;

	if (!gmtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(text, 32, "%" PRId64, time);
	return text;
}

void symstore_kinds_json(struct mk_gen *g, const char *key, uint32_t sources)
{
	sources = symstore_kinds_shown(sources);
	mk_gen_open_array(g, key);
	for (int i = 0; symstore_kinds[i]; i++)
		if (sources & symstore_kind_bit(i))
			mk_gen_text(g, NULL, symstore_kinds[i]);
	mk_gen_close_array(g);
}

static void put_words(struct mk_gen *g, const char *key, const char *words)
{
	const char *word;
	size_t len;

	mk_gen_open_array(g, key);
	while ((len = symstore_tags_next(&words, &word)))
		mk_gen_string(g, NULL, word, len);
	mk_gen_close_array(g);
}

void symstore_entry_json(struct mk_gen *g, const struct symstore_entry *entry)
{
	char text[SC_HASH_TEXT];

	mk_gen_bytes(g, "build_id", entry->build_id, entry->build_id_len);
	mk_gen_bool(g, "build_id_derived", entry->build_id_derived);
	symstore_kinds_json(g, "symbols", entry->sources);
	mk_gen_number(g, "broken_units", entry->bad_units);
	mk_gen_number(g, "cache_size", entry->cache_size);
	snprintf(text, sizeof(text), "%016" PRIx64, entry->cache_hash);
	mk_gen_text(g, "cache_xxh3", text);
	mk_gen_text(g, "source", entry->source_path);
	mk_gen_number(g, "source_size", entry->source_size);
	mk_gen_text(g, "source_xxh128", sc_hash_text(entry->source_hash, text));
	mk_gen_text(g, "debug_file", entry->debug_path);
	mk_gen_text(g, "indexed", symstore_time_text(entry->time, text));
	mk_gen_text(g, "tool", entry->tool_version);
	put_words(g, "tags", entry->tags);
	if (entry->names && *entry->names)
		put_words(g, "names", entry->names);
	if (entry->transforms && *entry->transforms)
		put_words(g, "transforms", entry->transforms);
}
