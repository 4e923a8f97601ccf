/* DW_LANG_… (DWARF 7.12, and the version 6 codes in use) → enum symcache_lang. */
#ifndef SC_LANG_H
#define SC_LANG_H

#include <stdint.h>

uint32_t sc_lang_of_dwarf(uint32_t dw_lang);

#endif
