/*
 * The header of a line program (DWARF 2 to 5): see line_header.h. The directories and files
 * of DWARF 2–4 count from 1, those of DWARF 5 from 0; after reading, files[] is indexed by
 * the number as it stands in the DWARF.
 */
#include "libsymcache/dwarf/line_header.h"

#include <dwarf.h>

#ifndef DW_LNCT_LLVM_source
#define DW_LNCT_LLVM_source 0x2001
#endif

void dw_line_header_deinit(struct dw_line_header *h)
{
	vec_deinit(&h->dirs);
}

int dw_add_line_file(struct dw_line_header *h, const char *comp_dir, const char *name,
		     uint64_t dir, struct dw_facts *ret)
{
	struct dw_file *f = vec_push(&ret->files);

	if (!f)
		return SC_ENOMEM;
	f->name = name;
	f->dir = dir < h->dirs.len ? h->dirs.data[dir] : NULL;
	if (dir == 0) {
		/* Directory 0 is the compilation directory itself; DWARF 5
		 * writes it out, before that it is the unit's. */
		f->comp_dir = f->dir ? f->dir : comp_dir;
		f->dir = NULL;
	} else {
		f->comp_dir = comp_dir;
	}
	return 0;
}

static int read_tables_v2(struct dw_cursor *c, struct dw_line_header *h, const char *comp_dir,
			  struct dw_facts *ret)
{
	const char **dir, *name;

	dir = vec_push(&h->dirs); /* 0: the compilation directory */
	if (!dir || !vec_push(&ret->files))
		return SC_ENOMEM;
	while (*(name = dw_str(c))) {
		dir = vec_push(&h->dirs);
		if (!dir)
			return SC_ENOMEM;
		*dir = name;
	}
	while (*(name = dw_str(c))) {
		uint64_t d = dw_uleb(c);
		dw_uleb(c); /* modification time */
		dw_uleb(c); /* length */
		if (c->bad)
			break;
		if (dw_add_line_file(h, comp_dir, name, d, ret))
			return SC_ENOMEM;
	}
	return 0;
}

/* One value of a DWARF 5 entry format: a string or a number, or skipped. */
static void read_form(struct dw_cursor *c, const struct dw_sections *s, unsigned offset_size,
		      uint64_t form, const char **str, uint64_t *num)
{
	switch (form) {
	case DW_FORM_string: *str = dw_str(c); break;
	case DW_FORM_line_strp: *str = dw_str_at(&s->line_str, dw_uint(c, offset_size)); break;
	case DW_FORM_strp: *str = dw_debug_str(s, dw_uint(c, offset_size)); break;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt: {
		uint64_t offset = dw_uint(c, offset_size);
		*str = s->alt ? dw_debug_str(s->alt, offset) : NULL;
		break;
	}
	case DW_FORM_udata: *num = dw_uleb(c); break;
	case DW_FORM_data1: *num = dw_u8(c); break;
	case DW_FORM_data2: *num = dw_u16(c); break;
	case DW_FORM_data4: *num = dw_u32(c); break;
	case DW_FORM_data8: *num = dw_u64(c); break;
	case DW_FORM_data16: dw_skip(c, 16); break;
	case DW_FORM_block: dw_skip(c, dw_uleb(c)); break;
	case DW_FORM_block1: dw_skip(c, dw_u8(c)); break;
	case DW_FORM_block2: dw_skip(c, dw_u16(c)); break;
	case DW_FORM_block4: dw_skip(c, dw_u32(c)); break;
	case DW_FORM_strx: dw_uleb(c); break;
	case DW_FORM_strx1: dw_skip(c, 1); break;
	case DW_FORM_strx2: dw_skip(c, 2); break;
	case DW_FORM_strx3: dw_skip(c, 3); break;
	case DW_FORM_strx4: dw_skip(c, 4); break;
	default: c->bad = true;
	}
}

/* Reads one of the two tables of DWARF 5: directories (ret NULL) or files. */
static int read_table_v5(struct dw_cursor *c, const struct dw_sections *s, struct dw_line_header *h,
			 const char *comp_dir, struct dw_facts *ret)
{
	struct { uint64_t content, form; } format[255];
	unsigned formats = dw_u8(c);
	uint64_t count;

	for (unsigned i = 0; i < formats; i++) {
		format[i].content = dw_uleb(c);
		format[i].form = dw_uleb(c);
	}
	count = dw_uleb(c);
	/* Without a format the entries have no bytes and no content: a count of
	 * 2⁶⁴ costs nothing to write, so it must cost nothing to read. */
	for (uint64_t i = 0; i < count && formats && !c->bad; i++) {
		const char *name = NULL, *source = NULL, **dir;
		uint64_t d = 0, ignored;
		const uint8_t *before = c->p;

		for (unsigned k = 0; k < formats && !c->bad; k++) {
			const char *str = NULL;
			uint64_t num = 0;

			read_form(c, s, h->offset_size, format[k].form, &str,
				  format[k].content == DW_LNCT_directory_index ? &d :
				  format[k].content == DW_LNCT_path ? &num : &ignored);
			if (format[k].content == DW_LNCT_path)
				name = str;
			else if (format[k].content == DW_LNCT_LLVM_source)
				source = str;
		}
		if (c->bad || c->p == before)
			break;
		if (ret) {
			if (dw_add_line_file(h, comp_dir, name, d, ret))
				return SC_ENOMEM;
			ret->files.data[ret->files.len - 1].source = source && *source ? source :
											 NULL;
		} else {
			dir = vec_push(&h->dirs);
			if (!dir)
				return SC_ENOMEM;
			*dir = name;
		}
	}
	return 0;
}

int dw_read_line_parameters(struct dw_cursor *c, struct dw_line_header *h,
			    const uint8_t **program, struct sc_error *err)
{
	uint64_t length = dw_initial_length(c, &h->offset_size);

	if (c->bad || length > dw_left(c))
		return sc_error_set(err, SC_EFORMAT, "line table is longer than .debug_line");
	c->end = c->p + length;
	h->version = dw_u16(c);
	if (h->version < 2 || h->version > 5)
		return sc_error_set(err, SC_EFORMAT, "line table of unknown version %u",
				    h->version);
	if (h->version >= 5) {
		h->address_size = dw_u8(c);
		dw_u8(c); /* segment selector size */
	}
	length = dw_uint(c, h->offset_size);
	if (length > dw_left(c))
		return sc_error_set(err, SC_EFORMAT, "line table header is longer than its table");
	*program = c->p + length;
	h->min_inst_length = dw_u8(c);
	h->max_ops = h->version >= 4 ? dw_u8(c) : 1;
	h->default_is_stmt = dw_u8(c);
	h->line_base = (int8_t)dw_u8(c);
	h->line_range = dw_u8(c);
	h->opcode_base = dw_u8(c);
	h->opcode_lengths = c->p;
	dw_skip(c, h->opcode_base ? h->opcode_base - 1u : 0);
	return c->bad || !h->opcode_base ?
		sc_error_set(err, SC_EFORMAT, "line table header is cut off") : 0;
}

int dw_read_line_header(const struct dw_sections *s, struct dw_cursor *c, const char *comp_dir,
			struct dw_line_header *h, struct dw_facts *ret, struct sc_error *err)
{
	const uint8_t *program;
	int rc = dw_read_line_parameters(c, h, &program, err);

	if (rc)
		return rc;
	if (h->files_alone) { /* units that want no more are charged no more: charge_lines() */
		if (c->p > program)
			return sc_error_set(err, SC_EFORMAT, "line table header is cut off");
		c->end = program;
	}
	if (h->version >= 5) {
		rc = read_table_v5(c, s, h, comp_dir, NULL);
		if (!rc)
			rc = read_table_v5(c, s, h, comp_dir, ret);
	} else {
		rc = read_tables_v2(c, h, comp_dir, ret);
	}
	if (rc)
		return sc_error_set(err, rc, "out of memory");
	if (c->bad)
		return sc_error_set(err, SC_EFORMAT, "file table of the line table is cut off");
	c->p = program;
	return 0;
}
