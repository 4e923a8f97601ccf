/* lines.h: lines of input, as they come, and all of them that are there. */
#ifndef CMD_LINES_H
#define CMD_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct lines;

/* From the open file `fd`. `wait` is called before each read that may have to wait. Out of
 * memory ends the program. */
struct lines *lines_create(int fd, void (*wait)(void *ctx), void *ctx);

/* The next lines, without their ends: those that can be had without waiting, at least one and
 * at most `most`; NULL: no more. They are valid until the next call. A line of more than
 * 64 KiB is reported, and empty. */
char *const *lines_next(struct lines *in, size_t most, size_t *n);

/* True: something was reported. */
bool lines_destroy(struct lines *in);

/* Makes lines of operands, in place: "DATA", "FILE:x", "0x10" are one. Returns how many; they
 * live as long as the program. */
size_t lines_of_operands(char **operands, size_t n);

#endif
