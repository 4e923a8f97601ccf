/*
 * reverse.h: names and lines → addresses.
 *
 * A cache has no index for either, so the first question of a symbolizer makes one in memory: for
 * linkage names by a pass over all functions and symbols of the module, for names as they are shown
 * by another one that demangles each, for lines by one over all source locations. Further questions
 * are searches. A pattern always costs a pass over all names.
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
 * Calls `fn` for everything with this name, by address: functions that have code of their own,
 * variables, and what only the symbol table has. `name` is a linkage name, or a name as it is
 * shown, with or without parameters; `glob`: a pattern for either (base/glob.h). `fn` must not use
 * the symbolizer. Returns how many there were; SC_ENOTFOUND: the module has no cache, or it is
 * damaged; SC_ENOMEM; or what `fn` returned, if that was not 0.
 */
ssize_t symcache_find_names(struct symcache_symbolizer *s, struct symcache_module *m,
			    struct sc_str name, bool glob,
			    int (*fn)(void *ctx, const struct symcache_found_name *found),
			    void *ctx);

/* A range of code of a line. */
struct symcache_found_line {
	uint64_t vaddr, end;    /* [vaddr, end), p_vaddr */
	const struct sc_frame *frame; /* the frame at the line; valid during the call */
	bool inlined;           /* its function is inlined there */
	uint32_t depth;         /* how many frames are inlined into it there */
};

/*
 * Calls `fn` for all code that has a frame at this line, by address. `file` is a path, or its last
 * parts ("shop.cc", "demo/shop.cc"). If the line is a call that was inlined, its code is that of
 * the called function. Returns as symcache_find_names().
 */
ssize_t symcache_find_line(struct symcache_symbolizer *s, struct symcache_module *m,
			   struct sc_str file, uint32_t line,
			   int (*fn)(void *ctx, const struct symcache_found_line *found), void *ctx);

/* Divides "FILE:LINE". False: it is not of this form. */
bool symcache_parse_line(const char *text, struct sc_str *file, uint32_t *line);

#endif
