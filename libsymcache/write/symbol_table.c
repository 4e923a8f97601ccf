/*
 * The symbol table of one ELF file, for naming addresses: see build.h. Names are
 * borrowed from the file, which stays mapped.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/search.h"
#include "libsymcache/elf/nearest.h"
#include "libsymcache/elf/symbols.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/input/input.h"

struct symcache_symbol_table {
	struct sc_elf *elf;
	struct sc_elf_symbols symbols;
};

static int open_table(const char *path, bool dynamic_only, struct symcache_symbol_table **ret,
		      struct sc_error *err)
{
	struct symcache_symbol_table *t = calloc(1, sizeof(*t));
	int rc;

	*ret = NULL;
	if (!t)
		return sc_no_memory(err);
	rc = sc_elf_open(path, &t->elf, err);
	if (!rc && dynamic_only && sc_elf_has(t->elf, ".symtab")) {
		symcache_symbol_table_close(t);
		return 0;
	}
	if (!rc)
		rc = sc_elf_symbols(t->elf, &t->symbols, err);
	if (rc)
		symcache_symbol_table_close(t);
	else
		*ret = t;
	return rc;
}

int symcache_symbol_table_open(const char *path, struct symcache_symbol_table **ret,
			       struct sc_error *err)
{
	return open_table(path, false, ret, err);
}

int symcache_symbol_table_open_dynamic(const char *path, struct symcache_symbol_table **ret,
				       struct sc_error *err)
{
	return open_table(path, true, ret, err);
}

int symcache_symbol_names_check(const char *path, struct sc_error *err)
{
	uint64_t bad, size;
	struct sc_elf *elf;
	int rc = sc_elf_open(path, &elf, err);

	if (rc)
		return rc;
	if (!sc_elf_symbol_names(elf, &bad, &size))
		rc = sc_error_set(err, SC_EFORMAT, "st_name (0x%llx) is past the end of the string "
				  "table of size 0x%llx", (unsigned long long)bad,
				  (unsigned long long)size);
	sc_elf_close(elf);
	return rc;
}

void symcache_symbol_table_close(struct symcache_symbol_table *t)
{
	if (!t)
		return;
	sc_elf_symbols_deinit(&t->symbols);
	sc_elf_close(t->elf);
	free(t);
}

bool symcache_symbol_table_is_dynamic(const struct symcache_symbol_table *t)
{
	return t->symbols.from_dynsym;
}

bool symcache_symbol_table_find(const struct symcache_symbol_table *t, uint64_t vaddr,
				struct symcache_named_symbol *ret)
{
	const struct sc_elf_symbol *s = t->symbols.all.data;
	const size_t n = SC_SEARCH(i, t->symbols.all.len, s[i].vaddr <= vaddr);

	if (!n || (s[n - 1].size && vaddr - s[n - 1].vaddr >= s[n - 1].size))
		return false;
	s += n - 1;
	*ret = (struct symcache_named_symbol){ s->name, s->file, s->vaddr, s->size, s->tagged };
	return true;
}

int symcache_elf_section(const char *path, const char *name, uint64_t *vaddr,
			 struct sc_error *err)
{
	struct sc_elf *elf;
	int rc = sc_elf_open(path, &elf, err);

	if (rc)
		return rc;
	if (!sc_elf_section_start(elf, name, vaddr))
		rc = sc_error_set(err, SC_ENOTFOUND, "%.100s: there is no section %.100s", path,
				  name);
	sc_elf_close(elf);
	return rc;
}

/* ---- the nearest symbol ------------------------------------------------------------------- */

struct symcache_nearest {
	struct sc_input input;
	struct sc_elf_nearest *symbols;
};

void symcache_nearest_close(struct symcache_nearest *n)
{
	if (!n)
		return;
	sc_elf_nearest_destroy(n->symbols);
	sc_input_close(&n->input);
	free(n);
}

int symcache_nearest_open(const char *path, const struct symcache_build_options *options,
			  struct symcache_nearest **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	struct symcache_nearest *n = calloc(1, sizeof(*n));
	struct sc_elf *image;
	int rc;

	*ret = NULL;
	if (!n)
		return sc_no_memory(err);
	rc = sc_input_open(&n->input, path, options ? options : &defaults, err);
	image = n->input.image;
	if (!rc) {
		n->symbols = sc_elf_nearest_create(image, n->input.separate ? n->input.separate :
						   image);
		rc = n->symbols ? 0 : sc_no_memory(err);
	}
	if (rc)
		symcache_nearest_close(n);
	else
		*ret = n;
	return rc;
}

bool symcache_nearest_find(const struct symcache_nearest *n, uint64_t vaddr,
			   struct symcache_named_symbol *ret)
{
	*ret = (struct symcache_named_symbol){ .name = NULL };
	sc_elf_nearest_find(n->symbols, vaddr, &ret->name, &ret->file);
	return sc_elf_nearest_loaded(n->symbols, vaddr);
}
