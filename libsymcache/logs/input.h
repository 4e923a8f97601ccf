/*
 * input.h: one log as a stream of bytes: a file, standard input, a pipe; plain, or compressed with
 * gzip, xz or zstd.
 */
#ifndef SC_LOGS_INPUT_H
#define SC_LOGS_INPUT_H

#include <stdint.h>

#include "libsymcache/archive/inflate.h"
#include "libsymcache/base/xxh3.h"

struct symlog_input {
	const char *name; /* for messages */
	int fd;
	bool live;        /* not a regular file: there may be pauses */
	bool close;
	bool begun;       /* it is known whether it is compressed */
	bool end;         /* of the file, or of the range */
	bool misnamed;    /* it has a name as if it were compressed */
	int64_t start;    /* where it begins in a file */
	int held;         /* what symlog_hold() kept and was not read yet; -1: nothing */
	unsigned threads; /* to unpack it on; 0, 1: none of their own */
	struct symlog_ahead *ahead; /* unpacks it meanwhile; NULL: nothing does */
	uint64_t left;    /* bytes of the range that were not read yet */
	struct symcache_inflate *inflate; /* NULL: it is plain */
	unsigned char *raw;      /* what was read and not taken yet */
	size_t raw_pos, raw_len;
	uint64_t taken;          /* bytes of the file that were read, compressed or not */
	struct XXH3_state_s *hash; /* gets them; or NULL */
	uint64_t inflated;       /* bytes of a compressed file that were taken */
};

/* Length of the suffix of a compressed file (.gz, .xz, .zst) that `path` has, and in *ret (may be
 * NULL) what it says; 0: none. */
size_t symlog_packed_suffix(const char *path, enum symcache_packing *ret);

/* Opens `path`, "-" being standard input. SC_ESYS; SC_EINVAL: a directory. */
int symlog_open(struct symlog_input *in, const char *path, struct sc_error *err);
/* Of a plain log, bytes [from, to) alone are read; before the first of them is. Of the first ones it
 * is known at once whether they are misnamed. SC_ESYS. */
int symlog_range(struct symlog_input *in, uint64_t from, uint64_t to, struct sc_error *err);
void symlog_close(struct symlog_input *in);

/* Reads up to `size` bytes, as many as are there now but at least one. *len 0:
 * the end. SC_ESYS; SC_EFORMAT, SC_ENOMEM: a compressed file is damaged, or
 * cannot be read; what came before was right. */
int symlog_read(struct symlog_input *in, char *buf, size_t size, size_t *len,
		   struct sc_error *err);

/* ahead.c: from now on another thread reads the input, by `inflate`, which is as symlog_read(),
 * until symlog_ahead_end(). NULL: no thread, or no memory. */
typedef int symlog_inflate_fn(struct symlog_input *in, char *buf, size_t size, size_t *len,
			      struct sc_error *err);
struct symlog_ahead *symlog_ahead_start(struct symlog_input *in, symlog_inflate_fn *inflate);
/* As symlog_read(). */
int symlog_ahead_read(struct symlog_ahead *a, char *buf, size_t size, size_t *len,
		      struct sc_error *err);
void symlog_ahead_end(struct symlog_ahead *a); /* NULL is fine */

/* Waits up to `milliseconds` (−1: for ever) for more; false: nothing came. */
bool symlog_wait(const struct symlog_input *in, int milliseconds);

/*
 * `p` is the beginning of a live input, which was read. Of a format that always has a table
 * behind what needs it (profiles of the heap) everything up to the end, or SYMLOG_HELD
 * bytes, is read before any of it is given, from the beginning: true. Then it can be read
 * again.
 */
#define SYMLOG_HELD (256u << 20)
bool symlog_hold(struct symlog_input *in, const char *p, size_t len);

/* A file that is open already, or what is held, read once more from its beginning on its own. */
struct symlog_again {
	const struct symlog_input *first;
	struct symlog_input in;
	bool open;
};

/* For markup_filter_again(). */
size_t symlog_read_again(void *again, char *buf, size_t size);
void symlog_again_close(struct symlog_again *a);

#endif
