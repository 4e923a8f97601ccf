/* What is said of a build, as text: for tests. */
#ifndef SC_WRITE_INFO_TEST_H
#define SC_WRITE_INFO_TEST_H

#include <inttypes.h>
#include <stdio.h>

#include "libsymcache/write/build.h"

static inline void put_info(FILE *to, const struct symcache_build *b)
{
	const struct symcache_build_info *i = symcache_build_info(b);
	uint64_t code, lines;

	symcache_build_coverage(b, &code, &lines);
	fprintf(to, "%" PRIu64 " units, %" PRIu64 " bad: %s; %" PRIu64 " bytes of sections%s, %" PRIu64 " entries, %" PRIu64
		" rows, %" PRIu64 " above, %" PRIu64 " of code; base %" PRIx64 "%s; link %s; name %s; %" PRIu64 " of %" PRIu64
		" with lines\n", i->units, i->bad_units, i->first_fault, i->section_bytes, i->inflated ? ", inflated" : "",
		i->entries, i->rows, i->above_4g, i->code_above_4g, i->load_base, i->relocatable ? ", relocatable" : "",
		i->debug_link, i->soname, lines, code);
	fprintf(to, "%" PRIu64 " functions, %" PRIu64 " files, %" PRIu64 " ranges, %" PRIu64 " merged, %" PRIu64 " locations, %"
		PRIu64 " data symbols, %" PRIu64 " bytes of strings\n", i->functions, i->files, i->ranges, i->merged_ranges,
		i->source_locations, i->data_symbols, i->string_bytes);
}

#endif
