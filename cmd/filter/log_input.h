/*
 * log_input.h: a log as a stream of bytes: a file, standard input, a pipe; plain
 * or compressed with gzip, xz or zstd.
 */
#ifndef CMD_LOG_INPUT_H
#define CMD_LOG_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symcache/inflate.h"

/* What to say of one that is misnamed. */
#define LOG_INPUT_MISNAMED "%s: not compressed, in spite of its name; read as it is"

struct log_input {
	const char *name; /* for messages */
	int fd;
	bool live;        /* not a regular file: there may be pauses */
	bool close;
	bool begun;       /* it is known whether it is compressed */
	bool end;         /* of the file, or of the range */
	bool misnamed;    /* it has a name as if it were compressed */
	int64_t start;    /* where it begins in a file */
	int held;         /* what log_input_hold() kept and was not read yet; -1: nothing */
	uint64_t left;    /* bytes of the range that were not read yet */
	struct symcache_inflate *inflate; /* NULL: it is plain */
	unsigned char *raw;      /* what was read and not taken yet */
	size_t raw_pos, raw_len;
	uint64_t inflated;       /* bytes of a compressed file that were taken */
};

/* Length of the suffix of a compressed file (.gz, .xz, .zst) that `path` has; 0: none. */
size_t packed_suffix(const char *path);

/* Opens `path`, "-" being standard input. SC_ESYS; SC_EINVAL: a directory. */
int log_input_open(struct log_input *in, const char *path, struct sc_error *err);
/* Of a plain log, bytes [from, to) alone are read; before the first of them is. SC_ESYS. */
int log_input_range(struct log_input *in, uint64_t from, uint64_t to, struct sc_error *err);
void log_input_close(struct log_input *in);

/* Reads up to `size` bytes, as many as are there now but at least one. *len 0:
 * the end. SC_ESYS; SC_EFORMAT, SC_ENOMEM: a compressed file is damaged, or
 * cannot be read; what came before was right. */
int log_input_read(struct log_input *in, char *buf, size_t size, size_t *len,
		   struct sc_error *err);

/* Waits up to `milliseconds` (−1: for ever) for more; false: nothing came. */
bool log_input_wait(const struct log_input *in, int milliseconds);

/*
 * `p` is the beginning of a live input, which was read. Of a format that always has a table
 * behind what needs it (profiles of the heap) everything up to the end, or LOG_INPUT_HELD
 * bytes, is read before any of it is given, from the beginning: true. Then it can be read
 * again.
 */
#define LOG_INPUT_HELD (256u << 20)
bool log_input_hold(struct log_input *in, const char *p, size_t len);

/* A file that is open already, or what is held, read once more from its beginning on its own. */
struct log_input_again {
	const struct log_input *first;
	struct log_input in;
	bool open;
};

/* For markup_filter_again(). */
size_t log_input_read_again(void *again, char *buf, size_t size);
void log_input_again_close(struct log_input_again *a);

#endif
