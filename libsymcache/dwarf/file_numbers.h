/*
 * file_numbers.h: file numbers of DWARF → indices into the files of the unit being read.
 *
 * The unit's own numbers are indices already. A declaration may come from another unit,
 * whose table is read once, and each of whose files is added once to a unit.
 */
#ifndef DW_FILE_NUMBERS_H
#define DW_FILE_NUMBERS_H

#include "libsymcache/base/intern.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/unit.h"

struct dw_foreign_files;

/* All zero: none. Of one thread. */
struct dw_file_numbers {
	const struct dw_unit *rows; /* the unit with the rows: itself or the skeleton */
	struct dw_facts *out;
	uint32_t units;                    /* read so far, this one included */
	uint32_t own;                      /* files of the unit's own line table */
	VEC(struct dw_foreign_files) foreign;
	struct sc_intern foreign_set;      /* by unit */
};

/* A unit begins, whose facts go to `out`; `own` is set when its files are read. */
void dw_file_numbers_begin(struct dw_file_numbers *n, const struct dw_unit *u,
			   struct dw_facts *out);

/* Forgets other units, which are about to be gone. */
void dw_file_numbers_forget(struct dw_file_numbers *n);
void dw_file_numbers_deinit(struct dw_file_numbers *n);

/* dw_file_index() for another unit than n->rows. */
bool dw_foreign_file_index(struct dw_file_numbers *n, const struct dw_unit *u,
			   uint64_t file, uint32_t *ret);

/* File number `file` of unit `u` as an index into n->out's files; DW_NONE: there is no
 * such file. False: out of memory. */
static inline bool dw_file_index(struct dw_file_numbers *n, const struct dw_unit *u,
				 uint64_t file, uint32_t *ret)
{
	*ret = DW_NONE;
	if (u->skeleton) /* .debug_line.dwo is for type units */
		u = u->skeleton;
	if (u != n->rows)
		return dw_foreign_file_index(n, u, file, ret);
	if (file < n->own && n->out->files.data[file].name)
		*ret = (uint32_t)file;
	return true;
}

#endif
