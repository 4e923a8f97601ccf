/*
 * Abbreviation tables (.debug_abbrev), compiled for one purpose: to step over
 * entries fast, and to stop at those that matter.
 *
 * An abbreviation's attributes become a short program. Runs of attributes that
 * no one asks for and whose forms have a fixed size are one step:
 *
 *   DW_AT_type ref4, DW_AT_decl_file data1, DW_AT_sibling ref4  →  skip 9 bytes
 *
 * Most entries are not looked at: what a walk needs of them is a word, DW_STEP_….
 *
 * Each unit brings a table of its own, but few abbreviations are new: the 315,000 of a
 * kernel are 8,500 different ones. Each of those is compiled and kept once, in a pool.
 */
#ifndef DW_ABBREV_H
#define DW_ABBREV_H

#include <dwarf.h>

#include "libsymcache/base/error.h"
#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/dwarf/form.h"
#include "libsymcache/dwarf/sections.h"

/* Attributes that elfutils' dwarf.h lacks. */
#define DW_AT_GNU_discriminator 0x2136 /* LLVM's */

/* What an attribute is for; everything else is stepped over. */
enum dw_slot {
	DW_SLOT_NAME,
	DW_SLOT_LINKAGE_NAME,
	DW_SLOT_MIPS_LINKAGE_NAME,
	DW_SLOT_ABSTRACT_ORIGIN,
	DW_SLOT_SPECIFICATION,
	DW_SLOT_LOW_PC,
	DW_SLOT_HIGH_PC,
	DW_SLOT_RANGES,
	DW_SLOT_DECL_FILE,
	DW_SLOT_DECL_LINE,
	DW_SLOT_CALL_FILE,
	DW_SLOT_CALL_LINE,
	DW_SLOT_CALL_COLUMN,
	DW_SLOT_DISCRIMINATOR,
	DW_SLOT_LOCATION,
	DW_SLOT_TYPE,
	DW_SLOT_BYTE_SIZE,
	DW_SLOT_COUNT,
	DW_SLOT_LOWER_BOUND,
	DW_SLOT_UPPER_BOUND,
	DW_SLOT_BYTE_STRIDE,
	/* of units */
	DW_SLOT_STMT_LIST,
	DW_SLOT_COMP_DIR,
	DW_SLOT_LANGUAGE,
	DW_SLOT_STR_OFFSETS_BASE,
	DW_SLOT_ADDR_BASE,
	DW_SLOT_RNGLISTS_BASE,
	DW_SLOT_GNU_RANGES_BASE,
	DW_SLOT_ENTRY_PC,
	DW_SLOT_DWO_NAME,
	DW_SLOT_DWO_ID,
	DW_NUM_SLOTS,
	DW_SLOT_SKIP = DW_NUM_SLOTS, /* step over a form of variable size */
	DW_SLOT_SKIP_FIXED,          /* step over `value` bytes */
	DW_NUM_OPS
};

/* An attribute as an abbreviation has it. */
struct dw_attribute {
	uint64_t name, form; /* DW_AT_…, DW_FORM_… */
	int64_t implicit;    /* the value of DW_FORM_implicit_const */
};

/* The next one of an abbreviation; mostly of two bytes. False: there are no more, or *c is bad. */
static inline bool dw_next_attribute(struct dw_cursor *c, struct dw_attribute *ret)
{
	if (dw_left(c) > 1 && !((c->p[0] | c->p[1]) & 0x80)) {
		ret->name = c->p[0];
		ret->form = c->p[1];
		c->p += 2;
	} else {
		ret->name = dw_uleb(c);
		ret->form = dw_uleb(c);
	}
	ret->implicit = ret->form == DW_FORM_implicit_const ? dw_sleb(c) : 0;
	return (ret->name || ret->form) && !c->bad;
}

struct dw_op {
	uint8_t slot;   /* enum dw_slot */
	uint8_t size;   /* of a value that is a number of 1, 2, 4 or 8 bytes; else 0 */
	uint16_t form;  /* DW_FORM_… */
	int64_t value;  /* DW_FORM_implicit_const, or the bytes to skip */
};

#define DW_VARIABLE_SIZE 0xffffffffu

struct dw_abbrev {
	const uint8_t *bytes; /* what it was compiled from, behind the code */
	size_t num_bytes;
	struct dw_form_sizes sizes;
	uint16_t tag;
	bool has_children;
	bool wanted; /* it may be code, or a variable at a fixed address */
	bool local;  /* a function with a name that other units do not see: qualify.h */
	uint32_t fixed_size; /* of all attributes; DW_VARIABLE_SIZE: not fixed */
	uint32_t step;       /* DW_STEP_… */
	uint32_t sibling;    /* where in the attributes DW_AT_sibling stands, as DW_FORM_ref4;
	                      * DW_VARIABLE_SIZE: it does not, or not always at one place */
	uint32_t num_ops;
	struct dw_op ops[];
};

struct dw_coded_abbrev {
	uint64_t code;
	const struct dw_abbrev *abbrev; /* of the pool */
};

/* The different abbreviations of some tables, which borrow them. */
struct dw_abbrev_pool {
	VEC(struct dw_abbrev *) list;
	struct sc_intern set;
	VEC(struct dw_op) ops;                /* of the one that is being compiled */
	VEC(struct dw_coded_abbrev) table;    /* that is being read */
};

void dw_abbrev_pool_deinit(struct dw_abbrev_pool *p);

/* How to step over an entry. In a table of its own, as the abbreviations of a unit do not fit
 * into the core's cache next to its entries. */
#define DW_STEP_SIZE 0x0000ffffu     /* the bytes of its attributes, or … */
#define DW_STEP_LOOK 0x01000000u     /* … its abbreviation must be looked at */
#define DW_STEP_CHILDREN 0x02000000u /* it has children … */
#define DW_STEP_FUNCTION 0x04000000u /* … and is a function without code */
#define DW_STEP_TYPE 0x08000000u     /* … or a type whose sibling's place in the unit stands in 4
                                      * bytes of its attributes, from … */
#define DW_STEP_LOCAL 0x10000000u    /* it is a function that other units do not see */
#define DW_STEP_SIBLING(step) ((step) >> 16 & 0xff) /* … this one on */

struct dw_abbrevs {
	size_t dense;                     /* the codes 1 … dense are there */
	const struct dw_abbrev **by_code; /* those of code 1, 2, … dense */
	uint32_t *steps;                  /* likewise; those of other codes are DW_STEP_LOOK */
	VEC(struct dw_coded_abbrev) rest; /* ascending by code */
	uint64_t records;                 /* abbreviations and their steps */
};

/*
 * Compiles the table at `c` of .debug_abbrev, whose bytes must stay as long as the
 * pool is added to. Sizes of addresses and offsets are part of what is compiled, so a
 * table serves units of one kind. SC_EFORMAT: cut off, an unknown form, or more than `most`
 * records; what stands before is there. SC_ENOMEM.
 */
int dw_abbrevs_read(struct dw_cursor c, const struct dw_form_sizes *sizes, uint64_t most,
		    struct dw_abbrev_pool *pool, struct dw_abbrevs *ret, struct sc_error *err);

/* The same of the abbreviation at `c` and no more. */
int dw_abbrevs_read_one(struct dw_cursor c, const struct dw_form_sizes *sizes,
			struct dw_abbrev_pool *pool, struct dw_abbrevs *ret, struct sc_error *err);
void dw_abbrevs_deinit(struct dw_abbrevs *a);

/* Where a table of a section begins, and where in it the first abbreviation of a unit's root
 * stands; 0: there is none, or its codes do not ascend, so that another may have its code. */
struct dw_abbrev_start {
	uint64_t offset, root;
};

struct dw_abbrev_starts {
	VEC(struct dw_abbrev_start) list; /* ascending */
};

/*
 * True if by all tables of the section units stand for themselves: no reference leads
 * from one to another, to a type unit or to another file, and none is a skeleton. Then
 * they can be read in any order, and forgotten. False also if the tables do not
 * follow one another without gaps, as they do not have to. `starts`: is filled; or NULL.
 */
bool dw_abbrevs_self_contained(const struct dw_section *abbrev, struct dw_abbrev_starts *starts);

const struct dw_abbrev *dw_abbrev_search(const struct dw_abbrevs *a, uint64_t code);

/* The abbreviation with this code, or NULL. */
static inline const struct dw_abbrev *dw_abbrev(const struct dw_abbrevs *a, uint64_t code)
{
	return code - 1 < a->dense ? a->by_code[code - 1] : dw_abbrev_search(a, code);
}

#endif
