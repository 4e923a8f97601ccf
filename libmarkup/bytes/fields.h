/*
 * fields.h: the values inside elements.
 *
 * Each function reads a whole field and returns false if it is not of its kind;
 * then *ret is unchanged. The rules are LLVM's, which are those of the format
 * made precise.
 */
#ifndef MARKUP_FIELDS_H
#define MARKUP_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "libmarkup/markup.h"

/* Value of a digit in any base up to 16; 16: not a digit. */
static inline unsigned mk_digit(char c)
{
	static const uint8_t values[256] = {
		[0 ... '0' - 1] = 16,
		['0'] = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
		['9' + 1 ... 'A' - 1] = 16,
		['A'] = 10, 11, 12, 13, 14, 15,
		['F' + 1 ... 'a' - 1] = 16,
		['a'] = 10, 11, 12, 13, 14, 15,
		['f' + 1 ... 255] = 16,
	};
	return values[(unsigned char)c];
}

/* Zeros only, or 0x (lower case) and hex digits, up to 64 bits. */
bool mk_field_address(struct sc_str s, uint64_t *ret);

/* Module ID and size: 0x…, 0b…, 0o…, 0… (octal) or decimal, up to 64 bits. */
bool mk_field_number(struct sc_str s, uint64_t *ret);

/* Hex digits, without 0x, up to 64 bits. */
bool mk_field_hex(struct sc_str s, uint64_t *ret);

/* Frame number: decimal, up to 64 bits. */
bool mk_field_decimal(struct sc_str s, uint64_t *ret);

/* r, w, x, each optional, in this order, either case, at least one. */
bool mk_field_mode(struct sc_str s, char ret[4]);

/* Build ID: hex digits, at least one. Writes (len + 1) / 2 bytes; the first of
 * an odd number of digits stands alone. `ret` may be NULL. */
bool mk_field_build_id(struct sc_str s, uint8_t *ret);

/* Is `s`, which is a build ID, the one in id[0, len)? */
bool mk_field_build_id_is(struct sc_str s, const uint8_t *id, size_t len);

#endif
