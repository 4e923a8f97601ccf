/* tiny_names_test.h: a small SymCache file with names of all kinds, for the tests of who shows them. */
#ifndef TINY_NAMES_TEST_H
#define TINY_NAMES_TEST_H

#include "libsymcache/read/tiny_test.h"

/* All of an example of the reader's, and more functions, of the names that are shown in a special way:
 *
 *   0x00  first           of the symbol table, nothing else
 *   0x50  a::work()         work.cc:31
 *   0x54  ns::leaf          leaf.h:4   in  a::work()   work.cc:30
 *   0x60  caf\xe9           a file with a control character
 *   0x68  ?
 *   0x70  leaf, too
 *   0x78  nothing
 */
static inline struct tiny tiny_example_names(uint32_t version)
{
	const uint32_t none = SYMCACHE_NONE;
	struct tiny t = tiny_example_ext(version);
	const uint32_t leaf = t.functions[2].name, work = tiny_string(&t, "_ZN1a4workEv");
	const uint32_t odd = tiny_string(&t, "caf%E9\033"), cold = tiny_string(&t, "_ZN1a4workEv.cold");
	const struct symcache_function functions[] = {
		{ work, none, 0x50, SYMCACHE_LANG_CPP }, { odd, none, 0x60, SYMCACHE_LANG_C },
		{ tiny_string(&t, "?"), none, 0x68, SYMCACHE_LANG_C }, { leaf, none, 0x70, SYMCACHE_LANG_C },
	};
	const struct symcache_source_location locations[] = {
		{ 0, 11, 0, none }, { 1, 7, 1, 0 }, { 2, 30, 4, none }, /* calls */
		{ 0, 10, 0, none }, { 1, 3, 2, 1 }, { 0, 12, 0, none }, TINY_GAP, { none, 0, 3, none },
		{ 2, 31, 4, none }, { 1, 4, 2, 2 }, { 3, 0, 5, none }, { 0, 5, 6, none }, { 2, 9, 7, none },
		TINY_GAP,
	};
	const uint32_t ranges[] = { 0x10, 0x20, 0x28, 0x30, 0x40, 0x50, 0x54, 0x60, 0x68, 0x70, 0x78 };
	const struct symcache_ext_symbol symbols[] = {
		{ 0, 8, tiny_string(&t, "first"), none },
		{ 0x10, 0x20, t.functions[0].name, none },
		{ 0x40, 0, t.functions[3].name, tiny_string(&t, "dir/naked.s") },
		{ 0x50, 8, work, none }, { 0x58, 8, cold, none },
		{ 0x60, 4, odd, tiny_string(&t, "caf%E9.s") },
		{ 0x70, 8, tiny_string(&t, "leaf.2"), none },
		{ 0x1000, 0x40, tiny_string(&t, "table.1"), tiny_string(&t, "data.c") },
	};
	const struct symcache_ext_alias aliases[] = {
		{ 0x10, tiny_string(&t, "entry") }, { 0x10, cold }, { 0x58, tiny_string(&t, "cold_too") },
		{ 0x68, tiny_string(&t, "unknown") }, { 0x1000, tiny_string(&t, "table_too") },
	};

	t.files[2] = (struct symcache_file_v9){ none, none, tiny_string(&t, "../x/./work.cc"), none, none, none };
	t.files[3] = (struct symcache_file_v9){ t.files[0].comp_dir, tiny_string(&t, "sub\033"), odd,
						none, none, none };
	memcpy(t.functions + 4, functions, sizeof(functions));
	memcpy(t.locations, locations, sizeof(locations));
	memcpy(t.ranges, ranges, sizeof(ranges));
	memcpy(t.symbols, symbols, sizeof(symbols));
	memcpy(t.aliases, aliases, sizeof(aliases));
	t.decls[4] = (struct symcache_ext_decl){ 2, 29 };
	t.decls[5] = t.decls[6] = (struct symcache_ext_decl){ none, 0 };
	t.decls[7] = (struct symcache_ext_decl){ 9, 8 };
	t.qualified[0] = (struct symcache_ext_qualified){ 2, tiny_string(&t, "_ZN1a4workEv::leaf") };
	t.h.num_files = 4;
	t.h.num_functions = t.num_decls = 8;
	t.h.num_source_locations = t.num_columns = t.num_discriminators = 14;
	t.h.num_ranges = 11;
	t.num_symbols = 8;
	t.num_aliases = 5;
	t.num_qualified = 1;
	t.discriminators[2] = 6;
	t.discriminators[4] = 3;
	t.discriminators[9] = 255;
	t.discriminator_list[0] = (struct symcache_ext_detail){ 9, 0x54, 70000 };
	t.num_discriminator_list = 1;
	t.starts[0] = 0x20;
	t.starts[1] = none;
	t.starts[2] = SYMCACHE_START_MORE;
	t.start_list[0] = (struct symcache_ext_detail){ 2, 0x54, 0x52 };
	t.start_list[1] = (struct symcache_ext_detail){ 2, 0x58, 0x58 };
	t.num_starts = 3;
	t.num_start_list = 2;
	t.image.sources = version == 9 ? SYMCACHE_FROM_DWARF : SYMCACHE_FROM_SYMTAB;
	return t;
}

#endif
