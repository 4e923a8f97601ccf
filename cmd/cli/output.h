/* output.h: standard output, and output files as a whole. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include <stddef.h>

#include "symcache/error.h"

/* Flushes standard output. A failed write (full disk) is reported and ends the
 * program with status 2. main() calls it at the end. */
void out_flush(void);

/* Writes `size` bytes to the file at `path` ("-": standard output), which is either
 * replaced as a whole or stays as it was. SC_ESYS, SC_EFULL, SC_ENOMEM. */
int out_write(const char *path, const void *bytes, size_t size, struct sc_error *err);

#endif
