/* DW_LANG_… → enum symcache_lang: see lang.h. Numbers, because libdw's dwarf.h
 * does not know the newest ones. */
#include "libsymcache/write/flatten/lang.h"

#include "format/symcache_format.h"

uint32_t sc_lang_of_dwarf(uint32_t dw_lang)
{
	switch (dw_lang) {
	case 0x01: /* C89 */
	case 0x02: /* C */
	case 0x0c: /* C99 */
	case 0x1d: /* C11 */
	case 0x2c: /* C17 */
	case 0x3e: /* C23 */
		return SYMCACHE_LANG_C;
	case 0x04: /* C_plus_plus */
	case 0x19: /* C_plus_plus_03 */
	case 0x1a: /* C_plus_plus_11 */
	case 0x21: /* C_plus_plus_14 */
	case 0x2a: /* C_plus_plus_17 */
	case 0x2b: /* C_plus_plus_20 */
	case 0x3a: /* C_plus_plus_23 */
		return SYMCACHE_LANG_CPP;
	case 0x10:
		return SYMCACHE_LANG_OBJC;
	case 0x11:
		return SYMCACHE_LANG_OBJCPP;
	case 0x13:
		return SYMCACHE_LANG_D;
	case 0x16:
		return SYMCACHE_LANG_GO;
	case 0x1c:
		return SYMCACHE_LANG_RUST;
	case 0x1e:
		return SYMCACHE_LANG_SWIFT;
	case 0x32:
		return SYMCACHE_LANG_CSHARP;
	default:
		return SYMCACHE_LANG_UNKNOWN;
	}
}
