/*
 * Data symbols: the symbol table says what is where and how large, the DWARF
 * where it is declared, and what the table lacks. And the table as it stands.
 */
#ifndef SC_DATA_H
#define SC_DATA_H

#include "libsymcache/write/image/layout.h"
#include "libsymcache/write/flatten/tables.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/elf/symbols.h"

struct sc_data_variable {
	uint64_t vaddr, size;
	uint32_t unit;      /* index of its unit */
	uint32_t name;      /* string number */
	uint32_t decl_file; /* file number or SC_NONE */
	uint32_t decl_line;
};

struct sc_data {
	VEC(struct sc_data_variable) variables; /* of the DWARF */
	struct sc_data_symbols symbols;         /* what sc_data_finish() makes */
	struct sc_table_symbols table;          /* this */
	struct sc_aliases aliases;              /* and these */
	uint64_t too_far;                       /* left out: out of reach of a u32 */
};

/* Both: false is out of memory. */
bool sc_data_add_unit(struct sc_data *d, const struct dw_facts *unit, uint32_t index,
		      struct sc_tables *t);
bool sc_data_finish(struct sc_data *d, const struct sc_elf_symbols *symbols,
		    const struct sc_elf *image, struct sc_tables *t);
void sc_data_deinit(struct sc_data *d);

#endif
