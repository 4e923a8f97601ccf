/*
 * Facts: what one compilation unit says about code and data, in the plainest
 * form. Every reader of DWARF fills a `struct dw_facts` and knows nothing of
 * caches; libsymcache/write/ reads them and knows nothing of DWARF.
 *
 * Strings are NUL-terminated, borrowed from the sections of the ELF file, and
 * live as long as they do; but for `texts`, which the facts own. Addresses are vaddr of the ELF file.
 */
#ifndef DW_FACTS_H
#define DW_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "libsymcache/base/vec.h"

#define DW_NONE 0xffffffffu

/* [start, end) */
struct dw_range {
	uint64_t start, end;
};

/* A source file: comp_dir/dir/name; NULL where a part is absent. */
struct dw_file {
	const char *comp_dir, *dir, *name;
	const char *source; /* that is embedded in the line table; NULL: none */
};

/*
 * A function or an inlined call that has code; or a call without ranges, which is there for
 * those inlined into it. Scopes come in the order of the
 * entries (depth first, parents before children).
 */
struct dw_scope {
	const char *name;     /* linkage name, else name; NULL: none */
	uint32_t parent;      /* scope it is inlined into; DW_NONE: a function */
	uint32_t first_range; /* index into ranges */
	uint32_t num_ranges;
	uint32_t lang;        /* DW_LANG_…; 0: unknown */
	uint32_t call_file;   /* index into files; DW_NONE: unknown (DW_AT_call_file) */
	uint32_t call_line;   /* 0: unknown */
	uint32_t call_column; /* 0: unknown */
	uint32_t decl_file;   /* index into files; DW_NONE: unknown */
	uint32_t decl_line;   /* 0: unknown */
	uint32_t entry;       /* the debugging entry: its offset within the unit */
	uint32_t call_discriminator; /* 0: unknown (DW_AT_GNU_discriminator) */
	uint32_t qualified;   /* offset in texts: the name with its scopes; 0: there is none */
	uint64_t entry_vaddr; /* DW_AT_low_pc, of functions else the start of the first range;
			       * UINT64_MAX: none */
};

/* One row of the line table; covers up to the next row of its sequence. */
struct dw_row {
	uint64_t vaddr;
	uint32_t file;   /* index into files; DW_NONE: unknown */
	uint32_t line;   /* 0: unknown */
	uint32_t column; /* 0: unknown */
	uint32_t marks;  /* DW_ROW_IS_STMT, and above it the discriminator */
};
#define DW_ROW_IS_STMT 1u
#define DW_ROW_DISCRIMINATOR(marks) ((marks) >> 1)

/* A run of rows with ascending addresses over [start, end). */
struct dw_sequence {
	uint64_t start, end;
	uint32_t first_row, num_rows; /* into rows */
};

/* A variable at a fixed address. */
struct dw_variable {
	const char *name; /* linkage name, else name */
	uint64_t vaddr;
	uint64_t size;      /* bytes; 0: unknown */
	uint32_t decl_file; /* index into files; DW_NONE: unknown */
	uint32_t decl_line; /* 0: unknown */
};

struct dw_facts {
	uint64_t offset; /* of the unit in .debug_info, for messages */
	uint64_t entries;/* debugging entries read */
	VEC(struct dw_file) files;
	VEC(struct dw_range) ranges;
	uint32_t num_covers; /* ranges[0, num_covers) are those of the unit itself,
	                      * the others belong to scopes; 0: it does not say */
	VEC(struct dw_scope) scopes;
	VEC(struct dw_row) rows;
	VEC(struct dw_sequence) sequences;
	VEC(struct dw_variable) variables;
	VEC(char) texts; /* that were made; NULs between them, and before the first */
};

static inline void dw_facts_clear(struct dw_facts *u)
{
	u->offset = 0;
	u->entries = 0;
	u->num_covers = 0;
	vec_clear(&u->files);
	vec_clear(&u->ranges);
	vec_clear(&u->scopes);
	vec_clear(&u->rows);
	vec_clear(&u->sequences);
	vec_clear(&u->variables);
	vec_clear(&u->texts);
}

static inline void dw_facts_deinit(struct dw_facts *u)
{
	vec_deinit(&u->files);
	vec_deinit(&u->ranges);
	vec_deinit(&u->scopes);
	vec_deinit(&u->rows);
	vec_deinit(&u->sequences);
	vec_deinit(&u->variables);
	vec_deinit(&u->texts);
}

#endif
