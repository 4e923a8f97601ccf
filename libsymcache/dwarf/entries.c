/*
 * The fast reader: one pass over the bytes of a unit's entries: see entries.h.
 *
 * Entries stand one after the other, a 0 closing each list of children, so the
 * walk needs no tree: a stack with the innermost scope of each open level.
 * Nothing is pruned, since functions hide in classes, namespaces and other
 * functions. Entries without code or location are stepped over by what their
 * abbreviation says; only the others are read.
 *
 * Must give what libdw_reader.c gives, which is slow and obvious.
 */
#include "libsymcache/dwarf/entries.h"

#include <dwarf.h>

#include "libsymcache/dwarf/file_numbers.h"
#include "libsymcache/dwarf/line.h"
#include "libsymcache/dwarf/origin.h"
#include "libsymcache/dwarf/qualify.h"
#include "libsymcache/dwarf/ranges.h"
#include "libsymcache/dwarf/split.h"
#include "libsymcache/dwarf/types.h"

struct dw_scanner {
	const struct dw_debug *debug;
	const struct dw_unit *u; /* the current unit, whose entries are read */
	struct dw_facts *out;
	VEC(struct dw_level) stack;     /* open levels */
	struct dw_origin_memo origins;
	struct dw_qualifier qualifier;
	struct dw_file_numbers files;
	struct dw_value values[DW_NUM_OPS]; /* all absent between entries */
	uint64_t facts_left;            /* that the unit may still have: sc_limit_facts() */
	bool refused;                   /* it would have more */
};

struct dw_scanner *dw_scanner_create(const struct dw_debug *debug)
{
	struct dw_scanner *s = calloc(1, sizeof(*s));

	if (s)
		s->debug = debug;
	return s;
}

void dw_scanner_destroy(struct dw_scanner *s)
{
	if (!s)
		return;
	dw_file_numbers_deinit(&s->files);
	dw_origin_memo_deinit(&s->origins);
	dw_qualifier_deinit(&s->qualifier);
	vec_deinit(&s->stack);
	free(s);
}

/* ---- entries ------------------------------------------------------------------ */

/* Before each scope and variable. False: the unit has had its share. */
static bool take_fact(struct dw_scanner *s)
{
	s->refused |= !s->facts_left;
	return s->facts_left && s->facts_left--;
}

static uint32_t number32(const struct dw_value *v)
{
	uint64_t n;

	return dw_value_number(v, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;
}

/* Adds a scope if the entry, at offset `entry`, has ranges, or may have parts that do; *scope
 * is the innermost one around it, and becomes the innermost one of its children. */
static bool read_scope(struct dw_scanner *s, uint64_t entry, const struct dw_abbrev *a,
		       uint32_t *scope)
{
	bool inlined = a->tag == DW_TAG_inlined_subroutine;
	const struct dw_value *v = s->values;
	struct dw_scope *out;
	struct dw_origin origin;
	size_t first = s->out->ranges.len;
	uint32_t decl_file = DW_NONE, call_file = DW_NONE;
	uint64_t n;
	bool empty;

	switch (dw_read_ranges(s->u, v, &s->facts_left, s->out)) {
	case SC_ENOMEM:
		return false;
	case SC_ELIMIT:
		s->refused = true;
	}
	empty = s->out->ranges.len == first;
	if (!inlined)
		*scope = DW_NONE;
	if (empty && (*scope == DW_NONE || !a->has_children))
		return true;
	if (!take_fact(s)) {
		s->out->ranges.len = first;
		return true;
	}
	if (!dw_origin_read(&s->origins, s->u, entry, v, &origin) ||
	    (origin.decl_unit &&
	     !dw_file_index(&s->files, origin.decl_unit, origin.decl_file, &decl_file)) ||
	    (inlined && dw_value_number(&v[DW_SLOT_CALL_FILE], &n) &&
	     !dw_file_index(&s->files, s->u, n, &call_file)))
		return false;
	if (!vec_reserve(&s->out->scopes, 1) ||
	    (dw_has_scopes(s->u->lang) &&
	     !dw_qualifier_want(&s->qualifier, &origin, (uint32_t)s->out->scopes.len)))
		return false;
	out = &s->out->scopes.data[s->out->scopes.len++];
	*out = (struct dw_scope){
		.name = dw_origin_name(&origin),
		.parent = inlined ? *scope : DW_NONE,
		.first_range = (uint32_t)first,
		.num_ranges = (uint32_t)(s->out->ranges.len - first),
		.lang = origin.name_lang ? origin.name_lang : s->u->lang,
		.call_file = call_file,
		.call_line = inlined ? number32(&v[DW_SLOT_CALL_LINE]) : 0,
		.call_column = inlined ? number32(&v[DW_SLOT_CALL_COLUMN]) : 0,
		.decl_file = decl_file,
		.decl_line = origin.decl_line,
		.entry = (uint32_t)(entry - s->u->offset),
		.call_discriminator = inlined ? number32(&v[DW_SLOT_DISCRIMINATOR]) : 0,
	};
	if (empty || !dw_value_address(s->u, &v[DW_SLOT_LOW_PC], &out->entry_vaddr))
		out->entry_vaddr = empty || inlined ? UINT64_MAX : s->out->ranges.data[first].start;
	*scope = (uint32_t)s->out->scopes.len - 1;
	return true;
}

/* The address of a variable whose location is a fixed one: DW_OP_addr or an
 * index, plus a constant perhaps, and nothing else. */
static bool fixed_address(const struct dw_scanner *s, uint64_t *vaddr)
{
	const struct dw_value *v = &s->values[DW_SLOT_LOCATION];
	struct dw_cursor c = { .p = v->bytes, .swap = s->debug->sections.swap };
	uint64_t index;

	if (!v->bytes || !v->number)
		return false;
	c.end = v->bytes + v->number;
	switch (dw_u8(&c)) {
	case DW_OP_addr:
		*vaddr = dw_uint(&c, s->u->sizes.address_size);
		break;
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
		index = dw_uleb(&c);
		if (c.bad || !dw_indexed_address(s->u, index, vaddr))
			return false;
		break;
	default:
		return false;
	}
	if (dw_left(&c)) {
		if (dw_u8(&c) != DW_OP_plus_uconst)
			return false;
		*vaddr += dw_uleb(&c);
	}
	return !c.bad && !dw_left(&c);
}

static bool read_variable(struct dw_scanner *s, uint64_t entry)
{
	struct dw_origin origin;
	struct dw_variable v = {0}, *out;

	if (!fixed_address(s, &v.vaddr) || !take_fact(s))
		return true;
	if (!dw_origin_read(&s->origins, s->u, entry, s->values, &origin))
		return false;
	v.name = dw_origin_name(&origin);
	if (!v.name)
		return true;
	v.decl_line = origin.decl_line;
	v.decl_file = DW_NONE;
	if (origin.decl_unit &&
	    !dw_file_index(&s->files, origin.decl_unit, origin.decl_file, &v.decl_file))
		return false;
	if (origin.type_unit)
		v.size = dw_type_size(origin.type_unit, origin.type, s->u->lang,
				      &s->origins.bytes_left);
	out = vec_push(&s->out->variables);
	if (!out)
		return false;
	*out = v;
	return true;
}

/* Reads a wanted entry; *scope as in read_scope(). False: out of memory. */
static bool read_entry(struct dw_scanner *s, const uint8_t *entry, struct dw_cursor *c,
		       const struct dw_abbrev *a, uint32_t *scope)
{
	uint64_t offset = (uint64_t)(entry - s->u->debug->sections.info.data);
	bool ok = true;

	dw_read_attributes(c, s->u, a, s->values);
	if (!c->bad)
		ok = a->tag == DW_TAG_variable ? read_variable(s, offset) :
		     read_scope(s, offset, a, scope);
	dw_clear_attributes(a, s->values);
	return ok;
}

static int bad_entry(const struct dw_scanner *s, const uint8_t *entry, const char *what,
		     struct sc_error *err)
{
	return sc_error_set(err, SC_EFORMAT, "entry at 0x%llx: %s",
		(unsigned long long)(entry - s->u->debug->sections.info.data), what);
}

/* An entry that is not stepped over: *step says whether it has children, *scope
 * as in read_scope(). */
static int look_at(struct dw_scanner *s, const uint8_t *entry, const struct dw_abbrev *a,
		   struct dw_cursor *c, uint32_t *scope, struct sc_error *err)
{
	if (!a)
		return bad_entry(s, entry, "unknown abbreviation", err);
	if (!a->wanted) {
		dw_skip_attributes(c, s->u, a);
		if (a->tag == DW_TAG_subprogram)
			*scope = DW_NONE;
	} else if (!read_entry(s, entry, c, a, scope)) {
		return sc_no_memory(err);
	}
	return 0;
}

static bool is_c(uint32_t lang)
{
	return lang == DW_LANG_C || lang == DW_LANG_C89 || lang == DW_LANG_C99 || lang == DW_LANG_C11;
}

/* The entry behind a type's children, which begin at p: where its sibling is, if that may be. */
static const uint8_t *behind_type(const struct dw_scanner *s, const uint8_t *p, uint32_t step)
{
	const uint8_t *unit = s->u->debug->sections.info.data + s->u->offset;
	struct dw_cursor c = { .p = p - (step & DW_STEP_SIZE) + DW_STEP_SIBLING(step), .end = p,
			       .swap = s->u->debug->sections.swap };
	const uint64_t sibling = dw_u32(&c);

	return !c.bad && sibling > (uint64_t)(p - unit) && sibling <= s->u->end - s->u->offset ?
		unit + sibling : p;
}

/* Notes a function that other units do not see, in levels [0, depth) of the stack. */
static bool note(struct dw_scanner *s, const uint8_t *entry, size_t depth)
{
	const uint8_t *unit = s->u->debug->sections.info.data + s->u->offset;

	return dw_qualifier_note(&s->qualifier, s->stack.data, depth, (uint32_t)(entry - unit));
}

static int scan_entries(struct dw_scanner *s, struct sc_error *err)
{
	const uint32_t *steps = s->u->abbrevs->steps;
	const size_t dense = s->u->abbrevs->dense;
	struct dw_cursor c = dw_entry_cursor(s->u, s->u->first_entry);
	const uint8_t *p = c.p, *const end = c.end;
	const uint8_t *unit = s->u->debug->sections.info.data + s->u->offset;
	uint32_t scope = DW_NONE; /* innermost one of this level */
	size_t depth = 0;
	uint64_t entries = 0;
	/* Types of C have no code in them, and their children are not looked at. */
	const uint32_t special = is_c(s->u->lang) ? DW_STEP_TYPE :
				 dw_has_scopes(s->u->lang) ? DW_STEP_LOCAL : 0;
	int rc = 0;

	s->refused = false;
	while (p < end) {
		const uint8_t *entry = p;
		uint64_t code = *p++;
		uint32_t step, inner = scope;

		if (code >= 0x80) {
			c.p = entry;
			code = dw_uleb(&c);
			p = c.p;
		}
		if (!code) { /* end of a list of children */
			if (depth)
				scope = s->stack.data[--depth].scope;
			if (!depth)
				break;
			continue;
		}
		entries++;
		step = code - 1 < dense ? steps[code - 1] : DW_STEP_LOOK;
		if (step & DW_STEP_LOOK) {
			const struct dw_abbrev *a = dw_abbrev(s->u->abbrevs, code);
			struct dw_cursor at = c; /* so that c can stay in registers */

			at.p = p;
			rc = a && a->local && special && !note(s, entry, depth) ?
				sc_no_memory(err) : look_at(s, entry, a, &at, &inner, err);
			step = a && a->has_children ? DW_STEP_CHILDREN : 0;
			if (!rc && at.bad)
				rc = bad_entry(s, entry, "cut off", err);
			p = at.p;
		} else if ((step & DW_STEP_SIZE) > (size_t)(end - p)) {
			rc = bad_entry(s, entry, "cut off", err);
		} else {
			p += step & DW_STEP_SIZE;
			if (step & special) {
				const uint8_t *behind = step & special & DW_STEP_TYPE ?
					behind_type(s, p, step) : p;

				if (behind != p) {
					p = behind;
					continue;
				}
				if (special == DW_STEP_LOCAL && !note(s, entry, depth))
					rc = sc_no_memory(err);
			}
		}
		if (rc)
			break;
		if (step & DW_STEP_CHILDREN) {
			s->stack.len = depth;
			if (!vec_reserve(&s->stack, 1)) {
				rc = sc_no_memory(err);
				break;
			}
			s->stack.data[depth++] = (struct dw_level){ scope, (uint32_t)(entry - unit) };
			scope = step & DW_STEP_FUNCTION ? DW_NONE : inner;
		} else if (!depth) {
			break; /* a root without children */
		}
	}
	s->out->entries += entries;
	return rc;
}

/* ---- units -------------------------------------------------------------------- */

static int read_lines(struct dw_scanner *s, struct sc_error *err)
{
	const struct dw_unit *u = s->u;

	if (!u->has_stmt_list)
		return 0;
	/* The rows of a partial unit's table are read with the unit it was taken out of; and
	 * rows ask for no strings. */
	if (u->tag == DW_TAG_partial_unit || s->debug->sections.str_pages.stand_in)
		return dw_read_line_files(&s->debug->sections, u->stmt_list, u->comp_dir, s->out,
					  err);
	return dw_read_lines(&s->debug->sections, u->stmt_list, u->comp_dir, s->out, err);
}

/* Reads the unit s->u; its entries stand in `split`, if that is not NULL. */
static int scan(struct dw_scanner *s, const struct dw_unit *split, struct sc_error *err)
{
	int rc, line_rc;

	s->facts_left = dw_most_facts(s->u);
	if (split && dw_most_facts(split) > s->facts_left)
		s->facts_left = dw_most_facts(split);
	dw_origin_memo_clear(&s->origins, split ? split : s->u);
	if (dw_read_covers(s->u, s->values, &s->facts_left, s->out) == SC_ENOMEM)
		return sc_no_memory(err);
	line_rc = read_lines(s, err);
	if (line_rc == SC_ENOMEM)
		return line_rc;
	s->files.own = (uint32_t)s->out->files.len;
	if (split)
		s->u = split;
	dw_qualifier_begin(&s->qualifier, &s->origins, s->u, s->out);
	rc = scan_entries(s, line_rc ? NULL : err);
	if (!dw_qualifier_finish(&s->qualifier))
		return sc_no_memory(err);
	if (!rc && (s->refused || !s->origins.bytes_left))
		rc = sc_error_set(line_rc ? NULL : err, SC_EFORMAT, s->refused ?
				  "more functions, ranges and variables than such a unit has" :
				  "its references lead to too much");
	if (rc && split)
		sc_error_prefix(err, "%s: ", s->files.rows->split_name);
	return line_rc && rc != SC_ENOMEM ? line_rc : rc;
}

/* The split unit's entries, or what the skeleton itself has if it is missing. */
static int scan_split(struct dw_scanner *s, struct sc_error *err)
{
	struct dw_debug debug = {0};
	const struct dw_unit *split = NULL;
	int missing = dw_split_read(s->u, &debug, &split, err), rc = missing;

	if (rc != SC_ENOMEM)
		rc = scan(s, split, missing ? NULL : err);
	dw_debug_deinit(&debug);
	dw_file_numbers_forget(&s->files);
	return rc == SC_ENOMEM ? rc : missing ? missing : rc;
}

int dw_scan_unit(struct dw_scanner *s, const struct dw_unit *u, struct dw_facts *ret,
		 struct sc_error *err)
{
	int rc;

	dw_facts_clear(ret);
	ret->offset = u->offset;
	if (u->broken || !u->tag || u->type == DW_UT_type || u->type == DW_UT_split_type)
		return 0;
	s->u = u;
	s->out = ret;
	dw_file_numbers_begin(&s->files, u, ret);
	rc = u->split_name ? scan_split(s, err) : scan(s, NULL, err);
	if (rc)
		sc_error_prefix(err, "unit at 0x%llx: ", (unsigned long long)u->offset);
	return rc;
}
