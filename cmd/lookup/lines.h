/* lines.h: lines of input, as they come, and all of them that are there. */
#ifndef CMD_LINES_H
#define CMD_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines;

/* From the open file `fd`. `wait` is called before each read that may have to wait. Out of
 * memory ends the program. */
struct lines *lines_create(int fd, void (*wait)(void *ctx), void *ctx);

/* Some lines. */
struct lines_piece {
	char *at, *end;
};

/* The next lines: those that can be had without waiting, at least one, in pieces of about 4 KiB;
 * NULL: no more. They are valid until the next call. A line of more than 64 KiB is reported,
 * and empty. */
struct lines_piece *lines_next(struct lines *in, size_t *n);

/* The next line of a piece, without its end; NULL: no more. */
char *lines_take(struct lines_piece *piece);

/* True: something was reported. */
bool lines_destroy(struct lines *in);

/* Makes lines of operands, in place: "DATA", "FILE:x", "0x10" are one. Returns how many; they
 * live as long as the program. */
size_t lines_of_operands(char **operands, size_t n);

#endif
