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

/* How pointers of .eh_frame are encoded (DW_EH_PE_…). */
enum {
	PE_ABSPTR = 0, PE_ULEB128, PE_UDATA2, PE_UDATA4, PE_UDATA8,
	PE_SLEB128 = 9, PE_SDATA2, PE_SDATA4, PE_SDATA8, PE_FORMAT = 15,
	PE_PCREL = 0x10, PE_TEXTREL = 0x20, PE_DATAREL = 0x30, PE_ALIGNED = 0x50,
	PE_RELATIVE = 0x70, PE_INDIRECT = 0x80, PE_OMIT = 0xff,
};

/* A number in one of the formats. */
uint64_t dw_cfi_number(const struct dw_cfi_section *s, struct dw_cursor *c, uint8_t format);

/* A pointer with an encoding of .eh_frame (DW_EH_PE_…). */
uint64_t dw_cfi_pointer(const struct dw_cfi_section *s, struct dw_cursor *c, uint8_t encoding);

/* Runs the program of a common entry into its row. False: it is broken. */
bool dw_cfi_run_common(struct dw_cfi *cfi, struct dw_cfi_common *common, uint32_t from,
		       uint32_t to);

#endif
