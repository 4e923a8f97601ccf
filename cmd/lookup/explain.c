/* lookup --explain: see explain.h. Cost: that of indexing the debug file. */
#include "cmd/lookup/explain.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "symcache/rows.h"
#include "symcache/build_id.h"
#include "symcache/symcache.h"

/* ---- the cache ------------------------------------------------------------------------ */

static void find_range(const struct symcache *c, uint64_t rel_pc, struct explained *ret)
{
	const uint32_t range = symcache_range_of(c, rel_pc);
	bool last;

	if (range == SYMCACHE_NONE)
		return;
	last = range + 1 == c->header->num_ranges;
	if (!symcache_sound(c, &c->ranges[range], (last ? 1 : 2) * sizeof(*c->ranges)))
		return;
	ret->in_range = true;
	ret->range = range;
	ret->range_start = c->ranges[range];
	ret->range_end = last ? SYMCACHE_NONE : c->ranges[range + 1];
}

/* ---- the symbol table -------------------------------------------------------------------- */

static const char *table_of(const struct symcache *c, bool of_file, bool has_symbol, bool has_code)
{
	const uint32_t sources = c->image ? c->image->sources : 0;

	if (!has_symbol)
		return has_code ? "the DWARF" : NULL;
	if (sources & SYMCACHE_FROM_SYMTAB)
		return of_file ? "the file's own .symtab" : "the debug file's .symtab";
	return sources & SYMCACHE_FROM_MINIDEBUGINFO ? "MiniDebugInfo" :
	       sources & SYMCACHE_FROM_DYNSYM ? "the file's own .dynsym" : "the symbol table";
}

/* Which table has the say, and what the file's own one has there. */
static void find_table(const struct explain_request *r, struct explained *ret)
{
	const struct symcache *c = r->cache;
	struct symcache_symbol_table *own = NULL;
	struct symcache_named_symbol symbol;
	struct sc_error err;
	bool of_file = false;

	if (*r->elf_files && !symcache_symbol_table_open(*r->elf_files, &own, &err))
		of_file = !symcache_symbol_table_is_dynamic(own);
	ret->table = table_of(c, of_file, ret->has_symbol, ret->has_code);
	if (own && !of_file && c->image && c->image->sources & SYMCACHE_FROM_SYMTAB) {
		ret->own_table = ".dynsym";
		if (symcache_symbol_table_find(own, r->vaddr, &symbol))
			ret->own_name = must_asprintf("%s", symbol.name);
	}
	symcache_symbol_table_close(own);
}

/* ---- the debug information ----------------------------------------------------------- */

/* Is the file at `path` that of the cache? If not, *why says so. */
static bool is_it(const struct symcache *c, const char *path, char **why)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error err;
	size_t len;
	bool derived, same;

	free(*why);
	*why = NULL;
	if (symcache_elf_build_id(path, id, &len, &derived, &err)) {
		*why = must_asprintf("%s", err.msg);
		return false;
	}
	same = !c->image || (c->image->build_id_len == len && !memcmp(c->image->build_id, id, len));
	if (!same)
		*why = must_asprintf("%s: has another build ID by now", path);
	return same;
}

char *explain_find_file(const struct symcache *cache, const char *const *elf_files,
			const char *const *debug_dirs, char **why)
{
	const struct symcache_ext_image *image = cache->image;
	char path[PATH_MAX], *ignored = NULL;
	bool good = false;

	for (const char *const *file = elf_files; *file; file++)
		if (is_it(cache, *file, why))
			return must_asprintf("%s", *file);
	for (const char *const *dir = debug_dirs ? debug_dirs : symcache_debug_dirs;
	     *dir && !good && image && !image->build_id_derived; dir++)
		good = symcache_build_id_path(path, sizeof(path), *dir, image->build_id,
					      image->build_id_len) &&
		       !access(path, R_OK) && is_it(cache, path, &ignored);
	free(ignored);
	if (good)
		return must_asprintf("%s", path);
	if (!*why)
		*why = must_asprintf("no debug file of this build ID; name its folder with "
				     "--debug-file-directory");
	return NULL;
}

static void find_dwarf(const struct explain_request *r, struct explained *ret)
{
	struct symcache_build_options options = { .debug_dirs = r->debug_dirs };
	struct sc_error err;
	char *path = explain_find_file(r->cache, r->elf_files, r->debug_dirs, &ret->missing);

	if (!path)
		return;
	free(ret->missing);
	ret->missing = NULL;
	if (symcache_explain(path, &options, r->vaddr, &ret->dwarf, &err)) {
		ret->missing = must_asprintf("%s", err.msg);
	} else if (!ret->dwarf->path) {
		ret->missing = must_asprintf("%s: has no debug information, nor has a file that "
					     "belongs to it", path);
		symcache_explanation_destroy(ret->dwarf);
		ret->dwarf = NULL;
	}
	free(path);
}

/* The row of the unwind information, in words. */
static void find_unwind(const struct symcache *cache, uint64_t rel_pc, struct explained *ret)
{
	struct symcache_row row;
	uint32_t next;
	size_t len;

	if (!symcache_find_row(cache, rel_pc, &row) ||
	    !symcache_row_range(cache, row.range, &ret->unwind_start, &next) ||
	    !symcache_row_range(cache, row.range + 1, &ret->unwind_end, &next))
		return;
	len = symcache_row_text(cache, &row, NULL, 0);
	ret->unwind = must_calloc(len + 1, 1);
	symcache_row_text(cache, &row, ret->unwind, len + 1);
}

bool explain_find(const struct explain_request *r, struct explained *ret)
{
	uint64_t base = symcache_load_base(r->cache), rel_pc = r->vaddr - base;
	struct symcache_frames frames;

	*ret = (struct explained){ .request = r };
	if (r->vaddr >= base) {
		find_range(r->cache, rel_pc, ret);
		ret->has_code = symcache_lookup(r->cache, rel_pc, &frames);
		ret->has_symbol = symcache_lookup_symbol(r->cache, rel_pc, &ret->symbol);
		find_unwind(r->cache, rel_pc, ret);
	}
	find_table(r, ret);
	find_dwarf(r, ret);
	return ret->has_code || ret->has_symbol;
}

void explain_deinit(struct explained *e)
{
	symcache_explanation_destroy(e->dwarf);
	free(e->missing);
	free(e->unwind);
	free(e->own_name);
}

/* ---- words ---------------------------------------------------------------------------- */

char *explain_name(const struct explained *e, struct symcache_str name, uint32_t lang)
{
	struct symcache_str shown;

	if (!name.len)
		return must_asprintf("??");
	shown = symcache_show_name(e->request->symbolizer, name, lang);
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
