/*
 * frame_line.h: a frame of a stack as text, and the words of stacks, for the commands that
 * walk them.
 *
 *   #4.1    0x000055d6ca312055  check at deep.c:15       (server+0x1055)
 *   #4      0x000055d6ca312055  walk_left at deep.c:33   (server+0x1055)
 *   #5  ?   …   [frame pointer]
 */
#ifndef CMD_FRAME_LINE_H
#define CMD_FRAME_LINE_H

#include "symcache/places.h"
#include "symcache/unwind.h"

struct frame_line {
	size_t number;
	unsigned word;            /* bytes of an address */
	const struct symcache_walked_frame *frame;
	const struct symcache_code_place *place;
	const char *module;       /* NULL: none */
	bool has_offset;
	uint64_t offset;          /* in the module */
};

/* A line for each function of the frame, to standard output; control characters are escaped. */
void frame_lines_put(const struct frame_line *f);

/* To standard output, control characters as \xHH. */
void put_shown(const char *text);

/* The trust, or why a stack ends, as one word for programs. */
const char *trust_word(enum symcache_trust trust);
const char *stop_word(enum symcache_stop stop);

/* Text and numbers for inner loops, to standard output. */
void put(const char *text);
void put_digits(const char *before, uint64_t value, unsigned base);

#endif
