/*
 * The tables of a cache: see cache.h.
 *
 * Addresses are relative to the image, as in the cache. Everything is read through the public
 * look-ups, so a malformed cache shows wrong lines at worst.
 */
#include <inttypes.h>

#include "libsymcache/base/utf8.h"
#include "libsymcache/read/rows.h"
#include "libsymcache/report/cache.h"

/* A name or path as text. Raw: as it was in the ELF file, byte for byte. */
static void put_text(struct mk_cache *c, const char *text, size_t len)
{
	char *to = c->options->raw ? mk_out_room(&c->text, len) : NULL;

	if (to)
		mk_out_put(c->out, to, sc_utf8_unescape(text, len, to));
	else
		mk_out_shown(c->out, (struct sc_str){ text, len });
}

/* The path of `file`, until the next call; "" if unknown. */
static const char *path_of(struct mk_cache *c, const struct symcache_file *file)
{
	const size_t len = file->name.ptr ? symcache_path(file, SYMCACHE_PATH_CLEAN, NULL, 0) : 0;
	char *path;

	path = len ? mk_out_room(&c->path, len + 1) : NULL;
	if (!path)
		return "";
	symcache_path(file, SYMCACHE_PATH_CLEAN, path, len + 1);
	return path;
}

/* " at PATH:LINE[:COLUMN]", or the keys of these. */
static void put_place(struct mk_cache *c, const struct symcache_file *file, uint32_t line,
		      uint32_t column)
{
	const char *path = path_of(c, file);

	if (c->options->json) {
		mk_gen_text(&c->json, "file", path);
		mk_gen_number(&c->json, "line", line);
		mk_gen_number(&c->json, "column", column);
	} else if (*path || line) {
		mk_put(c->out, " at ");
		put_text(c, *path ? path : "?", *path ? strlen(path) : 1);
		mk_put(c->out, ":", line);
		if (column)
			mk_put(c->out, ":", column);
	}
}

/* A row that begins with an address, and its end. */
static void begin(struct mk_cache *c, uint64_t start)
{
	if (c->options->json) {
		mk_gen_open_map(&c->json, NULL);
		mk_gen_hex(&c->json, "start", start);
	} else {
		mk_out_printf(c->out, "0x%08" PRIx64, start);
	}
}

static void end(struct mk_cache *c)
{
	if (c->options->json)
		mk_gen_close_map(&c->json);
	else
		mk_put(c->out, "\n");
}

void mk_cache_files(struct mk_cache *c)
{
	for (uint32_t i = 0; i < c->cache->header->num_files; i++) {
		const struct symcache_file file = symcache_file(c->cache, i);
		const char *path = path_of(c, &file);

		if (c->options->json) {
			mk_gen_text(&c->json, NULL, path);
			continue;
		}
		mk_put(c->out, i, " ");
		put_text(c, path, strlen(path));
		mk_put(c->out, "\n");
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
void mk_cache_functions(struct mk_cache *c)
{
	const struct symcache *cache = c->cache;
	struct mk_gen *g = &c->json;

	for (uint32_t i = 0; i < cache->header->num_functions; i++) {
		const struct symcache_function *f = &cache->functions[i];
		const struct sc_str name = symcache_string(cache, f->name);
		const struct sc_str qualified = symcache_qualified(cache, i);
		struct symcache_file decl = { 0 };
		uint32_t line = 0;

		if (cache->decls && cache->decls[i].file_idx != SYMCACHE_NONE) {
			decl = symcache_file(cache, cache->decls[i].file_idx);
			line = cache->decls[i].line;
		}
		if (c->options->json) {
			mk_gen_open_map(g, NULL);
			mk_gen_string(g, "name", name.ptr, name.len);
			if (qualified.len)
				mk_gen_string(g, "qualified", qualified.ptr, qualified.len);
			mk_gen_text(g, "language", lang_name(f->lang));
			if (f->entry_pc != SYMCACHE_NONE)
				mk_gen_hex(g, "entry_pc", f->entry_pc);
		} else {
			if (f->entry_pc == SYMCACHE_NONE)
				mk_put(c->out, "inlined   ");
			else
				mk_out_printf(c->out, "0x%08" PRIx32, f->entry_pc);
			mk_out_printf(c->out, " %-6s ", lang_name(f->lang));
			put_text(c, qualified.len ? qualified.ptr : name.ptr,
				 qualified.len ? qualified.len : name.len);
		}
		put_place(c, &decl, line, 0);
		end(c);
	}
}

static void put_frames(struct mk_cache *c, uint32_t rel_pc)
{
	struct mk_gen *g = &c->json;
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	const char *before = " ";

	if (!symcache_lookup(c->cache, rel_pc, &frames)) {
		mk_put(c->out, c->options->json ? "" : " -");
		return;
	}
	while (symcache_next_frame(&frames, &frame)) {
		if (c->options->json) {
			mk_gen_open_map(g, NULL);
			mk_gen_string(g, "function", frame.function.ptr, frame.function.len);
		} else {
			mk_put(c->out, before);
			put_text(c, frame.function.ptr, frame.function.len);
			before = " in ";
		}
		put_place(c, &frame.file, frame.line, frame.column);
		if (c->options->json)
			mk_gen_close_map(g);
	}
}

void mk_cache_ranges(struct mk_cache *c)
{
	for (uint32_t i = 0; i < c->cache->header->num_ranges; i++) {
		begin(c, c->cache->ranges[i]);
		if (c->options->json)
			mk_gen_open_array(&c->json, "frames");
		put_frames(c, c->cache->ranges[i]);
		if (c->options->json)
			mk_gen_close_array(&c->json);
		end(c);
	}
}

void mk_cache_data(struct mk_cache *c)
{
	struct mk_gen *g = &c->json;

	for (size_t i = 0; i < c->cache->num_data_symbols; i++) {
		const struct symcache_ext_data *d = &c->cache->data_symbols[i];
		const struct sc_str name = symcache_string(c->cache, d->name);
		struct symcache_file file = { 0 };

		if (d->file_idx != SYMCACHE_NONE)
			file = symcache_file(c->cache, d->file_idx);
		if (c->options->json) {
			mk_gen_open_map(g, NULL);
			mk_gen_string(g, "name", name.ptr, name.len);
			mk_gen_hex(g, "address", d->address);
			mk_gen_number(g, "size", d->size);
		} else {
			mk_out_printf(c->out, "0x%08" PRIx32 " %8" PRIu32 " ", d->address, d->size);
			put_text(c, name.ptr, name.len);
		}
		put_place(c, &file, d->line, 0);
		end(c);
	}
}

/* Of a range: names, each with its function and offset from the frame base. */
static void put_locals(struct mk_cache *c, uint32_t start)
{
	struct symcache_local local;
	uint32_t first = 0;
	const uint32_t n = symcache_locals_of(c->cache, start, &first);
	struct mk_gen *g = &c->json;

	for (uint32_t i = 0; i < n && symcache_local(c->cache, first + i, &local); i++) {
		if (c->options->json) {
			mk_gen_open_map(g, NULL);
			mk_gen_string(g, "function", local.function.ptr, local.function.len);
			mk_gen_string(g, "name", local.name.ptr, local.name.len);
			if (local.has_offset)
				mk_gen_signed(g, "offset", local.offset);
			mk_gen_close_map(g);
			continue;
		}
		mk_put(c->out, i ? ", " : " ");
		put_text(c, local.function.ptr, local.function.len);
		mk_put(c->out, ":");
		put_text(c, local.name.ptr, local.name.len);
		if (local.has_offset)
			mk_out_printf(c->out, "%+" PRId64, local.offset);
	}
	if (!n && !c->options->json)
		mk_put(c->out, " -");
}

void mk_cache_locals(struct mk_cache *c)
{
	for (size_t i = 0; i < c->cache->locals.num_ranges; i++) {
		const uint32_t start = c->cache->locals.ranges[i].start;

		begin(c, start);
		if (c->options->json)
			mk_gen_open_array(&c->json, "locals");
		put_locals(c, start);
		if (c->options->json)
			mk_gen_close_array(&c->json);
		end(c);
	}
}

void mk_cache_unwind(struct mk_cache *c)
{
	char text[2048];

	for (uint32_t i = 0; i < c->cache->unwind.num_starts; i++) {
		struct symcache_row row;
		uint32_t number;
		uint64_t start;

		if (!symcache_row_range(c->cache, i, &start, &number))
			break;
		if (symcache_get_row(c->cache, number, &row))
			symcache_row_text(c->cache, &row, text, sizeof(text));
		else
			strcpy(text, "-");
		begin(c, start);
		if (!c->options->json)
			mk_put(c->out, " ", text);
		else if (*text != '-')
			mk_gen_text(&c->json, "row", text);
		end(c);
	}
}
