/*
 * The slow reader: debugging entries through plain libdw calls.
 *
 * It walks every entry of a unit with an explicit stack (entries may nest to
 * any depth) and prunes nothing: functions hide in classes, namespaces, lexical
 * blocks and other functions. Names and declarations are looked up through
 * DW_AT_abstract_origin and DW_AT_specification, which may lead into other
 * units (LTO) and into the supplementary file (dwz).
 *
 * Cost: several libdw calls per entry. Not thread-safe. What it leaves to libdw:
 * it ends at the first unit header that is broken, and trusts DW_AT_sibling.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

#include "libsymcache/dwarf/abbrev.h"
#include "libsymcache/dwarf/libdw_values.h"
#include "libsymcache/dwarf/line.h"
#include "libsymcache/dwarf/reader.h"

/* File tables of other units, for declarations that come from there. */
struct foreign {
	Dwarf_CU *cu;
	struct dw_facts unit;      /* files only */
	VEC(uint32_t) index_here; /* their file number → 1 + index into our files */
};

struct level {
	Dwarf_Die die;
	uint32_t scope; /* the innermost scope around the entry */
};

struct dw_libdw_reader {
	Dwarf *dbg, *alt;
	Dwarf *own_alt; /* NULL: `alt` is found and closed by libdw */
	const struct dw_sections *sections;
	Dwarf_CU *cu; /* of the unit read last */
	Dwarf_CU *home; /* unit whose file numbers are indices into files */
	int unit_lang;
	Dwarf_Half version;
	bool ended; /* libdw cannot go on behind a broken unit header */
	/* Entries may share a list of ranges; what all of them may have together
	 * is bounded by the size of the file, or memory would not be. */
	uint64_t ranges_left;
	VEC(struct level) stack;
	VEC(struct foreign) foreigners;
	size_t last_foreigner;
};

int dw_libdw_open(int fd, int alt_fd, const struct dw_sections *sections,
		  struct dw_libdw_reader **ret, struct sc_error *err)
{
	struct dw_libdw_reader *r = calloc(1, sizeof(*r));
	size_t file_size;

	*ret = NULL;
	if (!r)
		return sc_no_memory(err);
	r->sections = sections;
	r->dbg = dwarf_begin(fd, DWARF_C_READ);
	if (!r->dbg) {
		free(r);
		return sc_error_set(err, SC_EFORMAT, "libdw: %s", dwarf_errmsg(-1));
	}
	r->own_alt = alt_fd < 0 ? NULL : dwarf_begin(alt_fd, DWARF_C_READ);
	if (r->own_alt)
		dwarf_setalt(r->dbg, r->own_alt);
	r->alt = dwarf_getalt(r->dbg);
	r->ranges_left = 1 << 16;
	if (elf_rawfile(dwarf_getelf(r->dbg), &file_size))
		r->ranges_left += 4 * file_size;
	*ret = r;
	return 0;
}

void dw_libdw_close(struct dw_libdw_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->foreigners.len; i++) {
		dw_facts_deinit(&r->foreigners.data[i].unit);
		vec_deinit(&r->foreigners.data[i].index_here);
	}
	vec_deinit(&r->foreigners);
	vec_deinit(&r->stack);
	dwarf_end(r->dbg);
	dwarf_end(r->own_alt);
	free(r);
}

/* ---- attributes --------------------------------------------------------------- */

static struct foreign *foreign_unit(struct dw_libdw_reader *r, Dwarf_CU *cu)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	struct foreign *f;
	const struct dw_sections *s = r->sections;

	if (r->last_foreigner < r->foreigners.len &&
	    r->foreigners.data[r->last_foreigner].cu == cu)
		return &r->foreigners.data[r->last_foreigner];
	for (size_t i = 0; i < r->foreigners.len; i++)
		if (r->foreigners.data[i].cu == cu) {
			r->last_foreigner = i;
			return &r->foreigners.data[i];
		}
	f = vec_push(&r->foreigners);
	if (!f)
		return NULL;
	f->cu = cu;
	r->last_foreigner = r->foreigners.len - 1;
	if (r->alt && dwarf_cu_getdwarf(cu) == r->alt)
		s = s->alt;
	if (s && dwarf_cu_die(cu, &die, NULL, NULL, NULL, NULL, NULL, NULL) &&
	    dwarf_attr(&die, DW_AT_stmt_list, &attr) && !dwarf_formudata(&attr, &offset))
		dw_read_line_files(s, offset, dw_libdw_comp_dir(&die), &f->unit, NULL);
	return f;
}

/* File number `file` of unit `cu` as an index into u->files; *ret stays if there is none. */
static int file_index(struct dw_libdw_reader *r, Dwarf_CU *cu, uint64_t file,
		      struct dw_facts *u, uint32_t *ret)
{
	struct foreign *f;
	struct dw_file *copy;

	if (cu == r->home) {
		if (file < u->files.len && u->files.data[file].name)
			*ret = (uint32_t)file;
		return 0;
	}
	f = foreign_unit(r, cu);
	if (!f)
		return SC_ENOMEM;
	if (file >= f->unit.files.len || !f->unit.files.data[file].name)
		return 0;
	while (f->index_here.len <= file)
		if (!vec_push(&f->index_here))
			return SC_ENOMEM;
	if (!f->index_here.data[file]) {
		copy = vec_push(&u->files);
		if (!copy)
			return SC_ENOMEM;
		*copy = f->unit.files.data[file];
		f->index_here.data[file] = (uint32_t)u->files.len;
	}
	*ret = f->index_here.data[file] - 1;
	return 0;
}

/* DW_AT_decl_file or DW_AT_call_file, whoever's file number it is. */
static int file_attr(struct dw_libdw_reader *r, Dwarf_Die *die, unsigned name,
		     struct dw_facts *u, uint32_t *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	*ret = DW_NONE;
	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &v))
		return 0;
	return file_index(r, attr.cu, v, u, ret);
}

/* ---- entries ------------------------------------------------------------------ */

/* Appends the ranges of an entry; empty and inverted ones are left out. */
static int read_ranges(struct dw_libdw_reader *r, Dwarf_Die *die, struct dw_facts *u)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		struct dw_range *range;
		if (!r->ranges_left)
			return SC_EFORMAT;
		r->ranges_left--;
		if (start >= end)
			continue;
		range = vec_push(&u->ranges);
		if (!range)
			return SC_ENOMEM;
		*range = (struct dw_range){ start, end };
	}
	return 0;
}

static int read_scope(struct dw_libdw_reader *r, Dwarf_Die *die, bool inlined, uint32_t parent,
		      struct dw_facts *u, uint32_t *ret)
{
	struct dw_scope scope = { .parent = inlined ? parent : DW_NONE,
				  .first_range = (uint32_t)u->ranges.len };
	Dwarf_CU *cu = die->cu;
	struct dw_scope *s;
	Dwarf_Addr low;
	Dwarf_Die cudie;
	int lang = r->unit_lang, rc = read_ranges(r, die, u);

	if (rc)
		return rc;
	scope.num_ranges = (uint32_t)u->ranges.len - scope.first_range;
	/* A declaration, an abstract instance, or an inlined call with nothing in it. */
	if (!scope.num_ranges && (!inlined || parent == DW_NONE || dwarf_haschildren(die) <= 0))
		return 0;

	scope.name = dw_libdw_name(die, &cu);
	if (!dw_libdw_qualify(die, u, &scope.qualified))
		return SC_ENOMEM;
	if (cu != die->cu && dwarf_cu_die(cu, &cudie, NULL, NULL, NULL, NULL, NULL, NULL)) {
		int other = dwarf_srclang(&cudie);
		if (other > 0)
			lang = other;
	}
	scope.entry = (uint32_t)dwarf_cuoffset(die);
	scope.lang = lang > 0 ? (uint32_t)lang : 0;
	scope.entry_vaddr = !scope.num_ranges ? UINT64_MAX : !dwarf_lowpc(die, &low) ? low :
			    inlined ? UINT64_MAX : u->ranges.data[scope.first_range].start;
	scope.decl_line = dw_libdw_number32(die, DW_AT_decl_line);
	scope.call_file = DW_NONE;
	rc = file_attr(r, die, DW_AT_decl_file, u, &scope.decl_file);
	if (!rc && inlined) {
		scope.call_line = dw_libdw_number32(die, DW_AT_call_line);
		scope.call_column = dw_libdw_number32(die, DW_AT_call_column);
		scope.call_discriminator = dw_libdw_number32(die, DW_AT_GNU_discriminator);
		rc = file_attr(r, die, DW_AT_call_file, u, &scope.call_file);
	}
	s = rc ? NULL : vec_push(&u->scopes);
	if (!s)
		return SC_ENOMEM;
	*s = scope;
	*ret = (uint32_t)u->scopes.len - 1;
	return 0;
}

/* The fixed address of a variable, if its location is one. */
static bool fixed_address(Dwarf_Die *die, uint64_t *vaddr)
{
	Dwarf_Attribute attr, address;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr(die, DW_AT_location, &attr) || dwarf_getlocation(&attr, &ops, &n) ||
	    n < 1 || n > 2 || (n == 2 && ops[1].atom != DW_OP_plus_uconst))
		return false;
	if (ops[0].atom == DW_OP_addr)
		*vaddr = ops[0].number;
	else if ((ops[0].atom != DW_OP_addrx && ops[0].atom != DW_OP_GNU_addr_index) ||
		 dwarf_getlocation_attr(&attr, ops, &address) || dwarf_formaddr(&address, vaddr))
		return false;
	if (n == 2)
		*vaddr += ops[1].number;
	return true;
}

static int read_variable(struct dw_libdw_reader *r, Dwarf_Die *die, struct dw_facts *u)
{
	struct dw_variable v = {0}, *slot;
	Dwarf_CU *cu;
	Dwarf_Attribute attr;
	Dwarf_Die type;
	Dwarf_Word size;

	if (!fixed_address(die, &v.vaddr))
		return 0;
	v.name = dw_libdw_name(die, &cu);
	if (!v.name)
		return 0;
	v.decl_line = dw_libdw_number32(die, DW_AT_decl_line);
	if (dwarf_attr_integrate(die, DW_AT_type, &attr) && dwarf_formref_die(&attr, &type) &&
	    !dw_libdw_size(&type, r->unit_lang, &size))
		v.size = size;
	if (file_attr(r, die, DW_AT_decl_file, u, &v.decl_file))
		return SC_ENOMEM;
	slot = vec_push(&u->variables);
	if (!slot)
		return SC_ENOMEM;
	*slot = v;
	return 0;
}

/* Reads one entry; *scope becomes the innermost scope for its children. */
static int read_entry(struct dw_libdw_reader *r, Dwarf_Die *die, struct dw_facts *u,
		      uint32_t *scope)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram: {
		uint32_t own = DW_NONE;
		int rc = read_scope(r, die, false, DW_NONE, u, &own);
		*scope = own;
		return rc;
	}
	case DW_TAG_inlined_subroutine:
		return read_scope(r, die, true, *scope, u, scope);
	case DW_TAG_variable:
		return read_variable(r, die, u);
	}
	return 0;
}

static int walk(struct dw_libdw_reader *r, Dwarf_Die *root, struct dw_facts *u,
		struct sc_error *err)
{
	struct level *top = vec_push(&r->stack);
	int rc;

	if (!top)
		return SC_ENOMEM;
	rc = dwarf_child(root, &top->die);
	top->scope = DW_NONE;
	if (rc) {
		r->stack.len--;
		return rc < 0 ? sc_error_set(err, SC_EFORMAT, "%s", dwarf_errmsg(-1)) : 0;
	}
	while (r->stack.len) {
		Dwarf_Die child;
		uint32_t scope;

		top = &r->stack.data[r->stack.len - 1];
		scope = top->scope;
		u->entries++;
		rc = read_entry(r, &top->die, u, &scope);
		if (rc)
			return sc_error_set(err, rc, rc == SC_ENOMEM ? "out of memory" :
					    "more ranges than such a file can have");
		rc = dwarf_child(&top->die, &child);
		if (rc < 0)
			child = top->die;
		if (rc == 0) {
			top = vec_push(&r->stack);
			if (!top)
				return sc_no_memory(err);
			top->die = child;
			top->scope = scope;
			continue;
		}
		while (rc > 0 && r->stack.len) {
			top = &r->stack.data[r->stack.len - 1];
			child = top->die;
			rc = dwarf_siblingof(&child, &top->die);
			if (rc > 0)
				r->stack.len--;
			/* Back or on the spot: we would never come to an end. */
			if (rc == 0 && (char *)top->die.addr <= (char *)child.addr)
				return sc_error_set(err, SC_EFORMAT,
					"entry at 0x%llx: its sibling is not a later entry",
					(unsigned long long)dwarf_dieoffset(&child));
		}
		if (rc < 0)
			return sc_error_set(err, SC_EFORMAT, "entry after 0x%llx: %s",
				(unsigned long long)dwarf_dieoffset(&child), dwarf_errmsg(-1));
	}
	return 0;
}

static int read_unit(struct dw_libdw_reader *r, Dwarf_Die *cudie, Dwarf_Die *subdie,
		     struct dw_facts *u, struct sc_error *err)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	Dwarf_Die *root = subdie->addr ? subdie : cudie;
	int line_rc = 0, rc;

	r->home = root->cu;
	r->unit_lang = dwarf_srclang(root);
	for (size_t i = 0; i < r->foreigners.len; i++)
		vec_clear(&r->foreigners.data[i].index_here); /* pushed anew as 0 */
	if (read_ranges(r, cudie, u) == SC_ENOMEM)
		return sc_no_memory(err);
	/* DWARF 2 has no ranges to say that it has code in several sections. */
	if (r->version == 2 && !dwarf_hasattr(cudie, DW_AT_ranges))
		vec_clear(&u->ranges);
	u->num_covers = (uint32_t)u->ranges.len;
	/* The rows of a partial unit's table are read with the unit it was
	 * taken out of. */
	if (dwarf_attr(cudie, DW_AT_stmt_list, &attr))
		line_rc = dwarf_formudata(&attr, &offset) ?
			sc_error_set(err, SC_EFORMAT, "DW_AT_stmt_list: %s", dwarf_errmsg(-1)) :
			dwarf_tag(cudie) == DW_TAG_partial_unit ?
			dw_read_line_files(r->sections, offset, dw_libdw_comp_dir(cudie), u, err) :
			dw_read_lines(r->sections, offset, dw_libdw_comp_dir(cudie), u, err);
	r->stack.len = 0;
	rc = walk(r, root, u, line_rc ? NULL : err);
	return line_rc && rc != SC_ENOMEM ? line_rc : rc;
}

int dw_libdw_next(void *reader, struct dw_facts *u, struct sc_error *err)
{
	struct dw_libdw_reader *r = reader;
	Dwarf_Die cudie, subdie;
	uint8_t type;
	int rc;

	dw_facts_clear(u);
	if (r->ended)
		return SC_ENOTFOUND;
	rc = dwarf_get_units(r->dbg, r->cu, &r->cu, &r->version, &type, &cudie, &subdie);
	if (rc > 0)
		return SC_ENOTFOUND;
	if (rc < 0) {
		r->ended = true;
		return sc_error_set(err, SC_EFORMAT, "%s", dwarf_errmsg(-1));
	}
	u->offset = dwarf_dieoffset(&cudie);
	if (type == DW_UT_type || type == DW_UT_split_type)
		return 0;
	rc = read_unit(r, &cudie, &subdie, u, err);
	if (type == DW_UT_skeleton && !subdie.addr && rc != SC_ENOMEM)
		rc = sc_error_set(err, SC_EFORMAT, "%s is not there", dw_libdw_split_name(&cudie));
	if (rc)
		sc_error_prefix(err, "unit at 0x%llx: ", (unsigned long long)u->offset);
	return rc;
}
