/*
 * markup.h: what a filter of logs asks, put to symbolizers: the place where libmarkup and
 * libsymcache meet. Its modules are struct symcache_module.
 */
#ifndef SYMCACHE_MARKUP_H
#define SYMCACHE_MARKUP_H

#include "libmarkup/markup.h"
#include "symcache/symbolize.h"

/* For one thread. The first three are borrowed. */
struct symcache_markup {
	struct symcache_symbolizer *symbolizer;
	struct symcache_symbolizer *line_symbolizer; /* of frames whose module is named on their
	                                              * line */
	bool llvm;                                   /* names are as LLVM shows them */
	/* private; zero at first */
	struct markup_frame *frames;
	struct markup_caller *callers;
	size_t cap_frames, cap_callers;
};

/* Sets all functions of a resolver but those that find modules, whose ctx must begin with the
 * struct symcache_markup. Where memory is out, nothing is found. */
void symcache_markup_functions(struct markup_resolver *ret);
void symcache_markup_deinit(struct symcache_markup *m);

/* The names that filters show, and those of line_symbolizer. */
struct symcache_names_options symcache_markup_names(const struct markup_options *options,
						    enum symcache_bytes bytes);
struct symcache_names_options symcache_markup_line_names(enum symcache_bytes bytes);

#endif
