/* Why an address has its answer, for people: one fact a line. */
#include "libsymcache/answers/parts.h"

static void put_place(struct mk_worker *w, const char *before, const struct symcache_file *file,
		      uint32_t line, uint32_t column)
{
	mk_put(&w->out, before, mk_or(mk_shown_path(w, file), "??"), ":", line);
	if (column)
		mk_put(&w->out, ":", column);
}

static void put_name(struct mk_worker *w, const char *before, struct sc_str name,
		     uint32_t lang)
{
	mk_put(&w->out, before, mk_or(mk_shown_name(w, name, lang), "??"));
}

/* Eight digits, or more. */
static void put_offset(struct mk_out *o, uint64_t offset)
{
	char digits[FMT_MAX];

	mk_fmt_addr(digits, offset);
	if (offset >> 32)
		mk_out_hex(o, offset);
	else
		mk_put(o, "0x", ((struct sc_str){ digits + 10, 8 }));
}

static void put_cache(struct mk_worker *w, const struct mk_explained *e)
{
	const struct symcache *c = e->cache;
	const uint64_t base = symcache_load_base(c);
	const char *label = "location  ";
	struct mk_out *o = &w->out;
	struct symcache_frames frames;
	struct symcache_raw_frame frame;

	if (!e->why.in_range) {
		mk_out_lit(o, "range      none: the cache's first one begins after the address\n");
		return;
	}
	mk_put(o, "range      ", mk_hex(base + e->why.range_start), "..");
	if (e->why.range_end != SYMCACHE_NONE)
		mk_out_hex(o, base + e->why.range_end);
	mk_put(o, ", number ", e->why.range, " of ", c->header->num_ranges,
	       e->why.has_code ? "\n" : ": a gap: no function has this code\n");
	if (!symcache_lookup(c, e->vaddr - base, &frames))
		return;
	for (uint32_t location = frames.location; symcache_next_frame(&frames, &frame);
	     location = frames.location) {
		mk_put(o, label, " ", location);
		put_place(w, ": ", &frame.file, frame.line, frame.column);
		put_name(w, " in ", frame.function, frame.lang);
		mk_out_char(o, '\n');
		label = "inlined at";
	}
}

static void put_also(struct mk_worker *w, struct sc_str name, bool first)
{
	(void)first;
	mk_put(&w->out, "also       ", name, "\n");
}

static void put_symbol(struct mk_worker *w, const struct mk_explained *e)
{
	const struct symcache_symbol *s = &e->why.symbol;
	const uint64_t start = symcache_load_base(e->cache) + s->rel_address;

	if (!e->why.has_symbol) {
		mk_put(&w->out, "symbol     none holds the address");
		if (e->why.table)
			mk_put(&w->out, ": ", e->why.table, " names the outermost frame");
		mk_put(&w->out, "\n");
		return;
	}
	put_name(w, "symbol     ", s->name, SYMCACHE_LANG_SYMTAB);
	mk_put(&w->out, ", ", mk_hex(start), "..");
	if (s->size)
		mk_out_hex(&w->out, start + s->size);
	mk_put(&w->out, ": names the outermost frame; of ", e->why.table, "\n");
	mk_also_explained(w, e, put_also);
}

/* That of a stripped file, which llvm-symbolizer and the program under its name go by. */
static void put_own_table(struct mk_worker *w, const struct mk_explained *e)
{
	if (!e->why.own_table || (!e->why.own_name && !e->why.has_symbol))
		return;
	mk_put(&w->out, "own table  the file's ", e->why.own_table,
	       ", by which llvm-symbolizer goes, has ");
	put_name(w, "", sc_str_of(e->why.own_name), SYMCACHE_LANG_SYMTAB);
	mk_out_char(&w->out, '\n');
}

static void put_entry(struct mk_worker *w, const struct symcache_explained_entry *entry)
{
	struct mk_out *o = &w->out;

	mk_out_lit(o, "  entry    ");
	put_offset(o, entry->offset);
	mk_put(o, " DW_TAG_", entry->inlined ? "inlined_subroutine" : "subprogram");
	put_name(w, " ", sc_str_of(entry->name), SYMCACHE_LANG_UNKNOWN);
	if (entry->start < entry->end)
		mk_put(o, ", ", mk_hex(entry->start), "..", mk_hex(entry->end));
	else
		mk_out_lit(o, ", elsewhere");
	if (entry->num_ranges > 1)
		mk_put(o, " of ", entry->num_ranges, " ranges");
	if (entry->inlined)
		put_place(w, ", called at ", &entry->call_file, entry->call_line,
			  entry->call_column);
	mk_put(o, entry->decides ? "\n" : "; another entry decides\n");
}

static void put_row(struct mk_worker *w, const struct symcache_explained_row *row)
{
	struct mk_out *o = &w->out;

	mk_put(o, "  row      ", mk_hex(row->start), "..", mk_hex(row->end));
	put_place(w, " ", &row->file, row->line, row->column);
	if (row->is_stmt)
		mk_out_lit(o, ", is_stmt");
	if (row->discriminator)
		mk_put(o, ", discriminator ", row->discriminator);
	mk_put(o, "; in the sequence of ", row->sequence_rows, " rows over ",
	       mk_hex(row->sequence_start), "..", mk_hex(row->sequence_end), "\n");
}

static void put_unit(struct mk_worker *w, const struct symcache_explained_unit *u)
{
	struct mk_out *o = &w->out;

	mk_out_lit(o, "unit       ");
	put_offset(o, u->offset);
	mk_put(o, " ", u->name ? u->name : "??");
	if (u->comp_dir)
		mk_put(o, " in ", u->comp_dir);
	mk_put(o, ", DWARF ", (unsigned)u->version);
	if (u->language)
		mk_put(o, ", ", u->language);
	if (u->split)
		mk_put(o, ", entries in ", u->split);
	mk_put(o, u->decides ? "\n" : "; does not decide\n");
	for (size_t i = 0; i < u->num_entries; i++)
		put_entry(w, &u->entries[i]);
	if (u->has_row)
		put_row(w, &u->row);
	else
		mk_out_lit(o, "  row      none: no sequence of lines holds the address\n");
}

void mk_plain_explained(struct mk_worker *w, const struct mk_request *r,
			const struct mk_explained *e)
{
	const uint64_t base = symcache_load_base(e->cache);
	struct mk_out *o = &w->out;

	mk_put(o, "address    ", mk_hex(e->vaddr), " in ", mk_shown_module(w, r), ", load base ",
	       mk_hex(base), "\n");
	put_cache(w, e);
	put_symbol(w, e);
	put_own_table(w, e);
	if (e->why.unwind)
		mk_put(o, "unwind     ", mk_hex(base + e->why.unwind_start), "..",
		       mk_hex(base + e->why.unwind_end), ": ", e->why.unwind, "\n");
	if (!e->why.dwarf) {
		mk_put(o, "debug file missing: ", e->why.missing.msg, "\n\n");
		return;
	}
	mk_put(o, "debug file ", e->why.dwarf->path, ", ", e->why.dwarf->units_read,
	       e->why.dwarf->units_read == 1 ? " unit\n" : " units\n");
	for (size_t i = 0; i < e->why.dwarf->num_units; i++)
		put_unit(w, &e->why.dwarf->units[i]);
	if (!e->why.dwarf->num_units)
		mk_out_lit(o, "unit       none has the address\n");
	mk_out_char(o, '\n');
}
