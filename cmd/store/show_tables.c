/*
 * The tables of a cache: see show.h.
 *
 * Addresses are relative to the image, as in the cache. Everything is read
 * through the public look-ups, so a malformed cache shows wrong lines at worst.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/shown.h"
#include "cmd/store/show.h"
#include "symcache/rows.h"
#include "symcache/symcache.h"

bool show_raw;

/* The path of `file` on the heap; "" if unknown. */
static char *path_of(const struct symcache_file *file)
{
	size_t len = file->name.ptr ? symcache_path(file, SYMCACHE_PATH_CLEAN, NULL, 0) : 0;
	char *path = must_calloc(len + 1, 1);

	if (len)
		symcache_path(file, SYMCACHE_PATH_CLEAN, path, len + 1);
	return path;
}

static void print_str(struct symcache_str s)
{
	char *text = must_asprintf("%.*s", (int)s.len, s.ptr ? s.ptr : "");

	fputs(shown_of_cache(text, show_raw), stdout);
	free(text);
}

/* " at PATH:LINE[:COLUMN]", or the keys of these. */
static void show_place(const struct symcache_file *file, uint32_t line, uint32_t column,
		       struct mk_gen *j)
{
	char *path = path_of(file);

	if (j) {
		mk_gen_text(j, "file", path);
		mk_gen_number(j, "line", line);
		mk_gen_number(j, "column", column);
	} else if (*path || line) {
		printf(" at %s:%" PRIu32, !*path ? "?" : shown_of_cache(path, show_raw), line);
		if (column)
			printf(":%" PRIu32, column);
	}
	free(path);
}

void show_files(const struct symcache *cache, struct mk_gen *j)
{
	for (uint32_t i = 0; i < cache->header->num_files; i++) {
		struct symcache_file file = symcache_file(cache, i);
		char *path = path_of(&file);

		if (j)
			mk_gen_text(j, NULL, path);
		else
			printf("%" PRIu32 " %s\n", i, shown_of_cache(path, show_raw));
		free(path);
	}
}

static const char *lang_name(uint32_t lang)
{
	static const char *const names[] = { "?", "C", "C++", "D", "Go", "Objective-C",
		"Objective-C++", "Rust", "Swift", "C#", "Visual Basic", "F#" };

	if (lang == SYMCACHE_LANG_SYMTAB)
		return "symbol";
	return lang < sizeof(names) / sizeof(*names) ? names[lang] : "?";
}

/* The decl columns need the reader's checks: functions have no accessor of
 * their own, as look-ups go by address. */
void show_functions(const struct symcache *cache, struct mk_gen *j)
{
	for (uint32_t i = 0; i < cache->header->num_functions; i++) {
		const struct symcache_function *f = &cache->functions[i];
		struct symcache_str name = symcache_string(cache, f->name);
		struct symcache_file decl = { 0 };
		uint32_t line = 0;

		if (cache->decls && cache->decls[i].file_idx != SYMCACHE_NONE) {
			decl = symcache_file(cache, cache->decls[i].file_idx);
			line = cache->decls[i].line;
		}
		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_string(j, "name", name.ptr, name.len);
			mk_gen_text(j, "language", lang_name(f->lang));
			if (f->entry_pc != SYMCACHE_NONE)
				mk_gen_hex(j, "entry_pc", f->entry_pc);
			show_place(&decl, line, 0, j);
			mk_gen_close_map(j);
			continue;
		}
		if (f->entry_pc == SYMCACHE_NONE)
			printf("%-10s ", "inlined");
		else
			printf("0x%08" PRIx32 " ", f->entry_pc);
		printf("%-6s ", lang_name(f->lang));
		print_str(name);
		show_place(&decl, line, 0, NULL);
		putchar('\n');
	}
}

static void show_frames(const struct symcache *cache, uint32_t rel_pc, struct mk_gen *j)
{
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	const char *before = " ";

	if (j)
		mk_gen_open_array(j, "frames");
	if (symcache_lookup(cache, rel_pc, &frames))
		while (symcache_next_frame(&frames, &frame)) {
			if (j) {
				mk_gen_open_map(j, NULL);
				mk_gen_string(j, "function", frame.function.ptr,
						frame.function.len);
				show_place(&frame.file, frame.line, frame.column, j);
				mk_gen_close_map(j);
				continue;
			}
			fputs(before, stdout);
			print_str(frame.function);
			show_place(&frame.file, frame.line, frame.column, NULL);
			before = " in ";
		}
	else if (!j)
		fputs(" -", stdout);
	if (j)
		mk_gen_close_array(j);
}

void show_ranges(const struct symcache *cache, struct mk_gen *j)
{
	for (uint32_t i = 0; i < cache->header->num_ranges; i++) {
		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_hex(j, "start", cache->ranges[i]);
			show_frames(cache, cache->ranges[i], j);
			mk_gen_close_map(j);
			continue;
		}
		printf("0x%08" PRIx32, cache->ranges[i]);
		show_frames(cache, cache->ranges[i], NULL);
		putchar('\n');
	}
}

void show_data(const struct symcache *cache, struct mk_gen *j)
{
	for (size_t i = 0; i < cache->num_data_symbols; i++) {
		const struct symcache_ext_data *d = &cache->data_symbols[i];
		struct symcache_str name = symcache_string(cache, d->name);
		struct symcache_file file = { 0 };

		if (d->file_idx != SYMCACHE_NONE)
			file = symcache_file(cache, d->file_idx);
		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_string(j, "name", name.ptr, name.len);
			mk_gen_hex(j, "address", d->address);
			mk_gen_number(j, "size", d->size);
			show_place(&file, d->line, 0, j);
			mk_gen_close_map(j);
			continue;
		}
		printf("0x%08" PRIx32 " %8" PRIu32 " ", d->address, d->size);
		print_str(name);
		show_place(&file, d->line, 0, NULL);
		putchar('\n');
	}
}

/* Of a range: names, each with its function and offset from the frame base. */
static void show_range_locals(const struct symcache *cache, uint32_t start, struct mk_gen *j)
{
	struct symcache_local local;
	uint32_t first = 0, n = symcache_locals_of(cache, start, &first);

	for (uint32_t i = 0; i < n && symcache_local(cache, first + i, &local); i++) {
		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_string(j, "function", local.function.ptr, local.function.len);
			mk_gen_string(j, "name", local.name.ptr, local.name.len);
			if (local.has_offset)
				mk_gen_signed(j, "offset", local.offset);
			mk_gen_close_map(j);
			continue;
		}
		fputs(i ? ", " : " ", stdout);
		print_str(local.function);
		putchar(':');
		print_str(local.name);
		if (local.has_offset)
			printf("%+" PRId64, local.offset);
	}
	if (!n && !j)
		fputs(" -", stdout);
}

void show_locals(const struct symcache *cache, struct mk_gen *j)
{
	for (size_t i = 0; i < cache->locals.num_ranges; i++) {
		const uint32_t start = cache->locals.ranges[i].start;

		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_hex(j, "start", start);
			mk_gen_open_array(j, "locals");
			show_range_locals(cache, start, j);
			mk_gen_close_array(j);
			mk_gen_close_map(j);
			continue;
		}
		printf("0x%08" PRIx32, start);
		show_range_locals(cache, start, NULL);
		putchar('\n');
	}
}

void show_unwind(const struct symcache *cache, struct mk_gen *j)
{
	char text[2048];

	for (uint32_t i = 0; i < cache->unwind.num_starts; i++) {
		struct symcache_row row;
		uint32_t number;
		uint64_t start;

		if (!symcache_row_range(cache, i, &start, &number))
			break;
		if (symcache_get_row(cache, number, &row))
			symcache_row_text(cache, &row, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "-");
		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_hex(j, "start", start);
			if (*text != '-')
				mk_gen_text(j, "row", text);
			mk_gen_close_map(j);
		} else {
			printf("0x%08" PRIx64 " %s\n", start, text);
		}
	}
}

const char *unwind_sources(const struct symcache *cache, char text[UNWIND_SOURCES_TEXT])
{
	const uint32_t s = cache->unwind.facts->sources;

	snprintf(text, UNWIND_SOURCES_TEXT, "%s%s%s%s%s",
		 s & SYMCACHE_UNWIND_EH_FRAME ? ".eh_frame" : "",
		 s & SYMCACHE_UNWIND_EH_FRAME && s & SYMCACHE_UNWIND_DEBUG_FRAME ? ", " : "",
		 s & SYMCACHE_UNWIND_DEBUG_FRAME ? ".debug_frame" : "",
		 s & ~SYMCACHE_UNWIND_CODE && s & SYMCACHE_UNWIND_CODE ? ", " : "",
		 s & SYMCACHE_UNWIND_CODE ? "signal trampolines" : "");
	return text;
}
