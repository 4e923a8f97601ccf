/*
 * Tables and ranges → the bytes of a SymCache file (format/symcache.md).
 *
 * Records are renumbered by their first use in address order, so that what is
 * looked up together lies together; what is not used is left out. The bytes
 * depend on the content of the tables alone, not on their order.
 */
#ifndef SC_LAYOUT_H
#define SC_LAYOUT_H

#include "format/symcache_format.h"
#include "libsymcache/base/error.h"
#include "libsymcache/elf/elf.h"
#include "libsymcache/unwind/rows.h"
#include "libsymcache/write/flatten/assemble.h"
#include "libsymcache/write/image/locals.h"
#include "libsymcache/write/image/starts.h"

/* A data symbol: relative start, size, names by number. */
struct sc_data_symbol {
	uint32_t start, size;
	uint32_t name;            /* string number */
	uint32_t decl_file;       /* file number or SC_NONE */
	uint32_t decl_line;
};

struct sc_data_symbols {
	VEC(struct sc_data_symbol) list; /* ascending by start, then size */
};

/* A symbol of the table: relative start. */
struct sc_table_symbol {
	uint32_t start, size;
	uint32_t name, file; /* string numbers; file may be SC_NONE */
};

struct sc_table_symbols {
	VEC(struct sc_table_symbol) list; /* ascending by start, one for each */
};

/* Another name of what begins at an address. */
struct sc_alias {
	uint32_t start, name; /* relative; string number */
};

struct sc_aliases {
	VEC(struct sc_alias) list; /* of the symbol table, in any order */
};

/* Everything a file is made of. All of it is borrowed. */
struct sc_content {
	uint32_t version;             /* 7, 8 or 9 */
	uint8_t debug_uuid[16];
	uint32_t arch;
	const struct sc_tables *tables;
	const struct sc_final *ranges;
	const struct sc_data_symbols *data;
	const struct sc_table_symbols *symbols;
	const struct sc_aliases *aliases;
	const struct sc_elf_segment *segments; /* SC_SEGMENTS_MAX at most */
	size_t num_segments;
	const struct sc_starts *starts;       /* of the calls; NULL: unknown */
	const struct sc_locals *locals;       /* NULL: no sections LOC… */
	const struct symcache_unwind *unwind; /* NULL: no sections UNW… */
	struct symcache_ext_image image; /* soname and writer are string numbers here */
};

struct sc_layout;

/* SC_ELIMIT: the strings do not fit into 4 GiB; SC_ENOMEM. */
int sc_layout_create(const struct sc_content *content, struct sc_layout **ret,
		     struct sc_error *err);
void sc_layout_destroy(struct sc_layout *l); /* NULL is fine */

struct sc_layout_counts {
	size_t size;         /* of the file */
	uint32_t files, functions, source_locations, ranges, string_bytes;
};
struct sc_layout_counts sc_layout_counts(const struct sc_layout *l);

/* Writes the file to dst[0, counts.size), which is 8-aligned; returns its XXH3-64. */
uint64_t sc_layout_write(const struct sc_layout *l, unsigned threads, uint8_t *dst);

#endif
