/* Which symbols a cache is made of, in words: see symbolize.h. */
#include "libsymcache/symbolize/symbolize.h"

const char *symcache_kind_of_symbols(const struct symcache *cache)
{
	static const struct { uint32_t source; const char *words; } kinds[] = {
		{ SYMCACHE_FROM_NAMES, "names alone" },
		{ SYMCACHE_FROM_DWARF, "DWARF" }, { SYMCACHE_FROM_GO, "Go's .gopclntab" },
		{ SYMCACHE_FROM_SYMTAB, "symbol table" },
		{ SYMCACHE_FROM_MINIDEBUGINFO, "MiniDebugInfo" },
		{ SYMCACHE_FROM_DYNSYM, "dynamic symbols" },
	};

	for (size_t i = 0; cache->image && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (cache->image->sources & kinds[i].source)
			return kinds[i].words;
	return "symbols";
}

bool symcache_lacks_lines(const struct symcache *cache)
{
	return cache->image && !(cache->image->sources & (SYMCACHE_FROM_DWARF | SYMCACHE_FROM_GO));
}
