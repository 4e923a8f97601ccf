/*
 * reverse.h: names and lines → addresses.
 *
 * A cache has no index for either: the first question of a symbolizer makes one in memory, with a
 * pass over all functions and symbols of the module, for names as people read them another one that
 * demangles each, and for lines one over all source locations. Further questions are searches. A
 * pattern always costs a pass over all names.
 */
#ifndef SYMCACHE_REVERSE_H
#define SYMCACHE_REVERSE_H

#include "libsymcache/symbolize/symbolize.h"

/* A function, variable or symbol. Texts are valid during the call. */
struct symcache_found_name {
	struct sc_str linkage;  /* linkage name */
	struct sc_str name;     /* as it is shown */
	struct sc_str file;     /* of the declaration; ptr NULL: unknown */
	uint32_t line;          /* 0: unknown */
	bool data;              /* else code */
	bool of_table;          /* the ELF symbol table alone has this name */
	bool again;             /* `linkage` and `name` are those of the call before */
	uint64_t vaddr, size;   /* size 0: unknown */
};

/*
 * Calls `fn` for all of a name, by address: functions that have code of their own, variables, and
 * what the symbol table alone has. `name` is a linkage name, or one as it is shown, with or without
 * its parameters; `glob`: a pattern of either (base/glob.h). How many there were; SC_ENOTFOUND: the
 * module has no cache, or it is damaged; SC_ENOMEM; or what `fn`, which must not use the symbolizer,
 * returned, if that is not 0.
 */
ssize_t symcache_find_names(struct symcache_symbolizer *s, struct symcache_module *m,
			    struct sc_str name, bool glob,
			    int (*fn)(void *ctx, const struct symcache_found_name *found),
			    void *ctx);

/* A piece of code of a line. */
struct symcache_found_line {
	uint64_t vaddr, end;    /* p_vaddr; `end` is behind it */
	const struct sc_frame *frame; /* the frame that is at the line; valid during the call */
	bool inlined;           /* its function is inlined there */
	uint32_t depth;         /* of the frame at vaddr: so many are inlined into it there */
};

/*
 * Calls `fn` for all code that has a frame at this line, by address. `file` is a path, or its last
 * parts ("shop.cc", "demo/shop.cc"). Where the line is a call that is inlined, the code of the
 * function that is called counts, too. Results as those of symcache_find_names().
 */
ssize_t symcache_find_line(struct symcache_symbolizer *s, struct symcache_module *m,
			   struct sc_str file, uint32_t line,
			   int (*fn)(void *ctx, const struct symcache_found_line *found), void *ctx);

/* "FILE:LINE" in its parts. False: it is not so. */
bool symcache_parse_line(const char *text, struct sc_str *file, uint32_t *line);

#endif
