/* Values of entries through libdw: see libdw_values.h. */
#include "libsymcache/dwarf/libdw_values.h"

#include <dwarf.h>
#include <stdlib.h>

#include "libsymcache/dwarf/qualify.h"

uint32_t dw_libdw_number32(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word v;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, &v) &&
	       v <= UINT32_MAX ? (uint32_t)v : 0;
}

const char *dw_libdw_comp_dir(Dwarf_Die *cudie)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr(cudie, DW_AT_comp_dir, &attr));
}

const char *dw_libdw_name(Dwarf_Die *die, Dwarf_CU **cu)
{
	static const unsigned attrs[] = {
		DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name
	};
	Dwarf_Attribute attr;

	for (int i = 0; i < 3; i++) {
		const char *s = dwarf_attr_integrate(die, attrs[i], &attr) ?
			dwarf_formstring(&attr) : NULL;
		if (s && *s) {
			*cu = attr.cu;
			return s;
		}
	}
	return NULL;
}

const char *dw_libdw_split_name(Dwarf_Die *cudie)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr(cudie, DW_AT_dwo_name, &attr) ||
	    dwarf_attr(cudie, DW_AT_GNU_dwo_name, &attr))
		name = dwarf_formstring(&attr);
	return name ? name : "its .dwo file";
}

static bool bound(Dwarf_Die *die, unsigned name, Dwarf_Sword *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formsdata(&attr, ret);
}

/* Elements of one dimension. False: it has no fixed number. */
static bool dimension(Dwarf_Die *die, int lang, Dwarf_Word *ret)
{
	Dwarf_Sword count, lower, upper;

	if (bound(die, DW_AT_count, &count)) {
		*ret = (Dwarf_Word)count;
		return true;
	}
	if (!bound(die, DW_AT_upper_bound, &upper))
		return false;
	if (!bound(die, DW_AT_lower_bound, &lower) && dwarf_default_lower_bound(lang, &lower))
		lower = 0;
	*ret = (Dwarf_Word)(upper - lower + 1);
	return lower <= upper;
}

/* Of a pointer to a member, which libdw does not know. */
static int member_pointer_size(Dwarf_Die *pointer, Dwarf_Word *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die member, cudie;
	uint8_t size;

	if (!dwarf_diecu(pointer, &cudie, &size, NULL))
		return -1;
	*ret = size;
	if (dwarf_attr(pointer, DW_AT_type, &attr) && dwarf_formref_die(&attr, &member) &&
	    dwarf_tag(&member) == DW_TAG_subroutine_type)
		*ret *= 2;
	return 0;
}

int dw_libdw_size(Dwarf_Die *type, int lang, Dwarf_Word *ret)
{
	Dwarf_Die plain, cudie, element, child;
	Dwarf_Attribute attr;
	Dwarf_Word total = 1, stride, n;
	int rc;

	if (!dwarf_aggregate_size(type, ret))
		return 0;
	if (dwarf_peel_type(type, &plain))
		return -1;
	if (dwarf_tag(&plain) == DW_TAG_ptr_to_member_type)
		return member_pointer_size(&plain, ret);
	if (dwarf_tag(&plain) != DW_TAG_array_type ||
	    !dwarf_diecu(&plain, &cudie, NULL, NULL) || dwarf_srclang(&cudie) != -1 ||
	    !dwarf_attr_integrate(&plain, DW_AT_type, &attr) ||
	    !dwarf_formref_die(&attr, &element) || dw_libdw_size(&element, lang, &stride) ||
	    dwarf_child(&plain, &child))
		return -1;
	do {
		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (!dimension(&child, lang, &n))
			return -1;
		total *= n;
	} while (!(rc = dwarf_siblingof(&child, &child)));
	if (dwarf_attr_integrate(&plain, DW_AT_byte_stride, &attr))
		dwarf_formudata(&attr, &stride);
	*ret = total * stride;
	return rc < 0 ? -1 : 0;
}

/* ---- qualified names -------------------------------------------------------------------- */

static const char *own_string(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	const char *s = dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;

	return s && *s ? s : NULL;
}

/* The entry that gives a function its name, and its linkage name, NULL: it has none. False: there
 * is no such entry. */
static bool named_entry(Dwarf_Die *die, Dwarf_Die *ret, const char **linkage)
{
	Dwarf_Attribute attr;
	Dwarf_CU *cu;
	Dwarf_Die at = *die;

	*linkage = dw_libdw_name(die, &cu);
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		return *linkage;
	*linkage = NULL;
	for (int i = 0; i < 16; i++) {
		*ret = at;
		if (own_string(&at, DW_AT_name))
			return true;
		if ((!dwarf_attr(&at, DW_AT_abstract_origin, &attr) &&
		     !dwarf_attr(&at, DW_AT_specification, &attr)) || !dwarf_formref_die(&attr, &at))
			return false;
	}
	return false;
}

/* Is it noted by the fast reader: do other units not see it? */
static bool is_local(Dwarf_Die *named)
{
	return !dwarf_hasattr(named, DW_AT_external) &&
	       !dwarf_hasattr(named, DW_AT_abstract_origin) &&
	       !dwarf_hasattr(named, DW_AT_specification) &&
	       dwarf_tag(named) == DW_TAG_subprogram;
}

/* Adds the names of what is around `named`. False: they cannot all be known. */
static bool names_around(Dwarf_Die *named, struct dw_scope_names *names)
{
	Dwarf_Die *around = NULL, other;
	const int n = dwarf_getscopes_die(named, &around);
	const char *inner = own_string(named, DW_AT_name), *linkage;
	bool ok = n > 0, more = true;

	for (int i = 1; i < n && ok && more; i++) {
		Dwarf_Die *at = &around[i];
		const uint16_t tag = (uint16_t)dwarf_tag(at);
		const char *name = own_string(at, DW_AT_name);

		switch (dw_scope_kind(tag)) {
		case DW_SCOPE_NONE:
			break;
		case DW_SCOPE_END:
			more = false;
			break;
		case DW_SCOPE_NAMED:
			ok = (name || !dwarf_hasattr(at, DW_AT_specification)) &&
			     dw_scope_names_add(names, name ? name : dw_unnamed_scope(tag, inner));
			break;
		case DW_SCOPE_FUNCTION:
			ok = named_entry(at, &other, &linkage) &&
			     dw_scope_names_add(names, linkage ? linkage :
						own_string(&other, DW_AT_name));
			more = ok && !linkage && other.cu == named->cu && is_local(&other);
			if (more && other.addr != at->addr) {
				ok = names_around(&other, names);
				more = false;
			}
			break;
		}
		inner = names->n ? names->list[names->n - 1] : inner;
	}
	free(around);
	return ok;
}

bool dw_libdw_qualify(Dwarf_Die *die, struct dw_facts *u, uint32_t *ret)
{
	struct dw_scope_names names = { .n = 0 };
	const char *linkage;
	Dwarf_Die named, cudie;

	*ret = 0;
	if (!named_entry(die, &named, &linkage) || linkage || named.cu != die->cu ||
	    !is_local(&named) || !dwarf_diecu(&named, &cudie, NULL, NULL) ||
	    !dw_has_scopes((uint32_t)dwarf_srclang(&cudie)) || !names_around(&named, &names))
		return true;
	return dw_scope_names_write(&names, own_string(&named, DW_AT_name), u, ret);
}
