/*
 * stack.h: what the reports share: places, frames of a stack as text, words for programs.
 *
 *   #4.1    0x000055d6ca312055  check at deep.c:15       (server+0x1055)
 *   #4      0x000055d6ca312055  walk_left at deep.c:33   (server+0x1055)
 *   #5  ?   …   [frame pointer]
 */
#ifndef MARKUP_REPORT_STACK_H
#define MARKUP_REPORT_STACK_H

#include "libmarkup/bytes/json.h"
#include "libsymcache/symbolize/places.h"
#include "libsymcache/unwind/unwind.h"

/* Never NULL: out of memory is an error of the buffer. */
struct mk_places {
	struct mk_out *out;
	struct symcache_places *of;
	struct symcache_code_place none;
};
struct symcache_code_place *mk_place(struct mk_places *p, const void *owner,
				     struct symcache_module *module, uint64_t vaddr);
void mk_places_deinit(struct mk_places *p);

struct mk_stack_line {
	size_t number;
	unsigned word;            /* bytes of an address */
	const struct symcache_unwind_frame *walked;
	const struct symcache_code_place *place;
	const char *module;       /* NULL: none */
	bool has_offset;
	uint64_t offset;          /* in the module */
	const char *why;          /* there may be no name for it; NULL: not known */
	bool color, brief;        /* as of struct markup_core_options */
};

/* A line for each function of the frame. */
void mk_put_frame(struct mk_out *o, const struct mk_stack_line *f);

/* " at FILE:LINE:COLUMN", as far as that is known. `brief`: as of struct markup_core_options. */
void mk_put_position(struct mk_out *o, const struct sc_frame *f, bool brief);

/* The trust as one word for programs. */
const char *mk_trust_word(enum symcache_trust trust);

/* Members: why a stack ends. */
void mk_json_stop(struct mk_gen *g, const struct symcache_stack *s);

#endif
