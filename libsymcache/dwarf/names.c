/* Names of DWARF's numbers: see names.h. */
#include "libsymcache/dwarf/names.h"

#include <dwarf.h>
#include <elfutils/known-dwarf.h>
#include <stddef.h>

const char *dw_language_name(uint32_t language)
{
	switch (language) {
#define DWARF_ONE_KNOWN_DW_LANG(name, code) case code: return #name;
	DWARF_ALL_KNOWN_DW_LANG
#undef DWARF_ONE_KNOWN_DW_LANG
	}
	return NULL;
}
