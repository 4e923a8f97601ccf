/* lookup --explain for people: one fact a line. See explain.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/lookup/explain.h"
#include "symcache/symcache.h"

char *explain_name(const struct explained *e, struct symcache_str name, uint32_t lang)
{
	struct symcache_str shown;

	if (!name.len)
		return must_asprintf("??");
	shown = symcache_show_name(e->symbolizer, name, lang);
	if (shown.ptr)
		name = shown;
	return must_asprintf("%.*s", (int)name.len, name.ptr);
}

char *explain_path(const struct symcache_file *file)
{
	size_t len;
	char *path;

	if (!file->name.ptr)
		return must_asprintf("??");
	len = symcache_path(file, SYMCACHE_PATH_RAW, NULL, 0);
	path = must_calloc(len + 1, 1);
	symcache_path(file, SYMCACHE_PATH_RAW, path, len + 1);
	return path;
}

static void print_place(const char *before, const struct symcache_file *file, uint32_t line,
			uint32_t column)
{
	char *path = explain_path(file);

	printf("%s%s:%" PRIu32, before, path, line);
	if (column)
		printf(":%" PRIu32, column);
	free(path);
}

static void print_name(const char *before, const struct explained *e, struct symcache_str name,
		       uint32_t lang)
{
	char *text = explain_name(e, name, lang);

	printf("%s%s", before, text);
	free(text);
}

static void print_cache(const struct explained *e)
{
	const struct symcache *c = e->cache;
	uint64_t base = symcache_load_base(c);
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	const char *label = "location  ";

	if (!e->why.in_range) {
		puts("range      none: the cache's first one begins behind the address");
		return;
	}
	printf("range      0x%" PRIx64 "..", base + e->why.range_start);
	if (e->why.range_end != SYMCACHE_NONE)
		printf("0x%" PRIx64, base + e->why.range_end);
	printf(", number %" PRIu32 " of %" PRIu32 "%s\n", e->why.range, c->header->num_ranges,
	       e->why.has_code ? "" : ": a gap: no function has this code");
	if (!symcache_lookup(c, e->vaddr - base, &frames))
		return;
	for (uint32_t location = frames.location; symcache_next_frame(&frames, &frame);
	     location = frames.location) {
		printf("%s %" PRIu32, label, location);
		print_place(": ", &frame.file, frame.line, frame.column);
		print_name(" in ", e, frame.function, frame.lang);
		putchar('\n');
		label = "inlined at";
	}
}

static void print_symbol(const struct explained *e)
{
	const struct symcache_symbol *s = &e->why.symbol;
	uint64_t start = symcache_load_base(e->cache) + s->rel_address;

	if (!e->why.has_symbol) {
		printf("symbol     none holds the address");
		puts(e->why.table ? ": the DWARF names the outermost frame" : "");
		return;
	}
	print_name("symbol     ", e, s->name, SYMCACHE_LANG_SYMTAB);
	printf(", 0x%" PRIx64 "..", start);
	if (s->size)
		printf("0x%" PRIx64, start + s->size);
	printf(": names the outermost frame; of %s\n", e->why.table);
}

/* That of a stripped file, which llvm-symbolizer and the program under its name go by. */
static void print_own_table(const struct explained *e)
{
	const char *name = e->why.own_name;

	if (!e->why.own_table || (!name && !e->why.has_symbol))
		return;
	printf("own table  the file's %s, by which llvm-symbolizer goes, has ", e->why.own_table);
	print_name("", e, (struct symcache_str){ name, name ? strlen(name) : 0 },
		   SYMCACHE_LANG_SYMTAB);
	puts("");
}

static void print_entry(const struct explained *e, const struct symcache_explained_entry *entry)
{
	struct symcache_str name = { entry->name, entry->name ? strlen(entry->name) : 0 };

	printf("  entry    0x%08" PRIx64 " DW_TAG_%s", entry->offset,
	       entry->inlined ? "inlined_subroutine" : "subprogram");
	print_name(" ", e, name, SYMCACHE_LANG_UNKNOWN);
	if (entry->start < entry->end)
		printf(", 0x%" PRIx64 "..0x%" PRIx64, entry->start, entry->end);
	else
		printf(", elsewhere");
	if (entry->num_ranges > 1)
		printf(" of %" PRIu32 " ranges", entry->num_ranges);
	if (entry->inlined)
		print_place(", called at ", &entry->call_file, entry->call_line,
			    entry->call_column);
	puts(entry->decides ? "" : "; another entry decides");
}

static void print_row(const struct symcache_explained_row *row)
{
	printf("  row      0x%" PRIx64 "..0x%" PRIx64, row->start, row->end);
	print_place(" ", &row->file, row->line, row->column);
	if (row->is_stmt)
		printf(", is_stmt");
	if (row->discriminator)
		printf(", discriminator %" PRIu32, row->discriminator);
	printf("; in the sequence of %" PRIu32 " rows over 0x%" PRIx64 "..0x%" PRIx64 "\n",
	       row->sequence_rows, row->sequence_start, row->sequence_end);
}

static void print_unit(const struct explained *e, const struct symcache_explained_unit *u)
{
	printf("unit       0x%08" PRIx64 " %s", u->offset, u->name ? u->name : "??");
	if (u->comp_dir)
		printf(" in %s", u->comp_dir);
	printf(", DWARF %u", u->version);
	if (u->language)
		printf(", %s", u->language);
	if (u->split)
		printf(", entries in %s", u->split);
	puts(u->decides ? "" : "; does not decide");
	for (size_t i = 0; i < u->num_entries; i++)
		print_entry(e, &u->entries[i]);
	if (u->has_row)
		print_row(&u->row);
	else
		puts("  row      none: no sequence of lines holds the address");
}

void explain_text(const struct explained *e)
{
	const uint64_t base = symcache_load_base(e->cache);

	printf("address    0x%" PRIx64 " in %s, load base 0x%" PRIx64 "\n", e->vaddr, e->module,
	       base);
	print_cache(e);
	print_symbol(e);
	print_own_table(e);
	if (e->why.unwind)
		printf("unwind     0x%" PRIx64 "..0x%" PRIx64 ": %s\n", base + e->why.unwind_start,
		       base + e->why.unwind_end, e->why.unwind);
	if (!e->why.dwarf) {
		printf("debug file missing: %s\n\n", e->why.missing.msg);
		return;
	}
	printf("debug file %s, %" PRIu64 " units\n", e->why.dwarf->path, e->why.dwarf->units_read);
	for (size_t i = 0; i < e->why.dwarf->num_units; i++)
		print_unit(e, &e->why.dwarf->units[i]);
	if (!e->why.dwarf->num_units)
		puts("unit       none has the address");
	putchar('\n');
}
