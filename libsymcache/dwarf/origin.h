/*
 * Names and declarations of entries, collected through DW_AT_abstract_origin
 * and DW_AT_specification, wherever those lead: into the unit, into others
 * (LTO), into the supplementary file (dwz).
 */
#ifndef DW_ORIGIN_H
#define DW_ORIGIN_H

#include "libsymcache/base/intern.h"
#include "libsymcache/dwarf/unit.h"

/* What a chain of entries says; of each fact the first entry that has it. */
struct dw_origin {
	const char *linkage_name, *mips_linkage_name, *name;
	const struct dw_unit *name_unit; /* of the entry that gave `name`; NULL: none */
	uint64_t name_at;        /* where that entry is, in .debug_info */
	uint32_t name_lang;      /* language of the unit that gave the name; 0: unknown */
	uint32_t decl_line;      /* 0: unknown */
	const struct dw_unit *decl_unit; /* whose file number it is; NULL: none */
	uint64_t decl_file;
	const struct dw_unit *type_unit; /* NULL: none */
	uint64_t type;           /* offset of the type entry */
};

/* The name to show: linkage name, else name; NULL: none. */
const char *dw_origin_name(const struct dw_origin *o);

/* Remembers origins of one unit: a function inlined a hundred times is read
 * once. Cleared in constant time. */
struct dw_origin_memo {
	VEC(struct dw_origin_slot) slots; /* a power of two, or none */
	VEC(struct dw_origin_target) targets;
	uint32_t generation;
	uint64_t bytes_left; /* that references of the unit may still lead to */
	struct dw_value values[DW_NUM_OPS]; /* all absent between entries */
};

/* Small, so that most of a unit's stay in the core's cache. */
struct dw_origin_slot {
	uint64_t offset;
	uint32_t generation; /* of another one: free */
	uint32_t target;
};

struct dw_origin_target {
	const struct dw_unit *unit;
	struct dw_origin origin;
};

/* For unit `u`, which is read next. */
void dw_origin_memo_clear(struct dw_origin_memo *m, const struct dw_unit *u);
void dw_origin_memo_deinit(struct dw_origin_memo *m);

/* Fills `ret` for an entry of unit `u`, at `offset`, with these attributes. False: out of
 * memory. Chains are followed 16 steps at most: they may be cycles; and only as long as
 * there are bytes left: many of them may lead to the same long strings. */
bool dw_origin_read(struct dw_origin_memo *m, const struct dw_unit *u, uint64_t offset,
		    const struct dw_value *values, struct dw_origin *ret);

/* The same for an entry whose attributes are not read yet; *ret lives until the next call. */
bool dw_origin_at(struct dw_origin_memo *m, const struct dw_unit *u, uint64_t offset,
		  const struct dw_origin **ret);

#endif
