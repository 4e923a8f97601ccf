/* output.h: standard output, and output files as a whole. */
#ifndef CMD_OUTPUT_H
#define CMD_OUTPUT_H

#include <stddef.h>
#include <stdio.h>

#include "libmarkup/bytes/json.h"
#include "libsymcache/base/error.h"

/* Flushes standard output. A failed write (full disk) is reported and ends the
 * program with status 2. main() calls it at the end. */
void out_flush(void);

/* Writes `size` bytes to the file at `path` ("-": standard output), which is either
 * replaced as a whole or stays as it was. SC_ESYS, SC_EFULL, SC_ENOMEM. */
int out_write(const char *path, const void *bytes, size_t size, struct sc_error *err);

/* A buffer in front of standard output: what is in it is on its way with out_flush(), or, to
 * mix it with other output, mk_out_flush(). */
extern struct mk_out out_stdout;
/* JSON there. */
struct mk_gen *out_json(bool pretty);
/* The same for one object that is all there is: opens it, and completes it. */
struct mk_gen *out_json_open(bool pretty);
void out_json_close(struct mk_gen *j);

#endif
