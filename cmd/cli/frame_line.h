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

#include "symcache/unwind.h"

struct frame_line {
	size_t number;
	size_t inlined;           /* 1 for the innermost inlined function; 0: not inlined */
	unsigned word;            /* bytes of an address */
	uint64_t pc;
	enum symcache_trust trust;
	bool signal;
	const char *function;     /* NULL: not known */
	const char *file;         /* "": not known */
	uint32_t line, column;
	const char *module;       /* NULL: none */
	bool has_offset;
	uint64_t offset;          /* in the module */
};

/* To standard output; control characters are escaped. */
void frame_line_put(const struct frame_line *f);

/* To standard output, control characters as \xHH. */
void put_shown(const char *text);

/* The trust, or why a stack ends, as one word for programs. */
const char *trust_word(enum symcache_trust trust);
const char *stop_word(enum symcache_stop stop);

#endif
