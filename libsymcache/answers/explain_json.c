/* Why an address has its answer, as JSON. */
#include "libsymcache/answers/parts.h"

#include <stdio.h>

static void put_place(struct mk_worker *w, const char *prefix, const struct symcache_file *file,
		      uint32_t line, uint32_t column)
{
	const struct sc_str path = mk_shown_path(w, file);
	char key[32];

	snprintf(key, sizeof(key), "%sfile", prefix);
	mk_gen_string(&w->json, key, path.ptr, path.len);
	snprintf(key, sizeof(key), "%sline", prefix);
	mk_gen_number(&w->json, key, line);
	snprintf(key, sizeof(key), "%scolumn", prefix);
	mk_gen_number(&w->json, key, column);
}

static void put_name(struct mk_worker *w, const char *key, struct sc_str name, uint32_t lang)
{
	const struct sc_str shown = mk_shown_name(w, name, lang);

	mk_gen_string(&w->json, key, shown.ptr, shown.len);
}

static void put_also(struct mk_worker *w, struct sc_str name, bool first)
{
	if (first)
		mk_gen_open_array(&w->json, "also");
	mk_gen_string(&w->json, NULL, name.ptr, name.len);
	w->also = true;
}

static void put_symbol(struct mk_worker *w, const struct mk_explained *e)
{
	const struct symcache_symbol *s = &e->why.symbol;
	struct mk_gen *g = &w->json;

	mk_gen_open_map(g, "symbol");
	put_name(w, "name", s->name, SYMCACHE_LANG_SYMTAB);
	mk_gen_hex(g, "start", symcache_load_base(e->cache) + s->rel_address);
	mk_gen_number(g, "size", s->size);
	w->also = false;
	mk_also_explained(w, e, put_also);
	if (w->also)
		mk_gen_close_array(g);
	mk_gen_close_map(g);
}

static void put_cache(struct mk_worker *w, const struct mk_explained *e)
{
	const struct symcache *c = e->cache;
	const uint64_t base = symcache_load_base(c);
	struct mk_gen *g = &w->json;
	struct symcache_frames frames;
	struct symcache_raw_frame frame;

	if (e->why.in_range) {
		mk_gen_open_map(g, "range");
		mk_gen_number(g, "index", e->why.range);
		mk_gen_hex(g, "start", base + e->why.range_start);
		if (e->why.range_end != SYMCACHE_NONE)
			mk_gen_hex(g, "end", base + e->why.range_end);
		mk_gen_bool(g, "gap", !e->why.has_code);
		mk_gen_close_map(g);
	}
	mk_gen_open_array(g, "frames");
	if (e->why.has_code && symcache_lookup(c, e->vaddr - base, &frames))
		for (uint32_t location = frames.location; symcache_next_frame(&frames, &frame);
		     location = frames.location) {
			mk_gen_open_map(g, NULL);
			mk_gen_number(g, "location", location);
			put_name(w, "function", frame.function, frame.lang);
			put_place(w, "", &frame.file, frame.line, frame.column);
			mk_gen_close_map(g);
		}
	mk_gen_close_array(g);
	if (e->why.unwind) {
		mk_gen_open_map(g, "unwind");
		mk_gen_hex(g, "start", base + e->why.unwind_start);
		mk_gen_hex(g, "end", base + e->why.unwind_end);
		mk_gen_text(g, "row", e->why.unwind);
		mk_gen_close_map(g);
	}
	if (e->why.has_symbol)
		put_symbol(w, e);
	mk_gen_text(g, "named_by", e->why.table);
	if (e->why.own_table) {
		mk_gen_open_map(g, "own_table");
		mk_gen_text(g, "table", e->why.own_table);
		put_name(w, "name", sc_str_of(e->why.own_name), SYMCACHE_LANG_SYMTAB);
		mk_gen_close_map(g);
	}
}

static void put_entry(struct mk_worker *w, const struct symcache_explained_entry *entry)
{
	struct mk_gen *g = &w->json;

	mk_gen_open_map(g, NULL);
	mk_gen_hex(g, "offset", entry->offset);
	mk_gen_text(g, "tag", entry->inlined ? "DW_TAG_inlined_subroutine" : "DW_TAG_subprogram");
	put_name(w, "name", sc_str_of(entry->name), SYMCACHE_LANG_UNKNOWN);
	mk_gen_bool(g, "decides", entry->decides);
	mk_gen_hex(g, "start", entry->start);
	mk_gen_hex(g, "end", entry->end);
	mk_gen_number(g, "ranges", entry->num_ranges);
	if (entry->inlined)
		put_place(w, "call_", &entry->call_file, entry->call_line, entry->call_column);
	mk_gen_close_map(g);
}

static void put_row(struct mk_worker *w, const struct symcache_explained_row *row)
{
	struct mk_gen *g = &w->json;

	mk_gen_open_map(g, "row");
	mk_gen_hex(g, "start", row->start);
	mk_gen_hex(g, "end", row->end);
	put_place(w, "", &row->file, row->line, row->column);
	mk_gen_bool(g, "is_stmt", row->is_stmt);
	mk_gen_number(g, "discriminator", row->discriminator);
	mk_gen_open_map(g, "sequence");
	mk_gen_hex(g, "start", row->sequence_start);
	mk_gen_hex(g, "end", row->sequence_end);
	mk_gen_number(g, "rows", row->sequence_rows);
	mk_gen_close_map(g);
	mk_gen_close_map(g);
}

static void put_unit(struct mk_worker *w, const struct symcache_explained_unit *u)
{
	struct mk_gen *g = &w->json;

	mk_gen_open_map(g, NULL);
	mk_gen_hex(g, "offset", u->offset);
	mk_gen_text(g, "name", u->name);
	mk_gen_text(g, "comp_dir", u->comp_dir);
	mk_gen_number(g, "dwarf", u->version);
	mk_gen_text(g, "language", u->language);
	if (u->split)
		mk_gen_text(g, "split", u->split);
	mk_gen_bool(g, "decides", u->decides);
	mk_gen_open_array(g, "entries");
	for (size_t i = 0; i < u->num_entries; i++)
		put_entry(w, &u->entries[i]);
	mk_gen_close_array(g);
	if (u->has_row)
		put_row(w, &u->row);
	mk_gen_close_map(g);
}

void mk_json_explained(struct mk_worker *w, const struct mk_request *r,
		       const struct mk_explained *e)
{
	struct mk_gen *g = &w->json;

	mk_gen_open_map(g, NULL);
	mk_gen_hex(g, "address", e->vaddr);
	mk_gen_text(g, "module", mk_shown_module(w, r));
	mk_gen_hex(g, "load_base", symcache_load_base(e->cache));
	put_cache(w, e);
	if (!e->why.dwarf) {
		mk_gen_text(g, "missing", e->why.missing.msg);
	} else {
		mk_gen_text(g, "debug_file", e->why.dwarf->path);
		mk_gen_number(g, "units_read", e->why.dwarf->units_read);
		mk_gen_open_array(g, "units");
		for (size_t i = 0; i < e->why.dwarf->num_units; i++)
			put_unit(w, &e->why.dwarf->units[i]);
		mk_gen_close_array(g);
	}
	mk_gen_close_map(g);
	if (!w->list)
		mk_gen_end(g);
}
