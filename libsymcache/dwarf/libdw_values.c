/* Values of entries through libdw: see libdw_values.h. */
#include "libsymcache/dwarf/libdw_values.h"

#include <dwarf.h>
#include <stdbool.h>

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

int dw_libdw_size(Dwarf_Die *type, int lang, Dwarf_Word *ret)
{
	Dwarf_Die plain, cudie, element, child;
	Dwarf_Attribute attr;
	Dwarf_Word total = 1, stride, n;
	int rc;

	if (!dwarf_aggregate_size(type, ret))
		return 0;
	if (dwarf_peel_type(type, &plain) || dwarf_tag(&plain) != DW_TAG_array_type ||
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
