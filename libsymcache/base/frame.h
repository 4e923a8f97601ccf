/* frame.h: a function with a place in its source: what is shown of a frame, whoever shows it. */
#ifndef SC_FRAME_H
#define SC_FRAME_H

#include <stdint.h>

#include "libsymcache/base/str.h"

#define SC_PADDED 32u

struct sc_frame {
	struct sc_str function; /* as it is shown; ptr NULL: unknown */
	struct sc_str file;     /* its path; ptr NULL: unknown */
	uint32_t line, column;  /* 0: unknown */
	bool padded;            /* SC_PADDED bytes of both texts may be read, however short they are */
	bool of_table;          /* a symbol table gave the name */
	bool inlined;           /* of struct symcache_code_place: see struct symcache_start */
	/* Of frames that were looked up in a cache; SYMCACHE_NONE: none. */
	uint32_t function_idx;  /* the function */
	uint32_t location_idx;  /* the source location */
	uint32_t scopes;        /* bytes of `function` in front of its bare name, if that is what
				 * debug information calls it: "ns::Item::" */
};

/* The function's name without the scopes that were put in front of it. */
static inline struct sc_str sc_bare_name(const struct sc_frame *f)
{
	return (struct sc_str){ f->function.ptr ? f->function.ptr + f->scopes : NULL,
				f->function.len - f->scopes };
}

#endif
