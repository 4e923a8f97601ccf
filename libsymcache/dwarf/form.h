/* Forms: how attribute values are encoded (DWARF 7.5.5), and stepping over them. */
#ifndef DW_FORM_H
#define DW_FORM_H

#include "libsymcache/dwarf/cursor.h"

/* What the size of some forms depends on. */
struct dw_form_sizes {
	uint16_t version;
	uint8_t address_size, offset_size;
};

static inline bool dw_same_sizes(const struct dw_form_sizes *a, const struct dw_form_sizes *b)
{
	return a->version == b->version && a->address_size == b->address_size &&
	       a->offset_size == b->offset_size;
}

#define DW_FORM_VARIABLE (-1)
#define DW_FORM_UNKNOWN (-2)

/* Bytes of a value of this form, or one of the two above. */
int dw_form_size(uint64_t form, const struct dw_form_sizes *sizes);

/* Steps over one value. An unknown form makes the cursor bad. */
void dw_form_skip(struct dw_cursor *c, uint64_t form, const struct dw_form_sizes *sizes);

/*
 * Reads one value as the form has it, unresolved: *number is the constant, the
 * offset, the index, the address, or the length of a block; *bytes the string or
 * the block. Returns the form, which for DW_FORM_indirect is the one found.
 */
uint64_t dw_form_read(struct dw_cursor *c, uint64_t form, const struct dw_form_sizes *sizes,
		      int64_t implicit, uint64_t *number, const uint8_t **bytes);

#endif
