/*
 * pattern.h: text against the pattern of a row (frames.c).
 *
 * A byte of a pattern stands for itself, but for a blank, which is one or more blanks and tabs,
 * '"', which may be escaped as in JSON, and
 *
 *   %N  decimal, number of the frame     %A  hex, address of the process
 *   %H  hex, offset in the module        %L  the same, of 8 or 16 digits; %M of 16, %X 14, %U 12
 *   %T  decimal, offset in the module    %O  hex, %D decimal: offset from the symbol
 *   %B  hex, where the module begins     %I  build ID, of 8 bytes or more; %J of any length
 *   %x  hex, %d decimal, of no interest  %G  GUID, and a digit or more behind it
 *   %S  symbol: may have blanks and parentheses; ends at the last place where the rest fits
 *   %F  the same, ends at the first
 *   %P  path or name of the module, up to what follows
 *   %W  the same, up to a blank or parenthesis; %Q backward alone, whatever has no blank
 *   %w  all but blanks, of no interest   %.  whatever, or nothing, up to what follows
 *   %_  blanks, or none; %1  one blank   %$  the end of the text, or of its string
 *   %{  %}  between: what the name of the function replaces
 *   %(a%|b%)  one of them, which may be empty
 *
 * Colours (SGR) may stand before each part.
 *
 * The same is read backward, from where the anchor of a row was found: without %( %| %) %$ %F %G %W
 * %.; a symbol behind '(' begins at the parenthesis that is closed, others at the nearest place; a
 * hole is a symbol or a word.
 *
 * Cost: each step takes from a budget of the line; when it is used up, nothing fits.
 */
#ifndef MARKUP_PATTERN_H
#define MARKUP_PATTERN_H

#include "libmarkup/bytes/fields.h"

enum mk_value { MK_NUMBER, MK_ADDRESS, MK_OFFSET, MK_SYMBOL_OFFSET, MK_BASE, MK_VALUES };

/* What a pattern found. */
struct mk_parts {
	struct sc_str module, symbol, build_id, hole;
	uint64_t values[MK_VALUES];
	unsigned has;            /* 1 << enum mk_value */
};

static inline bool mk_has(const struct mk_parts *parts, enum mk_value value)
{
	return parts->has >> value & 1;
}

struct mk_matcher {
	const char *begin, *end; /* the text */
	struct sc_str anchor;    /* of the row: no symbol reaches beyond the next one */
	const char *limit;       /* that, or NULL: it was not looked for */
	size_t budget;
	struct mk_parts parts;
};

/* Behind what fits from p on, or NULL. */
const char *mk_fit(struct mk_matcher *m, const char *pattern, const char *p);

/* Where what fits begins that ends at p, or NULL. */
const char *mk_fit_back(struct mk_matcher *m, const char *pattern, const char *p);

#endif
