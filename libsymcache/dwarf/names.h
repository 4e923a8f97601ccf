/* Names of DWARF's numbers, for people. */
#ifndef DW_NAMES_H
#define DW_NAMES_H

#include <stdint.h>

/* "C_plus_plus_14" for DW_LANG_C_plus_plus_14; NULL: unknown, or 0. */
const char *dw_language_name(uint32_t language);

#endif
