/* An entry of the store in words and in JSON: see entry.h. */
#include "cmd/store/entry.h"

#include <stdio.h>

#include "cmd/cli/shown.h"
#include "symcache/build_id.h"

void sources_json(struct json_gen *j, const char *key, uint32_t sources)
{
	json_gen_open_array(j, key);
	for (int i = 0; symstore_kinds[i]; i++)
		if (sources & symstore_kind_bit(i))
			json_gen_text(j, NULL, symstore_kinds[i]);
	json_gen_close_array(j);
}

static void field_json(struct json_gen *j, const struct symstore_field *f)
{
	const char *at = f->text, *item;
	size_t len;

	switch (f->type) {
	case SYMSTORE_TEXT:
		json_gen_text(j, f->key, f->text);
		break;
	case SYMSTORE_NUMBER:
		json_gen_number(j, f->key, f->number);
		break;
	case SYMSTORE_BOOL:
		json_gen_bool(j, f->key, f->number);
		break;
	case SYMSTORE_LIST:
		json_gen_open_array(j, f->key);
		while ((len = symstore_tags_next(&at, &item)))
			json_gen_string(j, NULL, item, len);
		json_gen_close_array(j);
	}
}

void entry_json(struct json_gen *j, const struct symstore_entry *entry)
{
	struct symstore_fields fields;

	symstore_entry_fields(entry, &fields);
	for (size_t i = 0; i < fields.len; i++)
		field_json(j, &fields.data[i]);
}

void print_removals(const struct symstore_removals *list, bool planned, bool json, bool quiet)
{
	struct json_gen *j = json ? json_gen_begin_report(false) : NULL;
	unsigned long long count = 0, bytes = 0;

	if (j) {
		json_gen_bool(j, "dry_run", planned);
		json_gen_open_array(j, "removed");
	}
	for (size_t i = 0; i < list->len; i++) {
		const struct symstore_removal *e = &list->data[i];

		if (!e->removed && !planned)
			continue;
		count++;
		bytes += e->cache_size;
		if (j) {
			json_gen_open_map(j, NULL);
			json_gen_text(j, "build_id", shown_id(e->id.bytes, e->id.len));
			json_gen_number(j, "cache_size", e->cache_size);
			json_gen_text(j, "source", e->source_path);
			json_gen_close_map(j);
		} else if (!quiet) {
			printf("%-40s %10llu %s\n", shown_id(e->id.bytes, e->id.len),
			       (unsigned long long)e->cache_size, shown(e->source_path));
		}
	}
	if (j) {
		json_gen_close_array(j);
		json_gen_number(j, "entries", count);
		json_gen_number(j, "bytes", bytes);
		json_gen_end_report(j);
	} else if (!quiet) {
		printf("%llu %s, %llu bytes\n", count, planned ? "would be removed" : "removed",
		       bytes);
	}
}
