/* DW_LANG_… → enum symcache_lang: see lang.h. Numbers, because libdw's dwarf.h
 * does not know the newest ones. */
#include "libsymcache/write/flatten/lang.h"

#include "format/symcache_format.h"

static const uint8_t langs[] = {
	[0x01] = SYMCACHE_LANG_C /* C89 */, [0x02] = SYMCACHE_LANG_C, [0x0c] = SYMCACHE_LANG_C /* C99 */,
	[0x1d] = SYMCACHE_LANG_C /* C11 */, [0x2c] = SYMCACHE_LANG_C /* C17 */,
	[0x3e] = SYMCACHE_LANG_C /* C23 */,
	[0x04] = SYMCACHE_LANG_CPP, [0x19] = SYMCACHE_LANG_CPP /* C++03 */,
	[0x1a] = SYMCACHE_LANG_CPP /* C++11 */, [0x21] = SYMCACHE_LANG_CPP /* C++14 */,
	[0x2a] = SYMCACHE_LANG_CPP /* C++17 */, [0x2b] = SYMCACHE_LANG_CPP /* C++20 */,
	[0x3a] = SYMCACHE_LANG_CPP /* C++23 */,
	[0x10] = SYMCACHE_LANG_OBJC, [0x11] = SYMCACHE_LANG_OBJCPP, [0x13] = SYMCACHE_LANG_D,
	[0x16] = SYMCACHE_LANG_GO, [0x1c] = SYMCACHE_LANG_RUST, [0x1e] = SYMCACHE_LANG_SWIFT,
	[0x32] = SYMCACHE_LANG_CSHARP,
};

_Static_assert(!SYMCACHE_LANG_UNKNOWN, "what the table lacks");

uint32_t sc_lang_of_dwarf(uint32_t dw_lang)
{
	return dw_lang < sizeof(langs) ? langs[dw_lang] : SYMCACHE_LANG_UNKNOWN;
}
