/*
 * markup.h: what a filter of logs asks (struct markup_resolver), answered by symbolizers, for
 * who finds modules in a way of its own; logs.h has a whole filter. Its modules are
 * struct symcache_module.
 */
#ifndef SYMCACHE_MARKUP_H
#define SYMCACHE_MARKUP_H

#include "libmarkup/markup.h"
#include "libsymcache/symbolize/symbolize.h"

/* For one thread. */
struct symcache_markup {
	struct symcache_symbolizer *symbolizer;
	struct symcache_symbolizer *line_symbolizer; /* of frames whose module is named on their
	                                              * line */
	bool llvm;                                   /* names are as LLVM shows them */
	/* private; zero at first */
	struct { struct sc_frame *data; size_t len, cap; } frames;
	struct sc_frame only;
	struct { struct markup_caller *data; size_t len, cap; } callers;
};

/* Makes both symbolizers; all is borrowed. False: out of memory. To be deinited in any case. */
bool symcache_markup_init(struct symcache_markup *m, struct symcache_caches *caches,
			  struct symcache_names *names, struct symcache_names *line_names, bool llvm);
void symcache_markup_deinit(struct symcache_markup *m); /* all zero is fine */

/* Sets all functions of a resolver but those that find modules, whose ctx must begin with the
 * struct symcache_markup. Where memory is out, nothing is found. */
void symcache_markup_functions(struct markup_resolver *ret);

/* The last part of a path, by which modules are found; false: it is empty or too long. */
bool symcache_markup_base(struct sc_str path, char name[256]);

/* The names that filters show, and those of line_symbolizer. */
struct symcache_names_options symcache_markup_names(const struct markup_options *options,
						    enum symcache_bytes bytes);
struct symcache_names_options symcache_markup_line_names(enum symcache_bytes bytes);

#endif
