/*
 * hexdict.h: {{{hexdict:KEY:VALUE KEY:VALUE …}}}, the one element that may span
 * lines: usually the registers of a crash.
 *
 * An open element is held back until its end comes, so that one that never ends
 * stays as it was, byte for byte. It is given up when a line of it holds no
 * pair at all, holds "{{{", or when it grows over MARKUP_HEXDICT_MAX: a dump
 * that was cut off does not hide the log behind it for long.
 */
#ifndef MARKUP_HEXDICT_H
#define MARKUP_HEXDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmarkup/bytes/out.h"

/* An element that is open, in the stream. */
struct mk_hexdict {
	bool open;
	struct mk_out text; /* from "{{{" on */
};

/* One pair. */
struct mk_pair {
	struct sc_str key;
	struct sc_str value;     /* as written */
	uint64_t number;
};

/* Finds the next pair in [*pos, end) and moves *pos behind its value; what is
 * not of the form KEY:VALUE is passed over. False: no more. */
bool mk_next_pair(const char **pos, const char *end, struct mk_pair *ret);

void mk_hexdict_deinit(struct mk_hexdict *h);

/* Begins to hold an element, that starts with `text`. False: no memory, or too long. */
bool mk_hexdict_open(struct mk_hexdict *h, struct sc_str text);

/* Adds more text. False: it cannot be; give the element up. */
bool mk_hexdict_add(struct mk_hexdict *h, const char *p, size_t len);

#endif
