/* lines.h: lines of input, as they come. */
#ifndef CMD_LINES_H
#define CMD_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines;

/* From the open file `fd`. `wait` is called before each read, which may have to wait. Out of
 * memory ends the program. */
struct lines *lines_create(int fd, void (*wait)(void *ctx), void *ctx);

/* The next line, without its end; NULL: no more. It is valid until a call that had to read. A
 * line of more than 64 KiB is reported, and empty. */
char *lines_next(struct lines *in);

/* Can the next line be had without reading? */
bool lines_ready(struct lines *in);

/* True: something was reported. */
bool lines_destroy(struct lines *in);

/* Makes lines of operands, in place: "DATA", "FILE:x", "0x10" are one. Returns how many; they
 * live as long as the program. */
size_t lines_of_operands(char **operands, size_t n);

#endif
