/*
 * One ELF file → the layout of its cache: finds the debug file, loads the
 * sections, drives the reader and the flattening unit by unit, adds symbols.
 *
 * Facts live for one unit; what lasts are the tables, the flat ranges, and the
 * sections that the strings point into, until the build is destroyed.
 */
#include "libsymcache/symcache_build.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/build/arch.h"
#include "libsymcache/build/data.h"
#include "libsymcache/build/layout.h"
#include "libsymcache/dwarf/reader.h"
#include "libsymcache/elf/elf.h"
#include "libsymcache/elf/symbols.h"

struct symcache_build {
	struct sc_elf *image;  /* the file that was given */
	struct sc_elf *debug;  /* its separate debug file, or NULL */
	struct sc_elf_symbols symbols;
	VEC(struct sc_code_symbol) code_symbols;
	struct dw_sections sections;
	struct dw_libdw_reader *reader; /* the strings of the facts are its own */
	struct sc_tables tables;
	struct sc_flat flat;
	struct sc_final ranges;
	struct sc_data data;
	struct sc_layout *layout;
	struct symcache_build_info info;
};

void symcache_build_destroy(struct symcache_build *b)
{
	if (!b)
		return;
	sc_layout_destroy(b->layout);
	sc_data_deinit(&b->data);
	vec_deinit(&b->ranges.ranges);
	sc_flat_deinit(&b->flat);
	sc_tables_deinit(&b->tables);
	dw_libdw_close(b->reader);
	vec_deinit(&b->code_symbols);
	sc_elf_symbols_deinit(&b->symbols);
	sc_elf_close(b->debug);
	sc_elf_close(b->image);
	free(b);
}

static int out_of_memory(struct sc_error *err)
{
	return sc_error_set(err, SC_ENOMEM, "out of memory");
}

/* ---- input ------------------------------------------------------------------------- */

static int find_identity(struct sc_elf *elf, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len,
			 bool *derived)
{
	memset(id, 0, SYMCACHE_BUILD_ID_MAX);
	*derived = !elf->build_id_len;
	*len = elf->build_id_len;
	memcpy(id, elf->build_id, elf->build_id_len);
	if (*derived) {
		sc_elf_fold_text(elf, id);
		*len = 16;
	}
	return 0;
}

static int open_files(struct symcache_build *b, const char *path,
		      const struct symcache_build_options *o, struct sc_error *err)
{
	static const char *const default_dirs[] = { "/usr/lib/debug", NULL };
	int rc = sc_elf_open(path, &b->image, err);

	if (rc)
		return rc;
	if (b->image->type == ET_REL)
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "%s: a relocatable object, not yet linked", path);
	find_identity(b->image, b->info.build_id, &b->info.build_id_len,
		      &b->info.build_id_derived);
	b->info.load_base = b->image->load_base;
	if (!sc_elf_has(b->image, ".debug_info") && !o->no_debug_search &&
	    !sc_elf_find_debug(b->image, o->debug_dirs ? o->debug_dirs : default_dirs, &b->debug,
			       NULL))
		b->info.debug_path = b->debug->path;
	return 0;
}

static int read_symbols(struct symcache_build *b, struct sc_error *err)
{
	int rc = sc_elf_symbols(b->image, &b->symbols, err);

	/* A stripped image has .dynsym only; its debug file has the whole table. */
	if (!rc && b->debug && b->symbols.from_dynsym) {
		struct sc_elf_symbols better;
		rc = sc_elf_symbols(b->debug, &better, err);
		if (!rc && !better.from_dynsym) {
			struct sc_elf_symbols worse = b->symbols;
			b->symbols = better;
			better = worse;
		}
		if (!rc)
			sc_elf_symbols_deinit(&better);
	}
	if (rc)
		return rc;
	if (b->symbols.code.len || b->symbols.data.len)
		b->info.sources |= b->symbols.from_dynsym ? SYMCACHE_FROM_DYNSYM :
							    SYMCACHE_FROM_SYMTAB;
	for (size_t i = 0; i < b->symbols.code.len; i++) {
		const struct sc_elf_symbol *s = &b->symbols.code.data[i];
		const struct sc_elf_range *code = sc_elf_range_at(&b->image->exec, s->vaddr);
		uint64_t base = b->image->load_base, end;
		struct sc_code_symbol *c;

		if (!code)
			continue;
		if (s->vaddr < base || s->vaddr - base >= UINT32_MAX) {
			b->info.above_4g++;
			continue;
		}
		end = code->end - s->vaddr < s->size ? code->end : s->vaddr + s->size;
		if (end - base > UINT32_MAX)
			end = base + UINT32_MAX;
		if (end <= s->vaddr)
			continue;
		c = vec_push(&b->code_symbols);
		if (!c)
			return out_of_memory(err);
		*c = (struct sc_code_symbol){ s->vaddr, end, s->name };
	}
	return 0;
}

/* ---- DWARF --------------------------------------------------------------------------- */

static void note_fault(struct symcache_build *b, const struct sc_error *fault)
{
	if (!b->info.bad_units++)
		snprintf(b->info.first_fault, sizeof(b->info.first_fault), "%s", fault->msg);
}

/* A section that is damaged is a fault, and as good as absent. */
static void load(struct symcache_build *b, struct sc_elf *elf, const char *name,
		 struct dw_section *ret)
{
	struct sc_error fault;
	int rc = sc_elf_section(elf, name, &ret->data, &ret->size, &fault);

	if (rc && rc != SC_ENOTFOUND)
		note_fault(b, &fault);
}

static uint64_t code_end(const void *ctx, uint64_t vaddr)
{
	const struct symcache_build *b = ctx;
	const struct sc_elf_range *r = sc_elf_range_at(&b->image->exec, vaddr);

	return r ? r->end : 0;
}

static const char *symbol_at(const void *ctx, uint64_t vaddr)
{
	const struct symcache_build *b = ctx;
	size_t lo = 0, hi = b->symbols.code.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (b->symbols.code.data[mid].vaddr < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < b->symbols.code.len && b->symbols.code.data[lo].vaddr == vaddr ?
		b->symbols.code.data[lo].name : NULL;
}

static int flatten_units(struct symcache_build *b, struct dw_unit *unit,
			 struct sc_flattener *flattener, struct sc_error *err)
{
	struct sc_error fault;
	int rc;

	while ((rc = dw_libdw_next(b->reader, unit, &fault)) != SC_ENOTFOUND) {
		if (rc == SC_ENOMEM)
			return out_of_memory(err);
		b->info.units++;
		if (rc)
			note_fault(b, &fault);
		if (!sc_flatten(flattener, unit, &b->flat) ||
		    !sc_data_add_unit(&b->data, unit, &b->tables))
			return out_of_memory(err);
	}
	return 0;
}

static int read_dwarf(struct symcache_build *b, struct sc_error *err)
{
	struct sc_elf *elf = b->debug ? b->debug : b->image;
	struct sc_flatten_env env = { &b->tables, b->image->load_base, code_end, symbol_at, b };
	struct sc_flattener *flattener;
	struct dw_unit unit = {0};
	struct sc_error fault;
	int rc;

	if (!sc_elf_has(elf, ".debug_info"))
		return 0;
	load(b, elf, ".debug_line", &b->sections.line);
	load(b, elf, ".debug_str", &b->sections.str);
	load(b, elf, ".debug_line_str", &b->sections.line_str);
	b->sections.swap = elf->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	rc = dw_libdw_open(elf->fd, &b->sections, &b->reader, &fault);
	if (rc == SC_ENOMEM)
		return out_of_memory(err);
	if (rc) {
		note_fault(b, &fault);
		return 0;
	}
	b->info.sources |= SYMCACHE_FROM_DWARF;
	flattener = sc_flattener_create(&env);
	rc = flattener ? flatten_units(b, &unit, flattener, err) : out_of_memory(err);
	sc_flattener_destroy(flattener);
	dw_unit_deinit(&unit);
	return rc;
}

/* ---- the file -------------------------------------------------------------------------- */

/* UUID of a build ID: 16 bytes, and on little-endian images the first three
 * groups in reverse (they are integers to Microsoft's GUID). */
static void debug_uuid(const uint8_t *id, size_t len, bool big_endian, uint8_t uuid[16])
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; i < 16; i++) {
		size_t from = big_endian ? i : little[i];
		uuid[i] = from < len ? id[from] : 0;
	}
}

static int lay_out(struct symcache_build *b, uint32_t version, struct sc_error *err)
{
	struct sc_elf *e = b->image;
	struct sc_content c = {
		.version = version,
		.arch = sc_arch_of_elf(e->machine, e->is_64),
		.tables = &b->tables,
		.ranges = &b->ranges,
		.data = &b->data.symbols,
		.image = {
			.load_base = e->load_base,
			.image_size = e->load_end - e->load_base,
			.machine = e->machine,
			.elf_type = e->type,
			.elf_class = e->is_64 ? 64 : 32,
			.big_endian = e->big_endian,
			.build_id_derived = b->info.build_id_derived,
			.build_id_len = (uint8_t)b->info.build_id_len,
			.sources = b->info.sources,
		},
	};
	struct sc_layout_counts n;
	int rc;

	memcpy(c.image.build_id, b->info.build_id, sizeof(c.image.build_id));
	debug_uuid(b->info.build_id, b->info.build_id_len, e->big_endian, c.debug_uuid);
	if (!sc_table_string(&b->tables, sc_elf_soname(e), &c.image.soname) ||
	    !sc_table_string(&b->tables, symcache_version, &c.image.writer))
		return out_of_memory(err);
	rc = sc_layout_create(&c, &b->layout, err);
	if (rc)
		return rc;
	n = sc_layout_counts(b->layout);
	b->info.functions = n.functions;
	b->info.files = n.files;
	b->info.ranges = n.ranges;
	b->info.source_locations = n.source_locations;
	b->info.string_bytes = n.string_bytes;
	b->info.data_symbols = b->data.symbols.list.len;
	b->info.merged_ranges = b->flat.merged;
	b->info.above_4g += b->flat.too_far + b->data.too_far;
	return 0;
}

static int build(struct symcache_build *b, const char *path,
		 const struct symcache_build_options *o, struct sc_error *err)
{
	uint32_t version = o->format_version ? o->format_version : SYMCACHE_VERSION_MAX;
	int rc;

	if (version < SYMCACHE_VERSION_MIN || version > SYMCACHE_VERSION_MAX)
		return sc_error_set(err, SC_EINVAL, "format version %u is not one of 7, 8, 9",
				    version);
	rc = open_files(b, path, o, err);
	if (!rc)
		rc = read_symbols(b, err);
	if (!rc)
		rc = read_dwarf(b, err);
	if (rc)
		return rc;
	if (!sc_assemble(&b->flat, b->code_symbols.data, b->code_symbols.len,
			 b->image->load_base, &b->tables, &b->ranges) ||
	    !sc_data_finish(&b->data, &b->symbols, b->image, &b->tables))
		return out_of_memory(err);
	if (!b->ranges.ranges.len && !b->data.symbols.list.len) {
		if (b->info.bad_units)
			return sc_error_set(err, SC_EFORMAT, "%s: %s", path,
					    b->info.first_fault);
		return sc_error_set(err, SC_ENOSYMBOLS, "%s: no debug information and no symbols",
				    path);
	}
	return lay_out(b, version, err);
}

int symcache_build_create(const char *path, const struct symcache_build_options *options,
			  struct symcache_build **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	struct symcache_build *b = calloc(1, sizeof(*b));
	int rc;

	*ret = NULL;
	if (!b)
		return out_of_memory(err);
	rc = build(b, path, options ? options : &defaults, err);
	if (rc) {
		symcache_build_destroy(b);
		return rc;
	}
	*ret = b;
	return 0;
}

const struct symcache_build_info *symcache_build_info(const struct symcache_build *b)
{
	return &b->info;
}

size_t symcache_build_size(const struct symcache_build *b)
{
	return sc_layout_counts(b->layout).size;
}

void symcache_build_write(const struct symcache_build *b, void *dst)
{
	sc_layout_write(b->layout, dst);
}

int symcache_elf_build_id(const char *path, uint8_t build_id[SYMCACHE_BUILD_ID_MAX],
			  size_t *build_id_len, bool *derived, struct sc_error *err)
{
	struct sc_elf *elf;
	int rc = sc_elf_open(path, &elf, err);

	if (rc)
		return rc;
	rc = find_identity(elf, build_id, build_id_len, derived);
	sc_elf_close(elf);
	return rc;
}
