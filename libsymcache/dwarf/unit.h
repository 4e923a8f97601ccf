/*
 * The units of a .debug_info section: headers, abbreviations, and what the root
 * entry says that the values of other entries depend on.
 */
#ifndef DW_UNIT_H
#define DW_UNIT_H

#include <dwarf.h>

#include "libsymcache/dwarf/abbrev.h"
#include "libsymcache/dwarf/form.h"

/* An attribute as its form has it; form 0: the entry has no such attribute. */
struct dw_value {
	uint64_t number;
	const uint8_t *bytes;
	uint16_t form;
};

struct dw_unit {
	const struct dw_debug *debug; /* the file it stands in */
	uint64_t offset, end;       /* in .debug_info */
	uint64_t first_entry;       /* the root entry */
	struct dw_form_sizes sizes;
	uint8_t type;               /* DW_UT_… */
	uint64_t id;                /* of split and skeleton units, or a type's signature */
	uint64_t type_offset;       /* of type units: the type, in .debug_info */
	bool broken;                /* root entry unreadable: nothing else is read */
	const struct dw_abbrevs *abbrevs;
	uint64_t abbrev_offset;
	bool partly;                /* `abbrevs` has the root's alone: dw_unit_complete() */
	/* Of the root entry: */
	uint16_t tag;               /* 0: there is no entry */
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;
	uint64_t base_vaddr;        /* DW_AT_low_pc, else DW_AT_entry_pc, else 0 */
	uint32_t lang;              /* DW_LANG_… or 0 */
	uint64_t stmt_list;
	bool has_stmt_list;
	const char *comp_dir;
	const char *split_name;     /* DW_AT_dwo_name of a skeleton unit, else NULL */
	/* Of a split unit: the unit of the linked file that stands for it, has
	 * its line rows and says where its addresses are; else NULL. */
	const struct dw_unit *skeleton;
};

struct dw_split_source; /* split.h */

/* A compiled abbreviation table, shared by units of one kind. */
struct dw_abbrev_cache {
	uint64_t offset;
	struct dw_form_sizes sizes;
	struct dw_abbrevs *abbrevs;
};

struct dw_signature {
	uint64_t signature;
	size_t unit;
};

enum { DW_KINDS = 3 };

/* The debug information of one file. */
struct dw_debug {
	struct dw_sections sections;
	VEC(struct dw_unit) units;      /* ascending by offset */
	VEC(struct dw_abbrev_cache) abbrevs;
	struct sc_intern abbrev_set;
	struct dw_abbrev_pool abbrev_pool;
	uint64_t abbrev_records;               /* abbreviations and steps in all tables */
	/* Where tables begin that do not overlap: of these, abbreviations are read when they are
	 * needed; NULL: at once. */
	const struct dw_abbrev_starts *abbrev_starts;
	struct dw_form_sizes kinds[DW_KINDS];  /* of the units read that way */
	unsigned num_kinds;
	uint64_t line_bytes;                   /* of the line tables of all units */
	VEC(struct dw_signature) signatures;   /* of type units, ascending */
	struct dw_debug *types;                /* owned: those of .debug_types, or NULL */
	bool is_types;                         /* it is such a one itself */
	const struct dw_debug *alt;            /* the .gnu_debugaltlink file, or NULL */
	const struct dw_split_source *split;   /* finds split units; NULL: none are read */
	uint64_t next;                         /* offset behind the last header read */
	uint64_t faults;                       /* broken unit headers */
	struct sc_error first_fault;
};

/* Reads all unit headers and root entries. A broken header is a fault and ends
 * the list, since the next one cannot be found; a broken root entry is a fault
 * of its unit. SC_ENOMEM. `d->sections` must be set. */
int dw_debug_read(struct dw_debug *d, struct sc_error *err);

/* The same for the units that end within the first `ready` bytes of .debug_info, from
 * where the last call stopped; type units are not listed. For sections that are still
 * being inflated. */
int dw_debug_read_more(struct dw_debug *d, uint64_t ready, struct sc_error *err);
void dw_debug_deinit(struct dw_debug *d);

/* Reads the rest of its abbreviations, into the memory of the caller. SC_ENOMEM. */
int dw_unit_complete(struct dw_unit *u, struct dw_abbrev_pool *pool, struct dw_abbrevs *ret,
		     struct sc_error *err);

/* Reads the attributes of the entry at *c (its code is read already) into
 * values[DW_NUM_SLOTS]; only slots the abbreviation has are written. */
void dw_read_attributes(struct dw_cursor *c, const struct dw_unit *u,
			const struct dw_abbrev *abbrev, struct dw_value *values);

/* Sets what dw_read_attributes() wrote back to absent, in values[DW_NUM_OPS]: those behind the
 * slots are for what is stepped over. Cheaper than all slots. */
void dw_clear_attributes(const struct dw_abbrev *abbrev, struct dw_value *values);

/* Steps over the attributes of an entry. */
void dw_skip_attributes(struct dw_cursor *c, const struct dw_unit *u,
			const struct dw_abbrev *abbrev);

/* Resolve a value. NULL or false: absent, or not of that class. */
const char *dw_value_string(const struct dw_unit *u, const struct dw_value *v);
bool dw_value_address(const struct dw_unit *u, const struct dw_value *v, uint64_t *ret);

static inline bool dw_value_number(const struct dw_value *v, uint64_t *ret)
{
	const uint64_t numbers = 1ull << DW_FORM_data1 | 1ull << DW_FORM_data2 |
		1ull << DW_FORM_data4 | 1ull << DW_FORM_data8 | 1ull << DW_FORM_udata |
		1ull << DW_FORM_sdata | 1ull << DW_FORM_implicit_const |
		1ull << DW_FORM_sec_offset | 1ull << DW_FORM_rnglistx;

	if (v->form >= 64 || !(numbers >> v->form & 1))
		return false;
	*ret = v->number;
	return true;
}

/* The entry that a reference leads to: its unit and offset. */
const struct dw_unit *dw_value_reference(const struct dw_unit *u,
					 const struct dw_value *v, uint64_t *offset);

/* A cursor over the unit's entries, at `offset` of .debug_info. */
struct dw_cursor dw_entry_cursor(const struct dw_unit *u, uint64_t offset);

/* The address with this index in .debug_addr (DWARF 5, 7.27). */
bool dw_indexed_address(const struct dw_unit *u, uint64_t index, uint64_t *ret);

#endif
