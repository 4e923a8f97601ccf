/*
 * Units of debugging entries under construction, for tests: what compilers
 * emit, and what they never would.
 *
 *   struct dwarf w;
 *   dwarf_init(&w, &(struct dwarf_shape){ .version = 4 });
 *   unit_begin(&w);
 *   entry(&w, DW_TAG_compile_unit, true);
 *   attr_str(&w, DW_AT_name, "a.c");
 *     entry(&w, DW_TAG_subprogram, false);
 *     attr_addr(&w, DW_AT_low_pc, 0x1000);
 *     attr(&w, DW_AT_high_pc, DW_FORM_data4, 0x20);
 *   children_end(&w);
 *   unit_end(&w);
 *   dwarf_file(&w, &file);          an ELF file around it
 *
 * Each entry has an abbreviation of its own, with its code as large as the
 * count of entries in the unit. A test that wants something broken patches
 * w.info and w.abbrev, at the offsets that these functions return.
 */
#ifndef DW_DWARF_WRITER_H
#define DW_DWARF_WRITER_H

#include <assert.h>
#include <dwarf.h>

#include "libsymcache/base/testing_bytes.h"

/* Where the code of the written files is. */
#define DWARF_TEXT 0x1000u
#define DWARF_TEXT_SIZE 0x10000u
#define DWARF_DATA 0x20000u
#define DWARF_DATA_SIZE 0x1000u
#define DWARF_EH_FRAME 0x21000u

struct dwarf_shape {
	unsigned version;      /* 2 … 5 */
	unsigned offset_size;  /* 4 or 8; 0: 4 */
	unsigned address_size; /* 4 or 8; 0: 8 */
	bool big_endian;
};

struct dwarf {
	struct dwarf_shape shape;
	struct bytes info, abbrev, str, line, line_str, ranges, rnglists, addr, loc, loclists,
		str_offsets;
	struct bytes symtab, strtab, eh_frame, debug_frame;
	size_t unit;      /* offset of the unit in info */
	size_t length;    /* where its length counts from */
	uint64_t code;    /* of the last abbreviation */
	bool declaring;   /* its attributes are not closed yet */
};

static inline void dwarf_init(struct dwarf *w, const struct dwarf_shape *shape)
{
	struct bytes *const all[] = { &w->info, &w->abbrev, &w->str, &w->line, &w->line_str,
				      &w->ranges, &w->rnglists, &w->addr, &w->loc, &w->loclists,
				      &w->str_offsets, &w->symtab, &w->strtab, &w->eh_frame,
				      &w->debug_frame };

	memset(w, 0, sizeof(*w));
	w->shape = *shape;
	if (!w->shape.offset_size)
		w->shape.offset_size = 4;
	if (!w->shape.address_size)
		w->shape.address_size = 8;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		all[i]->big_endian = shape->big_endian;
}

static inline void dwarf_deinit(struct dwarf *w)
{
	bytes_deinit(&w->info);
	bytes_deinit(&w->abbrev);
	bytes_deinit(&w->str);
	bytes_deinit(&w->line);
	bytes_deinit(&w->line_str);
	bytes_deinit(&w->ranges);
	bytes_deinit(&w->rnglists);
	bytes_deinit(&w->addr);
	bytes_deinit(&w->loc);
	bytes_deinit(&w->loclists);
	bytes_deinit(&w->str_offsets);
	bytes_deinit(&w->symtab);
	bytes_deinit(&w->strtab);
	bytes_deinit(&w->eh_frame);
	bytes_deinit(&w->debug_frame);
}

/* Returns the offset of the unit; its header starts there. */
static inline size_t unit_begin(struct dwarf *w)
{
	w->unit = w->info.b.len;
	w->length = begin_length(&w->info, w->shape.offset_size);
	w->code = 0;
	put(&w->info, 2, w->shape.version);
	if (w->shape.version >= 5) {
		put(&w->info, 1, DW_UT_compile);
		put(&w->info, 1, w->shape.address_size);
		put(&w->info, w->shape.offset_size, w->abbrev.b.len);
	} else {
		put(&w->info, w->shape.offset_size, w->abbrev.b.len);
		put(&w->info, 1, w->shape.address_size);
	}
	return w->unit;
}

static inline void abbreviation_end(struct dwarf *w)
{
	if (w->declaring)
		put(&w->abbrev, 2, 0);
	w->declaring = false;
}

/* Returns the offset of the entry in .debug_info. Its attributes follow. */
static inline size_t entry(struct dwarf *w, unsigned tag, bool children)
{
	size_t at = w->info.b.len;

	abbreviation_end(w);
	put_uleb(&w->abbrev, ++w->code);
	put_uleb(&w->abbrev, tag);
	put(&w->abbrev, 1, children);
	w->declaring = true;
	put_uleb(&w->info, w->code);
	return at;
}

/* Returns the offset of the value. */
static inline size_t attr(struct dwarf *w, unsigned name, unsigned form, uint64_t value)
{
	size_t at = w->info.b.len;

	put_uleb(&w->abbrev, name);
	put_uleb(&w->abbrev, form);
	switch (form) {
	case DW_FORM_flag: case DW_FORM_data1: case DW_FORM_ref1:
		put(&w->info, 1, value);
		break;
	case DW_FORM_data2: case DW_FORM_ref2:
		put(&w->info, 2, value);
		break;
	case DW_FORM_data4: case DW_FORM_ref4:
		put(&w->info, 4, value);
		break;
	case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sig8:
		put(&w->info, 8, value);
		break;
	case DW_FORM_addr:
		put(&w->info, w->shape.address_size, value);
		break;
	case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_ref_addr:
		put(&w->info, w->shape.offset_size, value);
		break;
	case DW_FORM_udata: case DW_FORM_ref_udata:
		put_uleb(&w->info, value);
		break;
	case DW_FORM_sdata:
		put_sleb(&w->info, (int64_t)value);
		break;
	default: /* the test writes the value, if there is one */
		break;
	}
	return at;
}

static inline void attr_str(struct dwarf *w, unsigned name, const char *value)
{
	attr(w, name, DW_FORM_string, 0);
	put_str(&w->info, value);
}

static inline void attr_addr(struct dwarf *w, unsigned name, uint64_t value)
{
	attr(w, name, DW_FORM_addr, value);
}

/* A reference to an entry of this unit, by its offset in .debug_info. */
static inline size_t attr_ref(struct dwarf *w, unsigned name, size_t at)
{
	return attr(w, name, DW_FORM_ref4, at - w->unit);
}

/* A section offset, in the form that the version has for it. */
static inline size_t attr_offset(struct dwarf *w, unsigned name, uint64_t value)
{
	return attr(w, name, w->shape.version >= 4 ? DW_FORM_sec_offset :
		    w->shape.offset_size == 8 ? DW_FORM_data8 : DW_FORM_data4, value);
}

/* DW_AT_low_pc and DW_AT_high_pc. */
static inline void attr_pcs(struct dwarf *w, uint64_t low, uint64_t high)
{
	attr_addr(w, DW_AT_low_pc, low);
	if (w->shape.version >= 4)
		attr(w, DW_AT_high_pc, DW_FORM_data8, high - low);
	else
		attr_addr(w, DW_AT_high_pc, high);
}

/* A subprogram with a name and a range, without children. */
static inline size_t function(struct dwarf *w, const char *name, uint64_t low, uint64_t high)
{
	size_t at = entry(w, DW_TAG_subprogram, false);

	attr_str(w, DW_AT_name, name);
	attr_pcs(w, low, high);
	return at;
}

/* The entry of a compilation unit, with children. */
static inline size_t compile_unit(struct dwarf *w, const char *name)
{
	size_t at = entry(w, DW_TAG_compile_unit, true);

	attr_str(w, DW_AT_name, name);
	attr(w, DW_AT_language, DW_FORM_data2, DW_LANG_C99);
	return at;
}

static inline void children_end(struct dwarf *w)
{
	abbreviation_end(w);
	put(&w->info, 1, 0);
}

static inline void unit_end(struct dwarf *w)
{
	abbreviation_end(w);
	put(&w->abbrev, 1, 0);
	end_length(&w->info, w->shape.offset_size, w->length);
}

/* One pair of .debug_ranges. */
static inline void range_pair(struct dwarf *w, uint64_t start, uint64_t end)
{
	put(&w->ranges, w->shape.address_size, start);
	put(&w->ranges, w->shape.address_size, end);
}

/* The ELF file around it; `out` is empty. */
static inline void dwarf_file(const struct dwarf *w, struct bytes *out)
{
	const struct elf_shape shape = {
		.is_64 = w->shape.address_size == 8, .big_endian = w->shape.big_endian,
		.machine = w->shape.big_endian ? EM_PPC : EM_X86_64, .type = ET_DYN,
		.load_size = DWARF_DATA + DWARF_DATA_SIZE,
	};
	const struct elf_section all[] = {
		{ ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, DWARF_TEXT, NULL,
		  DWARF_TEXT_SIZE, 0, 0 },
		{ ".data", SHT_NOBITS, SHF_ALLOC, DWARF_DATA, NULL, DWARF_DATA_SIZE, 0, 0 },
		{ ".debug_info", SHT_PROGBITS, 0, 0, &w->info, 0, 0, 0 },
		{ ".debug_abbrev", SHT_PROGBITS, 0, 0, &w->abbrev, 0, 0, 0 },
		{ ".debug_str", SHT_PROGBITS, 0, 0, &w->str, 0, 0, 0 },
		{ ".debug_line", SHT_PROGBITS, 0, 0, &w->line, 0, 0, 0 },
		{ ".debug_line_str", SHT_PROGBITS, 0, 0, &w->line_str, 0, 0, 0 },
		{ ".debug_ranges", SHT_PROGBITS, 0, 0, &w->ranges, 0, 0, 0 },
		{ ".debug_rnglists", SHT_PROGBITS, 0, 0, &w->rnglists, 0, 0, 0 },
		{ ".debug_addr", SHT_PROGBITS, 0, 0, &w->addr, 0, 0, 0 },
		{ ".debug_loc", SHT_PROGBITS, 0, 0, &w->loc, 0, 0, 0 },
		{ ".debug_loclists", SHT_PROGBITS, 0, 0, &w->loclists, 0, 0, 0 },
		{ ".debug_str_offsets", SHT_PROGBITS, 0, 0, &w->str_offsets, 0, 0, 0 },
		{ ".debug_frame", SHT_PROGBITS, 0, 0, &w->debug_frame, 0, 0, 0 },
		{ ".eh_frame", SHT_PROGBITS, SHF_ALLOC, DWARF_EH_FRAME, &w->eh_frame, 0, 0, 0 },
		{ ".symtab", SHT_SYMTAB, 0, 0, &w->symtab, 0, 0, w->shape.address_size == 8 ? 24 : 16 },
		{ ".strtab", SHT_STRTAB, 0, 0, &w->strtab, 0, 0, 0 },
	};
	struct elf_section used[sizeof(all) / sizeof(*all)];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!all[i].content || all[i].content->b.len) {
			used[n++] = all[i];
			used[n - 1].link = all[i].type == SHT_SYMTAB ? (uint32_t)n + 1 : 0;
		}
	put_elf(out, &shape, used, n);
}

#endif
