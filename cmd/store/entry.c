/* An entry of the store in words and in JSON: see entry.h. */
#include "cmd/store/entry.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "symcache/build_id.h"

/* In the order of their worth. */
enum { KINDS = 4 };
const char *const source_names[KINDS + 1] = { "dwarf", "symtab", "minidebuginfo", "dynsym" };

uint32_t source_bit(int kind)
{
	static const uint32_t bits[KINDS] = {
		SYMCACHE_FROM_DWARF, SYMCACHE_FROM_SYMTAB, SYMCACHE_FROM_MINIDEBUGINFO,
		SYMCACHE_FROM_DYNSYM,
	};

	return bits[kind];
}

const char *sources_text(uint32_t sources, char text[SOURCES_TEXT])
{
	char *end = text;

	*end = 0;
	for (int i = 0; i < KINDS; i++)
		if (sources & source_bit(i))
			end += sprintf(end, "%s%s", end == text ? "" : ",", source_names[i]);
	return *text ? text : "none";
}

void sources_json(struct json_gen *j, const char *key, uint32_t sources)
{
	json_gen_open_array(j, key);
	for (int i = 0; i < KINDS; i++)
		if (sources & source_bit(i))
			json_gen_text(j, NULL, source_names[i]);
	json_gen_close_array(j);
}

void tags_json(struct json_gen *j, const char *key, const char *tags)
{
	const char *tag;
	size_t len;

	json_gen_open_array(j, key);
	while ((len = symstore_tags_next(&tags, &tag)))
		json_gen_string(j, tag, len);
	json_gen_close_array(j);
}

const char *time_text(int64_t time, char text[32])
{
	struct tm tm;
	time_t t = (time_t)time;

	if (!gmtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		snprintf(text, 32, "%" PRId64, time);
	return text;
}

void entry_json(struct json_gen *j, const struct symstore_entry *entry)
{
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];

	symcache_build_id_text(text, entry->build_id, entry->build_id_len);
	json_gen_text(j, "build_id", text);
	json_gen_bool(j, "build_id_derived", entry->build_id_derived);
	sources_json(j, "symbols", entry->sources);
	json_gen_number(j, "broken_units", entry->bad_units);
	json_gen_number(j, "cache_size", entry->cache_size);
	snprintf(text, sizeof(text), "%016" PRIx64, entry->cache_hash);
	json_gen_text(j, "cache_xxh3", text);
	json_gen_text(j, "source", entry->source_path);
	json_gen_number(j, "source_size", entry->source_size);
	snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, entry->source_hash.high64,
		 entry->source_hash.low64);
	json_gen_text(j, "source_xxh128", text);
	json_gen_text(j, "debug_file", entry->debug_path);
	json_gen_text(j, "indexed", time_text(entry->time, text));
	json_gen_text(j, "tool", entry->tool_version);
	tags_json(j, "tags", entry->tags);
	if (*entry->transforms)
		tags_json(j, "transforms", entry->transforms);
}
