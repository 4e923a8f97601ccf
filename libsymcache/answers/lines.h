/* lines.h: lines of input, as they come, and all of them that are there. */
#ifndef MARKUP_LINES_H
#define MARKUP_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct mk_lines;

/* From the open file `fd`, which messages call standard input. `wait` is called before each read
 * that may have to wait, `complain` with what is wrong, as one line. NULL: out of memory. */
struct mk_lines *mk_lines_create(int fd, void (*wait)(void *ctx),
				 void (*complain)(void *ctx, const char *message), void *ctx);

/* Some lines. */
struct mk_lines_piece {
	char *at, *end;
};

/* The next lines: those that can be had without waiting, at least one, in pieces of about 4 KiB;
 * NULL: no more. They are valid until the next call. A line of more than 64 KiB is complained of,
 * and empty. */
struct mk_lines_piece *mk_lines_next(struct mk_lines *in, size_t *n);

/* The next line of a piece, without its end; NULL: no more. */
char *mk_lines_take(struct mk_lines_piece *piece);

/* True: there were complaints. */
bool mk_lines_destroy(struct mk_lines *in);

#endif
