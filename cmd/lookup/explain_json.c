/* lookup --explain as JSON. See explain.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/lookup/explain.h"

static void put_place(struct mk_gen *j, const char *prefix, const struct symcache_file *file,
		      uint32_t line, uint32_t column)
{
	char key[32], *path = explain_path(file);

	snprintf(key, sizeof(key), "%sfile", prefix);
	mk_gen_text(j, key, file->name.ptr ? path : "");
	snprintf(key, sizeof(key), "%sline", prefix);
	mk_gen_number(j, key, line);
	snprintf(key, sizeof(key), "%scolumn", prefix);
	mk_gen_number(j, key, column);
	free(path);
}

static void put_name(struct mk_gen *j, const char *key, const struct explained *e,
		     struct symcache_str name, uint32_t lang)
{
	char *text = name.len ? explain_name(e, name, lang) : NULL;

	mk_gen_text(j, key, text);
	free(text);
}

static struct symcache_str str(const char *text)
{
	return (struct symcache_str){ text, text ? strlen(text) : 0 };
}

static void put_cache(struct mk_gen *j, const struct explained *e)
{
	const struct symcache *c = e->cache;
	uint64_t base = symcache_load_base(c);
	struct symcache_frames frames;
	struct symcache_raw_frame frame;

	if (e->why.in_range) {
		mk_gen_open_map(j, "range");
		mk_gen_number(j, "index", e->why.range);
		mk_gen_hex(j, "start", base + e->why.range_start);
		if (e->why.range_end != SYMCACHE_NONE)
			mk_gen_hex(j, "end", base + e->why.range_end);
		mk_gen_bool(j, "gap", !e->why.has_code);
		mk_gen_close_map(j);
	}
	mk_gen_open_array(j, "frames");
	if (e->why.has_code && symcache_lookup(c, e->vaddr - base, &frames))
		for (uint32_t location = frames.location; symcache_next_frame(&frames, &frame);
		     location = frames.location) {
			mk_gen_open_map(j, NULL);
			mk_gen_number(j, "location", location);
			put_name(j, "function", e, frame.function, frame.lang);
			put_place(j, "", &frame.file, frame.line, frame.column);
			mk_gen_close_map(j);
		}
	mk_gen_close_array(j);
	if (e->why.unwind) {
		mk_gen_open_map(j, "unwind");
		mk_gen_hex(j, "start", base + e->why.unwind_start);
		mk_gen_hex(j, "end", base + e->why.unwind_end);
		mk_gen_text(j, "row", e->why.unwind);
		mk_gen_close_map(j);
	}
	if (e->why.has_symbol) {
		mk_gen_open_map(j, "symbol");
		put_name(j, "name", e, e->why.symbol.name, SYMCACHE_LANG_SYMTAB);
		mk_gen_hex(j, "start", base + e->why.symbol.rel_address);
		mk_gen_number(j, "size", e->why.symbol.size);
		mk_gen_close_map(j);
	}
	mk_gen_text(j, "named_by", e->why.table);
	if (e->why.own_table) {
		mk_gen_open_map(j, "own_table");
		mk_gen_text(j, "table", e->why.own_table);
		put_name(j, "name", e, str(e->why.own_name), SYMCACHE_LANG_SYMTAB);
		mk_gen_close_map(j);
	}
}

static void put_entry(struct mk_gen *j, const struct explained *e,
		      const struct symcache_explained_entry *entry)
{
	struct symcache_str name = str(entry->name);

	mk_gen_open_map(j, NULL);
	mk_gen_hex(j, "offset", entry->offset);
	mk_gen_text(j, "tag", entry->inlined ? "DW_TAG_inlined_subroutine" : "DW_TAG_subprogram");
	put_name(j, "name", e, name, SYMCACHE_LANG_UNKNOWN);
	mk_gen_bool(j, "decides", entry->decides);
	mk_gen_hex(j, "start", entry->start);
	mk_gen_hex(j, "end", entry->end);
	mk_gen_number(j, "ranges", entry->num_ranges);
	if (entry->inlined)
		put_place(j, "call_", &entry->call_file, entry->call_line, entry->call_column);
	mk_gen_close_map(j);
}

static void put_row(struct mk_gen *j, const struct symcache_explained_row *row)
{
	mk_gen_open_map(j, "row");
	mk_gen_hex(j, "start", row->start);
	mk_gen_hex(j, "end", row->end);
	put_place(j, "", &row->file, row->line, row->column);
	mk_gen_bool(j, "is_stmt", row->is_stmt);
	mk_gen_number(j, "discriminator", row->discriminator);
	mk_gen_open_map(j, "sequence");
	mk_gen_hex(j, "start", row->sequence_start);
	mk_gen_hex(j, "end", row->sequence_end);
	mk_gen_number(j, "rows", row->sequence_rows);
	mk_gen_close_map(j);
	mk_gen_close_map(j);
}

static void put_unit(struct mk_gen *j, const struct explained *e,
		     const struct symcache_explained_unit *u)
{
	mk_gen_open_map(j, NULL);
	mk_gen_hex(j, "offset", u->offset);
	mk_gen_text(j, "name", u->name);
	mk_gen_text(j, "comp_dir", u->comp_dir);
	mk_gen_number(j, "dwarf", u->version);
	mk_gen_text(j, "language", u->language);
	if (u->split)
		mk_gen_text(j, "split", u->split);
	mk_gen_bool(j, "decides", u->decides);
	mk_gen_open_array(j, "entries");
	for (size_t i = 0; i < u->num_entries; i++)
		put_entry(j, e, &u->entries[i]);
	mk_gen_close_array(j);
	if (u->has_row)
		put_row(j, &u->row);
	mk_gen_close_map(j);
}

void explain_json(const struct explained *e, struct mk_gen *j)
{
	mk_gen_open_map(j, NULL);
	mk_gen_hex(j, "address", e->vaddr);
	mk_gen_text(j, "module", e->module);
	mk_gen_hex(j, "load_base", symcache_load_base(e->cache));
	put_cache(j, e);
	if (!e->why.dwarf) {
		mk_gen_text(j, "missing", e->why.missing.msg);
	} else {
		mk_gen_text(j, "debug_file", e->why.dwarf->path);
		mk_gen_number(j, "units_read", e->why.dwarf->units_read);
		mk_gen_open_array(j, "units");
		for (size_t i = 0; i < e->why.dwarf->num_units; i++)
			put_unit(j, e, &e->why.dwarf->units[i]);
		mk_gen_close_array(j);
	}
	mk_gen_close_map(j);
}
