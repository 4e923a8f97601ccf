/*
 * cache.h: what the files of a cache's report share.
 *
 *   cache.c         the facts of a cache and its entry
 *   cache_tables.c  the lists
 */
#ifndef MARKUP_REPORT_CACHE_H
#define MARKUP_REPORT_CACHE_H

#include "libmarkup/bytes/json.h"
#include "libsymcache/read/read.h"
#include "libsymcache/report/report.h"

/* A cache that is shown. */
struct mk_cache {
	const struct symcache *cache;
	const struct markup_cache_options *options;
	struct mk_out *out;
	struct mk_gen json;   /* into `out` */
	struct mk_out path, text; /* the last ones that were made */
};

/* Lists all of one kind: as text, a line for each, or as values of the open array. */
void mk_cache_files(struct mk_cache *c);
void mk_cache_functions(struct mk_cache *c);
void mk_cache_ranges(struct mk_cache *c);
void mk_cache_data(struct mk_cache *c);
void mk_cache_locals(struct mk_cache *c);
void mk_cache_unwind(struct mk_cache *c);

#endif
