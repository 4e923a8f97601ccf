/* Why an address has the answer it has: see libsymcache/write/explain.h. */
#include "libsymcache/write/explain.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/read/rows.h"

/* ---- the cache ------------------------------------------------------------------------ */

static void find_range(const struct symcache *c, uint64_t rel_pc, struct symcache_why *ret)
{
	const uint32_t range = symcache_range_of(c, rel_pc);
	bool last;

	if (range == SYMCACHE_NONE)
		return;
	last = range + 1 == c->header->num_ranges;
	if (!symcache_valid(c, &c->ranges[range], (last ? 1 : 2) * sizeof(*c->ranges)))
		return;
	ret->in_range = true;
	ret->range = range;
	ret->range_start = c->ranges[range];
	ret->range_end = last ? SYMCACHE_NONE : c->ranges[range + 1];
}

/* ---- the symbol table -------------------------------------------------------------------- */

/* `symtab`: whose a .symtab would be. */
static const char *table_of(const struct symcache *c, const char *symtab, bool has_symbol,
			    bool has_code)
{
	const uint32_t sources = c->image ? c->image->sources : 0;

	if (!has_symbol)
		return !has_code ? NULL : sources & SYMCACHE_FROM_NAMES ? "the cache of names alone" :
		       sources & SYMCACHE_FROM_GO ? "Go's .gopclntab" : "the DWARF";
	if (sources & SYMCACHE_FROM_SYMTAB)
		return symtab;
	return sources & SYMCACHE_FROM_MINIDEBUGINFO ? "MiniDebugInfo" :
	       sources & SYMCACHE_FROM_DYNSYM ? "the file's own .dynsym" : "the symbol table";
}

/* Which table has the say, and what the file's own one has there. */
static void find_table(const struct symcache_why_request *r, struct symcache_why *ret)
{
	const struct symcache *c = r->cache;
	struct symcache_symbol_table *own = NULL;
	struct symcache_named_symbol symbol;
	struct sc_error err;
	const bool fails = *r->elf_files && symcache_symbol_table_open(*r->elf_files, &own, &err);
	const bool of_file = own && !symcache_symbol_table_is_dynamic(own);

	ret->table = table_of(c, of_file ? "the file's own .symtab" :
			      fails ? "a .symtab" : "the debug file's .symtab",
			      ret->has_symbol, ret->has_code);
	if (own && !of_file && c->image && c->image->sources & SYMCACHE_FROM_SYMTAB) {
		ret->own_table = ".dynsym";
		if (symcache_symbol_table_find(own, r->vaddr, &symbol) &&
		    !(ret->own_name = sc_text("%s", symbol.name)))
			sc_memory_refused();
	}
	symcache_symbol_table_close(own);
}

/* ---- the debug information ----------------------------------------------------------- */

/* Is the file at `path` that of the cache? SC_EINVAL: it is another one by now; else as
 * symcache_elf_build_id(). */
static int check_id(const struct symcache *c, const char *path, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;
	bool derived;
	int rc = symcache_elf_build_id(path, id, &len, &derived, err);

	if (rc || !c->image ||
	    (c->image->build_id_len == len && !memcmp(c->image->build_id, id, len)))
		return rc;
	return sc_error_set(err, SC_EINVAL, "%s: has another build ID by now", path);
}

char *symcache_debug_file(const struct symcache *cache, const char *const *elf_files,
			  const char *const *debug_dirs, struct sc_error *err)
{
	const struct symcache_ext_image *image = cache->image;
	const char *found = NULL;
	char path[PATH_MAX], *ret;

	sc_error_set(err, SC_ENOTFOUND, "no debug file of this build ID; name its folder with "
		     "--debug-file-directory");
	for (const char *const *file = elf_files; *file && !found; file++)
		if (!check_id(cache, *file, err))
			found = *file;
	for (const char *const *dir = debug_dirs ? debug_dirs : symcache_debug_dirs;
	     *dir && !found && image && !image->build_id_derived; dir++)
		if (symcache_build_id_path(path, sizeof(path), *dir, image->build_id,
					   image->build_id_len) &&
		    !access(path, R_OK) && !check_id(cache, path, NULL))
			found = path;
	ret = found ? sc_text("%s", found) : NULL;
	if (found && !ret)
		sc_no_memory(err);
	return ret;
}

static void find_dwarf(const struct symcache_why_request *r, struct symcache_why *ret)
{
	struct symcache_build_options options = { .debug_dirs = r->debug_dirs };
	char *path __attribute__((cleanup(sc_free_text))) =
		symcache_debug_file(r->cache, r->elf_files, r->debug_dirs, &ret->missing);

	if (!path || symcache_explain(path, &options, r->vaddr, &ret->dwarf, &ret->missing) ||
	    ret->dwarf->path)
		return;
	sc_error_set(&ret->missing, SC_ENOSYMBOLS, "%s: has no debug information, nor has a file that "
		     "belongs to it", path);
	symcache_explanation_destroy(ret->dwarf);
	ret->dwarf = NULL;
}

/* The row of the unwind information, in words. */
static void find_unwind(const struct symcache *cache, uint64_t rel_pc, struct symcache_why *ret)
{
	struct symcache_row row;
	uint32_t next;
	size_t len;

	if (!symcache_find_row(cache, rel_pc, &row) ||
	    !symcache_row_range(cache, row.range, &ret->unwind_start, &next) ||
	    !symcache_row_range(cache, row.range + 1, &ret->unwind_end, &next))
		return;
	len = symcache_row_text(cache, &row, NULL, 0);
	ret->unwind = malloc(len + 1);
	if (ret->unwind)
		symcache_row_text(cache, &row, ret->unwind, len + 1);
	else
		sc_memory_refused();
}

bool symcache_why(const struct symcache_why_request *r, struct symcache_why *ret)
{
	uint64_t base = symcache_load_base(r->cache), rel_pc = r->vaddr - base;
	struct symcache_frames frames;

	*ret = (struct symcache_why){ 0 };
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

void symcache_why_deinit(struct symcache_why *w)
{
	symcache_explanation_destroy(w->dwarf);
	free(w->unwind);
	free(w->own_name);
}
