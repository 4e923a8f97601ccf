/* What explain_test.c expects; for tests only. */
#ifndef SYMCACHE_ANSWERS_EXPLAIN_SHOWN_H
#define SYMCACHE_ANSWERS_EXPLAIN_SHOWN_H

#define ALL_AS_TEXT \
	"address    0x400021 in prog, load base 0x400000\n" \
	"range      0x400020..0x400028, number 1 of 5\n" \
	"location   3: /src/../inc/leaf.h:3:9 in leaf\n" \
	"inlined at 1: /src/../inc/leaf.h:7:5 in a::middle()\n" \
	"inlined at 0: /src/main.c:11:4 in main\n" \
	"symbol     main, 0x400010..0x400030: names the outermost frame; of the debug fil" \
	"e's .symtab\n" \
	"also       start\n" \
	"also       begin\n" \
	"own table  the file's .dynsym, by which llvm-symbolizer goes, has a::main()\n" \
	"unwind     0x400010..0x400030: CFA=rsp+8\n" \
	"debug file /d/x.debug, 3 units\n" \
	"unit       0x0000000b main.c in /src, DWARF 5, C11\n" \
	"  entry    0x0000002d DW_TAG_subprogram main, 0x400010..0x400030\n" \
	"  entry    0x100000002 DW_TAG_inlined_subroutine a::middle()," \
	" 0x400020..0x400028 of 2 ranges, called at /src/main.c:11:4\n" \
	"  entry    0x00000077 DW_TAG_inlined_subroutine ??, elsewhere," \
	" called at ??:3; another entry decides\n" \
	"  row      0x400020..0x400024 /src/main.c:11:4, is_stmt," \
	" discriminator 2; in the sequence of 9 rows over 0x400010..0x400030\n" \
	"unit       0x00001234 ??, DWARF 4, entries in a.dwo; does not decide\n" \
	"  row      0x400020..0x400022 ??:7; in the sequence of 2 rows over 0x400020..0x400040\n" \
	"unit       0x00004321 ??, DWARF 3; does not decide\n" \
	"  row      none: no sequence of lines holds the address\n" \
	"\n"

#define ALL_AS_JSON \
	"{\"address\":\"0x400021\",\"module\":\"prog\",\"load_base\":\"0x400000\"," \
	"\"range\":{\"index\":1,\"start\":\"0x400020\",\"end\":\"0x400028\",\"gap\":false}," \
	"\"frames\":[{\"location\":3,\"function\":\"leaf\",\"file\":\"/src/../inc/leaf.h\"," \
	"\"line\":3,\"column\":9},{\"location\":1,\"function\":\"a::middle()\"," \
	"\"file\":\"/src/../inc/leaf.h\",\"line\":7,\"column\":5},{\"location\":0," \
	"\"function\":\"main\",\"file\":\"/src/main.c\",\"line\":11,\"column\":4}]," \
	"\"unwind\":{\"start\":\"0x400010\",\"end\":\"0x400030\",\"row\":\"CFA=rsp+8\"}," \
	"\"symbol\":{\"name\":\"main\",\"start\":\"0x400010\",\"size\":32,\"also\":[\"start\"," \
	"\"begin\"]},\"named_by\":\"the debug file's .symtab\"," \
	"\"own_table\":{\"table\":\".dynsym\",\"name\":\"a::main()\"}," \
	"\"debug_file\":\"/d/x.debug\",\"units_read\":3,\"units\":[{\"offset\":\"0xb\"," \
	"\"name\":\"main.c\",\"comp_dir\":\"/src\",\"dwarf\":5,\"language\":\"C11\"," \
	"\"decides\":true,\"entries\":[{\"offset\":\"0x2d\",\"tag\":\"DW_TAG_subprogram\"," \
	"\"name\":\"main\",\"decides\":true,\"start\":\"0x400010\",\"end\":\"0x400030\"," \
	"\"ranges\":1},{\"offset\":\"0x100000002\",\"tag\":\"DW_TAG_inlined_subroutine\"," \
	"\"name\":\"a::middle()\",\"decides\":true,\"start\":\"0x400020\",\"end\":\"0x400028\"," \
	"\"ranges\":2,\"call_file\":\"/src/main.c\",\"call_line\":11,\"call_column\":4}," \
	"{\"offset\":\"0x77\",\"tag\":\"DW_TAG_inlined_subroutine\",\"name\":\"\"," \
	"\"decides\":false,\"start\":\"0x0\",\"end\":\"0x0\",\"ranges\":1,\"call_file\":\"\"," \
	"\"call_line\":3,\"call_column\":0}],\"row\":{\"start\":\"0x400020\"," \
	"\"end\":\"0x400024\",\"file\":\"/src/main.c\",\"line\":11,\"column\":4,\"is_stmt\":true," \
	"\"discriminator\":2,\"sequence\":{\"start\":\"0x400010\",\"end\":\"0x400030\"," \
	"\"rows\":9}}},{\"offset\":\"0x1234\",\"name\":\"\",\"comp_dir\":\"\",\"dwarf\":4," \
	"\"language\":\"\",\"split\":\"a.dwo\",\"decides\":false,\"entries\":[]," \
	"\"row\":{\"start\":\"0x400020\",\"end\":\"0x400022\",\"file\":\"\",\"line\":7," \
	"\"column\":0,\"is_stmt\":false,\"discriminator\":0,\"sequence\":{\"start\":\"0x400020\"," \
	"\"end\":\"0x400040\",\"rows\":2}}},{\"offset\":\"0x4321\",\"name\":\"\"," \
	"\"comp_dir\":\"\",\"dwarf\":3,\"language\":\"\",\"decides\":false,\"entries\":[]}]}\n"

#define NO_UNITS_AS_TEXT \
	"address    0x400041 in prog, load base 0x400000\n" \
	"range      0x400040.., number 4 of 5\n" \
	"location   6: ??:0 in naked\n" \
	"symbol     naked, 0x400040..: names the outermost frame; of .symtab\n" \
	"own table  the file's .dynsym, by which llvm-symbolizer goes, has ??\n" \
	"debug file /d/x.debug, 1 unit\n" \
	"unit       none has the address\n" \
	"\n"

#define NO_UNITS_AS_JSON \
	"{\"address\":\"0x400041\",\"module\":\"prog\",\"load_base\":\"0x400000\"," \
	"\"range\":{\"index\":4,\"start\":\"0x400040\",\"gap\":false}," \
	"\"frames\":[{\"location\":6,\"function\":\"naked\",\"file\":\"\",\"line\":0," \
	"\"column\":0}],\"symbol\":{\"name\":\"naked\",\"start\":\"0x400040\",\"size\":0}," \
	"\"named_by\":\".symtab\",\"own_table\":{\"table\":\".dynsym\",\"name\":\"\"}," \
	"\"debug_file\":\"/d/x.debug\",\"units_read\":1,\"units\":[]}\n"

#define GAP_AS_TEXT \
	"address    0x400031 in prog, load base 0x400000\n" \
	"range      0x400030..0x400040, number 3 of 5: a gap: no function has this code\n" \
	"symbol     none holds the address: the DWARF names the outermost frame\n" \
	"debug file missing: no file has it\n" \
	"\n"

#define GAP_AS_JSON \
	"{\"address\":\"0x400031\",\"module\":\"prog\",\"load_base\":\"0x400000\"," \
	"\"range\":{\"index\":3,\"start\":\"0x400030\",\"end\":\"0x400040\",\"gap\":true}," \
	"\"frames\":[],\"named_by\":\"the DWARF\",\"own_table\":{\"table\":\".dynsym\"," \
	"\"name\":\"\"},\"missing\":\"no file has it\"}\n"

#define NOTHING_AS_TEXT \
	"address    0x400001 in prog, load base 0x400000\n" \
	"range      none: the cache's first one begins after the address\n" \
	"symbol     none holds the address\n" \
	"debug file missing: no file has it\n" \
	"\n"

#define NOTHING_AS_JSON \
	"{\"address\":\"0x400001\",\"module\":\"prog\",\"load_base\":\"0x400000\",\"frames\":[]," \
	"\"named_by\":\"\",\"missing\":\"no file has it\"}\n"

#endif
