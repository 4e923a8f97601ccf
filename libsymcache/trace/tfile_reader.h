/*
 * tfile_reader.h: what the files that read the definitions of a trace file share:
 * a cursor over one line's text, the reader with its first error and notices, and
 * decoding of hex into the reader's text buffer.
 *
 * Numbers are read as GDB reads them: as many digits as there are, the top ones
 * falling off. Nothing here reads beyond the end of its line.
 */
#ifndef TFILE_READER_H
#define TFILE_READER_H

#include <string.h>

#include "libsymcache/base/text.h"
#include "libsymcache/trace/trace.h"

struct tfile_text {
	const char *p, *end;
};

struct tfile_reader {
	struct symtrace *file;
	uint64_t offset; /* of the current line */
	int failed;      /* the first error: SC_EFORMAT, SC_ENOMEM, or 0 */
};

/*
 * Reads the definitions in data[0, size), which must outlive *ret, and decides nothing:
 * frames are little-endian, the layout of registers unknown. SC_EFORMAT, SC_ENOMEM: also
 * in ret->fault; *ret holds everything that came before, and no frames. Always to be
 * followed by symtrace_close().
 */
int symtrace_read(struct symtrace *ret, const void *data, size_t size);

/*
 * Guesses the byte order from the frames: the one in which the first of them
 * have defined tracepoints and lie inside the file. 1 big, 0 little, −1 both or
 * neither do.
 */
int symtrace_guess_big_endian(const struct symtrace *file);

/* Records the first error in the file's fault. Returns its code. */
int tfile_fail(struct tfile_reader *r, int code, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void tfile_notice(struct tfile_reader *r, uint64_t offset, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Decodes pairs of hex digits into the text buffer, up to the first other byte. */
struct sc_str tfile_decode(struct symtrace *f, struct tfile_text t);

/* The text of a status line, behind the word. */
void tfile_read_status(struct tfile_reader *r, struct tfile_text t);

/* Sorts the pieces and folds them into tracepoints. */
void tfile_fold_pieces(struct tfile_reader *r);

static inline uint64_t tfile_take_number(struct tfile_text *t, unsigned base)
{
	uint64_t n = 0;
	int d;

	for (; t->p < t->end && (d = sc_hex_digit(*t->p)) >= 0 && (unsigned)d < base; t->p++)
		n = n * base + (unsigned)d;
	return n;
}

static inline uint64_t tfile_take_hex(struct tfile_text *t)
{
	return tfile_take_number(t, 16);
}

static inline bool tfile_skip(struct tfile_text *t, char c)
{
	if (t->p == t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

static inline bool tfile_skip_word(struct tfile_text *t, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(t->end - t->p) < len || memcmp(t->p, word, len) != 0)
		return false;
	t->p += len;
	return true;
}

static inline struct tfile_text tfile_text(struct sc_str s)
{
	return (struct tfile_text){ s.ptr, s.ptr + s.len };
}

static inline struct sc_str tfile_rest(const struct tfile_text *t)
{
	return sc_span(t->p, t->end);
}

#endif
