/* lookup --explain as JSON. See explain.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lookup/explain.h"

static void put_place(struct json_gen *j, const char *prefix, const struct symcache_file *file,
		      uint32_t line, uint32_t column)
{
	char key[32], *path = explain_path(file);

	snprintf(key, sizeof(key), "%sfile", prefix);
	json_gen_text(j, key, file->name.ptr ? path : "");
	snprintf(key, sizeof(key), "%sline", prefix);
	json_gen_number(j, key, line);
	snprintf(key, sizeof(key), "%scolumn", prefix);
	json_gen_number(j, key, column);
	free(path);
}

static void put_name(struct json_gen *j, const char *key, const struct explained *e,
		     struct symcache_str name, uint32_t lang)
{
	char *text = name.len ? explain_name(e, name, lang) : NULL;

	json_gen_text(j, key, text);
	free(text);
}

static struct symcache_str str(const char *text)
{
	return (struct symcache_str){ text, text ? strlen(text) : 0 };
}

static void put_cache(struct json_gen *j, const struct explained *e)
{
	const struct symcache *c = e->cache;
	uint64_t base = symcache_load_base(c);
	struct symcache_frames frames;
	struct symcache_raw_frame frame;

	if (e->why.in_range) {
		json_gen_open_map(j, "range");
		json_gen_number(j, "index", e->why.range);
		json_gen_hex(j, "start", base + e->why.range_start);
		if (e->why.range_end != SYMCACHE_NONE)
			json_gen_hex(j, "end", base + e->why.range_end);
		json_gen_bool(j, "gap", !e->why.has_code);
		json_gen_close_map(j);
	}
	json_gen_open_array(j, "frames");
	if (e->why.has_code && symcache_lookup(c, e->vaddr - base, &frames))
		for (uint32_t location = frames.location; symcache_next_frame(&frames, &frame);
		     location = frames.location) {
			json_gen_open_map(j, NULL);
			json_gen_number(j, "location", location);
			put_name(j, "function", e, frame.function, frame.lang);
			put_place(j, "", &frame.file, frame.line, frame.column);
			json_gen_close_map(j);
		}
	json_gen_close_array(j);
	if (e->why.unwind) {
		json_gen_open_map(j, "unwind");
		json_gen_hex(j, "start", base + e->why.unwind_start);
		json_gen_hex(j, "end", base + e->why.unwind_end);
		json_gen_text(j, "row", e->why.unwind);
		json_gen_close_map(j);
	}
	if (e->why.has_symbol) {
		json_gen_open_map(j, "symbol");
		put_name(j, "name", e, e->why.symbol.name, SYMCACHE_LANG_SYMTAB);
		json_gen_hex(j, "start", base + e->why.symbol.rel_address);
		json_gen_number(j, "size", e->why.symbol.size);
		json_gen_close_map(j);
	}
	json_gen_text(j, "named_by", e->why.table);
	if (e->why.own_table) {
		json_gen_open_map(j, "own_table");
		json_gen_text(j, "table", e->why.own_table);
		put_name(j, "name", e, str(e->why.own_name), SYMCACHE_LANG_SYMTAB);
		json_gen_close_map(j);
	}
}

static void put_entry(struct json_gen *j, const struct explained *e,
		      const struct symcache_explained_entry *entry)
{
	struct symcache_str name = str(entry->name);

	json_gen_open_map(j, NULL);
	json_gen_hex(j, "offset", entry->offset);
	json_gen_text(j, "tag", entry->inlined ? "DW_TAG_inlined_subroutine" : "DW_TAG_subprogram");
	put_name(j, "name", e, name, SYMCACHE_LANG_UNKNOWN);
	json_gen_bool(j, "decides", entry->decides);
	json_gen_hex(j, "start", entry->start);
	json_gen_hex(j, "end", entry->end);
	json_gen_number(j, "ranges", entry->num_ranges);
	if (entry->inlined)
		put_place(j, "call_", &entry->call_file, entry->call_line, entry->call_column);
	json_gen_close_map(j);
}

static void put_row(struct json_gen *j, const struct symcache_explained_row *row)
{
	json_gen_open_map(j, "row");
	json_gen_hex(j, "start", row->start);
	json_gen_hex(j, "end", row->end);
	put_place(j, "", &row->file, row->line, row->column);
	json_gen_bool(j, "is_stmt", row->is_stmt);
	json_gen_number(j, "discriminator", row->discriminator);
	json_gen_open_map(j, "sequence");
	json_gen_hex(j, "start", row->sequence_start);
	json_gen_hex(j, "end", row->sequence_end);
	json_gen_number(j, "rows", row->sequence_rows);
	json_gen_close_map(j);
	json_gen_close_map(j);
}

static void put_unit(struct json_gen *j, const struct explained *e,
		     const struct symcache_explained_unit *u)
{
	json_gen_open_map(j, NULL);
	json_gen_hex(j, "offset", u->offset);
	json_gen_text(j, "name", u->name);
	json_gen_text(j, "comp_dir", u->comp_dir);
	json_gen_number(j, "dwarf", u->version);
	json_gen_text(j, "language", u->language);
	if (u->split)
		json_gen_text(j, "split", u->split);
	json_gen_bool(j, "decides", u->decides);
	json_gen_open_array(j, "entries");
	for (size_t i = 0; i < u->num_entries; i++)
		put_entry(j, e, &u->entries[i]);
	json_gen_close_array(j);
	if (u->has_row)
		put_row(j, &u->row);
	json_gen_close_map(j);
}

void explain_json(const struct explained *e, struct json_gen *j)
{
	json_gen_open_map(j, NULL);
	json_gen_hex(j, "address", e->vaddr);
	json_gen_text(j, "module", e->module);
	json_gen_hex(j, "load_base", symcache_load_base(e->cache));
	put_cache(j, e);
	if (!e->why.dwarf) {
		json_gen_text(j, "missing", e->why.missing.msg);
	} else {
		json_gen_text(j, "debug_file", e->why.dwarf->path);
		json_gen_number(j, "units_read", e->why.dwarf->units_read);
		json_gen_open_array(j, "units");
		for (size_t i = 0; i < e->why.dwarf->num_units; i++)
			put_unit(j, e, &e->why.dwarf->units[i]);
		json_gen_close_array(j);
	}
	json_gen_close_map(j);
}
