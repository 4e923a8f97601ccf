/* What reading entries (cfi.c) and running programs (cfi_program.c) share. */
#ifndef DW_CFI_PARTS_H
#define DW_CFI_PARTS_H

#include "libsymcache/base/intern.h"
#include "libsymcache/dwarf/cfi.h"

/* DWARF numbers ppc64's link register 65; it is 32 here, to have all below 64. */
#define DW_CFI_PPC64_LINK 32

struct dw_cfi_common {
	uint64_t offset;         /* where it stands in the section */
	uint64_t code_factor, return_column;
	int64_t data_factor;
	uint8_t encoding, segment_size;
	bool has_data;           /* entries have augmentation data */
	bool bad;
	struct dw_cfi_row row;   /* what its program makes */
};

struct common_wanted {
	const struct dw_cfi *cfi;
	uint64_t offset;
};

/* Reads from[from, to) of the section. */
struct dw_cursor dw_cfi_cursor(const struct dw_cfi_section *s, uint64_t from, uint64_t to);

/* A pointer with an encoding of .eh_frame (DW_EH_PE_…). */
uint64_t dw_cfi_pointer(const struct dw_cfi_section *s, struct dw_cursor *c, uint8_t encoding);

/* Runs the program of a common entry into its row. False: it is broken. */
bool dw_cfi_run_common(struct dw_cfi *cfi, struct dw_cfi_common *common, uint32_t from,
		       uint32_t to);

#endif
