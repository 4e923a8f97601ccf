/*
 * Line programs (.debug_line, DWARF 2 to 5) → files, rows and sequences.
 *
 * Invariant: rows of a sequence ascend by address and lie in [start, end) of
 * the sequence; of rows at one address all are kept, in program order (the
 * last one counts). Sequences of no extent are dropped. Whether a sequence is
 * code that exists (tombstones!) is not decided here.
 *
 * Cost: linear in the bytes of the program, each byte makes at most one row.
 * The directories and files of DWARF 2–4 count from 1, those of DWARF 5 from 0;
 * after reading, files[] is indexed by the number as it stands in the DWARF.
 */
#include "libsymcache/dwarf/line.h"

#include <dwarf.h>
#include <stdlib.h>

#include "libsymcache/base/limits.h"

struct header {
	uint16_t version;
	uint8_t address_size;
	unsigned offset_size;
	uint8_t default_is_stmt, min_inst_length, max_ops, opcode_base, line_range;
	int8_t line_base;
	uint32_t reciprocal; /* of line_range, see quotient() */
	size_t most_rows;    /* that the unit may have: sc_limit_facts() */
	bool excess;         /* it has more */
	const uint8_t *opcode_lengths; /* opcode_base − 1 bytes */
	VEC(const char *) dirs;
};

static void header_deinit(struct header *h)
{
	vec_deinit(&h->dirs);
}

/* ---- files and directories ------------------------------------------------ */

static int add_file(struct header *h, const char *comp_dir, const char *name, uint64_t dir,
		    struct dw_unit *ret)
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

static int read_tables_v2(struct dw_cursor *c, struct header *h, const char *comp_dir,
			  struct dw_unit *ret)
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
		if (add_file(h, comp_dir, name, d, ret))
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
	case DW_FORM_strp: *str = dw_str_at(&s->str, dw_uint(c, offset_size)); break;
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt: {
		uint64_t offset = dw_uint(c, offset_size);
		*str = s->alt ? dw_str_at(&s->alt->str, offset) : NULL;
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
static int read_table_v5(struct dw_cursor *c, const struct dw_sections *s, struct header *h,
			 const char *comp_dir, struct dw_unit *ret)
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
		const char *name = NULL, **dir;
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
		}
		if (c->bad || c->p == before)
			break;
		if (ret) {
			if (add_file(h, comp_dir, name, d, ret))
				return SC_ENOMEM;
		} else {
			dir = vec_push(&h->dirs);
			if (!dir)
				return SC_ENOMEM;
			*dir = name;
		}
	}
	return 0;
}

/* Reads the header; *c then stands at the program and ends where it ends. */
static int read_header(const struct dw_sections *s, struct dw_cursor *c, const char *comp_dir,
		       bool files_alone, struct header *h, struct dw_unit *ret,
		       struct sc_error *err)
{
	uint64_t length = dw_initial_length(c, &h->offset_size), header_length;
	const uint8_t *program;
	int rc;

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
	header_length = dw_uint(c, h->offset_size);
	if (header_length > dw_left(c))
		return sc_error_set(err, SC_EFORMAT, "line table header is longer than its table");
	program = c->p + header_length;
	if (files_alone) /* units that want no more are charged no more: charge_lines() */
		c->end = program;
	h->min_inst_length = dw_u8(c);
	h->max_ops = h->version >= 4 ? dw_u8(c) : 1;
	h->default_is_stmt = dw_u8(c);
	h->line_base = (int8_t)dw_u8(c);
	h->line_range = dw_u8(c);
	h->opcode_base = dw_u8(c);
	h->opcode_lengths = c->p;
	dw_skip(c, h->opcode_base ? h->opcode_base - 1u : 0);
	if (c->bad || !h->opcode_base)
		return sc_error_set(err, SC_EFORMAT, "line table header is cut off");

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

/* ---- the program ----------------------------------------------------------- */

struct state {
	uint64_t vaddr;
	uint64_t op_index;
	uint64_t file;
	uint32_t file_index; /* into files, or DW_NONE */
	uint32_t line, column;
	size_t first_row;  /* of the sequence under way */
	uint64_t last;     /* vaddr of its last row */
	uint32_t marks;    /* of the next row, see struct dw_row */
	bool unsorted;     /* an address went down */
};

/* Also to be told when there are more files. */
static void set_file(struct state *st, const struct dw_unit *ret, uint64_t file)
{
	st->file = file;
	st->file_index = file < ret->files.len && ret->files.data[file].name ?
		(uint32_t)file : DW_NONE;
}

static void state_reset(struct state *st, const struct header *h, const struct dw_unit *ret)
{
	*st = (struct state){ .line = 1, .first_row = ret->rows.len,
			      .marks = h->default_is_stmt ? DW_ROW_IS_STMT : 0 };
	set_file(st, ret, 1);
}

/* operation_advance of DWARF 5, 6.2.5.1: addresses on VLIW machines have an
 * operation index beside the instruction address. */
static inline void advance(struct state *st, const struct header *h, uint64_t operations)
{
	if (h->max_ops <= 1) {
		st->vaddr += h->min_inst_length * operations;
	} else {
		uint64_t ops = st->op_index + operations;
		st->vaddr += h->min_inst_length * (ops / h->max_ops);
		st->op_index = ops % h->max_ops;
	}
}

static inline bool add_row(struct state *st, struct header *h, struct dw_unit *ret)
{
	if (ret->rows.len >= h->most_rows) {
		h->excess = true;
		return true;
	}
	if (!vec_reserve(&ret->rows, 1))
		return false;
	ret->rows.data[ret->rows.len++] = (struct dw_row){ st->vaddr, st->file_index, st->line,
							   st->column, st->marks };
	st->marks &= DW_ROW_IS_STMT;
	st->unsorted |= st->vaddr < st->last;
	st->last = st->vaddr;
	return true;
}

struct indexed_row {
	struct dw_row row;
	size_t index;
};

static int by_vaddr_then_index(const void *a, const void *b)
{
	const struct indexed_row *x = a, *y = b;

	if (x->row.vaddr != y->row.vaddr)
		return x->row.vaddr < y->row.vaddr ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Addresses within a sequence must not go down, but nothing stops them. */
static bool sort_rows(struct dw_row *rows, size_t n)
{
	struct indexed_row *copy = malloc(n * sizeof(*copy));

	if (!copy)
		return false;
	for (size_t i = 0; i < n; i++)
		copy[i] = (struct indexed_row){ rows[i], i };
	qsort(copy, n, sizeof(*copy), by_vaddr_then_index);
	for (size_t i = 0; i < n; i++)
		rows[i] = copy[i].row;
	free(copy);
	return true;
}

/* Closes the sequence under way at `end`. */
static bool end_sequence(struct state *st, const struct header *h, uint64_t end,
			 struct dw_unit *ret)
{
	size_t n = ret->rows.len - st->first_row;
	struct dw_row *rows = n ? ret->rows.data + st->first_row : NULL;
	struct dw_sequence *seq;

	if (st->unsorted && !sort_rows(rows, n))
		return false;
	while (n && rows[n - 1].vaddr >= end)
		n--;
	ret->rows.len = st->first_row + n;
	if (n) {
		seq = vec_push(&ret->sequences);
		if (!seq)
			return false;
		*seq = (struct dw_sequence){ rows[0].vaddr, end, (uint32_t)st->first_row,
					     (uint32_t)n };
	}
	state_reset(st, h, ret);
	return true;
}

static bool extended_op(struct dw_cursor *c, struct header *h, const char *comp_dir,
			struct state *st, struct dw_unit *ret)
{
	uint64_t len = dw_uleb(c);
	struct dw_cursor op = *c;
	bool ok = true;

	dw_skip(c, len);
	if (c->bad || !len)
		return true;
	op.end = c->p;
	switch (dw_u8(&op)) {
	case DW_LNE_end_sequence:
		return end_sequence(st, h, st->vaddr, ret);
	case DW_LNE_set_address:
		if (len - 1 <= 8)
			st->vaddr = dw_uint(&op, (unsigned)len - 1);
		st->op_index = 0;
		break;
	case DW_LNE_define_file: {
		const char *name = dw_str(&op);
		uint64_t dir = dw_uleb(&op);
		if (!op.bad)
			ok = !add_file(h, comp_dir, name, dir, ret);
		set_file(st, ret, st->file);
		break;
	}
	case DW_LNE_set_discriminator:
		st->marks = (st->marks & DW_ROW_IS_STMT) | (uint32_t)dw_uleb(&op) << 1;
		break;
	default: /* what vendors add */
		break;
	}
	return ok;
}

static bool standard_op(struct dw_cursor *c, struct header *h, uint8_t op,
			struct state *st, struct dw_unit *ret)
{
	uint64_t v;

	switch (op) {
	case DW_LNS_copy:
		return add_row(st, h, ret);
	case DW_LNS_advance_pc:
		advance(st, h, dw_uleb(c));
		break;
	case DW_LNS_advance_line:
		st->line += (uint32_t)dw_sleb(c);
		break;
	case DW_LNS_set_file:
		set_file(st, ret, dw_uleb(c));
		break;
	case DW_LNS_set_column:
		v = dw_uleb(c);
		st->column = v > UINT32_MAX ? 0 : (uint32_t)v;
		break;
	case DW_LNS_const_add_pc:
		if (h->line_range)
			advance(st, h, (255u - h->opcode_base) / h->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		st->vaddr += dw_u16(c);
		st->op_index = 0;
		break;
	case DW_LNS_negate_stmt:
		st->marks ^= DW_ROW_IS_STMT;
		break;
	case DW_LNS_set_basic_block:
	case DW_LNS_set_prologue_end:
	case DW_LNS_set_epilogue_begin:
		break;
	case DW_LNS_set_isa:
		dw_uleb(c);
		break;
	default: /* unknown: the header says how many numbers follow */
		for (unsigned i = h->opcode_lengths[op - 1]; i; i--)
			dw_uleb(c);
	}
	return true;
}

/* n / h->line_range of a byte n, without a division: what is rounded up is less than
 * 255 / 2²⁰, and a quotient is at least 1 / 255 below the next one. */
static inline unsigned quotient(const struct header *h, unsigned n)
{
	return n * h->reciprocal >> 20;
}

static int run(struct dw_cursor *c, struct header *h, const char *comp_dir,
	       struct dw_unit *ret, struct sc_error *err)
{
	struct state st;
	bool ok = true, no_range = false;

	state_reset(&st, h, ret);
	h->reciprocal = h->line_range ? (1u << 20) / h->line_range + 1 : 0;
	while (ok && c->p < c->end && !c->bad && !h->excess) {
		uint8_t op = *c->p++;

		if (op >= h->opcode_base) {
			unsigned adjusted = op - h->opcode_base, steps = quotient(h, adjusted);

			no_range = !h->line_range;
			if (no_range)
				break;
			advance(&st, h, steps);
			st.line += (uint32_t)(h->line_base +
					      (int)(adjusted - steps * h->line_range));
			ok = add_row(&st, h, ret);
		} else if (op == 0) {
			ok = extended_op(c, h, comp_dir, &st, ret);
		} else {
			ok = standard_op(c, h, op, &st, ret);
		}
	}
	/* No end_sequence: the last row's extent is unknown, the others stand. */
	if (ok && ret->rows.len > st.first_row)
		ok = end_sequence(&st, h, ret->rows.data[ret->rows.len - 1].vaddr, ret);
	if (!ok)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	if (h->excess)
		return sc_error_set(err, SC_EFORMAT, "more line rows than such a file has");
	if (no_range)
		return sc_error_set(err, SC_EFORMAT, "line_range is 0");
	if (c->bad)
		return sc_error_set(err, SC_EFORMAT, "line program is cut off");
	return 0;
}

static int read_lines(const struct dw_sections *s, uint64_t offset, const char *comp_dir,
		      bool want_rows, struct dw_unit *ret, struct sc_error *err)
{
	__attribute__((cleanup(header_deinit))) struct header h = {0};
	struct dw_cursor c = dw_cursor_at(&s->line, offset, s->swap);
	int rc = read_header(s, &c, comp_dir, !want_rows, &h, ret, err);

	h.most_rows = sc_limit_facts(s->file_size) / 2;
	if (!rc && want_rows)
		rc = run(&c, &h, comp_dir, ret, err);
	if (rc)
		sc_error_prefix(err, ".debug_line at 0x%llx: ", (unsigned long long)offset);
	return rc;
}

int dw_read_lines(const struct dw_sections *s, uint64_t offset, const char *comp_dir,
		  struct dw_unit *ret, struct sc_error *err)
{
	return read_lines(s, offset, comp_dir, true, ret, err);
}

int dw_read_line_files(const struct dw_sections *s, uint64_t offset, const char *comp_dir,
		       struct dw_unit *ret, struct sc_error *err)
{
	return read_lines(s, offset, comp_dir, false, ret, err);
}
